//! The options of an input.

use super::packets::Reading;
use super::part::Part;
use crate::ffmpeg::decode::DecodeOn;
use crate::ffmpeg::demux::{Demuxer, opens_more};
use crate::ffmpeg::{Rational, is_url};
use crate::pipeline::{FailureKind, Notices};
use crate::sys::files::{Name, folder_of, is_list_name, number_pattern, numbered, numbers_there};
use crate::sys::io::is_pipe;
use anyhow::Result;
use histeq::{Limits, named};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::path::PathBuf;

/// The input, and the part of it to read. A decoding process gets all fields but those that serde skips.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct InputOptions {
    /// A file name or a URL.
    pub url: Name,
    /// FFmpeg's name of a demuxer, for inputs that cannot be probed.
    pub format: Option<String>,
    /// The properties of raw frames; the rate also applies to image sequences.
    pub raw: RawOptions,
    /// The number of the video stream to equalize, among the video streams; FFmpeg's default if not given.
    pub video_stream: Option<usize>,
    /// The part to read.
    pub part: Part,
    /// Whether the part is decoded, or only its packets are read.
    pub reading: Reading,
    /// Whether HDR is converted to SDR.
    pub to_sdr: bool,
    /// Where it is decoded.
    pub decode_on: DecodeOn,
    /// How many decoders may work on the input at once, for callers that need only its video. Several are faster for
    /// long files that can be cut at key frames; 0 counts as 1.
    pub decoders: usize,
    /// Whether FFmpeg opens and decodes it in a process of its own.
    #[serde(skip)]
    pub isolation: Isolation,
    /// Whether it has to be one regular file, without a symbolic link in its path: nothing else is opened then.
    #[serde(skip)]
    pub without_links: bool,
    /// The image that the user named, if `url` is the pattern of the sequence that begins with it.
    #[serde(skip)]
    pub named: Option<Name>,
    /// The limits of its frames, and of the threads that read them.
    #[serde(skip)]
    pub limits: Limits,
}

named! {
    /// What is done where a number is missing in a sequence of images.
    #[derive(Default)]
    pub enum Gaps {
        #[default]
        Skip = "skip", "The images that are there follow each other";
        Hold = "hold", "The image before is shown";
        Error = "error", "It is an error";
    }
}

named! {
    /// Whether an input is opened and decoded in a process of its own, in a sandbox. That process reaches no devices,
    /// and no files but the input and those of a numbered sequence, so playlists, cameras and NVDEC cannot be isolated.
    #[derive(Default)]
    pub enum Isolation {
        /// In a process of its own, with the restrictions that the kernel supports, if the system can start such
        /// processes.
        Auto = "auto", "Where nothing is lost by it";
        /// In a process of its own with all restrictions, or an error.
        Required = "on", "Always, or an error";
        /// In this process.
        #[default]
        Off = "off", "Never";
    }
}

impl InputOptions {
    /// Checks that a file exists and can be read, so that a run fails before it asks or writes anything.
    ///
    /// # Errors
    /// When the file does not exist, cannot be read, or is a folder.
    pub fn check_there(&self) -> Result<()> {
        let name = &self.url;
        // A per cent sign may belong to a number pattern such as `%05d`, even in the name of a folder.
        if self.format.is_some() || is_pipe(name) || is_url(name) || name.bytes().contains(&b'%') {
            return Ok(());
        }
        let found = match std::fs::metadata(name) {
            Ok(found) if found.is_dir() => {
                let images = Name::from(name.path().join("%05d.png")).quoted();
                return Err(FailureKind::Usage.error(format!(
                    "{name} is a folder (--output-dir DIR {} equalizes the videos in it; {images} is numbered images)",
                    name.quoted()
                )));
            }
            Ok(found) if found.is_file() => File::open(name).map(drop),
            found => found.map(drop),
        };
        found.map_err(|error| FailureKind::file_error(name, &error))
    }

    /// Why the input cannot be opened and decoded in a process of its own, if so.
    pub fn obstacle(&self) -> Option<&'static str> {
        let path = self.url.path();
        let is_in_folder = path.parent().is_some_and(|folder| folder.as_os_str().as_encoded_bytes().contains(&b'%'))
            && number_pattern(path).is_none()
            && !path.exists();
        match self.format.as_deref() {
            _ if matches!(self.decode_on, DecodeOn::Nvdec(_)) => Some("NVDEC opens devices"),
            Some(format) if opens_more(format) => Some("an input in this format opens devices or other files"),
            _ if is_url(&self.url) => None,
            _ if is_in_folder => Some("the number of its files is in the name of a folder"),
            None if names_others(&self.url) => Some("such a file names others, which are opened, too"),
            _ => None,
        }
    }

    /// What is read: the file; or the folder of a numbered sequence, and the files elsewhere that links of the sequence
    /// lead to.
    pub fn readable(&self) -> Vec<PathBuf> {
        let path = self.url.path();
        if number_pattern(path).is_none() || path.exists() {
            return vec![path.to_owned()];
        }
        let files = numbers_there(path).into_iter().map(|number| numbered(path, number).path().to_owned());
        std::iter::once(folder_of(path).to_owned()).chain(files.filter(|file| file.is_symlink())).collect()
    }
}

/// The properties of raw frames, as given by the user.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct RawOptions {
    /// Pixels in a row and rows.
    pub size: Option<(usize, usize)>,
    /// FFmpeg's name of the pixel format.
    pub pixel_format: Option<String>,
    /// Frames a second.
    #[serde(with = "rate")]
    pub rate: Option<Rational>,
    /// For image sequences: what is done where a number is missing.
    #[serde(skip)]
    pub gaps: Gaps,
    /// For stacks of TIFF, FITS and SER: the samples that become 0 and 65535.
    pub sample_range: Option<(f64, f64)>,
}

/// Serializes a frame rate for a decoding process.
pub(super) mod rate {
    use super::{Deserialize, Rational, Serialize};
    use serde::{Deserializer, Serializer};

    pub fn serialize<S: Serializer>(rate: &Option<Rational>, target: S) -> Result<S::Ok, S::Error> {
        rate.map(|rate| (rate.numerator(), rate.denominator())).serialize(target)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(source: D) -> Result<Option<Rational>, D::Error> {
        let pair = Option::<(i32, i32)>::deserialize(source)?;
        Ok(pair.map(|(numerator, denominator)| Rational::new(numerator, denominator)))
    }
}

/// Whether a file of this name is a list of other files, such as a playlist; not for lists from the network, which name
/// no files of this machine.
pub(super) fn names_others(name: &Name) -> bool {
    !is_url(name) && is_list_name(name.path())
}

impl RawOptions {
    /// Warns of options for raw frames that have no effect on this input.
    ///
    /// # Errors
    /// The warning, with `--strict`.
    pub(super) fn check_used(&self, demuxer: &Demuxer, name: &str, notices: &Notices) -> Result<()> {
        let described = [
            ("-s", self.size.is_some()),
            ("--pixel-format", self.pixel_format.is_some()),
            ("-r", self.rate.is_some() && demuxer.ignores("framerate")),
        ];
        for (option, _) in described.iter().filter(|(_, is_given)| *is_given) {
            notices.warn(&format!(
                "{option} is ignored: {name} describes its own frames ({})",
                match *option {
                    "-s" => "--fit WxH scales them down; -f rawvideo if they are raw",
                    "-r" => "--filter-after fps=N has N a second; -f rawvideo if they are raw",
                    _ => "use -f rawvideo if they are raw",
                }
            ))?;
        }
        Ok(())
    }
}

/// Checks that frames of this size have no more pixels than are allowed.
///
/// # Errors
/// When they have more.
pub(super) fn check_size(name: &str, (width, height): (usize, usize), limits: &Limits) -> Result<()> {
    let most = limits.pixels();
    let fits = width.checked_mul(height).is_some_and(|pixels| pixels as u64 <= most);
    if fits {
        return Ok(());
    }
    let message = format!("{name}: frames of {width}x{height} are too large: --max-pixels allows for {most} pixels");
    Err(FailureKind::Limit.error(message))
}

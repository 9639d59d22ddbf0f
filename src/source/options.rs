//! What to read, as the user has said it.

use super::part::Part;
use crate::ffmpeg::{DecodeOn, Demuxer, Rational};
use crate::pipeline::Notices;
use anyhow::Result;

/// What to open, and which part of it.
#[derive(Clone, Debug, Default)]
pub struct InputOptions {
    /// A file name or a URL.
    pub url: String,
    /// A demuxer's name, for inputs that do not tell.
    pub format: Option<String>,
    /// What raw frames are; the rate is that of image sequences, too.
    pub raw: RawOptions,
    /// Which video stream is equalized, counted among the video streams; FFmpeg's choice if not given.
    pub video_stream: Option<usize>,
    /// Which part of it.
    pub part: Part,
    /// Where it is decoded.
    pub decode_on: DecodeOn,
}

/// What the user says about raw frames.
#[derive(Clone, Debug, Default)]
pub struct RawOptions {
    /// Pixels in a row and rows.
    pub size: Option<(usize, usize)>,
    /// FFmpeg's name of the pixel format.
    pub pixel_format: Option<String>,
    /// Frames a second.
    pub rate: Option<Rational>,
}

impl RawOptions {
    /// Warns of what has been said about raw frames, if that is not what `demuxer` has found under this name.
    ///
    /// # Errors
    /// The warning, with `--strict`.
    pub(super) fn check_heeded(&self, demuxer: &Demuxer, name: &str, notices: &Notices) -> Result<()> {
        let described = [
            ("-s", self.size.is_some()),
            ("--pixel-format", self.pixel_format.is_some()),
            ("-r", self.rate.is_some() && demuxer.ignores("framerate")),
        ];
        for (option, _) in described.iter().filter(|(_, is_given)| *is_given) {
            notices.warn(&format!(
                "{option} is ignored: {name} describes its own frames (use -f rawvideo if they are raw)"
            ))?;
        }
        Ok(())
    }
}

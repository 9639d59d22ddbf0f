//! Opens an input and its decoder, and describes the input.

use super::FileSource;
use super::other_streams::OtherStreams;
use super::packets::FilePackets;
use super::parallel::decoders::Several;
use super::planned::chunks::{Planned, Survey, Surveyor};
use super::unshown::Said;
use crate::ffmpeg::decode::{DecodeOn, Delay};
use crate::ffmpeg::demux::{Demuxer, Media, OpenError, OpenImage, ReadFrom, Sequence, Stream, Unshown};
use crate::ffmpeg::{Error, MediaType, OUT_OF_MEMORY, last_message, microseconds, rescale};
use crate::image_file::{MAX_UNPACKED, unpacks_to_too_much};
use crate::pipeline::{Cancel, FailureKind, Input, Notices, Progress};
use crate::source::failure::kind_of_cause;
use crate::source::native::ToNative;
use crate::source::options::{InputOptions, check_size};
use crate::source::packets::Reading;
use crate::source::stack::{Positioned, Stack, Told};
use crate::source::video_reader::VideoReader;
use crate::sys::files::{Name, numbered};
use crate::sys::io::Reader;
use crate::sys::limit_of;
use anyhow::{Result, anyhow};
use std::fmt::Display;
use std::fs::File;
use std::sync::Arc;

/// What a [`FileSource`] reads from.
pub enum FileInput {
    /// The file or URL that the options name.
    Url,
    /// A pipe.
    Pipe(Reader),
    /// An open file. No other file is opened.
    File(File),
    /// Numbered images, and what opens them.
    Images(Sequence, OpenImage),
}

impl FileInput {
    /// Size in bytes of the file `url`; `None` if the input is no file.
    fn file_size(&self, url: &Name) -> Option<u64> {
        let found = match self {
            FileInput::Url => std::fs::metadata(url).ok()?,
            FileInput::File(file) => file.metadata().ok()?,
            FileInput::Pipe(_) | FileInput::Images(..) => return None,
        };
        found.is_file().then_some(found.len())
    }

    /// The file `url`, opened to examine it, if its `size` is known.
    fn opened_again(&self, url: &Name, size: Option<u64>) -> Option<File> {
        match self {
            FileInput::File(file) => file.try_clone().ok(),
            FileInput::Url => size.and_then(|_| File::open(url).ok()),
            FileInput::Pipe(_) | FileInput::Images(..) => None,
        }
    }
}

/// An error that names the kind of the file, if FFmpeg does not read this kind (`unread`) and `error` reports only
/// damage; otherwise `error`.
fn about_kind(error: anyhow::Error, name: &str, unread: Option<&str>) -> anyhow::Error {
    let kind = error.chain().map(kind_of_cause).find(|kind| *kind != FailureKind::Failed).unwrap_or_default();
    match unread.filter(|_| matches!(kind, FailureKind::Failed | FailureKind::Damage)) {
        Some(what) => not_read(name, what),
        None => error,
    }
}

/// The error of an input that is not in the format of `--format`.
fn other_format_error(name: &str, format: &str, detail: &str) -> anyhow::Error {
    FailureKind::Usage.error(format!(
        "{name}: not {format}{detail}, which --format says that the input is (without it, that is found out; the name \
         of the output decides its container, or --output-format)"
    ))
}

fn not_read(name: &str, what: &str) -> anyhow::Error {
    FailureKind::Unsupported.error(format!("{name}: not read here: {what}"))
}

impl FileSource {
    /// Opens the input, which is called `name` in messages, and its decoder. It is read from `file_input`.
    ///
    /// # Errors
    /// When it cannot be opened, has no video, or no decoder for it.
    pub fn open(
        options: InputOptions,
        name: &str,
        file_input: FileInput,
        cancel: &Cancel,
        notices: Notices,
        progress: Arc<Progress>,
    ) -> Result<Self> {
        let name = name.to_owned();
        let (is_pipe, size) = (matches!(file_input, FileInput::Pipe(_)), file_input.file_size(&options.url));
        let sequence =
            if let FileInput::Images(sequence, _) = &file_input { Some(Arc::new(sequence.clone())) } else { None };
        let file = file_input
            .opened_again(&options.url, size)
            .filter(|file| file.metadata().is_ok_and(|metadata| metadata.is_file()));
        let mut said = file.map(Said::read).unwrap_or_default();
        let unread = said.unread;
        let of_kind = |error| about_kind(error, &name, unread);
        let (mut demuxer, told) = open_demuxer(&options, &name, file_input, size, cancel, &notices).map_err(of_kind)?;
        // FFmpeg treats any file with the name of an image as an image.
        if demuxer.media.is_images() {
            unread.map_or(Ok(()), |what| Err(not_read(&name, what)))?;
        }
        said.title(&mut demuxer.media.streams);
        options.raw.check_used(&demuxer, &name, &notices)?;
        let video = choose_video(&demuxer, &name, &options).map_err(of_kind)?;
        let track = said.track(&demuxer.media.streams, video).unwrap_or_default();
        if track.is_encrypted() {
            return Err(FailureKind::Unsupported.error(format!(
                "{name}: its video is encrypted (`ffmpeg -decryption_key KEY -i IN -c copy OUT` makes a file that can \
                 be read)"
            )));
        }
        if let Some(size) = demuxer.media.streams[video].size() {
            check_size(&name, size, &options.limits)?;
        }
        let shown = &demuxer.media.streams[video];
        let is_whole = |metadata: (usize, usize)| shown.size() == Some(metadata);
        // FFmpeg cannot crop frames in GPU memory in all cases.
        let can_crop = !matches!(options.decode_on, DecodeOn::Nvdec(_));
        let crop = track.crop.filter(|crop| can_crop && is_whole(crop.whole)).map(|crop| crop.on_samples(shown));
        let rest = [
            (track.crop.is_some() && crop.is_none(), Unshown::Crop),
            (shown.has_layers(), Unshown::SecondLayer),
            (demuxer.media.streams.iter().any(Stream::has_chapter_pictures), Unshown::ChapterPictures),
        ];
        rest.into_iter().filter(|(is_there, _)| *is_there).for_each(|(_, unshown)| said.name(unshown));
        demuxer.media.unshown = said.unshown;
        if let Some(ratio) = track.ratio.filter(|_| crop.is_some()) {
            let shown = &mut demuxer.media.streams[video];
            (shown.sample_aspect_ratio, shown.container_aspect_ratio) = (Some(ratio), Some(ratio));
        }
        let mut media = demuxer.media.clone();
        let mut packets = FilePackets::new((demuxer, told), video, name.clone(), notices.clone());
        if media.is_images() && media.streams[video].codec == "tiff" && sequence.is_none() {
            media.set_images(video, packets.read_pages());
        }
        let mut input = Input { sequence, ..input_of(media, name, video, &options) };
        input.picture = input.picture.map(|(format, size)| (format, crop.map_or(size, |crop| crop.size)));
        let name = input.name.to_string();
        let video =
            open_decoder(packets, &input, options.decode_on).map_err(|error| about_kind(error, &name, unread))?;
        let mut bounds = options.part.bounds(input.media.start.unwrap_or(0));
        let (mut survey, mut planned) = (None, None);
        match &options.reading {
            Reading::Decoded => {}
            Reading::Packets(end, found) => {
                bounds.end = end.or(bounds.end);
                let surveyor = Surveyor::new(input.video_stream()).map_err(|why| anyhow!("{}: {why}", input.name))?;
                survey = Some(Survey { surveyor, found: found.clone() });
            }
            Reading::Planned(part) => {
                input.frames = Some(part.within as u64);
                planned = Some(Planned { part: part.clone(), arrived: 0 });
            }
        }
        Ok(FileSource {
            several: Several::new(&input, &options, size.is_some(), &notices),
            to_native: ToNative::new(input.video_stream(), notices.clone(), &options.limits),
            others: OtherStreams::new(&input.media.streams, bounds),
            video,
            is_pipe,
            size,
            input,
            options,
            notices,
            progress,
            interrupt: cancel.flag(),
            bounds,
            warm_up: 0,
            look_ahead: 0,
            crop,
            state: super::FileState::Opened,
            survey,
            planned,
            delivered: 0,
            next_time: None,
            errors: 0,
        })
    }
}

/// The description of the requested part, before anything is decoded.
fn input_of(media: Media, name: String, video: usize, options: &InputOptions) -> Input {
    let part = options.part;
    let stream = &media.streams[video];
    let rest = media.duration.map(|duration| duration - part.start.unwrap_or(0));
    let duration = [rest, part.duration].into_iter().flatten().min().filter(|&duration| duration > 0);
    let by_rate = duration.zip(stream.frame_rate).map(|(duration, rate)| {
        (duration as f64 / 1e6 * f64::from(rate.numerator()) / f64::from(rate.denominator())).round() as u64
    });
    let whole = part.start.is_none() && part.duration.is_none();
    let of_frames = part
        .frames
        .zip(stream.frame_rate)
        .map(|(frames, rate)| rescale(i64::try_from(frames).unwrap_or(i64::MAX), rate.invert(), microseconds()));
    let counted = stream.frames.filter(|_| whole).or(by_rate);
    let (picture, shift) = (stream.picture(), part.bounds(media.start.unwrap_or(0)).shift());
    Input {
        video,
        picture,
        shift,
        length: [part.duration, of_frames].into_iter().flatten().min(),
        frames: [counted, part.frames].into_iter().flatten().min(),
        duration,
        limits: options.limits.clone(),
        ..Input::new(name, media)
    }
}

fn open_decoder(packets: FilePackets, input: &Input, on: DecodeOn) -> Result<VideoReader<FilePackets>> {
    let (name, stream) = (&input.name, input.video_stream());
    last_message();
    VideoReader::open(packets, input.video, Delay::Any, on).map_err(|error| no_decoder(error, name, stream, on))
}

/// The error that the video `stream` of the input `name` cannot be decoded on the processor `on`, with a remedy.
pub(in crate::source) fn no_decoder(error: Error, name: impl Display, stream: &Stream, on: DecodeOn) -> anyhow::Error {
    match on {
        DecodeOn::Cpu | DecodeOn::Threads(_) => {
            let stream = stream.describe();
            match error {
                Error::DecoderNotFound => anyhow!("{name}: no decoder for {stream}: another FFmpeg build may have it"),
                Error::Other { errno } => {
                    let error = std::io::Error::from_raw_os_error(errno);
                    anyhow!("{name}: the decoder for {stream} does not open: {error}{}", limit_of(&error))
                }
                error => anyhow!("{name}: the decoder for {stream} does not open: {error}"),
            }
        }
        DecodeOn::Nvdec(_) if error == Error::DecoderNotFound => FailureKind::Device
            .error(format!("{name}: NVDEC does not decode {} (use --decoder cpu)", stream.describe())),
        DecodeOn::Nvdec(gpu) => {
            let reason = last_message().unwrap_or_else(|| error.to_string());
            FailureKind::Device.error(format!("{name}: GPU {gpu} cannot decode: {reason} (use --decoder cpu)"))
        }
    }
}

/// The errors of some demuxers for a header that ends too early.
const CUT_OFF: [Error; 2] = [Error::Eof, Error::Other { errno: libc::EIO }];

fn open_demuxer(
    options: &InputOptions,
    name: &str,
    mut file_input: FileInput,
    size: Option<u64>,
    cancel: &Cancel,
    notices: &Notices,
) -> Result<(Demuxer, Option<Told>)> {
    if file_input.opened_again(&options.url, size).is_some_and(is_bomb) {
        return Err(FailureKind::Limit.error(format!(
            "{name}: its profile of colours or its texts unpack to more than {} MiB",
            MAX_UNPACKED >> 20
        )));
    }
    let mut stack = Stack::open(&mut file_input, options, name, cancel, notices)?;
    let told = stack.as_mut().map(Stack::told);
    let metadata = stack.as_ref().map(|stack| stack.found.metadata.clone()).unwrap_or_default();
    let samples = stack.as_ref().and_then(|stack| stack.range);
    let rate = options.raw.rate.or(stack.as_ref().and_then(|stack| stack.found.rate));
    let rate = rate.map(|rate| ("framerate".to_owned(), rate.to_string()));
    // The name of an existing file is not a pattern, even if its path contains a per cent sign.
    let is_plain = size.is_some() && options.url.bytes().contains(&b'%');
    let plain = is_plain.then(|| ("pattern_type".to_owned(), "none".to_owned()));
    let frames = stack.as_ref().map(|pages| {
        let size = format!("{}x{}", pages.size.0, pages.size.1);
        [("video_size".to_owned(), size), ("pixel_format".to_owned(), pages.format.clone())]
    });
    let given: Vec<(String, String)> = rate.into_iter().chain(plain).chain(frames.into_iter().flatten()).collect();
    let mut first = None;
    let file_input = match (stack, file_input) {
        (Some(stack), _) => {
            let demuxer = stack.found.demuxer;
            ReadFrom::Frames(Box::new(stack), demuxer)
        }
        (None, FileInput::Pipe(reader)) => ReadFrom::Reader(Box::new(reader)),
        (None, FileInput::File(file)) => ReadFrom::File(file),
        (None, FileInput::Images(sequence, mut open)) => {
            first = Some(numbered(&options.url, sequence.first()));
            let open = move |number| {
                let image = open(number)?;
                let is_bomb = is_bomb(image.try_clone()?);
                if is_bomb { Err(std::io::Error::from_raw_os_error(libc::ENOMEM)) } else { Ok(image) }
            };
            ReadFrom::Images(sequence, Box::new(open))
        }
        (None, FileInput::Url) => ReadFrom::Url,
    };
    let opened = Demuxer::open(
        first.as_ref().unwrap_or(&options.url),
        file_input,
        options.format.as_deref(),
        &given,
        cancel.flag(),
        &options.limits,
    );
    let damage = |message| FailureKind::Damage.error(message);
    let mut demuxer = opened.map_err(|error| {
        let detail = last_message().map(|message| format!(" ({message})")).unwrap_or_default();
        let error = match error {
            OpenError::Ffmpeg(error) => error,
            refused => return anyhow::Error::new(refused).context(name.to_owned()),
        };
        let is_other = error == Error::InvalidData || CUT_OFF.contains(&error) && size.is_some();
        if let Some(format) = options.format.as_deref().filter(|_| is_other && size != Some(0)) {
            return other_format_error(name, format, &detail);
        }
        match error {
            Error::InvalidData if size == Some(0) => damage(format!("{name}: the file is empty")),
            Error::InvalidData => damage(format!("{name}: not a video, or damaged beyond recognition{detail}")),
            error if CUT_OFF.contains(&error) && size.is_some() => {
                damage(format!("{name}: not a video, or damaged beyond recognition ({error})"))
            }
            Error::DemuxerNotFound => anyhow!(
                "{name}: FFmpeg has no input format {} (`ffmpeg -demuxers` lists them; the name of the output decides \
                 its container, or --output-format)",
                options.format.as_deref().unwrap_or_default()
            ),
            // For example, a file name that a playlist may not contain, or more streams than FFmpeg accepts.
            Error::Other { errno: libc::EPERM } => anyhow!("{name}: {error}{detail}"),
            OUT_OF_MEMORY => FailureKind::Limit.error(format!("{name}: {error}{detail}")),
            Error::HttpNotFound => {
                FailureKind::Missing.error(format!("{name}: the server has nothing there (is the address right?)"))
            }
            Error::HttpUnauthorized => FailureKind::Refused.error(format!(
                "{name}: the server wants a name and a password (as in https://name:password@host/video.mp4)"
            )),
            Error::HttpForbidden => {
                FailureKind::Refused.error(format!("{name}: the server refuses (name, password or token may be wrong)"))
            }
            Error::Other { errno } => FailureKind::from_errno(errno).error(format!("{name}: {error}")),
            error => anyhow!("{name}: {error}"),
        }
    })?;
    // FFmpeg renders text files as videos of a terminal; a text file is more likely a mistake.
    let is_text = demuxer.media.demuxer == "tty" && options.format.is_none();
    match is_text {
        true => Err(damage(format!("{name}: a text file, not a video (-f tty reads it as a picture of a terminal)"))),
        false => {
            // FFmpeg reads neither metadata nor the sample format of a stack.
            demuxer.media.metadata.extend(metadata);
            demuxer.media.samples = samples;
            Ok((demuxer, told))
        }
    }
}

/// Whether the compressed profile or texts of an image unpack to more than `MAX_UNPACKED`.
fn is_bomb(file: File) -> bool {
    Positioned::new(file).is_ok_and(unpacks_to_too_much)
}

fn choose_video(demuxer: &Demuxer, name: &str, options: &InputOptions) -> Result<usize> {
    let streams = &demuxer.media.streams;
    let videos: Vec<usize> = streams.iter().filter(|s| s.kind == MediaType::Video).map(|s| s.index).collect();
    if let Some(wanted) = options.video_stream {
        return videos.get(wanted).copied().ok_or_else(|| match videos.len() {
            0 => FailureKind::Damage.error(format!("{name}: no video stream in it")),
            count => {
                let last = count - 1;
                FailureKind::Usage
                    .error(format!("{name}: no video stream {wanted}; the last one is {last} (the first is 0)"))
            }
        });
    }
    demuxer.best_video().ok_or_else(|| {
        let kinds: Vec<String> = streams.iter().map(|stream| stream.describe()).collect();
        FailureKind::Damage.error(match kinds.is_empty() {
            true => format!("{name}: no stream in it"),
            false if !videos.is_empty() => {
                format!("{name}: no video stream but cover art (--video-stream 0 equalizes that)")
            }
            false => format!("{name}: no video stream in it, only {}", kinds.join(", ")),
        })
    })
}

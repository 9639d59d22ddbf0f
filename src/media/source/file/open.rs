//! Opens an input and its decoder, and describes the input.

use super::FileSource;
use super::chunks::{Planned, Survey, Surveyor};
use super::other_streams::OtherStreams;
use super::packets::FilePackets;
use super::sequence::Sequence;
use super::several::Several;
use crate::ffmpeg::{
    DecodeOn, Delay, Demuxer, Error, Media, MediaType, OpenError, Stream, last_message, microseconds, rescale,
};
use crate::pipeline::{Cancel, FailureKind, Input, Notices, Progress};
use crate::source::native::ToNative;
use crate::source::options::{InputOptions, check_size};
use crate::source::packets::Reading;
use crate::source::video_reader::VideoReader;
use crate::sys::{Reader, limit_of};
use anyhow::{Result, anyhow};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

impl FileSource {
    /// Opens the input, which is called `name` in messages, and its decoder. It is read from `reader` if there is one.
    ///
    /// # Errors
    /// When it cannot be opened, has no video, or no decoder for it.
    pub fn open(
        options: InputOptions,
        name: &str,
        reader: Option<Reader>,
        cancel: &Cancel,
        notices: Notices,
        progress: Arc<Progress>,
    ) -> Result<Self> {
        let name = name.to_owned();
        let is_pipe = reader.is_some();
        let sequence = Sequence::of(&options, &notices)?;
        let demuxer = open_demuxer(&options, &name, reader, cancel, sequence.as_ref())?;
        options.raw.check_used(&demuxer, &name, &notices)?;
        let video = choose_video(&demuxer, &name, &options)?;
        if let Some(size) = demuxer.media().streams[video].size() {
            check_size(&name, size)?;
        }
        let first_number = sequence.as_ref().map(|sequence| sequence.first);
        let is_sequence = sequence.is_some();
        let before_gap = sequence.and_then(|sequence| sequence.before_gap);
        let mut media = demuxer.media().clone();
        let mut packets = FilePackets::new(demuxer, video, name.clone(), notices.clone(), before_gap);
        if media.is_images() && media.streams[video].codec == "tiff" && !is_sequence {
            media.set_images(video, packets.read_pages());
        }
        let input = Input { first_number, ..input_of(media, name, video, &options) };
        let video = open_decoder(packets, &input, options.decode_on)?;
        let mut bounds = options.part.bounds(input.media.start.unwrap_or(0));
        let mut input = input;
        let (mut survey, mut planned) = (None, None);
        match &options.reading {
            Reading::Decoded => {}
            Reading::Packets(end, found) => {
                bounds.end = end.or(bounds.end);
                let surveyor = Surveyor::new(input.video_stream()).map_err(|why| anyhow!("{}: {why}", input.name))?;
                survey = Some(Survey::new(surveyor, found.clone()));
            }
            Reading::Planned(part) => {
                input.frames = Some(part.within as u64);
                planned = Some(Planned::new(part.clone()));
            }
        }
        let is_file = !is_pipe && Path::new(&options.url).is_file();
        let to_native = ToNative::new(input.video_stream(), notices.clone());
        Ok(FileSource {
            several: Several::new(&input, &options, is_file, &notices),
            to_native: if options.to_sdr { to_native.for_sdr() } else { to_native },
            others: OtherStreams::new(&input.media.streams, bounds),
            video,
            is_pipe,
            input,
            options,
            notices,
            progress,
            interrupt: cancel.flag(),
            bounds,
            warm_up: 0,
            look_ahead: 0,
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
    Input {
        name,
        video,
        picture: stream.picture(),
        shift: part.bounds(media.start.unwrap_or(0)).shift(),
        length: [part.duration, of_frames].into_iter().flatten().min(),
        frames: [counted, part.frames].into_iter().flatten().min(),
        duration,
        first_number: None,
        media,
    }
}

fn open_decoder(packets: FilePackets, input: &Input, on: DecodeOn) -> Result<VideoReader<FilePackets>> {
    let (name, stream) = (&input.name, input.video_stream());
    last_message();
    VideoReader::open(packets, input.video, Delay::Any, on).map_err(|error| no_decoder(error, name, stream, on))
}

/// That the video `stream` of the input `name` cannot be decoded there, and the way out.
pub(in crate::source) fn no_decoder(error: Error, name: &str, stream: &Stream, on: DecodeOn) -> anyhow::Error {
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
    reader: Option<Reader>,
    cancel: &Cancel,
    sequence: Option<&Sequence>,
) -> Result<Demuxer> {
    let reader = reader.map(|reader| Box::new(reader) as Box<dyn Read + Send>);
    let rate = options.raw.rate.map(|rate| ("framerate".to_owned(), rate.to_string()));
    let first = sequence.map(|sequence| ("start_number".to_owned(), sequence.first.to_string()));
    // An existing file is not a pattern, even if its folders have a per cent sign.
    let is_file = options.url.contains('%') && Path::new(&options.url).is_file();
    let plain = is_file.then(|| ("pattern_type".to_owned(), "none".to_owned()));
    let given: Vec<(String, String)> = rate.into_iter().chain(first).chain(plain).collect();
    let url = sequence.map_or(options.url.as_str(), |sequence| &sequence.pattern);
    let opened = Demuxer::open(url, reader, options.format.as_deref(), &given, cancel.flag());
    let damage = |message| FailureKind::Damage.error(message);
    let demuxer = opened.map_err(|error| {
        let detail = last_message().map(|message| format!(" ({message})")).unwrap_or_default();
        let error = match error {
            OpenError::Ffmpeg(error) => error,
            refused => return anyhow::Error::new(refused).context(name.to_owned()),
        };
        match error {
            Error::InvalidData if is_empty(name) => damage(format!("{name}: the file is empty")),
            Error::InvalidData => damage(format!("{name}: not a video, or damaged beyond recognition{detail}")),
            error if CUT_OFF.contains(&error) && Path::new(name).is_file() => {
                damage(format!("{name}: not a video, or damaged beyond recognition ({error})"))
            }
            Error::DemuxerNotFound => anyhow!(
                "{name}: FFmpeg has no input format {} (`ffmpeg -demuxers` lists them)",
                options.format.as_deref().unwrap_or_default()
            ),
            // A file name that is not allowed in a playlist, say, or more streams than FFmpeg takes.
            Error::Other { errno: libc::EPERM | libc::ENOMEM } => anyhow!("{name}: {error}{detail}"),
            Error::Other { errno } => FailureKind::of_errno(errno).error(format!("{name}: {error}")),
            error => anyhow!("{name}: {error}"),
        }
    })?;
    // FFmpeg renders text files as videos of a terminal; a text file is more likely a mistake.
    let is_text = demuxer.media().demuxer == "tty" && options.format.is_none();
    match is_text {
        true => Err(damage(format!("{name}: a text file, not a video (-f tty reads it as a picture of a terminal)"))),
        false => Ok(demuxer),
    }
}

fn is_empty(name: &str) -> bool {
    std::fs::metadata(name).is_ok_and(|file| file.is_file() && file.len() == 0)
}

fn choose_video(demuxer: &Demuxer, name: &str, options: &InputOptions) -> Result<usize> {
    let streams = &demuxer.media().streams;
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

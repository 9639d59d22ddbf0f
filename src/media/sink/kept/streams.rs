//! The streams that are not equalized: they are copied. Text subtitles and audio that the container cannot hold are
//! re-encoded, and other streams are left out, with a warning.

use super::metadata::kept_in;
use super::stream_choice::StreamChoice;
use super::table::listed;
use crate::ffmpeg::demux::Stream;
use crate::ffmpeg::encode::TranscodeTo;
use crate::ffmpeg::mux::{Container, Muxer, OutputStream};
use crate::ffmpeg::{MediaType, Packet, Rational, last_message, microseconds, rescale};
use crate::pipeline::{Input, Notices, Transcoded, Transcoders};
use crate::sink::encoder::clock::NOTICED;
use crate::sys::files::Name;
use anyhow::{Context, Result, bail};

/// The longest audio that decoders have to decode before the first audible sample, in microseconds.
const PRIMING: i64 = 100_000;

/// At most this many other streams are included in a trial. Each trial opens a muxer with all of them, so time and
/// memory grow with the square of their number.
const MAX_TRIED: usize = 32;

/// How packets of an input stream get to the output.
enum Route {
    Copy(OutputStream),
    Transcoded {
        target: OutputStream,
        /// Index of the transcoder.
        place: usize,
        /// Time base of the transcoded packets.
        time_base: Rational,
        is_sound: bool,
        /// Whether the transcoder has returned a packet.
        is_made: bool,
        /// The error of the last audio packet that could not be decoded.
        error: Option<String>,
    },
}

/// What is done with an input stream. This is decided before the first frame, so that errors are reported early.
enum Treatment<'a> {
    Copy,
    /// Its image is attached as a file.
    Attach(&'a [u8]),
    /// Subtitles are converted.
    Subtitles(TranscodeTo),
    /// Audio is re-encoded.
    Sound(TranscodeTo),
    /// The muxer recreates the stream from chapters or metadata.
    Implied,
    /// The user has left the stream out.
    Unwanted,
    LeaveOut,
}

/// The user's rules for streams.
#[derive(Clone, Default)]
pub struct StreamRules {
    /// Whether uncompressed audio is encoded, as for a live output.
    pub live: bool,
    /// The only audio codec that is allowed: audio in another codec is re-encoded.
    pub codec: Option<&'static str>,
    /// Which streams are kept; `None` for all.
    pub choice: Option<StreamChoice>,
}

/// A muxer that writes to /dev/null, to test whether it accepts the header and the first packet of a stream.
struct Trial {
    muxer: Muxer,
    target: OutputStream,
    stream: Stream,
}

impl Trial {
    /// Writes the header of a file with the video, the streams `beside`, and `stream`.
    fn new(
        container: Container,
        add_video: &impl Fn(&mut Muxer) -> Result<OutputStream>,
        beside: &[Stream],
        stream: &Stream,
    ) -> Result<Self> {
        let mut muxer = Muxer::open(container, &"/dev/null".into(), None, None)?;
        add_video(&mut muxer)?;
        for other in beside {
            muxer.add_copy(other, &kept_in(container, &other.metadata))?;
        }
        let target = muxer.add_copy(stream, &kept_in(container, &stream.metadata))?;
        muxer.write_header(&[])?;
        Ok(Trial { muxer, target, stream: stream.clone() })
    }

    /// Writes the header of a file with only the video.
    fn try_video(container: Container, add_video: &impl Fn(&mut Muxer) -> Result<OutputStream>) -> Result<()> {
        let mut muxer = Muxer::open(container, &"/dev/null".into(), None, None)?;
        add_video(&mut muxer)?;
        muxer.write_header(&[])
    }

    /// Tries to write the `first` packet of a stream, if it has been read. Returns the trial if that packet is still to
    /// come. The error is the muxer's reason to refuse the stream.
    fn outcome(trial: Option<Result<Self, String>>, first: Option<&Packet>) -> Result<Option<Self>, String> {
        match (trial.transpose()?, first) {
            (Some(trial), Some(packet)) => trial.takes(packet).map(|()| None),
            (trial, _) => Ok(trial),
        }
    }

    /// Writes a packet. The error is the muxer's reason to refuse it.
    fn takes(mut self, packet: &Packet) -> Result<(), String> {
        last_message();
        // These muxers expect video first, so a packet of another stream cannot be tried alone.
        if self.muxer.container().loses_gaps() {
            return Ok(());
        }
        let written = self.muxer.write_alone(packet.clone(), self.target, self.stream.time_base);
        written.map_err(|error| last_message().unwrap_or_else(|| error.to_string()))
    }
}

/// Leaves out a stream that the muxer refuses, with a warning.
fn refuse(stream: &Stream, container: Container, why: &str, notices: &Notices) -> Result<()> {
    leave_out(stream, &format!("{} does not take it: {}", container.name(), why.trim_end_matches('.')), notices)
}

/// Routes for all streams of an input.
#[derive(Default)]
pub struct Routes {
    routes: Vec<Option<(Route, Rational)>>,
    /// For each stream, the trial that waits for its first packet.
    trials: Vec<Option<Trial>>,
    /// `None` if no stream is transcoded.
    transcoders: Option<Box<dyn Transcoders>>,
    /// Whether the user has been warned about decreasing timestamps.
    warned_of_times: bool,
    /// For each stream, whether a packet has been written.
    begun: Vec<bool>,
}

/// Warns of a rotation that is no multiple of 90 degrees, if the output cannot store it.
///
/// # Errors
/// The warning, with `--strict`.
pub fn check_rotation(video: &Stream, name: &Name, is_stored: bool, notices: &Notices) -> Result<()> {
    if is_stored || !video.side_data.has_other_angle() {
        return Ok(());
    }
    notices.warn(&format!(
        "{name} cannot signal a rotation other than a quarter turn: the video stays as it was \
         recorded (an .mp4 file turns it)"
    ))
}

/// Warns of the streams that `container` cannot hold unchanged, except for audio that is re-encoded anyway. `name` is
/// the input's name.
///
/// # Errors
/// The warning, with `--strict`; when a stream that the user has chosen does not exist.
pub fn check(
    streams: &[Stream],
    video: usize,
    container: Container,
    rules: &StreamRules,
    name: &Name,
    notices: &Notices,
) -> Result<()> {
    rules.choice.iter().try_for_each(|choice| choice.check(streams, name))?;
    for stream in streams.iter().filter(|stream| stream.index != video) {
        let is_encoded_anyway = rules.codec.is_some() || rules.live && is_uncompressed(stream);
        match treatment(stream, streams, container, rules) {
            Treatment::LeaveOut => leave_out(stream, &why_not_copied(stream, container), notices)?,
            Treatment::Sound(TranscodeTo { encoder, .. }) if !(container.holds(stream) || is_encoded_anyway) => {
                let why = why_not_copied(stream, container);
                let message = format!("{} is re-encoded ({encoder}): {why}", stream.describe());
                // 24 bits preserve any audio, so this is only a note.
                if encoder == "pcm_s24le" { notices.note(&message) } else { notices.warn(&message)? }
            }
            _ => {}
        }
    }
    check_tags(streams.iter().filter(|stream| is_kept(stream, streams, video, container, rules)), container, notices)
}

/// Whether a stream will be in the output, in the same or another codec.
fn is_kept(stream: &Stream, streams: &[Stream], video: usize, container: Container, rules: &StreamRules) -> bool {
    let kept = treatment(stream, streams, container, rules);
    stream.index == video || matches!(kept, Treatment::Copy | Treatment::Sound(_) | Treatment::Subtitles(_))
}

/// The containers that store the language of audio, and those that store stream titles, by FFmpeg's names.
const WITH_LANGUAGES: &str = "matroska webm nut mp4 mov ipod 3gp 3g2 ismv f4v psp asf ogg ogv mpegts hls dash null";
const WITH_NAMES: &str = "matroska webm nut mp4 mov avi ogg ogv null";
/// Titles that every AVIF file has. Newer FFmpeg versions read them as stream titles.
const NAMES_IN_AVIF: [&str; 2] = ["Color", "Alpha"];

/// Warns of audio languages and stream titles that `container` cannot store.
fn check_tags<'a>(kept: impl Iterator<Item = &'a Stream>, container: Container, notices: &Notices) -> Result<()> {
    let has = |containers: &str| containers.split(' ').any(|name| name == container.name());
    let (mut languages, mut names) = (Vec::new(), Vec::new());
    for stream in kept {
        let is_sound = stream.kind == MediaType::Audio && !has(WITH_LANGUAGES);
        languages.extend(stream.tag("language").filter(|language| is_sound && *language != "und"));
        let is_avif = |name: &str| stream.codec == "av1" && NAMES_IN_AVIF.contains(&name);
        let is_name = |name: &&str| !name.is_empty() && !is_avif(name);
        names.extend(stream.tag("title").filter(|name| !has(WITH_NAMES) && is_name(name)));
    }
    let lost = [("languages of sound", languages), ("names of streams", names)];
    let lost = lost.iter().filter(|(_, tags)| !tags.is_empty()).map(|(what, tags)| format!("{what}{}", listed(tags)));
    let lost = lost.collect::<Vec<_>>().join(" and ");
    match lost.is_empty() {
        true => Ok(()),
        false => notices.warn(&format!("{} has no place for {lost} (a .mkv file has)", container.name())),
    }
}

fn leave_out(stream: &Stream, why: &str, notices: &Notices) -> Result<()> {
    notices.warn(&format!("{} is left out: {why} (--streams -{} says that it may be)", stream.describe(), stream.index))
}

/// Why this stream cannot be copied into `container`.
fn why_not_copied(stream: &Stream, container: Container) -> String {
    let name = container.name();
    let matroska = Container::guess(Some("matroska"), "").filter(|matroska| matroska.holds(stream));
    let has_decoder = stream.kind != MediaType::Audio || stream.has_decoder();
    match matroska {
        _ if stream.is_timecode() => "it cannot be read from a pipe (name the file)".to_owned(),
        _ if stream.codec == "scte_35" && name == "mpegts" => {
            "FFmpeg would write it as private data, which no player reads as such".to_owned()
        }
        _ if !has_decoder => format!("{name} cannot hold it, and this FFmpeg has no decoder for it"),
        _ if !stream.is_known() && stream.kind == MediaType::Video => {
            "nothing of it was found at the beginning (--video-stream equalizes what comes later)".to_owned()
        }
        _ if !stream.is_known() => "nothing of it was found at the beginning".to_owned(),
        Some(_) => format!("{name} cannot hold it (a .mkv file can)"),
        None => format!("{name} cannot hold it"),
    }
}

/// Whether cover art is copied into `container` as a stream.
pub fn has_cover(streams: &[Stream], video: usize, container: Container, rules: &StreamRules) -> bool {
    let mut rest = streams.iter().filter(|stream| stream.index != video && stream.is_attached_picture());
    rest.any(|stream| matches!(treatment(stream, streams, container, rules), Treatment::Copy))
}

fn is_uncompressed(stream: &Stream) -> bool {
    stream.codec.starts_with("pcm_")
}

fn treatment<'a>(stream: &'a Stream, streams: &[Stream], container: Container, rules: &StreamRules) -> Treatment<'a> {
    if rules.choice.as_ref().is_some_and(|choice| !choice.keeps(stream, streams)) {
        return Treatment::Unwanted;
    }
    let is_timecode = stream.kind == MediaType::Data && stream.tag("timecode").is_some();
    if is_timecode || stream.is_chapter_text() {
        return Treatment::Implied;
    }
    if let Some(picture) = stream.cover.as_deref().filter(|_| container.name() == "matroska") {
        return Treatment::Attach(picture);
    }
    let is_sound = stream.kind == MediaType::Audio && stream.is_known() && stream.has_decoder();
    // Uncompressed audio would be as large as the video, and microphone audio has gaps to fill. AAC from broadcasts has
    // no codec header, but a file that is playable while it grows needs that at its start.
    let needs_header = stream.codec == "aac" && !stream.has_header() && container.needs_global_header();
    let is_encoded_live = rules.live && is_sound && (is_uncompressed(stream) || needs_header);
    let is_other_codec = is_sound && rules.codec.is_some_and(|codec| codec != stream.codec);
    if container.holds(stream) && !is_encoded_live && !is_other_codec {
        return Treatment::Copy;
    }
    let subtitles = container.subtitle_codec().filter(|_| stream.is_text_subtitle() && stream.has_decoder());
    let has_global_header = container.needs_global_header();
    match (subtitles, is_sound.then(|| container.sound_instead(stream)).flatten()) {
        (Some(encoder), _) => Treatment::Subtitles(TranscodeTo {
            encoder: encoder.to_owned(),
            has_global_header,
            ..TranscodeTo::default()
        }),
        (_, Some(target)) => Treatment::Sound(target),
        _ if container.holds(stream) => Treatment::Copy,
        _ => Treatment::LeaveOut,
    }
}

/// Opens the transcoders of the streams that are re-encoded, if any.
fn converted(input: &Input, container: Container, rules: &StreamRules, notices: &Notices) -> Result<Converted> {
    let streams = &input.media.streams;
    let rest = streams.iter().filter(|stream| stream.index != input.video);
    let wanted: Vec<(Stream, TranscodeTo)> = rest
        .filter_map(|stream| match treatment(stream, streams, container, rules) {
            Treatment::Sound(target) | Treatment::Subtitles(target) => Some((stream.clone(), target)),
            _ => None,
        })
        .collect();
    match wanted.is_empty() {
        true => Ok((None, Vec::new())),
        false => input.transcoders.open(&wanted, notices).map(|(open, streams)| (Some(open), streams)),
    }
}

/// Reports which channels and sample rate are lost, because the codec in this container does not support them.
///
/// # Errors
/// The warning that channels are mixed, with `--strict`.
fn tell_losses(stream: &Stream, output: &Stream, container: Container, notices: &Notices) -> Result<()> {
    let (Some((rate, channels)), Some((new_rate, new_channels))) = (stream.sound(), output.sound()) else {
        return Ok(());
    };
    let takes = format!("{} in {} takes no more (a .mkv file can)", output.codec, container.name());
    // A reduction of up to 5 % is not reported, such as 22,255 Hz of old files to 22,050 Hz.
    if new_rate < rate - rate / 20 {
        notices.note(&format!("{}: {rate} Hz become {new_rate} Hz: {takes}", stream.describe()));
    }
    if new_channels < channels {
        notices.warn(&format!("{}: {channels} channels are mixed to {new_channels}: {takes}", stream.describe()))?;
    }
    Ok(())
}

/// Transcoders, and for each the output stream, or why it cannot be made.
type Converted = (Option<Box<dyn Transcoders>>, Vec<Result<Stream, String>>);

impl Routes {
    /// The indices of the input streams that are kept, and their output streams, without the video.
    pub fn outputs(&self) -> impl Iterator<Item = (usize, OutputStream)> + '_ {
        let output = |(Route::Copy(target) | Route::Transcoded { target, .. }, _): &_| *target;
        self.routes.iter().enumerate().filter_map(move |(index, route)| Some((index, output(route.as_ref()?))))
    }

    /// Adds an output stream for each stream of `input`, in order; `add_video` adds the video stream, which is
    /// returned, too. A stream whose decoder or encoder does not open, or whose header or first packet the muxer
    /// refuses, is left out with a warning. `early` are the packets that have been read.
    ///
    /// # Errors
    /// When a stream cannot be added; the warning, with `--strict`.
    pub fn add(
        muxer: &mut Muxer,
        input: &Input,
        (rules, early): (&StreamRules, &[Packet]),
        notices: &Notices,
        add_video: impl Fn(&mut Muxer) -> Result<OutputStream>,
    ) -> Result<(Self, OutputStream)> {
        let (streams, container) = (&input.media.streams, muxer.container());
        let (transcoders, converted) = converted(input, container, rules, notices)?;
        let mut converted = converted.into_iter().enumerate();
        let (mut routes, mut trials, mut video, mut beside) = (Vec::new(), Vec::new(), None, Vec::new());
        // A muxer that opens files itself cannot be tried, because it would write them.
        let can_try = container.needs_file() && Trial::try_video(container, &add_video).is_ok();
        for stream in streams {
            trials.push(None);
            if stream.index == input.video {
                video = Some(add_video(muxer)?);
                routes.push(None);
                continue;
            }
            let metadata = kept_in(container, &stream.metadata);
            let route = match treatment(stream, streams, container, rules) {
                Treatment::Copy => {
                    let first = early.iter().find(|packet| packet.stream() == stream.index);
                    // An attachment has no packets, and does not affect other streams.
                    let is_file = stream.kind == MediaType::Attachment;
                    let rest = if is_file { &[][..] } else { &beside };
                    let begin = || Trial::new(container, &add_video, rest, stream);
                    let is_tried = can_try && beside.len() < MAX_TRIED;
                    let trial = is_tried.then(|| begin().map_err(|error| error.to_string()));
                    match Trial::outcome(trial, first) {
                        Ok(trial) => {
                            if !is_file {
                                trials[stream.index] = trial;
                                beside.push(stream.clone());
                            }
                            Some(Route::Copy(muxer.add_copy(stream, &metadata)?))
                        }
                        Err(why) => {
                            refuse(stream, container, &why, notices)?;
                            None
                        }
                    }
                }
                Treatment::Attach(picture) => {
                    muxer.add_cover(stream, picture, &metadata)?;
                    None
                }
                Treatment::Sound(wanted) | Treatment::Subtitles(wanted) => match converted.next() {
                    Some((place, Ok(output))) => {
                        let is_tried = can_try && beside.len() < MAX_TRIED;
                        let trial = is_tried.then(|| Trial::new(container, &add_video, &beside, &output));
                        if let Some(Err(error)) = trial {
                            refuse(stream, container, &error.to_string(), notices)?;
                            None
                        } else {
                            tell_losses(stream, &output, container, notices)?;
                            let target = muxer.add_copy(&output, &metadata)?;
                            let (time_base, is_sound) = (output.time_base, stream.kind == MediaType::Audio);
                            beside.push(output);
                            Some(Route::Transcoded { target, place, time_base, is_sound, is_made: false, error: None })
                        }
                    }
                    Some((_, Err(error))) => {
                        leave_out(stream, &format!("it cannot become {}: {error}", wanted.encoder), notices)?;
                        None
                    }
                    None => None,
                },
                Treatment::Implied | Treatment::Unwanted | Treatment::LeaveOut => None,
            };
            routes.push(route.map(|route| (route, stream.time_base)));
        }
        let begun = vec![false; routes.len()];
        let video = video.context("the video has no stream")?;
        Ok((Routes { routes, trials, transcoders, warned_of_times: false, begun }, video))
    }

    /// Writes a packet of an input stream to its output stream; the video starts at `start` (microseconds).
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&mut self, packet: Packet, start: i64, muxer: &mut Muxer, notices: &Notices) -> Result<()> {
        let index = packet.stream();
        if let Some(trial) = self.trials.get_mut(index).and_then(Option::take) {
            let stream = trial.stream.clone();
            if let Err(why) = trial.takes(&packet) {
                self.routes[index] = None;
                refuse(&stream, muxer.container(), &why, notices)?;
            }
        }
        let Some(Some((route, time_base))) = self.routes.get_mut(index) else { return Ok(()) };
        let end = packet.time().map(|time| rescale(time + packet.duration(), *time_base, microseconds()));
        // Without an edit list, players would play packets that the input hides.
        if packet.is_hidden() && !muxer.container().has_edit_lists() && end.is_some_and(|end| end < -PRIMING) {
            return Ok(());
        }
        let container = muxer.container();
        let is_first = !std::mem::replace(&mut self.begun[index], true);
        let begin = packet.time().map_or(0, |time| rescale(time, *time_base, microseconds()));
        if is_first && begin > start + NOTICED && container.starts_at_zero() {
            let (name, seconds) = (container.name(), (begin - start) as f64 / 1e6);
            notices.warn(&format!(
                "stream #{index} begins {seconds:.2} s after the picture, which {name} cannot say: it is early (.mkv \
                 and .mp4 files store timestamps)"
            ))?;
        }
        let delay = match route {
            Route::Copy(target) => muxer.write(packet, *target, *time_base)?,
            Route::Transcoded { target, place, time_base, is_sound, is_made, error: last } => {
                let Some(transcoders) = &mut self.transcoders else { return Ok(()) };
                let Transcoded { packets, error } = transcoders.send(*place, Some(&packet))?;
                *is_made |= !packets.is_empty();
                match error {
                    // The transcoder fills the gap in the audio.
                    Some(error) if *is_sound => {
                        notices.detail(&format!("sound of stream #{index} cannot be decoded: {error}"));
                        *last = Some(error);
                    }
                    Some(error) => notices
                        .warn(&format!("a subtitle of stream #{index} cannot be converted and is lost: {error}"))?,
                    None => {}
                }
                write_all(packets, *target, *time_base, muxer)?
            }
        };
        if delay > NOTICED && !self.warned_of_times {
            self.warned_of_times = true;
            let seconds = delay as f64 / 1e6;
            notices.warn(&format!(
                "stream #{index} goes back in time by {seconds:.3} s: that part of it is out of sync"
            ))?;
        }
        Ok(())
    }

    /// Writes the packets that remain in the transcoders, and reports the streams without any packet.
    ///
    /// # Errors
    /// When it cannot be encoded or written.
    pub fn finish(&mut self, muxer: &mut Muxer, notices: &Notices) -> Result<()> {
        // In containers with edit lists, FFmpeg writes no track for a stream without packets.
        if muxer.container().has_edit_lists() {
            let streams = self.routes.iter().zip(&self.begun).enumerate();
            for (index, _) in streams.filter(|(_, (route, begun))| route.is_some() && !**begun) {
                notices.note(&format!("stream #{index} has nothing in what was written: it gets no track"));
            }
        }
        let Some(transcoders) = &mut self.transcoders else { return Ok(()) };
        for (index, route) in self.routes.iter().enumerate() {
            if let Some((Route::Transcoded { target, place, time_base, is_made, error: last, .. }, _)) = route {
                let Transcoded { packets, error } = transcoders.send(*place, None)?;
                if let Some(error) = error {
                    bail!("the end of a stream cannot be encoded: {error}");
                }
                if let Some(error) = last.as_ref().filter(|_| !is_made && packets.is_empty()) {
                    notices.warn_of_damage(&format!(
                        "stream #{index} is empty: none of its sound can be converted: {error} (--streams -{index} \
                         leaves it out)"
                    ))?;
                }
                write_all(packets, *target, *time_base, muxer)?;
            }
        }
        Ok(())
    }
}

/// Writes packets of a stream. Returns the longest shift in time that [`Muxer::write`] gave them, in microseconds.
fn write_all(packets: Vec<Packet>, target: OutputStream, time_base: Rational, muxer: &mut Muxer) -> Result<i64> {
    let mut delay = 0;
    for packet in packets {
        delay = delay.max(muxer.write(packet, target, time_base)?);
    }
    Ok(delay)
}

//! Reads whatever FFmpeg can open: decodes one video stream, hands on the packets of all others.

use super::continuity::Continuity;
use super::native::ToNative;
use super::open::RawOptions;
use super::part::Part;
use super::sequence::Sequence;
use crate::ffmpeg::{
    DecodeOn, Decoded, Decoder, Delay, Demuxer, Error, Kind, Packet, Picture, Rational, last_message, microseconds,
    rescale,
};
use crate::frame::{Frame, Pool};
use crate::io::Reader;
use crate::pipeline::{Cancel, Delivery, Input, Notices, Place, Progress, Source};
use anyhow::{Context, Result, bail, ensure};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// Packets of other streams go out with the next frame, or when they come to this many bytes: a long stretch without
/// a frame must not pile them up.
const PACKET_BYTES: usize = 4 << 20;

/// After the end of the part that was asked for, other streams are read this much further for packets that belong to
/// it; containers interleave more tightly than this.
const INTERLEAVE: i64 = 10_000_000;

/// An input that is shorter by more than this, and by more than a hundredth, was cut off (microseconds).
const SHORT_BY: i64 = 500_000;

/// A broken input is given up after this many errors with no frame between them.
const ERRORS_IN_A_ROW: u32 = 1000;

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

/// A file, or anything else that FFmpeg can open.
pub struct FileSource {
    demuxer: Demuxer,
    decoder: Decoder,
    input: Input,
    options: InputOptions,
    to_native: ToNative,
    /// Keeps times together where the container's clock may jump.
    continuity: Option<Continuity>,
    /// Is it a pipe, in which nothing can be looked up further on?
    in_order_only: bool,
    notices: Notices,
    progress: Arc<Progress>,
    /// Unit of the video's times.
    time_base: Rational,
    /// First and last moment of the part that was asked for, in microseconds of the container's clock.
    begin: Option<i64>,
    end: Option<i64>,
    /// How many frames before `begin` the equalizer is to see, and how many behind `end`.
    warm_up: u32,
    behind: u32,
    state: State,
    /// For each stream, whether its packets are handed on yet: video has to begin with a key frame.
    begun: Vec<bool>,
    /// For each stream, whether it has come to `end`.
    ended: Vec<bool>,
    packets: Vec<Packet>,
    packet_bytes: usize,
    delivered: u64,
    /// When the last frame was over.
    next_time: Option<i64>,
    /// End of the last packet of any stream, in microseconds of the container's clock.
    furthest: i64,
    /// Is it images whose numbers have a gap, behind which nobody reads?
    ends_at_gap: bool,
    /// How often the container's clock has jumped.
    jumps: u32,
    errors: u32,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    /// Nothing has been read.
    Opened,
    /// Reading and decoding.
    Reading,
    /// All is read; the decoder still holds pictures.
    Draining,
    /// The last frame is out; other streams may still have packets before the end.
    Trailing,
    /// Nothing more.
    Over,
}

impl FileSource {
    /// Opens the input, which messages call `name`, and gets ready to decode. It is read from `reader` if there is one.
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
        let in_order_only = reader.is_some();
        let sequence = Sequence::of(&options, &notices)?;
        let demuxer = open_demuxer(&options, &name, reader, cancel, sequence.as_ref())?;
        options.raw.check_heeded(&demuxer, &name, &notices)?;
        let video = choose_video(&demuxer, &name, &options)?;
        let media = demuxer.media().clone();
        let stream = &media.streams[video];
        last_message();
        let decoder =
            Decoder::open(stream, Delay::Any, options.decode_on).map_err(|error| match options.decode_on {
                DecodeOn::Cpu => {
                    let stream = stream.describe();
                    anyhow::anyhow!("{name}: no decoder for {stream} ({error}); another FFmpeg build may have it")
                }
                DecodeOn::Nvdec(_) if error == Error::DecoderNotFound => {
                    anyhow::anyhow!("{name}: NVDEC does not decode {} (use --decoder cpu)", stream.describe())
                }
                DecodeOn::Nvdec(gpu) => {
                    let reason = last_message().unwrap_or_else(|| error.to_string());
                    anyhow::anyhow!("{name}: GPU {gpu} cannot decode: {reason} (use --decoder cpu)")
                }
            })?;
        let origin = media.start.unwrap_or(0);
        let begin = options.part.start.map(|start| origin + start);
        let end = options.part.duration.map(|duration| begin.unwrap_or(origin) + duration);
        let rest = media.duration.map(|duration| duration - options.part.start.unwrap_or(0));
        let duration = [rest, options.part.duration].into_iter().flatten().min().filter(|&duration| duration > 0);
        let by_rate = duration.zip(stream.frame_rate).map(|(duration, rate)| {
            (duration as f64 / 1e6 * f64::from(rate.numerator()) / f64::from(rate.denominator())).round() as u64
        });
        let whole = options.part.start.is_none() && options.part.duration.is_none();
        let counted = stream.frames.filter(|_| whole).or(by_rate);
        let frames = [counted, options.part.frames].into_iter().flatten().min();
        let input = Input {
            name,
            video,
            picture: stream.picture(),
            shift: begin.map_or(0, |begin| -begin),
            length: options.part.duration,
            frames,
            duration,
            media: media.clone(),
        };
        let count = media.streams.len();
        Ok(FileSource {
            time_base: stream.time_base,
            to_native: ToNative::new(notices.clone()),
            begun: media.streams.iter().map(|s| options.part.start.is_none() || s.kind != Kind::Video).collect(),
            ended: vec![false; count],
            continuity: media.may_jump.then(Continuity::default),
            ends_at_gap: sequence.is_some_and(|sequence| sequence.has_gap),
            jumps: 0,
            demuxer,
            decoder,
            in_order_only,
            input,
            options,
            notices,
            progress,
            begin,
            end,
            warm_up: 0,
            behind: 0,
            state: State::Opened,
            packets: Vec::new(),
            packet_bytes: 0,
            delivered: 0,
            next_time: None,
            furthest: i64::MIN / 2,
            errors: 0,
        })
    }

    /// What the input is.
    pub fn input(&self) -> &Input {
        &self.input
    }

    /// The next frame that belongs to the part that was asked for, or packets that should not wait for it.
    fn advance(&mut self) -> Result<Option<Delivery>> {
        loop {
            match self.state {
                State::Opened => {
                    self.go_to_begin()?;
                    self.state = State::Reading;
                }
                State::Over => return Ok(None),
                State::Trailing => {
                    self.read_trailing()?;
                    return Ok(Some(self.delivery(None)));
                }
                State::Reading | State::Draining => {}
            }
            let decoded = self.decoder.receive();
            if let Some(format) = self.decoder.refused() {
                let (name, stream) = (&self.input.name, self.input.video_stream().describe());
                bail!("{name}: NVDEC does not take this {stream} of {format} (use --decoder cpu)");
            }
            match decoded {
                Ok(Decoded::Picture(picture)) => {
                    self.errors = 0;
                    if let Some(delivery) = self.take(picture)? {
                        return Ok(Some(delivery));
                    }
                }
                Ok(Decoded::NeedsInput) => {
                    self.feed()?;
                    if self.packet_bytes > PACKET_BYTES {
                        return Ok(Some(self.delivery(None)));
                    }
                }
                Ok(Decoded::End) => {
                    ensure!(self.delivered > 0, "{}: {}", self.input.name, self.nothing_decoded());
                    self.state = State::Over;
                    return Ok(Some(self.delivery(None)));
                }
                Err(error) => self.damaged(&format!("decode failed: {error}"))?,
            }
        }
    }

    /// Goes to where decoding begins: at the key frame before the part that was asked for, or, where the equalizer is
    /// to see frames before it, so much earlier that there are enough of them.
    fn go_to_begin(&mut self) -> Result<()> {
        let origin = self.input.media.start.unwrap_or(0);
        // A demuxer that tries to go back in a pipe loses its way, and so does one in a stream without times: there,
        // everything before is decoded.
        let can_seek = !self.in_order_only && self.input.video_stream().start.is_some() && !self.lies_behind_a_jump();
        let Some(begin) = self.begin.filter(|&begin| begin > origin && can_seek) else { return Ok(()) };
        let rate = self.input.rate().unwrap_or(25.0);
        let mut ahead = (f64::from(self.warm_up) / rate * 1e6).ceil() as i64;
        let mut untouched = true;
        loop {
            let from = begin - ahead;
            if ahead > 0 && from <= origin && untouched {
                return Ok(());
            }
            let sought = if ahead > 0 && from <= origin { self.demuxer.rewind() } else { self.demuxer.seek(from) };
            if let Err(error) = sought {
                // An input that cannot seek is decoded from the beginning instead.
                let name = &self.input.name;
                self.notices.detail(&format!("{name}: cannot seek ({error}); decoding from the beginning"));
                return if untouched { Ok(()) } else { self.demuxer.rewind().with_context(|| name.clone()) };
            }
            if ahead == 0 || from <= origin {
                return Ok(());
            }
            // With a variable rate, and where key frames are far apart, the time says little of the number of frames.
            untouched = false;
            if self.frames_before(begin) >= self.warm_up && self.demuxer.seek(from).is_ok() {
                return Ok(());
            }
            ahead = ahead.saturating_mul(2);
        }
    }

    /// Is the part that was asked for where only a clock that jumps can lead?
    fn lies_behind_a_jump(&self) -> bool {
        let media = &self.input.media;
        let end = media.start.zip(media.duration).map(|(start, duration)| start + duration);
        media.may_jump && self.begin.zip(end).is_some_and(|(begin, end)| begin >= end)
    }

    /// How many frames can be decoded from here on that are shown before `begin`; counts no further than is asked for.
    fn frames_before(&mut self, begin: i64) -> u32 {
        let (video, time_base) = (self.input.video, self.time_base);
        let moment = |time| rescale(time, time_base, microseconds());
        let (mut first, mut count) = (None, 0);
        while let Ok(Some(packet)) = self.demuxer.read() {
            let Some(time) = packet.time().filter(|_| packet.stream() == video) else { continue };
            if count >= self.warm_up || moment(packet.dts().unwrap_or(time)) >= begin {
                break;
            }
            if first.is_none() && packet.is_key() {
                first = Some(time);
            }
            // What is shown before the first key frame may need frames from before it.
            count += u32::from(first.is_some_and(|first| time >= first) && moment(time) < begin);
        }
        count
    }

    fn nothing_decoded(&self) -> String {
        let damaged = self.progress.damaged();
        if self.in_order_only && self.input.media.demuxer.starts_with("mov") {
            return "an mp4 in a pipe needs its index in front (ffmpeg -i IN -c copy -movflags +faststart OUT)"
                .to_owned();
        }
        match self.options.part.start {
            Some(_) if damaged == 0 => "no frame at or after --start".to_owned(),
            _ => format!("not a single frame could be decoded ({damaged} damaged packets)"),
        }
    }

    /// Reads a packet and gives it to whom it belongs.
    fn feed(&mut self) -> Result<()> {
        if self.state == State::Draining {
            // The decoder has been told that there is no more, so it cannot ask for more.
            bail!("{}: the decoder asks for packets after the last one", self.input.name);
        }
        match self.read_packet() {
            Ok(Some(packet)) if packet.stream() == self.input.video => {
                if packet.is_corrupt() {
                    self.damaged("a packet is cut short or corrupt")?;
                }
                if let Err(error) = self.decoder.send(Some(&packet)) {
                    self.damaged(&format!("a packet cannot be decoded: {error}"))?;
                }
            }
            Ok(Some(packet)) => self.keep(packet),
            Ok(None) => {
                self.check_length()?;
                self.drain()?;
            }
            // Somebody asked for the end while the input kept us waiting.
            Err(Error::Exit) => self.drain()?,
            // FFmpeg looks for the last image in leaps, which may carry it over a gap.
            Err(_) if self.ends_at_gap => self.drain()?,
            Err(error) => {
                self.damaged(&format!("reading broke off: {error}"))?;
                self.drain()?;
            }
        }
        Ok(())
    }

    /// The next packet, at a time that follows those of the packets before it.
    fn read_packet(&mut self) -> Result<Option<Packet>, Error> {
        let Some(mut packet) = self.demuxer.read()? else { return Ok(None) };
        self.note_end_of(&packet);
        let stream = &self.input.media.streams[packet.stream()];
        if let Some(jump) = self.continuity.as_mut().and_then(|continuity| continuity.follow(&mut packet, stream)) {
            let (name, stream) = (&self.input.name, stream.describe());
            let seconds = jump as f64 / 1e6;
            let message = format!("{name}: the clock of {stream} jumps by {seconds:+.3} s; times go on from there");
            self.jumps += 1;
            // Streams that cross the seam at different places find it several times.
            if self.jumps == 1 { self.notices.note(&message) } else { self.notices.detail(&message) }
        }
        Ok(Some(packet))
    }

    fn note_end_of(&mut self, packet: &Packet) {
        let time_base = self.input.media.streams[packet.stream()].time_base;
        if let Some(time) = packet.time() {
            self.furthest = self.furthest.max(rescale(time + packet.duration(), time_base, microseconds()));
        }
    }

    /// Demuxers take the end of a file that was cut off for a normal end.
    fn check_length(&mut self) -> Result<()> {
        let media = &self.input.media;
        let Some(duration) = media.duration else { return Ok(()) };
        // Matroska counts its length from zero, other containers from their first timestamp.
        let read = self.furthest.max(media.start.unwrap_or(0)) - media.start.unwrap_or(0).min(0);
        if duration - read > SHORT_BY.max(duration / 100) {
            let (read, duration) = (read as f64 / 1e6, duration as f64 / 1e6);
            self.damaged(&format!("the input ends at {read:.1} s, but should be {duration:.1} s long (cut off?)"))?;
        }
        Ok(())
    }

    fn drain(&mut self) -> Result<()> {
        self.state = State::Draining;
        // It begins to drain even when it complains, of a packet that it was given before.
        match self.decoder.send(None) {
            Ok(()) => Ok(()),
            Err(error) => self.damaged(&format!("a packet cannot be decoded: {error}")),
        }
    }

    /// A decoded picture; `None` when it lies before the part that was asked for, and nobody is to see it.
    fn take(&mut self, mut picture: Picture) -> Result<Option<Delivery>> {
        let time = picture.time().unwrap_or_else(|| self.expected_time());
        picture.set_time(Some(time));
        let duration = Some(picture.duration()).filter(|&duration| duration > 0);
        self.next_time = Some(time + duration.unwrap_or_else(|| self.frame_duration()));
        let moment = rescale(time, self.time_base, microseconds());
        if self.begin.is_some_and(|begin| moment < begin) {
            if self.warm_up == 0 {
                return Ok(None);
            }
            let before = self
                .to_native
                .frame(&picture)
                .with_context(|| format!("{}: a frame before --start", self.input.name))?;
            return Ok(Some(Delivery::beside(Place::Before, before)));
        }
        if self.end.is_some_and(|end| moment >= end)
            || self.options.part.frames.is_some_and(|most| self.delivered >= most)
        {
            return self.take_behind(&picture, moment);
        }
        if picture.is_damaged() {
            self.damaged("damaged, shown as far as it could be decoded")?;
        }
        let mut frame =
            self.to_native.frame(&picture).with_context(|| format!("{}: frame {}", self.input.name, self.delivered))?;
        frame.pts = Some(time + self.shift());
        if self.delivered == 0 {
            self.tell_where(&frame);
        }
        self.delivered += 1;
        self.progress.count_decoded(moment - self.begin.or(self.input.media.start).unwrap_or(0));
        Ok(Some(self.delivery(Some(frame))))
    }

    /// Says where frames like this one come from, if that is not a decoder on the CPU.
    fn tell_where(&self, frame: &Frame) {
        let DecodeOn::Nvdec(gpu) = self.options.decode_on else { return };
        let place = match frame.planes()[0].on_device() {
            Some(_) => "where its luma stays until it is equalized",
            None => "from where it comes down to be equalized",
        };
        self.notices.detail(&format!("{}: decoded on GPU {gpu}, {place}", self.input.name));
    }

    /// A picture from behind the part that was asked for; `None` when nobody is to see it.
    fn take_behind(&mut self, picture: &Picture, moment: i64) -> Result<Option<Delivery>> {
        self.end = Some(self.end.unwrap_or(moment).min(moment));
        if self.behind == 0 {
            self.state = State::Trailing;
            return Ok(None);
        }
        self.behind -= 1;
        let behind = self
            .to_native
            .frame(picture)
            .with_context(|| format!("{}: a frame behind the last one", self.input.name))?;
        Ok(Some(Delivery::beside(Place::Behind, behind)))
    }

    /// The time of a frame that carries none: right after the one before it.
    fn expected_time(&self) -> i64 {
        self.next_time.or(self.input.video_stream().start).unwrap_or(0)
    }

    /// How long a frame is shown that does not say so.
    fn frame_duration(&self) -> i64 {
        let rate = self.input.video_stream().frame_rate.unwrap_or(Rational::new(25, 1));
        rescale(1, rate.invert(), self.time_base).max(1)
    }

    fn shift(&self) -> i64 {
        rescale(self.input.shift, microseconds(), self.time_base)
    }

    /// Keeps a packet of another stream, if it lies in the part that was asked for.
    fn keep(&mut self, mut packet: Packet) {
        let index = packet.stream();
        let stream = &self.input.media.streams[index];
        let in_microseconds = |time| rescale(time, stream.time_base, microseconds());
        if let Some(time) = packet.time() {
            let (first, last) = (in_microseconds(time), in_microseconds(time + packet.duration()));
            self.begun[index] |= packet.is_key() && self.begin.is_none_or(|begin| first >= begin);
            if let Some(begin) = self.begin.filter(|&begin| first < begin) {
                // A time before zero would move all others in most containers. Of a subtitle that is still on the
                // screen, the rest is shown.
                if stream.kind != Kind::Subtitle || last <= begin {
                    return;
                }
                let late = rescale(begin, microseconds(), stream.time_base) - time;
                packet.shift(late);
                packet.set_duration(packet.duration() - late);
            }
            // Nor does one last longer than the pictures.
            if let Some(end) = self.end.filter(|&end| first < end && end < last && stream.kind == Kind::Subtitle) {
                let early = packet.time().map_or(0, |time| rescale(end, microseconds(), stream.time_base) - time);
                packet.set_duration(early);
            }
            if self.end.is_some_and(|end| first >= end) {
                self.ended[index] = true;
                return;
            }
        }
        if !self.begun[index] && !stream.is_attached_picture() {
            return;
        }
        packet.shift(rescale(self.input.shift, microseconds(), stream.time_base));
        self.packet_bytes += packet.len();
        self.packets.push(packet);
    }

    /// Reads on for packets of other streams that lie before the end of the part that was asked for.
    fn read_trailing(&mut self) -> Result<()> {
        let streams = self.input.media.streams.clone();
        let waited_for = |index: usize| streams[index].kind == Kind::Audio;
        let end = self.end.unwrap_or(i64::MAX);
        while self.packet_bytes <= PACKET_BYTES {
            let all_ended = (0..streams.len()).all(|index| !waited_for(index) || self.ended[index]);
            let packet = if all_ended { None } else { self.read_packet().unwrap_or(None) };
            let Some(packet) = packet else {
                self.state = State::Over;
                return Ok(());
            };
            let moment = packet.dts().map(|dts| rescale(dts, streams[packet.stream()].time_base, microseconds()));
            if moment.is_some_and(|moment| moment > end.saturating_add(INTERLEAVE)) {
                self.state = State::Over;
                return Ok(());
            }
            if packet.stream() != self.input.video {
                self.keep(packet);
            }
        }
        Ok(())
    }

    fn delivery(&mut self, frame: Option<Frame>) -> Delivery {
        self.packet_bytes = 0;
        Delivery { packets: std::mem::take(&mut self.packets), frame, ..Delivery::default() }
    }

    fn damaged(&mut self, what: &str) -> Result<()> {
        self.progress.count_damaged();
        self.errors += 1;
        let message = format!("{}: frame {}: {what}", self.input.name, self.delivered);
        ensure!(self.errors < ERRORS_IN_A_ROW, "{message}; giving up after {ERRORS_IN_A_ROW} errors in a row");
        // A hundred lines that say the same help nobody; the summary has the count.
        match self.progress.damaged() {
            1 => self.notices.warn(&message),
            _ => {
                self.notices.detail(&message);
                Ok(())
            }
        }
    }
}

impl Source for FileSource {
    fn look_around(&mut self, before: u32, behind: u32) {
        (self.warm_up, self.behind) = (before, behind);
    }

    fn use_pool(&mut self, pool: Arc<dyn Pool>) {
        self.decoder.use_pool(pool);
    }

    fn next(&mut self) -> Result<Option<Delivery>> {
        self.advance()
    }
}

/// What some demuxers say of a header that ends too early.
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
    // A file that is there is no pattern, whatever its folders are called.
    let is_file = options.url.contains('%') && Path::new(&options.url).is_file();
    let plain = is_file.then(|| ("pattern_type".to_owned(), "none".to_owned()));
    let given: Vec<(String, String)> = rate.into_iter().chain(first).chain(plain).collect();
    let url = sequence.map_or(options.url.as_str(), |sequence| &sequence.pattern);
    let opened = Demuxer::open(url, reader, options.format.as_deref(), &given, cancel.flag());
    let demuxer = opened.map_err(|error| {
        let detail = last_message().map(|message| format!(" ({message})")).unwrap_or_default();
        match error {
            Error::InvalidData if is_empty(name) => anyhow::anyhow!("{name}: the file is empty"),
            Error::InvalidData => anyhow::anyhow!("{name}: not a video, or damaged beyond recognition{detail}"),
            error if CUT_OFF.contains(&error) && Path::new(name).is_file() => {
                anyhow::anyhow!("{name}: not a video, or damaged beyond recognition ({error})")
            }
            Error::DemuxerNotFound => anyhow::anyhow!(
                "{name}: FFmpeg has no input format {} (`ffmpeg -demuxers` lists them)",
                options.format.as_deref().unwrap_or_default()
            ),
            error => anyhow::anyhow!("{name}: {error}"),
        }
    })?;
    // FFmpeg draws text files as videos of a terminal, which nobody wants who gives a wrong file.
    let is_text = demuxer.media().demuxer == "tty" && options.format.is_none();
    ensure!(!is_text, "{name}: a text file, not a video (-f tty reads it as a picture of a terminal)");
    Ok(demuxer)
}

fn is_empty(name: &str) -> bool {
    std::fs::metadata(name).is_ok_and(|file| file.is_file() && file.len() == 0)
}

fn choose_video(demuxer: &Demuxer, name: &str, options: &InputOptions) -> Result<usize> {
    let streams = &demuxer.media().streams;
    let videos: Vec<usize> = streams.iter().filter(|s| s.kind == Kind::Video).map(|s| s.index).collect();
    if let Some(wanted) = options.video_stream {
        return videos.get(wanted).copied().with_context(|| match videos.len() {
            0 => format!("{name}: no video stream in it"),
            count => format!("{name}: no video stream {wanted}; the last one is {} (the first is 0)", count - 1),
        });
    }
    demuxer.best_video().with_context(|| {
        let kinds: Vec<String> = streams.iter().map(|stream| stream.describe()).collect();
        match kinds.is_empty() {
            true => format!("{name}: no stream in it"),
            false if !videos.is_empty() => {
                format!("{name}: no video stream but cover art (--video-stream 0 equalizes that)")
            }
            false => format!("{name}: no video stream in it, only {}", kinds.join(", ")),
        }
    })
}

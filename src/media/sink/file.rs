//! Encodes frames, and writes them with the other streams of the input into a container.

use super::encoder::choice::{EncoderChoice, Pace, expected};
use super::encoder::clock::{EncoderClock, KEY_DISTANCE, KeyFrames};
use super::encoder::fit::Fitter;
use super::encoder::format::PixelChoice;
use super::encoder::start::{EncoderStart, Started};
use super::encoder::two_pass::{Measured, SizeRule, TooLarge};
use super::files::power_loss::PeriodicSync;
use super::files::target::Target;
use super::files::temporary::Temporary;
use super::image::fits::FitsFile;
use super::image::webp::with_last_duration;
use super::kept::metadata::{
    add_provenance, begun_later, check_keys, file_options, kept, kept_in, kept_of_turned, live_options, muxer_options,
    network_options, protocol_options, service, timecode, timecode_rate, with_given,
};
use super::kept::streams::{self, Routes, StreamRules};
use super::kept::table::{self, First};
use super::recorder::DiskRoom;
use crate::ffmpeg::demux::{Interrupt, Metadata, Stream};
use crate::ffmpeg::encode::{Encoder, VideoEncoder};
use crate::ffmpeg::frame::{AutoRotate, Picture, RawFormat, StreamSideData};
use crate::ffmpeg::mux::{Container, Muxer, OutputStream};
use crate::ffmpeg::{CodecId as Id, Error, Packet, microseconds, parse_time, rescale};
use crate::image_file::{ABOUT, About, TiffStack};
use crate::pipeline::{Delivery, Encoding, Input, Notices, Outcome, ReaderGone, Sink};
pub(super) use crate::sink::options::OutputOptions;
use crate::sys::files::{Name, number_pattern};
use anyhow::{Context, Result, ensure};
use histeq::internal::frame::Frame;
use rustix::io::Errno;
use std::collections::VecDeque;
use std::ffi::OsStr;

/// A sink for a file or a live stream. The encoder is opened with the first frame, for its format, size and colours.
pub struct FileSink {
    pub(super) input: Input,
    pub(super) target: Target,
    pub(super) container: Container,
    /// The user's muxer options.
    given: Vec<(String, String)>,
    choice: EncoderChoice,
    pace: Pace,
    /// Interrupts waiting for a server.
    interrupt: Option<Interrupt>,
    pixels: PixelChoice,
    fit: Option<(usize, usize)>,
    rules: StreamRules,
    size: Option<SizeRule>,
    from_zero: bool,
    provenance: Option<String>,
    candidates: Vec<Encoder>,
    /// Why the codec changes, if the user did not choose that.
    codec_changes: Option<&'static str>,
    pub(super) notices: Notices,
    /// The open muxer. In a sequence of images, each image has a muxer of its own.
    pub(super) muxer: Option<Muxer>,
    /// The temporary file of the current image of a sequence.
    image: Option<Temporary>,
    /// Collects the pages of a multi-page TIFF file.
    stack: Option<TiffStack>,
    /// Writes FITS headers, if the output is FITS.
    fits: Option<FitsFile>,
    room: GrowingFile,
    rotate: AutoRotate,
    /// Packets that came before the first frame.
    early: Vec<Packet>,
    running: Option<Running>,
}

/// The disk space that is reserved for a file, and what has been written into the file.
#[derive(Default)]
struct GrowingFile {
    room: Option<DiskRoom>,
    /// Total size of all packets, in bytes, and their number.
    bytes: u64,
    packets: u64,
}

/// The most bytes that a file needs beyond its packets and [`FOR_PACKET`] for each of them.
const FOR_END: u64 = 32 << 10;

/// The most bytes of index and framing that a container needs for each packet.
const FOR_PACKET: u64 = 64;

/// The disk has no space for the next packet. The space that is reserved suffices to finish the file.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct DiskFull(std::io::Error);

impl GrowingFile {
    /// Makes sure that the file can still be finished after another packet of `bytes` bytes.
    fn grow(&mut self, bytes: usize) -> Result<(), DiskFull> {
        (self.bytes, self.packets) = (self.bytes + bytes as u64, self.packets + 1);
        let needed = self.bytes + FOR_END + FOR_PACKET * self.packets;
        let reached = self.room.as_mut().map_or(Ok(()), |room| room.reach(needed));
        reached.map_err(|error: Errno| DiskFull(error.into()))
    }
}

/// The state from the first frame on.
struct Running {
    encoder: VideoEncoder,
    fitter: Fitter,
    video: OutputStream,
    routes: Routes,
    clock: EncoderClock,
    /// The key frame schedule of a live stream.
    keys: Option<KeyFrames>,
    /// Presentation time of the first frame, in microseconds.
    begin: i64,
    frames: u64,
    /// The number of written frames.
    written: u64,
    /// The bytes of the written frames.
    bytes: u64,
    /// Number of written key frames, and their size in bytes.
    key_frames: u64,
    key_bytes: u64,
    /// End time of the last frame, in microseconds.
    end: i64,
    /// Duration of the last frame, in microseconds, if the source gives it.
    last_duration: Option<i64>,
    /// Whether the encoder has been told that no more frames follow.
    is_draining: bool,
    /// Whether frames still in the encoder are dropped.
    is_abandoned: bool,
    /// What the muxer of each image of a sequence is opened with.
    image: Image,
    /// For image outputs: metadata of the images that are still in the encoder, oldest first.
    beside: VecDeque<Beside>,
    /// Syncs a recording to the disk until it is dropped.
    _sync: Option<PeriodicSync>,
}

/// The state of a file whose header has been written.
pub(super) struct Begun {
    pub video: OutputStream,
    pub routes: Routes,
    metadata: Metadata,
    options: Vec<(String, String)>,
}

/// What the muxer of each image of a sequence is opened with.
struct Image {
    metadata: Metadata,
    side_data: StreamSideData,
    options: Vec<(String, String)>,
}

/// The most images for which metadata is kept while they are in the encoder.
const MAX_BESIDE: usize = 256;

/// Metadata that this program adds to an encoded image.
#[derive(Default)]
struct Beside {
    about: About,
    icc: Option<Vec<u8>>,
}

impl FileSink {
    /// Checks all that can be checked before the first frame, and opens the file unless it has to wait for the first
    /// frame. `on_gpu` returns whether there is a GPU, which may be able to encode; it is called only if needed.
    ///
    /// # Errors
    /// When this FFmpeg lacks the container or the encoder, the container cannot hold the codec, or the file does not
    /// open.
    pub fn create(
        input: Input,
        target: Target,
        options: OutputOptions,
        on_gpu: &mut dyn FnMut() -> bool,
        notices: Notices,
    ) -> Result<Self> {
        let mut sink = FileSink::prepare(input, target, options, None, on_gpu, notices)?;
        sink.target.wait_for_reader()?;
        if !sink.target.waits_for_frame() {
            sink.open()?;
        }
        Ok(sink)
    }

    /// As [`FileSink::create`], but opens nothing. If `interrupt` is given, the sink streams live to a server, and
    /// connects at the first frame; the interrupt ends all waits.
    ///
    /// # Errors
    /// When this FFmpeg lacks the container or the encoder, or the container cannot hold the codec.
    pub fn prepare(
        input: Input,
        target: Target,
        mut options: OutputOptions,
        interrupt: Option<Interrupt>,
        on_gpu: &mut dyn FnMut() -> bool,
        notices: Notices,
    ) -> Result<Self> {
        let pace = match (&interrupt, options.live) {
            (Some(_), _) => Pace::Network,
            (None, true) => Pace::Recording,
            (None, false) => Pace::Offline,
        };
        let name = target.name().to_owned();
        let container = container(&name, options.format.as_deref())?;
        let codec = options.encoder.regard(&input, pace);
        let (candidates, codec_changes) = options.encoder.candidates(codec, container, &name, on_gpu)?;
        // Reports a wrong quality or preset before anything is read.
        for &encoder in &candidates {
            options.encoder.settings(encoder, container, None, pace)?;
        }
        let is_long = input.frames.is_some_and(|frames| frames > 1);
        let is_one = container.is_images() && !is_sequence_name(&name);
        let is_stack = is_long && is_one && candidates.iter().all(|encoder| encoder.codec() == Id::TIFF);
        let (container, stack) = match Container::guess(Some("image2pipe"), &name).filter(|_| is_stack) {
            // This muxer writes the bytes from `TiffStack` unchanged.
            Some(joined) => (joined, Some(TiffStack::default())),
            None => (container, None),
        };
        let fits = FitsFile::for_container(container, &candidates);
        let rules = StreamRules { live: options.live, codec: options.sound, choice: options.streams };
        if !container.is_images() && stack.is_none() {
            streams::check(&input.media.streams, input.video, container, &rules, &input.name, &notices)?;
        }
        streams::check_rotation(input.video_stream(), &name, container.holds_rotation(), &notices)?;
        let rotate = AutoRotate::new(input.video_stream(), container.holds_rotation(), &input.limits);
        let sink = FileSink {
            input,
            target,
            container,
            given: options.container,
            choice: options.encoder,
            pace,
            interrupt,
            pixels: options.pixels,
            fit: options.fit,
            rules,
            size: options.size,
            from_zero: options.from_zero,
            provenance: options.provenance,
            candidates,
            codec_changes,
            notices,
            muxer: None,
            image: None,
            stack,
            fits,
            room: GrowingFile::default(),
            rotate,
            early: Vec::new(),
            running: None,
        };
        ensure!(!is_long || !container.is_images() || sink.is_numbered(), sink.one_image());
        Ok(sink)
    }

    /// The error when a second frame is written to a single image.
    fn one_image(&self) -> String {
        let name = self.target.name();
        format!("{name}: an image holds one frame only (use a pattern like out%05d.png, or --frames 1)")
    }

    fn open(&mut self) -> Result<()> {
        self.target.begin()?;
        let (name, mut url) = (self.target.name(), self.target.url());
        if self.is_sequence() {
            let image = self.target.image(self.next_image())?;
            url = self.image.insert(image).location.clone().into();
        }
        let opened = match &self.interrupt {
            Some(interrupt) => {
                Muxer::open(self.container, &url, Some(interrupt.clone()), Some(&protocol_options(&url.to_string())))
            }
            None => {
                let interrupt = self.target.fifo().map(|_| self.target.cancel().flag().into());
                Muxer::open(self.muxed_as(), &url, interrupt, None)
            }
        };
        self.room.room = self.target.room().filter(|_| self.stack.is_none());
        let mut muxer = opened.with_context(|| format!("{name}: cannot be opened"))?;
        muxer.set_time_offset(-zero_time(&self.input, self.container));
        self.muxer = Some(muxer);
        Ok(())
    }

    /// The container of the muxer. If the output is only measured, the null muxer is used instead of one that would
    /// open files or connections.
    fn muxed_as(&self) -> Container {
        let is_measured = matches!(self.size, Some(SizeRule::Measure(_)));
        let nowhere = Container::guess(Some("null"), "").filter(|_| is_measured && !self.container.needs_file());
        nowhere.or(self.fits.as_ref().map(|fits| fits.container)).unwrap_or(self.container)
    }

    fn start(&mut self, first: &Picture, about: Option<&About>) -> Result<()> {
        let stream = self.input.video_stream();
        let begin = first.time().map_or(0, |time| rescale(time, stream.time_base, microseconds()));
        let keys = self.key_distance();
        let start = EncoderStart {
            input: &self.input,
            container: self.container,
            choice: &self.choice,
            candidates: &self.candidates,
            pace: self.pace,
            pixels: (self.pixels, self.fit),
            codec_changes: self.codec_changes,
            notices: &self.notices,
        };
        let Started { encoder, fitter, clock, side_data } = start.open(first, self.rotate.rotates(), keys)?;
        let kind = Encoder::find(&encoder.name());
        let said = First { picture: first, about, encoded: fitter.video() };
        table::check(&self.input, self.container, kind, Some(said), self.target.name(), &self.notices)?;
        let add = |muxer: &mut Muxer, stream: &Stream, metadata: &Metadata| {
            Ok(muxer.add_encoded(&encoder, stream, metadata, &side_data)?)
        };
        let Begun { video, routes, metadata, options } = self.begin_file(begin, add)?;
        self.running = Some(Running {
            encoder,
            fitter,
            video,
            routes,
            clock,
            keys: keys.map(KeyFrames::every),
            begin,
            frames: 0,
            written: 0,
            bytes: 0,
            key_frames: 0,
            key_bytes: 0,
            end: begin,
            last_duration: None,
            is_draining: false,
            is_abandoned: false,
            image: Image { metadata, side_data, options },
            beside: VecDeque::new(),
            _sync: if self.pace == Pace::Recording { PeriodicSync::begin(&self.target.url()) } else { None },
        });
        Ok(())
    }

    /// The longest distance between scheduled key frames, in microseconds, for live streams and live segments. `None`
    /// if the encoder schedules them, as with the user's option `g`.
    fn key_distance(&self) -> Option<i64> {
        if self.choice.options.iter().any(|(key, _)| key == "g") {
            return None;
        }
        match self.pace {
            Pace::Network => Some(KEY_DISTANCE),
            Pace::Recording if self.container.writes_segments() => {
                let given =
                    self.given.iter().rev().find(|(key, _)| ["hls_time", "seg_duration"].contains(&key.as_str()));
                Some(given.and_then(|(_, time)| parse_time(time)).filter(|&time| time > 0).unwrap_or(KEY_DISTANCE))
            }
            Pace::Recording | Pace::Offline => None,
        }
    }

    /// Opens the file and writes its header. `add` adds the video stream, which starts at `begin` (microseconds).
    pub(super) fn begin_file(
        &mut self,
        begin: i64,
        add: impl Fn(&mut Muxer, &Stream, &Metadata) -> Result<OutputStream>,
    ) -> Result<Begun> {
        // Opened only now, because this replaces the old file: it has to stay if no encoder opens.
        if self.muxer.is_none() {
            self.open()?;
        }
        let stream = self.input.video_stream();
        let muxer = self.muxer.as_mut().context("the output is closed")?;
        if self.from_zero {
            muxer.set_time_offset(-begin);
        }
        let media = &self.input.media;
        let timecode = timecode(&stream.metadata).or(timecode(&media.metadata));
        let timecode_rate = timecode.and_then(|timecode| timecode_rate(timecode, stream, media));
        let skipped = timecode_rate.map_or(0, |rate| self.input.skipped_frames_at(f64::from(rate)));
        let metadata = begun_later(kept(&media.metadata), timecode_rate, skipped);
        let mut metadata = metadata;
        if let Some(timecode) = timecode.filter(|_| table::FileMetadata::timecode_is_of_file(self.container))
            && super::kept::metadata::timecode(&metadata).is_none()
        {
            let of_file = vec![("timecode".to_owned(), timecode.to_owned())];
            metadata.extend(begun_later(of_file, timecode_rate, skipped));
        }
        let turned = self.rotate.rotates();
        let about_video = kept_in(self.container, &stream.metadata);
        let about_video = if turned { kept_of_turned(&about_video) } else { about_video };
        let mut about_video = begun_later(about_video, timecode_rate, skipped);
        // The muxer makes a new timecode track, from the metadata of the video stream.
        let reel = media.streams.iter().find(|stream| stream.is_timecode()).and_then(|track| track.tag("reel_name"));
        if let Some(reel) = reel.filter(|_| self.container.has_timecode_track()) {
            about_video.push(("reel_name".to_owned(), reel.to_owned()));
        }
        metadata.extend(service(media, self.container));
        add_provenance(&mut metadata, self.provenance.as_deref(), self.container, &self.notices);
        muxer.set_metadata(&metadata);
        let (routes, video) = if self.container.takes_pattern() || self.stack.is_some() {
            (Routes::default(), add(muxer, stream, &Vec::new())?)
        } else {
            let zero = zero_time(&self.input, self.container);
            // Some programs write chapter times that count from zero, although the stream times do not.
            let first =
                media.chapters.iter().map(|chapter| rescale(chapter.start, chapter.time_base, microseconds())).min();
            let shift = if first.is_some_and(|first| first >= zero) { -zero } else { 0 };
            muxer.set_chapters(&media.chapters, self.input.shift + shift, self.input.length);
            Routes::add(muxer, &self.input, (&self.rules, &self.early), &self.notices, |muxer| {
                add(muxer, stream, &about_video)
            })?
        };
        if self.container.name() == "mpegts" {
            let streams: Vec<_> = routes.outputs().chain([(self.input.video, video)]).collect();
            muxer.add_programmes(&media.programmes, &streams)?;
        }
        match (timecode_rate, timecode) {
            (Some(rate), _) if self.container.has_timecode_track() => muxer.set_frame_rate(video, rate),
            (None, Some(timecode)) if self.container.has_timecode_track() => self
                .notices
                .warn(&format!("the timecode {timecode} is left out: no rate of frames at which it counts is known"))?,
            _ => {}
        }
        let start = if self.input.shift == 0 { media.start.unwrap_or(0) } else { 0 };
        let start = start - zero_time(&self.input, self.container);
        let has_cover = streams::has_cover(&media.streams, self.input.video, self.container, &self.rules);
        check_keys(self.container, &metadata, has_cover, &self.notices)?;
        let mut options = muxer_options(self.container, &metadata, has_cover, start);
        let of_pace = match self.pace {
            // `+faststart` reads the file again to move the index to the front, which a measured output does not allow.
            Pace::Offline if muxer.is_seekable() && !matches!(self.size, Some(SizeRule::Measure(_))) => {
                file_options(self.container)
            }
            Pace::Offline => Vec::new(),
            Pace::Recording => live_options(self.container),
            Pace::Network => network_options(self.container),
        };
        options = with_given(with_given(options, &of_pace), &self.given);
        if self.container.is_images() {
            // The muxer option for a file name that is not a pattern.
            options.push(("update".to_owned(), "1".to_owned()));
        }
        if muxer.container().discards() && !self.container.discards() {
            options.clear();
        }
        muxer.write_header(&options).with_context(|| self.target.name().to_owned())?;
        // Header and attachments are written, and use space.
        self.room.bytes += self.target.bytes().unwrap_or(0);
        Ok(Begun { video, routes, metadata, options })
    }

    /// Connects to the server, and opens the encoder for frames like `like`, which is not written.
    ///
    /// # Errors
    /// When the server, the container or the encoder refuses.
    pub fn begin(&mut self, like: &Frame) -> Result<()> {
        let picture = self.rotated(like)?;
        self.start(&picture, None)
    }

    fn rotated(&mut self, frame: &Frame) -> Result<Picture> {
        let picture = self.rotate.picture(Picture::from_frame(frame)?);
        picture.with_context(|| format!("{}: cannot be turned", self.target.name()))
    }

    fn write_frame(&mut self, frame: &Frame) -> Result<()> {
        let mut picture = self.rotated(frame)?;
        if let Some(warning) = self.rotate.warning() {
            self.notices.warn(warning)?;
        }
        let entry = picture.metadata().into_iter().find(|(key, _)| key == ABOUT);
        let about = entry.and_then(|(_, text)| About::from_text(&text));
        // This entry is internal to the program: it must not be written.
        picture.set_entry(ABOUT, None);
        picture.forget_encoder();
        if self.running.is_none() {
            if let Err(error) = self.start(&picture, about.as_ref()) {
                self.muxer = None;
                self.target.discard();
                return Err(error);
            }
            for packet in std::mem::take(&mut self.early) {
                self.write_packet(packet)?;
            }
        }
        let is_second = self.running.as_ref().is_some_and(|running| running.frames > 0);
        ensure!(!is_second || !self.container.is_images() || self.is_numbered(), self.one_image());
        let Some(running) = &mut self.running else { unreachable!("started above") };
        // An animation becomes one packet at the end, which gets the metadata of its first image.
        if table::is_of_images(self.container) && running.beside.len() < MAX_BESIDE {
            let icc = picture.icc_profile().filter(|_| !table::writes_icc(&running.encoder.name()));
            let about = about.unwrap_or_default().made_by(self.provenance.as_deref());
            running.beside.push_back(Beside { about, icc });
        }
        let mut picture = running.fitter.fit(picture)?;
        running.clock.set(&mut picture, &self.notices)?;
        let time = picture.time().map_or(0, |time| rescale(time, running.clock.time_base, microseconds()));
        if running.keys.as_mut().is_some_and(|keys| keys.is_due(time)) {
            picture.make_key();
        }
        let duration = Some(picture.duration()).filter(|&duration| duration > 0);
        running.last_duration = duration.map(|duration| rescale(duration, running.clock.time_base, microseconds()));
        let duration = rescale(1, running.clock.rate.invert(), microseconds());
        running.end = running.end.max(time + duration);
        running.frames += 1;
        let frame = running.frames - 1;
        running
            .encoder
            .send(Some(&mut picture))
            .with_context(|| format!("{}: frame {frame}: cannot be encoded", self.target.name()))?;
        while self.write_encoded()? {}
        Ok(())
    }

    /// Writes the next packet that the encoder has ready. Returns false if there is none.
    fn write_encoded(&mut self) -> Result<bool> {
        let is_sequence = self.is_sequence();
        let Some(running) = &mut self.running else { return Ok(false) };
        let name = self.target.name();
        let received = running.encoder.receive().with_context(|| format!("{name}: cannot be encoded"))?;
        let Some(mut packet) = received else { return Ok(false) };
        running.clock.set_duration(&mut packet);
        let whole = running.last_duration.filter(|_| running.is_draining && running.encoder.name() == "libwebp_anim");
        if let Some(bytes) = whole.and_then(|duration| with_last_duration(packet.data(), duration)) {
            packet = packet.with_bytes(&bytes);
        }
        let Beside { about, icc } = running.beside.pop_front().unwrap_or_default();
        if let Some(fits) = &mut self.fits {
            packet = fits.image(&packet, &running.encoder, about, is_sequence || running.written == 0);
        } else if icc.is_some() || about != About::default() {
            let (format, size) = running.encoder.picture();
            let has_alpha = RawFormat::from_name(&format).is_some_and(RawFormat::has_alpha);
            if let Some(bytes) = about.write(packet.data(), icc.as_deref(), size, has_alpha) {
                packet = packet.with_bytes(&bytes);
            }
        }
        let (is_key, bytes) = (packet.is_key(), packet.len() as u64);
        let packet = match &mut self.stack {
            None => Some(packet),
            Some(stack) => {
                let times = [packet.pts(), packet.dts()].map(|time| time.unwrap_or(0));
                let ready = stack.push(packet.data().to_vec()).with_context(|| name.to_owned())?;
                ready.map(|bytes| Packet::from_bytes(&bytes, times, packet.duration(), true))
            }
        };
        running.bytes += bytes;
        if is_key {
            running.key_frames += 1;
            running.key_bytes += bytes;
        }
        let Some(packet) = packet else {
            running.written += 1;
            return Ok(true);
        };
        let time_base = running.encoder.time_base();
        if self.is_sequence() && self.muxer.is_none() {
            self.begin_image()?;
        }
        let (Some(running), Some(muxer)) = (&mut self.running, &mut self.muxer) else { return Ok(false) };
        self.room.grow(packet.len())?;
        let written = muxer.write(packet, running.video, time_base);
        written.with_context(|| format!("{}: cannot be written", self.target.name()))?;
        if self.is_sequence() {
            self.end_image()?;
        }
        self.running.iter_mut().for_each(|running| running.written += 1);
        Ok(true)
    }

    /// Tells the encoder that no more frames follow, and writes its next remaining packet.
    fn drain_encoder(&mut self) -> Result<bool> {
        let name = self.target.name();
        let Some(running) = &mut self.running else { return Ok(false) };
        if !std::mem::replace(&mut running.is_draining, true) {
            running.encoder.send(None).with_context(|| format!("{name}: cannot be encoded"))?;
        }
        self.write_encoded()
    }

    /// Whether the output is a sequence of numbered image files, and not only measured.
    fn is_sequence(&self) -> bool {
        self.is_numbered() && !matches!(self.size, Some(SizeRule::Measure(_)))
    }

    /// Whether the output name is a pattern for numbered images.
    fn is_numbered(&self) -> bool {
        self.container.takes_pattern() && is_sequence_name(self.target.name())
    }

    fn next_image(&self) -> u64 {
        let skipped = u64::try_from(self.input.skipped_frames()).unwrap_or(0);
        let written = self.running.as_ref().map_or(0, |running| running.written);
        self.input.sequence.as_ref().map_or(1 + written, |sequence| sequence.number(skipped + written))
    }

    /// Opens the muxer of the next image of a sequence.
    fn begin_image(&mut self) -> Result<()> {
        self.open()?;
        let (Some(running), Some(muxer)) = (&mut self.running, &mut self.muxer) else { return Ok(()) };
        let Image { metadata, side_data, options } = &running.image;
        muxer.set_metadata(metadata);
        running.video = muxer.add_encoded(&running.encoder, self.input.video_stream(), &Vec::new(), side_data)?;
        muxer.write_header(options).with_context(|| self.target.name().to_owned())
    }

    /// Completes an image of a sequence, and renames it to its final name.
    fn end_image(&mut self) -> Result<()> {
        let (Some(muxer), Some(image)) = (self.muxer.take(), self.image.take()) else { return Ok(()) };
        muxer.finish().with_context(|| format!("{}: cannot be written", self.target.name()))?;
        self.target.end_image(image, self.next_image())
    }

    fn write_packet(&mut self, packet: Packet) -> Result<()> {
        let (Some(running), Some(muxer)) = (&mut self.running, &mut self.muxer) else {
            self.early.push(packet);
            return Ok(());
        };
        // A stream has to start with a video key frame: packets before it are dropped.
        if self.pace == Pace::Network && running.written == 0 {
            return Ok(());
        }
        self.room.grow(packet.len())?;
        running
            .routes
            .write(packet, running.begin, muxer, &self.notices)
            .with_context(|| format!("{}: cannot be written", self.target.name()))
    }

    fn deliver(&mut self, delivery: Delivery) -> Result<()> {
        for packet in delivery.packets {
            self.write_packet(packet)?;
        }
        match delivery.frame {
            Some(frame) => self.write_frame(&frame),
            None => Ok(()),
        }
    }

    fn complete(&mut self) -> Result<()> {
        let name = self.target.name().to_owned();
        let is_abandoned = self.running.as_ref().is_some_and(|running| running.is_abandoned);
        while !is_abandoned && self.drain_encoder()? {}
        if self.is_sequence() {
            return Ok(());
        }
        let mut muxer = self.muxer.take().context("the output is closed")?;
        let last = self.stack.as_mut().and_then(TiffStack::end);
        if let (Some(running), Some(bytes)) = (&self.running, last) {
            let packet = Packet::from_bytes(&bytes, [running.written as i64; 2], 1, true);
            let written = muxer.write(packet, running.video, running.encoder.time_base());
            written.with_context(|| format!("{name}: cannot be written"))?;
        }
        if let Some(running) = &mut self.running {
            running.routes.finish(&mut muxer, &self.notices).with_context(|| format!("{name}: cannot be written"))?;
            if let Some(duration) = running.last_duration {
                muxer.set_last_duration(duration).with_context(|| format!("{name}: cannot be written"))?;
            }
        }
        let all = muxer.finish().with_context(|| format!("{name}: cannot be written"))?;
        match (&self.size, &self.running) {
            (Some(SizeRule::AtMost(most)), _) => {
                let bytes = self.target.bytes().unwrap_or(all);
                ensure!(bytes <= *most, TooLarge(bytes));
            }
            (Some(SizeRule::Measure(measured)), Some(running)) => {
                let seconds = (running.end - running.begin) as f64 / 1e6;
                let encoder = running.encoder.name();
                let (video, key_frames, key_bytes) = (running.bytes, running.key_frames, running.key_bytes);
                let (format, size) = running.encoder.picture();
                let rate = self.input.rate().map(|_| f64::from(running.clock.rate));
                let all = Measured { encoder, format, size, rate, all, video, key_frames, key_bytes, seconds };
                let _ = measured.set(all);
            }
            _ => {}
        }
        Ok(())
    }

    /// Maps a broken pipe of stdout or a FIFO to [`ReaderGone`], and reports a reader that stalls. A broken pipe to a
    /// server stays an error (connection lost). If the disk is full, the file is completed.
    fn map_error(&mut self, error: anyhow::Error) -> anyhow::Error {
        let error = match error.downcast::<DiskFull>() {
            Ok(DiskFull(error)) => return self.end_full(&error),
            Err(error) => error,
        };
        let broken = matches!(error.downcast_ref(), Some(Error::Other { errno: libc::EPIPE }));
        let stalled = matches!(error.downcast_ref(), Some(Error::Exit));
        if stalled && self.target.fifo().is_some() {
            return self.target.stalled();
        }
        if broken && (self.target.name() == "-" || self.target.fifo().is_some()) { ReaderGone.into() } else { error }
    }
}

impl FileSink {
    /// Completes a file for which the disk has no more space, and keeps what was written. Returns the error.
    fn end_full(&mut self, error: &std::io::Error) -> anyhow::Error {
        self.abandon();
        self.size = None;
        let is_begun = self.running.as_ref().is_some_and(|running| running.written > 0);
        let is_whole = is_begun && self.complete().is_ok();
        // Releases the reserved space.
        self.room.room = None;
        std::mem::take(&mut self.target).cut(if is_whole { u64::MAX } else { 0 }, error)
    }
}

impl Sink for FileSink {
    fn write(&mut self, delivery: Delivery) -> Result<()> {
        self.deliver(delivery).map_err(|error| self.map_error(error))
    }

    fn encoding(&self) -> Option<Encoding> {
        let encoder = expected(&self.candidates, &self.input)?;
        // The user does not choose the pass number.
        let choice = EncoderChoice { pass: None, ..self.choice.clone() };
        let size = self.input.picture.map(|(_, size)| size);
        let settings = choice.settings(encoder, self.container, size, self.pace).ok()?;
        let quantizer = settings.quantizer.map(|quantizer| ("q".to_owned(), quantizer.to_string()));
        Some(Encoding {
            container: self.container.name(),
            encoder: Some(encoder.name()),
            options: settings.options.into_iter().chain(quantizer).collect(),
            container_options: self.given.iter().cloned().collect(),
        })
    }

    fn encoded(&self) -> Option<u64> {
        Some(self.running.as_ref().map_or(0, |running| running.written))
    }

    fn drain(&mut self) -> Result<bool> {
        self.drain_encoder().map_err(|error| self.map_error(error))
    }

    fn abandon(&mut self) {
        self.running.iter_mut().for_each(|running| running.is_abandoned = true);
    }

    fn finish(mut self: Box<Self>, outcome: Outcome) -> Result<Option<Name>> {
        if self.running.as_ref().is_none_or(|running| running.is_abandoned && running.written == 0) {
            // Interrupted before the first frame: nothing was written.
            return Ok(None);
        }
        self.complete().map_err(|error| self.map_error(error))?;
        self.room.room = None;
        Ok(Some(self.target.end(outcome)?))
    }
}

/// The input time, in microseconds, that becomes zero in the output. It is the input's start time if the container
/// starts streams at zero or if that time is not kept; else 0. A start time within an hour of zero is kept. One from a
/// broadcast clock is kept only up to 10 s, unless the container has such a clock, too.
fn zero_time(input: &Input, container: Container) -> i64 {
    const KEPT: std::ops::Range<i64> = 0..10_000_000;
    const HOUR: i64 = 3_600_000_000;
    // The broadcast clock has 33 bits, and counts at 90 kHz: up to 2^33 / 90,000 s.
    const BROADCAST: std::ops::Range<i64> = -HOUR..95_443_717_688;
    let start = input.media.start.filter(|_| input.shift == 0).unwrap_or(0);
    let is_kept = match container.has_broadcast_clock() {
        true => BROADCAST.contains(&start),
        false if input.media.has_broadcast_clock() => KEPT.contains(&start),
        false => (-HOUR..HOUR).contains(&start),
    };
    if container.starts_at_zero() || !is_kept { start } else { 0 }
}

/// Whether this is the pattern of an image sequence (`%05d.png`).
pub fn is_sequence_name(name: impl AsRef<OsStr>) -> bool {
    number_pattern(&name).is_some() && Container::guess(None, name).is_none_or(Container::takes_pattern)
}

pub(super) fn container(name: &Name, format: Option<&str>) -> Result<Container> {
    Container::guess(format, name).with_context(|| match format {
        Some(format) => format!("no container {format} here (`ffmpeg -muxers` lists those of this FFmpeg)"),
        None => format!("{name}: no container goes by this name (use .mp4, .mkv, ..., or say --output-format)"),
    })
}

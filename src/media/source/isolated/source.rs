//! The source of the program for an input that another process decodes.

use super::channel::{Channel, MAX_BYTES, SHORT};
use super::frames::FramePool;
use super::messages::{Event, MAX_BELIEVED, MayFail, Order, ProcessLimits, Start, Wants, What, WireDelivery, WireFrom};
use super::said::{Unread, counted};
use super::shared_memory::SharedBlocks;
use super::transcoders::InOwnProcess;
use super::waits::{Lost, Patience, next_event, send};
use super::zygote::{self, Allowed, Process, spawn};
use crate::ffmpeg::demux::{Lie, OpenImage, Sequence};
use crate::ffmpeg::{Packet, Rational, is_url, microseconds, rescale};
use crate::pipeline::{
    Cancel, Delivery, FailureKind, Input, Interrupted, Level, Notices, Outage, PartPosition, Progress, Source,
};
use crate::source::file::FileInput;
use crate::source::live::clock::StartTime;
use crate::source::live::input::{CameraOptions, LiveInput};
use crate::source::live::reader::ends_at;
use crate::source::options::{InputOptions, Isolation};
use crate::source::packets::{PacketSurvey, Reading};
use crate::sys::io::Reader;
use crate::sys::{no_thread, one_line, print_line, stderr_has_events};
use anyhow::{Context, Error, Result, ensure};
use histeq::Limits;
use histeq::internal::frame::{Pool, host_room};
use rustix::pipe::{PipeFlags, pipe_with};
use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// The most messages without a frame or a packet in between, and the most bytes of a line on the process's stderr.
const MAX_MESSAGES: u32 = 100_000;
const MAX_LINE: u64 = 1 << 16;

/// Numbers of frames from here on are placeholders.
const MAX_COUNTED: u64 = 1 << 30;

/// The most bytes of packets in a delivery.
pub(super) const PACKET_BYTES: usize = 64 << 20;

/// The kind of the input. A live one may be opened again.
pub(super) enum OpensAgain {
    File,
    Live(Box<OpensLive>),
}

pub(super) struct OpensLive {
    input: LiveInput,
    options: CameraOptions,
    start: StartTime,
    /// When its process was ready.
    ready_at: Instant,
    outage: Outage,
}

/// A source in a process of its own.
pub struct IsolatedSource {
    opens: OpensAgain,
    /// `None` once the process has ended.
    process: Option<Process>,
    blocks: SharedBlocks,
    pool: FramePool,
    input: Input,
    /// Receives the survey of the packets, if requested.
    survey: Option<Arc<Mutex<PacketSurvey>>>,
    /// Whether an early end of the input is an error.
    needs_all: bool,
    cancel: Cancel,
    notices: Notices,
    progress: Arc<Progress>,
    /// Whether the process may have to wait for its input, because that is no file.
    waits: bool,
    may_fail: MayFail,
    /// Whether a file is decoded from beginning to end.
    is_whole: bool,
    /// Why an order could not be sent.
    not_ordered: Option<Lost>,
    /// How many deliveries of the current process were copied.
    copied: u64,
    /// Frames decoded, and damaged, by earlier processes; and the frames delivered by all processes.
    before: (u64, u64),
    frames: u64,
    /// Whether a delivered frame was within the requested part.
    is_within: bool,
    /// The time of the last frame, in its stream's time base.
    last: Option<i64>,
    /// Microseconds that are added to the times of a live input.
    shift: Option<i64>,
}

/// Opens a file, a pipe, numbered images or a URL in a process of its own.
///
/// # Errors
/// Those of [`FileSource::open`](crate::source::file::FileSource::open); when the process sends an impossible message,
/// or cannot be started.
pub fn open_file(
    options: &InputOptions,
    name: &str,
    file_input: FileInput,
    cancel: &Cancel,
    notices: Notices,
    progress: Arc<Progress>,
) -> Result<(Box<dyn Source>, Input)> {
    let mut images = None;
    let (file_input, descriptors) = match file_input {
        FileInput::Url if is_url(&options.url) => (WireFrom::Url, Vec::new()),
        FileInput::Url => {
            let file = File::open(&options.url).map_err(|error| FailureKind::file_error(name, &error))?;
            (WireFrom::File, vec![OwnedFd::from(file)])
        }
        FileInput::File(file) => (WireFrom::File, vec![file.into()]),
        FileInput::Pipe(reader) => (WireFrom::Pipe, vec![relayed(reader)?]),
        FileInput::Images(sequence, open) => {
            images = Some((sequence.clone(), open));
            (WireFrom::Images(sequence), Vec::new())
        }
    };
    // Reading a file never has to wait for data.
    let (waits, is_file) = (matches!(file_input, WireFrom::Url | WireFrom::Pipe), matches!(file_input, WireFrom::File));
    let part = options.part;
    let may_fail = MayFail {
        of_usage: options.video_stream.is_some()
            || options.format.is_some()
            || part.start.is_some()
            || part.duration.is_some(),
        of_access: matches!(file_input, WireFrom::Url | WireFrom::Images(_)),
        of_change: matches!(options.reading, Reading::Planned(_)),
    };
    let what = What::File { options: Box::new(options.clone()), name: name.to_owned(), from: file_input };
    let (survey, needs_all) = match &options.reading {
        Reading::Decoded => (None, false),
        Reading::Packets(_, survey) => (Some(survey.clone()), true),
        Reading::Planned(_) => (None, true),
    };
    let uses_network = is_url(&options.url);
    let sequence = images.as_ref().map(|(sequence, _)| Arc::new(sequence.clone()));
    let (process, blocks, input) = begin(
        what,
        (descriptors, images),
        uses_network,
        (waits, may_fail),
        (options.isolation, &options.limits),
        name,
        (cancel, &notices),
    )?;
    let (isolation, limits) = (options.isolation, options.limits.clone());
    let transcoders = Arc::new(InOwnProcess { name: name.to_owned(), isolation, limits, cancel: cancel.clone() });
    let input = Input { sequence, transcoders, ..input };
    let source = IsolatedSource::new(OpensAgain::File, (process, blocks), input, cancel, notices, progress);
    let is_part = part.start.is_some() || part.duration.is_some() || part.frames.is_some();
    let is_whole = is_file && !is_part && matches!(options.reading, Reading::Decoded);
    let source = IsolatedSource { survey, needs_all, waits, may_fail, is_whole, ..source };
    let input = source.input.clone();
    Ok((Box::new(source), input))
}

/// Opens a live input in a process of its own. Its first frame sets `start`.
///
/// # Errors
/// Those of [`LiveSource::open`](crate::source::LiveSource::open); when the process sends an impossible message, or
/// cannot be started.
pub fn open_live(
    input: LiveInput,
    options: CameraOptions,
    start: StartTime,
    cancel: &Cancel,
    notices: Notices,
    progress: Arc<Progress>,
) -> Result<(Box<dyn Source>, Input)> {
    let (process, blocks, described) = begin_live(&input, &options, cancel, &notices)?;
    let (isolation, limits) = (options.isolation, options.limits.clone());
    let transcoders = Arc::new(InOwnProcess { name: input.name.clone(), isolation, limits, cancel: cancel.clone() });
    let described = Input { transcoders, ..described };
    let (ready_at, outage) = (Instant::now(), Outage::default());
    let opens = OpensAgain::Live(Box::new(OpensLive { input, options, start, ready_at, outage }));
    let source = IsolatedSource::new(opens, (process, blocks), described, cancel, notices, progress);
    let input = source.input.clone();
    Ok((Box::new(source), input))
}

/// A pipe with the bytes of `reader`, for the decoding process: with the original descriptor, it could write there, or
/// change how other processes read from it.
fn relayed(mut reader: Reader) -> Result<OwnedFd> {
    let (theirs, ours) = pipe_with(PipeFlags::CLOEXEC)?;
    let mut target = File::from(ours);
    let relay = move || {
        // The end of either side ends the copying.
        let _ = io::copy(&mut reader, &mut target);
    };
    Builder::new().name("stdin".to_owned()).spawn(relay).map_err(|error| no_thread(&error))?;
    Ok(theirs)
}

/// Kinds of errors that reading a live input can have.
const MAY_FAIL_LIVE: MayFail = MayFail { of_usage: false, of_access: true, of_change: false };

fn begin_live(
    input: &LiveInput,
    options: &CameraOptions,
    cancel: &Cancel,
    notices: &Notices,
) -> Result<(Process, SharedBlocks, Input)> {
    let reader = match input.comes_back {
        true => None,
        false => Some(Reader::open(&input.url, cancel.flag()).with_context(|| input.name.clone())?),
    };
    let descriptors = match reader {
        Some(reader) if input.is_paced => vec![reader.into_file().into()],
        Some(reader) => vec![relayed(reader)?],
        None => Vec::new(),
    };
    let is_open = !descriptors.is_empty();
    let sent = CameraOptions { camera: Some(input.url.clone()), ..options.clone() };
    let what = What::Live { input: input.clone(), options: Box::new(sent), is_open };
    let live = (true, MAY_FAIL_LIVE);
    let confines = (options.isolation, &options.limits);
    begin(what, (descriptors, None), input.comes_back, live, confines, &input.name, (cancel, notices))
}

/// Answers requests for images and memory, until the process is gone.
fn serve(requests: &Channel, mut images: Option<(Sequence, OpenImage)>, blocks: &SharedBlocks) {
    while let Ok((wanted, _)) = requests.receive_waiting::<Wants, io::Error>(SHORT, || Ok(())) {
        let found = match (wanted, &mut images) {
            (Wants::Memory(len), _) => blocks.make(len),
            (Wants::Image(number), Some((sequence, open))) if sequence.has(number) => open(number).map(OwnedFd::from),
            (Wants::Image(_), _) => Err(io::Error::from_raw_os_error(libc::EACCES)),
        };
        let answered = match found {
            Ok(found) => requests.send(&None::<i32>, &[found.as_fd()]),
            Err(error) => requests.send(&Some(error.raw_os_error().unwrap_or(libc::EIO)), &[]),
        };
        if answered.is_err() {
            return;
        }
    }
}

/// Begins a process, and waits until it has opened its input.
fn begin(
    what: What,
    (descriptors, images): (Vec<OwnedFd>, Option<(Sequence, OpenImage)>),
    uses_network: bool,
    (waits, may_fail): (bool, MayFail),
    (isolation, limits): (Isolation, &Limits),
    name: &str,
    (cancel, notices): (&Cancel, &Notices),
) -> Result<(Process, SharedBlocks, Input)> {
    let mut process = begin_process(what, &descriptors, uses_network, (isolation, limits), name, (cancel, notices))?;
    let blocks = SharedBlocks::new(limits);
    if let Some(requests) = process.requests.take() {
        let blocks = blocks.clone();
        let serve = move || serve(&requests, images, &blocks);
        Builder::new().name("requests".to_owned()).spawn(serve).map_err(|error| no_thread(&error))?;
    }
    let patience = Patience::for_opening(waits, limits);
    let input = opened(&mut process, name, (patience, limits), may_fail, (cancel, notices))?;
    Ok((process, blocks, input))
}

/// Starts a process with this task; its requests are not served yet.
pub(super) fn begin_process(
    what: What,
    descriptors: &[OwnedFd],
    uses_network: bool,
    (isolation, limits): (Isolation, &Limits),
    name: &str,
    (cancel, notices): (&Cancel, &Notices),
) -> Result<Process> {
    let mut process = spawn(uses_network).map_err(|error| {
        FailureKind::from_io(&error)
            .error(format!("{name}: no process to decode in: {error} (--sandbox off decodes without one)"))
    })?;
    if let Some(stderr) = process.stderr.take() {
        let name = name.to_owned();
        let unread = Unread::new();
        let pass = move || {
            pass_on(&name, stderr);
            drop(unread);
        };
        Builder::new().name("stderr".to_owned()).spawn(pass).map_err(|error| no_thread(&error))?;
    }
    let start = Start {
        what,
        limits: ProcessLimits::new(limits),
        is_strict: notices.is_strict(),
        needs_walls: isolation == Isolation::Required,
    };
    let descriptors: Vec<_> = descriptors.iter().map(AsFd::as_fd).collect();
    match send(&mut process, &start, &descriptors, cancel, Patience::for_order()) {
        // If the process is gone, reading the next message shows that.
        Ok(()) | Err(Lost::Gone) => Ok(process),
        Err(Lost::Cancelled) => Err(Interrupted(name.into()).into()),
        Err(lost) => Err(FailureKind::Failed.error(format!("{name}: {}", lost.describe(&mut process)))),
    }
}

/// From now on, the template starts no more processes than `inputs` inputs need at the same time, within these limits.
///
/// # Errors
/// When the template is gone.
pub fn allow(inputs: usize, network: bool, needs_walls: bool, limits: &Limits) -> io::Result<()> {
    // Each input has transcoders, and may be opened again before its last process has ended.
    let limits = ProcessLimits::new(limits);
    zygote::allow(Allowed { network, processes: 2 * inputs + 1, limits, needs_walls })
}

/// Waits until `process` has opened its input.
pub(super) fn opened(
    process: &mut Process,
    name: &str,
    (patience, limits): (Patience, &Limits),
    may_fail: MayFail,
    (cancel, notices): (&Cancel, &Notices),
) -> Result<Input> {
    loop {
        match next_event(process, cancel, patience, MAX_BYTES) {
            Ok(Event::Opened(input)) => return input.checked(name, limits).map_err(|lie| attacked(name, &lie)),
            Ok(Event::Message(level, text)) => process.print(name, notices, level, &text)?,
            Ok(Event::Works) => process.counts(name)?,
            Ok(Event::Failed(error)) => return Err(error.checked(name, may_fail)),
            Ok(_) => return Err(attacked(name, &Lie("an order"))),
            Err(Lost::Cancelled) => return Err(Interrupted(name.into()).into()),
            Err(lost) => {
                let why = lost.describe(process);
                return Err(FailureKind::Damage.error(format!("{name}: {why} while it was opened")));
            }
        }
    }
}

/// Prints what libraries write on stderr in the decoding process of `name`, if it is text, and not too much; nothing if
/// stderr is for lines of JSON only.
fn pass_on(name: &str, stderr: File) {
    let (mut lines, mut line) = (BufReader::new(stderr), Vec::new());
    // Data that is not text may have no end of line, so each read is limited.
    while Read::take(&mut lines, MAX_LINE).read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
        let text = String::from_utf8_lossy(&line);
        if !text.trim().is_empty()
            && !stderr_has_events()
            && let Some(text) = counted(name, text.trim_end(), true)
        {
            print_line(&format!("histeq-video: decoder of {}", one_line(&text)));
        }
        line.clear();
    }
}

impl Process {
    /// Passes on a message of the process about the input `name`.
    ///
    /// # Errors
    /// When it has sent more messages than any input causes.
    pub(super) fn print(&mut self, name: &str, notices: &Notices, level: Level, text: &str) -> Result<()> {
        self.counts(name)?;
        counted(name, text, level == Level::Detail).into_iter().for_each(|text| notices.print(level, &text));
        Ok(())
    }

    /// Counts a message without a frame or a packet.
    pub(super) fn counts(&mut self, name: &str) -> Result<()> {
        self.messages += 1;
        if self.messages > MAX_MESSAGES { Err(attacked(name, &Lie("so much"))) } else { Ok(()) }
    }
}

/// Checks that sums of the survey's times cannot overflow.
fn check_survey(survey: &PacketSurvey) -> Result<(), Lie> {
    let starts = survey.chunks.iter().filter_map(|chunk| chunk.start);
    let is_sane = survey.times.iter().copied().chain(starts).all(|time| time.unsigned_abs() <= MAX_BELIEVED);
    if is_sane { Ok(()) } else { Err(Lie("a time")) }
}

/// The largest time, in units of `base`, whose sums overflow neither in this unit nor in microseconds.
pub(super) fn most_time(base: Rational) -> i64 {
    let most =
        i128::from(MAX_BELIEVED) * i128::from(base.denominator()) / (i128::from(base.numerator().max(1)) * 1_000_000);
    most.clamp(1, i128::from(MAX_BELIEVED)) as i64
}

/// The error of a message that cannot be true.
pub(super) fn attacked(name: impl Display, lie: &Lie) -> Error {
    FailureKind::Damage.error(format!("{name}: {lie}: it may be under attack by the input"))
}

impl IsolatedSource {
    pub(super) fn new(
        opens: OpensAgain,
        (process, blocks): (Process, SharedBlocks),
        input: Input,
        cancel: &Cancel,
        notices: Notices,
        progress: Arc<Progress>,
    ) -> Self {
        let room = host_room(&input.limits);
        let mut source = IsolatedSource {
            opens,
            process: Some(process),
            blocks,
            pool: FramePool::new(&input.limits),
            input,
            survey: None,
            needs_all: false,
            cancel: cancel.clone(),
            notices,
            progress,
            waits: true,
            may_fail: MAY_FAIL_LIVE,
            is_whole: false,
            not_ordered: None,
            copied: 0,
            before: (0, 0),
            frames: 0,
            is_within: false,
            last: None,
            shift: None,
        };
        source.order(&Order::Room(room));
        source
    }

    /// Gives an order. If the process is gone, the next delivery shows it.
    fn order(&mut self, order: &Order) {
        let Some(process) = self.process.as_mut().filter(|_| self.not_ordered.is_none()) else { return };
        match send(process, order, &[], &self.cancel, Patience::for_order()) {
            Ok(()) | Err(Lost::Gone) => {}
            Err(lost) => self.not_ordered = Some(lost),
        }
    }

    fn patience(&self) -> Patience {
        Patience::for_input(self.pixels(), self.waits)
    }

    fn pixels(&self) -> usize {
        self.input.picture.map_or(0, |(_, (width, height))| width.saturating_mul(height))
    }

    /// Checks a delivery of the process.
    fn take(&mut self, wire: WireDelivery) -> Result<Delivery> {
        let count = self.input.media.streams.len();
        let packets = wire.packets.into_iter().map(|packet| packet.checked(count));
        let mut packets = packets.collect::<Result<Vec<Packet>, Lie>>()?;
        let streams = &self.input.media.streams;
        packets.iter_mut().for_each(|packet| packet.clamp(most_time(streams[packet.stream()].time_base)));
        let most = most_time(self.input.video_stream().time_base);
        let mut wire_frame = wire.frame;
        if let Some(frame) = &mut wire_frame {
            frame.time = frame.time.map(|time| time.clamp(-most, most));
        }
        let frame = wire_frame.map(|frame| self.pool.copied(frame, &self.blocks)).transpose();
        let mut frame = frame.with_context(|| format!("frame {}", self.frames))?;
        let (decoded, position, damaged) = wire.progress;
        let (frames_before, damaged_before) = self.before;
        self.progress.follow(frames_before.saturating_add(decoded), position, damaged_before.saturating_add(damaged));
        let age = wire.age.map(|age| age.min(Duration::from_secs(3600)));
        let read_at = age.and_then(|age| Instant::now().checked_sub(age));
        if let OpensAgain::Live(opens) = &mut self.opens {
            if frame.is_some() {
                opens.outage.end(&self.notices, &opens.input.name);
            }
            if let (Some(moment), Some(frame), None) = (read_at, &frame, self.shift) {
                // The process counts times from its own first frame.
                let begun = *opens.start.get_or_init(|| moment);
                self.shift =
                    Some(moment.saturating_duration_since(begun).as_micros() as i64 - frame.pts.unwrap_or(0).min(0));
            }
            let shift = self.shift.unwrap_or(0);
            let streams = &self.input.media.streams;
            if let Some(frame) = &mut frame {
                frame.pts = frame.pts.map(|time| time.saturating_add(shift));
            }
            packets.iter_mut().for_each(|packet| {
                packet.shift(rescale(shift, microseconds(), streams[packet.stream()].time_base));
            });
        }
        if let Some(frame) = &frame {
            self.frames += 1;
            self.is_within |= wire.position == PartPosition::Within;
            self.last = frame.pts.or(self.last);
        }
        Ok(Delivery { packets, frame, position: wire.position, read_at })
    }

    /// Warns if the frames end long before the container says. An honest process reports that itself.
    fn check_end(&mut self) -> Result<()> {
        let (frames, damaged) = (self.frames, self.progress.damaged());
        let stream = self.input.video_stream();
        let (Some(all), Some(length)) = (stream.frames.filter(|_| self.is_whole), self.input.media.duration) else {
            return Ok(());
        };
        // The container may count fields as frames, and an edit list may leave out most frames. Writers that cannot
        // seek store a placeholder.
        let begin = self.input.media.start.unwrap_or(0);
        let last = self.last.map_or(begin, |time| rescale(time, stream.time_base, microseconds()));
        let is_early =
            all < MAX_COUNTED && frames.saturating_add(1) < all / 2 && last.saturating_sub(begin) < length / 2;
        if !is_early || self.cancel.is_cancelled() || damaged > 0 && !self.notices.is_strict() {
            return Ok(());
        }
        self.progress.count_damaged();
        self.notices.warn_of_damage(&format!("{} ends early: {frames} of {all} frames were decoded", self.input.name))
    }

    /// Handles the loss of the process: what it has delivered is kept, and a live input is opened again.
    fn lost(&mut self, lost: &Lost) -> Result<()> {
        let Some(mut process) = self.process.take() else { return Ok(()) };
        let name = self.input.name.clone();
        if matches!(lost, Lost::Cancelled) || self.cancel.is_cancelled() {
            return Ok(());
        }
        let why = lost.describe(&mut process);
        drop(process);
        let base = self.input.video_stream().time_base;
        let place = self.last.map(|time| rescale(time, base, microseconds()) as f64 / 1e6);
        let place = place.map(|seconds| format!(" behind {seconds:.3} s")).unwrap_or_default();
        let message = format!("{name}: {}: {why}{place}", self.input.video_stream().describe());
        if let OpensAgain::Live(opens) = &mut self.opens
            && opens.input.comes_back
        {
            opens.outage.begin(&self.notices, &message);
            self.progress.count_damaged();
            return self.open_again();
        }
        if self.needs_all || self.frames == 0 {
            return Err(FailureKind::Damage.error(message));
        }
        self.progress.count_damaged();
        self.notices.warn_of_damage(&format!("{message}: what was decoded before is kept, and nothing comes after it"))
    }

    /// Tries to open a live input in a new process, until that succeeds or the run is to end.
    fn open_again(&mut self) -> Result<()> {
        let OpensAgain::Live(opens) = &mut self.opens else { return Ok(()) };
        let OpensLive { input, options, start, ready_at, outage } = &mut **opens;
        let end = ends_at(start, *ready_at, options);
        let opened = outage.until_open(&self.cancel, &self.notices, end, || {
            let (process, blocks, found) = begin_live(input, options, &self.cancel, &self.notices)?;
            // The streams are assumed to be those before the loss, of which some may be missing.
            let streams = self.input.media.streams.len();
            ensure!(found.media.streams.len() <= streams, "{}: it has other streams now", input.name);
            Ok((process, blocks))
        });
        let Some((process, blocks)) = opened else { return Ok(()) };
        (self.process, self.blocks) = (Some(process), blocks);
        (self.copied, self.shift) = (0, None);
        self.before = (self.progress.decoded(), self.progress.damaged());
        self.order(&Order::Next { copied: 0 });
        Ok(())
    }
}

impl Source for IsolatedSource {
    fn next(&mut self) -> Result<Option<Delivery>> {
        self.order(&Order::Next { copied: self.copied });
        let patience = self.patience();
        // The size limit: packets of other streams, and a frame that cannot be shared, which may be larger than the
        // first one.
        let of_delivery = PACKET_BYTES.saturating_add(self.pixels().saturating_mul(4 * 16));
        let most = if self.survey.is_some() { MAX_BYTES } else { MAX_BYTES.min(of_delivery) };
        while let Some(process) = &mut self.process {
            let event = match self.not_ordered.take() {
                Some(lost) => Err(lost),
                None => next_event(process, &self.cancel, patience, most),
            };
            match event {
                Ok(Event::Delivery(delivery)) => {
                    match delivery.frame.is_none() && delivery.packets.is_empty() {
                        true => process.counts(&self.input.name.to_string())?,
                        false => process.messages = 0,
                    }
                    let taken = self.take(*delivery);
                    self.copied += 1;
                    return match taken {
                        Err(error) if error.is::<Lie>() => Err(FailureKind::Damage
                            .error(format!("{}: {error:#}: it may be under attack by the input", self.input.name))),
                        Err(error) => Err(error.context(self.input.name.clone())),
                        Ok(delivery) => Ok(Some(delivery)),
                    };
                }
                Ok(Event::Message(level, text)) => {
                    process.print(&self.input.name.to_string(), &self.notices, level, &text)?
                }
                Ok(Event::Works) => process.counts(&self.input.name.to_string())?,
                Ok(Event::End(found)) => {
                    self.process = None;
                    self.check_end()?;
                    // An honest process reports an error if it finds no frame.
                    if self.survey.is_none() && !self.is_within && !self.cancel.is_cancelled() {
                        return Err(attacked(&self.input.name, &Lie("an end")));
                    }
                    if let (Some(survey), Some(found)) = (&self.survey, found) {
                        check_survey(&found).map_err(|lie| attacked(&self.input.name, &lie))?;
                        *survey.lock().unwrap_or_else(PoisonError::into_inner) = found;
                    }
                }
                Ok(Event::Failed(error)) => {
                    self.process = None;
                    // An input whose reading was interrupted is not damaged.
                    if self.cancel.is_cancelled() && self.frames == 0 {
                        break;
                    }
                    return Err(error.checked(&self.input.name.to_string(), self.may_fail));
                }
                Ok(Event::Opened(_) | Event::Transcoders(_) | Event::Transcoded(..)) => {
                    return Err(attacked(&self.input.name, &Lie("an order")));
                }
                Err(lost) => self.lost(&lost)?,
            }
        }
        Ok(None)
    }

    fn look_around(&mut self, before: u32, behind: u32) {
        self.order(&Order::LookAround(before, behind));
    }

    fn use_pool(&mut self, pool: Arc<dyn Pool>) {
        self.pool.replace(pool);
    }
}

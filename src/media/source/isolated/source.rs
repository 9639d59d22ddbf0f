//! The source of the program for an input that another process decodes.

use super::channel::{Channel, MOST_BYTES};
use super::frames::FramePool;
use super::messages::{Event, Limits, MOST, Order, Start, Wants, What, WireDelivery, WireFrom};
use super::shared_memory::Pieces;
use super::transcoders::InOwnProcess;
use super::zygote::{HowEnded, Process, spawn};
use crate::ffmpeg::{self, Lie, OpenImage, Packet, Rational, Sequence, is_url, microseconds, rescale};
use crate::pipeline::{
    Cancel, Delivery, FailureKind, Input, Interrupted, Level, Notices, PartPosition, Pauses, Progress, Source,
};
use crate::source::clock::StartTime;
use crate::source::file::FileInput;
use crate::source::live::ends_at;
use crate::source::live_input::{CameraOptions, LiveInput};
use crate::source::options::{InputOptions, Isolation};
use crate::source::packets::{PacketSurvey, Reading};
use crate::sys::{Reader, no_thread, print_text, printable, stderr_has_events};
use anyhow::{Context, Error, Result, ensure};
use histeq::frame::{Pool, host_room, limits};
use rustix::pipe::{PipeFlags, pipe_with};
use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// How often a wait looks whether the run is to end, and how busy the process is.
const TICK: Duration = Duration::from_millis(50);

/// How long a process may take to finish after the run was asked to end.
const GRACE: Duration = Duration::from_secs(10);

/// A decoder counts as hung after this much CPU time, and time by the clock, without progress; more for each pixel.
const HANGS_AFTER: Duration = Duration::from_secs(10);
const OF_PIXEL: Duration = Duration::from_nanos(500);

/// Time by the clock after which a process that has all it needs should have answered, on a machine under load, too.
const SILENT_AFTER: Duration = Duration::from_secs(60);

/// The most messages of a process, bytes on its stderr that are printed, and bytes of a line there.
const MOST_MESSAGES: u32 = 100_000;
const MAX_PRINTED: usize = 1 << 20;
const LONGEST_LINE: u64 = 1 << 16;

/// Bytes of packets that may come at once.
pub(super) const OF_PACKETS: usize = 64 << 20;

/// The exit code of [`give_up`](crate::sys::give_up).
const GIVEN_UP: i32 = 1;

/// Bytes that a process may take for itself, beside what frames may take.
const OWN_MEMORY: u64 = 256 << 20;

/// What is opened, and may be opened again.
pub(super) enum Opens {
    File,
    Live(Box<OpensLive>),
}

pub(super) struct OpensLive {
    input: LiveInput,
    options: CameraOptions,
    start: StartTime,
}

/// A source in a process of its own.
pub struct IsolatedSource {
    opens: Opens,
    /// `None` once it has ended.
    process: Option<Process>,
    pieces: Pieces,
    pool: FramePool,
    input: Input,
    /// Collects what is known from packets, if requested.
    survey: Option<Arc<Mutex<PacketSurvey>>>,
    /// An end that comes too early is an error.
    needs_all: bool,
    cancel: Cancel,
    notices: Notices,
    progress: Arc<Progress>,
    /// When the process was asked to end the run.
    cancelled: Option<Instant>,
    /// Deliveries that were copied, of this process.
    copied: u64,
    /// Frames delivered and damaged by processes before this one, and delivered in all.
    before: (u64, u64),
    frames: u64,
    /// Whether one of them was within the requested part.
    is_within: bool,
    /// The time of the last frame, in its stream's time base.
    last: Option<i64>,
    /// Microseconds that are added to the times of a live input.
    shift: Option<i64>,
}

/// Opens a file, a pipe, numbered images or a URL in a process of its own.
///
/// # Errors
/// Those of [`FileSource::open`](crate::source::file::FileSource::open); when the input is attacked, or no process
/// begins.
pub fn open_file(
    options: &InputOptions,
    name: &str,
    from: FileInput,
    cancel: &Cancel,
    notices: Notices,
    progress: Arc<Progress>,
) -> Result<(Box<dyn Source>, Input)> {
    let mut images = None;
    let (from, descriptors) = match from {
        FileInput::Url if is_url(&options.url) => (WireFrom::Url, Vec::new()),
        FileInput::Url => {
            let file = File::open(&options.url).map_err(|error| FailureKind::of_file(name, &error))?;
            (WireFrom::File, vec![OwnedFd::from(file)])
        }
        FileInput::File(file) => (WireFrom::File, vec![file.into()]),
        FileInput::Pipe(reader) => (WireFrom::Pipe, vec![relayed(reader)?]),
        FileInput::Images(sequence, open) => {
            images = Some((sequence.clone(), open));
            (WireFrom::Images(sequence), Vec::new())
        }
    };
    let what = What::File { options: Box::new(options.clone()), name: name.to_owned(), from };
    let (survey, needs_all) = match &options.reading {
        Reading::Decoded => (None, false),
        Reading::Packets(_, survey) => (Some(survey.clone()), true),
        Reading::Planned(_) => (None, true),
    };
    let uses_network = is_url(&options.url);
    let sequence = images.as_ref().map(|(sequence, _)| Arc::new(sequence.clone()));
    let (process, pieces, input) =
        begin(what, (descriptors, images), uses_network, options.isolation, name, cancel, &notices)?;
    let transcoders = Arc::new(InOwnProcess { name: name.to_owned(), isolation: options.isolation });
    let input = Input { sequence, transcoders, ..input };
    let source = IsolatedSource::new(Opens::File, (process, pieces), input, cancel, notices, progress);
    let source = IsolatedSource { survey, needs_all, ..source };
    let input = source.input.clone();
    Ok((Box::new(source), input))
}

/// Opens a live input in a process of its own. Its first frame sets `start`.
///
/// # Errors
/// Those of [`LiveSource::open`](crate::source::LiveSource::open); when the input is attacked, or no process begins.
pub fn open_live(
    input: LiveInput,
    options: CameraOptions,
    start: StartTime,
    cancel: &Cancel,
    notices: Notices,
    progress: Arc<Progress>,
) -> Result<(Box<dyn Source>, Input)> {
    let (process, pieces, described) = begin_live(&input, &options, cancel, &notices)?;
    let transcoders = Arc::new(InOwnProcess { name: input.name.clone(), isolation: options.isolation });
    let described = Input { transcoders, ..described };
    let opens = Opens::Live(Box::new(OpensLive { input, options, start }));
    let source = IsolatedSource::new(opens, (process, pieces), described, cancel, notices, progress);
    let input = source.input.clone();
    Ok((Box::new(source), input))
}

/// A pipe of what `reader` reads: who has the other end of that cannot write there, nor change how others read from it.
fn relayed(mut reader: Reader) -> Result<OwnedFd> {
    let (theirs, ours) = pipe_with(PipeFlags::CLOEXEC)?;
    let mut to = File::from(ours);
    let relay = move || {
        // An end of either side ends it.
        let _ = io::copy(&mut reader, &mut to);
    };
    Builder::new().name("stdin".to_owned()).spawn(relay).map_err(|error| no_thread(&error))?;
    Ok(theirs)
}

fn begin_live(
    input: &LiveInput,
    options: &CameraOptions,
    cancel: &Cancel,
    notices: &Notices,
) -> Result<(Process, Pieces, Input)> {
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
    begin(what, (descriptors, None), input.comes_back, options.isolation, &input.name, cancel, notices)
}

/// Gives the images and the memory that are asked for, until nobody is there to ask.
fn serve(requests: &Channel, mut images: Option<(Sequence, OpenImage)>, pieces: &Pieces) {
    while let Ok((wanted, _)) = requests.receive::<Wants>() {
        let found = match (wanted, &mut images) {
            (Wants::Memory(len), _) => pieces.make(len),
            (Wants::Image(number), Some((of, open))) if of.has(number) => open(number).map(OwnedFd::from),
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
    isolation: Isolation,
    name: &str,
    cancel: &Cancel,
    notices: &Notices,
) -> Result<(Process, Pieces, Input)> {
    let mut process = begin_process(what, &descriptors, uses_network, isolation, name, notices)?;
    let pieces = Pieces::default();
    if let Some(requests) = process.requests.take() {
        let pieces = pieces.clone();
        let serve = move || serve(&requests, images, &pieces);
        Builder::new().name("requests".to_owned()).spawn(serve).map_err(|error| no_thread(&error))?;
    }
    let input = opened(&mut process, name, cancel, notices)?;
    Ok((process, pieces, input))
}

/// Starts a process with this task; its requests are not served yet.
pub(super) fn begin_process(
    what: What,
    descriptors: &[OwnedFd],
    uses_network: bool,
    isolation: Isolation,
    name: &str,
    notices: &Notices,
) -> Result<Process> {
    let mut process = spawn(uses_network).map_err(|error| {
        FailureKind::of_errno(error.raw_os_error().unwrap_or(0))
            .error(format!("{name}: no process to decode in: {error} (--sandbox off decodes without one)"))
    })?;
    if let Some(stderr) = process.stderr.take() {
        Builder::new().name("stderr".to_owned()).spawn(|| pass_on(stderr)).map_err(|error| no_thread(&error))?;
    }
    let memory = limits::memory();
    let own = (memory as u64).saturating_add(OWN_MEMORY);
    let start = Start {
        what,
        limits: Limits {
            pixels: limits::pixels(),
            memory,
            threads: limits::given_threads(),
            allocation: ffmpeg::allocation_limit(),
            is_verbose: ffmpeg::is_verbose(),
            own_memory: Some(own),
        },
        is_strict: notices.is_strict(),
        needs_walls: isolation == Isolation::Required,
        uses_network,
    };
    let descriptors: Vec<_> = descriptors.iter().map(AsFd::as_fd).collect();
    // If this cannot be sent, the process is gone; reading the next message shows that.
    let _ = process.channel.send(&start, &descriptors);
    Ok(process)
}

/// Waits until `process` has opened its input.
pub(super) fn opened(process: &mut Process, name: &str, cancel: &Cancel, notices: &Notices) -> Result<Input> {
    let mut cancelled = None;
    loop {
        match next_event(process, cancel, &mut cancelled, Patience::of_input(HANGS_AFTER.saturating_mul(3)), MOST_BYTES)
        {
            Ok(Event::Opened(input)) => return input.checked(name).map_err(|lie| attacked(name, &lie)),
            Ok(Event::Message(level, text)) => process.print(notices, level, &text)?,
            Ok(Event::Works) => process.counts()?,
            Ok(Event::Failed(error)) => return Err(error.into()),
            Ok(_) => return Err(attacked(name, &Lie("an order"))),
            Err(Lost::Cancelled) => return Err(Interrupted(name.into()).into()),
            Err(lost) => {
                let why = lost.describe(process);
                return Err(FailureKind::Damage.error(format!("{name}: {why} while it was opened")));
            }
        }
    }
}

/// Prints what libraries write on stderr in a decoding process, if it is text, and up to a limit; nothing if stderr is
/// for lines of JSON only.
fn pass_on(stderr: File) {
    let (mut lines, mut line, mut bytes) = (BufReader::new(stderr), Vec::new(), 0);
    // Data that is not text may have no end of line.
    while Read::take(&mut lines, LONGEST_LINE).read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
        bytes += line.len();
        if bytes <= MAX_PRINTED && !stderr_has_events() {
            print_text(&format!("{}\n", printable(String::from_utf8_lossy(&line).trim_end())));
        }
        line.clear();
    }
}

impl Process {
    /// Passes on a message of the process.
    ///
    /// # Errors
    /// When it has sent more than any run has.
    pub(super) fn print(&mut self, notices: &Notices, level: Level, text: &str) -> Result<()> {
        self.counts()?;
        notices.print(level, text);
        Ok(())
    }

    /// Counts what is no frame and no packet.
    fn counts(&mut self) -> Result<()> {
        self.messages += 1;
        if self.messages > MOST_MESSAGES { Err(attacked("a decoder", &Lie("so much"))) } else { Ok(()) }
    }
}

/// Checks times that are added up by those who read them.
fn check_survey(survey: &PacketSurvey) -> Result<(), Lie> {
    let starts = survey.chunks.iter().filter_map(|chunk| chunk.start);
    let is_sane = survey.times.iter().copied().chain(starts).all(|time| time.unsigned_abs() <= MOST);
    if is_sane { Ok(()) } else { Err(Lie("a time")) }
}

/// The largest time in this unit of which sums fit, in microseconds too.
pub(super) fn most_time(base: Rational) -> i64 {
    let most = i128::from(MOST) * i128::from(base.denominator()) / (i128::from(base.numerator().max(1)) * 1_000_000);
    most.clamp(1, i128::from(MOST)) as i64
}

/// The error of a message that cannot be true.
pub(super) fn attacked(name: impl Display, lie: &Lie) -> Error {
    FailureKind::Damage.error(format!("{name}: {lie}: it may be under attack by the input"))
}

/// How long an event may take.
#[derive(Clone, Copy)]
pub(super) struct Patience {
    /// Time that the process spends on processors, and as much by the clock, after which it hangs.
    busy: Duration,
    /// The longest time by the clock until it answers; `None` if it may wait for its input.
    clock: Option<Duration>,
}

impl Patience {
    /// For a process that may wait for its input.
    fn of_input(busy: Duration) -> Self {
        Patience { busy, clock: None }
    }

    /// For a process that can answer without waiting for input.
    pub(super) fn of_answers() -> Self {
        Patience { busy: HANGS_AFTER, clock: Some(SILENT_AFTER) }
    }
}

/// Why there is no next event.
pub(super) enum Lost {
    /// The run is to end, and the process does not.
    Cancelled,
    /// It is busy, but sends nothing.
    Hangs(Duration),
    /// It is idle, and sends nothing.
    Silent,
    /// It sends something that is no message.
    Garbled,
    Gone,
}

impl Lost {
    pub(super) fn describe(&self, process: &mut Process) -> String {
        match self {
            Lost::Cancelled => "the decoder does not end".to_owned(),
            Lost::Hangs(time) => {
                format!("the decoder hangs: {:.0} s of computing have given nothing", time.as_secs_f64())
            }
            Lost::Silent => "the decoder's process says nothing any more".to_owned(),
            Lost::Garbled => {
                "the decoder's process sends what is no message: it may be under attack by the input".to_owned()
            }
            Lost::Gone => match process.how_ended() {
                HowEnded::Killed(
                    signal @ (libc::SIGSEGV | libc::SIGBUS | libc::SIGILL | libc::SIGFPE | libc::SIGABRT),
                ) => {
                    format!("the decoder has crashed (signal {signal})")
                }
                HowEnded::Killed(libc::SIGKILL) => {
                    "the decoder's process was killed (by the system, if memory ran out)".to_owned()
                }
                HowEnded::Killed(libc::SIGSYS) => {
                    "the decoder's process has made a forbidden call of the system".to_owned()
                }
                HowEnded::Killed(signal) => format!("the decoder's process has ended (signal {signal})"),
                HowEnded::Exited(GIVEN_UP) => {
                    "the decoder has no more memory (--max-memory gives more), or a library has ended it".to_owned()
                }
                HowEnded::Exited(code) => format!("the decoder's process has ended (exit code {code})"),
                HowEnded::Unknown => "the decoder's process has ended".to_owned(),
            },
        }
    }
}

/// Waits for the next event. Tells the process when the run is to end. `most` is the bytes that the event may have.
pub(super) fn next_event(
    process: &mut Process,
    cancel: &Cancel,
    cancelled: &mut Option<Instant>,
    patience: Patience,
    most: usize,
) -> Result<Event, Lost> {
    let (begin, mut busy_before, flag) = (Instant::now(), None, cancel.flag());
    loop {
        if flag.load(Ordering::Relaxed) {
            if cancelled.is_none() {
                let _ = process.channel.send(&Order::Cancel { is_request: cancel.is_cancelled() }, &[]);
            }
            if cancelled.get_or_insert_with(Instant::now).elapsed() > GRACE {
                return Err(Lost::Cancelled);
            }
        }
        if process.channel.wait(TICK).map_err(|_| Lost::Gone)? {
            break;
        }
        // One that waits for its input does not compute, and one that shares the processors with others gets less of
        // them.
        if begin.elapsed() > Duration::from_secs(1) {
            let Some(busy) = process.busy() else { continue };
            let spent = busy.saturating_sub(*busy_before.get_or_insert(busy));
            if spent > patience.busy && begin.elapsed() > patience.busy {
                return Err(Lost::Hangs(spent));
            }
            if patience.clock.is_some_and(|most| begin.elapsed() > most) {
                return Err(Lost::Silent);
            }
        }
    }
    process.channel.receive_begun(most).map_err(|error| match error.kind() {
        ErrorKind::InvalidData => Lost::Garbled,
        _ => Lost::Gone,
    })
}

impl IsolatedSource {
    pub(super) fn new(
        opens: Opens,
        (process, pieces): (Process, Pieces),
        input: Input,
        cancel: &Cancel,
        notices: Notices,
        progress: Arc<Progress>,
    ) -> Self {
        let mut source = IsolatedSource {
            opens,
            process: Some(process),
            pieces,
            pool: FramePool::default(),
            input,
            survey: None,
            needs_all: false,
            cancel: cancel.clone(),
            notices,
            progress,
            cancelled: None,
            copied: 0,
            before: (0, 0),
            frames: 0,
            is_within: false,
            last: None,
            shift: None,
        };
        source.order(&Order::Room(host_room()));
        source
    }

    fn order(&mut self, order: &Order) {
        // If the process is gone, the next delivery shows it.
        let _ = self.process.as_ref().map(|process| process.channel.send(order, &[]));
    }

    fn patience(&self) -> Patience {
        let pixels = self.input.picture.map_or(0, |(_, (width, height))| width.saturating_mul(height));
        Patience::of_input(HANGS_AFTER + OF_PIXEL.saturating_mul(u32::try_from(pixels).unwrap_or(u32::MAX)))
    }

    /// A delivery, checked.
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
        let frame = wire_frame.map(|frame| self.pool.copied(frame, &self.pieces)).transpose();
        let mut frame = frame.with_context(|| format!("frame {}", self.frames))?;
        let (decoded, position, damaged) = wire.progress;
        let (frames_before, damaged_before) = self.before;
        self.progress.follow(frames_before.saturating_add(decoded), position, damaged_before.saturating_add(damaged));
        let age = wire.age.map(|age| age.min(Duration::from_secs(3600)));
        let read_at = age.and_then(|age| Instant::now().checked_sub(age));
        if let Opens::Live(opens) = &self.opens {
            if let (Some(at), Some(frame), None) = (read_at, &frame, self.shift) {
                // The process counts from its own first frame.
                let begun = *opens.start.get_or_init(|| at);
                self.shift =
                    Some(at.saturating_duration_since(begun).as_micros() as i64 - frame.pts.unwrap_or(0).min(0));
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

    /// The process is lost. What it has delivered is kept; a live input is opened again.
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
        if let Opens::Live(opens) = &self.opens
            && opens.input.comes_back
        {
            self.notices.waiting(&format!("{message}; waiting for it to come back"));
            self.progress.count_damaged();
            return self.open_again();
        }
        if self.needs_all || self.frames == 0 {
            return Err(FailureKind::Damage.error(message));
        }
        self.progress.count_damaged();
        self.notices.warn_of_damage(&format!("{message}: what was decoded before is kept, and nothing comes after it"))
    }

    /// Opens a live input in a new process, until it is there or the run is to end.
    fn open_again(&mut self) -> Result<()> {
        let Opens::Live(opens) = &self.opens else { return Ok(()) };
        let OpensLive { input, options, .. } = &**opens;
        let end = ends_at(&opens.start, options);
        let opened = Pauses::until_open(&self.cancel, &self.notices, end, || {
            let (process, pieces, found) = begin_live(input, options, &self.cancel, &self.notices)?;
            // Its streams are those of before, as far as it has them.
            let streams = self.input.media.streams.len();
            ensure!(found.media.streams.len() <= streams, "{}: it has other streams now", input.name);
            Ok((process, pieces))
        });
        let Some(((process, pieces), seconds)) = opened else { return Ok(()) };
        self.notices.back(&format!("{}: back after {seconds:.1} s", input.name));
        (self.process, self.pieces) = (Some(process), pieces);
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
        // The packets of other streams that come at once, and a frame that cannot be shared.
        let of_frame = usize::try_from(limits::pixels()).unwrap_or(usize::MAX).saturating_mul(16);
        let most = MOST_BYTES.min(OF_PACKETS.saturating_add(of_frame));
        while let Some(process) = &mut self.process {
            match next_event(process, &self.cancel, &mut self.cancelled, patience, most) {
                Ok(Event::Delivery(delivery)) => {
                    match delivery.frame.is_none() && delivery.packets.is_empty() {
                        true => process.counts()?,
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
                Ok(Event::Message(level, text)) => process.print(&self.notices, level, &text)?,
                Ok(Event::Works) => process.counts()?,
                Ok(Event::End(found)) => {
                    self.process = None;
                    // A decoder that finds no frame reports that.
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
                    // What an interruption cuts short is not damaged.
                    if self.cancel.is_cancelled() && self.frames == 0 {
                        break;
                    }
                    return Err(error.into());
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

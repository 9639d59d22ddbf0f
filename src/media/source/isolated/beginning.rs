//! Begins decoding processes, and opens inputs in them.

use crate::ffmpeg::demux::{Lie, OpenImage, Sequence};
use crate::ffmpeg::is_url;
use crate::pipeline::{Cancel, FailureKind, Input, Interrupted, Notices, Outage, Progress, Source};
use crate::source::file::FileInput;
use crate::source::isolated::channel::{Channel, MAX_BYTES, SHORT};
use crate::source::isolated::memory::frames::FramePool;
use crate::source::isolated::memory::shared_memory::SharedBlocks;
use crate::source::isolated::messages::{Event, MayFail, ProcessLimits, Start, Wants, What, WireFrom};
use crate::source::isolated::said::{Unread, counted};
use crate::source::isolated::transcoders::InOwnProcess;
use crate::source::isolated::waits::{Lost, Patience, next_event, send};
use crate::source::isolated::zygote::{self, Allowed, Process, spawn};
use crate::source::live::clock::StartTime;
use crate::source::live::input::{CameraOptions, LiveInput};
use crate::source::options::{InputOptions, Isolation};
use crate::source::packets::{PacketSurvey, Reading};
use crate::sys::io::Reader;
use crate::sys::{no_thread, one_line, print_line, stderr_has_events};
use anyhow::{Context, Error, Result};
use histeq::Limits;
use rustix::pipe::{PipeFlags, pipe_with};
use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex};
use std::thread::Builder;
use std::time::Instant;

const MAX_LINE: u64 = 1 << 16;

/// The kind of the input. A live one may be opened again.
pub(super) enum OpensAgain {
    File,
    Live(Box<OpensLive>),
}

pub(super) struct OpensLive {
    pub(super) input: LiveInput,
    pub(super) options: CameraOptions,
    pub(super) start: StartTime,
    /// When its process was ready.
    pub(super) ready_at: Instant,
    pub(super) outage: Outage,
}

/// A source in a process of its own.
pub struct IsolatedSource {
    pub(super) opens: OpensAgain,
    /// `None` once the process has ended.
    pub(super) process: Option<Process>,
    pub(super) blocks: SharedBlocks,
    pub(super) pool: FramePool,
    pub(super) input: Input,
    /// Receives the survey of the packets, if requested.
    pub(super) survey: Option<Arc<Mutex<PacketSurvey>>>,
    /// Whether an early end of the input is an error.
    pub(super) needs_all: bool,
    pub(super) cancel: Cancel,
    pub(super) notices: Notices,
    pub(super) progress: Arc<Progress>,
    /// Whether the process may have to wait for its input, because that is no file.
    pub(super) waits: bool,
    pub(super) may_fail: MayFail,
    /// Whether a file is decoded from beginning to end.
    pub(super) is_whole: bool,
    /// Why an order could not be sent.
    pub(super) not_ordered: Option<Lost>,
    /// How many deliveries of the current process were copied.
    pub(super) copied: u64,
    /// Frames decoded, and damaged, by earlier processes; and the frames delivered by all processes.
    pub(super) before: (u64, u64),
    pub(super) frames: u64,
    /// Whether a delivered frame was within the requested part.
    pub(super) is_within: bool,
    /// The time of the last frame, in its stream's time base.
    pub(super) last: Option<i64>,
    /// Microseconds that are added to the times of a live input.
    pub(super) shift: Option<i64>,
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
pub(super) const MAY_FAIL_LIVE: MayFail = MayFail { of_usage: false, of_access: true, of_change: false };

pub(super) fn begin_live(
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
pub(super) fn begin(
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

/// The error of a message that cannot be true.
pub(super) fn attacked(name: impl Display, lie: &Lie) -> Error {
    FailureKind::Damage.error(format!("{name}: {lie}: it may be under attack by the input"))
}

//! One run of a command: what all commands share that read video and write it.
//!
//! | file | what it is |
//! |---|---|
//! | `mod.rs` | cancellation, messages, progress and the meter |
//! | `guard.rs` | outputs, sandbox and signals, which are set up before the first thread |
//! | `prepared.rs` | an input whose filters and settings are decided, and the stage that equalizes it |

mod guard;
mod prepared;

pub use guard::Outputs;
pub use prepared::{Around, Prepared, prepare};

use crate::options::reading::RunLimits;
use crate::options::writing::{MeterStyle, StderrOptions};
use crate::report::{Console, Meter, Metered, SegmentRecord, StartRecord};
use crate::signals;
use crate::watch::ProcessMemory;
use anyhow::Result;
use histeq::Limits;
use histeq::internal::equalize::backend::{BackendChoice, BackendStartup};
use histeq_media::ffmpeg;
use histeq_media::pipeline::{Cancel, Encoding, Input, Notices, Outcome, Progress, ReaderGone, Source, Summary};
use histeq_media::sink::Segment;
use histeq_media::sink::Shelf;
use histeq_media::source::{self, InputOptions};
use histeq_media::sys::files::Name;
use histeq_media::sys::without_password;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;

/// How often a child process reports its progress: as often as the bar of its parent is drawn.
const FOR_PARENT: Duration = Duration::from_millis(100);

/// One run of the pipeline, and what it prints on stderr.
#[derive(Clone)]
pub struct Session<'a> {
    console: &'a Console,
    stderr: StderrOptions,
    limits: RunLimits,
    pub memory: ProcessMemory,
    /// Set by the first signal, and when the time is over.
    pub cancel: Cancel,
    /// Prints notes and warnings.
    pub notices: Notices,
    /// Frames read, equalized and written.
    pub progress: Arc<Progress>,
    /// Which of two passes over the input this is, if there are two.
    pass: Option<u32>,
    /// Number of its source, from 1, if several run at the same time.
    pub source: Option<usize>,
    /// The name of that source.
    pub name: Option<String>,
    /// The recorded segments of all sources.
    pub shelf: Shelf,
    /// Whether this session stands for several sources, each of which sends its own events.
    is_sum: bool,
    /// Whether its `start` event has been sent.
    has_started: bool,
}

impl<'a> Session<'a> {
    /// A run with these options, which keeps to these limits. Call it before the first thread is started.
    pub fn new(stderr: StderrOptions, limits: RunLimits, console: &'a Console) -> Self {
        let memory = ProcessMemory::new(&limits);
        limits.time.into_iter().for_each(signals::limit_time);
        ffmpeg::silence_encoders();
        // The parent process prints lines of a child that are not events.
        ffmpeg::set_verbose(stderr.is_verbose() && (console.has_text() || stderr.is_child));
        let notices = console.notices(stderr.strict);
        let (cancel, progress) = (Cancel::default(), Arc::default());
        Session {
            console,
            stderr,
            limits,
            memory,
            cancel,
            notices,
            progress,
            pass: None,
            source: None,
            name: None,
            shelf: Shelf::default(),
            is_sum: false,
            has_started: false,
        }
    }

    /// The limits of frames and threads.
    pub fn limits(&self) -> &Limits {
        &self.memory.limits
    }

    /// Begins to open the chosen backend, within the limits.
    pub fn begin_backend(&self, choice: &BackendChoice) -> BackendStartup {
        BackendStartup::begin(BackendChoice { limits: self.limits().clone(), ..choice.clone() })
    }

    /// The first of two passes over the input; this run is the second one from now on, and does not send `start` again.
    pub fn first_pass(&mut self) -> Session<'a> {
        let first = Session { pass: Some(1), progress: Arc::default(), ..self.clone() };
        (self.pass, self.has_started) = (Some(2), true);
        first
    }

    /// Repeats the pass, with its progress at 0.
    pub fn again(self) -> Self {
        Session { progress: Arc::default(), has_started: true, ..self }
    }

    /// From now on, this run is several sources together, `count` at present.
    pub fn begin_several(&mut self, count: usize) {
        self.is_sum = true;
        self.memory.set_videos(count);
    }

    /// The run of one of several sources, with its number, from 1. It ends when this one is cancelled, and its lines
    /// begin with `name`.
    pub fn for_source(&self, number: usize, name: &str) -> Session<'a> {
        Session {
            stderr: StderrOptions { meter: self.stderr.meter.for_each_source(), ..self.stderr.clone() },
            cancel: self.cancel.part(),
            notices: self.notices.named(name),
            progress: Arc::default(),
            source: Some(number),
            name: Some(name.to_owned()),
            is_sum: false,
            ..self.clone()
        }
    }

    /// Calls `read` before [`guard`](Self::guard), for files that may be hostile: tables of curves, masks. A thread
    /// watches the memory of the process meanwhile, and has ended when this returns: a thread that starts before the
    /// sandbox is closed stays outside of it.
    pub fn watching<T>(&self, read: impl FnOnce() -> Result<T>) -> Result<T> {
        let _watch = self.memory.watch(self.console, Vec::new())?;
        read()
    }

    /// Opens an input, and reports on it to `notices`.
    pub fn open(&self, input: &InputOptions, notices: &Notices) -> Result<(Box<dyn Source>, Input)> {
        let input = &InputOptions { limits: self.limits().clone(), ..input.clone() };
        let opened = source::open(input, &self.cancel, notices.clone(), self.progress.clone())?;
        self.limits.check_length(&opened.1)?;
        Ok(opened)
    }

    /// Sends the `start` event: that `input` is read, what is written, how, and with which settings.
    pub fn start<'b>(
        &self,
        input: &Input,
        outputs: impl Iterator<Item = &'b Name>,
        encoding: Option<Encoding>,
        settings: Map<String, Value>,
    ) {
        if self.has_started {
            return;
        }
        self.console.start(StartRecord {
            source: self.source,
            frames: input.frames,
            frame_rate: input.rate(),
            encoding: encoding.map(Box::new),
            settings,
            ..StartRecord::new(&input.name, &outputs.map(without_password).collect::<Vec<_>>())
        });
    }

    /// The function to call with a segment that has ended: sends it as an event of this source.
    pub fn segment_ended(&self) -> impl Fn(Segment) + Send + Sync + 'static {
        let (console, source) = (self.console.clone(), self.source);
        move |Segment { file, begin, seconds, frames, bytes }| {
            let (file, begin) = (Name::from(file), begin.timestamp());
            let (file, file_bytes) = (file.to_string(), file.encoded_bytes());
            console.segment(SegmentRecord { source, file, file_bytes, begin, seconds, frames, bytes });
        }
    }

    /// Removes recordings that are no longer to be kept, even while no frames arrive. To be called regularly.
    pub fn look_at_recordings(&self) {
        for file in self.shelf.tick() {
            self.notices.detail(&format!("{}: removed", file.display()));
        }
    }

    /// Calls `run` with a function that updates the meter, which shows this pass and source. The meter ends at 100% if
    /// `is_complete`.
    pub fn metered<T>(
        &self,
        total: Metered,
        run: impl FnOnce(&mut dyn FnMut(&Progress)) -> Result<T>,
        is_complete: impl FnOnce(&T) -> bool,
    ) -> Result<T> {
        let events = self.console.events.clone().filter(|_| !self.is_sum);
        let total = Metered { pass: self.pass, source: self.source, name: self.name.clone(), ..total };
        let meter_style = if self.is_sum { self.stderr.meter.for_all_sources() } else { self.stderr.meter };
        let mut meter = Meter::start((meter_style, events), total);
        if self.stderr.is_child {
            meter.interval = FOR_PARENT;
        }
        if meter_style == MeterStyle::Bar {
            self.console.set_bar(meter.bar.clone());
        }
        let result = run(&mut |progress| meter.update(progress));
        meter.finish(&self.progress, result.as_ref().is_ok_and(is_complete));
        result
    }

    /// As [`metered`](Self::metered), for a run that writes one output; `None` when the reader closed its pipe, which
    /// is no error.
    pub fn to_output(
        &self,
        input: &Input,
        run: impl FnOnce(&mut dyn FnMut(&Progress)) -> Result<Summary>,
    ) -> Result<Option<Summary>> {
        match self.metered(Metered::for_input(input), run, |summary| summary.outcome == Outcome::Complete) {
            Err(error) if error.is::<ReaderGone>() => Ok(None),
            result => result.map(Some),
        }
    }
}

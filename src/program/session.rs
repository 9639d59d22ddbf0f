//! What equalizing files, `live` and `compare` share: cancellation, notices, progress, and the meter.

use crate::options::{Limits, OutputFile, StderrOptions};
use crate::report::{Console, Meter, MeterStyle, StartRecord};
use crate::signals;
use crate::stdout;
use anyhow::Result;
use histeq_media::ffmpeg;
use histeq_media::pipeline::{Cancel, Input, Notices, Outcome, Progress, ReaderGone, Summary};
use histeq_media::sandbox::ProcessWall;
use histeq_media::sink::{self, Leftover, Target};
use histeq_media::source::InputOptions;
use histeq_media::sys::without_password;
use serde_json::{Map, Value};
use std::sync::Arc;

/// One run of the pipeline, and what it prints on stderr.
pub struct Run<'a> {
    console: &'a Console,
    stderr: StderrOptions,
    limits: Limits,
    /// Set by the first signal.
    pub cancel: Cancel,
    /// Prints notes and warnings.
    pub notices: Notices,
    /// Frames read, equalized and written.
    pub progress: Arc<Progress>,
    /// Which of two passes over the input this is, if there are two.
    pass: Option<u32>,
    /// Number of its source, from 1, if several run at the same time.
    pub source: Option<usize>,
    /// Whether it is several sources together, each of which sends events of its own.
    is_sum: bool,
    /// Whether its start has been told.
    has_started: bool,
}

impl<'a> Run<'a> {
    /// A run with these options, which keeps to these limits.
    pub fn new(stderr: StderrOptions, limits: Limits, console: &'a Console) -> Self {
        limits.apply();
        ffmpeg::silence_encoders();
        ffmpeg::set_verbose(stderr.is_verbose() && console.has_text());
        let notices = console.notices(stderr.strict);
        let (cancel, progress) = (Cancel::default(), Arc::default());
        Run {
            console,
            stderr,
            limits,
            cancel,
            notices,
            progress,
            pass: None,
            source: None,
            is_sum: false,
            has_started: false,
        }
    }

    /// The first pass of this run, which is the second one from now on. What the first one has said of the input is not said
    /// again.
    pub fn split(&mut self) -> Run<'a> {
        let first = Run {
            pass: Some(1),
            cancel: self.cancel.clone(),
            notices: self.notices.clone(),
            ..Run::new(self.stderr.clone(), self.limits, self.console)
        };
        (self.pass, self.has_started) = (Some(2), true);
        first
    }

    /// The same pass once more.
    pub fn again(self) -> Self {
        Run { progress: Arc::default(), has_started: true, ..self }
    }

    /// The runs of several sources, numbered from 1, which end when this one is cancelled. Their lines name them. This run is
    /// all of them together from now on.
    pub fn of_sources(&mut self, count: usize) -> Vec<Run<'a>> {
        let meter = self.stderr.meter;
        self.stderr.meter = meter.of_all();
        self.is_sum = true;
        let run = |number| Run {
            console: self.console,
            stderr: StderrOptions { meter: meter.of_each(), ..self.stderr.clone() },
            limits: self.limits,
            cancel: self.cancel.part(),
            notices: self.notices.of(&format!("source {number}")),
            progress: Arc::default(),
            pass: None,
            source: Some(number),
            is_sum: false,
            has_started: false,
        };
        (1..=count).map(run).collect()
    }

    /// Where `output` is written; not to the file `input`.
    pub fn target(&self, output: &OutputFile, input: &str) -> Result<Target> {
        stdout::check(&output.name)?;
        let format = output.options.format.as_deref();
        Ok(sink::target(&output.name, format, input, output.overwrite)?.interruptible(&self.cancel))
    }

    /// Puts the wall around this process, if there is one. Call it before the first thread is started.
    pub fn close(&self, wall: Option<ProcessWall>, inputs: &[&InputOptions]) -> Result<()> {
        if let Some(wall) = wall {
            let holds = wall.close()?;
            let has_another = inputs.iter().all(|input| input.wall.is_some());
            let decoders = if has_another { "; decoders can do even less" } else { "" };
            self.notices.detail(&format!("sandbox: the program {holds}{decoders}"));
        }
        Ok(())
    }

    /// Cancels the run at the first signal, and prints `answer`; the second signal removes `temporary` and ends the program. Also
    /// cancels it when its time is over.
    pub fn listen_for_signals(&self, temporary: Vec<Leftover>, answer: &'static str) -> Result<()> {
        if let Some(time) = self.limits.time {
            signals::end_after(time, self.cancel.clone(), self.console.clone(), temporary.clone())?;
        }
        signals::listen(self.cancel.clone(), self.console.clone(), temporary, answer)
    }

    /// Tells that `input` is read, what is written, and with which settings.
    pub fn start<'b>(&self, input: &Input, outputs: impl Iterator<Item = &'b String>, settings: Map<String, Value>) {
        if self.has_started {
            return;
        }
        self.console.start(&StartRecord {
            source: self.source,
            input: input.name.clone(),
            outputs: outputs.map(|name| without_password(name)).collect(),
            frames: input.frames,
            settings,
        });
    }

    /// Calls `run` with a function that updates the meter, which is for this many frames, if that is known. The meter ends at
    /// 100% if `is_complete`.
    pub fn metered<T>(
        &self,
        frames: Option<u64>,
        run: impl FnOnce(&mut dyn FnMut(&Progress)) -> Result<T>,
        is_complete: impl FnOnce(&T) -> bool,
    ) -> Result<T> {
        let events = self.console.events().filter(|_| !self.is_sum).cloned();
        let mut meter = Meter::start((self.stderr.meter, events), frames, self.pass, self.source);
        if self.stderr.meter == MeterStyle::Bar {
            self.console.set_bar(meter.bar());
        }
        let result = run(&mut |progress| meter.update(progress));
        meter.finish(&self.progress, result.as_ref().is_ok_and(is_complete));
        result
    }

    /// As [`metered`](Self::metered), for a run that writes one output; `None` when its reader went away, which is no error.
    pub fn to_output(
        &self,
        input: &Input,
        run: impl FnOnce(&mut dyn FnMut(&Progress)) -> Result<Summary>,
    ) -> Result<Option<Summary>> {
        match self.metered(input.frames, run, |summary| summary.outcome == Outcome::Complete) {
            Err(error) if error.is::<ReaderGone>() => Ok(None),
            result => result.map(Some),
        }
    }
}

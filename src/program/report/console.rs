//! Prints messages on stderr without garbling the progress bar, and sends them as events.

use super::events::{ErrorRecord, Event, Events, FileRecord, PROTOCOL, ResultRecord, SegmentRecord, StartRecord};
use super::summary::{counted, in_bytes, with_strength};
use super::width::shown;
use crate::options::shown_command;
use crate::options::writing::Verbosity;
use histeq_media::pipeline::{FailureKind, Level, Notices};
use histeq_media::sys::files::Name;
use histeq_media::sys::{one_line, print_line, wait_until_printed, without_middle};
use indicatif::ProgressBar;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Messages on stderr, and the events of `--progress json`; clones share both.
#[derive(Clone)]
pub struct Console {
    verbosity: Verbosity,
    bar: Arc<Mutex<ProgressBar>>,
    /// The destination of events, if there is one.
    pub events: Option<Events>,
    /// The result of the run, until its end is reported.
    result: Arc<Mutex<ResultRecord>>,
}

impl Console {
    /// Prints as much as `verbosity` allows, and sends all of it to `events`.
    pub fn new(verbosity: Verbosity, events: Option<Events>) -> Self {
        let bar = Arc::new(Mutex::new(ProgressBar::hidden()));
        Console { verbosity, bar, events, result: Arc::default() }
    }

    /// Whether stderr has text for people, not events.
    pub fn has_text(&self) -> bool {
        !self.events.as_ref().is_some_and(Events::are_on_stderr)
    }

    /// Hides this bar while a line is printed.
    pub fn set_bar(&self, bar: ProgressBar) {
        *locked(&self.bar) = bar;
    }

    /// Prints a line if the console's verbosity is at least this one.
    fn print(&self, verbosity: Verbosity, line: &str) {
        if self.verbosity >= verbosity && self.has_text() {
            let bar = locked(&self.bar).clone();
            bar.suspend(|| print_line(&shown(line)));
        }
    }

    fn send(&self, event: &Event) {
        let Some(events) = &self.events else { return };
        events.send(event);
        match events.unreported_loss() {
            Some(lost) if lost.is_error => {
                self.print(Verbosity::Quiet, &format!("histeq-video: error: {}", one_line(&lost.message)));
            }
            Some(lost) => {
                self.print(Verbosity::Normal, &format!("histeq-video: warning: {}", one_line(&lost.message)));
            }
            None => {}
        }
    }

    /// Prints a line as it is unless only errors are to be printed, and sends it as a note.
    pub fn info(&self, message: &str) {
        self.lines(&one_line(message));
    }

    /// As `info`, of several lines.
    pub fn lines(&self, message: &str) {
        self.print(Verbosity::Normal, message);
        self.send(&Event::Note { message: message.to_owned() });
    }

    /// Prints a note, with the program's name.
    pub fn note(&self, message: &str) {
        self.report(Event::Note { message: message.to_owned() });
    }

    /// Prints an error.
    pub fn error(&self, error: &anyhow::Error) {
        self.report(Event::Error(ErrorRecord::new(error)));
    }

    /// Prints a message of this process, or of a child process, and sends it as an event. Other events are ignored.
    pub fn report(&self, event: Event) {
        let (verbosity, kind, message) = match &event {
            Event::Detail { .. } if self.verbosity < Verbosity::Verbose => return,
            Event::Detail { message } => (Verbosity::Verbose, "", message),
            Event::Note { message }
            | Event::Waiting { message }
            | Event::Back { message }
            | Event::Change { message } => (Verbosity::Normal, "", message),
            // Loss of input is reported with `--quiet`, too.
            Event::Warning { message, kind: Some(_) } => (Verbosity::Quiet, "warning: ", message),
            Event::Warning { message, kind: None } => (Verbosity::Normal, "warning: ", message),
            Event::Error(ErrorRecord { message, .. }) => (Verbosity::Quiet, "error: ", message),
            Event::Start { .. } | Event::Progress(_) | Event::Segment(_) | Event::File(_) | Event::Result(_) => return,
        };
        self.print(verbosity, &format!("histeq-video: {kind}{}", one_line(&without_middle(message))));
        self.send(&event);
    }

    /// Notices that are printed here; with `strict`, warnings become errors.
    pub fn notices(&self, strict: bool) -> Notices {
        let console = self.clone();
        Notices::new(strict, move |level, message| {
            let message = message.to_owned();
            console.report(match level {
                Level::Detail => Event::Detail { message },
                Level::Note => Event::Note { message },
                Level::Waiting => Event::Waiting { message },
                Level::Back => Event::Back { message },
                Level::Change => Event::Change { message },
                Level::Warning => Event::Warning { message, kind: None },
                Level::Loss => Event::Warning { message, kind: Some(FailureKind::Damage) },
            });
        })
    }

    /// Sends what is read and written, as the first event of a run.
    pub fn start(&self, run: StartRecord) {
        let command = shown_command(std::env::args_os().map(Name::from));
        self.send(&Event::Start { protocol: PROTOCOL, version: env!("CARGO_PKG_VERSION").to_owned(), command, run });
    }

    /// Sends that a segment of a recording has ended.
    pub fn segment(&self, segment: SegmentRecord) {
        self.send(&Event::Segment(segment));
    }

    /// Prints how one of many files has ended, unless it was skipped because its output exists.
    pub fn file(&self, file: FileRecord) {
        let FileRecord { input, frames, bytes, seconds, found_text: found, strength, unchanged, .. } = &file;
        let frames = counted(*frames, "frame");
        match (&file.error, &file.partial) {
            (Some(error), _) => {
                let why = error.message.strip_prefix(&format!("{input}: ")).unwrap_or(&error.message);
                self.print(Verbosity::Quiet, &one_line(&format!("{input}: failed: {why}")));
            }
            (None, Some(partial)) => {
                self.print(Verbosity::Normal, &one_line(&format!("{input}: interrupted, {frames} -> {partial}")));
            }
            (None, None) if file.exit_code == 0 => {
                let found =
                    found.clone().map(|found| format!(", {}", with_strength(found, *strength))).unwrap_or_default();
                let unchanged = unchanged.as_ref().map(|what| format!(": {what}")).unwrap_or_default();
                let size = bytes.map(|bytes| format!(", {}", in_bytes(bytes))).unwrap_or_default();
                let line = format!("{input}: {frames} in {seconds:.2} s{size}{found}{unchanged}");
                self.print(Verbosity::Normal, &one_line(&line));
            }
            (None, None) => {}
        }
        self.send(&Event::File(file.into()));
    }

    /// Prints the result of the run, or of one of several sources.
    pub fn summary(&self, result: ResultRecord) {
        self.print(Verbosity::Normal, &result.summary);
        match result.source {
            Some(_) => self.send(&Event::Result(result.into())),
            None => *locked(&self.result) = result,
        }
    }

    /// Sends the end of the run, as its last event. Returns the exit code, which is an error for lost events under
    /// `--strict`.
    pub fn end(&self, code: u8) -> u8 {
        let result = ResultRecord { exit_code: Some(code), ..locked(&self.result).clone() };
        self.send(&Event::Result(result.into()));
        wait_until_printed();
        let has_failed = code == 0 && self.events.as_ref().is_some_and(Events::have_failed);
        if has_failed { FailureKind::Disk.exit_code() } else { code }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

//! Lines on stderr that do not run into the progress bar, and the same as events.

use super::events::{Event, Events, PROTOCOL, ResultRecord, StartRecord};
use histeq_media::pipeline::{Level, Notices};
use histeq_media::sys::{one_line, print_line};
use indicatif::ProgressBar;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How much is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verbosity {
    /// Errors only.
    Quiet,
    /// Warnings too.
    Warnings,
    /// Notes too.
    Normal,
    /// Details too.
    Verbose,
}

/// Stderr beside the progress bar, and the events of `--progress json`; clones share both.
#[derive(Clone)]
pub struct Console {
    verbosity: Verbosity,
    bar: Arc<Mutex<ProgressBar>>,
    events: Option<Events>,
    /// What came of the run, until its end is said.
    result: Arc<Mutex<ResultRecord>>,
}

impl Console {
    /// Prints as much as `verbosity` allows, and sends all of it to `events`.
    pub fn new(verbosity: Verbosity, events: Option<Events>) -> Self {
        let bar = Arc::new(Mutex::new(ProgressBar::hidden()));
        Console { verbosity, bar, events, result: Arc::default() }
    }

    /// Where events go, if they go anywhere.
    pub fn events(&self) -> Option<&Events> {
        self.events.as_ref()
    }

    /// Whether stderr is for people.
    pub fn has_text(&self) -> bool {
        !self.events.as_ref().is_some_and(Events::are_on_stderr)
    }

    /// Hides this bar while a line is printed.
    pub fn set_bar(&self, bar: ProgressBar) {
        *locked(&self.bar) = bar;
    }

    /// Prints a line from this verbosity on, and sends it as an event.
    fn line(&self, from: Verbosity, text: &str, event: Event<'_>) {
        if self.verbosity >= from && self.has_text() {
            let bar = locked(&self.bar).clone();
            bar.suspend(|| print_line(text));
        }
        self.send(&event);
    }

    fn send(&self, event: &Event<'_>) {
        self.events.iter().for_each(|events| events.send(event));
    }

    /// Prints a line unless only errors are to be printed.
    pub fn info(&self, message: &str) {
        self.line(Verbosity::Normal, message, Event::Note { message });
    }

    /// Prints an error.
    pub fn error(&self, error: &anyhow::Error) {
        let message = &format!("{error:#}");
        let line = format!("histeq-video: error: {}", one_line(message));
        self.line(Verbosity::Quiet, &line, Event::Error { message });
    }

    /// Notices that are printed here; with `strict`, warnings become errors.
    pub fn notices(&self, strict: bool) -> Notices {
        let console = self.clone();
        let is_verbose = console.verbosity == Verbosity::Verbose;
        Notices::new(strict, move |level, message| {
            let line = format!("histeq-video: {}", one_line(message));
            match level {
                Level::Warning => {
                    let line = format!("histeq-video: warning: {}", one_line(message));
                    console.line(Verbosity::Warnings, &line, Event::Warning { message });
                }
                Level::Note => console.line(Verbosity::Normal, &line, Event::Note { message }),
                Level::Waiting => console.line(Verbosity::Normal, &line, Event::Waiting { message }),
                Level::Back => console.line(Verbosity::Normal, &line, Event::Back { message }),
                Level::Detail if is_verbose => console.line(Verbosity::Verbose, &line, Event::Detail { message }),
                Level::Detail => {}
            }
        })
    }

    /// Tells what is read and written.
    pub fn start(&self, run: &StartRecord) {
        self.send(&Event::Start { protocol: PROTOCOL, version: env!("CARGO_PKG_VERSION"), run });
    }

    /// Prints what came of the run, or of one of several sources.
    pub fn summary(&self, result: ResultRecord) {
        if self.verbosity >= Verbosity::Normal && self.has_text() {
            let bar = locked(&self.bar).clone();
            bar.suspend(|| print_line(&result.summary));
        }
        match result.source {
            Some(_) => self.send(&Event::Result(&result)),
            None => *locked(&self.result) = result,
        }
    }

    /// Tells that the run is over.
    pub fn end(&self, code: u8) {
        let result = ResultRecord { exit_code: Some(code), ..locked(&self.result).clone() };
        self.send(&Event::Result(&result));
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

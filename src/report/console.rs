//! Lines on stderr that do not run into the progress bar.

use crate::io::print_line;
use crate::pipeline::{Level, Notices};
use indicatif::ProgressBar;
use std::sync::Arc;

/// How much is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verbosity {
    /// Errors only.
    Quiet,
    /// Notes and warnings.
    Normal,
    /// Details too.
    Verbose,
}

/// Stderr; shared by its clones.
#[derive(Clone)]
pub struct Console {
    verbosity: Verbosity,
    bar: Arc<std::sync::OnceLock<ProgressBar>>,
}

impl Console {
    /// Says as much as `verbosity` allows.
    pub fn new(verbosity: Verbosity) -> Self {
        Console { verbosity, bar: Arc::default() }
    }

    /// Keeps out of the way of this bar from now on.
    pub fn share_with(&self, bar: ProgressBar) {
        // Only the first bar of a run is ever shown.
        let _ = self.bar.set(bar);
    }

    /// Prints a line.
    pub fn line(&self, text: &str) {
        let print = || print_line(text);
        match self.bar.get() {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    /// Prints a line unless only errors are wanted.
    pub fn say(&self, text: &str) {
        if self.verbosity > Verbosity::Quiet {
            self.line(text);
        }
    }

    /// Prints what went wrong.
    pub fn error(&self, error: &anyhow::Error) {
        self.line(&format!("histeq-video: error: {error:#}"));
    }

    /// Notices that end up here.
    pub fn notices(&self, strict: bool) -> Notices {
        let console = self.clone();
        Notices::new(strict, move |level, message| match level {
            Level::Warning => console.say(&format!("histeq-video: warning: {message}")),
            Level::Note => console.say(&format!("histeq-video: {message}")),
            Level::Detail if console.verbosity == Verbosity::Verbose => {
                console.line(&format!("histeq-video: {message}"))
            }
            Level::Detail => {}
        })
    }
}

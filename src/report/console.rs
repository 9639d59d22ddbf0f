//! Lines on stderr that do not run into the progress bar.

use crate::io::{one_line, print_line};
use crate::pipeline::{Level, Notices};
use indicatif::ProgressBar;
use std::sync::{Arc, Mutex, PoisonError};

/// How much is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verbosity {
    /// Errors only.
    Quiet,
    /// Notes and warnings.
    Normal,
    /// Details too.
    Verbose,
}

/// Stderr beside the progress bar; clones share the bar.
#[derive(Clone)]
pub struct Console {
    verbosity: Verbosity,
    bar: Arc<Mutex<ProgressBar>>,
}

impl Console {
    /// Prints as much as `verbosity` allows.
    pub fn new(verbosity: Verbosity) -> Self {
        Console { verbosity, bar: Arc::new(Mutex::new(ProgressBar::hidden())) }
    }

    /// Hides this bar while a line is printed.
    pub fn set_bar(&self, bar: ProgressBar) {
        *self.bar.lock().unwrap_or_else(PoisonError::into_inner) = bar;
    }

    /// Prints a line.
    fn line(&self, text: &str) {
        let bar = self.bar.lock().unwrap_or_else(PoisonError::into_inner).clone();
        bar.suspend(|| print_line(text));
    }

    /// Prints a line unless only errors are to be printed.
    pub fn info(&self, text: &str) {
        if self.verbosity > Verbosity::Quiet {
            self.line(text);
        }
    }

    /// Prints an error.
    pub fn error(&self, error: &anyhow::Error) {
        self.line(&one_line(&format!("histeq-video: error: {error:#}")));
    }

    /// Notices that are printed here; with `strict`, warnings become errors.
    pub fn notices(&self, strict: bool) -> Notices {
        let console = self.clone();
        Notices::new(strict, move |level, message| {
            let message = one_line(message);
            match level {
                Level::Warning => console.info(&format!("histeq-video: warning: {message}")),
                Level::Note => console.info(&format!("histeq-video: {message}")),
                Level::Detail if console.verbosity == Verbosity::Verbose => {
                    console.line(&format!("histeq-video: {message}"))
                }
                Level::Detail => {}
            }
        })
    }
}

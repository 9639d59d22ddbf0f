//! Messages of a run: notes, and warnings, which `--strict` turns into errors.

use super::failure::FailureKind;
use anyhow::Result;
use histeq::Note;
use histeq::internal::Notes;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

/// The level of a message.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub enum Level {
    /// A detail, printed only with `-v`.
    Detail,
    /// A general note.
    Note,
    /// A note that the run waits for a live input.
    Waiting,
    /// A note that the live input is available again.
    Back,
    /// A note that a live input has changed.
    Change,
    /// A warning that the result may differ from what the user expects.
    Warning,
    /// A warning that a part of the input is lost, because it is damaged or truncated.
    Loss,
}

type Print = dyn Fn(Level, &str) + Send + Sync;

/// Passes on notes and warnings. Clones share the receiver.
#[derive(Clone)]
pub struct Notices {
    print: Arc<Print>,
    strict: bool,
}

impl Notices {
    /// Passes all messages to `print`; with `strict`, warnings become errors.
    pub fn new(strict: bool, print: impl Fn(Level, &str) + Send + Sync + 'static) -> Self {
        Notices { print: Arc::new(print), strict }
    }

    /// These notices, with `name` and a colon as a prefix of each message.
    pub fn named(&self, name: &str) -> Self {
        let (print, name) = (self.print.clone(), name.to_owned());
        Notices::new(self.strict, move |level, message| print(level, &format!("{name}: {message}")))
    }

    /// These notices, but each message is passed on only once.
    pub fn without_repeats(&self) -> Self {
        let (print, told) = (self.print.clone(), Mutex::new(HashSet::new()));
        Notices::new(self.strict, move |level, message| {
            let is_new = told.lock().unwrap_or_else(PoisonError::into_inner).insert(message.to_owned());
            if is_new {
                print(level, message);
            }
        })
    }

    /// Notices for the `histeq` crate, which never become errors: the crate reports errors separately.
    pub fn for_core(&self) -> Notes {
        let print = self.print.clone();
        Notes::new(move |note| match note {
            Note::Detail(text) => print(Level::Detail, text),
            Note::Note(text) => print(Level::Note, text),
            Note::Warning(text) => print(Level::Warning, text),
        })
    }

    /// Drops all messages.
    pub fn silent() -> Self {
        Notices::new(false, |_, _| {})
    }

    /// Whether warnings are errors.
    pub fn is_strict(&self) -> bool {
        self.strict
    }

    /// Prints a message. With `--strict`, warnings do not become errors here: the caller has to check that.
    pub fn print(&self, level: Level, message: &str) {
        (self.print)(level, message);
    }

    /// Prints a detail.
    pub fn detail(&self, message: &str) {
        (self.print)(Level::Detail, message);
    }

    /// Prints a note.
    pub fn note(&self, message: &str) {
        (self.print)(Level::Note, message);
    }

    /// Prints a note that the run waits for a live input.
    pub fn waiting(&self, message: &str) {
        (self.print)(Level::Waiting, message);
    }

    /// Prints a note that the live input is available again.
    pub fn back(&self, message: &str) {
        (self.print)(Level::Back, message);
    }

    /// Prints a note that a live input has changed.
    pub fn changed(&self, message: &str) {
        (self.print)(Level::Change, message);
    }

    /// Prints a warning.
    ///
    /// # Errors
    /// The warning itself, with `--strict`.
    pub fn warn(&self, message: &str) -> Result<()> {
        self.warn_of(FailureKind::Failed, Level::Warning, message)
    }

    /// Prints a warning of damage.
    ///
    /// # Errors
    /// The warning itself, with `--strict`.
    pub fn warn_of_damage(&self, message: &str) -> Result<()> {
        self.warn_of(FailureKind::Damage, Level::Loss, message)
    }

    fn warn_of(&self, kind: FailureKind, level: Level, message: &str) -> Result<()> {
        if self.strict {
            return Err(kind.error(format!("{message} (an error because of --strict)")));
        }
        (self.print)(level, message);
        Ok(())
    }
}

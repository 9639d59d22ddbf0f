//! What a run has to say while it goes on: notes, and warnings, which `--strict` turns into errors.

use anyhow::{Result, bail};
use std::sync::Arc;

/// How much something matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Worth knowing for those who ask (`-v`).
    Detail,
    /// Worth knowing.
    Note,
    /// Something is not as the user would expect it.
    Warning,
}

type Say = dyn Fn(Level, &str) + Send + Sync;

/// Where notes and warnings go; shared by its clones.
#[derive(Clone)]
pub struct Notices {
    say: Arc<Say>,
    strict: bool,
}

impl Notices {
    /// Hands everything to `say`; with `strict`, warnings become errors.
    pub fn new(strict: bool, say: impl Fn(Level, &str) + Send + Sync + 'static) -> Self {
        Notices { say: Arc::new(say), strict }
    }

    /// Says something that only matters to those who look closely.
    pub fn detail(&self, message: &str) {
        (self.say)(Level::Detail, message);
    }

    /// Says something worth knowing.
    pub fn note(&self, message: &str) {
        (self.say)(Level::Note, message);
    }

    /// Warns.
    ///
    /// # Errors
    /// The warning itself, with `--strict`.
    pub fn warn(&self, message: &str) -> Result<()> {
        if self.strict {
            bail!("{message} (an error because of --strict)");
        }
        (self.say)(Level::Warning, message);
        Ok(())
    }
}

//! Outputs of one run that get their names together.

use super::target::Target;
use crate::sys::Name;
use anyhow::Result;
use std::sync::{Arc, Mutex, PoisonError};

/// Outputs of one run, which get their names together once all of them are whole: if one cannot be written, the
/// existing files of all names stay unchanged.
#[derive(Clone, Debug, Default)]
pub struct Together(Arc<Mutex<Vec<Target>>>);

impl Together {
    pub(super) fn add(&self, file: Target) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(file);
    }

    /// Drops the one that was to have this name.
    pub fn forget(&self, name: &Name) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|file| file.name() != name);
    }

    /// Gives those that are whole the names `NAME.new.EXT`, as one that belongs to them cannot be written. Returns these.
    pub fn keep(&self) -> Vec<Name> {
        let mut files = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        files.iter_mut().filter_map(|file| file.keep("new").ok()).collect()
    }

    /// Gives those that are whole their names.
    ///
    /// # Errors
    /// When one cannot get its name; the error names the one that it has. Nothing has changed then, unless its name was
    /// taken meanwhile.
    pub fn name(&self) -> Result<()> {
        let files = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        Target::name_all(files)
    }
}

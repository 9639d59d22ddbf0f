//! Outputs of one run that are renamed to their final names together.

use super::target::Target;
use crate::sys::files::Name;
use anyhow::Result;
use std::sync::{Arc, Mutex, PoisonError};

/// Outputs of one run, which are renamed to their final names when all are complete: if one cannot be written, the
/// existing files of all names stay unchanged.
#[derive(Clone, Debug, Default)]
pub struct Together(Arc<Mutex<Vec<Target>>>);

impl Together {
    pub(crate) fn add(&self, file: Target) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(file);
    }

    /// Removes the output with this final name from the group.
    pub fn forget(&self, name: &Name) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|file| file.name() != name);
    }

    /// Renames the completed outputs to `NAME.new.EXT`, because another one cannot be written. Returns the names.
    pub fn keep(&self) -> Vec<Name> {
        let mut files = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        files.iter_mut().filter_map(|file| file.keep("new").ok()).collect()
    }

    /// Renames the completed outputs to their final names.
    ///
    /// # Errors
    /// When one cannot be renamed. If the file system can exchange names, existing files stay then, and the error names
    /// the files in which the new output is kept.
    pub fn name(&self) -> Result<()> {
        let files = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        Target::name_all(files)
    }
}

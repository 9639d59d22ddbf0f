//! The files that a sandboxed process can open.

use std::path::PathBuf;

/// Files, and folders with all that is in them.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// Paths that can be read. Files of the system, such as libraries and fonts, can always be read.
    pub read: Vec<PathBuf>,
    /// Paths that can be read and written; in folders, files can be created, renamed and removed, and empty folders,
    /// too.
    pub written: Vec<PathBuf>,
}

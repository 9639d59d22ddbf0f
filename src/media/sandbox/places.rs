//! The files that a sandboxed process can open.

use std::path::PathBuf;

/// Files, and folders with all that is in them.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// Those that can be read. Those of the system, such as libraries and fonts, always can.
    pub read: Vec<PathBuf>,
    /// Those that can be read and written; in folders, files can be made, named and removed, and empty folders, too.
    pub written: Vec<PathBuf>,
}

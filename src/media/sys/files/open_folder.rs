//! A folder that was opened once. Its files are reached through it, whatever its name leads to by now.

use super::by_name::{by_descriptor, open_folder_without_links};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An open folder. Clones are the same one.
#[derive(Clone, Debug)]
pub struct OpenFolder {
    /// Its name, for messages.
    path: PathBuf,
    folder: Arc<File>,
}

impl OpenFolder {
    /// Opens the folder of this name. No link in any part of the name is followed.
    ///
    /// # Errors
    /// When it is no folder, or has a link in its name.
    pub fn without_links(path: &Path) -> io::Result<Self> {
        Ok(OpenFolder::new(path, open_folder_without_links(path)?))
    }

    pub(crate) fn new(path: &Path, folder: File) -> Self {
        OpenFolder { path: path.to_owned(), folder: Arc::new(folder) }
    }

    /// The name of one of its files, for messages.
    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.path.join(name)
    }

    /// A path to this very folder. Without /proc, it is its name.
    pub fn place(&self) -> PathBuf {
        by_descriptor(&self.folder).unwrap_or_else(|| self.path.clone())
    }

    pub(crate) fn folder(&self) -> &File {
        &self.folder
    }
}

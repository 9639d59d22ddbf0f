//! The README and the pages in `docs`, read from the repository's root.

use std::path::{Path, PathBuf};

pub const OPTIONS: &str = "docs/options.md";

/// The paths of the README and of the pages in `docs`.
pub fn pages() -> Vec<PathBuf> {
    let folder = std::fs::read_dir("docs").expect("docs");
    let files = folder.map(|entry| entry.expect("a page").path());
    let mut pages: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|suffix| suffix == "md")).collect();
    pages.push(PathBuf::from("README.md"));
    pages
}

pub fn read(page: impl AsRef<Path>) -> String {
    std::fs::read_to_string(&page).unwrap_or_else(|error| panic!("{}: {error}", page.as_ref().display()))
}

//! `histeq-video completions` and `histeq-video man`: what a package installs beside the program.

use crate::options::{completions, man_pages};
use crate::stdout::print;
use anyhow::{Context, Result};
use clap_complete::Shell;
use clap_mangen::Man;
use std::path::Path;

/// Prints the completions for a shell.
pub fn print_completions(shell: Shell) -> Result<()> {
    print(&completions(shell))
}

/// Prints a man page.
pub fn print_page(page: &Man) -> Result<()> {
    let mut text = Vec::new();
    page.render(&mut text)?;
    print(&text)
}

/// Writes all man pages into a folder.
pub fn write_pages(folder: &Path) -> Result<()> {
    man_pages(folder).with_context(|| format!("{}: cannot write man pages there", folder.display()))
}

//! `histeq-video completions` and `histeq-video man`: what a package installs beside the program.

use crate::options::{completions, man_pages};
use crate::stdout::print;
use anyhow::{Context, Result};
use clap_complete::Shell;
use std::path::Path;

/// Prints the script by which a shell asks for completions.
pub fn print_completions(shell: Shell) -> Result<()> {
    print(&completions(shell)?)
}

/// Writes all man pages into a folder.
pub fn write_pages(folder: &Path) -> Result<()> {
    man_pages(folder).with_context(|| format!("{}: cannot write man pages there", folder.display()))
}

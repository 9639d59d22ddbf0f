//! Shell completions and man pages, from the same definitions as `--help`.

use super::command::Args;
use clap::error::ErrorKind;
use clap::{Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;
use std::io::Result;
use std::path::Path;

/// Completions for `shell`.
pub fn completions(shell: Shell) -> Vec<u8> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "histeq-video", &mut text);
    text
}

/// The man page of a subcommand, or of the program.
///
/// # Errors
/// When there is no such subcommand: a usage error for clap to print.
pub fn man_page(subcommand: Option<&str>) -> std::result::Result<Man, clap::Error> {
    let mut command = documented();
    let Some(name) = subcommand else { return Ok(page(command)) };
    match command.find_subcommand(name).cloned() {
        Some(found) => Ok(page(found)),
        None => Err(command.error(ErrorKind::InvalidSubcommand, format!("there is no subcommand {name}"))),
    }
}

/// Writes the man pages of the program and of each subcommand, as `histeq-video.1`, `histeq-video-live.1` and so on.
pub fn man_pages(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder)?;
    let command = documented();
    for subcommand in command.get_subcommands() {
        page(subcommand.clone()).generate_to(folder)?;
    }
    page(command).generate_to(folder).map(drop)
}

/// A page with the version of the program: subcommands have none.
fn page(command: Command) -> Man {
    Man::new(command).source(concat!("histeq-video ", env!("CARGO_PKG_VERSION")))
}

/// The definitions, with full names of the subcommands.
fn documented() -> Command {
    let mut command = Args::command().disable_help_subcommand(true);
    command.build();
    command
}

//! Text on stdout: lists, completions, man pages.

use anyhow::{Context, Result};
use std::io::{ErrorKind, Write};

/// Writes `text` to stdout; a reader that goes away has seen enough.
///
/// # Errors
/// When the system refuses for another reason: a full disk, say.
pub fn print(text: &[u8]) -> Result<()> {
    let mut stdout = std::io::stdout();
    match stdout.write_all(text).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other.context("stdout"),
    }
}

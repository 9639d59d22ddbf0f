//! What a packager wants: completions and the man page, out of the same definitions as `--help`.

use super::Args;
use clap::CommandFactory;
use clap_complete::Shell;
use std::io::Write;

/// Writes completions for `shell`.
pub fn completions(shell: Shell, out: &mut impl Write) {
    clap_complete::generate(shell, &mut Args::command(), "histeq-video", out);
}

/// Writes the man page.
///
/// # Errors
/// When `out` cannot be written.
pub fn man_page(out: &mut impl Write) -> std::io::Result<()> {
    clap_mangen::Man::new(Args::command()).render(out)
}

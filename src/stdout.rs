//! Stdout: whether there is one, and text on it: lists, completions, man pages.
#![allow(unsafe_code, reason = "only before main can be seen whether stdout is open")]

use anyhow::{Context, Result, bail};
use std::io::{ErrorKind, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// Was stdout closed when the program began? Rust puts /dev/null in its place, before `main`.
static CLOSED: AtomicBool = AtomicBool::new(false);

#[cfg(target_os = "linux")]
mod at_start {
    use super::{CLOSED, Ordering};

    extern "C" fn look() {
        // SAFETY: asks for a descriptor's flags, and touches no memory.
        let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) };
        CLOSED.store(flags < 0, Ordering::Relaxed);
    }

    // SAFETY: the section holds pointers to functions that the C library calls once, before `main`. This one needs nothing of
    // Rust's runtime.
    #[used]
    #[unsafe(link_section = ".init_array")]
    static LOOK: extern "C" fn() = look;
}

/// Makes sure that there is a stdout, if the output `name` is to go there.
///
/// # Errors
/// When it is closed.
pub fn check(name: &str) -> Result<()> {
    if name == "-" && CLOSED.load(Ordering::Relaxed) {
        bail!("stdout is closed (let it lead to a file or a program)");
    }
    Ok(())
}

/// Writes `text` to stdout; a reader that goes away has seen enough.
///
/// # Errors
/// When the system refuses for another reason: a full disk, say.
pub fn print(text: &[u8]) -> Result<()> {
    check("-")?;
    let mut stdout = std::io::stdout();
    match stdout.write_all(text).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other.context("stdout"),
    }
}

//! Stdout: whether it is open, text on it (lists, completions, man pages), and the end of the program.
#![allow(unsafe_code, reason = "what can be done only before main, and instead of its return")]

use anyhow::{Context, Result, bail};
use histeq_media::sys::files::Name;
use std::io::{ErrorKind, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether stdout was closed when the program began. Rust opens /dev/null in its place before `main`.
static CLOSED: AtomicBool = AtomicBool::new(false);

mod at_start {
    use super::{CLOSED, Ordering};

    extern "C" fn look() {
        // SAFETY: reads a descriptor's flags, and touches no memory.
        let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) };
        CLOSED.store(flags < 0, Ordering::Relaxed);
    }

    // SAFETY: the section holds pointers to functions that the C library calls once, before `main`. This one does not
    // use Rust's runtime.
    #[used]
    #[unsafe(link_section = ".init_array")]
    static LOOK: extern "C" fn() = look;
}

/// Checks that stdout is open, if `name` is `-`.
pub fn check(name: &Name) -> Result<()> {
    if *name == "-" && CLOSED.load(Ordering::Relaxed) {
        bail!("stdout is closed (let it lead to a file or a program)");
    }
    Ok(())
}

/// Writes `text` to stdout. A closed pipe is no error.
pub fn print(text: &[u8]) -> Result<()> {
    check(&"-".into())?;
    let mut stdout = std::io::stdout();
    match stdout.write_all(text).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result.context("stdout"),
    }
}

/// Ends the program with this exit code, without the exit handlers of libraries. All files must be complete.
pub fn leave(code: u8) -> ! {
    let _ = std::io::stdout().flush();
    // SAFETY: the system ends the process; no more code of it runs.
    unsafe { libc::_exit(code.into()) }
}

//! Limits of the system that keep it from starting threads and processes, and from opening files.

use std::io;

/// Why the system refused it, in parentheses; empty where the error has all.
pub fn limit_of(error: &io::Error) -> &'static str {
    match error.raw_os_error() {
        Some(libc::EAGAIN) => " (`ulimit -u`, `ulimit -v` or a control group limits it)",
        Some(libc::ENOMEM) => " (`ulimit -v` or a control group limits memory)",
        Some(libc::EMFILE) => " (`ulimit -n` limits open files)",
        _ => "",
    }
}

/// The error of a thread that is not started.
pub fn no_thread(error: &io::Error) -> anyhow::Error {
    anyhow::anyhow!("no thread can be started: {error}{}", limit_of(error))
}

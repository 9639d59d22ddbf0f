//! Limits of the system that keep it from starting threads and processes, and from opening files.

use std::io;

/// The limits that may have caused `error`, in parentheses; empty if none is known.
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

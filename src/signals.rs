//! Ctrl-C, SIGTERM and SIGHUP: the first cancels the run, the second ends the program at once. Signals that were ignored when
//! the program began (`nohup`) stay ignored.
#![allow(unsafe_code, reason = "reads and sets signal actions of the C library")]

use anyhow::{Result, anyhow};
use histeq_video::pipeline::Cancel;
use histeq_video::report::Console;
use histeq_video::sink::Leftover;
use std::process::exit;
use std::sync::atomic::{AtomicBool, Ordering};

/// Printed at the first Ctrl-C while a file is written.
pub const FINISHING: &str = "interrupted, finishing the file";

/// The answer to the first signal where nothing is kept of a run that is interrupted.
pub const GIVING_UP: &str = "interrupted";

/// Whether a signal has arrived.
static INTERRUPTION: AtomicBool = AtomicBool::new(false);

/// The exit code of a program that was interrupted.
pub const INTERRUPTED: u8 = 130;

/// Whether a signal has interrupted the program.
pub fn was_interrupted() -> bool {
    INTERRUPTION.load(Ordering::Relaxed)
}

/// The handled signals that were ignored when the program began.
#[cfg(unix)]
fn ignored() -> Vec<libc::c_int> {
    let is_ignored = |&signal: &libc::c_int| {
        // SAFETY: with a null new action, the call only fills in `action`, for which all zeros are valid.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, std::ptr::null(), &mut action) == 0 && action.sa_sigaction == libc::SIG_IGN
        }
    };
    [libc::SIGHUP, libc::SIGINT, libc::SIGTERM].into_iter().filter(is_ignored).collect()
}

/// Installs the handler. The first signal sets `cancel` and prints `answer`; the second one removes the files `temporary` and
/// ends the program.
///
/// # Errors
/// When the system refuses.
pub fn listen(cancel: Cancel, console: Console, temporary: Vec<Leftover>, answer: &'static str) -> Result<()> {
    #[cfg(unix)]
    let ignored = ignored();
    ctrlc::set_handler(move || {
        INTERRUPTION.store(true, Ordering::Relaxed);
        if cancel.is_cancelled() {
            temporary.iter().for_each(Leftover::remove);
            exit(INTERRUPTED.into());
        }
        cancel.cancel();
        console.info(&format!("histeq-video: {answer} (again to give up at once)"));
    })
    .map_err(|error| match error {
        ctrlc::Error::System(error) => anyhow!("cannot listen for Ctrl-C: {error} (`ulimit -u` limits threads)"),
        error => error.into(),
    })?;
    // Ignored, so that writing beyond the limit of a file's size is an error.
    #[cfg(unix)]
    let ignored = ignored.into_iter().chain([libc::SIGXFSZ]);
    #[cfg(unix)]
    for signal in ignored {
        // SAFETY: ignoring a signal runs no code of ours.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
    Ok(())
}

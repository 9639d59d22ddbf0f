//! Ctrl-C, SIGTERM and SIGHUP: the first asks for a clean end, the second gives up at once. Those that were ignored when the
//! program began (`nohup`) stay so.
#![allow(unsafe_code, reason = "which signals are ignored, only the C library tells")]

use anyhow::{Result, anyhow};
use histeq_video::pipeline::Cancel;
use histeq_video::report::Console;
use histeq_video::sink::Leftover;
use std::process::exit;
use std::sync::atomic::{AtomicBool, Ordering};

/// The answer to a first Ctrl-C while a file is written.
pub const FINISHING: &str = "interrupted, finishing the file";

/// Has there been a signal?
static INTERRUPTION: AtomicBool = AtomicBool::new(false);

/// What a shell expects of a program that was interrupted.
pub const INTERRUPTED: u8 = 130;

/// Has somebody interrupted the program?
pub fn was_interrupted() -> bool {
    INTERRUPTION.load(Ordering::Relaxed)
}

/// Those of the signals that are heeded here which the program was started to ignore.
#[cfg(unix)]
fn ignored() -> Vec<libc::c_int> {
    let is_ignored = |&signal: &libc::c_int| {
        // SAFETY: asks for an action and sets none; all zeros are a valid one to be filled in.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, std::ptr::null(), &mut action) == 0 && action.sa_sigaction == libc::SIG_IGN
        }
    };
    [libc::SIGHUP, libc::SIGINT, libc::SIGTERM].into_iter().filter(is_ignored).collect()
}

/// Listens from now on. The first signal is answered with `word`; the files `temporary` are removed when a second one
/// ends the program at once.
///
/// # Errors
/// When the system refuses.
pub fn listen(cancel: Cancel, console: Console, temporary: Vec<Leftover>, word: &'static str) -> Result<()> {
    #[cfg(unix)]
    let ignored = ignored();
    ctrlc::set_handler(move || {
        INTERRUPTION.store(true, Ordering::Relaxed);
        if cancel.is_cancelled() {
            temporary.iter().for_each(Leftover::remove);
            exit(INTERRUPTED.into());
        }
        cancel.cancel();
        console.say(&format!("histeq-video: {word} (again to give up at once)"));
    })
    .map_err(|error| match error {
        ctrlc::Error::System(error) => anyhow!("cannot listen for Ctrl-C: {error} (`ulimit -u` limits threads)"),
        error => error.into(),
    })?;
    // A file that gets too large for its limit is an error like any other.
    #[cfg(unix)]
    let ignored = ignored.into_iter().chain([libc::SIGXFSZ]);
    #[cfg(unix)]
    for signal in ignored {
        // SAFETY: ignoring a signal runs no code of ours.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
    Ok(())
}

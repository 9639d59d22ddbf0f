//! Ctrl-C, SIGTERM, SIGHUP, and other signals that would kill the program: the first cancels the run, the second ends the
//! program at once. Signals that were ignored when the program began (`nohup`) stay ignored.
#![allow(unsafe_code, reason = "reads and sets signal actions of the C library")]

use crate::report::Console;
use anyhow::{Result, anyhow};
use histeq_media::pipeline::Cancel;
use histeq_media::sink::Leftover;
use histeq_media::sys::{limit_of, no_thread};
use std::process::exit;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, sleep};
use std::time::Duration;

/// Printed at the first signal while a file is written.
pub const FINISHING: &str = "interrupted, finishing the file";

/// Printed at the first signal where nothing is kept of an interrupted run.
pub const GIVING_UP: &str = "interrupted";

/// Child process: the parent prints the message.
pub const NOTHING: &str = "";

/// What a signal does.
struct Listener {
    cancel: Cancel,
    console: Console,
    temporary: Vec<Leftover>,
    answer: &'static str,
}

static LISTENER: Mutex<Option<Listener>> = Mutex::new(None);

/// Whether a signal has arrived.
static INTERRUPTION: AtomicBool = AtomicBool::new(false);

/// The exit code of a program that was interrupted.
pub const INTERRUPTED: u8 = 130;

/// Signals that would end the program without a chance to remove files that have names already.
#[cfg(unix)]
const DEADLY: [libc::c_int; 6] =
    [libc::SIGUSR1, libc::SIGUSR2, libc::SIGALRM, libc::SIGVTALRM, libc::SIGPROF, libc::SIGXCPU];

/// Has the handler of SIGTERM called.
#[cfg(unix)]
extern "C" fn terminate(_signal: libc::c_int) {
    // SAFETY: both calls may be made by a handler, and the process is this one.
    unsafe { libc::kill(libc::getpid(), libc::SIGTERM) };
}

/// Whether the run took longer than it may.
static OUT_OF_TIME: AtomicBool = AtomicBool::new(false);

/// How long a run whose time is over may take to finish its output.
const FINISH: Duration = Duration::from_secs(10);

/// Whether the run took longer than it may.
pub fn is_out_of_time() -> bool {
    OUT_OF_TIME.load(Ordering::Relaxed)
}

/// The error of a run whose time was over.
pub fn out_of_time() -> anyhow::Error {
    anyhow!("the run took longer than --max-seconds allows (give it more, or a shorter part of the input)")
}

/// Cancels the run after `time`. If it does not end soon, the files `temporary` are removed and the program ends.
pub fn end_after(time: Duration, cancel: Cancel, console: Console, temporary: Vec<Leftover>) -> Result<()> {
    let wait = move || {
        sleep(time);
        OUT_OF_TIME.store(true, Ordering::Relaxed);
        cancel.cancel();
        sleep(FINISH);
        temporary.iter().for_each(Leftover::remove);
        console.error(&out_of_time());
        console.end(1);
        exit(1);
    };
    start("time limit", wait)
}

/// In a child process: cancels the run when the parent closes the pipe on stdin, as it does when it ends. If the run does not
/// end soon, the files `temporary` are removed and the program ends.
pub fn end_with_parent(cancel: Cancel, console: Console, temporary: Vec<Leftover>) -> Result<()> {
    let wait = move || {
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        cancel.cancel();
        sleep(FINISH);
        temporary.iter().for_each(Leftover::remove);
        console.end(INTERRUPTED);
        exit(INTERRUPTED.into());
    };
    start("parent", wait)
}

/// In a child process, before anything else: has the system terminate it when its parent ends, however that ends. Until
/// [`end_with_parent`] nothing waits for the parent.
#[cfg(target_os = "linux")]
pub fn terminate_with_parent() {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::process::{Signal, set_parent_process_death_signal};
    // Where the system has no such signal, the closed pipe is all that tells.
    let _ = set_parent_process_death_signal(Some(Signal::TERM));
    let stdin = std::io::stdin();
    let mut ends = [PollFd::new(&stdin, PollFlags::empty())];
    // The parent has ended before that, and closed the pipe.
    if poll(&mut ends, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok() && ends[0].revents().contains(PollFlags::HUP)
    {
        exit(INTERRUPTED.into());
    }
}

/// Other systems have no such signal: the closed pipe is all that tells.
#[cfg(not(target_os = "linux"))]
pub fn terminate_with_parent() {}

fn start(name: &str, wait: impl FnOnce() + Send + 'static) -> Result<()> {
    Builder::new().name(name.to_owned()).spawn(wait).map(drop).map_err(|error| no_thread(&error))
}

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
    [libc::SIGHUP, libc::SIGINT, libc::SIGTERM].into_iter().chain(DEADLY).filter(is_ignored).collect()
}

/// Installs the handler. The first signal sets `cancel` and prints `answer`; the second one removes the files `temporary` and
/// ends the program. In a later call, all of these take the places of those before.
pub fn listen(cancel: Cancel, console: Console, temporary: Vec<Leftover>, answer: &'static str) -> Result<()> {
    let listener = Listener { cancel: cancel.clone(), console, temporary, answer };
    if LISTENER.lock().unwrap_or_else(PoisonError::into_inner).replace(listener).is_some() {
        if was_interrupted() {
            cancel.cancel();
        }
        return Ok(());
    }
    #[cfg(unix)]
    let ignored = ignored();
    #[cfg(unix)]
    for signal in DEADLY.into_iter().filter(|signal| !ignored.contains(signal)) {
        // SAFETY: the handler only sends a signal, which a handler may.
        unsafe { libc::signal(signal, terminate as *const () as libc::sighandler_t) };
    }
    ctrlc::set_handler(move || {
        let listener = LISTENER.lock().unwrap_or_else(PoisonError::into_inner);
        INTERRUPTION.store(true, Ordering::Relaxed);
        let Some(Listener { cancel, console, temporary, answer }) = &*listener else { return };
        if cancel.is_cancelled() {
            temporary.iter().for_each(Leftover::remove);
            console.end(INTERRUPTED);
            exit(INTERRUPTED.into());
        }
        cancel.cancel();
        if *answer != NOTHING {
            console.note(&format!("{answer} (again to give up at once)"));
        }
    })
    .map_err(|error| match error {
        ctrlc::Error::System(error) => anyhow!("cannot listen for Ctrl-C: {error}{}", limit_of(&error)),
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

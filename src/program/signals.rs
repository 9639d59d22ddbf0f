//! Ctrl-C, SIGTERM, SIGHUP, and other signals that would kill the program: the first cancels the run, the second ends
//! the program at once. Signals that were ignored when the program began (`nohup`) stay ignored.
#![allow(unsafe_code, reason = "reads and sets signal actions of the C library")]

use crate::report::Console;
use anyhow::{Result, anyhow};
use histeq_media::ffmpeg::demux::is_opening;
use histeq_media::pipeline::{Cancel, FailureKind};
use histeq_media::sink::files::Leftover;
use histeq_media::sys::{give_up_with, limit_of, no_thread};
use std::process::exit;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread::{Builder, sleep};
use std::time::{Duration, Instant};

/// Printed at the first signal while a file is written.
pub const FINISHING: &str = "interrupted, finishing the file within seconds";

/// Printed at the first signal if an interrupted run leaves no output.
pub const GIVING_UP: &str = "interrupted";

/// For a child process, which prints nothing: its parent prints the message.
pub const NOTHING: &str = "";

/// The run that a signal cancels, and what the signal prints and removes.
struct SignalListener {
    cancel: Cancel,
    console: Console,
    temporary: Vec<Leftover>,
    answer: &'static str,
}

static LISTENER: Mutex<Option<SignalListener>> = Mutex::new(None);

type Cleanup = Box<dyn FnOnce() + Send>;

/// What has to be done when the program ends at once.
static CLEANUPS: Mutex<Vec<Cleanup>> = Mutex::new(Vec::new());

/// Has `cleanup` run if a second signal, or the end of its time, ends the program at once.
pub fn clean_up_by(cleanup: impl FnOnce() + Send + 'static) {
    CLEANUPS.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(cleanup));
}

/// Whether a signal has arrived.
static INTERRUPTION: AtomicBool = AtomicBool::new(false);

/// The exit code of a program that was interrupted.
pub const INTERRUPTED: u8 = 130;

/// Signals that by default would end the program before it can remove its temporary files.
const DEADLY: [libc::c_int; 6] =
    [libc::SIGUSR1, libc::SIGUSR2, libc::SIGALRM, libc::SIGVTALRM, libc::SIGPROF, libc::SIGXCPU];

/// Raises SIGTERM, so that its handler runs.
extern "C" fn terminate(_signal: libc::c_int) {
    // SAFETY: both calls may be made by a handler, and the process is this one.
    unsafe { libc::kill(libc::getpid(), libc::SIGTERM) };
}

/// Whether the run took longer than `--max-seconds` allows.
static OUT_OF_TIME: AtomicBool = AtomicBool::new(false);

/// How long a run whose time is over may take to finish its output.
const FINISH: Duration = Duration::from_secs(10);

/// How long the answer to a signal may take to be printed before the next signal is listened for.
const PRINTING: Duration = Duration::from_secs(1);

/// A second signal so soon after the first was answered is the same: `timeout` and other programs that pass a signal on
/// send it to the program and to its process group.
const SAME: Duration = Duration::from_millis(200);

/// How long a last message may take to be printed.
const LAST: Duration = Duration::from_secs(1);

/// Whether the run took longer than `--max-seconds` allows.
pub fn is_out_of_time() -> bool {
    OUT_OF_TIME.load(Ordering::Relaxed)
}

/// The error of a run that took too long.
const TOO_LONG: &str = "the run took longer than --max-seconds allows (give it more, or a shorter part of the input)";

/// The error of a run whose time was over.
pub fn out_of_time() -> anyhow::Error {
    FailureKind::Limit.error(TOO_LONG)
}

/// The time at which the run has to be over.
static DEADLINE: OnceLock<Instant> = OnceLock::new();

/// Ends the run after `time`, unless an earlier call has set a limit. Before [`listen`], an alarm ends the program with
/// the error: no thread may be started yet, nothing has been written, and the program may be waiting for a FIFO or a
/// disk.
pub fn limit_time(time: Duration) {
    if DEADLINE.set(Instant::now() + time).is_ok() {
        set_alarm(time);
    }
}

/// The action of SIGALRM before the alarm was set.
static BEFORE_ALARM: Mutex<Option<libc::sighandler_t>> = Mutex::new(None);

/// Handles SIGALRM: ends the program.
extern "C" fn give_up_in_time(_signal: libc::c_int) {
    give_up_with(TOO_LONG, "limit", FailureKind::Limit.exit_code().into())
}

fn set_alarm(time: Duration) {
    let mut before = BEFORE_ALARM.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: the handler makes only calls that a handler may make, and ends the process.
    *before = Some(unsafe { libc::signal(libc::SIGALRM, give_up_in_time as *const () as libc::sighandler_t) });
    set_timer(time);
}

/// Stops the alarm: from now on, a thread ends the run in time. To be called before a sandbox is closed, which forbids
/// to stop the alarm.
pub fn stop_alarm() {
    let Some(before) = BEFORE_ALARM.lock().unwrap_or_else(PoisonError::into_inner).take() else { return };
    set_timer(Duration::ZERO);
    // SAFETY: this action has been in place before.
    unsafe { libc::signal(libc::SIGALRM, before) };
}

/// Schedules SIGALRM after this time; cancels it if the time is zero.
fn set_timer(time: Duration) {
    let never = libc::timeval { tv_sec: 0, tv_usec: 0 };
    let first = libc::timeval { tv_sec: time.as_secs() as _, tv_usec: time.subsec_micros() as _ };
    let timer = libc::itimerval { it_interval: never, it_value: first };
    // SAFETY: the call reads `timer`; with a null pointer, it does not return the previous timer.
    unsafe { libc::setitimer(libc::ITIMER_REAL, &timer, std::ptr::null_mut()) };
}

/// Cancels the run that the handler of signals is set up for.
fn cancel_run() {
    LISTENER.lock().unwrap_or_else(PoisonError::into_inner).iter().for_each(|listener| listener.cancel.cancel());
}

/// Whether SIGHUP has arrived since the last call of [`hung_up`].
static HANGUP: AtomicBool = AtomicBool::new(false);

/// From now on, SIGHUP ends nothing: [`hung_up`] reports its arrival. To be called after [`listen`].
pub fn keep_hangups() {
    extern "C" fn note(_signal: libc::c_int) {
        HANGUP.store(true, Ordering::Relaxed);
    }
    // SAFETY: the handler stores a flag, which a handler may.
    unsafe { libc::signal(libc::SIGHUP, note as *const () as libc::sighandler_t) };
}

/// Whether SIGHUP has arrived since the last call.
pub fn hung_up() -> bool {
    HANGUP.swap(false, Ordering::Relaxed)
}

/// Removes temporary files, and ends the program with this code and, if there is one, this error.
fn end_run(code: u8, error: Option<&anyhow::Error>) -> ! {
    if let Some(listener) = &*LISTENER.lock().unwrap_or_else(PoisonError::into_inner) {
        listener.end(code, error);
    }
    exit(code.into())
}

impl SignalListener {
    fn end(&self, code: u8, error: Option<&anyhow::Error>) -> ! {
        self.temporary.iter().for_each(Leftover::remove);
        // A disk may hang, and printing may wait for a reader of stderr that does not read: this thread ends the program
        // in any case.
        let _ = start("last", move || {
            sleep(LAST);
            // SAFETY: ends the process at once; no code of it runs afterwards.
            unsafe { libc::_exit(code.into()) }
        });
        std::mem::take(&mut *CLEANUPS.lock().unwrap_or_else(PoisonError::into_inner)).into_iter().for_each(|run| run());
        error.into_iter().for_each(|error| self.console.error(error));
        self.console.end(code);
        exit(code.into())
    }
}

/// Cancels the run when its time is over. If it does not end soon, temporary files are removed and the program ends.
fn end_in_time(deadline: Instant) -> Result<()> {
    let wait = move || {
        sleep(deadline.saturating_duration_since(Instant::now()));
        OUT_OF_TIME.store(true, Ordering::Relaxed);
        cancel_run();
        sleep(FINISH);
        end_run(FailureKind::Limit.exit_code(), Some(&out_of_time()))
    };
    start("time limit", wait)
}

/// In a child process that listens for signals: cancels the run when the parent closes the pipe on stdin, as it does
/// when it ends. If the run does not end soon, temporary files are removed and the program ends.
pub fn end_with_parent() -> Result<()> {
    let wait = move || {
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        cancel_run();
        sleep(FINISH);
        end_run(INTERRUPTED, None)
    };
    start("parent", wait)
}

/// In a child process, before anything else: has the system terminate it when its parent ends, however that ends.
/// Before [`end_with_parent`], no thread waits for the parent.
pub fn terminate_with_parent() {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::process::{Signal, set_parent_process_death_signal};
    // Ignore errors: without this signal, the closed pipe of stdin ends the child.
    let _ = set_parent_process_death_signal(Some(Signal::TERM));
    let stdin = std::io::stdin();
    let mut ends = [PollFd::new(&stdin, PollFlags::empty())];
    // If the parent had ended before that call, its end of the pipe is closed.
    if poll(&mut ends, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok() && ends[0].revents().contains(PollFlags::HUP)
    {
        exit(INTERRUPTED.into());
    }
}

fn start(name: &str, wait: impl FnOnce() + Send + 'static) -> Result<()> {
    Builder::new().name(name.to_owned()).spawn(wait).map(drop).map_err(|error| no_thread(&error))
}

/// Whether a signal has interrupted the program.
pub fn was_interrupted() -> bool {
    INTERRUPTION.load(Ordering::Relaxed)
}

/// The handled signals that were ignored when the program began.
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

/// Installs the handler. The first signal sets `cancel` and prints `answer`; the second one removes the files
/// `temporary` and ends the program. When the time of the run is over, `cancel` is set, too. A later call replaces all
/// of these.
pub fn listen(cancel: Cancel, console: Console, temporary: Vec<Leftover>, answer: &'static str) -> Result<()> {
    let listener = SignalListener { cancel: cancel.clone(), console, temporary, answer };
    if LISTENER.lock().unwrap_or_else(PoisonError::into_inner).replace(listener).is_some() {
        if was_interrupted() || is_out_of_time() {
            cancel.cancel();
        }
        return Ok(());
    }
    stop_alarm();
    let ignored = ignored();
    for signal in DEADLY.into_iter().filter(|signal| !ignored.contains(signal)) {
        // SAFETY: the handler only sends a signal, which a handler may.
        unsafe { libc::signal(signal, terminate as *const () as libc::sighandler_t) };
    }
    let mut answered = None;
    ctrlc::set_handler(move || {
        let listener = LISTENER.lock().unwrap_or_else(PoisonError::into_inner);
        INTERRUPTION.store(true, Ordering::Relaxed);
        let Some(listener @ SignalListener { cancel, console, answer, .. }) = &*listener else { return };
        if cancel.is_cancelled() {
            if answered.is_some_and(|answered: Instant| answered.elapsed() < SAME) {
                return;
            }
            listener.end(INTERRUPTED, None);
        }
        cancel.cancel();
        if *answer != NOTHING {
            // Printing waits where stderr is a full pipe that nobody reads. The next signal has to be noticed even then.
            let (console, note) = (console.clone(), format!("{answer} (again to give up at once)"));
            let (said, is_said) = channel();
            let printing = start("note", move || {
                console.note(&note);
                let _ = said.send(());
            });
            let _ = printing.map(|_| is_said.recv_timeout(PRINTING));
        }
        answered = Some(Instant::now());
        // FFmpeg may take minutes to open a file without checking `cancel`. If this thread cannot be started, a second
        // signal is needed.
        let _ = start("end", || {
            sleep(FINISH);
            if is_opening() {
                end_run(INTERRUPTED, None);
            }
        });
    })
    .map_err(|error| match error {
        ctrlc::Error::System(error) => anyhow!("cannot listen for Ctrl-C: {error}{}", limit_of(&error)),
        error => error.into(),
    })?;
    // SIGXFSZ is ignored, so that writing beyond the limit of a file's size is an error.
    let ignored = ignored.into_iter().chain([libc::SIGXFSZ]);
    for signal in ignored {
        // SAFETY: ignoring a signal runs no code of ours.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
    DEADLINE.get().map_or(Ok(()), |deadline| end_in_time(*deadline))
}

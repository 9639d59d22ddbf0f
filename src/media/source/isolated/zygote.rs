//! The template of decoding processes. The program forks it before its first thread; the template waits, and forks a process for
//! each input: a process that begins so costs less than a program that is started, and has nothing of the run in its memory.
//!
//! ```text
//! program ── template ── supervisor of an input ── decoding process
//! ```
//! The supervisor puts the decoding process into name spaces of its own, where the kernel lets it; tells the program how it
//! ended; and ends it when the program lets go of it, or is gone.
#![allow(unsafe_code, reason = "forks, and ends processes without a return")]

use super::channel::Channel;
use super::child;
use crate::ffmpeg;
use crate::sys::close_but;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, WaitStatus, kill_process, pidfd_open, setsid, wait, waitpid,
};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};
use rustix::thread::{UnshareFlags, unshare_unsafe};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// The template of this program, once it is there.
static TEMPLATE: OnceLock<Template> = OnceLock::new();

/// How long the end of a process is waited for once its connection is gone.
const ENDING: Duration = Duration::from_secs(5);

struct Template {
    process: Pid,
    /// `None` once the program is about to end.
    channel: Mutex<Option<Channel>>,
}

/// What the template is asked for: a process, whose ends of three connections come along.
#[derive(Deserialize, Serialize)]
struct Wanted {
    uses_network: bool,
}

/// What a supervisor says of its process.
#[derive(Deserialize, Serialize)]
enum Fate {
    /// Its number.
    Began(i32),
    Ended(HowEnded),
}

/// How a process ended.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub enum HowEnded {
    /// By itself, with this code.
    Exited(i32),
    /// By this signal.
    Killed(i32),
    /// The supervisor does not know, or is gone.
    Unknown,
}

/// A decoding process, which ends when this is dropped.
pub struct Process {
    /// The way to it.
    pub channel: Channel,
    watch: Channel,
    /// What it writes on stderr.
    pub stderr: Option<File>,
    number: Option<Pid>,
}

/// Forks the template, unless there is one. Call it before the first thread is started: afterwards it does nothing.
pub fn start() {
    let has_threads = !matches!(std::fs::read_dir("/proc/self/task").map(Iterator::count), Ok(1));
    if has_threads || TEMPLATE.get().is_some() {
        return;
    }
    let Ok((ours, theirs)) = Channel::pair() else { return };
    match fork() {
        Ok(Some(process)) => {
            let _ = TEMPLATE.set(Template { process, channel: Mutex::new(Some(ours)) });
        }
        Ok(None) => {
            drop(ours);
            serve(theirs)
        }
        // There is none then, and what asks for one says so.
        Err(_) => {}
    }
}

/// Is there a template?
pub fn is_ready() -> bool {
    TEMPLATE.get().is_some()
}

/// Ends the template, whose time of the processor counts as that of this process from then on. Call it at the end of the program.
pub fn end() {
    let Some(template) = TEMPLATE.get() else { return };
    if template.channel.lock().unwrap_or_else(PoisonError::into_inner).take().is_some() {
        let _ = waitpid(Some(template.process), WaitOptions::empty());
    }
}

/// Has the template fork a decoding process.
///
/// # Errors
/// When there is no template, or the system has no room for another process.
pub fn spawn(uses_network: bool) -> io::Result<Process> {
    let gone = || io::Error::from(ErrorKind::NotConnected);
    let template = TEMPLATE.get().ok_or_else(gone)?;
    let ((channel, its_channel), (watch, its_watch)) = (Channel::pair()?, Channel::pair()?);
    let (stderr, its_stderr) = pipe_with(PipeFlags::CLOEXEC)?;
    let of_template = template.channel.lock().unwrap_or_else(PoisonError::into_inner);
    let descriptors = [its_channel.as_fd(), its_watch.as_fd(), its_stderr.as_fd()];
    of_template.as_ref().ok_or_else(gone)?.send(&Wanted { uses_network }, &descriptors)?;
    drop(of_template);
    Ok(Process { channel, watch, stderr: Some(stderr.into()), number: None })
}

impl Process {
    /// The time that it has spent on processors; `None` while it is not known.
    pub fn busy(&mut self) -> Option<Duration> {
        if self.number.is_none() && self.watch.wait(Duration::ZERO).ok()? {
            let (Fate::Began(number), _) = self.watch.receive().ok()? else { return None };
            self.number = Pid::from_raw(number);
        }
        // As clock_getcpuclockid(3) makes it: the clock of a whole process.
        let clock = (!self.number?.as_raw_nonzero().get() << 3) | 2;
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: writes a time to a place that has room for one.
        let read = unsafe { libc::clock_gettime(clock, &mut time) };
        (read == 0).then(|| Duration::new(time.tv_sec.max(0) as u64, time.tv_nsec.clamp(0, 999_999_999) as u32))
    }

    /// How it ended, which is waited for a little while.
    pub fn how_ended(&mut self) -> HowEnded {
        while self.watch.wait(ENDING).unwrap_or(false) {
            match self.watch.receive() {
                Ok((Fate::Began(_), _)) => {}
                Ok((Fate::Ended(how), _)) => return how,
                Err(_) => break,
            }
        }
        HowEnded::Unknown
    }
}

/// Forks; `None` in the new process.
fn fork() -> io::Result<Option<Pid>> {
    // SAFETY: this process has one thread (`start` has looked, and the template and its supervisors start none), so that all locks of
    // the C library are free in the new process.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        process => Ok(Pid::from_raw(process)),
    }
}

/// Ends this process at once: what the program would do at its end is not for its children.
fn leave(code: i32) -> ! {
    // SAFETY: no code of this process runs afterwards.
    unsafe { libc::_exit(code) }
}

/// The template: forks what is asked for until the program is gone.
fn serve(channel: Channel) -> ! {
    // Ctrl-C is for the program, which then ends its processes.
    let _ = setsid();
    close_but(vec![channel.as_fd().as_raw_fd()]);
    // What all of them would do for themselves.
    ffmpeg::init();
    while let Ok((Wanted { uses_network }, descriptors)) = channel.receive::<Wanted>() {
        let Ok([its_channel, watch, stderr]) = <[OwnedFd; 3]>::try_from(descriptors) else { break };
        // Where there is no room for another process, the program finds its connection closed.
        if let Ok(None) = fork() {
            drop(channel);
            supervise(Channel::of(its_channel), Channel::of(watch), stderr, uses_network);
        }
        while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
    }
    // So that their time is counted.
    while wait(WaitOptions::empty()).is_ok() {}
    leave(0)
}

/// The supervisor: forks the decoding process, and tells of its end.
fn supervise(channel: Channel, watch: Channel, stderr: OwnedFd, uses_network: bool) -> ! {
    let mut spaces = UnshareFlags::NEWUSER | UnshareFlags::NEWPID | UnshareFlags::NEWIPC;
    if !uses_network {
        spaces |= UnshareFlags::NEWNET;
    }
    // SAFETY: this process has one thread, and no descriptors of another one.
    let _ = unsafe { unshare_unsafe(spaces) };
    let process = match fork() {
        Ok(Some(process)) => process,
        Ok(None) => {
            drop(watch);
            begin(channel, stderr)
        }
        Err(_) => leave(1),
    };
    drop((channel, stderr));
    let _ = watch.send(&Fate::Began(process.as_raw_nonzero().get()), &[]);
    let how = match until_end(process, &watch) {
        Some(status) => match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => HowEnded::Exited(code),
            (None, Some(signal)) => HowEnded::Killed(signal),
            (None, None) => HowEnded::Unknown,
        },
        None => HowEnded::Unknown,
    };
    let _ = watch.send(&Fate::Ended(how), &[]);
    leave(0)
}

/// Waits for the end of `process`, which it ends when the other end of `watch` is gone.
fn until_end(process: Pid, watch: &Channel) -> Option<WaitStatus> {
    if let Ok(ending) = pidfd_open(process, PidfdFlags::empty()) {
        loop {
            let mut polled = [PollFd::new(&ending, PollFlags::IN), PollFd::new(watch, PollFlags::IN)];
            match poll(&mut polled, None) {
                Err(rustix::io::Errno::INTR) => continue,
                Ok(_) if polled[1].revents().is_empty() => {}
                _ => drop(kill_process(process, Signal::KILL)),
            }
            break;
        }
    }
    // On kernels before 5.3, the process ends by itself when its connection is gone.
    waitpid(Some(process), WaitOptions::empty()).ok()?.map(|(_, status)| status)
}

/// The decoding process.
fn begin(channel: Channel, stderr: OwnedFd) -> ! {
    let set_up = || -> io::Result<()> {
        let nothing = OpenOptions::new().read(true).write(true).open("/dev/null")?;
        dup2_stdin(&nothing)?;
        dup2_stdout(&nothing)?;
        dup2_stderr(&stderr)?;
        drop((nothing, stderr));
        close_but(vec![channel.as_fd().as_raw_fd()]);
        Ok(())
    };
    if set_up().is_err() {
        leave(1);
    }
    let ran = child::run(channel, || leave(0));
    leave(if ran.is_ok() { 0 } else { 1 })
}

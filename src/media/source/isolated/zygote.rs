//! The template of decoding processes. The program forks it before its first thread; the template waits, and forks a
//! process for each input: such a process costs less than a new program, and has no data of the run in its memory.
//!
//! ```text
//! program ── template ── supervisor of an input ── decoding process
//! ```
//! The supervisor puts the decoding process into name spaces of its own, where the kernel allows it; reports to the
//! program how it ended; and ends it when the program drops it or is gone.
#![allow(unsafe_code, reason = "forks, and ends processes without a return")]

use super::channel::{Channel, SHORT};
use super::child;
use super::messages::ProcessLimits;
use crate::ffmpeg;
use crate::sandbox::close_around_template;
use crate::sys::end_is_explained;
use crate::sys::io::close_but;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, WaitStatus, kill_process, pidfd_open, set_parent_process_death_signal,
    setsid, wait, waitpid,
};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};
use rustix::system::uname;
use rustix::thread::{UnshareFlags, set_name, unshare_unsafe};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// The template of this program, once it is there.
static TEMPLATE: OnceLock<Template> = OnceLock::new();

/// How long to wait for the end of a process once its connection is closed.
const ENDING: Duration = Duration::from_secs(5);

/// How long processes may take to end at the end of the program.
const LEAVING: Duration = Duration::from_millis(500);

/// How long the template may take to answer, or to end.
const ANSWERING: Duration = Duration::from_secs(30);

struct Template {
    process: Pid,
    /// A pidfd of the template, readable once it has ended; `None` where the kernel has no pidfds.
    ended: Option<OwnedFd>,
    /// `None` once the program is about to end.
    channel: Mutex<Option<Channel>>,
}

/// A request to the template.
#[derive(Deserialize, Serialize)]
enum TemplateRequest {
    Process,
    ProcessWithNetwork,
    /// Limits processes to this from now on. There is no answer.
    Limits(Allowed),
}

/// What processes of the template may do. An attacker who takes over the program later cannot extend it.
#[derive(Clone, Deserialize, Serialize)]
pub struct Allowed {
    /// Whether processes may use the network.
    pub network: bool,
    /// The most processes at a time.
    pub processes: usize,
    /// The limits of each process.
    pub limits: ProcessLimits,
    /// Whether each process needs the kernel's sandbox to decode.
    pub needs_walls: bool,
}

/// The answer of the template: an error number, or `None` and the program's ends of three sockets and a pipe, which the
/// sandboxed program cannot create itself.
type Made = Option<i32>;

/// The limits of a decoding process that messages cannot extend.
pub struct Confines<'a> {
    /// Whether it has a user name space of its own.
    pub has_own_users: bool,
    pub uses_network: bool,
    pub allowed: Option<&'a Allowed>,
}

/// A report of a supervisor about its process.
#[derive(Deserialize, Serialize)]
enum Fate {
    /// The ID of the process.
    Began(i32),
    Ended(HowEnded),
}

/// How a process ended.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub enum HowEnded {
    /// It exited with this code.
    Exited(i32),
    /// This signal killed it.
    Killed(i32),
    /// The supervisor does not know, or is gone.
    Unknown,
}

/// A decoding process, which ends when this is dropped.
pub struct Process {
    /// The connection for orders and events.
    pub channel: Arc<Channel>,
    /// The connection for requests for images and memory.
    pub requests: Option<Channel>,
    watch: Channel,
    /// The pipe from its stderr.
    pub stderr: Option<File>,
    number: Option<Pid>,
    /// How many messages it has sent since its last frame or packet.
    pub messages: u32,
    /// When the end of the run was first noticed, and whether the process was told.
    pub cancelled: Option<Instant>,
    pub is_told: bool,
}

/// Forks the template, unless there is one. To be called before the first thread is started: afterwards it has no
/// effect.
pub fn start() {
    if !ffmpeg::is_only_thread() || TEMPLATE.get().is_some() {
        return;
    }
    let Ok((ours, theirs)) = Channel::pair() else { return };
    match fork() {
        Ok(Some(process)) => {
            let ended = pidfd_open(process, PidfdFlags::empty()).ok();
            let _ = TEMPLATE.set(Template { process, ended, channel: Mutex::new(Some(ours)) });
        }
        Ok(None) => {
            drop(ours);
            serve(theirs)
        }
        // Without a template, `spawn` fails with an error.
        Err(_) => {}
    }
}

/// Whether there is a template.
pub fn is_ready() -> bool {
    TEMPLATE.get().is_some()
}

/// Ends the template and its processes.
pub fn end() {
    let Some(template) = TEMPLATE.get() else { return };
    if template.channel.lock().unwrap_or_else(PoisonError::into_inner).take().is_some() {
        let most = Timespec { tv_sec: ANSWERING.as_secs() as i64, tv_nsec: 0 };
        // The wait has a limit, because a stopped template (SIGSTOP) ends only when it is continued.
        let ended = template.ended.as_ref().map(|ended| poll(&mut [PollFd::new(ended, PollFlags::IN)], Some(&most)));
        let options = if ended.is_some() { WaitOptions::NOHANG } else { WaitOptions::empty() };
        let _ = waitpid(Some(template.process), options);
    }
}

/// Tells the template, once and for all, what its processes may do. To be called before the program reads untrusted
/// data.
///
/// # Errors
/// When the template is gone.
pub fn allow(allowed: Allowed) -> io::Result<()> {
    let Some(template) = TEMPLATE.get() else { return Ok(()) };
    let channel = template.channel.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(channel) = channel.as_ref() else { return Ok(()) };
    channel.send_waiting(&TemplateRequest::Limits(allowed), &[], soon(channel, PollFlags::OUT))
}

/// Waits for the template up to `ANSWERING`: it answers at once, unless it was stopped (SIGSTOP).
fn soon(channel: &Channel, what: PollFlags) -> impl FnMut() -> io::Result<()> {
    let begin = Instant::now();
    move || {
        let is_ready = channel.ready(what, Some(ANSWERING.saturating_sub(begin.elapsed())))?;
        if is_ready || begin.elapsed() < ANSWERING { Ok(()) } else { Err(ErrorKind::TimedOut.into()) }
    }
}

/// Makes the template fork a decoding process.
///
/// # Errors
/// When there is no template, or the system has no room for another process.
pub fn spawn(uses_network: bool) -> io::Result<Process> {
    let gone = || io::Error::from(ErrorKind::NotConnected);
    let template = TEMPLATE.get().ok_or_else(gone)?;
    let mut held = template.channel.lock().unwrap_or_else(PoisonError::into_inner);
    let of_template = held.as_ref().ok_or_else(gone)?;
    let wanted = if uses_network { TemplateRequest::ProcessWithNetwork } else { TemplateRequest::Process };
    let answer = of_template
        .send_waiting(&wanted, &[], soon(of_template, PollFlags::OUT))
        .and_then(|()| of_template.receive_waiting::<Made, _>(SHORT, soon(of_template, PollFlags::IN)));
    // After an error, close the connection: a late answer would pass for the answer to the next request.
    let (error, descriptors) = answer.inspect_err(|_| *held = None)?;
    match (error, <[OwnedFd; 4]>::try_from(descriptors)) {
        (None, Ok([channel, requests, watch, stderr])) => {
            let [channel, requests, watch] = [channel, requests, watch].map(Channel::new);
            Ok(Process {
                channel: Arc::new(channel),
                requests: Some(requests),
                watch,
                stderr: Some(stderr.into()),
                number: None,
                messages: 0,
                cancelled: None,
                is_told: false,
            })
        }
        (error, _) => Err(error.map_or_else(gone, io::Error::from_raw_os_error)),
    }
}

impl Process {
    /// A process at the other end of these connections.
    #[cfg(test)]
    pub fn new(channel: Channel, watch: Channel) -> Self {
        Process {
            channel: Arc::new(channel),
            requests: None,
            watch,
            stderr: None,
            number: None,
            messages: 0,
            cancelled: None,
            is_told: false,
        }
    }

    /// The CPU time of the process; `None` while it is not known.
    pub fn busy(&mut self) -> Option<Duration> {
        if self.number.is_none() && self.watch.wait(Duration::ZERO).ok()? {
            let (Fate::Began(number), _) = self.watch.receive().ok()? else { return None };
            self.number = Pid::from_raw(number);
        }
        // The clock of a whole process, computed as by clock_getcpuclockid(3).
        let clock = (!self.number?.as_raw_nonzero().get() << 3) | 2;
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: writes a time to a place that has room for one.
        let read = unsafe { libc::clock_gettime(clock, &mut time) };
        (read == 0).then(|| Duration::new(time.tv_sec.max(0) as u64, time.tv_nsec.clamp(0, 999_999_999) as u32))
    }

    /// How the process ended. Waits for its end for up to `ENDING`.
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
    // SAFETY: this process has one thread (`start` has looked, and the template and its supervisors start none), so
    // that all locks of the C library are free in the new process.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        process => Ok(Pid::from_raw(process)),
    }
}

/// Ends this process at once, without the program's exit handlers.
fn leave(code: i32) -> ! {
    // SAFETY: no code of this process runs afterwards.
    unsafe { libc::_exit(code) }
}

/// Redirects stdin, stdout and stderr to /dev/null.
fn quiet() -> io::Result<()> {
    let nothing = OpenOptions::new().read(true).write(true).open("/dev/null")?;
    dup2_stdin(&nothing)?;
    dup2_stdout(&nothing)?;
    dup2_stderr(&nothing)?;
    Ok(())
}

/// The template: forks requested processes until the program is gone.
fn serve(channel: Channel) -> ! {
    let _ = set_name(c"template");
    // Suppress the message of `give_up`: the program reports why a process has ended.
    end_is_explained();
    // A session of its own, because Ctrl-C must reach only the program, which then ends its processes.
    let _ = setsid();
    if quiet().is_err() {
        leave(1);
    }
    close_but(vec![channel.as_fd().as_raw_fd()]);
    // Initialize once here, because each forked process would have to do it otherwise.
    ffmpeg::init();
    let (mut supervisors, mut allowed) = (Vec::new(), None::<Allowed>);
    while let Ok((wanted, _)) = channel.receive::<TemplateRequest>() {
        let made = match wanted {
            TemplateRequest::Limits(_) if allowed.is_some() => continue,
            TemplateRequest::Limits(told) => {
                if close_around_template(told.network, told.needs_walls).is_err() {
                    break;
                }
                allowed = Some(told);
                continue;
            }
            TemplateRequest::Process => make(false, &mut supervisors, allowed.as_ref()),
            TemplateRequest::ProcessWithNetwork => make(true, &mut supervisors, allowed.as_ref()),
        };
        let error: Made = made.as_ref().err().map(|error| error.raw_os_error().unwrap_or(libc::EIO));
        let descriptors = made.unwrap_or_default();
        let descriptors: Vec<_> = descriptors.iter().map(AsFd::as_fd).collect();
        if channel.send(&error, &descriptors).is_err() {
            break;
        }
        reap(&mut supervisors);
    }
    // The CPU time of processes that were waited for counts as that of the program. A supervisor that does not end in
    // time is killed.
    let begin = Instant::now();
    while let Ok(ended) = wait(WaitOptions::NOHANG) {
        match ended {
            Some((ended, _)) => supervisors.retain(|supervisor| *supervisor != ended),
            None if begin.elapsed() < LEAVING => std::thread::sleep(Duration::from_millis(1)),
            None => {
                for supervisor in supervisors {
                    let _ = kill_process(supervisor, Signal::KILL);
                }
                break;
            }
        }
    }
    leave(0)
}

/// Removes supervisors that have ended from the list.
fn reap(supervisors: &mut Vec<Pid>) {
    while let Ok(Some((ended, _))) = wait(WaitOptions::NOHANG) {
        supervisors.retain(|supervisor| *supervisor != ended);
    }
}

/// Forks a supervisor with its decoding process, if that is `allowed`. Returns the program's ends of their connections.
fn make(uses_network: bool, supervisors: &mut Vec<Pid>, allowed: Option<&Allowed>) -> io::Result<Vec<OwnedFd>> {
    if let Some(allowed) = allowed {
        if uses_network && !allowed.network {
            return Err(io::Error::from_raw_os_error(libc::EPERM));
        }
        // Wait for room: a process that the program has just dropped is about to end.
        let begin = Instant::now();
        while supervisors.len() >= allowed.processes {
            if begin.elapsed() > ENDING {
                return Err(io::Error::from_raw_os_error(libc::EPERM));
            }
            std::thread::sleep(Duration::from_millis(1));
            reap(supervisors);
        }
    }
    let [(channel, its_channel), (requests, its_requests), (watch, its_watch)] =
        [Channel::pair()?, Channel::pair()?, Channel::pair()?];
    let (stderr, its_stderr) = pipe_with(PipeFlags::CLOEXEC)?;
    let Some(supervisor) = fork()? else {
        drop((channel, requests, watch, stderr));
        supervise([its_channel, its_requests], its_watch, its_stderr, uses_network, allowed)
    };
    supervisors.push(supervisor);
    Ok(vec![channel.into(), requests.into(), watch.into(), stderr])
}

/// The supervisor: forks the decoding process, and reports its end.
fn supervise(
    connections: [Channel; 2],
    watch: Channel,
    stderr: OwnedFd,
    uses_network: bool,
    allowed: Option<&Allowed>,
) -> ! {
    let _ = set_name(c"supervisor");
    // Close the template's own connection in the supervisor.
    let kept = [&connections[0], &connections[1], &watch].map(|end| end.as_fd().as_raw_fd());
    close_but(kept.into_iter().chain([stderr.as_raw_fd()]).collect());
    let mut spaces = UnshareFlags::NEWUSER | UnshareFlags::NEWPID | UnshareFlags::NEWIPC;
    if !uses_network {
        spaces |= UnshareFlags::NEWNET;
    }
    // SAFETY: this process has one thread, and no descriptors of another one.
    let has_own_users = unsafe { unshare_unsafe(spaces) }.is_ok() && counts_threads_by_user_space();
    let process = match fork() {
        Ok(Some(process)) => process,
        Ok(None) => {
            drop(watch);
            begin(connections, stderr, &Confines { has_own_users, uses_network, allowed })
        }
        Err(_) => leave(1),
    };
    drop((connections, stderr));
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

/// Whether the kernel counts the threads of each user name space separately, as Linux does from 5.14 on. Before, all
/// threads of the user count.
fn counts_threads_by_user_space() -> bool {
    let release = uname().release().to_string_lossy().into_owned();
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map_while(|number| number.parse::<u32>().ok());
    (numbers.next(), numbers.next()) >= (Some(5), Some(14))
}

/// Waits for the end of `process`, which it ends when the other end of `watch` is gone.
fn until_end(process: Pid, watch: &Channel) -> Option<WaitStatus> {
    if let Ok(ending) = pidfd_open(process, PidfdFlags::empty()) {
        loop {
            let mut polled = [PollFd::new(&ending, PollFlags::IN), PollFd::new(watch, PollFlags::IN)];
            match poll(&mut polled, None) {
                Err(rustix::io::Errno::INTR) => continue,
                Ok(_) if polled[1].revents().is_empty() => {}
                _ => {
                    let _ = kill_process(process, Signal::KILL);
                }
            }
            break;
        }
    }
    // Kernels before 5.3 lack pidfd_open: the process ends by itself when its connection is gone.
    waitpid(Some(process), WaitOptions::empty()).ok()?.map(|(_, status)| status)
}

fn begin([channel, requests]: [Channel; 2], stderr: OwnedFd, confines: &Confines<'_>) -> ! {
    let _ = set_name(c"decoder");
    // Without its supervisor, nothing else would end this process.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    let set_up = || -> io::Result<()> {
        dup2_stderr(&stderr)?;
        drop(stderr);
        close_but([&channel, &requests].map(|end| end.as_fd().as_raw_fd()).into());
        Ok(())
    };
    if set_up().is_err() {
        leave(1);
    }
    let ran = child::run(channel, requests, confines, || leave(0));
    leave(if ran.is_ok() { 0 } else { 1 })
}

//! Waits for a decoding process, for its messages and for room for orders: each of them ends, whatever the process
//! does. docs/internals.md has a table of all waits for other processes.

use super::messages::{Event, Order};
use super::zygote::{HowEnded, Process};
use crate::pipeline::Cancel;
use histeq::Limits;
use rustix::event::PollFlags;
use serde::Serialize;
use std::io::{Error, ErrorKind};
use std::os::fd::BorrowedFd;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How often a wait looks whether the run is to end, and how busy the process is.
const TICK: Duration = Duration::from_millis(50);

/// How long a process may take to finish after the run was asked to end; an encoder still has time to be emptied then.
const GRACE: Duration = Duration::from_secs(3);

/// `GRACE` for transcoders, which still convert the rest of the sound at the end of a run.
const GRACE_OF_SOUND: Duration = Duration::from_secs(5);

/// A decoder counts as hung after this much CPU time, and time by the clock, without progress; more for each pixel.
const HANGS_AFTER: Duration = Duration::from_secs(10);
const PIXEL_TIME: Duration = Duration::from_nanos(500);

/// The most CPU time to open an input without a packet or a picture.
const OPENS_WITHIN: Duration = Duration::from_secs(30);

/// A process that has all it needs is lost if it neither answers nor computes for this time by the clock, which is
/// enough on a machine under load, too.
const SILENT_AFTER: Duration = Duration::from_secs(60);

/// A process that computes less than this in `SILENT_AFTER` counts as idle: its threads wake up now and then.
const IDLE: Duration = Duration::from_millis(50);

/// How long the rest of a message may take after its first bytes.
const REST: Duration = Duration::from_secs(10);

/// The exit code of [`give_up`](crate::sys::give_up).
const GIVEN_UP: i32 = 1;

/// How long a wait may take.
#[derive(Clone, Copy)]
pub(super) struct Patience {
    /// The process counts as hung after this much CPU time, and this much wall-clock time.
    busy: Duration,
    /// The longest time without computing; `None` if it may wait for its input.
    quiet: Option<Duration>,
    /// The longest time in all, for a message that has begun.
    total: Option<Duration>,
    /// The longest time after the run was asked to end.
    grace: Duration,
}

impl Patience {
    /// Limits for a process that decodes pictures of this many pixels; `waits`: it may wait for its input.
    pub(super) fn for_input(pixels: usize, waits: bool) -> Self {
        let pixels = u32::try_from(pixels).unwrap_or(u32::MAX);
        let busy = HANGS_AFTER + PIXEL_TIME.saturating_mul(pixels);
        Patience { busy, quiet: (!waits).then_some(SILENT_AFTER), total: None, grace: GRACE }
    }

    /// Limits for a process that opens its input: its pictures may have as many pixels as are allowed.
    pub(super) fn for_opening(waits: bool, limits: &Limits) -> Self {
        let most = Patience::for_input(usize::try_from(limits.pixels()).unwrap_or(usize::MAX), waits);
        Patience { busy: most.busy.min(OPENS_WITHIN), ..most }
    }

    /// Limits for a process that has to read an order.
    pub(super) fn for_order() -> Self {
        Patience::for_input(0, false)
    }

    /// Limits for transcoders, which never wait for an input.
    pub(super) fn for_answers() -> Self {
        Patience { grace: GRACE_OF_SOUND, ..Patience::for_order() }
    }

    /// Limits for the rest of a message.
    fn for_rest(self) -> Self {
        Patience { total: Some(REST), ..self }
    }

    #[cfg(test)]
    pub(super) fn short(quiet: Duration, grace: Duration) -> Self {
        Patience { quiet: Some(quiet), grace, ..Patience::for_order() }
    }
}

/// Why a wait has ended without what was waited for.
#[derive(Debug)]
pub(super) enum Lost {
    /// The run is to end, and the process has not ended in time.
    Cancelled,
    /// The process is busy, but sends nothing.
    Hangs(Duration),
    /// The process is idle, and neither sends nor reads.
    Silent,
    /// The process has sent something that is no message.
    Garbled,
    Gone,
}

impl From<Error> for Lost {
    fn from(error: Error) -> Self {
        if error.kind() == ErrorKind::InvalidData { Lost::Garbled } else { Lost::Gone }
    }
}

impl Lost {
    pub(super) fn describe(&self, process: &mut Process) -> String {
        match self {
            Lost::Cancelled => "the decoder does not end".to_owned(),
            Lost::Hangs(time) => {
                format!("the decoder hangs: {:.0} s of computing have given nothing", time.as_secs_f64())
            }
            Lost::Silent => "the decoder's process says nothing any more".to_owned(),
            Lost::Garbled => {
                "the decoder's process sends what is no message: it may be under attack by the input".to_owned()
            }
            Lost::Gone => match process.how_ended() {
                HowEnded::Killed(
                    signal @ (libc::SIGSEGV | libc::SIGBUS | libc::SIGILL | libc::SIGFPE | libc::SIGABRT),
                ) => {
                    format!("the decoder has crashed (signal {signal})")
                }
                HowEnded::Killed(libc::SIGKILL) => {
                    "the decoder's process was killed (by the system, if memory ran out)".to_owned()
                }
                HowEnded::Killed(libc::SIGSYS) => {
                    "the decoder's process has made a forbidden call of the system".to_owned()
                }
                HowEnded::Killed(signal) => format!("the decoder's process has ended (signal {signal})"),
                HowEnded::Exited(GIVEN_UP) => {
                    "the decoder has no more memory (--max-memory gives more), or a library has ended it".to_owned()
                }
                HowEnded::Exited(code) => format!("the decoder's process has ended (exit code {code})"),
                HowEnded::Unknown => "the decoder's process has ended".to_owned(),
            },
        }
    }
}

/// A wait for one message, or until one is sent.
struct Wait<'a> {
    cancel: &'a Cancel,
    patience: Patience,
    /// How long this program has waited, without the time in which it was stopped itself.
    waited: Duration,
    /// The part of `waited` since the process has last computed.
    quiet: Duration,
    /// The CPU time of the process at the start of the wait, and when `quiet` was last zero.
    busy: Option<[Duration; 2]>,
}

impl<'a> Wait<'a> {
    fn new(cancel: &'a Cancel, patience: Patience) -> Self {
        Wait { cancel, patience, waited: Duration::ZERO, quiet: Duration::ZERO, busy: None }
    }

    /// Waits until there is something to read, or room to write. A wait for reading tells the process when the run is
    /// to end.
    fn wait(&mut self, process: &mut Process, what: PollFlags) -> Result<(), Lost> {
        loop {
            if self.cancel.flag().load(Ordering::Relaxed) {
                if what == PollFlags::IN && !process.is_told {
                    let order = Order::Cancel { is_request: self.cancel.is_cancelled() };
                    let full = || Err(Error::from(ErrorKind::WouldBlock));
                    process.is_told = process.channel.send_waiting(&order, &[], full).is_ok();
                }
                if process.cancelled.get_or_insert_with(Instant::now).elapsed() > self.patience.grace {
                    return Err(Lost::Cancelled);
                }
            }
            let begin = Instant::now();
            let is_ready = process.channel.ready(what, Some(TICK))?;
            let tick = begin.elapsed().min(2 * TICK);
            self.waited += tick;
            self.quiet += tick;
            if self.patience.total.is_some_and(|most| self.waited > most) {
                return Err(Lost::Silent);
            }
            if is_ready {
                return Ok(());
            }
            if self.waited > Duration::from_secs(1) {
                self.look_at(process)?;
            }
        }
    }

    /// Checks by its CPU time whether the process hangs: that time stands still while the process waits for its input,
    /// and grows slowly where processors are shared.
    fn look_at(&mut self, process: &mut Process) -> Result<(), Lost> {
        let busy = process.busy().unwrap_or_default();
        let [first, last] = self.busy.get_or_insert([busy; 2]);
        let spent = busy.saturating_sub(*first);
        if spent > self.patience.busy && self.waited > self.patience.busy {
            return Err(Lost::Hangs(spent));
        }
        if busy.saturating_sub(*last) > IDLE {
            (*last, self.quiet) = (busy, Duration::ZERO);
        }
        if self.patience.quiet.is_some_and(|most| self.quiet > most) { Err(Lost::Silent) } else { Ok(()) }
    }
}

/// Waits for the next event, of at most `most` bytes. Tells the process when the run is to end.
pub(super) fn next_event(
    process: &mut Process,
    cancel: &Cancel,
    patience: Patience,
    most: usize,
) -> Result<Event, Lost> {
    Wait::new(cancel, patience).wait(process, PollFlags::IN)?;
    let (channel, mut rest) = (process.channel.clone(), Wait::new(cancel, patience.for_rest()));
    let received = channel.receive_waiting(most, || rest.wait(process, PollFlags::IN));
    received.map(|(event, _)| event).map_err(|lost| match lost {
        Lost::Hangs(_) | Lost::Silent => Lost::Garbled,
        lost => lost,
    })
}

/// Sends a message to the process, and waits while the socket has no room.
pub(super) fn send(
    process: &mut Process,
    message: &impl Serialize,
    descriptors: &[BorrowedFd<'_>],
    cancel: &Cancel,
    patience: Patience,
) -> Result<(), Lost> {
    let (channel, mut wait) = (process.channel.clone(), Wait::new(cancel, patience));
    channel.send_waiting(message, descriptors, || wait.wait(process, PollFlags::OUT))
}

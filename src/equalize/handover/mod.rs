//! Starts on the CPU, and hands over to the GPU once it is open. Opening it takes its driver a while; until then the CPU
//! equalizes. Every backend gives the same bytes, so nobody sees where.
//!
//! ```text
//! frames    0 1 2 ... s-m ......... s-1 | s ... s+A-1 | s+A ...
//! first     equalized, and come out     | looked at   |
//! second              warmed up with    | equalized, and come out
//! ```
//!
//! At frame s the second backend is there. It is warmed up with the m = W + F frames before, as for the part of a video
//! that begins there, and gets all frames from s on. Frames that the first one still holds back wait for up to A frames
//! behind them (`--look-ahead`): so it gets those, too, and what becomes of them there is thrown away.
//!
//! | file | what it is |
//! |---|---|
//! | `mod.rs` | when the second backend takes over, and with which frames |
//! | `recent.rs` | the frames that the second backend is warmed up with |
//! | `draining.rs` | the first backend, while its last frames come out |

mod draining;
mod recent;

use super::Equalizer;
use super::fallback::Report;
use crate::frame::{Frame, LatePool, Pool};
use crate::spec::{Curve, Settings};
use anyhow::Result;
use draining::{DrainingBackend, make_room};
use recent::Recent;
use std::collections::VecDeque;
use std::sync::Arc;

/// A backend on its way.
pub trait PendingBackend: Send {
    /// Whether it is there, or never will be: [`take`](PendingBackend::take) answers at once.
    fn is_there(&self) -> bool;

    /// The backend, waiting until it is there.
    ///
    /// # Errors
    /// When it cannot be had.
    fn take(self: Box<Self>) -> Result<Box<dyn Equalizer>>;
}

/// Makes what does the work out of the backend that has come and knows what was before, and of the settings at hand: one
/// that outlives its failure, say.
pub type Wrap = Box<dyn FnOnce(Box<dyn Equalizer>, Settings) -> Box<dyn Equalizer> + Send>;

/// What it means if the second backend cannot be had.
pub enum OnUnavailable {
    /// The run has failed, also if it could do without.
    Fatal,
    /// The first one does it all; this is told why, once.
    Told(Box<dyn FnOnce(anyhow::Error) + Send>),
}

/// The backend that takes over.
pub struct NextBackend {
    /// Where it comes from.
    pub pending: Box<dyn PendingBackend>,
    /// What is made of it.
    pub wrap: Wrap,
    /// What if it does not come.
    pub on_unavailable: OnUnavailable,
    /// Told, in a sentence, if it fails before it has taken over; the first backend then does it all.
    pub report: Report,
}

/// A backend that another one takes over from.
pub struct HandOver {
    settings: Settings,
    curve: Option<Arc<Curve>>,
    pool: Arc<LatePool>,
    runner: Runner,
    /// Whether the second backend came when all was done.
    too_late: bool,
}

/// Who runs.
enum Runner {
    /// The backend that began. So many of its frames have not come out.
    First { backend: Box<dyn Equalizer>, owed: usize, pending: Option<Pending> },
    /// The one that took over.
    Second { backend: Box<dyn Equalizer>, draining: Option<DrainingBackend>, done: VecDeque<Frame>, before: String },
    /// Nobody, in the middle of a hand-over.
    Nobody,
}

/// The backend that takes over, and what it has to know.
struct Pending {
    next: NextBackend,
    recent: Recent,
    /// How many frames have gone to the first one.
    frames: u64,
}

impl HandOver {
    /// `first`, which was made with these settings and has seen no frame, until `next` is there.
    pub fn new(first: Box<dyn Equalizer>, settings: Settings, next: NextBackend) -> Self {
        let pending = Some(Pending { next, recent: Recent::default(), frames: 0 });
        let runner = Runner::First { backend: first, owed: 0, pending };
        HandOver { settings, curve: None, pool: Arc::default(), runner, too_late: false }
    }

    /// The same, which holds on to no more than so many bytes of frames for the second backend. For tests.
    #[doc(hidden)]
    #[must_use]
    pub fn keeping_at_most(mut self, bytes: usize) -> Self {
        if let Runner::First { pending: Some(pending), .. } = &mut self.runner {
            pending.recent = Recent::of_at_most(bytes);
        }
        self
    }

    /// Hands over before `frame` if the second backend is there, or has to be waited for because no more frames can be
    /// kept for it.
    fn look_for_next(&mut self, frame: &Frame) -> Result<()> {
        let Runner::First { pending: Some(pending), .. } = &self.runner else { return Ok(()) };
        let keeps = self.curve.is_none();
        let is_full = keeps && !pending.recent.has_room_for(frame, &self.settings);
        if is_full || pending.next.pending.is_there() { self.hand_over() } else { Ok(()) }
    }

    fn hand_over(&mut self) -> Result<()> {
        let Runner::First { pending, .. } = &mut self.runner else { return Ok(()) };
        let Some(Pending { next, recent, frames }) = pending.take() else { return Ok(()) };
        let NextBackend { pending, wrap, on_unavailable, report } = next;
        let mut second = match pending.take() {
            Ok(second) => second,
            Err(error) => return on_unavailable.explained_by(error),
        };
        let Runner::First { backend: first, owed, .. } = std::mem::replace(&mut self.runner, Runner::Nobody) else {
            unreachable!("looked at above")
        };
        if let Err(error) = recent.warm_up(second.as_mut()) {
            report(&format!("{} failed, going on with {}: {error:#}", second.name(), first.name()));
            self.runner = Runner::First { backend: first, owed, pending: None };
            return Ok(());
        }
        let mut second = wrap(second, self.settings);
        second.set(self.settings);
        second.set_curve(self.curve.clone());
        second.input_pool().into_iter().for_each(|pool| self.pool.arrive(pool));
        let before = match frames {
            0 => String::new(),
            1 => format!(", the first frame by {}", first.name()),
            _ => format!(", the first {frames} by {}", first.name()),
        };
        let draining = (owed > 0).then(|| DrainingBackend::new(first, owed, self.settings.smoothing.ahead()));
        self.runner = Runner::Second { backend: second, draining, done: VecDeque::new(), before };
        Ok(())
    }

    /// Waits for a second backend without which the run has failed, though it has nothing to do any more.
    fn insist(&mut self) -> Result<()> {
        let Runner::First { pending, .. } = &mut self.runner else { return Ok(()) };
        match pending.take_if(|pending| matches!(pending.next.on_unavailable, OnUnavailable::Fatal)) {
            Some(pending) => {
                self.too_late = true;
                pending.next.pending.take().map(drop)
            }
            None => Ok(()),
        }
    }

    /// Those that have work to do.
    fn at_work(&mut self) -> impl Iterator<Item = &mut Box<dyn Equalizer>> {
        let (backend, draining) = match &mut self.runner {
            Runner::First { backend, .. } => (Some(backend), None),
            Runner::Second { backend, draining, .. } => (Some(backend), draining.as_mut()),
            Runner::Nobody => (None, None),
        };
        draining.map(DrainingBackend::backend).into_iter().chain(backend)
    }
}

impl OnUnavailable {
    fn explained_by(self, error: anyhow::Error) -> Result<()> {
        match self {
            OnUnavailable::Fatal => Err(error),
            OnUnavailable::Told(tell) => {
                tell(error);
                Ok(())
            }
        }
    }
}

impl Equalizer for HandOver {
    fn submit(&mut self, frame: Frame) -> Result<()> {
        self.look_for_next(&frame)?;
        match &mut self.runner {
            Runner::First { backend, owed, pending } => {
                if let Some(pending) = pending {
                    pending.frames += 1;
                    if self.curve.is_none() {
                        pending.recent.push(&frame, &self.settings);
                    }
                }
                *owed += 1;
                backend.submit(frame)
            }
            Runner::Second { backend, draining: None, .. } => backend.submit(frame),
            Runner::Second { backend, draining: Some(draining), done, .. } => {
                draining.look_at(&frame)?;
                // Nobody can take from it what is done before all of the first one's is.
                make_room(backend.as_mut(), done)?;
                backend.submit(frame)
            }
            Runner::Nobody => unreachable!("a hand-over ends with somebody"),
        }
    }

    fn collect(&mut self) -> Result<Option<Frame>> {
        match &mut self.runner {
            Runner::First { backend, owed, .. } => {
                let frame = backend.collect()?;
                *owed -= usize::from(frame.is_some());
                Ok(frame)
            }
            Runner::Second { backend, draining, done, .. } => match draining {
                Some(last) => {
                    let frame = last.collect()?;
                    // Its threads go with it.
                    draining.take_if(|draining| draining.has_left());
                    Ok(frame)
                }
                None => done.pop_front().map_or_else(|| backend.collect(), |frame| Ok(Some(frame))),
            },
            Runner::Nobody => Ok(None),
        }
    }

    fn warm_up(&mut self, frame: Frame) -> Result<()> {
        self.look_for_next(&frame)?;
        match &mut self.runner {
            Runner::First { backend, pending, .. } => {
                pending.iter_mut().for_each(|pending| pending.recent.push(&frame, &self.settings));
                backend.warm_up(frame)
            }
            Runner::Second { backend, .. } => backend.warm_up(frame),
            Runner::Nobody => Ok(()),
        }
    }

    fn finish(&mut self) -> Result<()> {
        self.at_work().try_for_each(|backend| backend.finish())?;
        self.insist()
    }

    fn in_flight(&self) -> usize {
        match &self.runner {
            Runner::First { backend, .. } => backend.in_flight(),
            Runner::Second { backend, draining, done, .. } => {
                let after = done.len() + backend.in_flight();
                match draining {
                    None => after,
                    // What is behind a frame that is held back cannot be collected.
                    Some(draining) => draining.ready() + if draining.holds_back() { 0 } else { after },
                }
            }
            Runner::Nobody => 0,
        }
    }

    fn capacity(&self) -> usize {
        match &self.runner {
            Runner::First { backend, .. } | Runner::Second { backend, .. } => backend.capacity(),
            Runner::Nobody => 0,
        }
    }

    /// It is asked for before there is a second backend: a pool that becomes that one's once it is there.
    fn input_pool(&self) -> Option<Arc<dyn Pool>> {
        Some(self.pool.clone())
    }

    fn set(&mut self, settings: Settings) {
        self.settings = settings;
        self.at_work().for_each(|backend| backend.set(settings));
    }

    fn set_curve(&mut self, curve: Option<Arc<Curve>>) {
        self.at_work().for_each(|backend| backend.set_curve(curve.clone()));
        self.curve = curve;
    }

    fn name(&self) -> String {
        match &self.runner {
            Runner::First { backend, pending, .. } => {
                let never_there = self.too_late || pending.is_some();
                backend.name() + if never_there { " while the GPU was opening" } else { "" }
            }
            Runner::Second { backend, before, .. } => backend.name() + before,
            Runner::Nobody => String::new(),
        }
    }
}

impl Drop for HandOver {
    /// Waits for a backend that nobody wants any more: the process must not end while a driver is starting, and that there
    /// is none is still to be told.
    fn drop(&mut self) {
        let Runner::First { pending, .. } = &mut self.runner else { return };
        let Some(Pending { next, .. }) = pending.take() else { return };
        if std::thread::panicking() {
            return;
        }
        if let (Err(error), OnUnavailable::Told(tell)) = (next.pending.take(), next.on_unavailable) {
            tell(error);
        }
    }
}

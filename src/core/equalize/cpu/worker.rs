//! A thread of the CPU backend, and its work on a frame.

use super::colour::Colour;
use super::engine::Engine;
use super::in_order::{Closed, InOrder};
use crate::equalize::{Applied, Equalized, Report, Role, Work};
use crate::frame::Frame;
use crate::spec::clahe::TileCurves;
use crate::spec::curves::Mapping;
use crate::spec::curves::tone::Veil;
use crate::spec::parameters::Chroma;
use crate::spec::time::{Counts, Decision, Remembered, Temporal};
use crossbeam_channel::{Receiver, Sender};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

/// A task, and its ticket for the section that tasks enter in order ([`InOrder`]).
pub struct NumberedTask {
    /// The ticket, counted from 0.
    pub ticket: u64,
    /// The task.
    pub task: WorkerTask,
}

/// A task of a thread.
pub enum WorkerTask {
    /// Takes in a frame, which has this number, and equalizes the frame that has waited for it.
    Next(u64, Box<Work>),
    /// Remembers the counts of a frame that another backend has equalized.
    Remember(Box<Remembered>),
    /// Equalizes the oldest waiting frame: no later frames will come.
    Rest,
}

/// The outcome of a frame.
pub struct Done {
    /// The number of the frame in the video, counted from 0.
    pub number: u64,
    /// The result, or the failure in one line.
    pub result: Result<Equalized, String>,
}

/// A frame that may have to wait for later ones: its number, its work and its counts.
type Waiting = (u64, Work, Arc<Counts>);

/// The state that threads access one at a time.
pub type Shared = InOrder<Temporal<Waiting>>;

/// The state of a thread.
pub struct Worker {
    /// The kernels of the thread, and its scratch memory.
    pub engine: Engine,
    /// The section that decides the curves of frames in their order.
    pub in_order: Arc<Shared>,
}

impl Worker {
    /// Starts a thread that takes jobs until there are no more, or until it cannot go on after a failure.
    ///
    /// # Errors
    /// When the system refuses a thread.
    pub fn spawn(mut self, jobs: Receiver<NumberedTask>, results: Sender<Done>) -> std::io::Result<JoinHandle<()>> {
        let work = move || while jobs.recv().is_ok_and(|job| self.work_on(job, &results)) {};
        Builder::new().name("cpu".to_owned()).spawn(work)
    }

    /// Works on a job, and sends the result. Returns whether the worker can take another job.
    pub fn work_on(&mut self, job: NumberedTask, results: &Sender<Done>) -> bool {
        let Some(done) = self.work_or_explain(job) else { return false };
        let Some(done) = done else { return true };
        let failed = done.result.is_err();
        // The receiver is gone when the backend is being dropped.
        results.send(done).is_ok() && !failed
    }

    /// The equalized frame, if there is one, or the failure; `None` when another thread reports the failure.
    ///
    /// A panic ends this thread and closes the ordered section, which ends all other threads: their frames would wait
    /// for this one for ever.
    fn work_or_explain(&mut self, job: NumberedTask) -> Option<Option<Done>> {
        let number = if let WorkerTask::Next(number, _) = &job.task { *number } else { job.ticket };
        // Unwind safety: after a panic nothing of the engine is used again.
        match catch_unwind(AssertUnwindSafe(|| self.work(job))) {
            Ok(Ok(done)) => Some(done),
            Ok(Err(Closed)) => None,
            Err(panic) => {
                self.in_order.close();
                let failure = format!("the equalizer panicked at frame {number}: {}", message(&*panic));
                Some(Some(Done { number, result: Err(failure) }))
            }
        }
    }

    fn work(&mut self, NumberedTask { ticket, task }: NumberedTask) -> Result<Option<Done>, Closed> {
        match task {
            WorkerTask::Next(number, work) => self.take(ticket, number, *work),
            WorkerTask::Remember(seen) => {
                self.in_order.pass(ticket, |temporal| temporal.remember(&seen))?;
                Ok(None)
            }
            WorkerTask::Rest => {
                let ready = self.in_order.pass(ticket, Temporal::pop_waiting)?;
                Ok(ready.map(|(waiting, decision)| self.equalize(waiting, decision)))
            }
        }
    }

    /// Counts a frame, adds it in its turn, and equalizes the frame that has all the later frames that it needs then.
    fn take(&mut self, ticket: u64, number: u64, work: Work) -> Result<Option<Done>, Closed> {
        let settings = *work.settings();
        match work.role() {
            Role::Apply(mapping) => {
                self.in_order.pass(ticket, |_| ())?;
                let Equalized { frame, applied } = self.engine.apply(&work, work.frame(), mapping);
                let applied = Applied { mapping: Some(mapping.clone()), ..applied };
                Ok(Some(Done { number, result: Ok(Equalized { frame, applied }) }))
            }
            Role::WarmUp => {
                let counts = self.engine.counts(&work);
                let decide = |temporal: &mut Temporal<_>| temporal.decide(&settings, work.guide(), &counts).scene;
                let scene = self.in_order.pass(ticket, decide)?;
                let applied = Applied { counts: Some(counts), scene: Some(scene), ..Applied::default() };
                Ok(Some(Done { number, result: Ok(Equalized { frame: work.into_frame(), applied }) }))
            }
            Role::Equalize => {
                let counts = self.engine.counts(&work);
                let guide = work.guide().clone();
                let waiting = (number, work, counts.clone());
                let ready =
                    self.in_order.pass(ticket, |temporal| temporal.next(&settings, &guide, &counts, waiting))?;
                Ok(ready.map(|(waiting, decision)| self.equalize(waiting, decision)))
            }
        }
    }

    fn equalize(&mut self, (number, work, counts): Waiting, Decision { scene, mapping }: Decision) -> Done {
        let Equalized { frame, applied } = self.engine.apply(&work, work.frame(), &mapping);
        let mapping = (!work.settings().method.counts()).then_some(mapping);
        let applied = Applied { counts: Some(counts), scene: Some(scene), mapping, ..applied };
        Done { number, result: Ok(Equalized { frame, applied }) }
    }
}

impl Engine {
    /// Applies this mapping to `frame`, which is the frame of `work` or derived from it.
    pub fn apply(&mut self, work: &Work, frame: &Frame, mapping: &Mapping) -> Equalized {
        let settings = work.settings();
        let chroma = settings.chroma;
        let mut applied = Applied::default();
        let frame = match mapping {
            Mapping::Curve { curve, chroma_gain } => {
                applied.curves = reported(work, curve.codes());
                applied.chroma_gain = Some(*chroma_gain);
                self.map(frame, curve, Colour::new(chroma, *chroma_gain))
            }
            Mapping::Tiles { window, tone } => {
                let curves = TileCurves::equalizing(window, settings, &tone.tile_levels());
                applied.curves = reported(work, curves.luts());
                self.map_tiles(frame, &curves, Colour::new(chroma, tone.chroma_gain))
            }
            Mapping::Veil(veil) => {
                let tiles = Veil::tiles((frame.width(), frame.height()));
                let colour = match chroma {
                    Chroma::Keep => Colour::Keep,
                    Chroma::Follow => Colour::Veil(veil, tiles),
                };
                self.map_tiles(frame, &veil.curves(frame.levels(), tiles), colour)
            }
            Mapping::Balance(balance) => self.balance(frame, balance),
            Mapping::Balanced { balance, then } => {
                let balanced = self.balance(frame, balance);
                self.apply(work, &balanced, then).frame
            }
        };
        Equalized { frame, applied }
    }
}

fn reported(work: &Work, curves: &[u16]) -> Option<Arc<[u16]>> {
    (work.report() == Report::Everything).then(|| curves.into())
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("no message").lines().collect::<Vec<_>>().join(" ")
}

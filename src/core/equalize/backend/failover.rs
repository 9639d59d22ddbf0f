//! A backend from which another one takes over: the CPU begins while a GPU opens, and the CPU goes on if the GPU fails.
//! Both changes work alike. This module keeps each [`Work`] until its result has come out, and the counts of
//! the last frames before; the next backend gets these counts, and repeats the works. All backends give the
//! same bytes, so the change is not visible.
//!
//! ```text
//! frames    0 1 2 ... s-m ......... s-1 | s ............ n
//! first     have come out               | were under way
//! second              remembered        | done again, and all that follow
//! ```
//!
//! m = W + F, the frames of the temporal window and of the longest flash: no earlier frame has an effect on frame s.

use crate::cuda::Gpu;
use crate::equalize::{Equalized, Executor, Report, Role, Work};
use crate::frame::{LatePool, Limits, Pool};
use crate::spec::parameters::Chroma;
use crate::spec::time::Remembered;
use crate::{Error, Result};
use std::collections::VecDeque;
use std::sync::Arc;

/// Called once with a sentence that says which backend failed, why, and which one takes over.
pub type Reporter = Box<dyn Fn(&str) + Send>;

/// Makes the backend that goes on after a failure.
pub type Build = Box<dyn FnOnce() -> Box<dyn Executor> + Send>;

/// A backend that is being opened.
pub trait OpeningBackend: Send {
    /// Reports how much work has come so far while the backend is not open, in bytes of frames. The backend may wait
    /// with opening until there is enough work.
    fn has_come(&self, _work: usize) {}

    /// Whether it is open or has failed: [`take`](OpeningBackend::take) returns at once.
    fn is_ready(&self) -> bool;

    /// The backend, waiting until it is open.
    ///
    /// # Errors
    /// When it cannot be opened.
    fn take(self: Box<Self>) -> Result<Box<dyn Executor>>;
}

/// What to do if the backend that is being opened fails to open.
pub enum OnUnavailable {
    /// The run has failed, even if the first backend could do it all.
    Fail,
    /// The first backend does everything; this is called once with the error.
    Report(Box<dyn FnOnce(Error) + Send>),
}

/// The cost of a frame that is denoised, as a multiple of the cost of other frames.
const WITH_DENOISING: usize = 16;

/// A backend that others may take over from.
pub struct Failover {
    active: Box<dyn Executor>,
    /// The backend that takes over as soon as it is open.
    opening: Option<(Box<dyn OpeningBackend>, OnUnavailable)>,
    /// Bytes of frames that have come before the backend was open; frames that are denoised count [`WITH_DENOISING`]
    /// times.
    work: usize,
    /// Builds the backend that takes over after a failure. Not used while the first backend waits for another to open.
    reserve: Option<Build>,
    report: Reporter,
    /// The counts of the last frames that came out, as many as later frames may depend on.
    remembered: VecDeque<Remembered>,
    /// Works whose results have not come out yet.
    under_way: VecDeque<Work>,
    /// Results that came out of the next backend while it took over.
    done: VecDeque<Equalized>,
    /// Whether the input has ended.
    finished: bool,
    /// The number of frames that the first backend has equalized; and its name, once another one has taken over.
    equalized: u64,
    began: Option<String>,
    /// Whether the backend was opened only after all frames were equalized.
    too_late: bool,
    pool: Option<Arc<LatePool>>,
}

impl Failover {
    /// `primary` until it fails; then `report` is called and the backend that `reserve` makes continues.
    pub fn new(primary: Box<dyn Executor>, reserve: Build, report: Reporter) -> Self {
        Failover {
            active: primary,
            opening: None,
            work: 0,
            reserve: Some(reserve),
            report,
            remembered: VecDeque::new(),
            under_way: VecDeque::new(),
            done: VecDeque::new(),
            finished: false,
            equalized: 0,
            began: None,
            too_late: false,
            pool: None,
        }
    }

    /// `first` until `opening` is open; `reserve` and `report` are for a failure of the backend that opens. Input goes
    /// into host memory until that backend has memory that it reads faster.
    pub fn opening(
        first: Box<dyn Executor>,
        opening: Box<dyn OpeningBackend>,
        on_unavailable: OnUnavailable,
        reserve: Build,
        report: Reporter,
    ) -> Self {
        let mut failover = Failover::new(first, reserve, report);
        failover.opening = Some((opening, on_unavailable));
        failover.pool = Some(Arc::default());
        failover
    }

    /// Input counts towards these limits while it goes into host memory. To be called before any frame.
    #[must_use]
    pub fn within(mut self, limits: &Limits) -> Self {
        if let Some(pool) = &mut self.pool {
            *pool = Arc::new(LatePool::new(limits));
        }
        self
    }

    /// Submits the works under way to `next`, as if it had equalized all frames before, and returns the results that
    /// are done already.
    fn take_over(&self, next: &mut dyn Executor) -> Result<VecDeque<Equalized>> {
        self.remembered.iter().try_for_each(|seen| next.remember(seen))?;
        let mut done = VecDeque::new();
        for work in &self.under_way {
            while next.in_flight() >= next.capacity() {
                done.extend(next.collect()?);
            }
            next.submit(work.clone())?;
        }
        if self.finished {
            next.finish()?;
        }
        Ok(done)
    }

    /// Makes `next` the active backend; `done` has its results for the works under way.
    fn switch_to(&mut self, next: Box<dyn Executor>, done: VecDeque<Equalized>) {
        self.active = next;
        for equalized in done {
            self.came_out(&equalized);
            self.done.push_back(equalized);
        }
    }

    /// Hands over to the backend that is open now, before a frame with this treatment of chroma.
    fn hand_over(&mut self, chroma: Chroma) -> Result<()> {
        let Some((opening, on_unavailable)) = self.opening.take() else { return Ok(()) };
        let mut next = match (opening.take(), on_unavailable) {
            (Ok(next), _) => next,
            (Err(error), OnUnavailable::Fail) => return Err(error),
            (Err(error), OnUnavailable::Report(report)) => {
                report(error);
                self.reserve = None;
                return Ok(());
            }
        };
        match self.take_over(next.as_mut()) {
            Ok(done) => {
                if let (Some(pool), Some(memory)) = (&self.pool, next.input_pool(chroma)) {
                    pool.replace(memory);
                }
                self.began = Some(self.active.name());
                self.switch_to(next, done);
            }
            // The first backend still has all works, and continues.
            Err(error) => {
                (self.report)(&format!("{} failed, going on with {}: {error:#}", next.name(), self.active.name()));
                self.reserve = None;
            }
        }
        Ok(())
    }

    /// Continues with the reserve after `error`; returns the error if there is none.
    fn recover(&mut self, error: Error) -> Result<()> {
        // The first backend is the CPU, for which there is no replacement.
        if self.opening.is_some() {
            return Err(error);
        }
        let Some(build) = self.reserve.take() else { return Err(error) };
        let mut next = build();
        (self.report)(&format!("{} failed, going on with {}: {error:#}", self.active.name(), next.name()));
        // Frames may lie on the GPU that has failed.
        self.under_way.iter().try_for_each(|work| work.frame().bring_down())?;
        let done = self.take_over(next.as_mut())?;
        self.switch_to(next, done);
        Ok(())
    }

    /// Moves the oldest result of the active backend, if there is one, to those that are done; after a failure, the
    /// results of the next backend instead.
    fn collect_from_active(&mut self) -> Result<()> {
        match self.active.collect() {
            Ok(None) => Ok(()),
            Ok(Some(equalized)) => {
                self.came_out(&equalized);
                self.done.push_back(equalized);
                Ok(())
            }
            Err(error) => {
                self.recover(error)?;
                if self.done.is_empty() { self.collect_from_active() } else { Ok(()) }
            }
        }
    }

    /// Removes the oldest frame under way, whose result has come out; only its counts are kept.
    fn came_out(&mut self, equalized: &Equalized) {
        let Some(work) = self.under_way.pop_front() else { return };
        if self.began.is_none() && !matches!(work.role(), Role::WarmUp) {
            self.equalized += 1;
        }
        let (settings, applied) = (*work.settings(), &equalized.applied);
        if let Some(counts) = applied.counts.clone() {
            let guide = work.guide().clone();
            self.remembered.push_back(Remembered { counts, settings, guide, scene: applied.scene });
        }
        // Settings with another window begin a new one, so these settings determine how many frames are needed. A
        // window of one frame needs no earlier frame, except to report the number of its scene.
        let smoothing = settings.smoothing;
        let depends_on_others = smoothing.frames() > 1 || work.report() == Report::Everything;
        let needed = if depends_on_others { smoothing.memory() as usize } else { 0 };
        self.remembered.drain(..self.remembered.len().saturating_sub(needed));
    }

    /// Waits for a backend that is required to open, though no work is left for it.
    fn insist(&mut self) -> Result<()> {
        match self.opening.take_if(|(_, on_unavailable)| matches!(on_unavailable, OnUnavailable::Fail)) {
            Some((opening, _)) => {
                self.too_late = true;
                self.reserve = None;
                opening.take().map(drop)
            }
            None => Ok(()),
        }
    }
}

impl Executor for Failover {
    fn submit(&mut self, work: Work) -> Result<()> {
        if let Some((opening, _)) = &self.opening {
            let is_cleaned = work.guide().clean.as_ref().is_some_and(|clean| clean.share.to_256ths() > 0);
            let times = if is_cleaned { WITH_DENOISING } else { 1 };
            self.work = self.work.saturating_add(times * work.frame().bytes());
            opening.has_come(self.work);
        }
        if self.opening.as_ref().is_some_and(|(opening, _)| opening.is_ready()) {
            self.hand_over(work.settings().chroma)?;
            // The new backend may hold fewer frames than the first one.
            while self.active.in_flight() >= self.active.capacity() {
                self.collect_from_active()?;
            }
        }
        self.under_way.push_back(work.clone());
        self.active.submit(work).or_else(|error| self.recover(error))
    }

    fn remember(&mut self, seen: &Remembered) -> Result<()> {
        self.remembered.push_back(seen.clone());
        self.active.remember(seen).or_else(|error| self.recover(error))
    }

    fn collect(&mut self) -> Result<Option<Equalized>> {
        if self.done.is_empty() {
            self.collect_from_active()?;
        }
        Ok(self.done.pop_front())
    }

    fn finish(&mut self) -> Result<()> {
        self.finished = true;
        self.active.finish().or_else(|error| self.recover(error))?;
        self.insist()
    }

    fn in_flight(&self) -> usize {
        self.done.len() + self.active.in_flight()
    }

    fn capacity(&self) -> usize {
        self.active.capacity()
    }

    fn input_pool(&self, chroma: Chroma) -> Option<Arc<dyn Pool>> {
        match &self.pool {
            Some(pool) => Some(pool.clone()),
            None => self.active.input_pool(chroma),
        }
    }

    fn gpu(&self) -> Option<Arc<Gpu>> {
        self.active.gpu()
    }

    fn name(&self) -> String {
        let name = self.active.name();
        match (&self.began, self.equalized) {
            (None, _) if self.too_late || self.opening.is_some() => name + " before the GPU was open",
            (None, _) | (Some(_), 0) => name,
            (Some(first), 1) => format!("{name}, the first frame by {first}"),
            (Some(first), frames) => format!("{name}, the first {frames} by {first}"),
        }
    }
}

impl Drop for Failover {
    /// Reports, if it is known by now, that the other backend failed to open. Does not wait for that.
    fn drop(&mut self) {
        let known = self.opening.take_if(|(opening, _)| opening.is_ready() && !std::thread::panicking());
        if let Some((opening, OnUnavailable::Report(report))) = known
            && let Err(error) = opening.take()
        {
            report(error);
        }
    }
}

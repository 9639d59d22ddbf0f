//! The stage between source and sink: makes a [`Work`] of each frame, has a backend do it, and passes the result to
//! observers.
//!
//! ```text
//! frame -> Gray (--gray) -> Depth (--output-depth) -> CountedRegion (--roi auto)
//!       -> Guides, Denoising, or MappingSource (--load-curves) -> Work -> Executor -> observers -> Depth
//! ```
//!
//! With a look-ahead, a frame waits here until the later frames that its scene depends on are measured.
//!
//! Backends count all pixels alike, so frames with a [`Mask`], or with pixels of alpha 0, are counted here.

use super::counting::{CountedRegion, Gray, Mask};
use super::denoising::{Denoising, cleans};
use super::measuring::Measuring;
use super::verify::first_difference;
use super::{Applied, Depth, Equalized, Executor, OutputDepth, Role, Work};
use crate::error::{CallerError, Error, Result};
use crate::frame::{Frame, Limits, Pool};
use crate::spec::Guide;
use crate::spec::curves::{Mapping, Tone};
use crate::spec::natural::{Found, MeanFound};
use crate::spec::parameters::{Denoise, Method, Settings, Strength, Stretch, setters};
use crate::spec::time::Scene;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Gives frames mappings in place of those that would be computed for them.
pub trait MappingSource: Send {
    /// The mapping of frame `number`, counted from 0; [`Work::applying`] has to accept it.
    ///
    /// # Errors
    /// When there is no mapping for such a frame.
    fn mapping(&mut self, number: u64, frame: &Frame, settings: &Settings) -> Result<Given, CallerError>;
}

/// The mapping that a frame is given.
#[derive(Clone, Debug)]
pub struct Given {
    /// The mapping.
    pub mapping: Mapping,
    /// Its scene, if that is known.
    pub scene: Option<Scene>,
}

/// A frame that has come out of a backend.
pub struct Observation<'a> {
    /// Its number, counted from 0; frames that only warm up are not counted.
    pub number: u64,
    /// The work that went in.
    pub before: &'a Work,
    /// The result.
    pub after: &'a Equalized,
    /// If denoising gave the frame more bits: the frame with its noise, and the result with the original number of
    /// bits.
    pub original: Option<(&'a Frame, &'a Frame)>,
    /// The total time that the backend has worked on this thread so far.
    pub equalizing: Duration,
    /// The backend.
    pub backend: &'a dyn Executor,
}

/// Sees every frame and its result.
pub trait Observer: Send {
    /// Called when a frame is submitted.
    ///
    /// # Errors
    /// When the run cannot go on.
    fn submitted(&mut self, _work: &Work) -> Result<(), CallerError> {
        Ok(())
    }

    /// Called when the input has ended.
    ///
    /// # Errors
    /// When the run cannot go on.
    fn finished(&mut self) -> Result<(), CallerError> {
        Ok(())
    }

    /// Called when a frame has come out, even one that only warms up the backend.
    ///
    /// # Errors
    /// When the run cannot go on.
    fn equalized(&mut self, seen: Observation<'_>) -> Result<(), CallerError>;

    /// Whether everything that was applied to frames has to be reported.
    fn asks_for_everything(&self) -> bool {
        false
    }

    /// A suffix to the name of the backend.
    fn suffix(&self) -> &'static str {
        ""
    }
}

/// A backend, the steps before it, and the observers of its results.
pub struct EqualizeStage {
    backend: Box<dyn Executor>,
    settings: Settings,
    limits: Limits,
    gray: Option<Gray>,
    depth: Depth,
    region: CountedRegion,
    given: Option<Box<dyn MappingSource>>,
    mask: Option<Arc<Mask>>,
    stays_on_device: bool,
    measuring: Measuring,
    /// Works that wait for their guides, oldest first.
    undecided: VecDeque<Work>,
    denoising: Denoising,
    /// Works that wait for room in the backend, oldest first, with what is known of the result without the backend.
    ready: VecDeque<(Work, Applied)>,
    /// Whether the input has ended, but `finish` of the backend has not been called.
    ending: bool,
    observers: Vec<Box<dyn Observer>>,
    /// Works that are under way or wait for later frames, oldest first. Those that warm up come before all others.
    under_way: VecDeque<(Work, Applied)>,
    /// The numbers of frames that have gone in and come out, without those that warm up.
    submitted: u64,
    collected: u64,
    equalizing: Duration,
    found: MeanFound,
    /// The sum of the gains of frames whose levels are stretched to the whole range, and the number of these frames.
    stretched: (f64, u32),
    /// Whether every sample so far came out unchanged; false with methods that measure deficiencies.
    is_unchanged: bool,
    /// Whether no frame so far had a deficiency; false with methods that do not measure any.
    lacks_nothing: bool,
    /// Whether the assumptions of the look made no difference to any frame so far.
    is_as_measured: bool,
}

impl EqualizeStage {
    /// A stage that equalizes frames with `backend` and these settings.
    pub fn new(backend: Box<dyn Executor>, settings: Settings) -> Self {
        let limits = Limits::default();
        EqualizeStage {
            backend,
            settings,
            gray: None,
            depth: Depth::new(OutputDepth::default(), &limits),
            region: CountedRegion::default(),
            given: None,
            mask: None,
            stays_on_device: false,
            measuring: Measuring::default(),
            undecided: VecDeque::new(),
            denoising: Denoising::on_threads(0, &limits),
            limits,
            ready: VecDeque::new(),
            ending: false,
            observers: Vec::new(),
            under_way: VecDeque::new(),
            submitted: 0,
            collected: 0,
            equalizing: Duration::ZERO,
            found: MeanFound::default(),
            stretched: (0.0, 0),
            is_unchanged: true,
            lacks_nothing: true,
            is_as_measured: true,
        }
    }

    setters! {
        /// Applies the mappings of this source to frames, if there is one.
        pub fn with_mappings(given: Option<Box<dyn MappingSource>>) => given = given;

        /// Counts each sample by its weight in this mask, if there is one. Works with all methods but those of tiles
        /// ([`Method::grid`](crate::spec::parameters::Method::grid)).
        pub fn with_mask(mask: Option<Arc<Mask>>) => mask = mask;

        /// Leaves results on the GPU, if `stays` and the backend is a GPU ([`Work::staying_on_device`]). Results whose
        /// depth changes ([`OutputDepth`]) are on the host all the same.
        pub fn staying_on_device(stays: bool) => stays_on_device = stays;

        /// Measures frames on this many threads besides that of the stage, and decides on them on one more. These
        /// threads delay each result by some frames, so do not use them where a viewer waits for each frame.
        pub fn measuring_on(threads: usize) => measuring = Measuring::on_threads(threads);
    }

    /// Frames that the steps before the backend make count towards these limits. To be called first.
    #[must_use]
    pub fn within(self, limits: &Limits) -> Self {
        let (depth, denoising) = (Depth::new(OutputDepth::default(), limits), Denoising::on_threads(0, limits));
        EqualizeStage { limits: limits.clone(), depth, denoising, ..self }
    }

    /// Removes the colour of frames first, if `gray`.
    #[must_use]
    pub fn gray(self, gray: bool) -> Self {
        EqualizeStage { gray: gray.then(|| Gray::new(&self.limits)), ..self }
    }

    /// Sets the depth of the output.
    #[must_use]
    pub fn with_output_depth(self, output: OutputDepth) -> Self {
        EqualizeStage { depth: Depth::new(output, &self.limits), ..self }
    }

    /// Removes noise on this many threads besides that of the stage, from live video too.
    #[must_use]
    pub fn denoising_on(self, threads: usize) -> Self {
        EqualizeStage { denoising: Denoising::on_threads(threads, &self.limits), ..self }
    }

    /// The limits of the frames that it makes.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Adds an observer.
    #[must_use]
    pub fn observed_by(mut self, observer: Box<dyn Observer>) -> Self {
        self.observers.push(observer);
        self
    }

    /// Sets the number of the first frame, 0 by default.
    #[must_use]
    pub fn from_frame(self, number: u64) -> Self {
        EqualizeStage { submitted: number, collected: number, ..self }
    }

    /// Other settings for the frames that are submitted from now on. Frames before still count
    /// ([`Equalization::set`](crate::spec::curves::Equalization::set)).
    pub fn set(&mut self, settings: Settings) {
        self.settings = settings;
    }

    /// Takes in a frame before the wanted ones, which depend on it. To be called before the first
    /// [`submit`](Self::submit).
    ///
    /// # Errors
    /// When the backend or an observer fails, or the mask has another size.
    pub fn warm_up(&mut self, frame: Frame) -> Result<()> {
        // Nothing is remembered of frames with given mappings.
        if self.given.is_some() {
            return Ok(());
        }
        let work = self.work(frame)?.warming_up();
        self.decide(work)?;
        self.pass_to_backend()
    }

    /// Takes in a frame. Call [`collect`](Self::collect) first unless [`has_room`](Self::has_room).
    ///
    /// # Errors
    /// When the backend or an observer fails, there is no mapping for such a frame, or the mask has another size.
    pub fn submit(&mut self, frame: Frame) -> Result<()> {
        let work = self.work(frame)?;
        self.take_in(work)
    }

    /// Takes in a frame after the wanted ones, which depend on it. Its own result is not used, and may keep its
    /// noise.
    ///
    /// # Errors
    /// As for [`submit`](Self::submit).
    pub fn submit_behind(&mut self, frame: Frame) -> Result<()> {
        let work = self.work(frame)?.lying_behind();
        self.take_in(work)
    }

    fn take_in(&mut self, work: Work) -> Result<()> {
        match &mut self.given {
            Some(given) => {
                let Given { mapping, scene } = given.mapping(self.submitted, work.frame(), &self.settings)?;
                self.ready.push_back((work.applying(mapping), Applied { scene, ..Applied::default() }));
            }
            None => self.decide(work)?,
        }
        self.submitted += 1;
        self.pass_to_backend()
    }

    /// Adds a work, and passes on the works that can be decided with it.
    fn decide(&mut self, work: Work) -> Result<()> {
        if !work.settings().needs_measures() {
            self.end_guides()?;
            self.denoising.push(work, self.backend.gpu())?;
            return self.take_clean(Denoising::next);
        }
        self.measuring.begin(work);
        self.take_measured(Measuring::next)
    }

    /// Passes on the works that can be decided with the measured frames that `next` returns.
    fn take_measured(&mut self, next: impl Fn(&mut Measuring) -> Result<Option<(Work, Vec<Guide>)>>) -> Result<()> {
        while let Some((work, guides)) = next(&mut self.measuring)? {
            self.undecided.push_back(work);
            self.guided(guides)?;
        }
        Ok(())
    }

    /// Passes on the oldest works that wait for their guides, with these guides.
    fn guided(&mut self, guides: Vec<Guide>) -> Result<()> {
        for guide in guides {
            let Some(work) = self.undecided.pop_front() else { break };
            self.denoising.push(work.guided(guide), self.backend.gpu())?;
            self.take_clean(Denoising::next)?;
        }
        Ok(())
    }

    /// Passes on the denoised works that `next` returns.
    fn take_clean(&mut self, next: impl Fn(&mut Denoising) -> Result<Option<Work>>) -> Result<()> {
        while let Some(work) = next(&mut self.denoising)? {
            self.ready.push_back((work.counting_by_weight()?, Applied::default()));
        }
        Ok(())
    }

    /// Waits for the guides of all works so far, and passes the works on.
    fn end_guides(&mut self) -> Result<()> {
        self.take_measured(Measuring::wait)?;
        if self.undecided.is_empty() {
            return Ok(());
        }
        let guides = self.measuring.finish()?;
        self.guided(guides)
    }

    fn work(&mut self, frame: Frame) -> Result<Work> {
        let mask = weights(&frame, self.mask.as_ref(), self.submitted)?;
        let frame = match &mut self.gray {
            Some(gray) => gray.without_colour(&frame)?,
            None => frame,
        };
        let mut settings = self.settings;
        if !cleans(&frame, settings.denoise) {
            settings.denoise = Denoise::Off;
        }
        let (frame, settings) = self.depth.lift(frame, settings)?;
        let mut counted = self.region.next(&frame, &settings)?;
        if self.mask.is_some() && settings.method.grid().is_some() {
            return Err(Error::MaskedTiles);
        }
        if let Some(mask) = &mask {
            counted = mask.around(counted);
        }
        let work = Work::new(frame, settings).counting(counted).with_mask(mask);
        let work = work.staying_on_device(self.stays_on_device);
        let everything = self.observers.iter().any(|observer| observer.asks_for_everything());
        Ok(if everything { work.reporting_everything() } else { work })
    }

    /// Submits ready works, as far as the backend has room. Results of frames that warm up are dropped to make room.
    fn pass_to_backend(&mut self) -> Result<()> {
        while !self.ready.is_empty() {
            if self.backend.in_flight() >= self.backend.capacity() {
                let warming_up = |(work, _): &(Work, Applied)| matches!(work.role(), Role::WarmUp);
                if !self.under_way.front().is_some_and(warming_up) {
                    return Ok(());
                }
                self.collect_next()?;
                continue;
            }
            let Some((work, known)) = self.ready.pop_front() else { break };
            self.observers.iter_mut().try_for_each(|observer| observer.submitted(&work))?;
            self.under_way.push_back((work.clone(), known));
            self.timed(|backend| backend.submit(work))?;
        }
        if std::mem::take(&mut self.ending) {
            self.observers.iter_mut().try_for_each(|observer| observer.finished())?;
            self.backend.finish()?;
        }
        Ok(())
    }

    /// The oldest frame under way, equalized, waiting until it is done; `None` when there is none.
    ///
    /// # Errors
    /// When the backend or an observer fails.
    pub fn collect(&mut self) -> Result<Option<Equalized>> {
        loop {
            let next = if self.backend.in_flight() > 0 { Measuring::next } else { Measuring::wait };
            self.take_measured(next)?;
            self.take_clean(if self.backend.in_flight() > 0 { Denoising::next } else { Denoising::wait })?;
            self.pass_to_backend()?;
            let collected = self.collect_next()?;
            self.pass_to_backend()?;
            match collected {
                Some((work, equalized)) if !matches!(work.role(), Role::WarmUp) => return Ok(Some(equalized)),
                None if self.ready.is_empty() => return Ok(None),
                _ => {}
            }
        }
    }

    /// Runs `work` on the backend. Measures its time only if there are observers, since not every system has a clock.
    fn timed<T>(&mut self, work: impl FnOnce(&mut dyn Executor) -> T) -> T {
        let begin = (!self.observers.is_empty()).then(Instant::now);
        let done = work(self.backend.as_mut());
        self.equalizing += begin.map_or(Duration::ZERO, |begin| begin.elapsed());
        done
    }

    fn collect_next(&mut self) -> Result<Option<(Work, Equalized)>> {
        let Some(mut equalized) = self.timed(|backend| backend.collect())? else { return Ok(None) };
        let (before, known) =
            self.under_way.pop_front().ok_or_else(|| Error::Worker("the backend gave a frame too many".to_owned()))?;
        equalized.applied.counts = equalized.applied.counts.or(known.counts);
        equalized.applied.scene = equalized.applied.scene.or(known.scene);
        equalized.applied.found = before.guide().found;
        let frame = self.depth.lower(equalized.frame.clone())?;
        let frame = match before.original() {
            Some(original) => self.depth.dithered(&frame, original.frame.format())?,
            None => frame,
        };
        for observer in &mut self.observers {
            let seen = Observation {
                number: self.collected,
                original: before.original().map(|original| (&original.frame, &frame)),
                before: &before,
                after: &equalized,
                equalizing: self.equalizing,
                backend: self.backend.as_ref(),
            };
            observer.equalized(seen)?;
        }
        if !matches!(before.role(), Role::WarmUp) {
            self.collected += 1;
            // The comparison ends at the first difference, so it takes little time for frames that are changed.
            let is_all = before.settings().denoise == Denoise::Off && self.gray.is_none();
            self.is_unchanged &= is_all && before.guide().found.is_none() && is_same(before.frame(), &frame);
            self.lacks_nothing &= self.gray.is_none() && before.guide().found.is_some_and(|found| found.is_nothing());
            self.is_as_measured &= before.guide().is_as_measured;
            before.guide().found.iter().for_each(|found| self.found.add(found));
            if let (Stretch::Full { .. }, Some(Tone { range: (first, last), .. })) =
                (before.settings().stretch, before.guide().tone)
            {
                let white = before.frame().levels().count() - 1;
                self.stretched.0 += white as f64 / f64::from((last - first).max(1));
                self.stretched.1 += 1;
            }
        }
        Ok(Some((before, Equalized { frame, ..equalized })))
    }

    /// Ends the input: frames that wait for later ones are under way now.
    ///
    /// # Errors
    /// When the backend or an observer fails.
    pub fn finish(&mut self) -> Result<()> {
        self.end_guides()?;
        self.denoising.finish()?;
        self.take_clean(Denoising::wait)?;
        self.ending = true;
        self.pass_to_backend()
    }

    /// The most frames that can be collected without another one being submitted, those that warm up included.
    pub fn in_flight(&self) -> usize {
        self.backend.in_flight() + self.ready.len() + self.measuring.len() + self.denoising.len()
    }

    /// Whether another frame may be submitted.
    pub fn has_room(&self) -> bool {
        self.ready.is_empty() && self.backend.in_flight() < self.backend.capacity()
    }

    /// Memory that the backend reads faster than any other, if there is such a kind.
    pub fn input_pool(&self) -> Option<Arc<dyn Pool>> {
        self.backend.input_pool(self.settings.chroma)
    }

    /// The mean deficiencies of the frames so far, with [`Method::Natural`](crate::spec::parameters::Method::Natural).
    pub fn found(&self) -> Option<Found> {
        self.found.get()
    }

    /// The mean gain of levels that are stretched to the whole range, where they are.
    pub fn stretched(&self) -> Option<f64> {
        let (sum, frames) = self.stretched;
        (frames > 0).then(|| sum / f64::from(frames))
    }

    /// Whether frames are unchanged because the strength is 0. Equalization can stretch levels even at strength 0.
    pub fn was_told_nothing(&self) -> bool {
        let Settings { strength, method, stretch, .. } = self.settings;
        // The method natural removes noise only from frames that it corrects.
        let stays = match method {
            Method::Natural { .. } => self.found().is_none(),
            _ => matches!(stretch, Stretch::Full { .. }) && self.is_unchanged,
        };
        self.collected > 0 && strength.to_256ths() == 0 && stays
    }

    /// The share of the correction that is applied to the frames that are submitted from now on.
    pub fn strength(&self) -> Strength {
        self.settings.strength
    }

    /// Whether all samples of all frames came out unchanged. False for frames on a GPU, and with
    /// [`Method::Natural`](crate::spec::parameters::Method::Natural), for which see [`found`](Self::found).
    pub fn changed_nothing(&self) -> bool {
        self.collected > 0 && self.is_unchanged
    }

    /// Whether no frame had a deficiency, with [`Method::Natural`](crate::spec::parameters::Method::Natural).
    pub fn found_nothing(&self) -> bool {
        self.collected > 0 && self.lacks_nothing
    }

    /// Whether what the look assumes ([`Assumed`](crate::spec::natural::Assumed)) made no difference to any frame.
    pub fn look_made_no_difference(&self) -> bool {
        self.collected > 0 && self.is_as_measured
    }

    /// The name of the backend, for the summary.
    pub fn name(&self) -> String {
        self.observers.iter().fold(self.backend.name(), |name, observer| name + observer.suffix())
    }
}

/// Whether two frames in the memory of the host have the same samples.
fn is_same(before: &Frame, after: &Frame) -> bool {
    let is_here = |frame: &Frame| frame.planes().iter().all(|plane| plane.on_device().is_none());
    before.format() == after.format() && is_here(before) && is_here(after) && first_difference(before, after).is_none()
}

/// The weights of the pixels of frame `number`, with this mask; `None` where they are alike.
///
/// # Errors
/// When the mask has another size, or the GPU that the frame is on fails.
pub(super) fn weights(frame: &Frame, mask: Option<&Arc<Mask>>, number: u64) -> Result<Option<Arc<Mask>>> {
    if let Some(mask) = mask {
        mask.check(number, frame)?;
    }
    let visible = Mask::for_visible(frame, mask.map(Arc::as_ref))?;
    Ok(visible.map(Arc::new).or_else(|| mask.cloned()))
}

//! Decides in one pass over a video what is applied to each frame, without applying it. Then frames are equalized in
//! any order.
//!
//! ```text
//! Study   frame -> EqualizeStage -> Recorder (an Executor that counts and decides) -> Decided
//! Mapper  Decided, its frame, those around it -> Gray, Depth, Alone (noise) -> Engine -> frame
//! ```

use super::counting::Gray;
use super::counting::gray::gray_of;
use super::cpu::Engine;
use super::denoising::cleans;
use super::depth::sibling;
use super::noise_job::{Alone, MeasuredNoise};
use super::{Applied, Depth, EqualizeStage, Equalized, Executor, OutputDepth, Survey, Work};
use crate::error::{Error, Result};
use crate::frame::{Frame, HostPool, Limits, PixelFormat};
use crate::spec::curves::Mapping;
use crate::spec::curves::tone::Balance;
use crate::spec::parameters::{Denoise, Settings};
use crate::spec::time::{Decision, Remembered, Temporal};
use crate::spec::{Cleaning, Guide};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The mapping and the denoising of a frame.
#[derive(Clone, Debug)]
pub struct Decided {
    mapping: Mapping,
    clean: Option<Cleaning>,
    /// How many frames before and after the frame are used to denoise it.
    around: (usize, usize),
    noise: MeasuredNoise,
}

impl Decided {
    /// The numbers of frames before and after the frame that are needed to denoise it.
    pub fn around(&self) -> (usize, usize) {
        self.around
    }

    /// Whether noise is removed.
    pub fn removes_noise(&self) -> bool {
        self.clean.is_some()
    }

    /// The same mapping, without denoising.
    #[must_use]
    pub fn keeping_noise(&self) -> Self {
        Decided { mapping: self.mapping.clone(), clean: None, around: (0, 0), noise: MeasuredNoise::default() }
    }

    /// The approximate size in bytes.
    pub fn bytes(&self) -> usize {
        let clean = self.clean.as_ref().and_then(|clean| clean.mapping.as_ref());
        size_of::<Self>() + self.mapping.bytes() + clean.map_or(0, Mapping::bytes)
    }

    fn for_scene(mapping: Mapping) -> Self {
        Decided { mapping, clean: None, around: (0, 0), noise: MeasuredNoise::default() }
    }
}

/// The pass over a video, or a part of it.
pub struct FrameStudy {
    pass: Pass,
    decided: VecDeque<Decided>,
}

enum Pass {
    /// Each frame depends on the frames of a window around it.
    Windows(Box<EqualizeStage>, Arc<Mutex<Record>>),
    /// All frames of a scene have one mapping; `None` after the end of the video.
    Scenes(Option<Box<Survey>>),
}

impl FrameStudy {
    /// The state before the first frame of a video with these settings, whose result is without colour if `gray`, and
    /// has the depth `output`. With `is_whole`, each scene has one mapping; otherwise frames are measured on this many
    /// threads, or with 0 on that of the caller.
    pub fn new(
        settings: Settings,
        gray: bool,
        output: OutputDepth,
        is_whole: bool,
        threads: usize,
        limits: &Limits,
    ) -> Self {
        let pass = if is_whole {
            Pass::Scenes(Some(Survey::new(settings, gray, output, None, limits).into()))
        } else {
            let record = Arc::default();
            let recorder = Box::new(Recorder::new(Arc::clone(&record)));
            let stage = EqualizeStage::new(recorder, settings).within(limits).gray(gray).with_output_depth(output);
            let stage = stage.measuring_on(threads).denoising_on(threads);
            Pass::Windows(stage.into(), record)
        };
        FrameStudy { pass, decided: VecDeque::new() }
    }

    /// Adds the next frame.
    ///
    /// # Errors
    /// When the frame cannot be measured, or the video has ended.
    pub fn push(&mut self, frame: Frame) -> Result<()> {
        match &mut self.pass {
            // Frames that warm up are denoised only if they are counted.
            Pass::Windows(stage, _) => stage.warm_up(frame)?,
            Pass::Scenes(survey) => survey.as_mut().ok_or(Error::Finished)?.add(&frame)?,
        }
        self.take();
        Ok(())
    }

    /// Ends the video, and decides all remaining frames.
    ///
    /// # Errors
    /// As for [`push`](FrameStudy::push).
    pub fn finish(&mut self) -> Result<()> {
        match &mut self.pass {
            Pass::Windows(stage, _) => {
                stage.finish()?;
                while stage.collect()?.is_some() {}
            }
            Pass::Scenes(survey) => {
                let scenes = survey.take().ok_or(Error::Finished)?.finish();
                let mappings = (0..scenes.frames()).filter_map(|number| scenes.at(number));
                self.decided.extend(mappings.map(|(mapping, _)| Decided::for_scene(mapping.clone())));
            }
        }
        self.take();
        Ok(())
    }

    fn take(&mut self) {
        if let Pass::Windows(_, record) = &self.pass {
            self.decided.extend(std::iter::from_fn(|| lock(record).next()));
        }
    }

    /// The decision on the next frame, after all frames so far are measured; `None` if it depends on later frames.
    ///
    /// # Errors
    /// When a frame cannot be measured.
    pub fn decided(&mut self) -> Result<Option<Decided>> {
        if let (None, Pass::Windows(stage, _)) = (self.decided.front(), &mut self.pass) {
            while stage.collect()?.is_some() {}
            self.take();
        }
        Ok(self.decided.pop_front())
    }
}

fn lock(record: &Mutex<Record>) -> MutexGuard<'_, Record> {
    record.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The decisions on the frames of a video, in order.
#[derive(Default)]
struct Record {
    /// How noise is removed, and with how many frames before and after.
    clean: VecDeque<(Option<Cleaning>, (usize, usize))>,
    /// The mappings, which may be decided later.
    mappings: VecDeque<Mapping>,
}

impl Record {
    fn next(&mut self) -> Option<Decided> {
        let mapping = self.mappings.pop_front()?;
        let (clean, around) = self.clean.pop_front()?;
        Some(Decided { mapping, clean, around, noise: MeasuredNoise::default() })
    }
}

/// A backend that equalizes nothing, and records what another one would apply.
struct Recorder {
    engine: Engine,
    temporal: Temporal<()>,
    record: Arc<Mutex<Record>>,
    done: VecDeque<Equalized>,
}

impl Recorder {
    fn new(record: Arc<Mutex<Record>>) -> Self {
        Recorder { engine: Engine::best(), temporal: Temporal::default(), record, done: VecDeque::new() }
    }
}

impl Executor for Recorder {
    fn submit(&mut self, work: Work) -> Result<()> {
        work.frame().bring_down()?;
        let counts = self.engine.counts(&work);
        let ready = self.temporal.next(work.settings(), work.guide(), &counts, ());
        let mut record = lock(&self.record);
        let clean = work.guide().clean.clone().filter(|clean| clean.share.to_256ths() > 0);
        record.clean.push_back((clean, work.clean_with));
        record.mappings.extend(ready.map(|((), Decision { mapping, .. })| mapping));
        self.done.push_back(Equalized { frame: work.into_frame(), applied: Applied::default() });
        Ok(())
    }

    fn remember(&mut self, seen: &Remembered) -> Result<()> {
        self.temporal.remember(seen);
        Ok(())
    }

    fn collect(&mut self) -> Result<Option<Equalized>> {
        Ok(self.done.pop_front())
    }

    fn finish(&mut self) -> Result<()> {
        let left = std::iter::from_fn(|| self.temporal.pop_waiting());
        lock(&self.record).mappings.extend(left.map(|((), Decision { mapping, .. })| mapping));
        Ok(())
    }

    fn in_flight(&self) -> usize {
        self.done.len()
    }

    fn name(&self) -> String {
        "study".to_owned()
    }
}

/// Applies decisions to frames, in any order, on the thread of the caller.
pub struct FrameMapper {
    settings: Settings,
    gray: Option<Gray>,
    output: OutputDepth,
    depth: Depth,
    alone: Alone,
    engine: Engine,
    limits: Limits,
}

impl FrameMapper {
    /// A mapper with the settings of the [`FrameStudy`], whose planes count towards these limits.
    pub fn new(settings: Settings, gray: bool, output: OutputDepth, limits: &Limits) -> Self {
        FrameMapper {
            settings,
            gray: gray.then(|| Gray::new(limits)),
            output,
            depth: Depth::new(output, limits),
            alone: Alone::new(limits),
            engine: Engine::best_in(HostPool::new(limits)),
            limits: limits.clone(),
        }
    }

    /// Equalizes the frame of `decided`. `frames` are the frames [around](Decided::around) it, with the frame itself in
    /// between.
    ///
    /// # Errors
    /// When the number of frames is wrong, or one cannot be converted to the output depth.
    pub fn apply(&mut self, decided: &Decided, frames: &[Frame]) -> Result<Frame> {
        let (index, behind) = decided.around;
        if frames.len() != index + 1 + behind {
            return Err(Error::FrameCount { needed: index + 1 + behind, found: frames.len() });
        }
        let applied = self.applied(decided, frames, index);
        if applied.is_err() {
            // `depth` may still wait for frames that were lifted before the error.
            self.depth = Depth::new(self.output, &self.limits);
        }
        applied
    }

    fn applied(&mut self, decided: &Decided, frames: &[Frame], index: usize) -> Result<Frame> {
        let mut settings = self.settings;
        let mut ready = Vec::with_capacity(frames.len());
        for frame in frames {
            let frame = match &mut self.gray {
                Some(gray) => gray.without_colour(frame)?,
                None => frame.clone(),
            };
            if !cleans(&frame, settings.denoise) {
                settings.denoise = Denoise::Off;
            }
            let lifted = self.depth.lift(frame, settings)?;
            ready.push(lifted);
        }
        (0..index).for_each(|_| self.depth.drop_lifted());
        let (frame, settings) = ready[index].clone();
        let guide = Guide { mapping: Some(decided.mapping.clone()), clean: decided.clean.clone(), ..Guide::default() };
        let mut work = Work::new(frame, settings).guided(guide);
        if let Some(Cleaning { share, .. }) = &decided.clean {
            let frames: Vec<Frame> = ready.into_iter().map(|(frame, _)| frame).collect();
            work =
                work.cleaned(self.alone.clean(&frames, index, (*share, settings.denoise.effort()), &decided.noise)?);
        }
        let mapping = work.guide().mapping.clone().unwrap_or(Mapping::Balance(Balance::IDENTITY));
        if !mapping.suits(work.frame().levels()) {
            return Err(Error::NotDecided);
        }
        let equalized = self.engine.apply(&work, work.frame(), &mapping).frame;
        let frame = self.depth.lower(equalized)?;
        (index + 1..frames.len()).for_each(|_| self.depth.drop_lifted());
        match work.original() {
            Some(original) => self.depth.dithered(&frame, original.frame.format()),
            None => Ok(frame),
        }
    }
}

/// The format of the result for frames of `format`: without colour if `gray`, and with the depth `output`.
///
/// # Errors
/// When there is no such format.
pub fn output_format(format: PixelFormat, gray: bool, output: OutputDepth) -> Result<PixelFormat> {
    let depth = format.depth();
    let format = if gray { gray_of(depth).ok_or(Error::NoGrayFormat { depth })? } else { format };
    match output {
        OutputDepth::Ten if depth == 8 => sibling(format, 10).ok_or(Error::NoDeeperFormat { format }),
        OutputDepth::Eight if depth > 8 => Ok(sibling(format, 8).unwrap_or(format)),
        _ => Ok(format),
    }
}

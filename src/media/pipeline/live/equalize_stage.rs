//! The equalizing thread between camera and outputs.

use super::gray_watch::GrayWatch;
use super::noise_budget::NoiseBudget;
use super::output_queue::OutputQueue;
use super::warm_up::{self, WarmingUp};
use super::{Captured, DropOldestQueue, Latency, Onlooker, SharedSettings, Shown};
use crate::pipeline::{Delivery, Input, Progress, Source, Stage, from_stage};
use anyhow::{Context, Result, ensure};
use histeq::internal::equalize::{EqualizeStage, Equalized};
use histeq::internal::frame::Frame;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// If this many captured frames wait, the queue is almost full.
const WAITING: usize = 3;

/// Equalizes captured frames, and adds them to the queues of viewer and outputs.
pub(super) struct LiveEqualizer<'a> {
    pub(super) stage: EqualizeStage,
    pub(super) shared_settings: &'a SharedSettings,
    pub(super) filter: Option<FrameFilter>,
    pub(super) noise_budget: NoiseBudget,
    pub(super) gray_watch: GrayWatch,
    pub(super) captured: &'a DropOldestQueue<Captured>,
    pub(super) shown: Option<&'a DropOldestQueue<(Shown, Instant)>>,
    pub(super) onlooker: Option<Onlooker>,
    pub(super) queues: &'a [OutputQueue],
    pub(super) progress: &'a Progress,
    /// `None` once the warm-up of this run is over.
    pub(super) warming_up: Option<WarmingUp>,
    /// Number of frames equalized so far.
    pub(super) equalized: u64,
    /// Number of captured frames that had been dropped at the last check.
    pub(super) dropped: u64,
}

impl LiveEqualizer<'_> {
    /// Equalizes until the queue of captured frames is closed. A frame is submitted before the oldest one is collected
    /// only if it has already been captured.
    pub(super) fn run(mut self) -> Result<(String, Latency)> {
        let mut under_way: VecDeque<Captured> = VecDeque::new();
        let mut latency = Latency::default();
        loop {
            let next = match self.stage.in_flight() {
                0 => match self.captured.pop() {
                    Some(captured) => Some(captured),
                    None => {
                        self.progress.set_done(&self.stage);
                        return Ok((self.stage.name(), latency));
                    }
                },
                _ if self.stage.has_room() => self.captured.try_pop(),
                _ => None,
            };
            if let Some(captured) = next {
                let is_late = self.is_late();
                // The shared settings are the ones that the user sees, so they replace those of the stage.
                let settings = self.noise_budget.limit(self.shared_settings.get(), is_late, Instant::now());
                self.stage.set(settings);
                self.progress
                    .measure(Stage::Equalize, || self.stage.submit(captured.frame.clone()))
                    .map_err(from_stage)?;
                under_way.push_back(captured);
            } else {
                self.collect(&mut under_way, &mut latency)?;
            }
        }
    }

    /// Whether captured frames wait or were dropped: then equalizing takes longer than the frame interval.
    fn is_late(&mut self) -> bool {
        let before = std::mem::replace(&mut self.dropped, self.captured.dropped());
        self.warming_up.is_none() && (self.captured.waiting() >= WAITING || self.dropped > before)
    }

    /// Collects the oldest frame in flight and adds it to the queues; does nothing if no frame is ready.
    fn collect(&mut self, under_way: &mut VecDeque<Captured>, latency: &mut Latency) -> Result<()> {
        let Some(mut equalized) =
            self.progress.measure(Stage::Equalize, || self.stage.collect()).map_err(from_stage)?
        else {
            return Ok(());
        };
        let Some(Captured { frame: original, at: moment }) = under_way.pop_front() else { return Ok(()) };
        self.gray_watch.look(&original);
        if let Some(filter) = &mut self.filter {
            equalized.frame = filter.apply(equalized.frame)?;
        }
        let elapsed = moment.elapsed();
        latency.add(elapsed);
        if self.shown.is_none() {
            self.progress.set_latency(elapsed);
        }
        self.progress.count_written();
        let is_paused = self.shared_settings.is_recording_paused();
        for output in self.queues.iter().filter(|output| !(is_paused && output.is_recording)) {
            output.push(equalized.frame.clone());
        }
        let Equalized { frame, applied } = equalized;
        self.noise_budget.look(applied.found.is_some_and(|found| found.noise > 0));
        let shown = Shown { original, equalized: frame, number: self.equalized, applied };
        if let Some(onlooker) = &mut self.onlooker {
            onlooker(&shown);
        }
        if let Some(slot) = self.shown {
            slot.push((shown, moment));
        }
        self.equalized += 1;
        if self.equalized >= warm_up::FRAMES {
            self.warming_up = None;
        }
        Ok(())
    }
}

/// A filter that gives exactly one frame for each frame.
pub struct FrameFilter {
    next: Next,
    filtered: Box<dyn Source>,
}

/// The next frame for the filter.
#[derive(Clone, Default)]
struct Next(Arc<Mutex<Option<Frame>>>);

impl Source for Next {
    fn next(&mut self) -> Result<Option<Delivery>> {
        let frame = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        ensure!(frame.is_some(), "the filter behind the equalizer holds a frame back");
        Ok(Some(Delivery { frame, ..Delivery::default() }))
    }
}

impl FrameFilter {
    /// The filter that `build` connects to a source of equalized frames, and the properties of its output.
    ///
    /// # Errors
    /// The error of `build`.
    pub fn new(build: impl FnOnce(Box<dyn Source>) -> Result<(Box<dyn Source>, Input)>) -> Result<(Self, Input)> {
        let next = Next::default();
        let (filtered, input) = build(Box::new(next.clone()))?;
        Ok((FrameFilter { next, filtered }, input))
    }

    /// Filters `frame`.
    ///
    /// # Errors
    /// When the filter fails, or needs more frames before it gives one.
    pub fn apply(&mut self, frame: Frame) -> Result<Frame> {
        *self.next.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(frame);
        let delivery = self.filtered.next()?;
        delivery.and_then(|delivery| delivery.frame).context("the filter behind the equalizer gave no frame")
    }
}

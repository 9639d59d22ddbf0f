//! An equalizer that is watched: each frame is measured before and after, and leaves a record; its curve is kept. Which
//! curve the backend used is not asked of it but computed once more; every backend gives the same bytes, so it is the
//! same curve.

use super::measures::{curve_change, deviation, entropy, largest_slope, mean};
use super::{Record, Recording, eme::eme};
use crate::curves::{Kind, Saving};
use crate::equalize::cpu::{Engine, Isa};
use crate::equalize::{Equalizer, counted, whole};
use crate::frame::{Frame, HostPool, Pool};
use crate::pipeline::{Input, Progress, Stage};
use crate::spec::{Curve, Equalization, Levels, Method, Settings, Step, Turn};
use anyhow::{Context, Result};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A backend under observation.
pub struct Observed {
    backend: Box<dyn Equalizer>,
    recording: Option<Recording>,
    saving: Option<Saving>,
    progress: Arc<Progress>,
    /// Seconds in a unit of the frames' times.
    time_unit: f64,
    engine: Engine,
    equalization: Equalization,
    settings: Settings,
    curve: Option<Arc<Curve>>,
    /// The frames under way, and what they are equalized with. They share their planes with the backend's.
    inputs: VecDeque<(Frame, Settings, Option<Arc<Curve>>)>,
    frame: u64,
    /// The scene that the first frame belongs to: frames from before it were seen, too, and may have had others.
    first_scene: Option<u64>,
    last_curve: Option<(Levels, Curve)>,
    /// What the backend has taken so far.
    equalizing: Duration,
    /// Decoding, equalizing and encoding, as of the last record.
    recorded: [Duration; 3],
}

impl Observed {
    /// Records what `backend`, which was made with the same settings, does to the frames of `input`, and saves the
    /// curves that it sends them through, where either is asked for.
    pub fn new(
        backend: Box<dyn Equalizer>,
        settings: Settings,
        input: &Input,
        progress: Arc<Progress>,
        recording: Option<Recording>,
        saving: Option<Saving>,
    ) -> Self {
        let Some(engine) = Engine::new(Isa::best(), HostPool::default()) else {
            unreachable!("the best of the available instruction sets is available")
        };
        Observed {
            backend,
            recording,
            saving,
            progress,
            time_unit: f64::from(input.video_stream().time_base),
            engine,
            equalization: Equalization::new(settings),
            settings,
            curve: None,
            inputs: VecDeque::new(),
            frame: 0,
            first_scene: None,
            last_curve: None,
            equalizing: Duration::ZERO,
            recorded: [Duration::ZERO; 3],
        }
    }

    /// What the next frame leads to.
    fn step(&mut self, frame: &Frame, settings: Settings) -> Step {
        self.equalization.set(settings);
        self.equalization.next(&self.engine.histogram(frame, counted(frame, settings.region)))
    }

    fn record(&mut self, before: &Frame, after: &Frame, turn: &Turn, curve: Option<Curve>) -> Record {
        let all = self.engine.histogram(before, whole(before));
        let equalized = self.engine.histogram(after, whole(after));
        let levels = all.levels();
        let last = self.last_curve.take().filter(|(of, _)| *of == levels);
        let change = |curve: &Curve| last.as_ref().map_or(0.0, |(_, last)| curve_change(last, curve, levels));
        let (slope, change) = (curve.as_ref().map(|curve| largest_slope(curve, levels)), curve.as_ref().map(change));
        self.last_curve = curve.map(|curve| (levels, curve));
        let [decode, equalize, encode] = self.times();
        Record {
            frame: self.frame,
            time: before.pts.map(|pts| rounded(pts as f64 * self.time_unit)),
            scene: turn.scene.saturating_sub(*self.first_scene.get_or_insert(turn.scene)),
            cut: turn.cut,
            after_flash: turn.after_flash,
            mean_before: rounded(mean(&all)),
            mean_after: rounded(mean(&equalized)),
            deviation_before: rounded(deviation(&all)),
            deviation_after: rounded(deviation(&equalized)),
            entropy_before: rounded(entropy(&all)),
            entropy_after: rounded(entropy(&equalized)),
            eme_before: rounded(eme(before)),
            eme_after: rounded(eme(after)),
            ambe: rounded((mean(&all) - mean(&equalized)).abs()),
            slope,
            curve_change: change.map(rounded),
            decode_ms: decode,
            equalize_ms: equalize,
            encode_ms: encode,
        }
    }

    /// What each stage has taken since the last record, in milliseconds.
    fn times(&mut self) -> [f64; 3] {
        let now = [self.progress.busy(Stage::Source), self.equalizing, self.progress.busy(Stage::Sink)];
        let last = std::mem::replace(&mut self.recorded, now);
        let since = |stage: usize| rounded(now[stage].saturating_sub(last[stage]).as_secs_f64() * 1e3);
        [since(0), since(1), since(2)]
    }

    /// Runs the backend, on its own account.
    fn equalize<T>(&mut self, work: impl FnOnce(&mut dyn Equalizer) -> T) -> T {
        let begin = Instant::now();
        let result = work(self.backend.as_mut());
        self.equalizing += begin.elapsed();
        result
    }
}

impl Equalizer for Observed {
    fn submit(&mut self, frame: Frame) -> Result<()> {
        self.inputs.push_back((frame.clone(), self.settings, self.curve.clone()));
        self.equalize(|backend| backend.submit(frame))
    }

    fn collect(&mut self) -> Result<Option<Frame>> {
        let Some(after) = self.equalize(|backend| backend.collect())? else { return Ok(None) };
        let (before, settings, given) = self.inputs.pop_front().context("the backend gave a frame too many")?;
        let Step { curve, turn } = self.step(&before, settings);
        let curve = match given {
            Some(given) => Some(given.as_ref().clone()),
            // Every tile has a curve of its own.
            None => Some(curve).filter(|_| settings.method == Method::Global),
        };
        if let (Some(saving), Some(curve)) = (&self.saving, &curve) {
            saving.write(self.frame, Kind::of(&before), curve)?;
        }
        if let Some(recording) = self.recording.clone() {
            recording.write(&self.record(&before, &after, &turn, curve))?;
        }
        self.frame += 1;
        Ok(Some(after))
    }

    fn warm_up(&mut self, frame: Frame) -> Result<()> {
        self.step(&frame, self.settings);
        self.equalize(|backend| backend.warm_up(frame))
    }

    fn in_flight(&self) -> usize {
        self.backend.in_flight()
    }

    fn capacity(&self) -> usize {
        self.backend.capacity()
    }

    fn input_pool(&self) -> Option<Arc<dyn Pool>> {
        self.backend.input_pool()
    }

    fn set(&mut self, settings: Settings) {
        self.backend.set(settings);
        self.settings = settings;
    }

    fn set_curve(&mut self, curve: Option<Arc<Curve>>) {
        self.backend.set_curve(curve.clone());
        self.curve = curve;
    }

    fn name(&self) -> String {
        self.backend.name()
    }
}

/// To six decimals: no digits that mean nothing.
fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

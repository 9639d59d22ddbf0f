//! An equalizer that is watched: each frame is measured before and after, and leaves a record; its curve is kept. Which
//! curve the backend used is not asked of it but computed once more; every backend gives the same bytes, so it is the
//! same curve.

use super::measures::{curve_change, deviation, entropy, largest_slope, mean};
use super::{Record, Recording, eme::eme};
use crate::curves::{CurveWriter, Kind};
use crate::equalize::cpu::{Engine, Isa};
use crate::equalize::{CountedRegion, Equalizer, kind, queue_of_backend, tiles, whole};
use crate::frame::{Frame, HostPool};
use crate::pipeline::{Input, Progress, Stage};
use crate::spec::clahe::TileCurves;
use crate::spec::{Curve, Equalization, Histogram, Levels, LookAhead, Settings, WindowUpdate};
use anyhow::{Context, Result};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A backend under observation.
pub struct Observed {
    backend: Box<dyn Equalizer>,
    recording: Option<Recording>,
    saving: Option<CurveWriter>,
    progress: Arc<Progress>,
    /// Seconds in a unit of the frames' times.
    time_unit: f64,
    engine: Engine,
    equalization: Equalization,
    counted: CountedRegion,
    settings: Settings,
    curve: Option<Arc<Curve>>,
    /// The frames that the backend holds back, and those under way with the curves that they are sent through.
    look_ahead: LookAhead<Seen, Arc<Luts>>,
    under_way: VecDeque<(Seen, Arc<Luts>)>,
    /// Of the last frame that came.
    kind: Option<(Levels, (usize, usize))>,
    frame: u64,
    /// The scene that the first frame belongs to: frames from before it were seen, too, and may have had others.
    first_scene: Option<u64>,
    last: Option<(Levels, Arc<Luts>)>,
    /// What the backend has taken so far.
    equalizing: Duration,
    /// Decoding, equalizing and encoding, as of the last record.
    recorded: [Duration; 3],
}

/// What is known of a frame before it is equalized. It shares its planes with the backend's.
struct Seen {
    frame: Frame,
    histogram: Histogram,
    turn: WindowUpdate,
}

/// The curve of a frame, or those of its tiles: an entry for each code of each.
type Luts = Vec<u16>;

impl Observed {
    /// Records what `backend`, which was made with the same settings, does to the frames of `input`, and saves the
    /// curves that it sends them through, where either is asked for.
    pub fn new(
        backend: Box<dyn Equalizer>,
        settings: Settings,
        input: &Input,
        progress: Arc<Progress>,
        recording: Option<Recording>,
        saving: Option<CurveWriter>,
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
            counted: CountedRegion::default(),
            settings,
            curve: None,
            look_ahead: LookAhead::new(settings.smoothing.ahead()),
            under_way: VecDeque::new(),
            kind: None,
            frame: 0,
            first_scene: None,
            last: None,
            equalizing: Duration::ZERO,
            recorded: [Duration::ZERO; 3],
        }
    }

    /// Does once more what the backend does to come to its curve.
    fn see(&mut self, frame: Frame) -> (Seen, Arc<Luts>) {
        let settings = self.settings;
        self.equalization.set(settings);
        let histogram = self.engine.histogram(&frame, whole(&frame));
        let (turn, luts) = match tiles(&frame, settings.method) {
            None => {
                let part = self.counted.next(&frame, &settings);
                let size = (frame.width(), frame.height());
                let step = match part == whole(&frame) {
                    true => self.equalization.next(&histogram, size),
                    false => self.equalization.next(&self.engine.histogram(&frame, part), size),
                };
                (step.turn, step.curve.codes().to_vec())
            }
            Some(tiles) => {
                let counts = self.engine.tile_histograms(&frame, tiles, settings.bins);
                let step = self.equalization.next_tiles(&histogram, &counts);
                (step.turn, TileCurves::equalizing(&step.window, &settings).luts().to_vec())
            }
        };
        (Seen { frame, histogram, turn }, luts.into())
    }

    fn record(
        &mut self,
        Seen { frame: before, histogram: all, turn }: &Seen,
        luts: Arc<Luts>,
        after: &Frame,
    ) -> Record {
        let equalized = self.engine.histogram(after, whole(after));
        let levels = all.levels();
        let last = self.last.take().filter(|(of, last)| *of == levels && last.len() == luts.len());
        let change = last.map_or(0.0, |(_, last)| curve_change(&last, &luts, levels));
        let slope = largest_slope(&luts, levels);
        self.last = Some((levels, luts));
        let [decode, equalize, encode] = self.times();

        Record {
            frame: self.frame,
            time: before.pts.map(|pts| rounded(pts as f64 * self.time_unit)),
            scene: turn.scene.saturating_sub(*self.first_scene.get_or_insert(turn.scene)),
            cut: turn.cut,
            after_flash: turn.after_flash,
            mean_before: rounded(mean(all)),
            mean_after: rounded(mean(&equalized)),
            deviation_before: rounded(deviation(all)),
            deviation_after: rounded(deviation(&equalized)),
            entropy_before: rounded(entropy(all)),
            entropy_after: rounded(entropy(&equalized)),
            eme_before: rounded(eme(before)),
            eme_after: rounded(eme(after)),
            ambe: rounded((mean(all) - mean(&equalized)).abs()),
            slope,
            curve_change: rounded(change),
            decode_ms: decode,
            equalize_ms: equalize,
            encode_ms: encode,
        }
    }

    /// No more frames will come of the kind of those that wait: some backends give these at once.
    fn let_go(&mut self) {
        while let Some(rest) = self.look_ahead.pop() {
            self.under_way.push_back(rest);
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
        if self.kind.replace(kind(&frame)) != Some(kind(&frame)) {
            self.let_go();
        }
        let (seen, luts) = self.see(frame.clone());
        let ready = match &self.curve {
            Some(curve) => Some((seen, Arc::new(curve.codes().to_vec()))),
            None => self.look_ahead.push(seen.turn.scene, seen, luts),
        };
        self.under_way.extend(ready);
        self.equalize(|backend| backend.submit(frame))
    }

    fn warm_up(&mut self, frame: Frame) -> Result<()> {
        self.see(frame.clone());
        self.equalize(|backend| backend.warm_up(frame))
    }

    fn collect(&mut self) -> Result<Option<Frame>> {
        let Some(after) = self.equalize(|backend| backend.collect())? else { return Ok(None) };
        let (seen, luts) = self.under_way.pop_front().context("the backend gave a frame too many")?;
        let one_curve = luts.len() == seen.histogram.levels().codes();
        if let Some(saving) = self.saving.as_ref().filter(|_| one_curve) {
            let curve = Curve::from_codes(seen.histogram.levels(), luts.to_vec()).context("a curve of these levels")?;
            saving.write(self.frame, Kind::of(&seen.frame), &curve)?;
        }
        if let Some(recording) = self.recording.clone() {
            recording.write(&self.record(&seen, luts, &after))?;
        }
        self.frame += 1;
        Ok(Some(after))
    }

    fn finish(&mut self) -> Result<()> {
        self.let_go();
        self.equalize(|backend| backend.finish())
    }

    queue_of_backend!();

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

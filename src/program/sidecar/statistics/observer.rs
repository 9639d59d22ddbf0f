//! The observers that measure each frame before and after equalization (`--stats`) and save its curve
//! (`--save-curves`).

use super::eme::Eme;
use super::html::levels::FrameLevels;
use super::html::scenes::ROOM;
use super::measures::{curve_change, deviation, entropy, largest_slope, mean, merged_levels};
use super::{FrameRecord, Recording};
use crate::draw::sheet::Miniatures;
use crate::sidecar::curves::{CurveFormat, CurveWriter, FramePlace};
use anyhow::{Context, Result};
use histeq::CallerError;
use histeq::internal::equalize::cpu::{Engine, Isa};
use histeq::internal::equalize::{Observation, Observer, Role, Work};
use histeq::internal::frame::{HostPool, Model};
use histeq::internal::spec::chroma::UNIT_GAIN;
use histeq::internal::spec::curves::tone::Veil;
use histeq::internal::spec::curves::{Curve, Histogram, Levels, Mapping};
use histeq::internal::spec::measure::REGIONS;
use histeq::internal::spec::natural::Found;
use histeq::internal::spec::parameters::{Chroma, Settings};
use histeq::internal::spec::time::{Change, Scene, SceneWindows};
use histeq_media::ffmpeg::encode::Still;
use histeq_media::pipeline::{Input, Progress, Stage, to_stage};
use std::sync::Arc;
use std::time::Duration;

/// Saves the curve of each frame.
pub struct CurveSaver {
    writer: CurveWriter,
    /// Seconds in a unit of the frames' times, and the duration of a frame.
    seconds: (f64, f64),
}

impl CurveSaver {
    /// Writes the curves of the frames of `input`.
    pub fn new(writer: CurveWriter, input: &Input) -> Self {
        let stream = input.video_stream();
        let duration = stream.frame_rate.map_or(0.0, |rate| f64::from(rate.invert()));
        CurveSaver { writer, seconds: (f64::from(stream.time_base), duration) }
    }
}

impl Observer for CurveSaver {
    fn equalized(&mut self, seen: Observation<'_>) -> Result<(), CallerError> {
        self.save(&seen).map_err(to_stage)
    }

    fn asks_for_everything(&self) -> bool {
        true
    }
}

impl CurveSaver {
    fn save(&mut self, seen: &Observation<'_>) -> Result<()> {
        let before = seen.before;
        let format = CurveFormat::for_frame(before.original().map_or(before.frame(), |original| &original.frame));
        if let Role::WarmUp = before.role() {
            return Ok(());
        }
        let original = before.original().map(|original| original.mapping.clone());
        let mapping = match (&original.unwrap_or(seen.after.applied.mapping.clone()), &seen.after.applied.curves) {
            (Some(mapping), _) => mapping.clone(),
            (None, Some(codes)) if codes.len() == format.levels().codes() => {
                let curve = Curve::from_codes(format.levels(), codes.to_vec()).context("a curve of these levels")?;
                let chroma_gain = seen.after.applied.chroma_gain.unwrap_or(UNIT_GAIN);
                Mapping::Curve { curve: curve.into(), chroma_gain }
            }
            // Curves of tiles are not saved.
            _ => return Ok(()),
        };
        let follows = before.settings().chroma == Chroma::Follow;
        let frame = before.frame();
        let (unit, duration) = self.seconds;
        let time = frame.pts.map_or(seen.number as f64 * duration, |time| time as f64 * unit);
        let place = FramePlace {
            frame: seen.number,
            seconds: (time, duration),
            scene: seen.after.applied.scene.map_or(0, |scene| scene.number),
            matrix: (frame.format().descriptor().model != Model::Gray).then_some(frame.matrix()),
        };
        self.writer.write(place, format, &if follows { mapping } else { without_gain(mapping) })
    }
}

/// `mapping` without a gain of chroma.
fn without_gain(mapping: Mapping) -> Mapping {
    match mapping {
        Mapping::Curve { curve, .. } => Mapping::Curve { curve, chroma_gain: UNIT_GAIN },
        Mapping::Veil(veil) => {
            Mapping::Veil(Veil { chroma: [[UNIT_GAIN; REGIONS]; REGIONS], ..Veil::clone(&veil) }.into())
        }
        Mapping::Balanced { balance, then } => {
            Mapping::Balanced { balance, then: without_gain(Mapping::clone(&then)).into() }
        }
        Mapping::Balance(_) | Mapping::Tiles { .. } => mapping,
    }
}

/// Measures each frame and writes a record of it.
pub struct Recorder {
    recording: Recording,
    progress: Arc<Progress>,
    /// Seconds in a unit of the frames' times.
    time_unit: f64,
    engine: Engine,
    eme: Eme,
    miniatures: Miniatures,
    /// The scenes of frames with loaded curves, for which only a change of size is a cut.
    scenes: Option<(Settings, SceneWindows)>,
    /// The scene number of the first recorded frame: frames of the warm-up can have lower ones.
    first_scene: Option<u64>,
    /// Levels and curves of the last frame.
    last: Option<(Levels, Arc<[u16]>)>,
    /// Total times of decoding, equalizing and encoding at the last record.
    recorded: [Duration; 3],
}

impl Recorder {
    /// Writes a record of each frame of `input` to `recording`. `progress` has the times of decoding and encoding.
    pub fn new(recording: Recording, input: &Input, progress: Arc<Progress>) -> Self {
        let Some(engine) = Engine::new(Isa::best(), HostPool::default()) else {
            unreachable!("the best of the available instruction sets is available")
        };
        Recorder {
            recording,
            progress,
            time_unit: f64::from(input.video_stream().time_base),
            engine,
            eme: Eme::default(),
            miniatures: Miniatures::new(input, ROOM),
            scenes: None,
            first_scene: None,
            last: None,
            recorded: [Duration::ZERO; 3],
        }
    }

    /// The histogram of the whole frame before equalization.
    fn histogram_before(&mut self, seen: &Observation<'_>) -> Histogram {
        let counts =
            seen.after.applied.counts.as_ref().filter(|_| seen.before.counts_frame() && seen.original.is_none());
        match counts.and_then(|counts| counts.histogram()) {
            Some(histogram) => histogram.clone(),
            None => {
                let (before, _) = seen.original.unwrap_or((seen.before.frame(), &seen.after.frame));
                self.engine.histogram(before, before.whole())
            }
        }
    }

    /// The scene of a frame with a loaded curve.
    fn scene_of(&mut self, before: &Work) -> Scene {
        let (frame, settings) = (before.frame(), *before.settings());
        let (_, scenes) = match self.scenes.take() {
            Some((same, scenes)) if same == settings => self.scenes.insert((settings, scenes)),
            Some((_, scenes)) => self.scenes.insert((settings, SceneWindows::after(settings.smoothing, &scenes))),
            None => self.scenes.insert((settings, SceneWindows::new(settings.smoothing))),
        };
        scenes.next(Change::None, frame.levels(), (frame.width(), frame.height())).scene
    }

    fn record(
        &mut self,
        seen: &Observation<'_>,
        curves: Arc<[u16]>,
        (all, equalized): (&Histogram, &Histogram),
    ) -> FrameRecord {
        let (before, after) = seen.original.unwrap_or((seen.before.frame(), &seen.after.frame));
        let scene = seen.after.applied.scene.unwrap_or_else(|| self.scene_of(seen.before));
        let levels = all.levels();
        // Without curves in both frames, the change counts as 0.
        let comparable =
            |(known, last): &(Levels, Arc<[u16]>)| *known == levels && last.len() == curves.len() && !last.is_empty();
        let last = self.last.take().filter(comparable);
        let change = last.map_or(0.0, |(_, last)| curve_change(&last, &curves, levels));
        let slope = largest_slope(&curves, levels);
        let merged = (curves.len() == levels.codes()).then(|| merged_levels(&curves, all));
        self.last = Some((levels, curves));
        let [decode, equalize, encode] = self.times(seen.equalizing);
        let tone = seen.before.guide().tone.filter(|tone| !tone.line.is_identity());
        let (low, high) = tone.map(|tone| tone.range).unzip();
        let gain = rounded(gain(seen));
        let found = |of_4096: fn(Found) -> i32| {
            seen.after.applied.found.map(|found| rounded(f64::from(of_4096(found)) / 4096.0))
        };

        FrameRecord {
            frame: seen.number,
            time: before.pts.map(|pts| rounded(pts as f64 * self.time_unit)),
            scene: scene.number.saturating_sub(*self.first_scene.get_or_insert(scene.number)),
            cut: scene.cut,
            after_flash: scene.after_flash,
            mean_before: rounded(mean(all)),
            mean_after: rounded(mean(equalized)),
            deviation_before: rounded(deviation(all)),
            deviation_after: rounded(deviation(equalized)),
            entropy_before: rounded(entropy(all)),
            entropy_after: rounded(entropy(equalized)),
            eme_before: rounded(self.eme.mean(before)),
            eme_after: rounded(self.eme.mean(after)),
            ambe: rounded((mean(all) - mean(equalized)).abs()),
            low,
            high,
            gain,
            slope,
            merged,
            curve_change: rounded(change),
            decode_ms: decode,
            equalize_ms: equalize,
            encode_ms: encode,
            found_dark: found(|found| found.dark),
            found_exposure: found(|found| found.exposure),
            found_contrast: found(|found| found.contrast),
            found_haze: found(|found| found.veil),
            found_cast: found(|found| found.cast),
            found_noise: found(|found| found.noise),
            found_flicker: found(|found| found.flicker),
            found_bars: found(|found| found.bars),
            found_captions: found(|found| found.captions),
        }
    }

    fn write(&mut self, seen: &Observation<'_>, curves: Arc<[u16]>) -> Result<()> {
        let (before, after) = seen.original.unwrap_or((seen.before.frame(), &seen.after.frame));
        let curves = match seen.before.original().map(|original| &original.mapping) {
            Some(Some(Mapping::Curve { curve, .. })) => curve.codes().into(),
            Some(_) => Arc::default(),
            None => curves,
        };
        let (all, equalized) = (self.histogram_before(seen), self.engine.histogram(after, after.whole()));
        let record = self.record(seen, curves.clone(), (&all, &equalized));
        let curve = Some(&*curves).filter(|curve| curve.len() == all.levels().codes());
        let miniatures = &mut self.miniatures;
        // A frame that cannot be scaled down gets empty pictures.
        let mut file =
            |frame| miniatures.miniature(frame).and_then(|small| Still::Jpeg.encode(&small)).unwrap_or_default();
        let pictures = || [before, after].map(&mut file);
        self.recording.write(&record, || FrameLevels::new(&all, &equalized, curve), pictures)
    }

    /// The times of decoding, equalizing and encoding since the last record, in milliseconds.
    fn times(&mut self, equalizing: Duration) -> [f64; 3] {
        let now = [self.progress.busy(Stage::Source), equalizing, self.progress.busy(Stage::Sink)];
        let last = std::mem::replace(&mut self.recorded, now);
        let since = |stage: usize| rounded(now[stage].saturating_sub(last[stage]).as_secs_f64() * 1e3);
        [since(0), since(1), since(2)]
    }
}

impl Observer for Recorder {
    fn equalized(&mut self, seen: Observation<'_>) -> Result<(), CallerError> {
        self.observe(&seen).map_err(to_stage)
    }

    fn asks_for_everything(&self) -> bool {
        true
    }
}

impl Recorder {
    fn observe(&mut self, seen: &Observation<'_>) -> Result<()> {
        match (seen.before.role(), &seen.after.applied.curves) {
            (Role::WarmUp, _) => Ok(()),
            (_, Some(curves)) => self.write(seen, curves.clone()),
            (_, None) if !seen.before.settings().method.counts() => self.write(seen, Arc::default()),
            (_, None) => anyhow::bail!("{} does not report its curves (a bug: please report it)", seen.backend.name()),
        }
    }
}

/// The value of [`FrameRecord::gain`].
fn gain(seen: &Observation<'_>) -> f64 {
    let mean = |gains: &[u32]| gains.iter().map(|gain| f64::from(*gain)).sum::<f64>() / gains.len() as f64;
    let of_4096 = match &seen.after.applied.mapping {
        Some(Mapping::Veil(veil)) => mean(veil.gains.as_flattened()),
        Some(Mapping::Balance(balance) | Mapping::Balanced { balance, .. }) => mean(&balance.gains),
        _ => {
            let of_tiles = seen.before.guide().tone.map(|tone| tone.chroma_gain);
            f64::from(seen.after.applied.chroma_gain.or(of_tiles).unwrap_or(UNIT_GAIN))
        }
    };
    of_4096 / f64::from(UNIT_GAIN)
}

/// Rounded to six decimals, to leave out digits without meaning.
fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

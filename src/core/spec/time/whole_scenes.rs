//! One mapping for each scene (`--smooth scene`), from all frames of the video, which are measured and counted before
//! any of them is mapped.
//!
//! Cuts and flashes are decided as with a look-ahead ([`cuts`](super::cuts)), where a change of size or levels also
//! begins a scene. The window of every frame is its whole scene without the frames of flashes, unless the scene begins
//! with one. All else follows from that window by the usual rules:
//! * The tone is that of the ends of these frames. Of a scene of more than 65,536 frames, every second frame counts for
//!   the tone, of one twice as long every fourth, and so on.
//! * The histogram is the sum over `n` frames. With `d = ceil(n / 512)`, each count becomes `(count + d / 2) / d`, so
//!   that sums stay as small as those of the longest window.

use super::{Change, Scene};
use crate::spec::chroma::UNIT_GAIN;
use crate::spec::curves::equalization::curve;
use crate::spec::curves::modifiers::capped;
use crate::spec::curves::tone::Balance;
use crate::spec::curves::{Histogram, Levels, Mapping, Tone};
use crate::spec::guide::{Members, natural};
use crate::spec::measure::{BLOCKS, Ends, Samples};
use crate::spec::natural::{Correction, MeanCorrection, Points, light};
use crate::spec::parameters::{Method, Settings, Smoothing, Stretch};
use crate::spec::restoration::noise;
use crate::spec::{Guide, Guides, Measure, Transfer};
use std::collections::VecDeque;
use std::sync::Arc;

/// Of a scene, the ends of at most this many frames are kept.
const MAX_ENDS: usize = 1 << 16;

/// Finds the scenes of a video, and the mapping of each.
#[derive(Debug, Default)]
pub struct WholeScenes {
    settings: Settings,
    guides: Guides,
    /// Frames that are not assigned to a scene yet, oldest first.
    undecided: VecDeque<(Measure, Option<Histogram>, Option<Correction>)>,
    /// The scene of the last frame that was assigned to one.
    open: Option<OpenScene>,
    closed: Vec<MappedScene>,
    /// How many frames are assigned to a scene.
    frames: u64,
}

/// A scene and the mapping of its frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MappedScene {
    /// The number of its first frame, counted from 0.
    pub first: u64,
    /// Whether the scene begins with a cut; false for the first scene, and for one that begins with a change of size or
    /// levels.
    pub cut: bool,
    /// The mapping of its frames.
    pub mapping: Mapping,
}

/// The scenes of a video, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MappedScenes {
    scenes: Vec<MappedScene>,
    frames: u64,
}

/// The sums over the frames of a scene, without those of flashes.
#[derive(Debug)]
struct OpenScene {
    first: u64,
    cut: bool,
    shape: (Levels, (usize, usize)),
    transfer: Transfer,
    /// One count for each level; empty if nothing is counted.
    counts: Vec<u64>,
    frames: u64,
    /// The ends and the noise of every `step`-th frame.
    ends: Vec<(Ends, Option<u32>)>,
    step: u64,
    /// The corrections of the frames, with [`Method::Natural`].
    corrections: MeanCorrection,
    /// The samples of the frame before, unless it belongs to a flash.
    before: Option<Arc<Samples>>,
}

impl WholeScenes {
    /// The state before the first frame of a video with these settings, whose method is not [`Method::Clahe`],
    /// [`Method::Deflicker`] or [`Method::Faint`]. Of their smoothing, only the longest flash is used.
    pub fn new(settings: Settings) -> Self {
        WholeScenes { settings, ..WholeScenes::default() }
    }

    /// Adds the next frame, with its histogram if the method counts.
    pub fn push(&mut self, measure: Measure, histogram: Option<Histogram>) {
        // Of these guides, only the changes of scene are used.
        let smoothing = Smoothing::new(2, self.settings.smoothing.flash()).looking_ahead(1);
        let settings = Settings { method: Method::Global, smoothing, stretch: Stretch::Off, ..self.settings };
        let guides = self.guides.push(measure.clone(), &settings);
        let mut measure = measure;
        let correction = natural(&mut measure, &[false; BLOCKS], &self.settings);
        // Scenes are long, and points are large.
        measure.points = Points::default();
        self.undecided.push_back((measure, histogram, correction));
        self.judge(guides);
    }

    /// Ends the video.
    pub fn finish(mut self) -> MappedScenes {
        let guides = self.guides.finish();
        self.judge(guides);
        self.close();
        MappedScenes { scenes: self.closed, frames: self.frames }
    }

    fn judge(&mut self, guides: Vec<Guide>) {
        for Guide { change, .. } in guides {
            let Some((measure, histogram, correction)) = self.undecided.pop_front() else { break };
            let shape = (measure.levels, measure.size);
            let same_shape = self.open.as_ref().is_some_and(|open| open.shape == shape);
            let cut = same_shape && change == Change::Cut;
            if cut || !same_shape {
                self.close();
            }
            let open = self.open.get_or_insert_with(|| OpenScene::new(self.frames, cut, shape, measure.transfer));
            if change != Change::Flash || open.frames == 0 {
                open.add(&measure, histogram.as_ref(), &self.settings);
                correction.iter().for_each(|correction| open.corrections.add(correction, 1));
            } else {
                open.before = None;
            }
            self.frames += 1;
        }
    }

    fn close(&mut self) {
        let settings = &self.settings;
        self.closed.extend(self.open.take().map(|open| open.close(settings)));
    }
}

impl OpenScene {
    fn new(first: u64, cut: bool, shape: (Levels, (usize, usize)), transfer: Transfer) -> Self {
        let (counts, ends, corrections) = (Vec::new(), Vec::new(), MeanCorrection::default());
        OpenScene { first, cut, shape, transfer, counts, frames: 0, ends, step: 1, corrections, before: None }
    }

    fn add(&mut self, measure: &Measure, histogram: Option<&Histogram>, settings: &Settings) {
        if let Some(histogram) = histogram {
            self.counts.resize(histogram.counts().len(), 0);
            let counts = capped(histogram.counts(), settings.plateau.cap(histogram.total()));
            self.counts.iter_mut().zip(counts.iter()).for_each(|(sum, count)| *sum += count);
        }
        if self.frames.is_multiple_of(self.step) {
            if self.ends.len() == MAX_ENDS {
                let mut index = 0;
                self.ends.retain(|_| {
                    index += 1;
                    index % 2 == 1
                });
                self.step *= 2;
            }
            let measures = settings.hides_noise || settings.method.is_natural();
            let before = self.before.as_ref().filter(|_| measures);
            self.ends.push((measure.ends, before.and_then(|before| noise::between(before, &measure.samples))));
        }
        self.before = Some(Arc::clone(&measure.samples));
        self.frames += 1;
    }

    fn close(self, settings: &Settings) -> MappedScene {
        let (levels, _) = self.shape;
        let noise = noise::window_noise(self.ends.iter().filter_map(|(_, noise)| *noise));
        if let Some(correction) = self.corrections.get() {
            let correction = correction.noticeable().calmed(noise, levels);
            let mapping = correction.mapping(&light::FULL.into(), levels).with_strength(levels, settings.strength);
            return MappedScene { first: self.first, cut: self.cut, mapping };
        }
        let frames = self.frames.max(1);
        let ends = self.ends.iter().map(|(ends, _)| ends);
        let guide = Members { ends, noise, levels, transfer: self.transfer }.guide(settings);
        let mapping = guide.mapping.unwrap_or_else(|| {
            if self.counts.is_empty() {
                return Mapping::Balance(Balance::IDENTITY);
            }
            let divisor = frames.div_ceil(Smoothing::MAX.into());
            let reduced = |count: u64| (count + divisor / 2) / divisor;
            let window = Histogram::from_counts(levels, self.counts.iter().map(|&count| reduced(count)).collect());
            let tone = guide.tone.unwrap_or(Tone::plain(levels, settings));
            let curve = curve(settings, &tone, &window);
            let chroma_gain = guide.tone.map_or(UNIT_GAIN, |tone| tone.chroma_gain);
            Mapping::Curve { curve: curve.into(), chroma_gain }
        });
        MappedScene { first: self.first, cut: self.cut, mapping }
    }
}

impl MappedScenes {
    /// The scenes.
    pub fn scenes(&self) -> &[MappedScene] {
        &self.scenes
    }

    /// The number of frames of all scenes.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// The mapping of frame `number`, counted from 0, and its scene; `None` after the last frame.
    pub fn at(&self, number: u64) -> Option<(&Mapping, Scene)> {
        if number >= self.frames {
            return None;
        }
        let index = self.scenes.partition_point(|scene| scene.first <= number).checked_sub(1)?;
        let MappedScene { first, cut, mapping } = &self.scenes[index];
        let cut = *cut && *first == number;
        Some((mapping, Scene { number: index as u64, begun: index as u64 + 1, cut, after_flash: false }))
    }
}

//! What is decided of a frame before a backend equalizes it: scene and tone, from what was measured of the frames around it.
//!
//! ```text
//! Lattice -> Measure -> Guides: cuts, window of the scene -> Guide (with the frame, to a backend)
//! ```
//!
//! With a look-ahead, a frame is judged when L frames behind it are measured. The tone is made of the last W frames of
//! the scene up to the frame. So a guide depends on W + L + 1 frames before it and L behind it, and on no others.

use super::chroma::UNIT_GAIN;
use super::cuts::{Change, Distance, Known, Neighbourhood, Rule};
use super::deflicker::{Correction, LightChange};
use super::measure::{Ends, Measure, REGIONS};
use super::tone::{Balance, Tone, Veil};
use super::{Curve, Levels, Mapping, Method, Settings};
use std::collections::VecDeque;

/// What is decided of a frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Guide {
    /// How it continues the frame before it.
    pub change: Change,
    /// Its levels; `None` is equalization alone.
    pub tone: Option<Tone>,
    /// What is applied to the frame, where that does not depend on what is counted.
    pub mapping: Option<Mapping>,
}

/// Decides on the frames of a video, in order.
#[derive(Debug, Default)]
pub struct Guides {
    /// The last frames, oldest first.
    frames: VecDeque<Known>,
    /// The scene and the settings of each.
    places: VecDeque<(Place, Settings)>,
    /// How many of them, from the oldest, are decided.
    decided: usize,
    /// Whether the oldest is the first of the video.
    begins: bool,
    /// The scene of the last frame that was decided, and the one before it with the frames since.
    scene: u64,
    other: Option<(u64, u32)>,
    scenes: u64,
}

/// Where a frame belongs.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    scene: u64,
    /// It has a part in the window of its scene.
    counts: bool,
}

impl Guides {
    /// Adds the next frame. Returns the guides of the frames that are decided now, oldest first.
    pub fn push(&mut self, measure: Measure, settings: &Settings) -> Vec<Guide> {
        let mut guides = Vec::new();
        let last = self.frames.back().map(|known| (known.measure.levels, known.measure.size));
        if last.is_some_and(|last| last != (measure.levels, measure.size)) {
            guides.extend(self.finish());
        }
        if self.frames.is_empty() {
            self.begins = true;
        }
        let step = self.frames.back().map_or_else(Distance::default, |known| Distance::of(&known.measure, &measure));
        let light = match (self.frames.back(), settings.method) {
            (Some(before), Method::Deflicker) => LightChange::between(&before.measure, &measure),
            _ => LightChange::default(),
        };
        self.frames.push_back(Known { measure, step, light });
        self.places.push_back((Place::default(), *settings));
        while let Some((_, settings)) = self.places.get(self.decided)
            && self.frames.len() - self.decided > settings.guide_look_ahead() as usize
        {
            guides.push(self.decide(false));
        }
        self.forget(settings);
        guides
    }

    /// Ends the video: the guides of the frames that are left. The next frame begins another video.
    pub fn finish(&mut self) -> Vec<Guide> {
        let mut guides = Vec::new();
        while self.decided < self.frames.len() {
            guides.push(self.decide(true));
        }
        // Scenes are never joined across two videos.
        self.scenes += 1;
        *self = Guides { scene: self.scenes, scenes: self.scenes, ..Guides::default() };
        guides
    }

    /// Decides on the next frame; `ended` says that no more will come.
    fn decide(&mut self, ended: bool) -> Guide {
        let at = self.decided;
        self.decided += 1;
        let settings = self.places[at].1;
        let smoothing = settings.smoothing;
        let change = if smoothing.frames() == 1 {
            Change::None
        } else {
            let rule =
                if smoothing.ahead() > 0 { Rule::Ahead(smoothing.flash()) } else { Rule::Behind(smoothing.flash()) };
            // Those behind the ones that are looked at have no part in it.
            let end = (at + settings.guide_look_ahead() as usize + 1).min(self.frames.len());
            Neighbourhood::new(&self.frames, (at, end), (self.begins, ended), settings.scene_threshold)
                .change(rule, settings.method != Method::Deflicker)
        };
        let change = self.place(at, change, smoothing.flash());
        Guide { change, ..self.toned(at, &settings) }
    }

    /// Finds the scene of frame `at`. Returns the change that took place: a flash can only have ended if one was found.
    fn place(&mut self, at: usize, change: Change, flash: u32) -> Change {
        if let Some((_, frames)) = &mut self.other {
            *frames += 1;
        }
        let change = match change {
            Change::Cut => {
                self.scenes += 1;
                self.other = Some((self.scene, 0));
                self.scene = self.scenes;
                Change::Cut
            }
            Change::AfterFlash => match self.other.filter(|(_, frames)| *frames <= flash) {
                Some((scene, _)) => {
                    self.other = Some((self.scene, 0));
                    self.scene = scene;
                    Change::AfterFlash
                }
                None => Change::None,
            },
            // A flash in the first frame is all that there is.
            Change::Flash if at == 0 => Change::None,
            other => other,
        };
        self.places[at].0 = Place { scene: self.scene, counts: change != Change::Flash };
        change
    }

    /// Levels and colour of frame `at`.
    fn toned(&self, at: usize, settings: &Settings) -> Guide {
        let window = settings.smoothing.frames() as usize;
        let first = (at + 1).saturating_sub(window);
        let members = || {
            (first..=at).filter(|&index| {
                let place = self.places[index].0;
                place.scene == self.scene && (place.counts || index == at)
            })
        };
        if settings.method == Method::Deflicker {
            let (curve, chroma_gain) = self.correction(at, settings).curve(&self.frames[at].measure);
            return Guide::of(Mapping::Curve { curve: curve.into(), chroma_gain });
        }
        let measures = || members().map(|index| &self.frames[index].measure);
        let black = || {
            let count = measures().count().max(1) as u64;
            let mean =
                |y: usize, x: usize| measures().map(|measure| u64::from(measure.veil[y][x])).sum::<u64>() / count;
            std::array::from_fn(|y| std::array::from_fn(|x| mean(y, x) as u32))
        };
        let Measure { levels, is_hdr, .. } = self.frames[at].measure;
        Members { ends: measures().map(|measure| &measure.ends), black, levels, is_hdr }.guide(settings)
    }

    /// The correction of the light of frame `at`, from the frames of its scene in its window.
    fn correction(&self, at: usize, settings: &Settings) -> Correction {
        let (window, ahead) = (settings.smoothing.frames() as usize, settings.smoothing.ahead() as usize);
        let behind = window - 1 - ahead;
        let is_before = |index: &usize| self.places[*index].0.scene == self.scene;
        let first = (at.saturating_sub(behind)..at).rev().take_while(is_before).last().unwrap_or(at);
        // Those behind are not decided yet: a step as large as a cut ends the window.
        let cut = settings.scene_threshold.of_1000() * 4096 / 1000;
        let goes_on = |index: &usize| self.frames[*index].step.picture <= cut;
        let end = (at + 1..(at + ahead + 1).min(self.frames.len())).take_while(goes_on).last().unwrap_or(at);
        let changes: Vec<LightChange> = (first..=end).map(|index| self.frames[index].light).collect();
        Correction::of(&changes, at - first)
    }

    /// Forgets the frames that no later guide depends on.
    fn forget(&mut self, settings: &Settings) {
        let smoothing = settings.smoothing;
        let kept = (smoothing.frames().max(smoothing.flash() + 2) + 1) as usize;
        while self.decided > kept {
            self.frames.pop_front();
            self.places.pop_front();
            self.decided -= 1;
            self.begins = false;
        }
    }
}

/// The frames of a window, of which levels and colour are decided.
pub(super) struct Members<E, B> {
    /// The ends of their levels.
    pub ends: E,
    /// The mean of their veils, by region.
    pub black: B,
    /// Their levels.
    pub levels: Levels,
    /// They are HDR.
    pub is_hdr: bool,
}

impl<'a, E, B> Members<E, B>
where
    E: Iterator<Item = &'a Ends> + Clone,
    B: FnOnce() -> [[u32; REGIONS]; REGIONS],
{
    /// What is decided of them, with any method but [`Method::Deflicker`].
    pub fn guide(self, settings: &Settings) -> Guide {
        let Members { ends, black, levels, is_hdr } = self;
        let settings = &Settings { keeps_peak: settings.keeps_peak && is_hdr, ..*settings };
        match settings.method {
            Method::Dehaze => match Veil::of(&black(), &Ends::mean_of(ends), levels, settings) {
                clear if clear.is_clear() => Guide::unchanged(levels),
                veil => Guide::of(Mapping::Veil(veil.into())),
            },
            Method::Balance => match Balance::of(&Ends::mean_of(ends), levels, settings) {
                Balance::IDENTITY => Guide::unchanged(levels),
                balance => Guide::of(Mapping::Balance(balance)),
            },
            _ if settings.stretch.is_off() && !settings.keeps_peak => Guide::default(),
            _ => {
                let tone = Tone::of(ends, levels, settings);
                Guide { tone: Some(tone), ..Guide::default() }
            }
        }
    }
}

impl Guide {
    /// The guide of a frame that stays as it is.
    fn unchanged(levels: Levels) -> Self {
        Guide::of(Mapping::Curve { curve: Curve::identity(levels).into(), chroma_gain: UNIT_GAIN })
    }

    /// The guide of a frame to which this is applied.
    fn of(mapping: Mapping) -> Self {
        Guide { mapping: Some(mapping), ..Guide::default() }
    }
}

//! The decisions on a frame before a backend equalizes it: scene and tone, from the measures of the frames around it.
//!
//! ```text
//! Lattice -> Measure -> Guides: cuts, window of the scene -> Guide (with the frame, to a backend)
//! ```
//!
//! With a look-ahead, a frame is decided once F frames after it are measured, where F is the length of the longest
//! flash. The tone is computed from the last W frames of the scene up to the frame. So a guide depends on W + F + 1
//! frames before its frame, on F after it (with `Method::Deflicker` and `Method::Natural`, on those of the look-ahead,
//! if they are more), and on no others.

use super::Transfer;
use super::chroma::UNIT_GAIN;
use super::curves::detail::{Detail, Quantiles};
use super::curves::tone::Tone;
use super::curves::{Curve, Levels, Mapping};
use super::measure::{BLOCKS, Ends, Measure, mean_by_number};
use super::natural::light::{self, Lights};
use super::natural::{self, Correction, Found, FrameLight, MeanCorrection, Points};
use super::parameters::{Cleaner, Denoise, Method, Settings, Strength};
use super::restoration::deflicker::{self, LightChange};
use super::restoration::faint::Background;
use super::restoration::film::Remainder;
use super::restoration::film_changes::Changes;
use super::restoration::flicker::{self, LightStep};
use super::restoration::noise;
use super::time::cuts::{Change, Distance, Known, Neighbourhood, Rule};
use std::collections::VecDeque;
use std::mem::take;
use std::sync::OnceLock;

/// The decisions on a frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Guide {
    /// How the frame continues the one before it.
    pub change: Change,
    /// The stretch of the levels of the frame and the strength of equalization; `None` is equalization alone.
    pub tone: Option<Tone>,
    /// The mapping of the frame, where it does not depend on counts.
    pub mapping: Option<Mapping>,
    /// The deficiencies of the scene of the frame, with [`Method::Natural`].
    pub found: Option<Found>,
    /// Whether the look assumes a deficiency, and the measures alone lead to the same correction.
    pub is_as_measured: bool,
    /// How noise is removed before the mapping; `None` if it stays.
    pub clean: Option<Cleaning>,
}

/// How the noise of a frame is removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cleaning {
    /// The share of the noise that is removed, above 0.
    pub share: Strength,
    /// The mapping of the denoised frame, if denoising turns its 8 bits into 10.
    pub mapping: Option<Mapping>,
}

/// Decides on the frames of a video, in order.
#[derive(Debug, Default)]
pub struct Guides {
    /// The last frames, oldest first.
    frames: VecDeque<Known>,
    /// Further details of each of `frames`.
    details: VecDeque<Details>,
    /// Whether the last frame was corrected without its foreign blocks.
    corrects_by_part: bool,
    /// How many of `frames`, from the oldest, are decided.
    decided: usize,
    /// Whether the oldest of `frames` is the first of the video.
    begins: bool,
    /// The scene of the last decided frame; `other` is the scene before it and the number of frames since the change.
    scene: u64,
    other: Option<(u64, u32)>,
    scenes: u64,
}

/// The details of a frame that cuts do not depend on.
#[derive(Debug)]
struct Details {
    settings: Settings,
    /// The correction that the frame alone needs; with [`Method::Natural`] alone.
    correction: Option<Correction>,
    /// The light of the frame relative to that of the frame before it, in 65536ths; with [`Method::Natural`] alone.
    light: u32,
    /// The same step, as far as it may be of flicker; with [`Method::Natural`] alone.
    light_step: LightStep,
    /// The background of the frame; with [`Method::Faint`] alone.
    background: Background,
    /// The quantiles of the luminance of the frame; with [`Method::Detail`] alone.
    quantiles: Quantiles,
    /// The noise measured within the frame, in 256ths of a level; with [`Method::Detail`] alone.
    grain: Option<u32>,
    /// The scene of the frame, once it is decided.
    scene: u64,
    /// Whether the frame is in the window of its scene; a frame of a flash is not.
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
        let step = self.frames.back().map_or_else(Distance::default, |known| Distance::new(&known.measure, &measure));
        let before = self.frames.back_mut().map(|known| take(&mut known.measure.samples));
        let mut measure = measure;
        let (foreign, step_of_light) = match settings.method {
            Method::Natural { .. } => (self.foreign(&measure, step, settings), self.step_of_light(&measure)),
            _ => ([false; BLOCKS], light::FULL),
        };
        let correction = natural(&mut measure, &foreign, settings);
        self.corrects_by_part = foreign.contains(&true);
        let (light, light_step) = self.light(&mut measure, settings);
        let before =
            before.filter(|_| settings.hides_noise || correction.is_some_and(|measured| measured.shows_noise()));
        let is_compared = before.is_some();
        let noise = before.and_then(|before| noise::between(&before, &measure.samples));
        let background = match settings.method {
            Method::Faint(_) => Background::new(&measure.samples),
            _ => Background::default(),
        };
        let (quantiles, grain) = match settings.method {
            Method::Detail { .. } => (Quantiles::new(&measure.samples), noise::within(&measure.samples)),
            _ => Default::default(),
        };
        let changes = OnceLock::new();
        self.frames.push_back(Known { measure, step, is_compared, noise, light, changes });
        let (settings, light, scene, counts) = (*settings, step_of_light, 0, false);
        self.details.push_back(Details {
            settings,
            correction,
            light,
            light_step,
            background,
            quantiles,
            grain,
            scene,
            counts,
        });
        while let Some(Details { settings, .. }) = self.details.get(self.decided)
            && self.frames.len() - self.decided > settings.guide_look_ahead() as usize
        {
            guides.push(self.decide(false));
        }
        self.forget(&settings);
        guides
    }

    /// The change of the light from the last frame to the next one. The points of the next one are kept where flicker
    /// may be evened out.
    fn light(&self, measure: &mut Measure, settings: &Settings) -> (LightChange, LightStep) {
        let is_followed = match settings.method {
            Method::Deflicker => true,
            Method::Natural { .. } => !measure.transfer.is_hdr() && settings.smoothing.frames() > 1,
            _ => false,
        };
        if !is_followed {
            measure.points = Points::default();
            return Default::default();
        }
        let Some(before) = self.frames.back().map(|known| &known.measure) else { return Default::default() };
        let light = LightChange::between(before, measure);
        let step = match settings.method {
            Method::Natural { .. } => LightStep::new(light, before, measure),
            _ => LightStep::default(),
        };
        (light, step)
    }

    /// The changes from frame `index - 1` to frame `index`. They are computed on first use, because most footage does
    /// not flicker.
    fn changes(&self, index: usize) -> &(LightChange, Changes) {
        let known = &self.frames[index];
        known.changes.get_or_init(|| {
            let Details { settings, light_step, .. } = &self.details[index];
            let is_compared = settings.method == Method::Deflicker || light_step.may_flicker();
            let changes = match index.checked_sub(1).map(|before| &self.frames[before].measure) {
                Some(before) if is_compared => Changes::between(known.light, before, &known.measure),
                _ => (known.light, Changes::default()),
            };
            changes.into()
        })
    }

    /// Whether the last frame had foreign blocks, so that [`Measure::with_correction`] was of no use.
    pub fn corrects_by_part(&self) -> bool {
        self.corrects_by_part
    }

    /// Ends the video and returns the guides of the remaining frames. The next frame begins another video.
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

    /// Decides on the next frame; `ended` is set when no more frames will come.
    fn decide(&mut self, ended: bool) -> Guide {
        let index = self.decided;
        self.decided += 1;
        let settings = self.details[index].settings;
        let smoothing = settings.smoothing;
        let change = if smoothing.frames() == 1 {
            Change::None
        } else {
            let rule =
                if smoothing.ahead() > 0 { Rule::Ahead(smoothing.flash()) } else { Rule::Causal(smoothing.flash()) };
            // Frames beyond the look-ahead must not influence the decision.
            let end = (index + settings.guide_look_ahead() as usize + 1).min(self.frames.len());
            Neighbourhood::new(&self.frames, (index, end), (self.begins, ended), settings.scene_threshold)
                .change(rule, settings.method != Method::Deflicker)
        };
        let change = self.place(index, change, smoothing.flash());
        let guide = self.toned(index, &settings);
        let clean = match settings.denoise {
            Denoise::Always(Cleaner { share, .. }) => Some(Cleaning { share, mapping: None }),
            Denoise::AsShown(_) | Denoise::Off => guide.clean,
        };
        Guide { change, clean, ..guide }
    }

    /// Assigns frame `index` to a scene. Returns the change that is applied: the end of a flash is ignored unless a
    /// scene began at most `flash` frames before.
    fn place(&mut self, index: usize, change: Change, flash: u32) -> Change {
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
            // Before the first frame there is no scene that a flash could interrupt.
            Change::Flash if index == 0 => Change::None,
            other => other,
        };
        (self.details[index].scene, self.details[index].counts) = (self.scene, change != Change::Flash);
        change
    }

    /// The guide of frame `place`, except its change of scene.
    fn toned(&mut self, place: usize, settings: &Settings) -> Guide {
        if let Method::Natural { .. } = settings.method {
            return self.corrected(place, settings);
        }
        let window = settings.smoothing.frames() as usize;
        let first = (place + 1).saturating_sub(window);
        let members = || {
            (first..=place).filter(|&index| {
                let Details { scene, counts, .. } = self.details[index];
                scene == self.scene && (counts || index == place)
            })
        };
        if settings.method == Method::Deflicker {
            let measure = &self.frames[place].measure;
            let (correction, remainder) = self.correction(place, settings);
            return Guide::new(
                correction.mapping(measure, &remainder).with_strength(measure.levels, settings.strength),
            );
        }
        if let Method::Faint(function) = settings.method {
            let levels = self.frames[place].measure.levels;
            let background = Background::mean(members().map(|index| self.details[index].background));
            return match background.curve(function, levels) {
                Some((curve, chroma_gain)) => {
                    let mapping = Mapping::Curve { curve: curve.into(), chroma_gain };
                    Guide::new(mapping.with_strength(levels, settings.strength))
                }
                None => Guide::unchanged(levels),
            };
        }
        let measures = || members().map(|index| &self.frames[index].measure);
        let Measure { levels, transfer, .. } = self.frames[place].measure;
        let is_detail = matches!(settings.method, Method::Detail { .. });
        let grain = || noise::window_noise(members().filter_map(|index| self.details[index].grain));
        let noise = self.noise(place, settings).or_else(|| is_detail.then(grain).flatten());
        let guide = Members { ends: measures().map(|measure| &measure.ends), noise, levels, transfer }.guide(settings);
        if !is_detail {
            return guide;
        }
        let quantiles = mean_by_number(members().map(|index| self.details[index].quantiles)).unwrap_or_default();
        let tone = guide.tone.unwrap_or(Tone::plain(levels, settings));
        Guide { tone: Some(Detail::toned(tone, &quantiles, noise, levels, settings)), ..guide }
    }

    /// The guide of frame `place` with [`Method::Natural`]: the mean of the corrections of the frames of its scene
    /// around it whose light is that of the scene.
    fn corrected(&mut self, place: usize, settings: &Settings) -> Guide {
        let levels = self.frames[place].measure.levels;
        if settings.strength.to_256ths() == 0 {
            return Guide::unchanged(levels);
        }
        let (window, ahead) = (settings.smoothing.frames() as usize, settings.smoothing.ahead() as usize);
        let first = (place + 1 + ahead).saturating_sub(window);
        let counts = |index: &usize| self.details[*index].counts && self.details[*index].scene == self.scene;
        let before = (first..place).filter(counts);
        let members: Vec<usize> = before.chain([place]).chain(self.behind(place, ahead, settings)).collect();
        let flicker = self.flicker(place, settings);
        let flickers = flicker.as_ref().map_or(0, |(share, ..)| *share);
        let (mean, own_light) = self.mean_correction(&members, place, flickers, settings);
        let Some(correction) = mean.get() else { return Guide::unchanged(levels) };
        let correction = correction.noticeable();
        let noise = self.noise(place, settings);
        // If frames repeat, only every second one would be denoised: noise that comes and goes is more visible than
        // steady noise.
        let steps = self.steps_around(place, settings).map(|index| &self.frames[index]);
        let repeats = noise::repeats_often(steps.filter(|step| step.is_compared).map(|step| step.noise));
        let most = if repeats { Strength::from_256ths(0) } else { settings.denoise.share() };
        let share = correction.noise_shown(noise, levels, most);
        let left = |noise| ((u64::from(noise) * (65_536 - u64::from(CLEANED * share.to_256ths()))) >> 16) as u32;
        let correction = correction.calmed(noise.map(left), levels);
        let found = Found { noise: 16 * share.to_256ths() as i32, flicker: flickers, ..correction.found };
        let mapping = |levels| {
            let steadied = flicker.as_ref().map(|(share, light, rest)| flicker::steadied(*light, rest, *share, levels));
            correction
                .mapping(&FrameLight { light: own_light, steadied }, levels)
                .with_strength(levels, settings.strength)
        };
        let clean =
            (share.to_256ths() > 0).then(|| Cleaning { share, mapping: levels.with_two_bits_more().map(mapping) });
        let is_as_measured = self.details[place].correction.is_some_and(|measured| measured.is_as_measured);
        Guide { found: Some(found), is_as_measured, clean, ..Guide::new(mapping(levels)) }
    }

    /// How surely the light flickers around frame `place`, in 4096ths, and what evens it out; `None` if it does not.
    fn flicker(&self, place: usize, settings: &Settings) -> Option<(i32, deflicker::LightCorrection, Remainder)> {
        // Flicker lasts: the whole window tells more surely whether there is any, and steadily.
        let (window, ahead) = (settings.smoothing.frames() as usize, settings.smoothing.ahead() as usize);
        let [first, end] = self.scene_around(place, [window - 1 - ahead, ahead], settings);
        let steps: Vec<LightStep> = (first + 1..=end).map(|index| self.details[index].light_step).collect();
        let share = flicker::confidence(&steps);
        let (light, rest) = (share > 0).then(|| self.correction(place, settings))?;
        Some((share, light, rest))
    }

    /// The mean of the corrections of these frames, which are in order, and the light of frame `place` relative to that
    /// of its scene. Frames that are darker than the scene count less. Both results are averages over the quantiles
    /// that [`Lights`] has as lights of the scene. As far as the light `flickers`, in 4096ths, all frames count alike,
    /// and the light is that of the frames around `place` relative to all.
    fn mean_correction(
        &self,
        members: &[usize],
        place: usize,
        flickers: i32,
        settings: &Settings,
    ) -> (MeanCorrection, u32) {
        let white = 16 * (self.frames[place].measure.levels.count() as u32 - 1);
        // Without a look-ahead, black frames count as needing no correction, so that a scene that fades in is corrected
        // gradually.
        let is_black =
            |index: usize| settings.smoothing.ahead() == 0 && self.frames[index].measure.mean_light() < white / 64;
        let place_in_scene = members.partition_point(|&index| index < place);
        let lights = self.lights_of(members, white);
        let mut weights = vec![0; members.len()];
        let [earlier, later] = flicker_reach(settings);
        let around = members.partition_point(|&index| index + earlier < place)
            ..members.partition_point(|&index| index <= place + later);
        let mut own_light = 0;
        for lights in lights.against_scenes() {
            let weight = |(&index, &light): (&usize, &u32)| match self.details[index].correction {
                None => 0,
                Some(_) if is_black(index) => 4096,
                Some(_) => natural::between(light::weight(light) as i32, 4096, flickers) as u64,
            };
            let each: Vec<u64> = members.iter().zip(&lights).map(weight).collect();
            let all = each.iter().sum::<u64>().max(1);
            weights.iter_mut().zip(each).for_each(|(sum, weight)| *sum += (weight << 20) / all);
            let mean = |lights: &[u32]| lights.iter().map(|light| u64::from(*light)).sum::<u64>() / lights.len() as u64;
            let steady = (mean(&lights[around.clone()]) << 16) / mean(&lights).max(1);
            let steady = steady.min(light::BRIGHTEST.into()) as i32;
            own_light += natural::between(lights[place_in_scene] as i32, steady, flickers) as u32;
        }
        let mut mean = MeanCorrection::default();
        for (&index, weight) in members.iter().zip(weights) {
            let Some(correction) = self.details[index].correction else { continue };
            mean.add(&if is_black(index) { correction.cleared() } else { correction }, weight as u32);
        }
        (mean, own_light / light::SCENE_LIGHTS as u32)
    }

    /// The light of the next frame relative to that of the last one, in 65536ths.
    fn step_of_light(&self, measure: &Measure) -> u32 {
        let white = 16 * (measure.levels.count() as u32 - 1);
        let before = self.frames.back().map(|known| known.measure.light_of_blocks());
        before.map_or(light::FULL, |before| light::between(before, measure.light_of_blocks(), white))
    }

    /// The lights of these frames, which are in order. Frames between them, those of a flash, contribute only their
    /// steps of light.
    fn lights_of(&self, members: &[usize], white: u32) -> Lights {
        let mut begin = members.first().map_or(0, |first| first + 1);
        let each = members.iter().map(|&index| {
            let steps = self.details.range(begin.min(index + 1)..=index);
            let step = steps.fold(u64::from(light::FULL), |light, step| (light * u64::from(step.light)) >> 16);
            begin = index + 1;
            (step.min(light::MAX.into()) as u32, self.frames[index].measure.mean_light())
        });
        Lights::new(each, white)
    }

    /// Which blocks of the next frame are foreign to the frames before it. `step` is the distance from the last frame.
    /// It is compared with some of the frames since the last step that is as large as a cut.
    fn foreign(&self, measure: &Measure, step: Distance, settings: &Settings) -> [bool; BLOCKS] {
        let most = settings.smoothing.foreign_look_back() as usize;
        let (apart, white) = (most.div_ceil(LOOKED_AT).max(1), 16 * (measure.levels.count() as u32 - 1));
        // The step from each frame to the next.
        let steps = [step].into_iter().chain(self.frames.iter().rev().map(|known| known.step));
        let before = self.frames.iter().rev().zip(steps).take_while(|(_, step)| goes_on(*step, settings));
        let before: Vec<&light::Blocks> =
            before.take(most).step_by(apart).map(|(known, _)| known.measure.light_of_blocks()).collect();
        light::foreign(&before, measure.light_of_blocks(), white)
    }

    /// The first and the last frame around frame `place` that belong to its scene: at most `earlier` frames before it,
    /// and at most `later` frames after it.
    fn scene_around(&self, place: usize, [earlier, later]: [usize; 2], settings: &Settings) -> [usize; 2] {
        let is_before = |index: &usize| self.details[*index].scene == self.scene;
        let first = (place.saturating_sub(earlier)..place).rev().take_while(is_before).last().unwrap_or(place);
        [first, self.until_cut(place, later, settings)]
    }

    /// The correction of the light of frame `place`, and that of its other flicker, from the frames around it.
    fn correction(&self, place: usize, settings: &Settings) -> (deflicker::LightCorrection, Remainder) {
        let [first, end] = self.scene_around(place, flicker_reach(settings), settings);
        let (lights, remainders): (Vec<LightChange>, Vec<&Changes>) =
            (first..=end).map(|index| self.changes(index)).map(|(light, changes)| (*light, changes)).unzip();
        (
            deflicker::LightCorrection::new(&lights, place - first),
            Remainder::new(&remainders, place - first, settings.chroma.changes()),
        )
    }

    /// The frames after frame `place` that seem to be of its scene, at most `ahead`: those before the first step as
    /// large as a cut, because scenes are not decided yet.
    fn behind(&self, place: usize, ahead: usize, settings: &Settings) -> impl Iterator<Item = usize> {
        let settings = *settings;
        let goes_on = move |index: &usize| goes_on(self.frames[*index].step, &settings);
        (place + 1..(place + ahead + 1).min(self.frames.len())).take_while(goes_on)
    }

    /// The last frame after frame `place`, at most `ahead` later, before one that seems to begin a scene or is black. A
    /// large step alone is no cut: flicker in parts of the frame is as large, but does not last.
    fn until_cut(&self, place: usize, ahead: usize, settings: &Settings) -> usize {
        let known = (place + ahead + 1).min(self.frames.len());
        let cuts = |index: usize| {
            !goes_on(self.frames[index].step, settings)
                && (self.frames[index].light == LightChange::default()
                    || Neighbourhood::new(&self.frames, (index, known), (self.begins, false), settings.scene_threshold)
                        .begins_scene(settings.smoothing.flash() as usize, false))
        };
        (place + 1..known).find(|&index| cuts(index)).unwrap_or(known) - 1
    }

    /// The noise around frame `place`, measured between adjacent frames of its scene, in its window and after it.
    fn noise(&self, place: usize, settings: &Settings) -> Option<u32> {
        noise::window_noise(self.steps_around(place, settings).filter_map(|index| self.frames[index].noise))
    }

    /// The frames in the window of frame `place`, and after it, that belong to its scene together with the frame before
    /// them.
    fn steps_around(&self, place: usize, settings: &Settings) -> impl Iterator<Item = usize> {
        let first = (place + 1).saturating_sub(settings.smoothing.frames() as usize);
        let counts = |index: usize| self.details[index].counts && self.details[index].scene == self.scene;
        let before = (first + 1..=place).filter(move |&index| counts(index - 1) && counts(index));
        before.chain(self.behind(place, settings.guide_look_ahead() as usize, settings))
    }

    /// Forgets the frames that no later guide depends on.
    fn forget(&mut self, settings: &Settings) {
        let smoothing = settings.smoothing;
        let kept = (smoothing.frames().max(smoothing.flash() + 2) + 1) as usize;
        while self.decided > kept {
            self.frames.pop_front();
            self.details.pop_front();
            self.decided -= 1;
            self.begins = false;
        }
        // Points are large.
        let last = match settings.method {
            Method::Deflicker => {
                let last = self.frames.len() - 1;
                self.changes(last);
                last.checked_sub(1)
            }
            _ => self.decided.checked_sub(flicker_reach(settings)[0] + 2),
        };
        if let Some(last) = last {
            self.frames[last].measure.points = Points::default();
        }
    }
}

/// Whether two frames with this distance may be of one scene. The distance of light counts with [`Method::Natural`]
/// only.
fn goes_on(step: Distance, settings: &Settings) -> bool {
    let cut = settings.scene_threshold.to_1000ths() * 4096 / 1000;
    step.picture <= cut && (!settings.method.is_natural() || step.light <= 2 * cut)
}

/// How many frames before and after a frame its flicker is evened out by: with [`Method::Natural`] an eighth of its
/// window, half a second by default, and at least twelve, because time lapses and old film have few frames a second.
fn flicker_reach(settings: &Settings) -> [usize; 2] {
    let (window, ahead) = (settings.smoothing.frames() as usize, settings.smoothing.ahead() as usize);
    let earlier = window - 1 - ahead;
    let reach = if settings.method.is_natural() { window.div_ceil(8).max(MIN_REACH) } else { window };
    [reach.min(earlier), reach.min(ahead)]
}

/// The fewest frames before and after a frame by which its flicker is evened out, if the window has them.
const MIN_REACH: usize = 12;

/// The share of noise that denoising removes, in 256ths.
const CLEANED: u32 = 192;

/// The most frames that a frame is compared with, to find foreign blocks.
const LOOKED_AT: usize = 24;

/// The correction that the frame alone needs, with [`Method::Natural`], without its foreign blocks.
pub(super) fn natural(measure: &mut Measure, foreign: &[bool; BLOCKS], settings: &Settings) -> Option<Correction> {
    if let (Some(of_all), false) = (measure.correction.take(), foreign.contains(&true)) {
        return Some(*of_all);
    }
    let Method::Natural { .. } = settings.method else { return None };
    Correction::under(settings, measure.points.clone().outside(foreign))
}

/// The frames of a window, from which the guide of the newest is decided.
pub(super) struct Members<E> {
    /// The ends of the levels of each frame.
    pub ends: E,
    /// The noise of the window, if it is known and limits slopes.
    pub noise: Option<u32>,
    pub levels: Levels,
    pub transfer: Transfer,
}

impl<'a, E: Iterator<Item = &'a Ends> + Clone> Members<E> {
    /// The guide of the newest of these frames, with a method that counts samples.
    pub fn guide(self, settings: &Settings) -> Guide {
        let Members { ends, noise, levels, transfer } = self;
        let settings = &Settings { keeps_peak: settings.keeps_peak && transfer.is_hdr(), ..*settings };
        if settings.stretch.is_off() && !settings.keeps_peak && noise.is_none() {
            return Guide::default();
        }
        let tone = Tone::held(ends, levels, settings, noise::most_gain(noise, levels));
        Guide { tone: Some(tone), ..Guide::default() }
    }
}

impl Guide {
    /// The guide of a frame that stays as it is.
    fn unchanged(levels: Levels) -> Self {
        Guide::new(Mapping::Curve { curve: Curve::identity(levels).into(), chroma_gain: UNIT_GAIN })
    }

    /// The guide of a frame that gets this mapping.
    fn new(mapping: Mapping) -> Self {
        Guide { mapping: Some(mapping), ..Guide::default() }
    }
}

//! Cuts: where a scene ends and another begins.
//!
//! Two frames are compared block by block ([`BLOCKS`] of them), because a cut changes most blocks, and an object that
//! crosses the frame only some. With `m` the mean of a block, `mu` the mean of its frame and `s` its spread:
//! ```text
//! A = |m_a - m_b|                                              change of brightness, in sixteenths of a level
//! D = A / max(s_a, s_b)                                        the same, relative to the contrast
//! E = |(m_a - mu_a) / s_a - (m_b - mu_b) / s_b|                change of the picture, whatever its light
//! ```
//! Each is the median over the blocks. Blocks that are black in both frames are left out; if less than a quarter of all
//! blocks remains, unchanged blocks are added up to a quarter. `C = min(D, E)`. D, E and C are in 4096ths. Division by
//! the spread makes one rule fit all depths, and dark footage.
//!
//! **With F frames known ahead** ([`Rule::Ahead`]) a cut is abrupt and lasting. Frame t begins a scene when
//! * `C(t-1, t)` is above the threshold T (0.25 by default), `A(t-1, t)` is more than three times the median of A over
//!   the two steps before and the two after, and none of these is larger; `C(t-1, t)` is more than twice that of at
//!   least two of these steps, so that strobes over fast motion are no cuts; `A` is more than an 85th of the range
//!   (three levels of 255), because noise and camera shake change dark frames by up to that; and `C(a, b) > max(T,
//!   C(t-1, t) / 2)` for all frames `a < t <= b` up to F + 1 apart; or
//! * the light changes and does not change back: `D(t-1, t) > 2T`, `A(t-1, t)` is more than three times that of any
//!   other step within F frames, and `D(a, b) > max(2T, D(t-1, t) / 2)` for the same frames.
//!
//! The last test of each excludes flashes, strobes and lightning. Frame t is a *flash* when frames a and b around it,
//! up to F + 1 apart, are like each other and unlike it, and it is unlike most frames within F: it enters no window.
//! Frames are unlike if `D > 2T` and their means are apart by half of that: a camera that shakes changes blocks, but
//! not the mean.
//!
//! **Without frames ahead** ([`Rule::Causal`]) the threshold is 1.2 T. Where a frame differs from the one before it,
//! but not from one of the F before that, a flash has ended. Else it begins a scene if `A` is more than twice that of
//! each of the three steps before. Where one of the two frames is flat, as black is, `A` must also be above a sixteenth
//! of the range: less may be a step of a fade.
//!
//! F is the longest flash, a quarter of a second. The first three frames of a video begin no scene by the first rule.

use crate::spec::measure::{BLOCKS, MIN_SPREAD, Measure};
use crate::spec::parameters::Threshold;
use crate::spec::restoration::deflicker::LightChange;
use crate::spec::restoration::film_changes::Changes;
use std::collections::VecDeque;
use std::sync::OnceLock;

/// A cut to another picture changes the brightness of blocks by more than the range divided by this.
const MIN_STEP: u32 = 85;

/// How a frame continues the one before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Change {
    /// The frame belongs to the same scene.
    #[default]
    None,
    /// The frame begins a scene.
    Cut,
    /// The frame is the first one after a flash that was mistaken for a scene: the scene before the flash continues.
    AfterFlash,
    /// The frame belongs to a flash, and is not in the window of its scene.
    Flash,
}

/// The distance of two frames; see the [module](self).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Distance {
    /// C, the smaller one of D and E, in 4096ths.
    pub picture: u32,
    /// D, the change of brightness relative to the contrast, in 4096ths.
    pub light: u32,
    /// A, the change of brightness, in sixteenths of a level.
    pub levels: u32,
}

impl Distance {
    /// The distance of two frames of the same size and levels.
    pub fn new(a: &Measure, b: &Measure) -> Self {
        let (spread_a, spread_b) = (i64::from(a.spread), i64::from(b.spread));
        let larger = a.spread.max(b.spread);
        let mut found = [[0u32; BLOCKS]; 3];
        let mut live = 0;
        for (m_a, m_b) in a.blocks.iter().zip(&b.blocks).filter_map(|(a, b)| Some(((*a)?, (*b)?))) {
            if 8 * m_a.max(m_b) <= larger {
                continue;
            }
            let apart = m_a.abs_diff(m_b);
            let across =
                (i64::from(m_a) - i64::from(a.mean)) * spread_b - (i64::from(m_b) - i64::from(b.mean)) * spread_a;
            let shape = (u128::from(across.unsigned_abs()) * 4096 / (spread_a * spread_b) as u128).min(u32::MAX.into());
            found[0][live] = apart;
            found[1][live] = (u64::from(apart) * 4096 / u64::from(larger)) as u32;
            found[2][live] = shape as u32;
            live += 1;
        }
        // If less than a quarter of all blocks is live (not black), the median includes zeros up to a quarter.
        let middle = live.max(BLOCKS / 4) / 2;
        let [levels, light, shape] = found.map(|mut distances| {
            let (_, &mut median, _) = distances.select_nth_unstable_by(middle, |a, b| b.cmp(a));
            median
        });
        Distance { picture: light.min(shape), light, levels }
    }
}

/// Which frames are known when a frame is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// This many frames after the judged one are known, or all up to the end of the video.
    Ahead(u32),
    /// Only the frames before the judged one are known; flashes last at most this many frames.
    Causal(u32),
}

impl Rule {
    /// F: the longest flash, in frames.
    pub const fn flash(self) -> usize {
        match self {
            Rule::Ahead(flash) | Rule::Causal(flash) => flash as usize,
        }
    }
}

/// The frames around the one that is judged, oldest first.
pub struct Neighbourhood<'a> {
    frames: &'a VecDeque<Known>,
    /// The index of the judged frame in `frames`.
    at: usize,
    /// The index of the last frame that may be compared.
    last: usize,
    /// Whether the oldest frame is the first of the video, and whether the newest is the last.
    ends: (bool, bool),
    threshold: u32,
}

/// The measure of a frame, and its changes since the frame before.
#[derive(Clone, Debug)]
pub struct Known {
    /// The measure of the frame.
    pub measure: Measure,
    /// Its distance from the frame before it; zero for the first frame.
    pub step: Distance,
    /// Whether it was compared with the frame before it to measure noise.
    pub is_compared: bool,
    /// The noise, measured by the change since the frame before it, in 256ths of a level.
    pub noise: Option<u32>,
    /// How the light has changed since the frame before it, by blocks; with `Method::Deflicker` and `Method::Natural`.
    pub light: LightChange,
    /// How the light, and colours, patches and bands have changed since the frame before it, by points; once needed.
    pub changes: OnceLock<Box<(LightChange, Changes)>>,
}

impl<'a> Neighbourhood<'a> {
    /// The surroundings of frame `place` among the first `end` of `frames`; `ends` tells whether the video begins with
    /// the first of them, and whether it ends with the last.
    pub fn new(
        frames: &'a VecDeque<Known>,
        (place, end): (usize, usize),
        ends: (bool, bool),
        threshold: Threshold,
    ) -> Self {
        Neighbourhood { frames, at: place, last: end - 1, ends, threshold: threshold.to_1000ths() * 4096 / 1000 }
    }

    /// How the frame continues the one before it; with `light_cuts`, a change of the light alone can begin a scene.
    pub fn change(&self, rule: Rule, light_cuts: bool) -> Change {
        if self.at == 0 || self.threshold >= 4096 {
            return Change::None;
        }
        match rule {
            Rule::Ahead(flash) => self.change_seen_ahead(flash as usize, light_cuts),
            Rule::Causal(flash) => self.change_seen_behind(flash as usize),
        }
    }

    fn step(&self, index: usize) -> Distance {
        self.frames[index].step
    }

    fn between(&self, a: usize, b: usize) -> Distance {
        if a + 1 == b { self.step(b) } else { Distance::new(&self.frames[a].measure, &self.frames[b].measure) }
    }

    fn change_seen_ahead(&self, flash: usize, light_cuts: bool) -> Change {
        if self.begins_scene(flash, light_cuts) {
            return Change::Cut;
        }
        if self.is_flash(flash) { Change::Flash } else { Change::None }
    }

    /// Whether the frame begins a scene, judged with the known frames after it.
    pub fn begins_scene(&self, flash: usize, light_cuts: bool) -> bool {
        let (t, last) = (self.at, self.last);
        let Distance { picture, light, levels } = self.step(t);
        let from_start = if self.ends.0 { t } else { usize::MAX };
        let is_first = |index: usize| index == 0 && self.ends.0;
        // Whether all pairs of a frame before the cut and one after it, up to F + 1 frames apart, differ by more than
        // `least`.
        let lasts = |distance: &dyn Fn(Distance) -> u32, least: u32| {
            (t.saturating_sub(1 + flash)..t)
                .all(|a| (t..=(a + flash + 1).min(last)).all(|b| distance(self.between(a, b)) > least))
        };
        let near = (t.saturating_sub(2)..=(t + 2).min(last)).filter(|&index| index != t && !is_first(index));
        let near: Vec<Distance> = near.map(|index| self.step(index)).collect();
        let sorted = |distance: &dyn Fn(&Distance) -> u32| {
            let mut found: Vec<u32> = near.iter().map(distance).collect();
            found.sort_unstable();
            found
        };
        let (brightness, pictures) = (sorted(&|step| step.levels), sorted(&|step| step.picture));
        let value_at = |sorted: &[u32], index: usize| sorted.get(index).copied().unwrap_or(0);
        let stands_out = levels > 16 * (self.frames[t].measure.levels.count() as u32 - 1) / MIN_STEP
            && levels > 3 * value_at(&brightness, near.len() / 2)
            && levels >= value_at(&brightness, near.len().saturating_sub(1))
            && picture > 2 * value_at(&pictures, near.len().min(2).saturating_sub(1));
        let threshold = self.threshold;
        if picture > threshold
            && from_start >= 3
            && stands_out
            && lasts(&|distance| distance.picture, threshold.max(picture / 2))
        {
            return true;
        }
        let known_around = (from_start > flash) && (!self.ends.1 || t + flash <= last);
        let around = t.saturating_sub(flash)..=(t + flash).min(last);
        let mut rest = around.filter(|&index| index != t && !is_first(index));
        let mut alone = || rest.all(|index| levels > 3 * self.step(index).levels);
        light_cuts
            && light > 2 * threshold
            && known_around
            && alone()
            && lasts(&|distance| distance.light, (2 * threshold).max(light / 2))
    }

    /// Whether the frame belongs to a flash. If no step within F frames is above the threshold, no frames are compared.
    fn is_flash(&self, flash: usize) -> bool {
        let (t, last) = (self.at, self.last);
        let (first, end) = (t.saturating_sub(flash), (t + flash).min(last));
        let unlike = 2 * self.threshold;
        if (first.max(1)..=end).all(|index| self.step(index).light <= self.threshold) {
            return false;
        }
        let light = |a: usize, b: usize| {
            let [one, other] = [a, b].map(|index| &self.frames[index].measure);
            let of_means = u64::from(one.mean.abs_diff(other.mean)) * 4096 / u64::from(one.spread.max(other.spread));
            self.between(a, b).light.min(2 * of_means.min(4096) as u32)
        };
        let before: Vec<(usize, u32)> = (first..t).map(|a| (a, light(a, t))).collect();
        let after: Vec<(usize, u32)> = (t + 1..=end).map(|b| (b, light(t, b))).collect();
        let lies_between = before.iter().filter(|(_, d)| *d > unlike).any(|&(a, distance)| {
            after
                .iter()
                .filter(|&&(b, target)| target > unlike && b - a <= flash + 1)
                .any(|&(b, target)| 2 * self.between(a, b).light < distance.min(target))
        });
        let alike = before.iter().chain(&after).filter(|(_, d)| *d <= self.threshold).count();
        lies_between && 2 * alike < before.len() + after.len()
    }

    fn change_seen_behind(&self, flash: usize) -> Change {
        let t = self.at;
        let threshold = self.threshold * 6 / 5;
        let Distance { picture, levels, .. } = self.step(t);
        if picture <= threshold {
            return Change::None;
        }
        let alike = |a: &usize| self.between(*a, t).picture <= threshold.max(picture / 2);
        if (t.saturating_sub(1 + flash)..t).rev().any(|a| alike(&a)) {
            return Change::AfterFlash;
        }
        let from_start = if self.ends.0 { t } else { usize::MAX };
        let calm_before = (t.saturating_sub(3).max(1)..t).all(|index| levels > 2 * self.step(index).levels);
        if from_start > 3 && calm_before && !self.may_be_a_fade() { Change::Cut } else { Change::None }
    }

    /// Whether the step to the frame may be part of a fade: it is small, and one of the two frames is far flatter than
    /// the other.
    fn may_be_a_fade(&self) -> bool {
        let [before, after] = [self.at - 1, self.at].map(|index| &self.frames[index].measure);
        let (less, more) = (before.spread.min(after.spread), before.spread.max(after.spread));
        let range = after.levels.count() as u32 - 1;
        less <= MIN_SPREAD.max(more / 4) && self.step(self.at).levels <= range
    }
}

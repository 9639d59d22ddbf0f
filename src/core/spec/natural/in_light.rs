//! HDR is corrected in light: the codes of its transfer become levels ([`Scale`]), the correction is applied to them as
//! to those of SDR, and the results become codes again. All of this is computed into curves, so that kernels need no
//! code for it.
//!
//! No output is brighter than both diffuse white and the input. Let M be diffuse white, or the peak of the scene (its
//! luma at 99.8 %) if that is brighter. If a correction would bring the peak to T, above M, all levels have a shoulder
//! in light: light y becomes `y / (1 + y (1/M - 1/T))`, which keeps dark levels and maps T to M. Above the peak,
//! outputs rise linearly, in places on the scale, up to the place of M; from there on all places stay as they are. So
//! levels keep their order, and none is clipped. If the peak is M itself, outputs rise linearly up to the last place.
//!
//! A [`Balance`](crate::spec::curves::tone::Balance) is applied before, to codes, where a gain of light is not a gain: the
//! balance of codes has the same effect at two levels only. If it makes the peak brighter than M, outputs above the
//! peak rise so that the last place becomes that of M.

use super::points::WHITE;
use super::tone_curve::FrameCurve;
use crate::spec::Transfer;
use crate::spec::chroma::UNIT_GAIN;
use crate::spec::curves::Levels;
use crate::spec::transfer::{FINE_WHITE, LAST_PLACE, LightOfLevels, Scale, place};
use std::cmp::Ordering;

/// How a correction is applied to HDR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InLight {
    /// The transfer function of the codes: PQ or HLG.
    pub transfer: Transfer,
    /// The peak of the scene, and the limit of its output; both in 4096ths of a sixteenth of 255, where 255 is diffuse
    /// white.
    pub peak: [u32; 2],
}

/// The largest peak, in the unit of [`InLight::peak`].
pub const MAX_PEAK: u32 = 16 * FINE_WHITE as u32;

/// The correction of a region in light.
pub struct RegionInLight<'a> {
    scale: &'static Scale,
    /// The offset that is subtracted, in 4096ths of a sixteenth of 255.
    taken: i64,
    /// The gain after the subtraction, in 4096ths.
    gain: i64,
    then: Option<&'a FrameCurve>,
    /// The peak, and its output.
    peak: [i64; 2],
    /// The light of the peak after the correction alone, and its limit; `None` if the limit is not exceeded.
    shoulder: Option<[i64; 2]>,
    /// The place up to which outputs above the peak rise linearly, and its output; places beyond keep their distance
    /// from it.
    straight_to: [i64; 2],
}

impl InLight {
    /// The correction of a region: it subtracts `taken`, in sixteenths of a level of which `white` is the highest,
    /// multiplies the rest by `gain`, and applies the curve `then`, whose white is [`WHITE`]. `None` for SDR.
    pub fn region<'a>(
        &self,
        (taken, gain): (u32, u32),
        then: Option<&'a FrameCurve>,
        white: i64,
    ) -> Option<RegionInLight<'a>> {
        let scale = self.transfer.scale()?;
        let [peak, most] = self.peak.map(i64::from);
        let taken = i64::from(taken) * FINE_WHITE / white.max(1);
        let straight_to = match peak.cmp(&most) {
            Ordering::Less => [scale.place(most); 2],
            Ordering::Equal => [LAST_PLACE; 2],
            Ordering::Greater => [LAST_PLACE, scale.place(most)],
        };
        let mut region =
            RegionInLight { scale, taken, gain: gain.into(), then, peak: [peak, most], shoulder: None, straight_to };
        let becomes = region.corrected(peak);
        if becomes > most {
            let light = LightOfLevels::get();
            region.shoulder = Some([becomes, most].map(|level| light.light(level)));
        }
        region.peak[1] = region.below_peak(peak, &mut Near::default());
        Some(region)
    }
}

/// The indices where the last search ended in each list, from which the next one starts.
#[derive(Default)]
struct Near {
    light: usize,
    place: usize,
}

impl RegionInLight<'_> {
    /// The output of the correction for a level, without the shoulder.
    fn corrected(&self, level: i64) -> i64 {
        let rest = (level.saturating_sub(self.taken).max(0) * self.gain) >> 12;
        self.then.map_or(rest, |then| then.fine(rest).min(MAX_PEAK.into()))
    }

    /// The output for a level up to the peak.
    fn below_peak(&self, level: i64, near: &mut Near) -> i64 {
        let becomes = self.corrected(level);
        let Some([would, may]) = self.shoulder else { return becomes.min(self.peak[1]) };
        let light = LightOfLevels::get();
        let [reached, would, may] = [light.light(becomes), would, may].map(i128::from);
        let product = would * may;
        let kept = if product == 0 { 0 } else { reached * product / (product + reached * (would - may)) };
        light.level_near(kept as i64, &mut near.light).min(self.peak[1])
    }

    /// The output, as a place, for each place of the scale.
    fn knots(&self) -> Vec<i64> {
        let ([peak, _], [end, end_becomes]) = (self.peak, self.straight_to);
        let [low, high] = self.peak.map(|level| self.scale.place(level));
        let mut near = Near::default();
        let becomes = |(index, &level): (usize, &i64)| {
            let place = (index as i64) << 16;
            if level <= peak {
                return self.scale.place_near(self.below_peak(level, &mut near), &mut near.place);
            }
            if place >= end {
                return place - end + end_becomes;
            }
            high + (place - low).max(0) * (end_becomes - high).max(0) / (end - low).max(1)
        };
        self.scale.levels().iter().enumerate().map(becomes).collect()
    }

    /// The output for each code. Codes below black stay as they are; codes above white stay as they are if white does,
    /// else they become what white becomes.
    pub fn codes(&self, levels: Levels) -> Vec<u16> {
        let knots = self.knots();
        let most = levels.count() as i64 - 1;
        let level = |level: i64| {
            let position = place(level, most);
            let (index, part) = ((position >> 16) as usize, position & 0xffff);
            let next = knots[(index + 1).min(knots.len() - 1)];
            let becomes = knots[index] + (((next - knots[index]) * part) >> 16);
            levels.lo() + ((becomes * most + LAST_PLACE / 2) / LAST_PLACE) as u16
        };
        let code = |code: u16| match code {
            _ if code > levels.hi() && self.straight_to[0] == self.straight_to[1] => code,
            _ if code < levels.lo() => code,
            _ => level(levels.level_of(code) as i64),
        };
        (0..levels.codes()).map(|index| code(index as u16)).collect()
    }

    /// The gain of chroma in codes that has the effect of `gain` in levels, for colours of this level; both in 4096ths.
    /// It accounts for the number of codes per level, which differs between the level and its output.
    pub fn chroma(&self, gain: u32, level: i64) -> u32 {
        let corrected = self.corrected(level);
        let becomes = if level <= self.peak[0] { self.below_peak(level, &mut Near::default()) } else { corrected };
        let steps = |level: i64| self.scale.place(level + level / 16) - self.scale.place(level - level / 16);
        let (before, after) = (steps(level), steps(becomes));
        if before == 0 || after == 0 || corrected == 0 {
            return gain.min(UNIT_GAIN);
        }
        let wanted = i128::from(gain) * i128::from(level) * i128::from(after);
        (wanted / (i128::from(corrected) * i128::from(before))).min(i128::from(4 * UNIT_GAIN)) as u32
    }
}

/// The gain and the offset of codes, in 4096ths and in sixteenths of a level of which `white` is the highest, that have
/// the same effect as `gain` and `offset` of levels, in 4096ths and in sixteenths of 255, at the outputs of a tenth and
/// nine tenths of white.
pub fn balance_of_codes(scale: &Scale, gain: i32, offset: i32, white: i64) -> (u32, i32) {
    let place = |level: i64| scale.place(level << 12);
    let ends = [1, 9].map(|tenths| {
        let after = tenths * i64::from(WHITE) / 10;
        let before = ((after - i64::from(offset)) * 4096 / i64::from(gain.max(1))).clamp(0, 4 * i64::from(WHITE));
        [place(before), place(after)]
    });
    let [[before, after], [last, end]] = ends;
    let gain = ((end - after) * 4096 / (last - before).max(1)).max(0);
    let offset = (after - before * gain / 4096) * white / LAST_PLACE;
    (gain as u32, offset as i32)
}

//! The light of one frame, for which the correction of its scene is adapted.

use super::light::FULL;
use super::points::WHITE;
use super::tone_curve::{ToneCurve, Toned};
use crate::spec::curves::tone::Balance;
use crate::spec::measure::REGIONS;

/// The light of a frame.
pub struct FrameLight {
    /// The light relative to that of the scene, in 65536ths, after `steadied`.
    pub light: u32,
    /// The flicker that is evened out first.
    pub steadied: Option<Steadied>,
}

/// How the light of a flickering frame becomes that of the frames around it.
pub struct Steadied {
    /// Applied first.
    pub balance: Balance,
    /// Applied second: the gain of luma and chroma of each region, in 4096ths.
    pub gains: [[u32; REGIONS]; REGIONS],
    /// The gain of a middle level, as a mean over the regions, in 4096ths.
    pub gain: u32,
    /// Applied third: what the change of light has more than a gain, in levels of the frame.
    pub bend: ToneCurve,
}

impl From<u32> for FrameLight {
    fn from(light: u32) -> Self {
        FrameLight { light, steadied: None }
    }
}

impl FrameLight {
    /// The light before flicker is evened out, in 65536ths.
    pub(super) fn before(&self) -> u32 {
        let gain = self.steadied.as_ref().map_or(4096, |steadied| steadied.gain.max(1));
        ((u64::from(self.light) << 12) / u64::from(gain)).min(u32::MAX.into()) as u32
    }

    /// The gain of flicker in a region, in 4096ths.
    pub(super) fn gain(&self, (y, x): (usize, usize)) -> u32 {
        self.steadied.as_ref().map_or(4096, |steadied| steadied.gains[y][x])
    }

    /// The balance of flicker, and then this one.
    pub(super) fn balance(&self, then: Balance) -> Balance {
        let Some(Steadied { balance, .. }) = &self.steadied else { return then };
        let times = |number: i64, gain: u32| (number * i64::from(gain)) >> 12;
        Balance {
            gains: std::array::from_fn(|index| times(balance.gains[index].into(), then.gains[index]) as u32),
            offsets: std::array::from_fn(|index| {
                times(balance.offsets[index].into(), then.gains[index]) as i32 + then.offsets[index]
            }),
        }
    }

    /// The curve of the scene, which follows `line`, a gain in 4096ths and an offset, behind the bend of flicker, which
    /// precedes that line.
    pub(super) fn curve(&self, curve: ToneCurve, line: [i32; 2]) -> ToneCurve {
        match &self.steadied {
            Some(Steadied { bend, .. }) if *bend != ToneCurve::identity() => {
                let [bend, curve] = [*bend, curve].map(|curve| Toned { curve, light: FULL }.frame_curve(WHITE as u64));
                let (light, full) = (i64::from(self.light.max(1)), i64::from(FULL));
                let [gain, offset] = line.map(i64::from);
                ToneCurve::through(|level| {
                    let before = ((i64::from(level - line[1]) << 24) / gain.max(1)).max(0);
                    let bent = bend.fine(before * light / full) * full / light;
                    (curve.fine(((bent * gain) >> 12) + (offset << 12)) >> 12) as i32
                })
            }
            _ => curve,
        }
    }
}

//! Removal of flicker other than that of the whole frame: of colour, patches and bands. Part of
//! [`Method::Deflicker`](crate::spec::parameters::Method::Deflicker).
//!
//! As with the light of the whole frame ([`deflicker`](super::deflicker)), the change from one frame to the next is a
//! median, here over the points of the lattice ([`Points`](crate::spec::natural::Points)), and changes are chained over
//! the window. All changes are relative to that of the whole frame:
//! * **Colour**: for each of R, G and B, how much more its logarithm rises than that of luma, at two levels. It is
//!   corrected by a [`Balance`].
//! * **Bands and patches**: in each of 8x8 regions, the median of how much more points rise than the whole frame. The
//!   mean of the middle half over a row of regions is a horizontal band, over a column a vertical one; what is left,
//!   smoothed over 3x3 regions, is a patch. They are corrected by gains of regions ([`Veil`]), which are blended as
//!   tiles are, followed by the curve for the light of the whole frame.
//!
//! Motion is no flicker. Where another object comes into a region, its points rise by different amounts, or all of them
//! by far more than those of the regions around it: there the chain ends, and frames before are not compared with
//! frames after. No value is corrected by more than three times the median deviation of the values of its window, so a
//! change of a patch in one frame alone stays. A correction is scaled by the share by which the changes exceed their
//! errors, which are estimated from how far the points disagree. Clean footage stays as it is.

use super::deflicker::{DARK, LIGHT, ONE, exp2, line_through, log2, median};
use crate::spec::chroma::UNIT_GAIN;
use crate::spec::curves::tone::{Balance, Veil};
use crate::spec::curves::{Levels, Mapping};
use crate::spec::measure::REGIONS;
use crate::spec::natural::{ToneCurve, Toned};
use crate::spec::restoration::film_changes::{Changes, Even, RegionNumbers, Rise, around};

/// If all corrections are smaller than this, half a percent, none is applied.
const MIN_CORRECTION: i64 = 470;

/// The largest correction of a region or a colour, half an octave.
const MAX_CORRECTION: i64 = ONE / 2;

/// The limit of a chain of rises, so that sums do not overflow.
const FURTHEST: i64 = 16 * ONE;

/// Corrections of regions, each limited to between 5/4 of the second lowest and 5/4 of the second highest of its
/// neighbours: patches are larger than a region, and a region that stands out alone shows motion.
fn with_company(corrections: &RegionNumbers) -> RegionNumbers {
    let within = |y: usize, x: usize| {
        let near = around((y, x)).filter(|index| *index != (y, x));
        let mut near: Vec<i64> = near.map(|(row, column)| corrections[row][column]).collect();
        near.sort_unstable();
        let (low, high) = (near[1], near[near.len() - 2]);
        corrections[y][x].clamp(low.min(low * 5 / 4), high.max(high * 5 / 4))
    };
    std::array::from_fn(|y| std::array::from_fn(|x| within(y, x)))
}

/// How a series of rises is corrected.
struct CorrectionRule {
    /// A deviation from the line up to this counts in full, even if the median deviation is far smaller.
    free: i64,
    /// A correction is scaled by `wavers` times the second differences of the series, divided by twice its deviations
    /// from the line, less `bends` fifths. With 3, changes over more than some ten frames, such as motion, stay. Bands
    /// may move as slowly as the window is long, so they have more; `bends` excludes the even bend of a fade.
    wavers: i64,
    bends: i64,
}

const BAND: CorrectionRule = CorrectionRule { free: ONE / 3, wavers: 17, bends: 2 };
const PATCH: CorrectionRule = CorrectionRule { free: 1500, wavers: 3, bends: 0 };
const COLOUR: CorrectionRule = CorrectionRule { free: ONE / 3, wavers: 3, bends: 0 };

impl CorrectionRule {
    /// The correction that brings frame `place` to the line through the frames around it; `rises[j]` is the rise to
    /// frame j.
    fn even(&self, rises: &[Rise], place: usize) -> Even {
        let first = (1..=place).rev().find(|&index| rises[index].breaks).unwrap_or(0);
        let end = (place + 1..rises.len()).find(|&index| rises[index].breaks).unwrap_or(rises.len());
        let (rises, place) = (&rises[first..end], place - first);
        if rises.len() < 5 {
            return Even::default();
        }
        let mut chain = 0;
        let mut points: Vec<(i64, i64)> = Vec::with_capacity(rises.len());
        for (index, rise) in rises.iter().enumerate() {
            chain = (chain + if index > 0 { rise.value } else { 0 }).clamp(-FURTHEST, FURTHEST);
            points.push((index as i64 - place as i64, chain));
        }
        let there = points[place].1;
        points.iter_mut().for_each(|(_, y)| *y -= there);
        let line = line_through(&points);
        let strays: Vec<i64> = points.iter().map(|(x, y)| y - line.at(*x)).collect();
        let middle = median(strays.clone());
        let limit = (3 * median(strays.iter().map(|stray| (stray - middle).abs()).collect())).max(self.free);
        let kept: Vec<(i64, i64)> = points
            .iter()
            .zip(&strays)
            .filter(|(_, stray)| (**stray - middle).abs() <= limit)
            .map(|(p, _)| *p)
            .collect();
        let line = if kept.len() < points.len() { line_through(&kept) } else { line };
        let value = line.value.clamp(-limit, limit);
        // The rises between adjacent kept frames, and their errors.
        let steps: Vec<(i64, i64)> = kept
            .windows(2)
            .filter(|pair| pair[1].0 - pair[0].0 == 1)
            .map(|pair| (pair[1].1 - pair[0].1, rises[(pair[1].0 + place as i64) as usize].error))
            .collect();
        let energy: i64 = steps.iter().map(|(rise, _)| rise * rise / 16).sum();
        // The squares of errors count eight times, because changes of neighbouring points are not independent.
        let errors: i64 = steps.iter().map(|(_, error)| error * error / 2).sum();
        if energy <= errors || steps.len() < 3 {
            return Even::default();
        }
        let share = (energy - errors) * 4096 / energy;
        let value = (value * share) >> 12;
        let wavers: i64 = steps.windows(2).map(|pair| (pair[0].0 - pair[1].0).abs()).sum();
        let strays: i64 = kept.iter().map(|(x, y)| (y - line.at(*x)).abs()).sum();
        let whole = 2 * strays * (steps.len() as i64 - 1);
        let wavers = (self.wavers * wavers * kept.len() as i64 - self.bends * whole / 5).max(0);
        Even { correction: if wavers >= whole { value } else { value * wavers / whole }, share }
    }
}

/// The correction of a frame besides its curve, as changes of logarithms.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remainder {
    /// Changes of the logarithms of red, green and blue at two levels.
    colours: [[i64; 2]; 3],
    /// Changes of the logarithm of luma in the regions.
    regions: RegionNumbers,
}

impl Remainder {
    /// The correction of frame `index` of a window with these changes: `changes[j]` has those from frame j - 1 to frame
    /// j. Colours are corrected only with `colour`.
    pub fn new(changes: &[&Changes], index: usize, colour: bool) -> Self {
        let even = |rule: CorrectionRule, rise: &dyn Fn(&Changes) -> Rise| {
            rule.even(&changes.iter().map(|changes| rise(changes)).collect::<Vec<_>>(), index)
        };
        let mut colours = [[0; 2]; 3];
        if colour {
            colours = std::array::from_fn(|channel| {
                [0, 1].map(|end| even(COLOUR, &|changes| changes.colours[channel][end]).correction)
            });
        }
        let rows: [Even; REGIONS] = std::array::from_fn(|y| even(BAND, &|changes| changes.rows[y]));
        let columns: [Even; REGIONS] = std::array::from_fn(|x| even(BAND, &|changes| changes.columns[x]));
        let patches: Vec<[[Rise; REGIONS]; REGIONS]> =
            changes.iter().map(|changes| changes.patches(&rows, &columns)).collect();
        let patch = |y: usize, x: usize| {
            PATCH.even(&patches.iter().map(|patches| patches[y][x]).collect::<Vec<_>>(), index).correction
        };
        let patches = with_company(&std::array::from_fn(|y| std::array::from_fn(|x| patch(y, x))));
        let regions = std::array::from_fn(|y| {
            std::array::from_fn(|x| {
                (rows[y].correction + columns[x].correction + patches[y][x]).clamp(-MAX_CORRECTION, MAX_CORRECTION)
            })
        });
        Remainder { colours, regions }
    }

    /// This share of the correction, in 4096ths.
    #[must_use]
    pub(crate) fn share(mut self, share: i32) -> Self {
        let numbers = self.colours.as_flattened_mut().iter_mut().chain(self.regions.as_flattened_mut());
        numbers.for_each(|number| *number = (*number * i64::from(share)) >> 12);
        self
    }

    /// By how much the logarithm of luma rises in a region.
    pub(crate) fn region(&self, (y, x): (usize, usize)) -> i64 {
        self.regions[y][x]
    }

    /// The mapping that applies this correction, and then `curve`, with this gain of chroma; `toned` is the same curve
    /// for use after gains of regions.
    pub fn mapping(&self, curve: Mapping, toned: Option<Toned>, chroma_gain: u32, levels: Levels) -> Mapping {
        let then = match self.veil(toned, chroma_gain, levels) {
            Some(veil) => Mapping::Veil(veil.into()),
            None => curve,
        };
        match self.balance(levels) {
            Balance::IDENTITY => then,
            balance => Mapping::Balanced { balance, then: then.into() },
        }
    }

    fn veil(&self, then: Option<Toned>, chroma_gain: u32, levels: Levels) -> Option<Veil> {
        if self.regions.as_flattened().iter().all(|change| change.abs() < MIN_CORRECTION) {
            return None;
        }
        let gains = self.regions.map(|row| row.map(|change| exp2(log2(UNIT_GAIN.into()) + change) as u32));
        let chroma = gains.map(|row| row.map(|gain| ((u64::from(gain) * u64::from(chroma_gain)) >> 12) as u32));
        let ceiling = levels.count() as u32 - 1;
        Some(Veil { taken: [[0; REGIONS]; REGIONS], gains, chroma, then, in_light: None, ceiling })
    }

    /// The gains and offsets of colours that apply this correction.
    pub(crate) fn balance(&self, levels: Levels) -> Balance {
        let mut balance = Balance::IDENTITY;
        if self.colours.as_flattened().iter().all(|change| change.abs() < MIN_CORRECTION) {
            return balance;
        }
        let white = log2(16 * (levels.count() as u64 - 1));
        let ends = [DARK, LIGHT].map(|level| exp2(white + level) as i64);
        for (channel, changes) in self.colours.iter().enumerate() {
            let changes = changes.map(|change| change.clamp(-MAX_CORRECTION, MAX_CORRECTION));
            let becomes = [0, 1].map(|end| exp2(log2(ends[end] as u64) + changes[end]) as i64);
            let gain = (becomes[1] - becomes[0]).max(0) * i64::from(UNIT_GAIN) / (ends[1] - ends[0]).max(1);
            balance.gains[channel] = gain as u32;
            balance.offsets[channel] = (becomes[1] - ((ends[1] * gain) >> 12)) as i32;
        }
        balance
    }
}

/// A curve to apply after gains of regions; `becomes` maps levels in sixteenths of 255.
pub fn toned(becomes: impl Fn(i32) -> i32) -> Toned {
    Toned { curve: ToneCurve::through(becomes), light: 1 << 16 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::measure::Measure;
    use crate::spec::parameters::{Chroma, Method, Settings, Smoothing, Threshold};
    use crate::spec::{Guides, Lattice};

    const SIZE: (usize, usize) = (128, 72);

    /// A still picture with dark and light parts and texture; levels of 255.
    fn scene(x: usize, y: usize) -> f64 {
        60.0 + 0.7 * x as f64 + 0.4 * y as f64 + ((x * 37 + y * 91) % 40) as f64
    }

    /// The mappings of sixty frames; `colour` gives red, green and blue for a frame, a column and a row.
    fn mappings(colour: impl Fn(usize, usize, usize) -> [f64; 3]) -> Vec<Mapping> {
        let levels = Levels::full(16);
        let settings = Settings {
            method: Method::Deflicker,
            smoothing: Smoothing::from_seconds(1.0, 25.0).looking_ahead(12),
            scene_threshold: Threshold::from_share(0.25).expect("a share"),
            chroma: Chroma::Follow,
            ..Settings::default()
        };
        let mut guides = Guides::default();
        let measure = |frame: usize| {
            let point = |point: usize| {
                colour(frame, point % SIZE.0, point / SIZE.0).map(|level| (257.0 * level).round() as u16)
            };
            let rgb: Vec<[u16; 3]> = (0..SIZE.0 * SIZE.1).map(point).collect();
            let luma = rgb.iter().map(|&[r, g, b]| (u32::from(r) + 2 * u32::from(g) + u32::from(b)) / 4);
            let luma = luma.map(|level| level as u16).collect();
            Measure::new(&Lattice { size: SIZE, luma, rgb, ..Lattice::default() }, levels, SIZE)
        };
        let mut found: Vec<_> = (0..60).flat_map(|frame| guides.push(measure(frame), &settings)).collect();
        found.extend(guides.finish());
        found.into_iter().map(|guide| guide.mapping.expect("a mapping")).collect()
    }

    /// A pseudo-random number from -1 to 1.
    fn wavers(number: usize) -> f64 {
        let mixed = (number as u32).wrapping_add(7).wrapping_mul(2_654_435_761);
        let mixed = (mixed ^ (mixed >> 15)).wrapping_mul(2_246_822_519);
        f64::from(mixed ^ (mixed >> 13)) / f64::from(1_u32 << 31) - 1.0
    }

    /// The gain that a mapping applies to code 30,000 in the region (row, column).
    fn gain(mapping: &Mapping, place: (usize, usize)) -> f64 {
        let becomes = match mapping {
            Mapping::Veil(veil) => veil.curve_of(place, Levels::full(16)).apply(30_000),
            Mapping::Curve { curve, .. } => curve.apply(30_000),
            Mapping::Balanced { then, .. } => return gain(then, place),
            Mapping::Balance(_) | Mapping::Tiles { .. } => 30_000,
        };
        f64::from(becomes) / 30_000.0
    }

    /// The mean change of a series of light values from frame to frame, in octaves.
    fn steps(light: &[f64]) -> f64 {
        light.windows(2).map(|pair| (pair[1] / pair[0]).log2().abs()).sum::<f64>() / (light.len() - 1) as f64
    }

    /// The share of the flicker that remains in the left column of regions, at the row where it is largest.
    fn left(shape: impl Fn(usize, f64, f64) -> f64) -> f64 {
        let mappings = mappings(|frame, x, y| [scene(x, y) * shape(frame, x as f64 / 128.0, y as f64 / 72.0); 3]);
        let rows = (0..REGIONS).map(|y| {
            let before: Vec<f64> = (0..60).map(|frame| shape(frame, 1.0 / 16.0, (y as f64 + 0.5) / 8.0)).collect();
            let after: Vec<f64> =
                before.iter().zip(&mappings).map(|(light, shape)| light * gain(shape, (y, 0))).collect();
            steps(&after) / steps(&before)
        });
        rows.fold(0.0, f64::max)
    }

    #[test]
    fn a_band_that_rolls_goes() {
        let rolls = |phase: f64, height: f64| 1.0 + 0.1 * (std::f64::consts::TAU * (height - phase)).sin();
        let evenly = left(|frame, _, y| rolls(frame as f64 / 9.0, y));
        assert!(evenly < 0.3, "{evenly} of a horizontal band is left");
        let irregularly = left(|frame, _, y| rolls(frame as f64 / 7.0 + 0.1 * wavers(frame), y));
        assert!(irregularly < 0.35, "{irregularly} of an irregular one is left");
        let upright = left(|frame, x, _| rolls(frame as f64 / 9.0, x));
        assert!(upright < 0.5, "{upright} of an upright one is left");
    }

    #[test]
    fn patches_that_flicker_go() {
        let left = left(|frame, x, y| 1.0 + 0.12 * wavers(frame) * (0.5 - x) + 0.12 * wavers(3 * frame) * (0.5 - y));
        assert!(left < 0.35, "{left} is left");
    }

    #[test]
    fn a_colour_that_flickers_goes() {
        let red = |frame: usize| 1.0 + 0.08 * wavers(frame);
        let mappings = mappings(|frame, x, y| [scene(x, y) * red(frame), scene(x, y), scene(x, y)]);
        let after = |(frame, mapping): (usize, &Mapping)| match mapping {
            Mapping::Balanced { balance, .. } | Mapping::Balance(balance) => {
                let [r, g, _] = balance.rgb([(16_000.0 * red(frame)) as u16, 16_000, 16_000], u16::MAX);
                f64::from(r) / f64::from(g)
            }
            _ => red(frame),
        };
        let before: Vec<f64> = (0..60).map(red).collect();
        let after: Vec<f64> = mappings.iter().enumerate().map(after).collect();
        assert!(steps(&after) < 0.25 * steps(&before), "{} of {}", steps(&after), steps(&before));
    }

    /// Asserts that no region is changed by two percent or more, and no colour at all.
    fn stays(colour: impl Fn(usize, usize, usize) -> f64) {
        for (frame, mapping) in mappings(|frame, x, y| [colour(frame, x, y); 3]).into_iter().enumerate() {
            let regions = (0..REGIONS * REGIONS).map(|region| gain(&mapping, (region / REGIONS, region % REGIONS)));
            let most = regions.map(|gain| (gain - 1.0).abs()).fold(0.0, f64::max);
            assert!(most < 0.02, "frame {frame} changes by {most}");
            assert!(!matches!(mapping, Mapping::Balanced { .. } | Mapping::Balance(_)), "frame {frame} in colour");
        }
    }

    #[test]
    fn clean_footage_stays() {
        stays(|_, x, y| scene(x, y));
        // The same scene with grain.
        stays(|frame, x, y| scene(x, y) + 6.0 * wavers(frame * 9_973 + 131 * y + x));
    }

    #[test]
    fn what_moves_is_no_flicker() {
        // A dark object crosses the frame, slowly and fast; it is a fifth as wide, and at most as high.
        for (speed, height) in [(1, 24), (4, 24), (9, 40), (4, 72)] {
            stays(|frame, x, y| {
                let left = (speed * frame) as i64 - 30;
                if (left..left + 26).contains(&(x as i64)) && y < height { 40.0 } else { scene(x, y) }
            });
        }
        // A caption appears and disappears.
        stays(|frame, x, y| if (20..40).contains(&frame) && y > 60 { 230.0 } else { scene(x, y) });
        // A texture moves.
        stays(|frame, x, y| 90.0 + ((x + 2 * frame) * 37 % 91 + 13 * (y / 3) % 40) as f64);
    }
}

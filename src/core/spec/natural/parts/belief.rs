//! How far the measured deficiencies are believed.
//!
//! Clean pictures can measure as if they lacked something: a sunset as a veil, a blue hour as water, a white desk as
//! unused levels, a forest as darkness. Other features distinguish them, so how far each part is believed is a weighted
//! sum of these features, with weights that were learned ([`tuning`](crate::spec::natural::tuning)). The most reliable feature is
//! texture: haze is thickest where the picture is smooth, and it weakens strong edges; a clean picture has edges far
//! stronger than most of its steps.
//!
//! If the user states a deficiency, or the video is HDR, all measures are fully believed.

use super::{cast, line};
use crate::spec::natural::points::{Occurrences, Points, WHITE, from_255, luma, ratio, saturation, times};
use crate::spec::natural::tuning::belief::*;

/// How far each part is believed, in 4096ths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Belief {
    /// The belief in a cast of water.
    pub water: i32,
    /// The belief in unused levels, which a line stretches.
    pub line: i32,
    /// The belief in a veil.
    pub veil: i32,
    /// The belief in darkness.
    pub dark: i32,
}

impl Belief {
    /// Every part is fully believed.
    pub const FULL: Belief = Belief { water: 4096, line: 4096, veil: 4096, dark: 4096 };

    /// How far each part is believed for these points.
    pub fn new(points: &Points) -> Self {
        let lumas = Occurrences::new(points.luma());
        let steps = points.steps();
        let [step, strong, strongest] = [500_000, 900_000, 990_000].map(|share| steps.at(share));
        let texture = ratio(step + from_255(1), strongest + from_255(1));
        let edges = ratio(strong + from_255(1), strongest + from_255(1));
        let of_white = |level: i32| ratio(level, WHITE);
        let black = of_white(points.channels().iter().fold(WHITE, |least, levels| least.min(levels.at(1_000))));
        let headroom = of_white(WHITE - line::ends(points)[1]);
        let bright_tint = saturation(points.corners(5_000)[1]);
        let lit = || points.rgb_where(cast::is_lit);
        // `Occurrences` counts ratios in 2048ths here, not levels.
        let warmth = Occurrences::new(lit().map(|[r, g, b]| ratio(r, g.max(b)) / 2));
        let warmest = 2 * warmth.at(980_000);
        let variety = variety(lit());
        let (above, count) =
            points.upper_third().fold((0, 0), |(sum, count), rgb| (sum + i64::from(saturation(rgb)), count + 1));
        let colour_above = (above / count.max(1)) as i32;
        let light = cast::light(points);
        let sum = |base: i32, parts: &[(i32, i32)]| {
            parts.iter().fold(base, |sum, (value, weight)| sum + times(*value, *weight)).clamp(0, 4096)
        };

        Belief {
            water: sum(
                WATER,
                &[
                    (bright_tint, WATER_BRIGHT_TINT),
                    (of_white(strongest), WATER_STRONGEST),
                    (headroom, WATER_HEADROOM),
                    (black, WATER_BLACK),
                    (cast::least_saturation(points), WATER_SATURATION),
                    (colour_above, WATER_COLOUR_ABOVE),
                ],
            ),
            line: sum(
                LINE,
                &[
                    (of_white(lumas.at(250_000)), LINE_QUARTER),
                    (bright_tint, LINE_BRIGHT_TINT),
                    (variety, LINE_VARIETY),
                    (of_white(step), LINE_STEP),
                ],
            ),
            veil: sum(VEIL, &[(texture, VEIL_TEXTURE), (edges, VEIL_EDGES)]),
            dark: sum(
                DARK,
                &[
                    (bright_tint, DARK_BRIGHT_TINT),
                    (of_white(strongest), DARK_STRONGEST),
                    (warmest, DARK_WARMEST),
                    (light, DARK_LIGHT),
                ],
            ),
        }
    }
}

/// How far the tints of these colours lie from their mean, in 4096ths.
fn variety(colours: impl Iterator<Item = [i32; 3]>) -> i32 {
    let tints: Vec<[i32; 2]> = colours
        .map(|rgb| {
            let gray = luma(rgb);
            [rgb[0], rgb[2]].map(|level| ratio(level - gray, gray).clamp(-4096, 2 * 4096))
        })
        .collect();
    let count = tints.len().max(1) as i64;
    let sums = tints.iter().fold([0, 0], |[red, blue], tint| [red + i64::from(tint[0]), blue + i64::from(tint[1])]);
    let mean = sums.map(|sum| (sum / count) as i32);
    let apart: i64 = tints.iter().map(|tint| i64::from((tint[0] - mean[0]).abs() + (tint[1] - mean[1]).abs())).sum();
    (apart / (2 * count)) as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_veil_is_believed_over_what_is_smooth_and_not_over_strong_edges() {
        let smooth = Belief::new(&Points::from_levels(|x, y| (110 + (7 * x + 5 * y) % 9 + y) as u16));
        let edged = Belief::new(&Points::from_levels(|x, y| (20 + 180 * ((x / 16 + y / 12) % 2)) as u16));
        assert_eq!((smooth.veil, edged.veil), (4096, 0));
    }
}

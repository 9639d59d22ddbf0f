//! A colour cast: water, an old film, a lamp.
//!
//! There is a cast where no point is neutral, bright points are tinted, and dark points are tinted and lifted too, or
//! the whole frame is dim. A frame of one pure colour has no cast, because it shows a light or a flower; but if red is
//! its weakest component, it shows water, which absorbs red first. A frame where green is strongest and blue weakest
//! has no cast, because it shows leaves: no light has such a colour. [`water`] also detects water by other features. A
//! cast is removed by a gain and an offset for each of red, green and blue, which map the two ends of each channel
//! nearly to black and white. An end lies between the end of the levels of the channel and the mean colour of the
//! darkest or of the brightest points, because a lamp or a fish alone can reach the top of a channel; under water this
//! is common, so that the ends lie further in. Far water has the least red, and keeps clearly less red than green: it
//! would become purple. In a dark frame the channels have no offsets, and their gains are those of their exposures
//! (`dark.rs`).

use crate::spec::natural::points::{
    Occurrences, Points, WHITE, between, from_255, luma, ramp, ratio, saturation, times,
};
use crate::spec::natural::tuning::cast::*;
use crate::spec::natural::tuning::dark;

/// A measured colour cast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cast {
    /// How sure it is that there is a cast, in 4096ths.
    pub share: i32,
    /// How far the cast is that of water, in 4096ths.
    pub water: i32,
}

impl Cast {
    /// The cast of these points, the darkest of which have the mean colour `darkest`. The measured share of water is
    /// multiplied by `water_is_believed`, in 4096ths.
    pub fn new(points: &Points, darkest: [i32; 3], water_is_believed: i32) -> Self {
        let (water, other) = (times(water(points), water_is_believed), share(points, darkest));
        Cast { share: water.max(other), water: ratio(water, water.max(other)) }
    }
}

/// The share of a cast other than water, in 4096ths.
fn share(points: &Points, darkest: [i32; 3]) -> i32 {
    let channels = points.channels();
    let [low, high] = [1_000, 999_000].map(|share| channels.each_ref().map(|levels| levels.at(share)));
    let (least, most) = (
        |colour: [i32; 3]| colour.into_iter().min().unwrap_or(0),
        |colour: [i32; 3]| colour.into_iter().max().unwrap_or(0),
    );
    let saturation = least_saturation(points);
    let neutral = ramp(saturation, SATURATED[0], SATURATED[1]);
    let bright = ramp(4096 - ratio(least(high), most(high)), BRIGHT_TINT[0], BRIGHT_TINT[1]);
    let tinted = ramp(most(low) - least(low), DARK_TINT[0], DARK_TINT[1]);
    // Under water red may be absorbed completely: then the second least component counts.
    let mean = points.mean();
    let is_water = darkest[0] == least(darkest) && 4 * mean[0] < 3 * mean[1].min(mean[2]);
    let second = darkest.iter().sum::<i32>() - least(darkest) - most(darkest);
    let lifted = if is_water { least(darkest).max(second - UNDER_WATER) } else { least(darkest) };
    let shadows = times(tinted, ramp(lifted, LIFTED[0], LIFTED[1]));
    let dim = 4096 - ramp(points.brightest().at(dark::TOP), DIM[0], DIM[1]);
    let one_colour = if is_water { 0 } else { ramp(saturation, ONE_COLOUR[0], ONE_COLOUR[1]) };
    let leaves = times(
        ramp(ratio(mean[1], mean[0]), LEAVES_GREEN[0], LEAVES_GREEN[1]),
        ramp(ratio(mean[0], mean[2]), LEAVES_RED[0], LEAVES_RED[1]),
    );
    let of_light = times(4096 - one_colour, 4096 - leaves);
    times(times(neutral, bright), times(shadows.max(dim), of_light))
}

/// The saturation of the most neutral points that are not black, in 4096ths.
pub fn least_saturation(points: &Points) -> i32 {
    let lit = points.rgb_where(|luma| luma > from_255(20));
    // `Occurrences` counts saturations in 4096ths here, not levels.
    Occurrences::new(lit.map(saturation)).at(20_000)
}

/// Whether a point with this luma is lit.
pub fn is_lit(luma: i32) -> bool {
    luma > from_255(12)
}

/// How far `part / whole` lies below the ratio `none`, in 4096ths of the way to the ratio `all`.
fn lacks(part: i32, whole: i32, [none, all]: [i32; 2]) -> i32 {
    4096 - ramp(ratio(part, whole), all, none)
}

/// How much red the brightest points lack, in 4096ths.
pub fn brightest_lack_red(points: &Points) -> i32 {
    let glow = Occurrences::new(points.luma().filter(|luma| is_lit(*luma))).at(950_000);
    let brightest = points.mean_where(|luma| is_lit(luma) && luma >= glow);
    lacks(brightest[0], brightest.into_iter().fold(0, i32::max), WATER_BRIGHT_RED)
}

/// How surely a frame is bright enough for water, in 4096ths.
pub fn light(points: &Points) -> i32 {
    ramp(points.brightest().at(950_000), WATER_LIT[0], WATER_LIT[1])
}

/// The share of water, in 4096ths. Water takes red from all lit points, the brightest too, and leaves both green and
/// blue; a blue hour has little green, and foliage has little blue.
fn water(points: &Points) -> i32 {
    let [red, green, blue] = points.mean_where(is_lit);
    let of_all = lacks(red, green.max(blue), WATER_RED);
    let green_of_blue = ratio(green, blue);
    let hue = times(
        ramp(green_of_blue, WATER_GREEN[0], WATER_GREEN[1]),
        4096 - ramp(green_of_blue, WATER_GREEN[2], WATER_GREEN[3]),
    );
    times(times(of_all, brightest_lack_red(points)), times(hue, light(points)))
}

/// The gains of red, green and blue, in 4096ths, and their offsets, that remove this share of the cast; and the gain of
/// chroma after that. The gain of chroma is below 1 where a channel is too weak for its gain, so that a tint remains,
/// and where underwater colours would become garish: where only green is left, small differences of red would be
/// stretched to all colours.
pub fn balance(points: &Points, cast: Cast) -> ([i32; 3], [i32; 3], i32) {
    let Cast { share, water } = cast;
    let value_of = |other: i32, of_water: i32| between(other, of_water, water);
    let ends = value_of(ENDS[0], ENDS[1]) as u32;
    let (to_corners, most_gain) = (value_of(TO_CORNERS[0], TO_CORNERS[1]), value_of(MAX_GAIN[0], MAX_GAIN[1]));
    let (black, white) = (value_of(BECOMES[0][0], BECOMES[1][0]), value_of(BECOMES[0][1], BECOMES[1][1]));
    let channels = points.channels();
    let [dark, bright] = points.corners(CORNERS);
    let (mut gains, mut offsets, mut lacks) = ([4096; 3], [0; 3], 0);
    for (channel, levels) in channels.iter().enumerate() {
        let (low, high) = (levels.at(ends), levels.at(1_000_000 - ends));
        let low = between(low, dark[channel].max(low), to_corners);
        let high = between(high, bright[channel].min(high), to_corners);
        let needed = ratio(white - black, (high - low).max(from_255(8)));
        let gain = needed.min(most_gain);
        lacks = lacks.max(4096 - ratio(gain, needed));
        gains[channel] = between(4096, gain, share);
        offsets[channel] = times(black - times(low, gain), share);
    }
    let less = too_red(points, gains, offsets);
    let (gains, offsets) =
        (gains.map(|gain| between(gain, 4096, less)), offsets.map(|offset| between(offset, 0, less)));
    let balanced = points.rgb().map(|rgb| {
        std::array::from_fn(|channel| (times(rgb[channel], gains[channel]) + offsets[channel]).clamp(0, WHITE))
    });
    let garish = times(4096 - ratio(MAX_CHROMA, chroma(balanced).max(MAX_CHROMA)), water);
    let paler = |by: i32| 4096 - times(by, share);
    (gains, offsets, times(paler(times(lacks, PALER)), paler(garish)))
}

/// The share of the change that has to be taken back, in 4096ths, so that far water does not become purple: blue, with
/// more red than green, or nearly so.
fn too_red(points: &Points, gains: [i32; 3], offsets: [i32; 3]) -> i32 {
    let is_far = |[red, green, blue]: &[i32; 3]| red < green && green < blue;
    let share = |rgb: [i32; 3]| {
        let [red, green, blue] = [0, 1, 2].map(|channel| times(rgb[channel], gains[channel]) + offsets[channel]);
        let most = green - (blue - green) / BELOW_GREEN;
        if blue < green { 0 } else { ratio((red - most).max(0), (red - rgb[0]).max(1)).min(4096) }
    };
    let far = || points.rgb_where(is_lit).filter(is_far);
    if far().count() * FAR < points.count() { 0 } else { Occurrences::new(far().map(share)).at(PURPLE) }
}

/// The mean distance of red and blue from luma.
fn chroma(colours: impl Iterator<Item = [i32; 3]>) -> i32 {
    let (sum, count) = colours.fold((0, 0), |(sum, count), rgb| {
        let gray = luma(rgb);
        (sum + i64::from((rgb[0] - gray).abs() + (rgb[2] - gray).abs()), count + 2)
    });
    (sum / count.max(1)) as i32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Lattice;

    /// The share of a cast in a frame with shades of one colour, of 255, from a quarter of it to all of it.
    fn shade_share(colour: [u16; 3]) -> i32 {
        let (columns, rows) = (64, 36);
        let shade =
            |point: usize| colour.map(|level| level / 4 + level * (point % columns) as u16 * 3 / 4 / columns as u16);
        let rgb: Vec<[u16; 3]> = (0..columns * rows).map(shade).collect();
        let luma = rgb.iter().map(|rgb| rgb.iter().sum::<u16>() / 3).collect();
        let points = Points::new(&Lattice { size: (columns, rows), luma, rgb, ..Lattice::default() }, 255);
        Cast::new(&points, points.corners(5_000)[0], 4096).share
    }

    #[test]
    fn what_would_become_garish_under_water_is_made_paler() {
        let (columns, rows) = (64, 36);
        let value_of = |red: fn(u16) -> u16| {
            let rgb: Vec<[u16; 3]> = (0..columns * rows)
                .map(|point| 60 + 2 * (point % columns) as u16)
                .map(|level| [red(level), level, level])
                .collect();
            let luma = rgb.iter().map(|rgb| rgb[1]).collect();
            let points = Points::new(&Lattice { size: (columns, rows), luma, rgb, ..Lattice::default() }, 255);
            balance(&points, Cast { share: 4096, water: 4096 }).2
        };
        assert_eq!(value_of(|level| level / 2), 4096, "red goes with the rest");
        assert!(value_of(|level| 100 - level / 2) < 3072, "red goes against the rest");
    }

    #[test]
    fn what_is_far_in_the_water_does_not_become_purple() {
        let (columns, rows) = (64, 36);
        // Rocks in the lower half, water above.
        let colour = |point: usize| {
            let shade = (point % columns) as u16;
            if point < columns * rows / 2 {
                [30 + shade / 3, 60 + shade, 120 + shade]
            } else {
                [20 + shade, 40 + shade, 60 + shade]
            }
        };
        let rgb: Vec<[u16; 3]> = (0..columns * rows).map(colour).collect();
        let luma = rgb.iter().map(|rgb| rgb[1]).collect();
        let points = Points::new(&Lattice { size: (columns, rows), luma, rgb, ..Lattice::default() }, 255);
        let (gains, offsets, _) = balance(&points, Cast { share: 4096, water: 4096 });
        let after =
            points.rgb().map(|rgb| [0, 1, 2].map(|channel| times(rgb[channel], gains[channel]) + offsets[channel]));
        let purple = after.filter(|[red, green, blue]| red > green && blue > green).count();
        assert!(5 * purple < points.count(), "{purple} of {}", points.count());
    }

    #[test]
    fn leaves_are_no_cast_and_warm_light_is() {
        assert_eq!(shade_share([200, 200, 200]), 0, "gray");
        assert_eq!(shade_share([110, 200, 60]), 0, "a meadow");
        assert!(shade_share([230, 160, 90]) > 2048, "an old film");
        assert_eq!(shade_share([60, 150, 160]), 4096, "water");
    }
}

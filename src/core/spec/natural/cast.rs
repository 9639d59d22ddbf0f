//! A cast: water, an old film, a lamp.
//!
//! There is one where nothing is neutral, what is bright is tinted, and what is dark is tinted and lifted too, or all is dim.
//! Where all is of one pure colour there is none: that is a light or a flower; but where red is weakest it is water, which takes
//! red first. Each of red, green and blue then has a gain and an offset of its own: its ends become nearly black and white. Its
//! ends lie between those of its levels and the mean colours of the darkest and of the brightest points, because a channel can
//! reach its top in a lamp or a fish alone. In the dark the channels have no offsets, and their gains are those of their
//! exposures (`dark.rs`).

use super::points::{Occurrences, Points, between, luma, of_255, ramp, ratio, times};
use super::tuning::cast::*;
use super::tuning::dark;

/// The share of a cast, in 4096ths.
pub fn share(points: &Points) -> i32 {
    let channels = points.channels();
    let [low, high] = [1_000, 999_000].map(|share| channels.each_ref().map(|levels| levels.at(share)));
    let (least, most) =
        (|of: [i32; 3]| of.into_iter().min().unwrap_or(0), |of: [i32; 3]| of.into_iter().max().unwrap_or(0));
    // How far from neutral the most neutral points are that are not black. Levels stand for 4096ths here.
    let lit = points.rgb().filter(|rgb| luma(*rgb) > of_255(20));
    let saturation = Occurrences::of(lit.map(|rgb| 4096 - ratio(least(rgb), most(rgb)))).at(20_000);
    let neutral = ramp(saturation, SATURATED[0], SATURATED[1]);
    let bright = ramp(4096 - ratio(least(high), most(high)), BRIGHT_TINT[0], BRIGHT_TINT[1]);
    let [darkest, _] = points.corners(5_000);
    let tinted = ramp(most(low) - least(low), DARK_TINT[0], DARK_TINT[1]);
    // Under water, nothing of red may be left to be lifted.
    let mean = points.mean();
    let is_water = darkest[0] == least(darkest) && 4 * mean[0] < 3 * mean[1].min(mean[2]);
    let second = darkest.iter().sum::<i32>() - least(darkest) - most(darkest);
    let lifted = if is_water { least(darkest).max(second - UNDER_WATER) } else { least(darkest) };
    let shadows = times(tinted, ramp(lifted, LIFTED[0], LIFTED[1]));
    let dim = 4096 - ramp(points.brightest().at(dark::TOP), DIM[0], DIM[1]);
    let one_colour = if is_water { 0 } else { ramp(saturation, ONE_COLOUR[0], ONE_COLOUR[1]) };
    times(times(neutral, bright), times(shadows.max(dim), 4096 - one_colour))
}

/// The gains of red, green and blue, in 4096ths, and their offsets, that take this share of the cast away; and the gain of chroma
/// then: a channel of which too little is left for its gain leaves a colour, which is made paler.
pub fn balance(points: &Points, share: i32) -> ([i32; 3], [i32; 3], i32) {
    let channels = points.channels();
    let [dark, bright] = points.corners(CORNERS);
    let mean = points.mean();
    let mut gains = [4096; 3];
    let mut offsets = [0; 3];
    let mut lacks = 0;
    for (channel, levels) in channels.iter().enumerate() {
        let (low, high) = (levels.at(ENDS), levels.at(1_000_000 - ENDS));
        let low = between(low, dark[channel].max(low), TO_CORNERS);
        let high = between(high, bright[channel].min(high), TO_CORNERS);
        let needed = ratio(BECOMES[1] - BECOMES[0], (high - low).max(of_255(8)));
        gains[channel] = needed.min(MOST_GAIN);
        lacks = lacks.max(4096 - ratio(gains[channel], needed));
        offsets[channel] = BECOMES[0] - times(low, gains[channel]);
    }
    let means: [i32; 3] =
        std::array::from_fn(|channel| (times(mean[channel], gains[channel]) + offsets[channel]).max(16));
    let gray = means.iter().sum::<i32>() / 3;
    for channel in 0..3 {
        // The power of the ratio of the means, to first order.
        let factor = 4096 + times((ratio(gray, means[channel]) - 4096).clamp(-2048, 4096), TO_GRAY);
        gains[channel] = between(4096, times(gains[channel], factor), share);
        offsets[channel] = times(times(offsets[channel], factor), share);
    }
    (gains, offsets, 4096 - times(times(lacks, PALER), share))
}

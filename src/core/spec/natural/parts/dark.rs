//! Darkness: a dark scene is brightened as by a longer exposure.
//!
//! A longer exposure multiplies light. In codes, whose light is `((c + 0.055) / 1.055)^2.4` (IEC 61966-2-1), that is
//! `c' = K (c + 14) - 14`, of 255; near black the slope is limited, because noise lies there. K brings the level at
//! 99.3 % of the brightest components to the level of white paper. A scene is dark if that level is low, its darkest
//! points are black, and its levels spread far enough below that level: a title on black is not dark, nor is a sky of
//! stars.
//!
//! Lamps in a dark scene, or the sky over a dark street, are exposed well already. Then the rest of the frame is
//! brightened by the same formula, with K from a level that most points lie below; outputs above four fifths of white
//! rise linearly to white.

use crate::spec::natural::points::{Points, WHITE, between, from_255, ramp, ratio, times};
use crate::spec::natural::tuning::dark::*;

/// The share of darkness, in 4096ths, and whether it is larger without the letters. `black` is the least component of
/// the mean colour of the darkest points.
pub fn share(points: &Points, black: i32) -> (i32, bool) {
    let of_all = share_below(points, black, DARK);
    let of_scene = if points.has_letters() {
        let scene = points.without_letters();
        share_below(&scene, black_of(scene.corners(5_000)[0]), DARK_UNDER_LETTERS)
    } else {
        0
    };
    (of_all.max(of_scene), of_scene > of_all)
}

/// The least component of a colour.
pub fn black_of(colour: [i32; 3]) -> i32 {
    colour.into_iter().fold(i32::MAX, i32::min)
}

/// The share of darkness; `tops` has the top level at which a frame is dark, and that at which it is not.
fn share_below(points: &Points, black: i32, tops: [i32; 2]) -> i32 {
    let brightest = points.brightest();
    let (top, low) = (brightest.at(TOP), brightest.at(50_000));
    let exposed_too_little = times(4096 - ramp(top, tops[0], tops[1]), 4096 - ramp(black, LIFTED[0], LIFTED[1]));
    // A sky with stars has bright points and nothing else to show.
    let shown = times(brightest.at(SHOWN_SHARE) - low, exposure(top));
    let picture = times(ramp(top - low, PICTURE[0], PICTURE[1]), ramp(shown, SHOWN[0], SHOWN[1]));
    times(exposed_too_little, picture)
}

/// The gain that brings the level `top` to its target, in 4096ths.
fn exposure(top: i32) -> i32 {
    ratio(BECOMES + OFFSET, top + OFFSET).min(MAX_GAIN)
}

/// The gain of the whole frame, in 4096ths, for this share of darkness.
pub fn gain(points: &Points, share: i32) -> i32 {
    between(4096, exposure(points.brightest().at(TOP)).max(4096), share)
}

/// The gain of chroma for a gain of luma, in 4096ths.
pub fn chroma(gain: i32) -> i32 {
    between(4096, times(gain, CHROMA_SHARE), ramp(gain, 4096, 2 * 4096))
}

/// The gains of red, green and blue relative to that of the whole frame, in 4096ths, for these shares of darkness and
/// of a cast.
pub fn balance(points: &Points, share: i32, cast: i32) -> [i32; 3] {
    let whole = exposure(points.brightest().at(TOP));
    let of_cast = times(times(cast, share), CAST_SHARE);
    points.channels().map(|levels| between(4096, ratio(exposure(levels.at(TOP)), whole), of_cast))
}

/// The output for a level with this gain.
pub fn exposed(level: i32, gain: i32) -> i32 {
    if gain <= 4096 {
        return level;
    }
    (times(level + OFFSET, gain) - OFFSET).min(times(level, gain.max(MAX_SLOPE)))
}

/// By how much the gain of dark parts under lamps is above 1, in 4096ths, for these shares of darkness and of a cast.
pub fn lift(points: &Points, share: i32, cast: i32) -> i32 {
    let brightest = points.brightest();
    let low = brightest.at(50_000);
    let dim = UNDER.into_iter().zip(DIM).map(|(share, [dim, bright])| {
        let most = brightest.at(share);
        times(4096 - ramp(most, dim, bright), ramp(most - low, UNDER_LAMPS[0], UNDER_LAMPS[1]))
    });
    let dim = times(times(dim.fold(0, i32::max), 4096 - share), 4096 - cast);
    let whole = ratio(UNDER_BECOMES + OFFSET, brightest.at(UNDER_TOP) + OFFSET).clamp(4096, MAX_LIFT);
    times(whole - 4096, dim)
}

/// The output for a level with this lift.
pub fn lifted(level: i32, lift: i32) -> i32 {
    let knee = ratio(KNEE + OFFSET, 4096 + lift) - OFFSET;
    if lift == 0 || level >= WHITE {
        level
    } else if level <= knee {
        exposed(level, 4096 + lift)
    } else {
        KNEE + ((level - knee) * (WHITE - KNEE)) / (WHITE - knee).max(1)
    }
}

/// 0.055 of white.
const OFFSET: i32 = from_255(14);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sky_of_stars_is_not_dark_and_a_dim_room_is() {
        let stars = Points::from_levels(|x, y| if x % 11 == 0 && y % 9 == 0 { 40 } else { 12 + ((x + y) % 4) as u16 });
        let room = Points::from_levels(|x, y| (3 + x / 3 + (y % 5)) as u16);
        assert_eq!([&stars, &room].map(|points| share(points, from_255(3)).0), [0, 4096]);
    }
}

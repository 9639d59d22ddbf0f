//! Frames that are meant to look as they do: drawings, and bright subjects on black.
//!
//! Screens, slides and cartoons have neighbours that are equal, and few levels, far apart. Photographs of fog or of the
//! dark may have equal neighbours and few levels, though less so than a green screen, but no levels far apart. A stage,
//! a monument at night, a moon have black around a lit subject: most of the frame is black and much of the rest is not,
//! or a small coherent object is bright in a dark frame. Lamps in a dark street are single points.

use crate::spec::natural::points::{Occurrences, Points, from_255, ramp, ratio, times};
use crate::spec::natural::tuning::meant::*;

/// How surely a frame is meant to look as it does, in 4096ths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Meant {
    /// How surely the frame is drawn.
    pub drawn: i32,
    /// How surely the frame is drawn, or dark on purpose.
    pub dark: i32,
}

impl Meant {
    /// How surely a frame with these points is drawn, or dark on purpose.
    pub fn for_points(points: &Points) -> Self {
        let drawn = drawn(points);
        Meant { drawn, dark: drawn.max(stage(points)).max(disc(points)) }
    }
}

/// How surely a frame is drawn: neighbours are equal, and few levels occur, far apart.
fn drawn(points: &Points) -> i32 {
    let (mut same, mut count) = (0, 0);
    for step in points.steps_where(|luma| (BETWEEN[0]..=BETWEEN[1]).contains(&luma)) {
        same += i32::from(step <= SAME_STEP);
        count += 1;
    }
    // With too few pairs of neighbours, nothing counts as drawn.
    if 20 * count < points.count() as i32 {
        return 0;
    }
    let mut of_level = [0; 256];
    points.luma().for_each(|luma| of_level[(luma / from_255(1)).clamp(0, 255) as usize] += 1);
    of_level.sort_unstable_by(|one, other| other.cmp(one));
    let few = ratio(of_level[..FEW_LEVELS].iter().sum(), points.count() as i32);
    let (lumas, same) = (Occurrences::new(points.luma()), ratio(same, count));
    let range = ramp(lumas.at(995_000) - lumas.at(5_000), RANGE[0], RANGE[1]);
    let is_sure = times(ramp(same, SURE_SAME[0], SURE_SAME[1]), ramp(few, SURE_FEW[0], SURE_FEW[1]));
    times(times(ramp(same, SAME[0], SAME[1]), ramp(few, FEW[0], FEW[1])), range).max(is_sure)
}

/// How surely a frame is a lit stage: most points are black, and many of the others are lit.
fn stage(points: &Points) -> i32 {
    let brightest = || points.brightest_of_each();
    let black = brightest().filter(|level| *level <= BLACK_LEVEL).count() as i32;
    let lit = Occurrences::new(brightest().filter(|level| *level > BLACK_LEVEL)).at(REST_SHARE);
    times(ramp(ratio(black, points.count() as i32), BLACK[0], BLACK[1]), ramp(lit, LIT[0], LIT[1]))
}

/// How surely a frame shows a moon or the like: most points are dark, and a small coherent object is bright.
fn disc(points: &Points) -> i32 {
    let count = points.count() as i32;
    let dark = points.brightest_of_each().filter(|level| *level <= DARK_LEVEL).count() as i32;
    let bright = points.luma().filter(|luma| *luma >= BRIGHT_LEVEL).count() as i32;
    let steps = || points.steps_where(|luma| luma >= BRIGHT_LEVEL);
    let together = ratio(steps().filter(|step| *step <= TOGETHER_STEP).count() as i32, steps().count() as i32);
    let bright = ratio(bright, count);
    let small = times(ramp(bright, SMALL[0], SMALL[1]), 4096 - ramp(bright, SMALL[2], SMALL[3]));
    times(times(small, ramp(together, TOGETHER[0], TOGETHER[1])), ramp(ratio(dark, count), DARK[0], DARK[1]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A dark picture with bright points where `is_bright` is true.
    fn dark_with(is_bright: impl Fn(i32, i32) -> bool) -> Points {
        let level = |x: usize, y: usize| {
            if is_bright(x as i32 - 64, y as i32 - 36) { 230 } else { 12 + ((3 * x + 5 * y) % 7) as u16 }
        };
        Points::from_levels(level)
    }

    #[test]
    fn a_moon_is_meant_and_lamps_in_a_street_are_not() {
        let moon = dark_with(|x, y| x * x + y * y < 40);
        let lamps = dark_with(|x, y| x % 9 == 0 && y % 11 == 0);
        assert_eq!((Meant::for_points(&moon).dark, Meant::for_points(&lamps).dark), (4096, 0));
    }

    #[test]
    fn slides_and_green_screens_are_drawn_and_walls_with_grain_and_fog_are_not() {
        let slide = Points::from_levels(|x, y| if x % 31 < 4 && y % 9 < 3 { 220 } else { 40 });
        let wall = Points::from_levels(|x, y| 40 + ((7 * x + 11 * y + x * y) % 6) as u16);
        // The levels of a green screen lie close together. In fog that was compressed hard, most neighbours are equal.
        let screen = Points::from_levels(|x, y| if (50..60).contains(&x) && y > 20 { 4 } else { 100 });
        let fog = Points::from_levels(|x, y| if x % 12 > 0 { 180 + (y / 6) as u16 } else { 150 + (y / 2) as u16 });
        assert_eq!([&slide, &screen, &wall, &fog].map(|points| Meant::for_points(points).drawn), [4096, 4096, 0, 0]);
    }
}

//! Shade: dark areas beside bright ones, as faces in front of windows, become brighter, and so does a dull frame
//! without large bright areas. Black and white stay.
//!
//! The curve is `x (1 + lift (1 - x)^2)`. A frame with well-lit skin is not lifted: a portrait with a dark background
//! is meant so. In gray, which shows no skin, a portrait is a lit but not white subject before a background that is
//! dark at the top and at both sides: a window is white, or reaches an edge. A sunset is not lifted either: its
//! brightest points have a colour, those of a window have none.

use crate::spec::natural::points::{
    Occurrences, Points, WHITE, between, from_255, luma, ramp, ratio, saturation, times,
};
use crate::spec::natural::tuning::shade::*;

/// The lift of shade, in 4096ths, scaled by `part`.
pub fn lift(points: &Points, part: i32) -> i32 {
    let lumas = Occurrences::new(points.luma());
    let [low, half, high, bright] = [LOW, 500_000, 900_000, 950_000].map(|share| lumas.at(share));
    let in_shade = times(4096 - ramp(low, SHADE[0], SHADE[1]), ramp(bright, BESIDE[0], BESIDE[1]));
    let of_shade = times(lift_to(low, AIM), in_shade);
    // Nearly black frames show only noise and coding blocks, so they do not count as dull.
    let is_dull = times(4096 - ramp(high, DULL[0], DULL[1]), ramp(half, NOT_BLACK[0], NOT_BLACK[1]));
    let of_dull = times(lift_to(half, DULL_AIM).min(MAX_DULL), is_dull);
    let is_pale = 4096 - ramp(saturation(points.corners(50_000)[1]), PALE[0], PALE[1]);
    let skin = ratio(points.rgb().filter(|rgb| is_lit_skin(*rgb)).count() as i32, points.count() as i32);
    let is_portrait = ramp(skin, SKIN[0], SKIN[1]).max(gray_portrait(points));
    times(times(times(of_shade.max(of_dull), is_pale), 4096 - is_portrait), part)
}

/// The largest lift, up to this one, that clips the colour of at most one point in `MAX_CLIPPED`.
pub fn without_clipping(points: &Points, lift: i32) -> i32 {
    let clips_few = |lift: i32| {
        let clips = |rgb: [i32; 3]| {
            let (light, [r, g, b]) = (luma(rgb), rgb);
            let brightest = r.max(g).max(b);
            brightest < WHITE && lifted(light, lift) + times(brightest - light, chroma(lift)) > WHITE
        };
        MAX_CLIPPED * points.rgb().filter(|rgb| clips(*rgb)).count() <= points.count()
    };
    if clips_few(lift) {
        return lift;
    }
    let (mut few, mut many) = (0, lift);
    while many - few > MIN_STEP {
        let middle = few.midpoint(many);
        *(if clips_few(middle) { &mut few } else { &mut many }) = middle;
    }
    few
}

/// How surely a frame is a portrait in gray before a dark background, in 4096ths.
fn gray_portrait(points: &Points) -> i32 {
    let colours = Occurrences::new(points.rgb().map(|[r, g, b]| r.max(g).max(b) - r.min(g).min(b)));
    let is_gray = 4096 - ramp(colours.at(900_000), GRAY[0], GRAY[1]);
    if is_gray == 0 {
        return 0;
    }
    let lit = || points.luma().filter(|luma| (LIT[0]..LIT[1]).contains(luma));
    let is_lit = ramp(ratio(lit().count() as i32, points.count() as i32), SUBJECT[0], SUBJECT[1]);
    // The levels of a face vary, those of a window do not.
    let levels = Occurrences::new(lit());
    let is_lit = times(is_lit, ramp(levels.at(900_000) - levels.at(100_000), SHADED[0], SHADED[1]));
    let background = Occurrences::new(points.luma_at_edges(BLACK)).at(950_000);
    times(times(is_gray, is_lit), 4096 - ramp(background, BACKGROUND[0], BACKGROUND[1]))
}

/// Whether a colour may be that of skin that has light enough (J. Kovac, P. Peer and F. Solina, Human skin colour
/// clustering for face detection, EUROCON 2003, made narrower).
fn is_lit_skin(rgb: [i32; 3]) -> bool {
    let ([r, g, b], light) = (rgb, luma(rgb));
    let differs = |one: i32, other: i32| one - other > from_255(15);
    r > from_255(110)
        && differs(r, g)
        && r > b
        && 5 * g > 4 * b
        && differs(r, g.min(b))
        && light > from_255(80)
        && light < from_255(235)
}

/// The lift that brings `level` to `aim`, in 4096ths; 0 where it lies above.
pub fn lift_to(level: i32, aim: i32) -> i32 {
    if level >= aim {
        return 0;
    }
    let below = 4096 - ratio(level, WHITE);
    ratio(ratio(aim, level) - 4096, times(below, below)).min(MAX)
}

/// The output for a level with this lift.
pub fn lifted(level: i32, lift: i32) -> i32 {
    if lift == 0 || level <= 0 || level >= WHITE {
        return level;
    }
    let below = 4096 - ratio(level, WHITE);
    level + times(times(level, times(below, below)), lift)
}

/// The gain near black, in 4096ths.
pub fn slope(lift: i32) -> i32 {
    4096 + lift
}

/// The gain of chroma for this lift, in 4096ths.
pub fn chroma(lift: i32) -> i32 {
    between(4096, slope(lift), CHROMA_SHARE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Lattice;
    use crate::spec::natural::ToneCurve;

    /// The lift of a dark area before a window, with these colours.
    fn before_window(dark: [u16; 3], window: [u16; 3]) -> i32 {
        let (columns, rows) = (64, 36);
        let rgb: Vec<[u16; 3]> = (0..columns * rows).map(|point| if point % 5 < 3 { dark } else { window }).collect();
        let luma = rgb.iter().map(|rgb| rgb.iter().sum::<u16>() / 3).collect();
        lift(&Points::new(&Lattice { size: (columns, rows), luma, rgb, ..Lattice::default() }, 255), 4096)
    }

    #[test]
    fn what_is_dark_before_a_window_becomes_brighter_and_before_a_sunset_or_beside_lit_skin_it_stays() {
        assert!(before_window([25, 22, 20], [240, 240, 240]) > 2048);
        assert_eq!(before_window([25, 22, 20], [250, 150, 60]), 0, "a sunset");
        assert_eq!(before_window([25, 22, 20], [190, 140, 115]), 0, "a face");
        assert_eq!(before_window([120, 120, 120], [240, 240, 240]), 0, "nothing is dark");
    }

    #[test]
    fn colours_are_lifted_as_far_as_they_can_be_brighter() {
        let (columns, rows) = (64, 36);
        let with = |colour: [u16; 3]| {
            let rgb: Vec<[u16; 3]> =
                (0..columns * rows).map(|point| if point % 5 < 3 { [25, 22, 20] } else { colour }).collect();
            let luma = rgb.iter().map(|rgb| (rgb[0] + 2 * rgb[1] + rgb[2]) / 4).collect();
            Points::new(&Lattice { size: (columns, rows), luma, rgb, ..Lattice::default() }, 255)
        };
        assert_eq!(without_clipping(&with([120, 120, 120]), 4096), 4096);
        let held = without_clipping(&with([0, 230, 200]), 4096);
        assert!((1..3584).contains(&held), "{held}");
    }

    #[test]
    fn a_face_in_gray_before_what_is_dark_is_a_portrait_and_a_window_is_none() {
        fn window(x: usize, y: usize) -> Option<u16> {
            ((24..48).contains(&x) && y < 40).then_some(200)
        }
        // The lift of a frame with a dark wall, `thing` in the middle of it, and `beside` in front of both.
        let lift_of = |thing: fn(usize) -> u16, beside: fn(usize, usize) -> Option<u16>| {
            let level = |x: usize, y: usize| {
                let (across, down) = (x.abs_diff(64), y.abs_diff(36));
                let is_thing = 9 * across * across + 4 * down * down < 9 * 20 * 20;
                beside(x, y).unwrap_or(if is_thing { thing(x) } else { 35 + x as u16 / 8 })
            };
            lift(&Points::from_levels(level), 4096)
        };
        // The face is lit from the left.
        let face = |x: usize| 220 - 4 * (x as u16 - 44);
        assert_eq!(lift_of(face, |_, _| None), 0);
        let clothes = |x: usize, y: usize| (y > 56 && (24..104).contains(&x)).then_some(130);
        assert_eq!(lift_of(face, clothes), 0);
        assert_eq!(lift_of(face, |x, _| (!(16..112).contains(&x)).then_some(0)), 0, "between bars");
        let with_bars = |x: usize, y: usize| if (24..104).contains(&x) { window(x, y) } else { Some(0) };
        for lift in [
            lift_of(|_| 250, |_, _| None),
            lift_of(face, |_, y| (y < 24).then_some(220)),
            lift_of(|_| 30, window),
            lift_of(|_| 30, with_bars),
            lift_of(|_| 225, |_, _| None),
        ] {
            assert!(lift > 2048, "{lift}");
        }
    }

    #[test]
    fn a_lift_leads_to_its_aim_and_rises() {
        let lift = lift_to(from_255(40), from_255(70));
        assert!(lifted(from_255(40), lift).abs_diff(from_255(70)) <= 4);
        let most = *ToneCurve::through(|level| lifted(level, MAX)).points();
        assert!(most.is_sorted() && (most[0], most[16]) == (0, WHITE), "{most:?}");
    }
}

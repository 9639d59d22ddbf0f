//! What is meant as it is: drawn, or dark around what is bright.

use super::points::{Occurrences, Points, of_255, ramp, ratio, times};
use super::tuning::dev;

/// How far a picture is meant as it is, in 4096ths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Meant {
    /// All of it.
    pub as_it_is: i32,
    /// Its dark.
    pub dark: i32,
}

impl Meant {
    /// How far these points are.
    pub fn of(points: &Points) -> Self {
        let drawn = drawn(points);
        let dark = dark(points);
        Meant { as_it_is: drawn, dark: dark.max(drawn) }
    }
}

/// Drawn: neighbours are equal, and few levels occur.
fn drawn(points: &Points) -> i32 {
    let (mut same, mut count) = (0, 0);
    for step in points.steps_between(of_255(4), of_255(251)) {
        same += i32::from(step <= of_255(1) / 2);
        count += 1;
    }
    let same = if count * 20 < points.count() as i32 { 0 } else { ratio(same, count) };
    let mut of_level = vec![0_u32; 256];
    points.luma().for_each(|luma| of_level[(luma / 16).clamp(0, 255) as usize] += 1);
    of_level.sort_unstable_by(|a, b| b.cmp(a));
    let few = ratio(of_level[..8].iter().sum::<u32>() as i32, points.count() as i32);
    times(
        ramp(same, dev("SAME0", 1556), dev("SAME1", 2048)),
        ramp(few, dev("FEW0", 1229), dev("FEW1", 2048)),
    )
}

/// Dark around what is bright: most is black, and what is not black is lit.
fn dark(points: &Points) -> i32 {
    let black = of_255(dev("BLACK", 10));
    let brightest = || points.rgb().map(|[r, g, b]| r.max(g).max(b));
    let count = brightest().filter(|level| *level <= black).count() as i32;
    let lit = Occurrences::of(brightest().filter(|level| *level > black)).at(500_000);
    let black = ratio(count, points.count() as i32);
    let brightest = Occurrences::of(brightest()).at(999_500);
    let subject = times(
        ramp(black, dev("BLK0", 1843), dev("BLK1", 2662)),
        ramp(lit, of_255(dev("LIT0", 20)), of_255(dev("LIT1", 45))),
    );
    let spark = times(
        ramp(black, dev("BLK2", 3072), dev("BLK3", 3686)),
        ramp(brightest, of_255(dev("SPK0", 120)), of_255(dev("SPK1", 200))),
    );
    subject.max(spark)
}

//! The points of a frame by which its correction is decided, and their statistics.

use super::{letters, overlay};
use crate::spec::measure::{BLOCK_COLUMNS, BLOCK_ROWS, BLOCKS, REGIONS};
use crate::spec::transfer::{self, FINE_WHITE};
use crate::spec::{Lattice, Transfer};
use std::borrow::Cow;

/// White: levels of the points are in sixteenths of 255, whatever the depth of the frame.
pub const WHITE: i32 = 16 * 255;

/// A level of 0 to 255 in the unit of the levels of points.
pub const fn from_255(level: i32) -> i32 {
    16 * level
}

/// How far `value` lies on the way from `none` (0) to `all` (4096).
pub fn ramp(value: i32, none: i32, all: i32) -> i32 {
    let way = i64::from(all - none).max(1);
    (4096 * i64::from(value - none) / way).clamp(0, 4096) as i32
}

/// `whole` times a number of 4096ths, rounded to the nearest.
pub fn times(whole: i32, of_4096: i32) -> i32 {
    ((i64::from(whole) * i64::from(of_4096) + 2048) >> 12) as i32
}

/// `part / whole` in 4096ths; `whole` counts as 1 at least.
pub fn ratio(part: i32, whole: i32) -> i32 {
    (4096 * i64::from(part) / i64::from(whole.max(1))) as i32
}

/// The value that lies `of_4096` 4096ths of the way from `before` to `after`.
pub fn between(before: i32, after: i32, of_4096: i32) -> i32 {
    before + times(after - before, of_4096)
}

/// Points of a frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Points {
    points: Vec<Point>,
    /// The transfer function of the codes of the frame.
    pub(super) transfer: Transfer,
    /// For HDR, the luma at 99.8 %, in 4096ths of a level of points; it may lie above white.
    pub(super) peak: i32,
    pub(super) drawn: Drawn,
}

/// Whether something is drawn over a picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Drawn {
    /// Bars, or a stripe.
    pub bars: bool,
    /// Letters, with or without a box.
    pub captions: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Point {
    rgb: [i16; 3],
    luma: i16,
    /// The distance of the luma of the point from that of the next point in the row; -1 without one.
    step: i16,
    /// The index of the region of the point, row by row.
    region: u8,
    block: u8,
    is_letter: bool,
    /// Whether it is drawn over the picture.
    is_drawn: bool,
}

/// How often each level occurs.
pub struct Occurrences {
    of_level: Vec<u32>,
    count: u32,
}

impl Points {
    /// The points of a lattice that count, where `white` is the highest level.
    pub fn new(lattice: &Lattice, white: u16) -> Self {
        let white = i32::from(white).max(1);
        let inverse = (1_u64 << 44).div_ceil(white as u64);
        let (transfer, scale) = (lattice.transfer, lattice.transfer.scale());
        let in_light =
            |level: u16| scale.as_ref().map(|scale| scale.level(transfer::place(level.into(), white.into())));
        let scaled = |level: u16| match in_light(level) {
            Some(level) => ((level.min(FINE_WHITE) + 2048) >> 12) as i16,
            // The product with the inverse replaces a division by `white`: the error of the inverse, below 2^-28, does
            // not change quotients of numbers below 2^28.
            None => ((((i32::from(level).min(white) * WHITE + white / 2) as u64) * inverse) >> 44) as i16,
        };
        let (columns, rows) = lattice.size;
        let (drawn, kinds) = overlay::find(lattice, white);
        let letters = letters::find(lattice, &drawn, white);
        let blocks = lattice.cells((BLOCK_COLUMNS, BLOCK_ROWS));
        let regions = if lattice.is_part { Vec::new() } else { lattice.cells((REGIONS, REGIONS)) };
        let mut points = Vec::with_capacity(lattice.luma.len());
        for y in 0..rows {
            // Whether the point before counts and is in this row.
            let mut follows = false;
            for point in y * columns..(y + 1) * columns {
                let counts = lattice.counts(point);
                if counts {
                    let rgb = lattice.rgb(point).map(scaled);
                    let luma = luma(rgb.map(i32::from)) as i16;
                    if let (true, Some(Point { luma: before, step, .. })) = (follows, points.last_mut()) {
                        *step = i16::abs(luma - *before);
                    }
                    let region = regions.get(point).copied().unwrap_or(0);
                    let (is_letter, is_drawn) = (letters[point], drawn.get(point).is_some_and(|drawn| *drawn));
                    points.push(Point { rgb, luma, step: -1, region, block: blocks[point], is_letter, is_drawn });
                }
                follows = counts;
            }
        }
        let mut points = Points { points, transfer, peak: 0, drawn: kinds };
        if transfer.is_hdr() && points.count() > 0 {
            let counted = (0..lattice.luma.len()).filter(|&point| lattice.counts(point));
            let mut lumas: Vec<u16> = counted.map(|point| lattice.luma[point]).collect();
            let rank = (lumas.len() * 998 / 1000).min(lumas.len() - 1);
            points.peak = in_light(*lumas.select_nth_unstable(rank).1).unwrap_or(0) as i32;
        }
        points
    }

    /// The points of a gray picture of 128x72 points with these levels, of 255.
    #[cfg(test)]
    pub fn from_levels(level: impl Fn(usize, usize) -> u16) -> Self {
        let size = (128, 72);
        let luma: Vec<u16> = (0..size.0 * size.1).map(|point| level(point % size.0, point / size.0)).collect();
        let rgb = luma.iter().map(|&level| [level; 3]).collect();
        Points::new(&Lattice { size, luma, rgb, ..Lattice::default() }, 255)
    }

    /// Removes the points in these blocks.
    #[must_use]
    pub fn outside(mut self, blocks: &[bool; BLOCKS]) -> Self {
        self.points.retain(|point| !blocks[usize::from(point.block)]);
        self
    }

    /// Removes the points that are drawn over the picture.
    #[must_use]
    pub fn without_overlay(mut self) -> Self {
        self.points.retain(|point| !point.is_drawn);
        self
    }

    /// Whether some points belong to letters.
    pub fn has_letters(&self) -> bool {
        self.points.iter().any(|point| point.is_letter)
    }

    /// The points that do not belong to letters.
    #[must_use]
    pub fn without_letters(&self) -> Cow<'_, Points> {
        if !self.has_letters() {
            return Cow::Borrowed(self);
        }
        let mut points = Vec::with_capacity(self.points.len());
        points.extend(self.points.iter().filter(|point| !point.is_letter));
        Cow::Owned(Points { points, ..*self })
    }

    /// How surely the frame is more than a flat one, in 4096ths: 0 where its levels span 4 of 255, 4096 from 40 on.
    pub fn presence(&self) -> i32 {
        let lumas = Occurrences::new(self.luma());
        ramp(lumas.at(999_000) - lumas.at(1_000), from_255(4), from_255(40))
    }

    /// The number of points.
    pub fn count(&self) -> usize {
        self.points.len()
    }

    /// Whether the codes of the frame are of HDR.
    pub fn is_hdr(&self) -> bool {
        self.transfer.is_hdr()
    }

    /// Luma, colour and region of each point.
    pub fn each(&self) -> impl Iterator<Item = (i32, [i32; 3], usize)> + '_ {
        self.points.iter().map(|point| (point.luma.into(), point.rgb.map(i32::from), point.region.into()))
    }

    /// Red, green and blue of each point.
    pub fn rgb(&self) -> impl Iterator<Item = [i32; 3]> + Clone + '_ {
        self.points.iter().map(|point| point.rgb.map(i32::from))
    }

    /// The luma of each point.
    pub fn luma(&self) -> impl Iterator<Item = i32> + Clone + '_ {
        self.points.iter().map(|point| i32::from(point.luma))
    }

    /// How often each level of red, of green and of blue occurs.
    pub fn channels(&self) -> [Occurrences; 3] {
        std::array::from_fn(|channel| Occurrences::new(self.rgb().map(|rgb| rgb[channel])))
    }

    /// How often each level of the largest component of a point occurs.
    pub fn brightest(&self) -> Occurrences {
        Occurrences::new(self.brightest_of_each())
    }

    /// How often each distance between the lumas of neighbours in a row occurs.
    pub fn steps(&self) -> Occurrences {
        Occurrences::new(self.points.iter().map(|point| i32::from(point.step)).filter(|step| *step >= 0))
    }

    /// The distances of the lumas of neighbours in a row, where `takes` is true for the luma of the first one.
    pub fn steps_where(&self, takes: impl Fn(i32) -> bool) -> impl Iterator<Item = i32> {
        let points = self.points.iter().filter(move |point| point.step >= 0 && takes(point.luma.into()));
        points.map(|point| point.step.into())
    }

    /// The largest component of each point.
    pub fn brightest_of_each(&self) -> impl Iterator<Item = i32> + '_ {
        self.rgb().map(|[r, g, b]| r.max(g).max(b))
    }

    /// Red, green and blue of each point for whose luma `takes` is true.
    pub fn rgb_where(&self, takes: impl Fn(i32) -> bool) -> impl Iterator<Item = [i32; 3]> {
        self.rgb().zip(self.luma()).filter(move |(_, luma)| takes(*luma)).map(|(rgb, _)| rgb)
    }

    /// Red, green and blue of each point in the upper third of the frame.
    pub fn upper_third(&self) -> impl Iterator<Item = [i32; 3]> + '_ {
        let upper = self.points.iter().filter(|point| usize::from(point.block) < BLOCKS / 3);
        upper.map(|point| point.rgb.map(i32::from))
    }

    /// The luma of each point at the top and at both sides of the picture, inside of black bars, whose luma is at most
    /// `black`.
    pub fn luma_at_edges(&self, black: i32) -> impl Iterator<Item = i32> {
        let column = |point: &Point| usize::from(point.block) % BLOCK_COLUMNS;
        let row = |point: &Point| usize::from(point.block) / BLOCK_COLUMNS;
        let (mut left, mut right, mut top) = (BLOCK_COLUMNS, 0, BLOCK_ROWS);
        for point in self.points.iter().filter(|point| i32::from(point.luma) > black) {
            (left, right, top) = (left.min(column(point)), right.max(column(point)), top.min(row(point)));
        }
        let is_edge = move |point: &&Point| [left, right].contains(&column(point)) || row(point) == top;
        self.points.iter().filter(is_edge).map(|point| point.luma.into())
    }

    /// The mean colour of the points for whose luma `takes` is true; black without any.
    pub fn mean_where(&self, takes: impl Fn(i32) -> bool) -> [i32; 3] {
        mean(self.rgb_where(takes))
    }

    /// The mean colour.
    pub fn mean(&self) -> [i32; 3] {
        mean(self.rgb())
    }

    /// The mean colours of the darkest and of the brightest points: this share of them, in millionths, and all that are
    /// as dark or as bright as the last of these.
    pub fn corners(&self, share: u32) -> [[i32; 3]; 2] {
        let lumas = Occurrences::new(self.luma());
        let (dark, bright) = (lumas.at(share), lumas.at(1_000_000 - share));
        [self.mean_where(|luma| luma <= dark), self.mean_where(|luma| luma >= bright)]
    }

    /// For each region, the level at this share, in millionths, of the least components of its points; `None` without
    /// points.
    pub fn darkest_of_regions(&self, share: u32) -> [[Option<i32>; REGIONS]; REGIONS] {
        let mut darkest = vec![Vec::new(); REGIONS * REGIONS];
        for Point { rgb: [r, g, b], region, .. } in &self.points {
            darkest[usize::from(*region)].push(*r.min(g).min(b));
        }
        let value_at = |levels: &mut Vec<i16>| {
            let rank = (levels.len() as u64 * u64::from(share) / 1_000_000) as usize;
            (!levels.is_empty()).then(|| i32::from(*levels.select_nth_unstable(rank).1))
        };
        std::array::from_fn(|y| std::array::from_fn(|x| value_at(&mut darkest[y * REGIONS + x])))
    }

    /// Changes the luma by `becomes`; the differences of R, G and B from luma have the gain `chroma`, in 4096ths.
    #[must_use]
    pub fn toned(self, becomes: impl Fn(i32) -> i32, chroma: i32) -> Self {
        self.changed(|rgb, _| {
            let level = luma(rgb);
            with_luma(rgb, level, becomes(level), chroma)
        })
    }

    /// Changes the colours by `becomes`, which gets colour and region; results are clamped to black and white.
    #[must_use]
    pub fn changed(mut self, becomes: impl Fn([i32; 3], usize) -> [i32; 3]) -> Self {
        for point in &mut self.points {
            let rgb = becomes(point.rgb.map(i32::from), usize::from(point.region)).map(|level| level.clamp(0, WHITE));
            point.rgb = rgb.map(|level| level as i16);
            point.luma = luma(rgb) as i16;
        }
        self
    }
}

/// The mean of colours; of none, black.
fn mean(colours: impl Iterator<Item = [i32; 3]>) -> [i32; 3] {
    let (mut sums, mut count) = ([0_i64; 3], 0);
    for rgb in colours {
        sums.iter_mut().zip(rgb).for_each(|(sum, level)| *sum += i64::from(level));
        count += 1;
    }
    sums.map(|sum| (sum / count.max(1)) as i32)
}

/// The luma of a colour, with the weights of ITU-R BT.709, in 65536ths.
pub fn luma([r, g, b]: [i32; 3]) -> i32 {
    (13_933 * r + 46_871 * g + 4_732 * b + (1 << 15)) >> 16
}

/// How far a colour is from gray, in 4096ths.
pub fn saturation([r, g, b]: [i32; 3]) -> i32 {
    4096 - ratio(r.min(g).min(b), r.max(g).max(b))
}

/// A colour whose luma changes from `before` to `after`; the differences of R, G and B from luma have this gain, in
/// 4096ths.
pub fn with_luma(rgb: [i32; 3], before: i32, after: i32, gain: i32) -> [i32; 3] {
    rgb.map(|level| after + times(level - before, gain))
}

impl Occurrences {
    /// The counts of these levels, which are clamped to 0 to [`WHITE`].
    pub fn new(levels: impl Iterator<Item = i32>) -> Self {
        let mut of_level = vec![0; WHITE as usize + 1];
        let count = levels.map(|level| of_level[level.clamp(0, WHITE) as usize] += 1).count() as u32;
        Occurrences { of_level, count }
    }

    /// The level below which this share of the counted levels lies, in millionths; 0 without any.
    pub fn at(&self, share: u32) -> i32 {
        let rank = (u64::from(self.count) * u64::from(share) / 1_000_000).min(u64::from(self.count.saturating_sub(1)));
        let mut below = 0;
        let reached = self.of_level.iter().position(|&count| {
            below += u64::from(count);
            below > rank
        });
        reached.unwrap_or(0) as i32
    }
}

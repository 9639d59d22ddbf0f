//! The measures of a frame before it is equalized: samples on a lattice of points, from which scenes, levels and colour
//! are decided.
//!
//! A frame is sampled at no more than [`COLUMNS`] x [`ROWS`] points, so a frame costs the same whatever its size.
//! Levels, also of R, G and B, are counted from black; means are in sixteenths of a level. Points that a mask leaves
//! out do not count. A block that has only such points has no mean.

use super::Transfer;
use super::curves::Levels;
use super::natural::{Correction, Points};
use super::parameters::Settings;
use bytemuck::{Pod, Zeroable};
use std::borrow::Cow;
use std::sync::Arc;

/// The largest number of points in a row of the lattice.
pub const COLUMNS: usize = 128;

/// The largest number of rows of points.
pub const ROWS: usize = 72;

/// Blocks in a row, for the comparison of frames.
pub const BLOCK_COLUMNS: usize = 16;

/// Rows of blocks.
pub const BLOCK_ROWS: usize = 12;

/// Number of blocks.
pub const BLOCKS: usize = BLOCK_COLUMNS * BLOCK_ROWS;

/// Regions in a row and in a column, for a veil of haze.
pub const REGIONS: usize = 8;

/// The lower limit of the spread of a frame, which flat frames have: one level, in sixteenths.
pub const MIN_SPREAD: u32 = 16;

/// The samples of a frame at the points of the lattice, row by row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lattice {
    /// Points in a row, at most [`COLUMNS`], and rows of points, at most [`ROWS`].
    pub size: (usize, usize),
    /// The luminance of each point, in levels from black.
    pub luma: Vec<u16>,
    /// Red, green and blue of each point, in levels from black, clamped to black and white. Empty for gray.
    pub rgb: Vec<[u16; 3]>,
    /// Whether a mask leaves out each point; empty where all count. At least one point counts.
    pub left_out: Vec<bool>,
    /// Whether the lattice covers only a part of the frame; its points then count as one region.
    pub is_part: bool,
    /// The transfer function of the codes of the frame.
    pub transfer: Transfer,
}

impl Lattice {
    /// The coordinate of point `index` of `points` along a side of `pixels` pixels: the middle of its share.
    pub fn pixel(index: usize, points: usize, pixels: usize) -> usize {
        (2 * index + 1) * pixels / (2 * points)
    }

    /// The numbers of points along the sides of a frame of this size.
    pub fn size_for((width, height): (usize, usize)) -> (usize, usize) {
        (width.min(COLUMNS), height.min(ROWS))
    }

    /// The indices of the points in cell (x, y) of a grid of `columns` x `rows` cells.
    fn cell(&self, (x, y): (usize, usize), (columns, rows): (usize, usize)) -> impl Iterator<Item = usize> + '_ {
        let (width, height) = self.size;
        let span = |index: usize, cells: usize, points: usize| {
            (index * points).div_ceil(cells)..((index + 1) * points).div_ceil(cells)
        };
        let points =
            span(y, rows, height).flat_map(move |row| span(x, columns, width).map(move |column| row * width + column));
        points.filter(|&point| self.counts(point))
    }

    /// The cell of each point in a grid of `columns` x `rows` cells, at most 256 of them, row by row.
    pub(super) fn cells(&self, (columns, rows): (usize, usize)) -> Vec<u8> {
        let (width, height) = self.size;
        let across: Vec<u8> = (0..width).map(|x| (x * columns / width) as u8).collect();
        let mut cells = Vec::with_capacity(width * height);
        for y in 0..height {
            let first = (y * rows / height * columns) as u8;
            cells.extend(across.iter().map(|column| first + column));
        }
        cells
    }

    pub(super) fn counts(&self, point: usize) -> bool {
        !self.left_out.get(point).is_some_and(|left_out| *left_out)
    }

    /// The points that count, in the same order, as a list without positions in the frame.
    fn counted(&self) -> Cow<'_, Lattice> {
        if self.left_out.is_empty() {
            return Cow::Borrowed(self);
        }
        let points = || (0..self.luma.len()).filter(|&point| self.counts(point));
        let luma = points().map(|point| self.luma[point]).collect();
        let rgb = if self.rgb.is_empty() { Vec::new() } else { points().map(|point| self.rgb[point]).collect() };
        Cow::Owned(Lattice { luma, rgb, ..Lattice::default() })
    }

    /// The least component of each point.
    fn darkest(&self) -> Vec<u16> {
        if self.rgb.is_empty() {
            return self.luma.clone();
        }
        self.rgb.iter().map(|&[r, g, b]| r.min(g).min(b)).collect()
    }

    pub(super) fn rgb(&self, point: usize) -> [u16; 3] {
        self.rgb.get(point).copied().unwrap_or([self.luma[point]; 3])
    }
}

/// The luminance of a frame at the points of its lattice, without those that are black or white.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Samples {
    /// Points in a row, and rows of points.
    pub size: (usize, usize),
    /// The luminance of each point, in levels from black; [`OUT`](Samples::OUT) where a point is left out.
    pub luma: Box<[u16]>,
}

impl Samples {
    /// The value of a point that is left out. It is black, so that black points are left out, too.
    pub const OUT: u16 = 0;

    /// The samples of a lattice, where `white` is the highest level.
    fn new(lattice: &Lattice, white: u16) -> Self {
        let level = |(point, &level)| if lattice.counts(point) && level < white { level } else { Samples::OUT };
        Samples { size: lattice.size, luma: lattice.luma.iter().enumerate().map(level).collect() }
    }
}

/// The measures of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measure {
    /// The levels of the frame.
    pub levels: Levels,
    /// Columns and rows of the frame.
    pub size: (usize, usize),
    /// The transfer function of the codes of the frame.
    pub transfer: Transfer,
    /// The mean luminance of each block, in sixteenths of a level; `None` of a block without points.
    pub blocks: Box<[Option<u32>]>,
    /// For HDR, the mean of each block on the scale of SDR levels, where the highest level is diffuse white and
    /// brighter ones lie above it; empty for SDR, whose `blocks` are on that scale.
    pub lit_blocks: Box<[Option<u32>]>,
    /// The mean luminance, in sixteenths of a level.
    pub mean: u32,
    /// The mean distance of luminance from its mean, in sixteenths of a level; at least [`MIN_SPREAD`].
    pub spread: u32,
    /// The ends of the levels in use.
    pub ends: Ends,
    /// The samples by which noise is measured.
    pub samples: Arc<Samples>,
    /// The points by which [`Method::Natural`](super::parameters::Method::Natural) decides.
    pub points: Points,
    /// The correction that all of these points need, if it is computed already.
    pub correction: Option<Box<Correction>>,
}

/// The ends of the levels that a frame uses, in sixteenths of a level. Of a point, the *darkest* component is the least
/// of R, G and B, and the *brightest* the largest: a stretch of R, G and B alike clips none of them between these ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Ends {
    /// The level below which 0.05 % of the darkest components lie.
    pub dark: u32,
    /// The level below which 99.95 % of the brightest components lie.
    pub bright: u32,
    /// The level below which 99.8 % of the luminance lies.
    pub peak: u32,
}

impl Measure {
    /// Adds the correction that all of its points need under these settings. The measuring threads compute it, so that
    /// it takes no time in the decisions, which are sequential.
    #[must_use]
    pub fn with_correction(self, settings: &Settings) -> Self {
        let correction = Correction::under(settings, self.points.clone()).map(Box::new);
        Measure { correction, ..self }
    }

    /// The means of the blocks on the scale of SDR levels, in sixteenths of a level.
    pub fn light_of_blocks(&self) -> &[Option<u32>] {
        if self.lit_blocks.is_empty() { &self.blocks } else { &self.lit_blocks }
    }

    /// The mean of the frame on the scale of [`light_of_blocks`](Measure::light_of_blocks).
    pub fn mean_light(&self) -> u32 {
        self.transfer.lit(self.mean, 16 * (self.levels.count() as u32 - 1))
    }

    /// Measures the points of a frame with these levels and this size (columns, rows).
    pub fn new(lattice: &Lattice, levels: Levels, size: (usize, usize)) -> Self {
        let blocks = (0..BLOCKS).map(|block| {
            let cell = lattice.cell((block % BLOCK_COLUMNS, block / BLOCK_COLUMNS), (BLOCK_COLUMNS, BLOCK_ROWS));
            let (sum, count) =
                cell.fold((0, 0), |(sum, count), point| (sum + u32::from(lattice.luma[point]), count + 1));
            (16 * u64::from(sum)).checked_div(count).map(|mean| mean as u32)
        });
        let blocks: Box<[Option<u32>]> = blocks.collect();
        let lit = |mean: &Option<u32>| mean.map(|mean| lattice.transfer.lit(mean, 16 * (levels.count() as u32 - 1)));
        let lit_blocks = if lattice.transfer.is_hdr() { blocks.iter().map(lit).collect() } else { Box::default() };
        let counted = lattice.counted();
        let points = counted.luma.len().max(1) as u64;
        let sum: u64 = counted.luma.iter().map(|&level| u64::from(level)).sum();
        let mean = (16 * sum / points) as u32;
        let strays: u64 = counted.luma.iter().map(|&level| u64::from((16 * u32::from(level)).abs_diff(mean))).sum();
        let spread = ((strays / points) as u32).max(MIN_SPREAD);
        Measure {
            levels,
            size,
            transfer: lattice.transfer,
            blocks,
            lit_blocks,
            mean,
            spread,
            ends: Ends::from_lattice(&counted, (levels.count() - 1) as u16),
            samples: Samples::new(lattice, (levels.count() - 1) as u16).into(),
            points: Points::new(lattice, (levels.count() - 1) as u16),
            correction: None,
        }
    }
}

/// For each region, the value that `pick` selects among the regions at most `reach` away. At the left and right edges
/// the window is shifted inwards and stays as wide: an object that enters there would fill a narrower window sooner,
/// and change the result.
pub(super) fn around(
    regions: &[[u32; REGIONS]; REGIONS],
    reach: usize,
    pick: impl Fn(std::vec::IntoIter<u32>) -> Option<u32>,
) -> [[u32; REGIONS]; REGIONS] {
    let down = |y: usize| y.saturating_sub(reach)..=(y + reach).min(REGIONS - 1);
    let across = |x: usize| {
        let middle = x.clamp(reach, REGIONS - 1 - reach);
        middle - reach..=middle + reach
    };
    let values = |x: usize, y: usize| down(y).flat_map(|y| across(x).map(move |x| regions[y][x])).collect::<Vec<u32>>();
    std::array::from_fn(|y| std::array::from_fn(|x| pick(values(x, y).into_iter()).unwrap_or(0)))
}

/// `share` millionths of `count`, rounded down. The product takes more than 32 bits.
fn part(count: usize, share: usize) -> usize {
    (count as u64 * share as u64 / 1_000_000) as usize
}

/// The value below which `share` millionths of `values` lie, in sixteenths; 0 without values. A value `v` counts as
/// spread evenly from `v - 1/2` to `v + 1/2`, so that noise of less than a level moves the result by less than a level.
/// Leaves the values partly sorted.
pub(super) fn at_share(values: &mut [u16], share: usize) -> u32 {
    if values.is_empty() {
        return 0;
    }
    // In sixteenths of a rank.
    let position = part(16 * values.len(), share);
    let rank = (position / 16).min(values.len() - 1);
    let (left, &mut value, right) = values.select_nth_unstable(rank);
    let below = left.iter().filter(|other| **other < value).count();
    let equal = left.len() - below + 1 + right.iter().filter(|other| **other == value).count();
    within(value.into(), position, below, equal)
}

/// The value, in sixteenths, at `position`, in sixteenths of a rank: interpolated within `value`, which occurs `equal`
/// times, after `below` smaller values.
fn within(value: usize, position: usize, below: usize, equal: usize) -> u32 {
    (16 * value as u32 + ((position - 16 * below) / equal) as u32).saturating_sub(8)
}

/// How often each level occurs among the points of a frame, for repeated queries.
struct LevelCounts {
    /// The count of each level from black to white.
    of_level: Vec<u32>,
    points: usize,
}

impl LevelCounts {
    fn new(levels: impl Iterator<Item = u16>, white: u16) -> Self {
        let mut of_level = vec![0; usize::from(white) + 1];
        let counted = levels.map(|level| of_level[usize::from(level.min(white))] += 1);
        let points = counted.count();
        LevelCounts { of_level, points }
    }

    /// As the function [`at_share`], for the counted levels.
    fn at_share(&self, share: usize) -> u32 {
        Self::at_share_in(self.of_level.iter(), self.points, share)
    }

    /// [`at_share`](LevelCounts::at_share), counted from white down.
    fn share_from_top(&self, share: usize) -> u32 {
        16 * (self.of_level.len() - 1) as u32 - Self::at_share_in(self.of_level.iter().rev(), self.points, share)
    }

    fn at_share_in<'a>(of_level: impl Iterator<Item = &'a u32>, points: usize, share: usize) -> u32 {
        let position = part(16 * points, share);
        let rank = (position / 16).min(points.saturating_sub(1));
        let mut below = 0;
        for (level, &equal) in of_level.enumerate() {
            let equal = equal as usize;
            if below + equal > rank {
                return within(level, position, below, equal);
            }
            below += equal;
        }
        0
    }
}

impl Ends {
    fn from_lattice(lattice: &Lattice, white: u16) -> Self {
        let darkest = LevelCounts::new(lattice.darkest().into_iter(), white);
        let dark = darkest.at_share(500);
        let (brightest, luma) = match lattice.rgb.is_empty() {
            true => (darkest, None),
            false => (
                LevelCounts::new(lattice.rgb.iter().map(|&[r, g, b]| r.max(g).max(b)), white),
                Some(LevelCounts::new(lattice.luma.iter().copied(), white)),
            ),
        };
        let peak = luma.as_ref().unwrap_or(&brightest).share_from_top(2000);
        Ends { dark, bright: brightest.share_from_top(500), peak }
    }

    /// The mean of several ends, field by field; zeros without any.
    pub fn mean_of<'a>(all: impl Iterator<Item = &'a Ends>) -> Ends {
        mean_by_number(all.copied()).unwrap_or_default()
    }
}

/// The mean of structures of `u32`, field by field; `None` without any.
pub(super) fn mean_by_number<T: Pod>(all: impl Iterator<Item = T>) -> Option<T> {
    let (mut sums, mut count) = (vec![0; size_of::<T>() / size_of::<u32>()], 0);
    for one in all {
        let numbers: &[u32] = bytemuck::cast_slice(std::slice::from_ref(&one));
        sums.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += u64::from(*number));
        count += 1;
    }
    let means = sums.iter().map(|sum| sum.checked_div(count).map(|mean| mean as u32)).collect::<Option<Vec<u32>>>()?;
    Some(bytemuck::pod_read_unaligned(bytemuck::cast_slice(&means)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lists of levels, with few and with many equal ones, each with its white.
    fn levels() -> impl Iterator<Item = (Vec<u16>, u16)> {
        let draw = |count: u32, white: u16, few: u32| {
            let level = |index: u32| (index.wrapping_mul(2_654_435_761) >> 7) % few * (u32::from(white) / (few - 1));
            ((0..count).map(|index| level(index) as u16).collect(), white)
        };
        let counts = [1, 2, 37, 1000, 9216].into_iter();
        counts.flat_map(move |count| {
            [(219, 220), (219, 4), (65_535, 65_536), (65_535, 2)].map(|(w, f)| draw(count, w, f))
        })
    }

    #[test]
    fn counted_levels_have_the_shares_of_sorted_ones() {
        for (levels, white) in levels() {
            let occurrences = LevelCounts::new(levels.iter().copied(), white);
            let mut mirrored: Vec<u16> = levels.iter().map(|level| white - level).collect();
            for share in [0, 500, 1000, 2000, 10_000, 100_000, 500_000] {
                assert_eq!(occurrences.at_share(share), at_share(&mut levels.clone(), share), "{share}");
                assert_eq!(
                    occurrences.share_from_top(share),
                    16 * u32::from(white) - at_share(&mut mirrored, share),
                    "{share}"
                );
            }
        }
        assert_eq!(LevelCounts::new(std::iter::empty(), 255).at_share(500), 0);
    }
}

//! Denoises a plane: transforms tiles of 8x8 samples that overlap by half, and the motion-compensated tiles of other
//! frames, merges them coefficient by coefficient, shrinks the coefficients according to the remaining noise, and adds
//! up the overlapping tiles.

use super::dct::{self, Batch, SAMPLES, TILES, part};
use super::noise::{self, Differences, Factors, Noise};
use super::search::{MotionField, Plain};
use super::sheet::Sheet;
use crate::denoise::displaced::{FourRows, MovedPlace, STEP, cubic, line, linear};

/// The most other frames that are merged with the denoised one.
pub const MAX_OTHERS: usize = 8;

/// Samples across and down a tile.
const SIZE: usize = 8;

/// Samples that are interpolated at once, at most.
const LANES: usize = 16;

/// The value 1 of a normalized square, in 1024ths.
const UNIT: u16 = 1024;

/// The normalized squared difference up to which a coefficient of another frame has full weight; from `NOT_ONE` on, its
/// weight is 0.
const FULLY: u16 = (UNIT as u32 * 16 / 10) as u16;
const NOT_ONE: u16 = 4 * UNIT;

/// A tile is smooth if the normalized squares of its coefficients but the mean, each halved and rounded down to a
/// 64th of a `UNIT`, add up to less than this: 2.4 times what noise alone comes to.
const SMOOTH: u16 = 600;

/// A plane of a frame, and the planes that it is merged with.
pub struct MergedPlane<'a> {
    /// The samples of the plane: codes of 12 bits minus 2048.
    pub own: &'a Sheet,
    /// The same plane of other frames, with the motion to these frames.
    pub others: &'a [(&'a Sheet, &'a MotionField)],
    /// How many of the others, from the first on, serve every tile. The rest serve smooth tiles, as `SMOOTH` says.
    pub near: usize,
    /// Columns and rows of luma that a sample of the plane covers, as powers of two.
    pub log2: (u8, u8),
    /// Whether the plane is chroma.
    pub is_chroma: bool,
    /// Luma of the frame, at a quarter of its width and height.
    pub quarter: &'a Sheet,
}

impl MergedPlane<'_> {
    /// The luma coordinates of the middle of a tile.
    #[inline(always)]
    fn middle(&self, column: usize, row: usize) -> (usize, usize) {
        (((column * STEP) << self.log2.0), ((row * STEP) << self.log2.1))
    }

    /// Tiles across and down.
    fn tiles(&self) -> (usize, usize) {
        (self.own.width().div_ceil(STEP) + 1, self.own.height().div_ceil(STEP) + 1)
    }

    /// The position in another frame to which the motion of a cell leads. `column` and `band` are the column and the
    /// row of the cell.
    #[inline(always)]
    fn moved(&self, (other, field): (&Sheet, &MotionField), column: isize, band: isize) -> MovedPlace {
        let middle = |cell: isize, log2: u8| ((STEP as isize * cell + 2) << log2) >> 3;
        let vector = field.at(middle(column, self.log2.0), middle(band, self.log2.1));
        // The motion in eighths of a chroma sample, or in quarters of a luma sample.
        let (across, down, bits) = match self.is_chroma {
            true => ((2 * vector.x) >> self.log2.0, (2 * vector.y) >> self.log2.1, 3),
            false => (vector.x, vector.y, 2),
        };
        let (x, y) = (STEP as isize * column, STEP as isize * band);
        let x = Sheet::within(x + (across >> bits) as isize, STEP, other.width());
        let y = Sheet::within(y + (down >> bits) as isize, STEP, other.height());
        MovedPlace { x, y, behind: (across & ((1 << bits) - 1), down & ((1 << bits) - 1)) }
    }

    /// Copies a band of four rows, from the cell to the left of the plane on: of the frame itself (`None`), or
    /// motion-compensated of another frame.
    #[inline(always)]
    fn band(&self, source: Option<(&Sheet, &MotionField)>, band: isize, cells: usize, rows: &mut FourRows) {
        let Some(other) = source else {
            for (y, row) in rows.iter_mut().enumerate() {
                let source = self.own.at(-(STEP as isize), STEP as isize * band + y as isize);
                row[..STEP * cells].copy_from_slice(&source[..STEP * cells]);
            }
            return;
        };
        let mut first = 0;
        while first < cells {
            let place = self.moved(other, first as isize - 1, band);
            // Cells that move alike are read together.
            let mut end = first + 1;
            while end < cells && self.moved(other, end as isize - 1, band) == place.right(STEP * (end - first)) {
                end += 1;
            }
            let (source, count) = (STEP * first, STEP * (end - first));
            if count <= LANES / 2 {
                self.read::<{ LANES / 2 }>(other.0, place, source, rows);
            } else {
                for index in (0..count).step_by(LANES) {
                    self.read::<LANES>(other.0, place.right(index), source + index, rows);
                }
            }
            first = end;
        }
    }

    /// Reads `N` samples of four rows. The next read overwrites those that lie beyond the cells.
    #[inline(always)]
    fn read<const N: usize>(&self, other: &Sheet, place: MovedPlace, start: usize, rows: &mut FourRows) {
        let mut piece = [[0; N]; STEP];
        match (place.behind, self.is_chroma) {
            ((0, 0), _) => (0..STEP).for_each(|y| piece[y] = *line(other, place.x, place.y + y as isize)),
            (_, true) => linear(other, place, &mut piece),
            (_, false) => cubic(other, place, &mut piece),
        }
        for (row, piece) in rows.iter_mut().zip(&piece) {
            row[start..start + N].copy_from_slice(piece);
        }
    }
}

/// Two bands of a frame's plane, read from top to bottom, and the coefficients of their columns.
///
/// Each row has the first samples of all cells, then the second samples, and so on.
struct Columns {
    rows: FourRows,
    /// The band before the last one, and the last one.
    bands: [Vec<i16>; 2],
    /// The coefficients of the columns of these bands, row by row.
    coefficients: Vec<i16>,
    cells: usize,
    pitch: usize,
}

impl Columns {
    fn new(tiles: usize) -> Self {
        let pitch = tiles.next_multiple_of(TILES) + TILES;
        let row = vec![0; STEP * pitch + LANES];
        let band = vec![0; STEP * STEP * pitch];
        let coefficients = vec![0; SIZE * STEP * pitch];
        Columns {
            rows: std::array::from_fn(|_| row.clone()),
            bands: [band.clone(), band],
            coefficients,
            cells: tiles + 1,
            pitch,
        }
    }

    /// Reads the next band.
    #[inline(always)]
    fn next(&mut self, plane: &MergedPlane<'_>, source: Option<(&Sheet, &MotionField)>, band: isize) {
        self.bands.swap(0, 1);
        plane.band(source, band, self.cells, &mut self.rows);
        for (row, target) in self.rows.iter().zip(self.bands[1].chunks_exact_mut(STEP * self.pitch)) {
            dct::by_sample(&row[..STEP * self.pitch], target);
        }
    }

    #[inline(always)]
    fn transform(&mut self) {
        dct::forward_columns(&self.bands, &mut self.coefficients);
    }

    /// The coefficients of the tiles from tile `first` on.
    #[inline(always)]
    fn tiles(&self, first: usize, batch: &mut Batch) {
        dct::forward_rows(&self.coefficients, self.pitch, first, batch);
    }
}

/// For each tile, whether its differences are counted: where the motion is steady, because differences of content that
/// appears or is hidden are not noise. If fewer than one tile in eight is steady, all are counted. The tiles do not
/// overlap, and only every other row of tiles is used.
fn steady_tiles(plane: &MergedPlane<'_>, field: &MotionField) -> Vec<bool> {
    let (columns, rows) = (plane.own.width() / SIZE, (plane.own.height() / SIZE).div_ceil(2));
    let is_steady = |index: usize| {
        let (x, y) = plane.middle(2 * (index % columns) + 1, 4 * (index / columns) + 1);
        field.is_steady(x, y)
    };
    let steady: Vec<bool> = (0..columns * rows).map(is_steady).collect();
    let count = steady.iter().filter(|is_steady| **is_steady).count();
    if 8 * count < columns * rows { vec![true; columns * rows] } else { steady }
}

/// Counts differences to the first of the other frames, in tiles that do not overlap.
#[inline(always)]
pub fn count(plane: &MergedPlane<'_>) -> Differences {
    let mut differences = Differences::default();
    let Some(&other) = plane.others.first() else { return differences };
    let columns = plane.own.width() / SIZE;
    let steady = steady_tiles(plane, other.1);
    let (tiles, _) = plane.tiles();
    let mut both = [None, Some(other)].map(|source| (source, Columns::new(tiles)));
    let (mut here, mut moved, mut sizes) = ([0; SAMPLES * TILES], [0; SAMPLES * TILES], [0; SAMPLES * TILES]);
    for (row, steady) in steady.chunks(columns.max(1)).enumerate() {
        for (source, columns) in &mut both {
            columns.next(plane, *source, 4 * row as isize);
            columns.next(plane, *source, 4 * row as isize + 1);
            columns.transform();
        }
        for first in (0..tiles).step_by(TILES) {
            both[0].1.tiles(first, &mut here);
            both[1].1.tiles(first, &mut moved);
            noise::sizes(&here, &moved, &mut sizes);
            let odd = (1..TILES).step_by(2).map(|index| (index, (first + index) / 2));
            for (index, column) in odd.filter(|(_, column)| steady.get(*column) == Some(&true)) {
                let (x, y) = plane.middle(2 * column + 1, 4 * row + 1);
                differences.add(&sizes, index, noise::brightness(plane.quarter, x, y));
            }
        }
    }
    differences
}

/// Coefficients that are averaged at once.
const CHUNK: usize = 4 * TILES;

/// The weights and the coefficients of other frames.
pub type Others<'a> = (&'a [Factors], &'a [Batch]);

/// How coefficients are averaged.
pub trait Average {
    /// Replaces the coefficients `here`, from number `first` of a batch on, by their weighted mean with those of other
    /// frames, each part of which is rounded down. `shares` has the shares of `here`, whose weight is 256, in the mean,
    /// in 32768ths. `left` has the squares of these shares; this adds the squares of the shares of other frames.
    fn average(&self, first: usize, frames: Others<'_>, shares: &[u16], here: &mut [i16], left: &mut [u16]);
}

impl Average for Plain {
    #[inline(always)]
    fn average(
        &self,
        first: usize,
        (weights, batches): Others<'_>,
        shares: &[u16],
        here: &mut [i16],
        left: &mut [u16],
    ) {
        let mut moves = [0i16; CHUNK];
        for (weights, batch) in weights.iter().zip(batches) {
            let (weights, batch) = (&weights[first..][..CHUNK], &batch[first..][..CHUNK]);
            for index in 0..CHUNK {
                let share = high(weights[index] << 8, shares[index]);
                moves[index] =
                    moves[index].wrapping_add(part(batch[index].saturating_sub(here[index]), (share << 1) as i16));
                left[index] += high(share, share);
            }
        }
        for index in 0..CHUNK {
            here[index] = here[index].saturating_add(moves[index]);
        }
    }
}

/// Denoises the plane. Its codes have the same range as the input's.
#[inline(always)]
pub fn merge(plane: &MergedPlane<'_>, noise: &Noise) -> Sheet {
    merge_by(&Plain, plane, noise)
}

/// [`merge`], with coefficients averaged by `average`.
#[inline(always)]
pub fn merge_by(average: &impl Average, plane: &MergedPlane<'_>, noise: &Noise) -> Sheet {
    let mut out = Sheet::new(plane.own.width(), plane.own.height());
    let (tiles, rows) = plane.tiles();
    let sources = std::iter::once(None).chain(plane.others.iter().map(|other| Some(*other)));
    let mut sources: Vec<_> = sources.map(|source| (source, Columns::new(tiles))).collect();
    for (source, columns) in &mut sources {
        columns.next(plane, *source, -1);
    }
    let (brightness_factors, mut scratch) = (noise.brightness_factors(), TileScratch::default());
    let mut laid = Laid::new(tiles);
    for row in 0..rows {
        for (source, columns) in &mut sources {
            columns.next(plane, *source, row as isize);
            columns.transform();
        }
        laid.sums.fill(1);
        for first in (0..tiles).step_by(TILES) {
            scratch.load(plane, row, first, &sources);
            noise.factors(&brightness_factors, &scratch.brightness, &mut scratch.factors);
            scratch.merge(average, plane.near, plane.others.len());
            scratch.shrink(if plane.is_chroma { 24 } else { 18 });
            dct::backward_rows(&scratch.own, &mut laid.sums, laid.pitch, first);
        }
        laid.end(row, &mut out);
    }
    out
}

/// The rows of the output that are being made, ordered as in [`Columns`].
struct Laid {
    /// Coefficients of columns of the current row of tiles, added up where tiles overlap.
    sums: Vec<i16>,
    /// The last four rows of samples of the row of tiles before.
    before: Vec<i16>,
    pitch: usize,
}

impl Laid {
    fn new(tiles: usize) -> Self {
        let pitch = tiles.next_multiple_of(TILES) + TILES;
        Laid { sums: vec![0; SIZE * STEP * pitch], before: vec![0; STEP * STEP * pitch], pitch }
    }

    /// Ends a row of tiles, which completes the band in its upper half: writes this band to `out`.
    #[inline(always)]
    fn end(&mut self, row: usize, out: &mut Sheet) {
        dct::backward_columns(&mut self.sums, &self.before);
        let (done, next) = self.sums.split_at(self.sums.len() / 2);
        for (y, done) in done.chunks_exact(STEP * self.pitch).enumerate() {
            let y = (STEP * row + y) as isize - STEP as isize;
            if (0..out.height() as isize).contains(&y) {
                let width = out.width().next_multiple_of(STEP);
                dct::by_place(done, &mut out.at_mut(0, y)[..width]);
            }
        }
        self.before.copy_from_slice(next);
    }
}

/// Scratch memory for a batch of tiles.
struct TileScratch {
    own: Batch,
    others: [Batch; MAX_OTHERS],
    brightness: [u16; TILES],
    factors: Factors,
    squares: Factors,
    smooth: Factors,
    /// The weight of each coefficient of each other frame, in 256ths of the weight of the denoised frame.
    weights: [Factors; MAX_OTHERS],
    /// The remaining share of the noise variance, in 16384ths.
    left: Factors,
}

impl Default for TileScratch {
    fn default() -> Self {
        let (signed, unsigned) = ([0; SAMPLES * TILES], [0; SAMPLES * TILES]);
        TileScratch {
            own: signed,
            others: [signed; MAX_OTHERS],
            brightness: [0; TILES],
            factors: unsigned,
            squares: unsigned,
            smooth: unsigned,
            weights: [unsigned; MAX_OTHERS],
            left: unsigned,
        }
    }
}

/// The square of a coefficient divided by the noise variance of a difference of two frames, in 1024ths.
#[inline(always)]
fn square(coefficient: i16, factor: u16) -> u16 {
    let size = coefficient.unsigned_abs().min(16_383) << 2;
    let size = ((u32::from(size) * u32::from(factor)) >> 16) as u16;
    let size = size.min(255);
    size * size
}

/// The mean of two numbers, rounded up.
#[inline(always)]
fn halfway(a: u16, b: u16) -> u16 {
    ((u32::from(a) + u32::from(b) + 1) >> 1) as u16
}

/// Smooths the squares of each tile with the weights 1 2 1 in both directions.
#[inline(always)]
fn smooth(source: &Factors, target: &mut Factors) {
    const ROW: usize = SIZE * TILES;
    let mut across = [0; SAMPLES * TILES];
    for row in 0..SIZE {
        let (source, target) = (&source[row * ROW..][..ROW], &mut across[row * ROW..][..ROW]);
        for x in 0..SIZE {
            let (left, right) = (x.saturating_sub(1) * TILES, (x + 1).min(SIZE - 1) * TILES);
            for index in 0..TILES {
                target[x * TILES + index] =
                    halfway(halfway(source[left + index], source[right + index]), source[x * TILES + index]);
            }
        }
    }
    for row in 0..SIZE {
        let line = |row: usize| &across[row * ROW..][..ROW];
        let (above, middle, below) = (line(row.saturating_sub(1)), line(row), line((row + 1).min(SIZE - 1)));
        let target = &mut target[row * ROW..][..ROW];
        for index in 0..ROW {
            target[index] = halfway(halfway(above[index], below[index]), middle[index]);
        }
    }
}

impl TileScratch {
    #[inline(always)]
    fn load<F>(&mut self, plane: &MergedPlane<'_>, row: usize, first: usize, sources: &[(F, Columns)]) {
        for (index, brightness) in self.brightness.iter_mut().enumerate() {
            let (x, y) = plane.middle(first + index, row);
            *brightness = noise::brightness(plane.quarter, x, y);
        }
        for ((_, columns), batch) in sources.iter().zip(std::iter::once(&mut self.own).chain(&mut self.others)) {
            columns.tiles(first, batch);
        }
    }

    /// Computes the weights of one of the other frames.
    #[inline(always)]
    fn weigh(&mut self, other: usize) {
        let batch = &self.others[other];
        let both = self.own.iter().zip(batch).zip(&self.factors);
        for (square_of, ((here, other), factor)) in self.squares.iter_mut().zip(both) {
            *square_of = square(here.saturating_sub(*other), *factor);
        }
        let (mut half_mean, mut guard) = ([0; TILES], [0; TILES]);
        let squares = self.squares.as_chunks::<TILES>().0;
        for index in 0..TILES {
            // The sum begins at 32, because its 64 terms are rounded down, by half on average.
            let mut sum = 32;
            for squares in squares {
                sum += squares[index] >> 7;
            }
            half_mean[index] = sum;
            let mut low = 0;
            for coefficient in [0, 1, 2, SIZE, SIZE + 1, SIZE + 2, 2 * SIZE, 2 * SIZE + 1, 2 * SIZE + 2] {
                low += squares[coefficient][index] >> 4;
            }
            // 0.7 times the mean of the nine squares: `1 + 16021 / 65536` is `0.7 * 16 / 9`.
            guard[index] = low + high(low, 16_021);
        }
        smooth(&self.squares, &mut self.smooth);
        let (smooth, weights) = (self.smooth.as_chunks::<TILES>().0, self.weights[other].as_chunks_mut::<TILES>().0);
        for (smooth, weights) in smooth.iter().zip(weights) {
            for index in 0..TILES {
                let apart = ((smooth[index] >> 1) + half_mean[index]).max(guard[index]).min(NOT_ONE);
                weights[index] = high(NOT_ONE - apart, ((256 * 65_536) / (NOT_ONE - FULLY) as u32) as u16).min(255);
            }
        }
    }

    /// For each tile, all bits if it is [smooth](SMOOTH), else none.
    #[inline(always)]
    fn smooth_tiles(&self) -> [u16; TILES] {
        let (coefficients, factors) = (self.own.as_chunks::<TILES>().0, self.factors.as_chunks::<TILES>().0);
        let mut sums = [0; TILES];
        for (coefficients, factors) in coefficients.iter().zip(factors).skip(1) {
            for index in 0..TILES {
                sums[index] += square(coefficients[index], factors[index]) >> 7;
            }
        }
        sums.map(|sum| if sum < SMOOTH { u16::MAX } else { 0 })
    }

    /// Replaces `own` by its weighted mean with the first `near` of the other frames, in smooth tiles with `all`.
    #[inline(always)]
    fn merge(&mut self, average: &impl Average, near: usize, all: usize) {
        for other in 0..near {
            self.weigh(other);
        }
        let smooth = if near < all { self.smooth_tiles() } else { [0; TILES] };
        let count = if smooth == [0; TILES] { near } else { all };
        for other in near..count {
            self.weigh(other);
            for weights in self.weights[other].as_chunks_mut::<TILES>().0 {
                for index in 0..TILES {
                    weights[index] &= smooth[index];
                }
            }
        }
        // Each share of a difference is rounded down, by half a step on average.
        let rounding = smooth.map(|smooth| (near / 2) as i16 + (((all - near) as u16 / 2) & smooth) as i16);
        for first in (0..SAMPLES * TILES).step_by(CHUNK) {
            let shares = &mut self.squares[first..][..CHUNK];
            let here = &mut self.own[first..][..CHUNK];
            let left = &mut self.left[first..][..CHUNK];
            left.fill(256);
            for weights in &self.weights[..count] {
                let weights = &weights[first..][..CHUNK];
                for index in 0..CHUNK {
                    left[index] += weights[index];
                }
            }
            for index in 0..CHUNK {
                // The share of the weight 256 in the sum of all weights, in 32768ths.
                shares[index] = rounded(8_388_608.0 * inverse(left[index]));
                left[index] = high(shares[index], shares[index]);
            }
            average.average(first, (&self.weights[..count], &self.others[..count]), shares, here, left);
            for here in here.as_chunks_mut::<TILES>().0 {
                for index in 0..TILES {
                    here[index] = here[index].saturating_add(rounding[index]);
                }
            }
        }
    }

    /// Shrinks `own` by `by` 8ths of the noise that is left.
    #[inline(always)]
    fn shrink(&mut self, by: i32) {
        for index in 0..SAMPLES * TILES {
            self.squares[index] = square(self.own[index], self.factors[index]);
        }
        // The mean of a tile is not noise, so its square is set to the maximum. This also raises the smoothed squares
        // of the lowest frequencies, so that they are kept too.
        self.squares[..TILES].fill(255 * 255);
        smooth(&self.squares, &mut self.smooth);
        for index in TILES..SAMPLES * TILES {
            let left = self.left[index] + self.left[index] / 5 + 491;
            // A coefficient whose smoothed square is below 128 is removed in any case.
            let lost = rounded((left as i32 * by) as f32 * inverse(self.smooth[index].max(128))).min(257);
            let lost = lost.saturating_sub(2);
            self.own[index] = self.own[index].wrapping_sub(part(self.own[index], (lost << 7) as i16) << 1);
        }
    }
}

/// `a * b / 65536`.
#[inline(always)]
fn high(a: u16, b: u16) -> u16 {
    ((u32::from(a) * u32::from(b)) >> 16) as u16
}

/// `1 / number` with a relative error of 1/8000. All steps are rounded as IEEE 754 says, so that they are the same
/// everywhere.
#[inline(always)]
fn inverse(number: u16) -> f32 {
    let number = f32::from(number);
    // The bits of a float approximate its logarithm, so a subtraction approximates the reciprocal.
    let rough = f32::from_bits(0x7eb5_0000_u32.wrapping_sub(number.to_bits()));
    (rough * 1.941_287_7) * (1.435_520_2 - number * rough)
}

/// The nearest integer, below 65,536: adding `1.5 * 2^23` leaves it in the lowest bits of the float.
#[inline(always)]
fn rounded(number: f32) -> u16 {
    (number + 12_582_912.0).to_bits() as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inverse_is_right_to_a_part_in_8000() {
        for number in 1..=u16::MAX {
            let product = f64::from(inverse(number)) * f64::from(number);
            assert!((product - 1.0).abs() < 1.0 / 8000.0, "{number}: {product}");
        }
        for (number, whole) in [(0.0, 0), (0.4, 0), (0.6, 1), (32_767.4, 32_767), (65_535.0, 65_535)] {
            assert_eq!(rounded(number), whole, "{number}");
        }
    }
}

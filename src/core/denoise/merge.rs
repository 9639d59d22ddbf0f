//! Denoises a plane: tiles of 8x8 samples that overlap by half are transformed together with those of other frames
//! along their motion, merged coefficient by coefficient, shrunk by what noise is left, and laid over each other.

use super::dct::{self, Batch, SAMPLES, TILES, part};
use super::noise::{self, Differences, Factors, Noise};
use super::search::Field;
use super::sheet::Sheet;

/// The most frames besides the one that is denoised.
pub const MOST_OTHERS: usize = 8;

/// Samples from a tile to the next.
const STEP: usize = 4;

/// Samples across and down a tile.
const SIZE: usize = 8;

/// A raised cosine in 128ths, whose halves add up to 1.
const COSINE: [i32; SIZE] = [5, 39, 89, 123, 123, 89, 39, 5];

/// The weights of four samples for each quarter between the middle two, in 16384ths.
const CUBIC: [[i16; 4]; 4] =
    [[0; 4], [-1792, 14_336, 4352, -512], [-1536, 9728, 9728, -1536], [-512, 4352, 14_336, -1792]];

/// Normalized squares that count as 1: they are in 1024ths.
const UNIT: u16 = 1024;

/// A coefficient whose difference is up to this many variances counts fully, and from `NOT_ONE` on it does not count.
const FULLY: u16 = (UNIT as u32 * 16 / 10) as u16;
const NOT_ONE: u16 = 4 * UNIT;

/// A plane of a frame, and the planes that it is merged with.
pub struct Plane<'a> {
    /// Its samples, of 12 bits, less 2048.
    pub own: &'a Sheet,
    /// This plane in other frames, with the motion to them.
    pub others: &'a [(&'a Sheet, &'a Field)],
    /// Columns and rows of luma for each of its own, as powers of two.
    pub log2: (u8, u8),
    /// Whether it is chroma.
    pub is_chroma: bool,
    /// Luma of the frame, a quarter as large.
    pub quarter: &'a Sheet,
}

impl Plane<'_> {
    /// Where tile `column`, `row` begins: the first in a row and the first row begin before the plane.
    #[inline(always)]
    fn start(column: usize, row: usize) -> (isize, isize) {
        ((column * STEP) as isize - STEP as isize, (row * STEP) as isize - STEP as isize)
    }

    /// The point of luma in the middle of a tile.
    #[inline(always)]
    fn middle(&self, column: usize, row: usize) -> (usize, usize) {
        (((column * STEP) << self.log2.0), ((row * STEP) << self.log2.1))
    }

    /// Tile `at` of the batch, from the frame itself.
    #[inline(always)]
    fn load_own(&self, column: usize, row: usize, at: usize, batch: &mut Batch) {
        let (x, y) = Plane::start(column, row);
        let x = Sheet::within(x, SIZE, self.own.width());
        let y = Sheet::within(y, SIZE, self.own.height());
        load(self.own.at(x, y), self.own.stride(), at, batch);
    }

    /// Tile `at` of the batch, from another frame.
    #[inline(always)]
    fn load_other(&self, (other, field): (&Sheet, &Field), column: usize, row: usize, at: usize, batch: &mut Batch) {
        let (x, y) = Plane::start(column, row);
        let (of_x, of_y) = self.middle(column, row);
        let vector = field.around(of_x, of_y);
        // Eighths of a sample of chroma, quarters of one of luma.
        let (across, down, bits) = match self.is_chroma {
            true => ((2 * vector.x) >> self.log2.0, (2 * vector.y) >> self.log2.1, 3),
            false => (vector.x, vector.y, 2),
        };
        let x = Sheet::within(x + (across >> bits) as isize, SIZE, other.width());
        let y = Sheet::within(y + (down >> bits) as isize, SIZE, other.height());
        let (across, down) = (across & ((1 << bits) - 1), down & ((1 << bits) - 1));
        if (across, down) == (0, 0) {
            // A whole vector needs no interpolation.
            return load(other.at(x, y), other.stride(), at, batch);
        }
        let mut tile = [0; SIZE * LINE];
        if self.is_chroma {
            linear(other, (x, y), (across, down), &mut tile);
        } else {
            cubic(other, (x, y), (across, down), &mut tile);
        }
        load(&tile, LINE, at, batch);
    }
}

/// Puts a tile into a batch.
#[inline(always)]
fn load(from: &[i16], stride: usize, at: usize, batch: &mut Batch) {
    for (y, rows) in batch.as_chunks_mut::<{ SIZE * TILES }>().0.iter_mut().enumerate() {
        let row: &[i16; SIZE] = from[y * stride..].first_chunk().unwrap_or(&[0; SIZE]);
        rows.as_chunks_mut::<SIZE>().0[at & (TILES - 1)] = *row;
    }
}

/// Between four samples.
#[inline(always)]
fn of_four(a: i16, b: i16, c: i16, d: i16, weights: [i16; 4]) -> i16 {
    part(a << 2, weights[0]) + part(b << 2, weights[1]) + part(c << 2, weights[2]) + part(d << 2, weights[3]) + 2
}

/// From a row of a tile that is read to the next: what is read beyond a row is not used, and makes loops of whole
/// vectors.
const LINE: usize = 16;

/// A tile that is read, `LINE` samples from a row to the next.
type Tile = [i16; SIZE * LINE];

/// Rows from here on, and a row of zeros.
#[inline(always)]
fn read(from: &Sheet, (x, y): (isize, isize), rows: usize) -> [i16; (SIZE + 4) * LINE] {
    let mut lines = [0; (SIZE + 4) * LINE];
    for (row, line) in lines.as_chunks_mut::<LINE>().0[..rows].iter_mut().enumerate() {
        line.copy_from_slice(&from.at(x, y + row as isize)[..LINE]);
    }
    lines
}

/// A tile between samples, by four of them in each direction.
#[inline(always)]
fn cubic(from: &Sheet, (x, y): (isize, isize), (across, down): (i16, i16), tile: &mut Tile) {
    const READ: usize = (SIZE + 3) * LINE;
    let read = read(from, (x - 1, y - 1), SIZE + 3);
    let mut lines = [0; READ];
    if across == 0 {
        lines.copy_from_slice(&read[1..READ + 1]);
    } else {
        let weights = CUBIC[across as usize & 3];
        for at in 0..READ {
            lines[at] = of_four(read[at], read[at + 1], read[at + 2], read[at + 3], weights);
        }
    }
    if down == 0 {
        tile.copy_from_slice(&lines[LINE..(SIZE + 1) * LINE]);
        return;
    }
    let weights = CUBIC[down as usize & 3];
    for at in 0..SIZE * LINE {
        tile[at] = of_four(lines[at], lines[at + LINE], lines[at + 2 * LINE], lines[at + 3 * LINE], weights);
    }
}

/// A tile between samples, by two of them in each direction, in eighths.
#[inline(always)]
fn linear(from: &Sheet, (x, y): (isize, isize), (across, down): (i16, i16), tile: &mut Tile) {
    const READ: usize = (SIZE + 1) * LINE;
    let read = read(from, (x, y), SIZE + 1);
    let mut lines = [0; READ];
    for at in 0..READ {
        lines[at] = (read[at] * (8 - across) + read[at + 1] * across + 4) >> 3;
    }
    for at in 0..SIZE * LINE {
        tile[at] = (lines[at] * (8 - down) + lines[at + LINE] * down + 4) >> 3;
    }
}

/// The tiles in a plane that do not overlap, where motion is that of all around: what is hidden or comes is none of
/// noise. All of them, if these are few.
fn steady_tiles(plane: &Plane<'_>, field: &Field) -> Vec<(usize, usize)> {
    let (columns, rows) = (plane.own.width() / SIZE, plane.own.height() / SIZE);
    let all = || (0..rows).flat_map(|row| (0..columns).map(move |column| (2 * column + 1, 2 * row + 1)));
    let is_steady = |&(column, row): &(usize, usize)| {
        let (x, y) = plane.middle(column, row);
        field.is_steady(x, y)
    };
    let steady: Vec<_> = all().filter(is_steady).collect();
    if 8 * steady.len() < columns * rows { all().collect() } else { steady }
}

/// Counts differences to the first of the other frames, in tiles that do not overlap.
#[inline(always)]
pub fn count(plane: &Plane<'_>) -> Differences {
    let mut differences = Differences::default();
    let Some(&other) = plane.others.first() else { return differences };
    let (mut own, mut moved) = ([0; SAMPLES * TILES], [0; SAMPLES * TILES]);
    let mut brightness = [0; TILES];
    for tiles in steady_tiles(plane, other.1).chunks(TILES) {
        for (at, &(column, row)) in tiles.iter().enumerate() {
            plane.load_own(column, row, at, &mut own);
            plane.load_other(other, column, row, at, &mut moved);
            let (x, y) = plane.middle(column, row);
            brightness[at] = noise::brightness(plane.quarter, x, y);
        }
        dct::forward(&mut own);
        dct::forward(&mut moved);
        differences.add(&own, &moved, &brightness[..tiles.len()]);
    }
    differences
}

/// Denoises the plane; the codes are those of the input.
#[inline(always)]
pub fn merge(plane: &Plane<'_>, noise: &Noise) -> Sheet {
    let (width, height) = (plane.own.width(), plane.own.height());
    // Half of what four tiles lose where each is rounded down.
    let mut out = Sheet::filled(width, height, 2);
    let mut room = Room::default();
    let (columns, rows) = (width.div_ceil(STEP) + 1, height.div_ceil(STEP) + 1);
    for row in 0..rows {
        for first in (0..columns).step_by(TILES) {
            let count = TILES.min(columns - first);
            room.load(plane, row, first, count);
            noise.factors(&room.brightness, &mut room.factors);
            room.merge(plane.others.len());
            room.shrink(if plane.is_chroma { 24 } else { 20 });
            dct::backward(&mut room.own);
            lay(&mut room.own, (first, row), count, &mut out);
        }
    }
    out
}

/// Scratch memory for a batch of tiles.
struct Room {
    own: Batch,
    others: [Batch; MOST_OTHERS],
    brightness: [u16; TILES],
    factors: Factors,
    squares: Factors,
    smooth: Factors,
    /// The weight of each coefficient of each of the others, in 256ths of that of the frame itself.
    weights: [Factors; MOST_OTHERS],
    /// The remaining share of the variance of noise, in 16384ths.
    left: Factors,
}

impl Default for Room {
    fn default() -> Self {
        let (signed, unsigned) = ([0; SAMPLES * TILES], [0; SAMPLES * TILES]);
        Room {
            own: signed,
            others: [signed; MOST_OTHERS],
            brightness: [0; TILES],
            factors: unsigned,
            squares: unsigned,
            smooth: unsigned,
            weights: [unsigned; MOST_OTHERS],
            left: unsigned,
        }
    }
}

/// The square of a coefficient over the variance of the noise of a difference of two frames.
#[inline(always)]
fn square(coefficient: i16, factor: u16) -> u16 {
    let size = coefficient.unsigned_abs().min(16_383) << 2;
    let size = ((u32::from(size) * u32::from(factor)) >> 16) as u16;
    let size = size.min(255);
    size * size
}

/// Halfway, rounded up.
#[inline(always)]
fn halfway(a: u16, b: u16) -> u16 {
    ((u32::from(a) + u32::from(b) + 1) >> 1) as u16
}

/// Each coefficient's mean with its neighbours, weighted 1 2 1 in both directions.
#[inline(always)]
fn smooth(from: &Factors, to: &mut Factors) {
    const ROW: usize = SIZE * TILES;
    let mut across = [0; SAMPLES * TILES];
    for row in 0..SIZE {
        let (from, to) = (&from[row * ROW..][..ROW], &mut across[row * ROW..][..ROW]);
        for x in 0..SIZE {
            let (left, right) = (x.saturating_sub(1) * TILES, (x + 1).min(SIZE - 1) * TILES);
            for at in 0..TILES {
                to[x * TILES + at] = halfway(halfway(from[left + at], from[right + at]), from[x * TILES + at]);
            }
        }
    }
    for row in 0..SIZE {
        let of = |row: usize| &across[row * ROW..][..ROW];
        let (above, own, below) = (of(row.saturating_sub(1)), of(row), of((row + 1).min(SIZE - 1)));
        let to = &mut to[row * ROW..][..ROW];
        for at in 0..ROW {
            to[at] = halfway(halfway(above[at], below[at]), own[at]);
        }
    }
}

impl Room {
    #[inline(always)]
    fn load(&mut self, plane: &Plane<'_>, row: usize, first: usize, count: usize) {
        for at in 0..count {
            plane.load_own(first + at, row, at, &mut self.own);
            let (x, y) = plane.middle(first + at, row);
            self.brightness[at] = noise::brightness(plane.quarter, x, y);
        }
        dct::forward(&mut self.own);
        for (&other, batch) in plane.others.iter().zip(&mut self.others) {
            for at in 0..count {
                plane.load_other(other, first + at, row, at, batch);
            }
            dct::forward(batch);
        }
    }

    /// The weights of one of the others.
    #[inline(always)]
    fn weigh(&mut self, other: usize) {
        let batch = &self.others[other];
        let both = self.own.iter().zip(batch).zip(&self.factors);
        for (square_of, ((own, other), factor)) in self.squares.iter_mut().zip(both) {
            *square_of = square(own.saturating_sub(*other), *factor);
        }
        let (mut all, mut low) = ([0u32; TILES], [0u32; TILES]);
        for (coefficient, squares) in self.squares.as_chunks::<TILES>().0.iter().enumerate() {
            for at in 0..TILES {
                all[at] += u32::from(squares[at]);
            }
            if coefficient % SIZE < 3 && coefficient < 3 * SIZE {
                for at in 0..TILES {
                    low[at] += u32::from(squares[at]);
                }
            }
        }
        let (mut half_mean, mut guard) = ([0u16; TILES], [0u16; TILES]);
        for at in 0..TILES {
            half_mean[at] = (all[at] >> 7) as u16;
            // A ninth of it, and 0.7 of that.
            guard[at] = (((low[at] >> 2) * 5097) >> 14) as u16;
        }
        smooth(&self.squares, &mut self.smooth);
        let (smooth, weights) = (self.smooth.as_chunks::<TILES>().0, self.weights[other].as_chunks_mut::<TILES>().0);
        for (smooth, weights) in smooth.iter().zip(weights) {
            for at in 0..TILES {
                let apart = ((smooth[at] >> 1) + half_mean[at]).max(guard[at]).min(NOT_ONE);
                weights[at] = high(NOT_ONE - apart, ((256 * 65_536) / (NOT_ONE - FULLY) as u32) as u16).min(255);
            }
        }
    }

    /// `own` becomes the weighted mean.
    #[inline(always)]
    fn merge(&mut self, others: usize) {
        for other in 0..others {
            self.weigh(other);
        }
        const CHUNK: usize = 4 * TILES;
        for from in (0..SAMPLES * TILES).step_by(CHUNK) {
            let mut shares = [0u16; CHUNK];
            let own = &mut self.own[from..][..CHUNK];
            let left = &mut self.left[from..][..CHUNK];
            left.fill(256);
            for weights in &self.weights[..others] {
                let weights = &weights[from..][..CHUNK];
                for at in 0..CHUNK {
                    left[at] += weights[at];
                }
            }
            for at in 0..CHUNK {
                shares[at] = reciprocal(left[at]);
                left[at] = high(shares[at], shares[at]);
            }
            let mut moves = [0i16; CHUNK];
            for (weights, batch) in self.weights[..others].iter().zip(&self.others) {
                let (weights, batch) = (&weights[from..][..CHUNK], &batch[from..][..CHUNK]);
                for at in 0..CHUNK {
                    let share = high(weights[at] << 8, shares[at]);
                    moves[at] = moves[at].wrapping_add(part(batch[at].saturating_sub(own[at]), (share << 1) as i16));
                    left[at] += high(share, share);
                }
            }
            for at in 0..CHUNK {
                own[at] = own[at].saturating_add(moves[at]).saturating_add((others / 2) as i16);
            }
        }
    }

    /// Shrinks `own` by `by` 8ths of the noise that is left.
    #[inline(always)]
    fn shrink(&mut self, by: u32) {
        for at in 0..SAMPLES * TILES {
            self.squares[at] = square(self.own[at], self.factors[at]);
        }
        // The mean level is no noise, nor are the slowest changes beside it.
        self.squares[..TILES].fill(255 * 255);
        smooth(&self.squares, &mut self.smooth);
        for at in TILES..SAMPLES * TILES {
            let left = self.left[at] + self.left[at] / 5 + 491;
            let lost = quotient(u32::from(left) * by, self.smooth[at]).min(257).saturating_sub(2);
            self.own[at] = self.own[at].wrapping_sub(part(self.own[at], (lost << 7) as i16) << 1);
        }
    }
}

/// `a * b / 65536`.
#[inline(always)]
fn high(a: u16, b: u16) -> u16 {
    ((u32::from(a) * u32::from(b)) >> 16) as u16
}

/// `256 / sum` in 32768ths, for a sum of 256 to 2296.
#[inline(always)]
fn reciprocal(sum: u16) -> u16 {
    // Quotients of numbers this small come out exactly: a fraction below a whole number stays below it.
    (8_388_608.0 / i32::from(sum) as f32) as i32 as u16
}

/// `a / b` rounded down, at most 511; `a` is less than 2^24.
#[inline(always)]
fn quotient(a: u32, b: u16) -> u16 {
    // As in `reciprocal`.
    (a as i32 as f32 / i32::from(b.max(1)) as f32).min(511.0) as i32 as u16
}

/// Adds tiles to the output, weighted by their windows.
#[inline(always)]
fn lay(batch: &mut Batch, (first, row): (usize, usize), count: usize, out: &mut Sheet) {
    for (y, rows) in batch.as_chunks_mut::<{ SIZE * TILES }>().0.iter_mut().enumerate() {
        let weights = COSINE.map(|weight| (2 * COSINE[y] * weight) as i16);
        for row in rows.as_chunks_mut::<SIZE>().0 {
            for x in 0..SIZE {
                row[x] = part(row[x] << 1, weights[x]);
            }
        }
    }
    let stride = out.stride();
    for tile in 0..count {
        let (x, y) = Plane::start(first + tile, row);
        let out = out.at_mut(x, y);
        for (y, rows) in batch.as_chunks::<{ SIZE * TILES }>().0.iter().enumerate() {
            let Some(row) = out[y * stride..].first_chunk_mut::<SIZE>() else { break };
            let added = &rows.as_chunks::<SIZE>().0[tile & (TILES - 1)];
            for x in 0..SIZE {
                row[x] = row[x].wrapping_add(added[x]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients_are_those_of_integers() {
        for sum in 256..=1276 {
            assert_eq!(u32::from(reciprocal(sum)), 8_388_608 / u32::from(sum), "{sum}");
        }
        for b in 1..=u16::MAX {
            // Those around each whole quotient are the ones that could be rounded over it.
            for quotient_at in [1, 2, 3, 100, 255, 256, 257, 300] {
                let a = quotient_at * u32::from(b);
                for a in [a - 1, a, a + 1].into_iter().filter(|a| *a < 1 << 24) {
                    assert_eq!(u32::from(quotient(a, b)), (a / u32::from(b)).min(511), "{a} / {b}");
                }
            }
        }
    }

    #[test]
    fn windows_add_up_to_one() {
        for x in 0..STEP {
            assert_eq!(COSINE[x] + COSINE[x + STEP], 128);
        }
    }
}

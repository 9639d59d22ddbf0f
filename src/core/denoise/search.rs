//! Motion between two frames: a vector for each block of 8x8 samples of luma.
//!
//! It is searched from the coarsest pictures to the finest. A vector costs the sum of differences in a window of 16x16
//! around the block, each no more than a bound, every other row; and what it differs from the median of the vectors
//! around it by.

use super::sheet::Sheet;

/// Samples across and down a block.
pub const BLOCK: usize = 8;

/// How far the search goes at the coarsest pictures, in samples.
pub const REACH: i16 = 3;

/// How far the search goes where the motion over half the time is known, in samples.
pub const REACH_OF_HALF: i16 = 2;

/// Rows and columns of a window, which has half as many around the block on each side.
const WINDOW: usize = 16;

/// From a sample to where it is in the other frame, in quarters of a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Vector {
    /// To the right.
    pub x: i16,
    /// Down.
    pub y: i16,
}

impl Vector {
    #[inline(always)]
    fn plus(self, x: i16, y: i16) -> Self {
        Vector { x: self.x + x, y: self.y + y }
    }

    #[inline(always)]
    fn times(self, by: i16) -> Self {
        Vector { x: self.x * by, y: self.y * by }
    }
}

/// The vectors of all blocks, row by row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Field {
    columns: usize,
    rows: usize,
    vectors: Vec<Vector>,
}

impl Field {
    fn new((width, height): (usize, usize)) -> Self {
        let (columns, rows) = (width.div_ceil(BLOCK), height.div_ceil(BLOCK));
        Field { columns, rows, vectors: vec![Vector::default(); columns * rows] }
    }

    /// The vector of a block; beyond an edge, that of the block at the edge.
    #[inline(always)]
    pub fn at(&self, column: isize, row: isize) -> Vector {
        let column = column.clamp(0, self.columns as isize - 1) as usize;
        let row = row.clamp(0, self.rows as isize - 1) as usize;
        self.vectors[row * self.columns + column]
    }

    /// The mean vector of the blocks that touch a point of luma.
    #[inline(always)]
    pub fn around(&self, x: usize, y: usize) -> Vector {
        let (left, right) = ((x as isize - 4) >> 3, (x as isize + 3) >> 3);
        let (above, below) = ((y as isize - 4) >> 3, (y as isize + 3) >> 3);
        let (a, b) = (self.at(left, above), self.at(right, above));
        let (c, d) = (self.at(left, below), self.at(right, below));
        Vector { x: (a.x + b.x + c.x + d.x + 2) >> 2, y: (a.y + b.y + c.y + d.y + 2) >> 2 }
    }

    /// Whether the vectors around the block at a point of luma are alike.
    pub fn is_steady(&self, x: usize, y: usize) -> bool {
        let (column, row) = ((x / BLOCK) as isize, (y / BLOCK) as isize);
        let own = self.at(column, row);
        (0..9).all(|at| {
            let near = self.at(column + at % 3 - 1, row + at / 3 - 1);
            near.x.abs_diff(own.x) + near.y.abs_diff(own.y) <= 2
        })
    }

    /// The medians of the vectors around a block, of each direction by itself.
    #[inline(always)]
    fn median(&self, column: usize, row: usize) -> Vector {
        let (mut across, mut down) = ([0; 9], [0; 9]);
        for at in 0..9 {
            let near = self.at((column + at % 3) as isize - 1, (row + at / 3) as isize - 1);
            (across[at], down[at]) = (near.x, near.y);
        }
        Vector { x: median(across), y: median(down) }
    }

    /// Doubles the motion, for twice the time, and scales it to pictures that are `1 << level` times as coarse.
    fn doubled(&self, level: usize, size: (usize, usize)) -> Field {
        let mut coarse = Field::new(size);
        for row in 0..coarse.rows {
            for column in 0..coarse.columns {
                let at = |of: usize| (of << level) + (1 << level) / 2;
                let near = self.median(at(column).min(self.columns - 1), at(row).min(self.rows - 1)).times(2);
                let whole = |of: i16| (((of >> level) + 2) >> 2) << 2;
                coarse.vectors[row * coarse.columns + column] = Vector { x: whole(near.x), y: whole(near.y) };
            }
        }
        coarse
    }
}

/// The motion from `one` to `other`, pictures from the finest to the coarsest. `calm` is what they differ by where
/// nothing moves, in 64ths of a level of 8 bits; `half` the motion in half the time, if it is known.
#[inline(always)]
pub fn search(one: &[Sheet], other: &[Sheet], calm: u32, half: Option<&Field>) -> Field {
    let coarsest = if half.is_some() { 1 } else { one.len().min(other.len()) - 1 };
    let mut field = Field::default();
    for level in (0..=coarsest).rev() {
        let (a, b) = (&one[level], &other[level]);
        let size = (a.width(), a.height());
        let parent = if level < coarsest {
            finer(&field, size)
        } else {
            half.map_or_else(|| Field::new(size), |half| half.doubled(level, size))
        };
        let calm = calm_at(calm, level);
        let block = Block {
            a,
            b,
            bound: ((6 * calm + 512) / 16).min(1023) as i16,
            calm,
            reach: if half.is_some() { REACH_OF_HALF } else { REACH },
            enough: calm * 9,
            parent: &parent,
        };
        field = Field::new(size);
        for row in 0..field.rows {
            for column in 0..field.columns {
                field.vectors[row * field.columns + column] = block.find(column, row, level == coarsest, level == 0);
            }
        }
    }
    field
}

/// The difference of pictures halved `level` times where nothing moves, if whole ones differ by `calm`.
pub fn calm_at(calm: u32, level: usize) -> u32 {
    ((calm * 7 / 10) >> level).max(22)
}

/// The field of the next finer pictures.
fn finer(coarse: &Field, size: (usize, usize)) -> Field {
    let mut fine = Field::new(size);
    for row in 0..fine.rows {
        for column in 0..fine.columns {
            fine.vectors[row * fine.columns + column] = coarse.at(column as isize / 2, row as isize / 2).times(2);
        }
    }
    fine
}

/// The block matching of one pair of pictures.
struct Block<'a> {
    a: &'a Sheet,
    b: &'a Sheet,
    /// The most that a difference counts.
    bound: i16,
    calm: u32,
    /// How far the search goes at the coarsest picture, in samples.
    reach: i16,
    /// The cost where nothing but noise differs.
    enough: u32,
    parent: &'a Field,
}

/// The four neighbours of a sample.
const AROUND: [(i16, i16); 4] = [(1, 0), (-1, 0), (0, 1), (0, -1)];

/// A vector and what it costs.
struct Best {
    vector: Vector,
    cost: u32,
}

impl Block<'_> {
    #[inline(always)]
    fn find(&self, column: usize, row: usize, is_coarsest: bool, is_finest: bool) -> Vector {
        let (x, y) = (column as isize, row as isize);
        let own = self.parent.at(x, y);
        let median = self.parent.median(column, row);
        let mut best = Best { vector: own, cost: u32::MAX };
        let of = |right: isize, down: isize| self.parent.at(x + right, y + down);
        let known = [own, of(-1, 0), of(1, 0), of(0, -1), of(0, 1), median, Vector::default()];
        let reach = if is_coarsest { self.reach } else { 1 };
        let side = 2 * reach + 1;
        // Vectors that are known, those around, and parts of a sample. All are tried at one place of the program: what
        // is tried there is large.
        for turn in 0..if is_finest { 4 } else { 2 } {
            // As far apart as noise alone would be.
            if turn == 1 && best.cost < self.enough {
                break;
            }
            let from = best.vector;
            for index in 0..[known.len(), (side * side) as usize, AROUND.len(), AROUND.len()][turn] {
                let candidate = match turn {
                    0 if known[..index].contains(&known[index]) => continue,
                    0 => known[index],
                    1 => {
                        let (right, down) = (index as i16 % side - reach, index as i16 / side - reach);
                        if (right, down) == (0, 0) || !(is_coarsest || right == 0 || down == 0) {
                            continue;
                        }
                        from.plus(4 * right, 4 * down)
                    }
                    _ => {
                        let step = 4 - turn as i16;
                        from.plus(step * AROUND[index].0, step * AROUND[index].1)
                    }
                };
                self.try_vector(column, row, median, candidate, &mut best);
            }
        }
        best.vector
    }

    #[inline(always)]
    fn try_vector(&self, column: usize, row: usize, median: Vector, vector: Vector, best: &mut Best) {
        let away = u32::from(vector.x.abs_diff(median.x)) + u32::from(vector.y.abs_diff(median.y));
        let penalty = (self.calm * away.min(24) * 15) >> 5;
        if penalty >= best.cost {
            return;
        }
        let cost = penalty + self.differences(column, row, vector, best.cost - penalty);
        if cost < best.cost {
            *best = Best { vector, cost };
        }
    }

    /// The sum of differences of a window, or any number from `enough` on.
    #[inline(always)]
    fn differences(&self, column: usize, row: usize, vector: Vector, enough: u32) -> u32 {
        let start = |block: usize, of: usize| Sheet::within((block * BLOCK) as isize - 4, WINDOW, of);
        let (x, y) = (start(column, self.a.width()), start(row, self.a.height()));
        let to = |from: isize, by: i16, of: usize| Sheet::within(from + (by >> 2) as isize, WINDOW, of);
        let (right, down) = (to(x, vector.x, self.b.width()), to(y, vector.y, self.b.height()));
        let (a, b) = (self.a.at(x, y), self.b.at(right, down));
        let (of_a, of_b) = (2 * self.a.stride(), self.b.stride());
        let (fx, fy) = (vector.x & 3, vector.y & 3);
        let mut sum = 0;
        for half in 0..2 {
            let mut sums = [0u16; WINDOW];
            for line in 4 * half..4 * half + 4 {
                let a = window(&a[line * of_a..]);
                let b = &b[2 * line * of_b..];
                let b = match (fx, fy) {
                    (0, 0) => *window(b),
                    (_, 0) => between(window(b), window(&b[1..]), fx),
                    (0, _) => between(window(b), window(&b[of_b..]), fy),
                    _ => {
                        let above = between(window(b), window(&b[1..]), fx);
                        let below = between(window(&b[of_b..]), window(&b[of_b + 1..]), fx);
                        between(&above, &below, fy)
                    }
                };
                for at in 0..WINDOW {
                    let difference = (a[at] - b[at]).abs().min(self.bound);
                    sums[at] += difference as u16;
                }
            }
            for at in sums {
                sum += u32::from(at);
            }
            if sum >= enough {
                break;
            }
        }
        sum
    }
}

/// The middle one of nine numbers.
#[inline(always)]
fn median(mut of: [i16; 9]) -> i16 {
    const SWAPS: [(usize, usize); 19] = [
        (1, 2),
        (4, 5),
        (7, 8),
        (0, 1),
        (3, 4),
        (6, 7),
        (1, 2),
        (4, 5),
        (7, 8),
        (0, 3),
        (5, 8),
        (4, 7),
        (3, 6),
        (1, 4),
        (2, 5),
        (4, 7),
        (4, 2),
        (6, 4),
        (4, 2),
    ];
    for (low, high) in SWAPS {
        (of[low], of[high]) = (of[low].min(of[high]), of[low].max(of[high]));
    }
    of[4]
}

#[inline(always)]
fn window(samples: &[i16]) -> &[i16; WINDOW] {
    samples.first_chunk().unwrap_or(&[0; WINDOW])
}

/// Between two rows, in quarters.
#[inline(always)]
fn between(one: &[i16; WINDOW], other: &[i16; WINDOW], quarters: i16) -> [i16; WINDOW] {
    let mut out = [0; WINDOW];
    for at in 0..WINDOW {
        out[at] = (one[at] * (4 - quarters) + other[at] * quarters + 2) >> 2;
    }
    out
}

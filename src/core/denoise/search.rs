//! Motion between two frames: a vector for each block of 8x8 samples of luma.
//!
//! The search goes from the coarsest pictures to the finest. The cost of a vector is the sum of absolute differences,
//! each at most a bound, over every other row of a 16x16 window around the block, plus a penalty for the distance from
//! the median of the vectors around it.

use super::sheet::Sheet;

/// Samples across and down a block.
pub const BLOCK: usize = 8;

/// The radius of the exhaustive search in the coarsest pictures, in samples.
pub const REACH: i16 = 3;

/// The most moves of the search to a better one of the four neighbouring vectors.
pub const MAX_MOVES: usize = 3;

/// Rows and columns of a window: those of the block, and 4 more on each side.
const WINDOW: usize = 16;

/// Components of vectors whose medians are found at once.
const LANES: usize = 16;

/// The displacement of a sample from one frame to another, in quarters of a sample.
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
pub struct MotionField {
    columns: usize,
    rows: usize,
    vectors: Vec<Vector>,
}

impl MotionField {
    fn new((width, height): (usize, usize)) -> Self {
        let (columns, rows) = (width.div_ceil(BLOCK), height.div_ceil(BLOCK));
        MotionField { columns, rows, vectors: vec![Vector::default(); columns * rows] }
    }

    /// The vector of a block; beyond an edge, that of the block at the edge.
    #[inline(always)]
    pub fn at(&self, column: isize, row: isize) -> Vector {
        let column = column.clamp(0, self.columns as isize - 1) as usize;
        let row = row.clamp(0, self.rows as isize - 1) as usize;
        self.vectors[row * self.columns + column]
    }

    /// Whether the vectors around the block at a luma sample differ from its vector by at most half a sample.
    pub fn is_steady(&self, x: usize, y: usize) -> bool {
        let (column, row) = ((x / BLOCK) as isize, (y / BLOCK) as isize);
        let vector = self.at(column, row);
        (0..9).all(|index| {
            let near = self.at(column + index % 3 - 1, row + index / 3 - 1);
            near.x.abs_diff(vector.x) + near.y.abs_diff(vector.y) <= 2
        })
    }

    /// The medians of the vectors of each block and its 8 neighbours, by component, row by row.
    #[inline(always)]
    fn medians(&self) -> Vec<Vector> {
        // Components side by side, with the vectors at the edges repeated, so that one median serves many blocks.
        let pitch = 2 * (self.columns + 2) + LANES;
        let mut padded = vec![0; pitch * (self.rows + 2)];
        for (row, line) in padded.chunks_exact_mut(pitch).enumerate() {
            for (column, pair) in line.as_chunks_mut::<2>().0.iter_mut().take(self.columns + 2).enumerate() {
                let Vector { x, y } = self.at(column as isize - 1, row as isize - 1);
                *pair = [x, y];
            }
        }
        let mut medians = vec![Vector::default(); self.vectors.len()];
        for (row, line) in medians.chunks_exact_mut(self.columns).enumerate() {
            for (index, vectors) in line.chunks_mut(LANES / 2).enumerate() {
                let near = |number: usize| &padded[pitch * (row + number / 3) + LANES * index + 2 * (number % 3)..];
                let near = std::array::from_fn(|number| *near(number).first_chunk().unwrap_or(&[0; LANES]));
                for (vector, [x, y]) in vectors.iter_mut().zip(median(near).as_chunks::<2>().0) {
                    *vector = Vector { x: *x, y: *y };
                }
            }
        }
        medians
    }
}

/// The direction of a step between a frame and the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// To the frame before.
    Back,
    /// From the frame before.
    Forth,
}

impl MotionField {
    /// The vector of the block to which `vector` leads from the middle of block (`column`, `row`).
    #[inline(always)]
    fn beyond(&self, column: usize, row: usize, vector: Vector) -> Vector {
        let value_at = |block: usize, by: i16| ((8 * block + 4) as isize + (by >> 2) as isize) >> 3;
        self.at(value_at(column, vector.x), value_at(row, vector.y))
    }

    /// The motion to a distant frame: the sum of the motion to the frame `between`, if there is one, and the step from
    /// there.
    pub fn farther(between: Option<&MotionField>, step: &MotionField, way: Way) -> MotionField {
        let mut out =
            MotionField { columns: step.columns, rows: step.rows, vectors: Vec::with_capacity(step.vectors.len()) };
        for (row, column) in (0..step.rows).flat_map(|row| (0..step.columns).map(move |column| (row, column))) {
            let near = between.map_or(Vector::default(), |field| field.vectors[row * step.columns + column]);
            let by = step.beyond(column, row, near);
            let by = match way {
                Way::Back => by,
                // Approximately the inverse of the step that ends here.
                Way::Forth => step.beyond(column, row, near.plus(-by.x, -by.y)).times(-1),
            };
            // Rounds to whole samples.
            let whole = |number: i16| (number + 2) >> 2 << 2;
            out.vectors.push(Vector { x: whole(near.x + by.x), y: whole(near.y + by.y) });
        }
        out
    }
}

/// A window: the samples from its first one on, and the stride.
pub type Window<'a> = (&'a [i16], usize);

/// Compares a window of the first plane with four windows of the second plane.
pub type CompareFour = fn(Window<'_>, Window<'_>, bound: i16) -> [u32; 4];

/// How windows are compared.
pub trait Compare {
    /// The sum of the absolute differences, each at most `bound`, in every other row of two windows. If the sum reaches
    /// `enough`, the result is any number from `enough` on.
    fn differences(&self, a: Window<'_>, b: Window<'_>, bound: i16, enough: u32) -> u32;

    /// The exact sums for the windows of `b` one sample to the right, to the left, below and above. Unlike `a`, `b` has
    /// every row, and it begins one row and one column before the middle window. `None` where windows are compared one
    /// by one.
    const AROUND: Option<CompareFour>;
}

/// Compares windows and averages coefficients in plain Rust.
pub struct Plain;

impl Compare for Plain {
    #[inline(always)]
    fn differences(&self, (a, of_a): Window<'_>, (b, of_b): Window<'_>, bound: i16, enough: u32) -> u32 {
        let mut sum = 0;
        for half in 0..2 {
            let mut sums = [0u16; WINDOW];
            for line in 4 * half..4 * half + 4 {
                let (a, b) = (&a[line * of_a..][..WINDOW], &b[line * of_b..][..WINDOW]);
                for index in 0..WINDOW {
                    let difference = (a[index] - b[index]).abs().min(bound);
                    sums[index] += difference as u16;
                }
            }
            for index in sums {
                sum += u32::from(index);
            }
            if sum >= enough {
                break;
            }
        }
        sum
    }

    const AROUND: Option<CompareFour> = None;
}

/// The motion from `one` to `other`, pyramids of pictures from the finest to the coarsest. `calm` is their difference
/// where nothing moves, in 64ths of an 8-bit level. With `guess`, the approximate motion, only the finest pictures are
/// searched.
#[inline(always)]
pub fn search(one: &[Sheet], other: &[Sheet], calm: u32, guess: Option<&MotionField>) -> MotionField {
    search_by(&Plain, one, other, calm, guess)
}

/// [`search`], with windows compared by `compare`.
#[inline(always)]
pub fn search_by(
    compare: &impl Compare,
    one: &[Sheet],
    other: &[Sheet],
    calm: u32,
    guess: Option<&MotionField>,
) -> MotionField {
    let coarsest = if guess.is_some() { 0 } else { one.len().min(other.len()) - 1 };
    let mut field = MotionField::default();
    for level in (0..=coarsest).rev() {
        let (a, b) = (&one[level], &other[level]);
        let size = (a.width(), a.height());
        let coarser = if level < coarsest { finer(&field, size) } else { MotionField::new(size) };
        let (calm, parent) = (calm_at(calm, level), guess.unwrap_or(&coarser));
        let block = Block {
            compare,
            a,
            b,
            bound: ((6 * calm + 512) / 16).min(1023) as i16,
            calm,
            enough: calm * 9,
            parent,
            medians: parent.medians(),
            is_guess: guess.is_some(),
        };
        field = MotionField::new(size);
        let reach = if level == coarsest && guess.is_none() { REACH } else { 0 };
        for row in 0..field.rows {
            for column in 0..field.columns {
                field.vectors[row * field.columns + column] = block.find(column, row, reach, level == 0);
            }
        }
    }
    field
}

/// The difference where nothing moves between pictures halved `level` times, if it is `calm` at full size.
pub fn calm_at(calm: u32, level: usize) -> u32 {
    ((calm * 7 / 10) >> level).max(22)
}

/// The field, scaled up for the next finer pictures.
fn finer(coarse: &MotionField, size: (usize, usize)) -> MotionField {
    let mut fine = MotionField::new(size);
    for row in 0..fine.rows {
        for column in 0..fine.columns {
            fine.vectors[row * fine.columns + column] = coarse.at(column as isize / 2, row as isize / 2).times(2);
        }
    }
    fine
}

/// The block matching of one pair of pictures.
struct Block<'a, C> {
    compare: &'a C,
    a: &'a Sheet,
    b: &'a Sheet,
    /// The upper bound of each absolute difference.
    bound: i16,
    calm: u32,
    /// The cost where nothing but noise differs.
    enough: u32,
    parent: &'a MotionField,
    /// The medians of `parent`.
    medians: Vec<Vector>,
    /// Whether `parent` is a guess of the caller, not the result of coarser pictures.
    is_guess: bool,
}

/// The offsets of the four neighbours of a sample.
const AROUND: [(i16, i16); 4] = [(1, 0), (-1, 0), (0, 1), (0, -1)];

struct Best {
    vector: Vector,
    cost: u32,
}

impl<C: Compare> Block<'_, C> {
    #[inline(always)]
    fn find(&self, column: usize, row: usize, reach: i16, is_finest: bool) -> Vector {
        let (x, y) = (column as isize, row as isize);
        let parent = self.parent.at(x, y);
        let median = self.medians[row * self.parent.columns + column];
        // The first column or row of a block's window.
        let start = |block: usize, length: usize| Sheet::within((block * BLOCK) as isize - 4, WINDOW, length);
        let place = (start(column, self.a.width()), start(row, self.a.height()));
        let mut best = Best { vector: parent, cost: u32::MAX };
        let near = |right: isize, down: isize| self.parent.at(x + right, y + down);
        let known = [parent, median, Vector::default(), near(-1, 0), near(1, 0), near(0, -1), near(0, 1)];
        let known = &known[..if self.is_guess { 3 } else { known.len() }];
        let side = 2 * reach + 1;
        // The costs of the four neighbours of the best vector, in the order of `AROUND`.
        let mut around = [u32::MAX; 4];
        let mut start = best.vector;
        // Turn 0 tries the known vectors, turn 1 all vectors within reach, later turns the neighbours of the best
        // vector. One loop serves all turns because the code of `cost`, which is inlined, is large.
        for turn in 0..2 + MAX_MOVES {
            // Ends the search where noise alone explains the cost, or no neighbour was better.
            if turn == 1 && !is_finest && best.cost < self.enough || turn > 2 && best.vector == start {
                break;
            }
            start = best.vector;
            if turn > 1
                && let Some(differences) = self.around(place, start)
            {
                for index in 0..AROUND.len() {
                    let candidate = start.plus(4 * AROUND[index].0, 4 * AROUND[index].1);
                    around[index] = self.penalty(median, candidate) + differences[index];
                    if around[index] < best.cost {
                        best = Best { vector: candidate, cost: around[index] };
                    }
                }
                continue;
            }
            let count = [known.len(), (side * side) as usize, AROUND.len()][turn.min(2)];
            for index in 0..count {
                let candidate = match turn {
                    0 if known[..index].contains(&known[index]) => continue,
                    0 => known[index],
                    1 if reach == 0 => continue,
                    1 => start.plus(4 * (index as i16 % side - reach), 4 * (index as i16 / side - reach)),
                    _ => start.plus(4 * AROUND[index].0, 4 * AROUND[index].1),
                };
                let cost = self.cost(place, median, candidate, if turn > 1 { u32::MAX } else { best.cost });
                if turn > 1 {
                    around[index] = cost;
                }
                if cost < best.cost {
                    best = Best { vector: candidate, cost };
                }
            }
        }
        if !is_finest || best.vector != start {
            return best.vector;
        }
        let [right, left, below, above] = around;
        best.vector.plus(least(left, best.cost, right), least(above, best.cost, below))
    }

    /// The cost of the distance of a vector from the median.
    #[inline(always)]
    fn penalty(&self, median: Vector, vector: Vector) -> u32 {
        let away = u32::from(vector.x.abs_diff(median.x)) + u32::from(vector.y.abs_diff(median.y));
        (self.calm * away.min(24) * 20) >> 5
    }

    /// The cost of a vector for the window that begins at column `x` and row `y`. If the cost reaches `enough`, the
    /// result is any number from `enough` on.
    #[inline(always)]
    fn cost(&self, (x, y): (isize, isize), median: Vector, vector: Vector, enough: u32) -> u32 {
        let penalty = self.penalty(median, vector);
        if penalty >= enough {
            return enough;
        }
        let moved = |first: isize, by: i16, length: usize| Sheet::within(first + (by >> 2) as isize, WINDOW, length);
        let (right, down) = (moved(x, vector.x, self.b.width()), moved(y, vector.y, self.b.height()));
        let (a, b) = ((self.a.at(x, y), 2 * self.a.stride()), (self.b.at(right, down), 2 * self.b.stride()));
        penalty + self.compare.differences(a, b, self.bound, enough - penalty)
    }

    /// The sums of differences for the four neighbours of a vector; `None` at the edges, and where windows are compared
    /// one by one.
    #[inline(always)]
    fn around(&self, (x, y): (isize, isize), vector: Vector) -> Option<[u32; 4]> {
        let compare = C::AROUND?;
        let (left, above) = (x + (vector.x >> 2) as isize - 1, y + (vector.y >> 2) as isize - 1);
        let is_inside = |place: isize, length: usize| Sheet::within(place, WINDOW + 2, length) == place;
        if !is_inside(left, self.b.width()) || !is_inside(above, self.b.height()) {
            return None;
        }
        let (a, b) = ((self.a.at(x, y), 2 * self.a.stride()), (self.b.at(left, above), self.b.stride()));
        Some(compare(a, b, self.bound))
    }
}

/// The middle ones of nine numbers each.
#[inline(always)]
fn median(mut values: [[i16; LANES]; 9]) -> [i16; LANES] {
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
        let (a, b) = (values[low], values[high]);
        for index in 0..LANES {
            (values[low][index], values[high][index]) = (a[index].min(b[index]), a[index].max(b[index]));
        }
    }
    values[4]
}

/// The minimum of the parabola through the costs of three neighbouring samples, in quarters of a sample from the middle
/// one, whose cost is the lowest.
#[inline(always)]
fn least(before: u32, middle: u32, after: u32) -> i16 {
    let (bend, slope) = (before + after - 2 * middle, 4 * before.abs_diff(after));
    let quarters = i16::from(slope > bend) + i16::from(slope > 3 * bend);
    if before < after { -quarters } else { quarters }
}

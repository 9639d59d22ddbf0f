//! What is even, and ends at straight lines: bars, stripes and boxes.

use crate::spec::Lattice;
use crate::spec::natural::tuning::captions::{MAX_BOX, MISSING};
use crate::spec::natural::tuning::overlay::*;
use std::ops::Range;

/// A rectangle of points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rectangle {
    pub(super) columns: Range<usize>,
    pub(super) rows: Range<usize>,
}

impl Rectangle {
    pub(super) fn area(&self) -> usize {
        self.columns.len() * self.rows.len()
    }

    /// A rectangle with as many more columns and rows on each side as are left in the picture.
    pub(super) fn wider(&self, [across, down]: [usize; 2], picture: &Rectangle) -> Rectangle {
        let wider = |range: &Range<usize>, by: usize, all: &Range<usize>| {
            range.start.saturating_sub(by).max(all.start)..(range.end + by).min(all.end)
        };
        Rectangle {
            columns: wider(&self.columns, across, &picture.columns),
            rows: wider(&self.rows, down, &picture.rows),
        }
    }

    pub(super) fn points(&self, pitch: usize) -> impl Iterator<Item = usize> + use<> {
        let columns = self.columns.clone();
        self.rows.clone().flat_map(move |y| columns.clone().map(move |x| y * pitch + x))
    }
}

/// The colours of a lattice.
pub(super) struct LatticeColours<'a> {
    pub(super) lattice: &'a Lattice,
    /// The most by which each component of two points of one colour differs.
    pub(super) tolerance: i32,
}

impl LatticeColours<'_> {
    pub(super) fn rgb(&self, point: usize) -> [i32; 3] {
        self.lattice.rgb(point).map(i32::from)
    }

    /// The largest difference of a component.
    fn distance(&self, point: usize, colour: [i32; 3]) -> i32 {
        self.rgb(point).iter().zip(colour).fold(0, |most, (level, wanted)| most.max((level - wanted).abs()))
    }

    fn is(&self, point: usize, colour: [i32; 3]) -> bool {
        self.distance(point, colour) <= self.tolerance
    }

    /// The lattice without bars of one colour at its edges.
    pub(super) fn inside_of_bars(&self) -> Rectangle {
        let (columns, rows) = self.lattice.size;
        let mut inside = Rectangle { columns: 0..columns, rows: 0..rows };
        // With bars on all four sides, columns are of one colour only without the bars above and below.
        for _ in 0..2 {
            let [first, last] = self.bars(inside.rows.len(), |line| {
                let y = inside.rows.start + line;
                inside.columns.clone().map(|x| y * columns + x).collect()
            });
            inside.rows = inside.rows.start + first..inside.rows.end - last;
            let [first, last] = self.bars(inside.columns.len(), |line| {
                let x = inside.columns.start + line;
                inside.rows.clone().map(|y| y * columns + x).collect()
            });
            inside.columns = inside.columns.start + first..inside.columns.end - last;
        }
        inside
    }

    /// How many of these lines, from the first one on and from the last one back, are bars: about as many on either
    /// side.
    fn bars(&self, count: usize, line: impl Fn(usize) -> Vec<usize>) -> [usize; 2] {
        // `soft` lines at its end may have what an encoder adds beside an edge; the edge has to be the sharper.
        let side = |number: &dyn Fn(usize) -> usize, soft: usize| {
            let colour = self.rgb(line(number(0))[0]);
            let strays = |index: usize, tolerance: i32| {
                line(number(index)).iter().filter(|point| self.distance(**point, colour) > tolerance).count()
            };
            let is_bar = |index: &usize, tolerance: i32| STRAYS * strays(*index, tolerance) <= line(0).len();
            let even = (0..count).take_while(|index| is_bar(index, self.tolerance)).count();
            let nearly = (even..count).take(soft).take_while(|index| is_bar(index, 3 * self.tolerance)).count();
            let thickness = even + nearly;
            // Behind a bar the level jumps; in a gradient it does not.
            let jump = if soft == 0 { 3 } else { 6 } * self.tolerance;
            let ends_at_once = thickness < count && PART_AT_EDGE * strays(thickness, jump) >= line(0).len();
            (if thickness < count && even >= MIN_BAR { thickness } else { 0 }, ends_at_once)
        };
        if count == 0 || line(0).is_empty() {
            return [0; 2];
        }
        for soft in [0, SOFT_EDGE] {
            let [(first, first_ends), (last, last_ends)] =
                [side(&|index| index, soft), side(&|index| count - 1 - index, soft)];
            // What is bright and enters on one side is no bar.
            let are_bars = first.abs_diff(last) <= 1 && first.min(last) >= MIN_BAR && (first_ends || last_ends);
            let is_left = (first + last) * MIN_PICTURE <= count * (MIN_PICTURE - 1);
            if are_bars && is_left {
                return [first, last];
            }
        }
        [self.stripe(count, &line), self.stripe(count, |index| line(count - 1 - index))]
    }

    /// How many of these lines, from the edge on, are a stripe of one strong colour, with or without letters. White,
    /// black or gray on one side may be a part of the scene.
    fn stripe(&self, count: usize, line: impl Fn(usize) -> Vec<usize>) -> usize {
        let colour = self.rgb(line(0)[0]);
        let [least, most] = [colour.iter().min(), colour.iter().max()].map(|level| level.copied().unwrap_or(0));
        if most - least < STRONG * self.tolerance {
            return 0;
        }
        let strays = |index: usize, tolerance: i32| {
            line(index).iter().filter(|point| self.distance(**point, colour) > tolerance).count()
        };
        let (mut thickness, all) = (0, line(0).len());
        for index in 0..count / THIN_STRIPE {
            let strange = strays(index, self.tolerance);
            if STRAYS * strange <= all {
                thickness = index + 1;
            } else if thickness < MIN_BAR || 5 * strange > 3 * all {
                break;
            }
        }
        // The first line behind it may be a mixture.
        let ends_at_once = thickness + 1 < count && 8 * strays(thickness + 1, 3 * self.tolerance) >= 7 * all;
        if thickness >= MIN_BAR && ends_at_once { thickness } else { 0 }
    }

    /// The box of this colour around a line of letters, if there is one.
    pub(super) fn box_around(&self, line: &Rectangle, picture: &Rectangle, colour: [i32; 3]) -> Option<Rectangle> {
        let pitch = self.lattice.size.0;
        let is_of_box = |columns: &Range<usize>, rows: &Range<usize>| {
            let part = Rectangle { columns: columns.clone(), rows: rows.clone() };
            let strays = part.points(pitch).filter(|point| !self.is(*point, colour)).count();
            MISSING * strays <= part.area()
        };
        // The row beside the letters has the ends of some.
        let reach = |lines: &mut dyn Iterator<Item = usize>, is_of_box: &dyn Fn(usize) -> bool| {
            let mut reach = 0;
            for (index, line) in lines.enumerate() {
                match is_of_box(line) {
                    true => reach = index + 1,
                    false if index > 0 => break,
                    false => {}
                }
            }
            reach
        };
        let Rectangle { columns, rows } = line;
        let row = |y: usize| is_of_box(columns, &(y..y + 1));
        let up = reach(&mut (picture.rows.start..rows.start).rev(), &row);
        let down = reach(&mut (rows.end..picture.rows.end), &row);
        let rows = rows.start - up..rows.end + down;
        let column = |x: usize| is_of_box(&(x..x + 1), &rows);
        let left = reach(&mut (picture.columns.start..columns.start).rev(), &column);
        let right = reach(&mut (columns.end..picture.columns.end), &column);
        let drawn = Rectangle { columns: columns.start - left..columns.end + right, rows: rows.clone() };
        // A scene in the dark is of one colour, too, but has no such edges.
        let is_box = up + down > 0 && drawn.rows.len() <= MAX_BOX * line.rows.len();
        is_box.then_some(drawn)
    }

    /// The boxes of one colour with letters in them.
    pub(super) fn boxes(&self, picture: &Rectangle, white: i32) -> Vec<Rectangle> {
        let columns = self.lattice.size.0;
        let bin = |[r, g, b]: [i32; 3]| {
            let part = |level: i32| (15 * level.clamp(0, white) / white.max(1)) as usize;
            part(r) << 8 | part(g) << 4 | part(b)
        };
        let mut bins = vec![Bin::default(); 1 << 12];
        for y in picture.rows.clone().step_by(2) {
            let luma = &self.lattice.luma[y * columns..][..columns];
            for x in picture.columns.start..picture.columns.end.saturating_sub(1) {
                // Most points that are not even are told by their luma.
                if i32::from(luma[x].abs_diff(luma[x + 1])) > self.tolerance {
                    continue;
                }
                let rgb = self.rgb(y * columns + x);
                if self.is(y * columns + x + 1, rgb) {
                    bins[bin(rgb)].add(rgb, (x, y));
                }
            }
        }
        let least = (picture.area() / SMALL_BOX / 6).max(4) as u32;
        let mut found: Vec<Rectangle> = Vec::new();
        for bin in bins.iter().filter(|bin| bin.count >= least && bin.is_compact()) {
            if let Some(drawn) = self.drawn_box(picture, bin.mean(), white)
                && !found.contains(&drawn)
            {
                found.push(drawn);
            }
        }
        found
    }

    /// The box of this colour, if there is one.
    fn drawn_box(&self, picture: &Rectangle, colour: [i32; 3], white: i32) -> Option<Rectangle> {
        let pitch = self.lattice.size.0;
        let is = |x: usize, y: usize| self.is(y * pitch + x, colour);
        let in_row: Vec<usize> =
            picture.rows.clone().map(|y| picture.columns.clone().filter(|x| is(*x, y)).count()).collect();
        let all: usize = in_row.iter().sum();
        let rows = run_of_most(&in_row);
        let rows = picture.rows.start + rows.start..picture.rows.start + rows.end;
        let in_column: Vec<usize> =
            picture.columns.clone().map(|x| rows.clone().filter(|y| is(x, *y)).count()).collect();
        let most = in_column.iter().copied().max()?;
        let full = |count: &usize| 2 * count >= most;
        let (first, last) = (in_column.iter().position(full)?, in_column.iter().rposition(full)?);
        let drawn = Rectangle { columns: picture.columns.start + first..picture.columns.start + last + 1, rows };
        let area = drawn.area();
        let level_at = |point: usize| i64::from(self.lattice.luma[point]);
        let even: Vec<usize> = drawn.points(pitch).filter(|point| self.is(*point, colour)).collect();
        let inside = even.len();
        let level = even.iter().map(|point| level_at(*point)).sum::<i64>() / (inside.max(1) as i64);
        let contrasts = |point: &usize| (level_at(*point) - level).abs() * 255 >= LETTER_CONTRAST * i64::from(white);
        let letters = drawn.points(pitch).filter(contrasts).count();
        let edge = |x: usize, y: usize| {
            x == drawn.columns.start || x + 1 == drawn.columns.end || y == drawn.rows.start || y + 1 == drawn.rows.end
        };
        let at_edge: Vec<usize> = drawn.points(pitch).filter(|point| edge(point % pitch, point / pitch)).collect();
        let even_at_edge = at_edge.iter().filter(|point| self.is(**point, colour)).count();
        let is_box = drawn.rows.len() >= MIN_BAR
            && drawn.columns.len() >= MIN_BOX_COLUMNS
            && area * SMALL_BOX >= picture.area()
            && 5 * area <= 2 * picture.area()
            && 20 * inside >= 9 * area
            && 5 * (all - inside) <= inside
            && 10 * even_at_edge >= 9 * at_edge.len()
            && LETTER_PART * letters >= area;
        is_box.then_some(drawn)
    }
}

/// The even points of nearly one colour in every other row: sums of their colours, of their columns and rows, and of the
/// squares of these.
#[derive(Clone, Copy, Default)]
struct Bin {
    count: u32,
    rgb: [u32; 3],
    place: [u32; 2],
    squares: [u32; 2],
}

impl Bin {
    fn add(&mut self, rgb: [i32; 3], (x, y): (usize, usize)) {
        self.count += 1;
        self.rgb.iter_mut().zip(rgb).for_each(|(sum, level)| *sum += level as u32);
        for (axis, place) in [x as u32, y as u32].into_iter().enumerate() {
            self.place[axis] += place;
            self.squares[axis] += place * place;
        }
    }

    fn mean(&self) -> [i32; 3] {
        self.rgb.map(|sum| ((sum + self.count / 2) / self.count.max(1)) as i32)
    }

    /// Whether the points fill a quarter of every other row of a box as wide and high as their places spread. The
    /// variance of numbers that fill a length evenly is a twelfth of its square.
    fn is_compact(&self) -> bool {
        let count = u64::from(self.count);
        let variance = |axis: usize| {
            let sum = u64::from(self.place[axis]);
            (count * u64::from(self.squares[axis]) - sum * sum) / count
        };
        // Squares of areas, times the square of the count.
        let area = 144 * u128::from(variance(0)) * u128::from(variance(1));
        area <= 64 * u128::from(count).pow(4)
    }
}

/// The run of numbers around the largest one that are at least half of it; a line of letters may interrupt it.
fn run_of_most(counts: &[usize]) -> Range<usize> {
    let most = counts.iter().copied().max().unwrap_or(0);
    let peak = counts.iter().position(|count| *count == most).unwrap_or(0);
    let reach = |numbers: &mut dyn Iterator<Item = &usize>| {
        let (mut last, mut missing) = (0, 0);
        for (index, count) in numbers.enumerate() {
            (last, missing) = if 2 * count >= most { (index + 1, 0) } else { (last, missing + 1) };
            if missing > LETTER_ROWS {
                break;
            }
        }
        last
    };
    peak - reach(&mut counts[..peak].iter().rev())..peak + reach(&mut counts[peak..].iter())
}

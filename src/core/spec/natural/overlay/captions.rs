//! Lines of letters, with or without a box: captions, clocks, tickers. Their strokes are bright and thin, and lie in a
//! band of a few rows, with nothing as bright above and below it, nor much elsewhere. Lamps, windows and glints on
//! water have other levels, larger gaps, or spread over more rows.

use super::colours::{LatticeColours, Rectangle};
use crate::spec::Lattice;
use crate::spec::natural::tuning::captions::*;
use std::ops::Range;

/// The lines of letters in the picture outside of these boxes, each with the box around it or with what is beside it.
pub fn find(colours: &LatticeColours, picture: &Rectangle, boxes: &[Rectangle], white: i32) -> Vec<Rectangle> {
    let mut strokes = Strokes::new(colours.lattice, picture, white);
    let known = boxes.iter().flat_map(|known| known.points(colours.lattice.size.0));
    known.for_each(|point| strokes.is_stroke[point] = false);
    if strokes.count(picture) < MIN_STROKES {
        return Vec::new();
    }
    let lines: Vec<Rectangle> = strokes.bands().into_iter().filter(|band| strokes.is_line(band)).collect();
    let Some(top) = lines.iter().map(|line| strokes.top(line)).max() else { return Vec::new() };
    // Where much of the scene is as bright and as thin, a line of it may be a part of the scene, too.
    let in_lines: usize = lines.iter().map(|line| strokes.count_near(line, top)).sum();
    let share = if lines.iter().any(|line| strokes.is_clear(line)) { CLEAR_SHARE } else { SHARE };
    if share * in_lines < strokes.count_near(picture, top) {
        return Vec::new();
    }
    lines.into_iter().map(|line| strokes.with_box(&line, colours)).collect()
}

/// The points of a lattice that are bright and have a darker one near them in their row.
struct Strokes<'a> {
    lattice: &'a Lattice,
    picture: &'a Rectangle,
    white: i32,
    is_stroke: Vec<bool>,
}

impl<'a> Strokes<'a> {
    fn new(lattice: &'a Lattice, picture: &'a Rectangle, white: i32) -> Self {
        let columns = lattice.size.0;
        let mut is_stroke = vec![false; lattice.luma.len()];
        let (least, contrast) = (BRIGHT * white / 255, CONTRAST * white / 255);
        for y in picture.rows.clone() {
            let luma = &lattice.luma[y * columns..][..columns];
            for x in picture.columns.clone().filter(|x| i32::from(luma[*x]) >= least) {
                let near = x.saturating_sub(NEAR).max(picture.columns.start)..(x + NEAR + 1).min(picture.columns.end);
                let is_thin = luma[near].iter().any(|level| i32::from(luma[x]) - i32::from(*level) >= contrast);
                is_stroke[y * columns + x] = is_thin && lattice.counts(y * columns + x);
            }
        }
        Strokes { lattice, picture, white, is_stroke }
    }

    fn each(&self, part: &Rectangle) -> impl Iterator<Item = usize> + '_ {
        part.points(self.lattice.size.0).filter(|point| self.is_stroke[*point])
    }

    fn count(&self, part: &Rectangle) -> usize {
        self.each(part).count()
    }

    /// The level of the brightest stroke.
    fn top(&self, part: &Rectangle) -> i32 {
        self.each(part).map(|point| self.lattice.luma[point]).max().unwrap_or(0).into()
    }

    /// How many strokes are about as bright as `top`.
    fn count_near(&self, part: &Rectangle, top: i32) -> usize {
        self.each(part)
            .filter(|point| i32::from(self.lattice.luma[*point]) + AS_BRIGHT * self.white / 255 >= top)
            .count()
    }

    /// The stretches of a row in which strokes follow each other closely.
    fn stretches(&self, y: usize) -> Vec<Range<usize>> {
        let row = Rectangle { columns: self.picture.columns.clone(), rows: y..y + 1 };
        let mut stretches: Vec<(Range<usize>, usize)> = Vec::new();
        for x in self.each(&row).map(|point| point % self.lattice.size.0) {
            match stretches.last_mut() {
                Some((stretch, count)) if x - stretch.end <= GAP => (stretch.end, *count) = (x + 1, *count + 1),
                _ => stretches.push((x..x + 1, 1)),
            }
        }
        let is_dense =
            |(stretch, count): &(Range<usize>, usize)| *count >= MIN_IN_ROW && SPARSE * count >= stretch.len();
        stretches.into_iter().filter(is_dense).map(|(stretch, _)| stretch).collect()
    }

    /// Stretches above each other, with at most one row between them.
    fn bands(&self) -> Vec<Rectangle> {
        let mut bands: Vec<Rectangle> = Vec::new();
        for y in self.picture.rows.clone() {
            for stretch in self.stretches(y) {
                let continues = |band: &&mut Rectangle| {
                    let common =
                        band.columns.end.min(stretch.end).saturating_sub(band.columns.start.max(stretch.start));
                    band.rows.end + 1 >= y && 2 * common >= stretch.len().min(band.columns.len())
                };
                match bands.iter_mut().find(continues) {
                    Some(band) => {
                        band.columns = band.columns.start.min(stretch.start)..band.columns.end.max(stretch.end);
                        band.rows.end = y + 1;
                    }
                    None => bands.push(Rectangle { columns: stretch, rows: y..y + 1 }),
                }
            }
        }
        // What is wide may follow what is narrow and lies beside it.
        let is_part = |whole: &Rectangle, band: &Rectangle| {
            whole != band
                && whole.columns.start <= band.columns.start
                && whole.columns.end >= band.columns.end
                && whole.rows.start <= band.rows.start
                && whole.rows.end >= band.rows.end
        };
        bands.iter().filter(|band| !bands.iter().any(|whole| is_part(whole, band))).cloned().collect()
    }

    fn is_line(&self, band: &Rectangle) -> bool {
        let height = band.rows.len();
        let (area, count) = (band.area(), self.count(band));
        let is_line = (MIN_ROWS..=MAX_ROWS).contains(&height)
            && band.columns.len() >= MIN_COLUMNS.max(3 * height)
            && count >= MIN_STROKES
            && 100 * count >= MIN_COVERED * area
            && 100 * count <= MAX_COVERED * area;
        if !is_line {
            return false;
        }
        let middle = band.columns.start + band.columns.len() / 2;
        let left = self.count(&Rectangle { columns: band.columns.start..middle, rows: band.rows.clone() });
        let top = self.top(band);
        100 * self.pieces(band) >= if height <= LOW { PIECES_OF_LOW } else { PIECES } * area
            && ALONE * self.most_beside(band) * height <= count
            && 4 * left.min(count - left) >= count
            && 255 * top >= MIN_TOP * self.white
            && 5 * self.count_near(band, top) >= count
    }

    /// Whether a line of letters is surer than others.
    fn is_clear(&self, line: &Rectangle) -> bool {
        let height = line.rows.len();
        height <= LOW
            && line.columns.len() >= LONG
            && 100 * self.pieces(line) >= CLEAR_PIECES * line.area()
            && 2 * ALONE * self.most_beside(line) * height <= self.count(line)
    }

    /// How many strokes begin in the rows of a band.
    fn pieces(&self, band: &Rectangle) -> usize {
        let begins = |point: &usize| point.is_multiple_of(self.lattice.size.0) || !self.is_stroke[point - 1];
        self.each(band).filter(begins).count()
    }

    /// The number of strokes above or below a band. The rows next to it do not count: some letters end there.
    fn most_beside(&self, band: &Rectangle) -> usize {
        let row = |y: usize| self.count(&Rectangle { columns: band.columns.clone(), rows: y..y + 1 });
        let above = band.rows.start.checked_sub(2).filter(|y| *y >= self.picture.rows.start).map_or(0, row);
        let below = Some(band.rows.end + 1).filter(|y| *y < self.picture.rows.end).map_or(0, row);
        above.max(below)
    }

    /// A line with the box of one colour around it, or with its shadow.
    fn with_box(&self, line: &Rectangle, colours: &LatticeColours) -> Rectangle {
        let pitch = self.lattice.size.0;
        let mut rest: Vec<usize> = line.points(pitch).filter(|point| !self.is_stroke[*point]).collect();
        rest.sort_by_key(|point| self.lattice.luma[*point]);
        if let Some(point) = rest.get(rest.len() / 4)
            && let Some(drawn) = colours.box_around(line, self.picture, colours.rgb(*point))
        {
            return drawn;
        }
        let height = line.rows.len();
        line.wider([height, 1 + height / 3], self.picture)
    }
}

#[cfg(test)]
mod tests {
    use crate::spec::Lattice;
    use crate::spec::measure::{COLUMNS, ROWS};
    use crate::spec::natural::{Assumed, Correction, Points, overlay};

    fn lattice(over: impl Fn(usize, usize) -> Option<u16>) -> Lattice {
        let level = |point: usize| {
            let (x, y) = (point % COLUMNS, point / COLUMNS);
            over(x, y).unwrap_or(10 + ((x * x / 7 + y * 11) % 60) as u16)
        };
        Lattice { size: (COLUMNS, ROWS), luma: (0..COLUMNS * ROWS).map(level).collect(), ..Lattice::default() }
    }

    /// Whether a point lies on a letter of a line in these rows.
    fn is_letter(x: usize, y: usize) -> bool {
        (20..90).contains(&x)
            && (60..63).contains(&y)
            && !(40..45).contains(&x)
            && (x + y / 2) % 4 < 2 - (y + x / 4) % 2
    }

    fn drawn(over: impl Fn(usize, usize) -> Option<u16>) -> Vec<bool> {
        overlay::find(&lattice(over), 255).0
    }

    #[test]
    fn a_line_of_letters_is_drawn_and_what_is_far_from_it_is_not() {
        assert!(drawn(|_, _| None).is_empty());
        let line = drawn(|x, y| is_letter(x, y).then_some(250));
        assert!((0..COLUMNS * ROWS).all(|point| line[point] || !is_letter(point % COLUMNS, point / COLUMNS)));
        assert!(line.iter().filter(|is| **is).count() < COLUMNS * ROWS / 9);
        // In a box that is half transparent, or as dark as the scene.
        let is_box = |x: usize, y: usize| (17..93).contains(&x) && (58..65).contains(&y);
        let boxed = |level: u16| drawn(move |x, y| is_box(x, y).then_some(if is_letter(x, y) { 250 } else { level }));
        assert!([4, 30].into_iter().all(|level| boxed(level)[58 * COLUMNS + 50]));
    }

    #[test]
    fn lights_of_a_scene_are_not_drawn() {
        let lamps = drawn(|x, y| (y == 30 && x.is_multiple_of(12)).then_some(255));
        let window = drawn(|x, y| ((20..60).contains(&x) && (30..45).contains(&y)).then_some(255));
        let windows =
            drawn(|x, y| ((20..100).contains(&x) && y > 20 && (x / 2 + y / 2).is_multiple_of(2)).then_some(250));
        let glints = drawn(|x, y| (y > 30 && (x * 7 + y * y * 3) % 23 < 3).then_some(255));
        let stars = drawn(|x, y| (x * x + 31 * y * y).is_multiple_of(97).then_some(240));
        let beside = drawn(|x, y| (is_letter(x, y) || (y < 40 && (x * 7 + y * y * 3) % 23 < 3)).then_some(250));
        for (name, scene) in ["lamps", "window", "windows", "glints", "stars", "letters beside glints"]
            .into_iter()
            .zip([lamps, window, windows, glints, stars, beside])
        {
            assert!(scene.is_empty(), "{name}");
        }
    }

    #[test]
    fn a_dark_scene_is_corrected_as_without_a_clock() {
        let correction = |over: &dyn Fn(usize, usize) -> Option<u16>| {
            let points = Points::new(&lattice(over), 255);
            Correction::new(points, Assumed::Nothing, true, false, i32::MAX)
        };
        let [without, with] = [correction(&|_, _| None), correction(&|x, y| is_letter(x, y).then_some(255))];
        assert!(without.found.exposure > 2 * 4096, "{:?}", without.found);
        assert!(with.found.exposure.abs_diff(without.found.exposure) < 200, "{:?}", with.found);
        assert_eq!((with.found.captions, with.found.bars), (4096, 0));
    }
}

//! Letters over the picture: captions, the clock of a camera. They are white and thin, and unrelated to the light of a
//! scene.
//!
//! A white point with few neighbours as bright is a part of a stroke, a lamp or a reflection. All points of a block
//! that has enough of these count as letters; in the blocks beside it, only points that are white, black, or next to a
//! stroke do. Letters do not count when it is decided whether a scene is dark, how it is exposed, and how far measures
//! are believed. For the line they count as white of the scene: they may be gravel or the marks on a road, and a line
//! computed without them would make all bright points white.

use super::tuning::letters::{BLOCK_PART, FEW_BESIDE, MAX, STROKE_BLACK, STROKE_CONTRAST, STROKE_WHITE};
use crate::spec::Lattice;
use crate::spec::measure::{BLOCK_COLUMNS, BLOCK_ROWS, BLOCKS};

/// Which points of a lattice belong to letters, apart from those that are `drawn` over it, where `white` is the highest
/// level. If they would be too many, none does.
pub fn find(lattice: &Lattice, drawn: &[bool], white: i32) -> Vec<bool> {
    let (columns, rows) = lattice.size;
    let white = i64::from(white.max(1));
    let of_white = |point: usize| 4096 * i64::from(lattice.luma[point]) / white;
    let is_scene = |point: usize| lattice.counts(point) && !drawn.get(point).is_some_and(|drawn| *drawn);
    let is_white = |point: &usize| is_scene(*point) && 4096 * i64::from(lattice.luma[*point]) >= STROKE_WHITE * white;
    let is_as_bright = |point: usize, beside: usize| of_white(beside) >= of_white(point) - STROKE_CONTRAST;
    let around = |point: usize| {
        let (x, y) = (point % columns, point / columns);
        let rows = y.saturating_sub(1)..=(y + 1).min(rows - 1);
        rows.flat_map(move |y| (x.saturating_sub(1)..=(x + 1).min(columns - 1)).map(move |x| y * columns + x))
    };
    let blocks = lattice.cells((BLOCK_COLUMNS, BLOCK_ROWS));
    let block = |point: usize| usize::from(blocks[point]);
    let points = 0..lattice.luma.len();
    let is_thin = |point: usize| around(point).filter(|&beside| is_as_bright(point, beside)).count() <= 1 + FEW_BESIDE;
    let thin: Vec<bool> = points.clone().map(|point| is_white(&point) && is_thin(point)).collect();
    if !thin.contains(&true) {
        return vec![false; points.len()];
    }
    let (mut strokes, mut all) = ([0; BLOCKS], [0; BLOCKS]);
    for (block, thin) in blocks.iter().zip(&thin) {
        all[usize::from(*block)] += 1;
        strokes[usize::from(*block)] += usize::from(*thin);
    }
    let lettered: [bool; BLOCKS] = std::array::from_fn(|block| BLOCK_PART * strokes[block] > all[block]);
    if !lettered.contains(&true) {
        return vec![false; points.len()];
    }
    let beside = super::light::with_neighbours(&lettered);
    let is_stroke =
        |point: usize| is_white(&point) || of_white(point) <= STROKE_BLACK || around(point).any(|point| thin[point]);
    let is_letter = |point: usize| lettered[block(point)] || beside[block(point)] && is_stroke(point);
    let letters: Vec<bool> = points.map(is_letter).collect();
    if letters.iter().filter(|is| **is).count() > letters.len() / MAX { vec![false; letters.len()] } else { letters }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::measure::{COLUMNS, ROWS};

    fn with(white: impl Fn(usize, usize) -> bool) -> Lattice {
        let luma = (0..COLUMNS * ROWS).map(|point| if white(point % COLUMNS, point / COLUMNS) { 240 } else { 70 });
        Lattice { size: (COLUMNS, ROWS), luma: luma.collect(), ..Lattice::default() }
    }

    #[test]
    fn strokes_are_letters_and_what_is_large_is_not() {
        let written = |x: usize, y: usize| (20..100).contains(&x) && (60..66).contains(&y);
        let strokes = find(&with(|x, y| written(x, y) && x.is_multiple_of(3) && y.is_multiple_of(2)), &[], 255);
        assert!((20..100).filter(|x: &usize| x.is_multiple_of(3)).all(|x| strokes[62 * COLUMNS + x]));
        assert!(!strokes[20 * COLUMNS + 50], "what is far from them");
        let window = find(&with(|x, y| (20..60).contains(&x) && (30..60).contains(&y)), &[], 255);
        assert!(!window.contains(&true), "a bright window");
        let snow = find(&with(|x, y| x.is_multiple_of(3) && y.is_multiple_of(3)), &[], 255);
        assert!(!snow.contains(&true), "all of the picture");
    }

    #[test]
    fn a_dark_scene_stays_dark_under_letters_and_a_lit_one_lit() {
        let share = |brightest: usize, lettered: bool| {
            let level = |x: usize, y: usize| {
                let is_stroke = x.is_multiple_of(3) && y.is_multiple_of(2);
                let is_letter = lettered && is_stroke && (20..100).contains(&x) && (50..66).contains(&y);
                if is_letter { 255 } else { (x * brightest / COLUMNS) as u16 }
            };
            super::super::parts::dark::share(&super::super::Points::from_levels(level), 0).0
        };
        assert_eq!(share(90, false), 4096);
        assert_eq!(share(90, true), 4096);
        assert_eq!(share(240, true), 0);
    }
}

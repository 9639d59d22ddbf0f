//! What is drawn over a picture: bars at two opposite edges, a stripe of a strong colour at one, boxes of one colour
//! with letters in them (`colours.rs`), and letters without (`captions.rs`). It is no part of the scene. The colour of a
//! bar or a box is the same at all of its points, but for what an encoder adds; a sky or a wall is not as even, or ends
//! at no straight line.

mod captions;
mod colours;

use super::points::Drawn;
use super::tuning::overlay::TOLERANCE;
use crate::spec::Lattice;
use colours::{LatticeColours, Rectangle};
use std::ops::Range;

/// Which points of a lattice are drawn over its picture, where `white` is the highest level, and what; empty if none is.
pub fn find(lattice: &Lattice, white: i32) -> (Vec<bool>, Drawn) {
    let (columns, rows) = lattice.size;
    let colours = LatticeColours { lattice, tolerance: (TOLERANCE * white / 255).max(1) };
    let picture = colours.inside_of_bars();
    let mut boxes = colours.boxes(&picture, white);
    boxes.extend(captions::find(&colours, &picture, &boxes, white));
    let kinds = Drawn { bars: picture.area() < columns * rows, captions: !boxes.is_empty() };
    if kinds == Drawn::default() {
        return (Vec::new(), kinds);
    }
    // Edges are not sharp: what is beside a bar or a box does not count either.
    let inner = |range: &Range<usize>, all: usize| {
        range.start + usize::from(range.start > 0)..range.end - usize::from(range.end < all)
    };
    let outer = |range: &Range<usize>, all: usize| range.start.saturating_sub(1)..(range.end + 1).min(all);
    let mut drawn = vec![true; columns * rows];
    let inside = Rectangle { columns: inner(&picture.columns, columns), rows: inner(&picture.rows, rows) };
    inside.points(columns).for_each(|point| drawn[point] = false);
    for Rectangle { columns: across, rows: down } in boxes {
        let wide = Rectangle { columns: outer(&across, columns), rows: outer(&down, rows) };
        wide.points(columns).for_each(|point| drawn[point] = true);
    }
    (drawn, kinds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::measure::{COLUMNS, ROWS};
    use crate::spec::natural::points;

    /// Which points are found to be drawn over a picture of uneven brightness.
    fn found(over: impl Fn(usize, usize) -> Option<u16>) -> Vec<bool> {
        let level = |point: usize| {
            let (x, y) = (point % COLUMNS, point / COLUMNS);
            over(x, y).unwrap_or(40 + ((x * x / 7 + y * 11) % 120) as u16)
        };
        let luma = (0..COLUMNS * ROWS).map(level).collect();
        find(&Lattice { size: (COLUMNS, ROWS), luma, ..Lattice::default() }, 255).0
    }

    fn count(drawn: &[bool]) -> usize {
        drawn.iter().filter(|drawn| **drawn).count()
    }

    #[test]
    fn bars_of_any_colour_on_two_sides_or_four_are_drawn() {
        assert!(found(|_, _| None).is_empty());
        for level in [0, 90, 255] {
            let above = found(|_, y| (!(9..63).contains(&y)).then_some(level));
            assert_eq!(count(&above), 2 * 10 * COLUMNS, "{level}");
            let beside = found(|x, _| (!(20..108).contains(&x)).then_some(level));
            assert_eq!(count(&beside), 2 * 21 * ROWS, "{level}");
            let around = found(|x, y| (!(20..108).contains(&x) || !(10..62).contains(&y)).then_some(level));
            assert_eq!(count(&around), COLUMNS * ROWS - 86 * 50, "{level}");
        }
        // A bright thing that enters on one side, a sky that is cut off by roofs, a frame of one level, a gradient.
        assert!(found(|x, _| (x < 20).then_some(250)).is_empty());
        assert!(found(|x, y| (y < 10 + x / 9).then_some(255)).is_empty());
        assert!(found(|_, _| Some(60)).is_empty());
        assert!(found(|x, _| Some(40 + x as u16)).is_empty());
    }

    #[test]
    fn bars_may_be_less_even_beside_the_picture() {
        let ringing = |x: usize, y: usize, distance: usize| (distance < 4).then_some((x * 5 + y * 3) as u16 % 13);
        let bars = found(|x, y| match x {
            0..30 => Some(ringing(x, y, 29 - x).unwrap_or(0)),
            98.. => Some(ringing(x, y, x - 98).unwrap_or(0)),
            _ => Some(90 + ((x * x / 7 + y * 11) % 120) as u16),
        });
        assert!(
            (0..ROWS).all(|y| (0..30).chain(98..COLUMNS).all(|x| bars[y * COLUMNS + x]) && !bars[y * COLUMNS + 64])
        );
        for slope in 1..20 {
            let vignette = found(|x, _| Some((slope * x.min(COLUMNS - 1 - x)).min(200) as u16));
            assert!(vignette.is_empty(), "{slope} levels a column");
        }
    }

    /// Which points are found to be drawn over the same picture, in colour.
    fn found_in_colour(over: impl Fn(usize, usize) -> Option<[u16; 3]>) -> Vec<bool> {
        let rgb = (0..COLUMNS * ROWS).map(|point| {
            let (x, y) = (point % COLUMNS, point / COLUMNS);
            over(x, y).unwrap_or([40 + ((x * x / 7 + y * 11) % 120) as u16; 3])
        });
        let rgb: Vec<[u16; 3]> = rgb.collect();
        let luma = rgb.iter().map(|rgb| points::luma(rgb.map(i32::from)) as u16).collect();
        find(&Lattice { size: (COLUMNS, ROWS), luma, rgb, ..Lattice::default() }, 255).0
    }

    #[test]
    fn a_stripe_of_a_strong_colour_at_one_edge_is_drawn_before_its_letters_come() {
        let is_stripe = |y: usize| y >= 62;
        let red = [176, 16, 32];
        assert_eq!(count(&found_in_colour(|_, y| is_stripe(y).then_some(red))), 11 * COLUMNS);
        let letters = |x: usize, y: usize| x > 80 && (65..69).contains(&y) && (x + y).is_multiple_of(3);
        let ticker = found_in_colour(|x, y| is_stripe(y).then(|| if letters(x, y) { [250; 3] } else { red }));
        assert!((62 * COLUMNS..ROWS * COLUMNS).all(|point| ticker[point]));
        // Gray may be a wall, and a colour that fades a sky.
        assert!(found_in_colour(|_, y| is_stripe(y).then_some([90; 3])).is_empty());
        assert!(found_in_colour(|_, y| (y < 12).then_some([20, 60 + 4 * y as u16, 200])).is_empty());
    }

    #[test]
    fn a_box_is_drawn_if_it_has_letters() {
        let in_box = |x: usize, y: usize| (10..110).contains(&x) && (56..68).contains(&y);
        let is_letter = |x: usize, y: usize| (16..104).contains(&x) && (59..65).contains(&y) && x.is_multiple_of(3);
        for (level, letters) in [(200, 20), (255, 16), (16, 235)] {
            let caption = found(|x, y| in_box(x, y).then(|| if is_letter(x, y) { letters } else { level }));
            assert_eq!(count(&caption), 102 * 14, "{level}");
            assert!(found(|x, y| in_box(x, y).then_some(level)).is_empty(), "{level} without letters");
        }
        // The light of a lamp is no box, nor is a wall with shadows.
        let lamp = |x: usize, y: usize| x.abs_diff(60).pow(2) + y.abs_diff(40).pow(2) < 150;
        assert!(found(|x, y| lamp(x, y).then_some([20, 255, 255, 255][x % 4])).is_empty());
    }
}

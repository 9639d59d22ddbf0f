//! The positions of the two pictures and of their charts in the output.

use crate::draw::chart::{Lettering, Side};
use crate::options::jobs::CompareView;
use embedded_graphics::prelude::{Point, Size};
use embedded_graphics::primitives::Rectangle;
use std::ops::Range;

/// Smallest picture with charts, in pixels.
const SMALLEST: (usize, usize) = (128, 96);

/// Widest chart, in pixels.
const WIDEST: usize = 512;

/// The layout of the output picture.
pub struct PairLayout {
    /// The size to which B is scaled (columns, rows).
    pub size_of_b: (usize, usize),
    /// The size of the output (columns, rows).
    pub size: (usize, usize),
    /// The columns of the output that show A and B.
    pub columns: [Range<usize>; 2],
    /// The side of the label and chart of A and B.
    pub sides: [Side; 2],
    /// The columns of B that are shown, and the column of the output for column 0 of B.
    pub of_b: (Range<usize>, usize),
}

impl PairLayout {
    /// The layout for an A of this size; `beside` is the width of B scaled to the same height.
    pub fn new(view: CompareView, (width, height): (usize, usize), beside: usize) -> Self {
        match view {
            CompareView::SideBySide => PairLayout {
                size_of_b: (beside, height),
                size: (width + beside, height),
                columns: [0..width, width..width + beside],
                sides: [Side::Left, Side::Left],
                of_b: (0..beside, width),
            },
            CompareView::Split => PairLayout {
                size_of_b: (width, height),
                size: (width, height),
                columns: [0..width / 2, width / 2..width],
                sides: [Side::Left, Side::Right],
                of_b: (width / 2..width, 0),
            },
        }
    }

    /// The areas of the histograms of A and B, at the bottom; `None` if the picture is too small.
    pub fn charts(&self, lettering: Lettering) -> Option<[Rectangle; 2]> {
        let narrower = self.columns.iter().map(Range::len).min().unwrap_or(0);
        if narrower < SMALLEST.0 || self.size.1 < SMALLEST.1 {
            return None;
        }
        let width = (narrower / 3).min(WIDEST);
        let chart = Size::new(width as u32, (width / 2).min(self.size.1 / 3) as u32);
        let distance = 2 * lettering.margin() as i32;
        let place = |number: usize| {
            let columns = &self.columns[number];
            let x = match self.sides[number] {
                Side::Left => columns.start as i32 + distance,
                Side::Right => columns.end as i32 - distance - chart.width as i32,
            };
            Rectangle::new(Point::new(x, self.size.1 as i32 - distance - chart.height as i32), chart)
        };
        Some([place(0), place(1)])
    }
}

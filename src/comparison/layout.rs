//! Where the two pictures lie in the one, and where their charts.

use crate::chart::{Lettering, Side};
use embedded_graphics::prelude::{Point, Size};
use embedded_graphics::primitives::Rectangle;
use std::ops::Range;

/// There are no charts on pictures that are smaller than this, in pixels.
const SMALLEST: (usize, usize) = (128, 96);

/// Widest chart, in pixels.
const WIDEST: usize = 512;

/// How two pictures become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// B at the right of A.
    SideBySide,
    /// The left half of A, the right half of B.
    Split,
}

/// The plan of a picture.
pub struct Layout {
    /// The size that B is brought to.
    pub size_of_b: (usize, usize),
    /// The size of both together.
    pub size: (usize, usize),
    /// The columns of A and of B.
    pub columns: [Range<usize>; 2],
    /// Where label and chart of each stand.
    pub sides: [Side; 2],
    /// The columns of B's own picture that are shown, and where its first column would lie.
    pub of_b: (Range<usize>, usize),
}

impl Layout {
    /// The plan for an A of this size; `beside` is the width of a B of the same height.
    pub fn new(view: View, (width, height): (usize, usize), beside: usize) -> Self {
        match view {
            View::SideBySide => Layout {
                size_of_b: (beside, height),
                size: (width + beside, height),
                columns: [0..width, width..width + beside],
                sides: [Side::Left, Side::Left],
                of_b: (0..beside, width),
            },
            View::Split => Layout {
                size_of_b: (width, height),
                size: (width, height),
                columns: [0..width / 2, width / 2..width],
                sides: [Side::Left, Side::Right],
                of_b: (width / 2..width, 0),
            },
        }
    }

    /// Where the histograms of A and B go, at the bottom; `None` where there is no room.
    pub fn charts(&self, lettering: Lettering) -> Option<[Rectangle; 2]> {
        let narrower = self.columns.iter().map(Range::len).min().unwrap_or(0);
        if narrower < SMALLEST.0 || self.size.1 < SMALLEST.1 {
            return None;
        }
        let width = (narrower / 3).min(WIDEST);
        let chart = Size::new(width as u32, (width / 2).min(self.size.1 / 3) as u32);
        let distance = 2 * lettering.margin() as i32;
        let place = |of: usize| {
            let columns = &self.columns[of];
            let x = match self.sides[of] {
                Side::Left => columns.start as i32 + distance,
                Side::Right => columns.end as i32 - distance - chart.width as i32,
            };
            Rectangle::new(Point::new(x, self.size.1 as i32 - distance - chart.height as i32), chart)
        };
        Some([place(0), place(1)])
    }
}

//! A chart at the upper right: histogram of the original, and the curve that equalizes it.

use super::overlay::{MARGIN, SMALL, canvas_size, draw, shade, text_width, write};
use crate::chart::{self, CURVE, Canvas};
use crate::spec::Histogram;
use embedded_graphics::pixelcolor::Rgb888;
use embedded_graphics::prelude::{Point, RgbColor, Size};
use embedded_graphics::primitives::{Line, Rectangle};

/// Width and height of the plot without labels, points.
const PLOT: (i32, i32) = (256, 128);

const BARS: Rgb888 = Rgb888::new(150, 170, 190);
const FRAME: Rgb888 = Rgb888::new(110, 110, 110);

/// Bars are cut at this multiple of their mean, so that a large flat area does not dwarf all others.
const MOST_OF_MEAN: u64 = 6;

/// Draws the chart. Input codes go from left to right, output codes upwards. `points` of the curve are shares of the highest
/// code, 0 to 1.
pub fn chart(canvas: &mut Canvas, histogram: &Histogram, points: &[(f64, f64)]) {
    let line = SMALL.character_size.height as i32 + 2;
    let size = (PLOT.0 + 2 * MARGIN + 2, PLOT.1 + 2 * line + MARGIN);
    let corner = Point::new(canvas_size(canvas).0 - size.0 - MARGIN, MARGIN);
    shade(canvas, corner, size);

    let title = corner + Point::new(MARGIN + 1, 2);
    write(canvas, "histogram of the input", title, SMALL, BARS);
    let right = Point::new(PLOT.0 - text_width("curve", SMALL), 0);
    write(canvas, "curve", title + right, SMALL, CURVE);

    let top = title + Point::new(0, line);
    let origin = top + Point::new(0, PLOT.1 - 1);
    bars(canvas, histogram, origin);
    let border = Rectangle::new(top - Point::new(1, 1), Size::new(PLOT.0 as u32 + 2, PLOT.1 as u32 + 2));
    draw(canvas, border, FRAME, 1);
    // The curve that changes nothing.
    draw(canvas, Line::new(origin, top + Point::new(PLOT.0 - 1, 0)), FRAME, 1);
    chart::curve(canvas, Rectangle::new(top, Size::new(PLOT.0 as u32, PLOT.1 as u32)), points, 2);

    let below = origin + Point::new(0, 3);
    let highest = (histogram.levels().codes() - 1).to_string();
    write(canvas, "0", below, SMALL, RgbColor::WHITE);
    let middle = Point::new((PLOT.0 - text_width("level", SMALL)) / 2, 0);
    write(canvas, "level", below + middle, SMALL, RgbColor::WHITE);
    let right = Point::new(PLOT.0 - text_width(&highest, SMALL), 0);
    write(canvas, &highest, below + right, SMALL, RgbColor::WHITE);
}

fn bars(canvas: &mut Canvas, histogram: &Histogram, origin: Point) {
    let columns = by_column(histogram);
    let used = columns.iter().filter(|count| **count > 0).count().max(1) as u64;
    let mean = columns.iter().sum::<u64>().div_ceil(used);
    let most = columns.iter().copied().max().unwrap_or(0).min(mean * MOST_OF_MEAN).max(1);
    for (x, count) in columns.iter().enumerate().filter(|(_, count)| **count > 0) {
        // Rounded up, so that small counts are visible.
        let bar = ((count * PLOT.1 as u64).div_ceil(most) as i32).min(PLOT.1);
        let foot = origin + Point::new(x as i32, 0);
        draw(canvas, Line::new(foot, foot - Point::new(0, bar - 1)), BARS, 1);
    }
}

/// The counts of all codes, summed by column.
fn by_column(histogram: &Histogram) -> Vec<u64> {
    let levels = histogram.levels();
    let mut columns = vec![0; PLOT.0 as usize];
    for (level, count) in histogram.counts().iter().enumerate() {
        let code = usize::from(levels.lo()) + level;
        columns[code * PLOT.0 as usize / levels.codes()] += count;
    }
    columns
}

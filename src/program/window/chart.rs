//! A chart at the upper right: histogram of the original, and the curve that equalizes it.

use super::overlay::{MARGIN, SMALL, canvas_size, draw, shade, text_width, write};
use crate::draw::chart::{self, CURVE, Canvas};
use crate::draw::shown::by_column;
use embedded_graphics::pixelcolor::Rgb888;
use embedded_graphics::prelude::{Point, RgbColor, Size};
use embedded_graphics::primitives::{Line, Rectangle};
use histeq::internal::spec::chroma::UNIT_GAIN;
use histeq::internal::spec::curves::Histogram;
use histeq::internal::spec::time::Scene;

/// Width and height of the plot without labels, in points.
const PLOT: (i32, i32) = (256, 128);

const BARS: Rgb888 = Rgb888::new(150, 170, 190);
const FRAME: Rgb888 = Rgb888::new(110, 110, 110);

/// Bars are clipped at this multiple of their mean, so that a large flat area does not dwarf all others.
const MAX_OF_MEAN: u64 = 6;

/// The share of samples below and above the levels that are marked as those in use.
const BEYOND: f64 = 0.002;

/// The line under the chart: the scene, counted from 1, and the gain of the stretched levels.
pub fn caption(scene: Option<Scene>, chroma_gain: Option<u32>) -> String {
    let scene = scene.map(|scene| format!("scene {}", scene.number + 1));
    let gain = chroma_gain.map(|gain| format!("gain {:.2}", f64::from(gain) / f64::from(UNIT_GAIN)));
    scene.into_iter().chain(gain).collect::<Vec<_>>().join("   ")
}

/// Draws the chart. Input codes go from left to right, output codes upwards. `points` of the curve are shares of the
/// highest code, 0 to 1.
pub fn chart(canvas: &mut Canvas, histogram: &Histogram, points: &[(f64, f64)], caption: &str) {
    let line = SMALL.character_size.height as i32 + 2;
    let size = (PLOT.0 + 2 * MARGIN + 2, PLOT.1 + 4 * line + MARGIN);
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
    for code in in_use(histogram) {
        let foot = origin + Point::new((code * PLOT.0 as usize / histogram.levels().codes()) as i32, 0);
        draw(canvas, Line::new(foot, foot - Point::new(0, PLOT.1 - 1)), BARS, 1);
    }
    // The diagonal is the curve that changes nothing.
    draw(canvas, Line::new(origin, top + Point::new(PLOT.0 - 1, 0)), FRAME, 1);
    chart::curve(canvas, Rectangle::new(top, Size::new(PLOT.0 as u32, PLOT.1 as u32)), points, 2);

    let below = origin + Point::new(0, 3);
    let highest = (histogram.levels().codes() - 1).to_string();
    write(canvas, "0", below, SMALL, RgbColor::WHITE);
    let middle = Point::new((PLOT.0 - text_width("level", SMALL)) / 2, 0);
    write(canvas, "level", below + middle, SMALL, RgbColor::WHITE);
    let right = Point::new(PLOT.0 - text_width(&highest, SMALL), 0);
    write(canvas, &highest, below + right, SMALL, RgbColor::WHITE);
    let [low, high] = in_use(histogram);
    for (number, text) in (1..).zip([&*format!("levels {low} to {high}"), caption]) {
        write(canvas, text, below + Point::new(0, number * line), SMALL, RgbColor::WHITE);
    }
}

/// The codes between which nearly all samples lie.
fn in_use(histogram: &Histogram) -> [usize; 2] {
    let beyond = (histogram.total() as f64 * BEYOND) as u64;
    let below = |counts: &mut dyn Iterator<Item = &u64>| {
        let sums = counts.scan(0, |sum, count| {
            *sum += count;
            Some(*sum)
        });
        sums.take_while(|sum| *sum <= beyond).count()
    };
    let levels = histogram.levels();
    let counts = histogram.counts();
    [usize::from(levels.lo()) + below(&mut counts.iter()), usize::from(levels.hi()) - below(&mut counts.iter().rev())]
}

fn bars(canvas: &mut Canvas, histogram: &Histogram, origin: Point) {
    let columns = by_column(histogram, PLOT.0 as usize);
    let used = columns.iter().filter(|count| **count > 0).count().max(1) as u64;
    let mean = columns.iter().sum::<u64>().div_ceil(used);
    let most = columns.iter().copied().max().unwrap_or(0).min(mean * MAX_OF_MEAN).max(1);
    for (x, count) in columns.iter().enumerate().filter(|(_, count)| **count > 0) {
        // Rounded up, so that small counts are visible.
        let bar = ((count * PLOT.1 as u64).div_ceil(most) as i32).min(PLOT.1);
        let foot = origin + Point::new(x as i32, 0);
        draw(canvas, Line::new(foot, foot - Point::new(0, bar - 1)), BARS, 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use embedded_graphics::prelude::{Dimensions, DrawTarget};
    use histeq::internal::spec::curves::Levels;

    #[test]
    fn the_chart_stays_within_its_frame() {
        // Texts are longest at 16 bits and with a high scene number.
        let size = (400, 300);
        let mut counts = vec![1; 65_536];
        counts[28_000] = 1 << 20;
        let histogram = Histogram::from_counts(Levels::full(16), counts);
        let mut pixels = vec![0; size.0 * size.1];
        let mut canvas = Canvas::new(&mut pixels, size, 1);
        let all = canvas.bounding_box();
        let Ok(()) = canvas.fill_solid(&all, Rgb888::new(128, 128, 128));
        let scene = Scene { number: 12_344, ..Scene::default() };
        chart(&mut canvas, &histogram, &[(0.0, 0.0), (1.0, 1.0)], &caption(Some(scene), Some(4 * UNIT_GAIN)));
        let line = SMALL.character_size.height as usize + 2;
        let frame = (PLOT.0 as usize + 2 * MARGIN as usize + 2, PLOT.1 as usize + 4 * line + MARGIN as usize);
        let (left, top) = (size.0 - frame.0 - MARGIN as usize, MARGIN as usize);
        let inside = |x: usize, y: usize| (left..left + frame.0).contains(&x) && (top..top + frame.1).contains(&y);
        let pixel = |x: usize, y: usize| pixels[y * size.0 + x];
        for y in 0..size.1 {
            for x in (0..size.0).filter(|&x| !inside(x, y)) {
                assert_eq!(pixel(x, y), 0x80_8080, "{x}, {y}");
            }
        }
        // Nothing is drawn over the edges of the chart: they are only shaded.
        let shaded = pixel(left, top);
        assert_ne!(shaded, 0x80_8080);
        for y in top..top + frame.1 {
            for x in [left, left + 1, left + frame.0 - 2, left + frame.0 - 1] {
                assert_eq!(pixel(x, y), shaded, "{x}, {y}");
            }
        }
    }
}

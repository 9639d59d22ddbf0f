//! What is drawn over the picture: the status line, histogram and curve, the list of keys.

use super::canvas::Canvas;
use super::keys::HELP;
use crate::spec::{Curve, Histogram};
use embedded_graphics::Drawable;
use embedded_graphics::mono_font::MonoTextStyle;
use embedded_graphics::mono_font::ascii::FONT_10X20;
use embedded_graphics::pixelcolor::Rgb888;
use embedded_graphics::prelude::{Point, RgbColor, Size};
use embedded_graphics::primitives::{Line, Polyline, Primitive, PrimitiveStyle, Rectangle};
use embedded_graphics::text::{Baseline, Text};

const LINE: i32 = 24;
const LETTER: i32 = 10;
const MARGIN: i32 = 8;

/// Width and height of the histogram.
const CHART: (i32, i32) = (256, 128);

const BARS: Rgb888 = Rgb888::new(150, 150, 150);
const CURVE: Rgb888 = Rgb888::new(255, 200, 40);

/// The line at the bottom.
pub fn status(canvas: &mut Canvas, text: &str) {
    let (width, height) = canvas.dimensions();
    let top = height as i32 - LINE;
    canvas.shade(Rectangle::new(Point::new(0, top), Size::new(width as u32, LINE as u32)));
    write(canvas, text, Point::new(MARGIN, top + 2));
}

/// The list of keys, in the middle.
pub fn help(canvas: &mut Canvas) {
    let (width, height) = canvas.dimensions();
    let longest = HELP.iter().map(|line| line.len()).max().unwrap_or(0) as i32;
    let size = (longest * LETTER + 2 * MARGIN, HELP.len() as i32 * LINE + 2 * MARGIN);
    let corner = Point::new((width as i32 - size.0) / 2, (height as i32 - size.1) / 2);
    canvas.shade(Rectangle::new(corner, Size::new(size.0 as u32, size.1 as u32)));
    for (index, line) in HELP.iter().enumerate() {
        write(canvas, line, corner + Point::new(MARGIN, MARGIN + index as i32 * LINE));
    }
}

/// The histogram of the camera's picture and the curve that equalizes it, at the upper right.
pub fn chart(canvas: &mut Canvas, histogram: &Histogram, curve: &Curve) {
    let corner = Point::new(canvas.dimensions().0 as i32 - CHART.0 - 2 * MARGIN, MARGIN);
    let frame = Size::new((CHART.0 + MARGIN) as u32, (CHART.1 + MARGIN) as u32);
    canvas.shade(Rectangle::new(corner, frame));
    let origin = corner + Point::new(MARGIN / 2, MARGIN / 2 + CHART.1 - 1);
    let columns = by_column(histogram);
    let most = columns.iter().copied().max().unwrap_or(0).max(1);
    for (x, count) in columns.iter().enumerate() {
        let bar = (count * CHART.1 as u64 / most) as i32;
        let foot = origin + Point::new(x as i32, 0);
        if bar > 0 {
            draw(canvas, Line::new(foot, foot - Point::new(0, bar - 1)), BARS);
        }
    }
    let codes = curve.codes();
    let highest = (codes.len() - 1).max(1) as i32;
    let point = |x: i32| {
        let code = codes[x as usize * codes.len() / CHART.0 as usize];
        origin + Point::new(x, -(i32::from(code) * (CHART.1 - 1) / highest))
    };
    let points: Vec<Point> = (0..CHART.0).map(point).collect();
    draw(canvas, Polyline::new(&points), CURVE);
}

/// The divider of the split view.
pub fn divider(canvas: &mut Canvas, x: usize, rows: std::ops::Range<usize>) {
    let (from, to) = (Point::new(x as i32, rows.start as i32), Point::new(x as i32, rows.end as i32 - 1));
    draw(canvas, Line::new(from, to), Rgb888::WHITE);
}

/// The counts of all codes, as many as there are columns.
fn by_column(histogram: &Histogram) -> Vec<u64> {
    let levels = histogram.levels();
    let mut columns = vec![0; CHART.0 as usize];
    for (level, count) in histogram.counts().iter().enumerate() {
        let code = usize::from(levels.lo()) + level;
        columns[code * CHART.0 as usize / levels.codes()] += count;
    }
    columns
}

fn write(canvas: &mut Canvas, text: &str, at: Point) {
    let style = MonoTextStyle::new(&FONT_10X20, Rgb888::WHITE);
    let Ok(_) = Text::with_baseline(text, at, style, Baseline::Top).draw(canvas);
}

fn draw<P: Primitive>(canvas: &mut Canvas, shape: P, colour: Rgb888)
where
    embedded_graphics::primitives::Styled<P, PrimitiveStyle<Rgb888>>: Drawable<Color = Rgb888>,
{
    let Ok(_) = shape.into_styled(PrimitiveStyle::with_stroke(colour, 1)).draw(canvas);
}

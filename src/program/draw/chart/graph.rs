//! Histograms as bars, curves as lines, and the line between two pictures.

use super::Canvas;
use embedded_graphics::Drawable;
use embedded_graphics::pixelcolor::Rgb888;
use embedded_graphics::prelude::{DrawTarget, Point, RgbColor, Size};
use embedded_graphics::primitives::{Polyline, Primitive, PrimitiveStyle, Rectangle};
use histeq::internal::spec::curves::Histogram;

const BARS: Rgb888 = Rgb888::new(190, 190, 190);
/// The colour of curves.
pub const CURVE: Rgb888 = Rgb888::new(255, 200, 40);

/// Height of the chart, as a multiple of the highest column without outliers. Outliers are clipped there, so that black
/// bars around a picture do not flatten the rest.
const HIGHEST: f64 = 1.5;

/// Draws a histogram, from black at the left edge of `area` to white at the right edge.
pub fn bars(canvas: &mut Canvas, area: Rectangle, histogram: &Histogram) {
    let columns = columns(histogram, area.size.width as usize);
    let top = top(&columns);
    for (x, density) in columns.iter().enumerate() {
        let height = (density / top).min(1.0) * f64::from(area.size.height);
        // A column that is not empty has at least one pixel.
        let height = if *density > 0.0 { height.round().max(1.0) as u32 } else { 0 };
        let corner = area.top_left + Point::new(x as i32, (area.size.height - height) as i32);
        let Ok(()) = canvas.fill_solid(&Rectangle::new(corner, Size::new(1, height)), BARS);
    }
}

/// The top of the chart: the highest column, but at most [`HIGHEST`] times the highest one below the top 1 %.
fn top(columns: &[f64]) -> f64 {
    let mut sorted = columns.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let highest = sorted.first().copied().unwrap_or(0.0).max(f64::MIN_POSITIVE);
    match sorted.get((columns.len() / 100).max(2)) {
        Some(&regular) if regular > 0.0 => highest.min(HIGHEST * regular),
        _ => highest,
    }
}

/// Draws a line through `points`, whose coordinates go from 0 at the left and lower edges of `area` to 1 at the right
/// and upper edges.
pub fn curve(canvas: &mut Canvas, area: Rectangle, points: &[(f64, f64)], stroke: u32) {
    let (width, height) = (f64::from(area.size.width) - 1.0, f64::from(area.size.height) - 1.0);
    let place = |(x, y): &(f64, f64)| {
        area.top_left + Point::new((x * width).round() as i32, ((1.0 - y) * height).round() as i32)
    };
    let places: Vec<Point> = points.iter().map(place).collect();
    let Ok(()) = Polyline::new(&places).into_styled(PrimitiveStyle::with_stroke(CURVE, stroke)).draw(canvas);
}

/// Draws a vertical line from top to bottom, centred at `x`.
pub fn divider(canvas: &mut Canvas, x: usize, height: usize, stroke: u32) {
    let corner = Point::new(x as i32 - stroke as i32 / 2, 0);
    let Ok(()) = canvas.fill_solid(&Rectangle::new(corner, Size::new(stroke, height as u32)), Rgb888::WHITE);
}

/// The mean count of the levels of each column, so that columns with more levels are not higher.
fn columns(histogram: &Histogram, count: usize) -> Vec<f64> {
    let counts = histogram.counts();
    let column = |x: usize| {
        let first = x * counts.len() / count;
        let last = ((x + 1) * counts.len() / count).max(first + 1);
        counts[first..last].iter().sum::<u64>() as f64 / (last - first) as f64
    };
    (0..count).map(column).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use histeq::internal::spec::curves::Levels;

    #[test]
    fn a_few_columns_do_not_flatten_the_rest() {
        let mut columns = vec![2.0; 200];
        columns[0] = 900.0;
        assert_eq!(top(&columns), 3.0);
        // With only two occupied levels, neither is an outlier.
        assert_eq!(top(&[0.0, 5.0, 0.0, 7.0]), 7.0);
    }

    #[test]
    fn an_even_histogram_is_even_in_columns_of_any_number() {
        let levels = Levels::limited(8);
        let even = Histogram::from_counts(levels, vec![7; levels.count()]);
        for count in [1, 64, 110, 220, 300] {
            assert_eq!(columns(&even, count), vec![7.0; count]);
        }
    }
}

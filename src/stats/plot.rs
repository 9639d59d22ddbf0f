//! Plots as SVG: panels one below the other over a common time axis, with marks for cuts and flashes.

use super::series::{Metric, Point, Series};
use crate::svg::{Anchor, Axis, Drawing, Spread};

/// Width of the drawing, and the left and right edges of the plots.
const WIDTH: f64 = 1000.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 984.0;

/// Heights of the plot of a panel, of its title, and of the time axis.
const HEIGHT: f64 = 110.0;
const TITLE: f64 = 40.0;
const AXIS: f64 = 26.0;

/// A plot of one or several metrics.
pub struct MetricPanel {
    /// Its title, with the unit.
    pub title: &'static str,
    /// Its lines: metric, name in the legend, CSS class of the colour.
    pub lines: &'static [(Metric, &'static str, &'static str)],
    /// Whether the axis begins at 0.
    pub from_zero: bool,
}

const STYLE: &str = "\
text{font:12px system-ui,sans-serif;fill:#555}\
.title{font-size:14px;font-weight:600;fill:#222}\
.grid{stroke:#e4e4e4}.cut{stroke:#9a9a9a;stroke-dasharray:2 3}.flash{fill:#e0a100}\
.line{fill:none;stroke-width:1.6;stroke-linejoin:round}.band{opacity:.22}\
.before{stroke:#7a8797}.after{stroke:#d9480f}.third{stroke:#1971c2}\
.band.before,.dot.before{fill:#7a8797}.band.after,.dot.after{fill:#d9480f}.band.third,.dot.third{fill:#1971c2}\
.band,.dot{stroke:none}\
@media(prefers-color-scheme:dark){text{fill:#aaa}.title{fill:#eee}.grid{stroke:#333}.cut{stroke:#888}}";

/// The drawing of all `panels`; empty without records.
pub fn svg(panels: &[MetricPanel], series: &Series) -> String {
    let shown = if series.points().is_empty() { &[] } else { panels };
    let height = shown.len() as f64 * (TITLE + HEIGHT) + AXIS + 16.0;
    let mut drawing = Drawing::new((WIDTH, height), STYLE);
    let across = across(series);
    for (index, panel) in shown.iter().enumerate() {
        let top = index as f64 * (TITLE + HEIGHT) + TITLE;
        draw_panel(&mut drawing, panel, series, &across, top);
    }
    let bottom = shown.len() as f64 * (TITLE + HEIGHT);
    for tick in across.ticks(10) {
        drawing.text((across.place(tick), bottom + 18.0), Anchor::Middle, "", &across.label(tick));
    }
    let unit = if series.timed { "seconds" } else { "frames" };
    drawing.text((RIGHT, bottom + AXIS + 10.0), Anchor::End, "", unit);
    drawing.finish()
}

fn draw_panel(drawing: &mut Drawing, panel: &MetricPanel, series: &Series, across: &Axis, top: f64) {
    let up = up(panel, series, top);
    drawing.text((LEFT, top - 12.0), Anchor::Start, "title", panel.title);
    // The legend, from right to left.
    let mut right = RIGHT;
    for (_, name, class) in panel.lines.iter().rev().filter(|_| panel.lines.len() > 1) {
        drawing.text((right, top - 12.0), Anchor::End, "", name);
        right -= name.len() as f64 * 7.2 + 24.0;
        drawing.path(&format!("line {class}"), format_args!("M{:.1} {:.1}h14", right + 6.0, top - 16.0));
        right -= 8.0;
    }
    drawing.grid(&up, 4, (LEFT, RIGHT));
    for point in series.points() {
        let x = across.place(point.at);
        if point.cuts > 0 {
            drawing.path("cut", format_args!("M{x:.1} {top:.1}v{HEIGHT}"));
        }
        if point.flashes > 0 {
            drawing.path("flash", format_args!("M{x:.1} {:.1}l-4 -7h8z", top + 7.0));
        }
    }
    for &(metric, _, class) in panel.lines {
        let spread = |point: &Point| {
            let values = point.values(metric);
            let [low, middle, high] = [values.min, values.mean(), values.max].map(|value| up.place(value));
            Spread { x: across.place(point.at), low, middle, high }
        };
        draw_line(drawing, &series.points().iter().map(spread).collect::<Vec<_>>(), class);
    }
}

/// A line through the means, and a band from the lowest to the highest values where points have several frames.
fn draw_line(drawing: &mut Drawing, spreads: &[Spread], class: &str) {
    if let [Spread { x, middle, .. }] = spreads {
        return drawing.dot((*x, *middle), 3.0, &format!("dot {class}"));
    }
    if spreads.iter().any(|spread| spread.high != spread.low) {
        drawing.band(&format!("band {class}"), spreads);
    }
    drawing.line(&format!("line {class}"), spreads);
}

/// The time axis.
fn across(series: &Series) -> Axis {
    let low = series.points().first().map_or(0.0, |point| point.at);
    Axis::linear((low, if series.end > low { series.end } else { low + 1.0 }), (LEFT, RIGHT))
}

/// The value axis of a panel.
fn up(panel: &MetricPanel, series: &Series, top: f64) -> Axis {
    let all = || panel.lines.iter().flat_map(|(metric, ..)| series.points().iter().map(|point| point.values(*metric)));
    let lowest = all().map(|values| values.min).fold(f64::INFINITY, f64::min);
    let highest = all().map(|values| values.max).fold(f64::NEG_INFINITY, f64::max);
    let low = if panel.from_zero { 0.0 } else { lowest };
    let room = ((highest - low) * 0.06).max(highest.abs() * 0.01).max(1e-3);
    let low = if panel.from_zero { 0.0 } else { (low - room).max(0.0) };
    Axis::linear((low, highest + room), (top + HEIGHT, top))
}

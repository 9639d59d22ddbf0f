//! Charts of the page: SVG that is stretched to the width of the page, with titles and labels as text of the page, which keeps
//! its size.

use super::series::{Metric, Point, Series};
use histeq_media::svg::{Axis, Drawing, Spread, escaped};

/// Width and height of a drawing, in its own unit: it is stretched.
const SIZE: (f64, f64) = (1000.0, 100.0);

/// A chart of one or several metrics.
pub struct MetricChart {
    /// Its title, with the unit.
    pub title: &'static str,
    /// Its lines: metric, name in the legend, CSS class of the colour.
    pub lines: &'static [(Metric, &'static str, &'static str)],
    /// Whether the axis begins at 0.
    pub from_zero: bool,
}

/// What stands above a chart.
pub struct Heading<'a> {
    /// Its title.
    pub title: &'a str,
    /// The legend: names, and CSS classes of the colours.
    pub legend: &'a [(&'a str, &'a str)],
    /// What the script reads: attributes of the plot.
    pub data: &'a str,
}

/// A chart of `inside`, which fills its plot, with labels of these axes: their positions are in percent of the plot.
pub fn chart(heading: &Heading<'_>, across: &Axis, up: &Axis, inside: &str) -> String {
    let keys: String = heading
        .legend
        .iter()
        .map(|(name, class)| format!(" <span class=\"key {class}\">{}</span>", escaped(name)))
        .collect();
    let labels = |axis: &Axis, about: u32, class: &str, side: &str| -> String {
        let label = |tick: f64| {
            format!("<span class=\"{class}\" style=\"{side}:{:.2}%\">{}</span>", axis.place(tick), axis.label(tick))
        };
        axis.ticks(about).into_iter().map(label).collect()
    };
    format!(
        "<figure>\n<figcaption><b>{}</b>{keys}<output></output></figcaption>\n<div class=\"plot\" {}>{inside}{}{}</div>\n\
         </figure>\n",
        escaped(heading.title),
        heading.data,
        labels(up, 4, "y", "top"),
        labels(across, 6, "x", "left"),
    )
}

/// An axis of the plot's width, or height.
pub fn axis(range: (f64, f64), is_up: bool) -> Axis {
    Axis::linear(range, if is_up { (100.0, 0.0) } else { (0.0, 100.0) })
}

/// The positions of the first and the last frame.
pub fn time_range(series: &Series) -> (f64, f64) {
    let low = series.points().first().map_or(0.0, |point| point.at);
    (low, if series.end > low { series.end } else { low + 1.0 })
}

/// A chart of metrics over time.
pub fn of_metrics(of: &MetricChart, series: &Series) -> String {
    let range = range(of, series);
    let (across, up) = (Axis::linear(time_range(series), (0.0, SIZE.0)), Axis::linear(range, (SIZE.1, 0.0)));
    let mut drawing = Drawing::stretched(SIZE);
    for tick in up.ticks(4) {
        drawing.path("grid", format_args!("M0 {:.1}H{}", up.place(tick), SIZE.0));
    }
    for class in ["cut", "flash"] {
        let count = |point: &Point| if class == "cut" { point.cuts } else { point.flashes };
        let marks = series.points().iter().filter(|point| count(point) > 0);
        let marks: String = marks.map(|point| format!("M{:.1} 0V{}", across.place(point.at), SIZE.1)).collect();
        if !marks.is_empty() {
            drawing.path(class, format_args!("{marks}"));
        }
    }
    for &(metric, _, class) in of.lines {
        let spread = |point: &Point| {
            let values = point.values(metric);
            let [low, middle, high] = [values.min, values.mean(), values.max].map(|value| up.place(value));
            Spread { x: across.place(point.at), low, middle, high }
        };
        draw_line(&mut drawing, &series.points().iter().map(spread).collect::<Vec<_>>(), class);
    }
    let legend: Vec<_> = of.lines.iter().map(|(_, name, class)| (*name, *class)).collect();
    let metrics: Vec<String> = of.lines.iter().map(|(metric, ..)| (*metric as usize).to_string()).collect();
    let data = format!("data-time data-metrics=\"{}\"", metrics.join(" "));
    let heading = Heading { title: of.title, legend: if legend.len() > 1 { &legend } else { &[] }, data: &data };
    chart(&heading, &axis(time_range(series), false), &axis(range, true), &drawing.finish())
}

/// A line through the means, and a band from the lowest to the highest values where points have several frames.
fn draw_line(drawing: &mut Drawing, spreads: &[Spread], class: &str) {
    if let [Spread { x, middle, .. }] = spreads {
        return drawing.path(&format!("dot {class}"), format_args!("M{x:.1} {middle:.1}h0"));
    }
    if spreads.iter().any(|spread| spread.high != spread.low) {
        drawing.band(&format!("band {class}"), spreads);
    }
    drawing.line(&format!("line {class}"), spreads);
}

/// The values of a chart, with room above and below.
fn range(of: &MetricChart, series: &Series) -> (f64, f64) {
    let all = || of.lines.iter().flat_map(|(metric, ..)| series.points().iter().map(|point| point.values(*metric)));
    let lowest = all().map(|values| values.min).fold(f64::INFINITY, f64::min);
    let highest = all().map(|values| values.max).fold(f64::NEG_INFINITY, f64::max);
    let low = if of.from_zero { 0.0 } else { lowest };
    let room = ((highest - low) * 0.06).max(highest.abs() * 0.01).max(1e-3);
    (if of.from_zero { 0.0 } else { (low - room).max(0.0) }, highest + room)
}

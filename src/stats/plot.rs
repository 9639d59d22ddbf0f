//! Plots as SVG: panels one below the other over one axis of time, with cuts and flashes as marks.

use super::series::{Figure, Point, Series, Values};
use std::fmt::Write;

/// Width of the drawing, and of the part of it that holds lines.
const WIDTH: f64 = 1000.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 984.0;

/// Height of a panel's lines, and what its title and the axis below it take.
const HEIGHT: f64 = 110.0;
const TITLE: f64 = 40.0;
const AXIS: f64 = 26.0;

/// How far off a quotient may be that should be whole.
const ROUNDING: f64 = 1e-9;

/// One plot.
pub struct Panel {
    /// What it shows, and in which unit.
    pub title: &'static str,
    /// Its lines: what is plotted, the name in the legend, the class that gives the colour.
    pub lines: &'static [(Figure, &'static str, &'static str)],
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

/// All `panels` of which there is anything to show.
pub fn svg(panels: &[Panel], series: &Series) -> String {
    let shown: Vec<&Panel> = panels.iter().filter(|panel| !visible(panel, series).is_empty()).collect();
    let height = shown.len() as f64 * (TITLE + HEIGHT) + AXIS + 16.0;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\">\n<style>{STYLE}</style>\n"
    );
    let across = Axis::across(series);
    for (index, panel) in shown.iter().enumerate() {
        let top = index as f64 * (TITLE + HEIGHT) + TITLE;
        draw_panel(&mut out, panel, series, &across, top);
    }
    let bottom = shown.len() as f64 * (TITLE + HEIGHT);
    for tick in across.ticks(10) {
        text(&mut out, across.place(tick), bottom + 18.0, "middle", "", &across.label(tick));
    }
    let unit = if series.timed { "seconds" } else { "frames" };
    text(&mut out, RIGHT, bottom + AXIS + 10.0, "end", "", unit);
    out.push_str("</svg>\n");
    out
}

fn visible(panel: &Panel, series: &Series) -> Vec<(Figure, &'static str, &'static str)> {
    let has = |figure: Figure| series.mean(figure).is_some();
    panel.lines.iter().copied().filter(|(figure, ..)| has(*figure)).collect()
}

fn draw_panel(out: &mut String, panel: &Panel, series: &Series, across: &Axis, top: f64) {
    let lines = visible(panel, series);
    let up = Axis::up(panel, series, top);
    text(out, LEFT, top - 12.0, "start", "title", panel.title);
    // The legend, from the right.
    let mut right = RIGHT;
    for (_, name, class) in lines.iter().rev().filter(|_| lines.len() > 1) {
        text(out, right, top - 12.0, "end", "", name);
        right -= name.len() as f64 * 7.2 + 24.0;
        let y = top - 16.0;
        put(out, format_args!("<path class=\"line {class}\" d=\"M{:.1} {y:.1}h14\"/>", right + 6.0));
        right -= 8.0;
    }
    for tick in up.ticks(4) {
        let y = up.place(tick);
        put(out, format_args!("<path class=\"grid\" d=\"M{LEFT} {y:.1}H{RIGHT}\"/>"));
        text(out, LEFT - 8.0, y + 4.0, "end", "", &up.label(tick));
    }
    for point in series.points() {
        let x = across.place(point.at);
        if point.cuts > 0 {
            put(out, format_args!("<path class=\"cut\" d=\"M{x:.1} {top:.1}v{HEIGHT}\"/>"));
        }
        if point.flashes > 0 {
            put(out, format_args!("<path class=\"flash\" d=\"M{x:.1} {:.1}l-4 -7h8z\"/>", top + 7.0));
        }
    }
    for &(figure, _, class) in &lines {
        draw_line(out, series.points(), figure, class, across, &up);
    }
}

/// The means as a line, and a band from the lowest to the highest where a point is more than one frame.
fn draw_line(out: &mut String, points: &[Point], figure: Figure, class: &str, across: &Axis, up: &Axis) {
    let there: Vec<(f64, Values, f64)> = points
        .iter()
        .filter_map(|point| {
            let values = point.values(figure);
            Some((across.place(point.at), values, values.mean()?))
        })
        .collect();
    if let [(x, _, mean)] = there[..] {
        put(out, format_args!("<circle class=\"dot {class}\" cx=\"{x:.1}\" cy=\"{:.1}\" r=\"3\"/>", up.place(mean)));
        return;
    }
    let path = |places: &mut dyn Iterator<Item = (f64, f64)>| {
        places.fold(String::new(), |mut path, (x, value)| {
            let command = if path.is_empty() { 'M' } else { 'L' };
            put(&mut path, format_args!("{command}{x:.1} {:.1}", up.place(value)));
            path
        })
    };
    if there.iter().any(|(_, values, _)| values.max > values.min) {
        let highs = there.iter().map(|(x, values, _)| (*x, values.max));
        let lows = there.iter().rev().map(|(x, values, _)| (*x, values.min));
        put(out, format_args!("<path class=\"band {class}\" d=\"{}Z\"/>", path(&mut highs.chain(lows))));
    }
    let means = path(&mut there.iter().map(|(x, _, mean)| (*x, *mean)));
    put(out, format_args!("<path class=\"line {class}\" d=\"{means}\"/>"));
}

/// From values to places.
struct Axis {
    low: f64,
    high: f64,
    /// Where `low` and `high` lie.
    from: f64,
    to: f64,
}

impl Axis {
    fn across(series: &Series) -> Self {
        let low = series.points().first().map_or(0.0, |point| point.at);
        Axis { low, high: if series.end > low { series.end } else { low + 1.0 }, from: LEFT, to: RIGHT }
    }

    fn up(panel: &Panel, series: &Series, top: f64) -> Self {
        let mut all = Vec::new();
        for (figure, ..) in visible(panel, series) {
            all.extend(
                series.points().iter().map(|point| point.values(figure)).filter(|values| values.mean().is_some()),
            );
        }
        let lowest = all.iter().map(|values| values.min).fold(f64::INFINITY, f64::min);
        let highest = all.iter().map(|values| values.max).fold(f64::NEG_INFINITY, f64::max);
        let low = if panel.from_zero { 0.0 } else { lowest };
        let room = ((highest - low) * 0.06).max(highest.abs() * 0.01).max(1e-3);
        let low = if panel.from_zero { 0.0 } else { (low - room).max(0.0) };
        Axis { low, high: highest + room, from: top + HEIGHT, to: top }
    }

    fn place(&self, value: f64) -> f64 {
        self.from + (value - self.low) / (self.high - self.low) * (self.to - self.from)
    }

    /// The distance between ticks, of which there are about so many: 1, 2 or 5 times a power of ten.
    fn step(&self, about: u32) -> f64 {
        let rough = (self.high - self.low) / f64::from(about);
        let power = 10f64.powf(rough.log10().floor());
        let factor =
            [1.0, 2.0, 5.0].into_iter().find(|factor| factor * power >= rough * (1.0 - ROUNDING)).unwrap_or(10.0);
        factor * power
    }

    fn ticks(&self, about: u32) -> impl Iterator<Item = f64> {
        let step = self.step(about);
        let (first, last) = ((self.low / step - ROUNDING).ceil() as i64, (self.high / step + ROUNDING).floor() as i64);
        (first..=last).map(move |tick| tick as f64 * step)
    }

    fn label(&self, tick: f64) -> String {
        // Ticks are never closer than a tenth of the range.
        let decimals = (1.0 - (self.high - self.low).log10()).ceil().clamp(0.0, 6.0) as usize;
        let text = format!("{tick:.decimals$}");
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
    }
}

fn text(out: &mut String, x: f64, y: f64, anchor: &str, class: &str, text: &str) {
    let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
    put(out, format_args!("<text{class} x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>\n"));
}

fn put(out: &mut String, what: std::fmt::Arguments<'_>) {
    let Ok(()) = out.write_fmt(what) else { unreachable!("text takes everything") };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_numbers_inside_the_axis() {
        let axis = Axis { low: 3.2, high: 97.0, from: 0.0, to: 1.0 };
        assert_eq!(axis.ticks(4).collect::<Vec<_>>(), [50.0]);
        assert_eq!(axis.ticks(5).collect::<Vec<_>>(), [20.0, 40.0, 60.0, 80.0]);
        let small = Axis { low: 7.0, high: 7.04, from: 0.0, to: 1.0 };
        assert_eq!(
            small.ticks(4).map(|tick| small.label(tick)).collect::<Vec<_>>(),
            ["7", "7.01", "7.02", "7.03", "7.04"]
        );
    }
}

//! A report as one SVG picture. A table with an axis is drawn as lines over it, with both axes logarithmic; other
//! tables as bars.

use super::markdown::significant;
use super::svg::{Anchor, Axis, Drawing, line};
use super::{SuiteReport, Table, Unit, Value};
use histeq::Named;

/// The width of the drawing, the left and right edge of the lines, and the left edge of the legends.
const WIDTH: f64 = 1000.0;
const LEFT: f64 = 80.0;
const RIGHT: f64 = 700.0;
const LEGEND: f64 = 724.0;

/// The heights of a panel's lines, of its title, and of the axis below.
const HEIGHT: f64 = 280.0;
const TITLE: f64 = 44.0;
const AXIS: f64 = 56.0;

/// The height of a bar, and of a line of the legend.
const BAR: f64 = 20.0;
const LINE: f64 = 18.0;

/// The top of the first panel.
const TOP: f64 = 52.0;

/// The number of colours; further lines are dashed.
const COLOURS: usize = 8;

const STYLE: &str = "\
.paper{fill:#fff}text{font:12px system-ui,sans-serif;fill:#444}\
.head{font-size:16px;font-weight:600;fill:#111}.title{font-size:14px;font-weight:600;fill:#222}\
.grid{stroke:#e6e6e6}.line{fill:none;stroke-width:1.8;stroke-linejoin:round}.band{opacity:.18;stroke:none}\
.dashed{stroke-dasharray:5 3}.c0{stroke:#1971c2;fill:#1971c2}.c1{stroke:#d9480f;fill:#d9480f}\
.c2{stroke:#2b8a3e;fill:#2b8a3e}.c3{stroke:#9c36b5;fill:#9c36b5}.c4{stroke:#c99700;fill:#c99700}\
.c5{stroke:#0c8599;fill:#0c8599}.c6{stroke:#c2255c;fill:#c2255c}.c7{stroke:#6b7785;fill:#6b7785}\
.line.c0,.line.c1,.line.c2,.line.c3,.line.c4,.line.c5,.line.c6,.line.c7{fill:none}\
@media(prefers-color-scheme:dark){.paper{fill:#181818}text{fill:#bbb}.head,.title{fill:#eee}.grid{stroke:#333}\
.c0{stroke:#4dabf7;fill:#4dabf7}.c1{stroke:#ff8a50;fill:#ff8a50}.c2{stroke:#69db7c;fill:#69db7c}\
.c3{stroke:#da77f2;fill:#da77f2}.c4{stroke:#ffd43b;fill:#ffd43b}.c5{stroke:#3bc9db;fill:#3bc9db}\
.c6{stroke:#f783ac;fill:#f783ac}.c7{stroke:#adb5bd;fill:#adb5bd}}";

/// A line: a name, and its figures over the axis.
struct PlotLine {
    name: String,
    points: Vec<(f64, Value)>,
}

/// The drawing of a table's figures of one unit.
enum TablePanel<'a> {
    Lines {
        table: &'a Table,
        unit: Unit,
        lines: Vec<PlotLine>,
        ticks: Vec<(f64, String)>,
        axis: &'static str,
        /// The keys that name the lines.
        named_by: Vec<&'static str>,
    },
    Bars {
        table: &'a Table,
        unit: Unit,
        bars: Vec<(String, Value)>,
    },
}

/// The report as SVG, which needs no other file.
pub fn svg(report: &SuiteReport) -> String {
    let panels: Vec<TablePanel> = report.tables.iter().flat_map(panels).collect();
    let height = TOP + panels.iter().map(TablePanel::height).sum::<f64>() + 8.0;
    let mut drawing = Drawing::new((WIDTH, height), STYLE);
    drawing.rectangle((0.0, 0.0), (WIDTH, height), "paper");
    drawing.text((16.0, 26.0), Anchor::Start, "head", &format!("histeq-lab {}", report.suite.name()));
    let caption = format!("{}; {}; {}", report.machine.line(), report.date, report.repeats);
    drawing.text((16.0, 44.0), Anchor::Start, "", &caption);
    let mut top = TOP;
    for panel in &panels {
        panel.draw(&mut drawing, top + TITLE);
        top += panel.height();
    }
    drawing.finish()
}

/// A panel for each unit with drawn figures.
fn panels(table: &Table) -> Vec<TablePanel<'_>> {
    let mut units: Vec<Unit> = Vec::new();
    for measure in table.measured().filter(|measure| measure.drawn) {
        if !units.contains(&measure.unit) {
            units.push(measure.unit);
        }
    }
    units.into_iter().filter_map(|unit| panel(table, unit)).collect()
}

fn panel(table: &Table, unit: Unit) -> Option<TablePanel<'_>> {
    let Some(axis) = table.axis else {
        let bars = bars(table, unit);
        return (!bars.is_empty()).then_some(TablePanel::Bars { table, unit, bars });
    };
    let mut ticks: Vec<(f64, String)> =
        table.rows().iter().filter_map(|row| Some((row.at?, row.keys[axis].clone()))).collect();
    ticks.sort_by(|a, b| a.0.total_cmp(&b.0));
    ticks.dedup_by(|a, b| a.0 == b.0);
    let varying = varying_keys(table, axis);
    let lines = lines(table, unit, &varying);
    let named_by = varying.iter().map(|&key| table.keys[key]).collect();
    (!lines.is_empty()).then_some(TablePanel::Lines { table, unit, lines, ticks, axis: table.keys[axis], named_by })
}

/// The name of a line or a bar: the keys, and the measure if several are drawn.
fn name(table: &Table, unit: Unit, keys: &[&str], measure: &str) -> String {
    let several = table.measured().filter(|measure| measure.drawn && measure.unit == unit).count() > 1;
    let mut words = keys.to_vec();
    if several || words.is_empty() {
        words.push(measure);
    }
    words.join(", ")
}

/// The keys that distinguish lines: those with more than one value.
fn varying_keys(table: &Table, axis: usize) -> Vec<usize> {
    let drawn = || table.rows().iter().filter(|row| row.at.is_some());
    let varies = |key: usize| drawn().any(|row| drawn().next().is_some_and(|first| first.keys[key] != row.keys[key]));
    (0..table.keys.len()).filter(|&key| key != axis && varies(key)).collect()
}

fn lines(table: &Table, unit: Unit, varying: &[usize]) -> Vec<PlotLine> {
    let drawn = || table.rows().iter().filter_map(|row| Some((row, row.at?)));
    let mut lines: Vec<PlotLine> = Vec::new();
    for (row, at) in drawn() {
        let keys: Vec<&str> = varying.iter().map(|&key| row.keys[key].as_str()).collect();
        for measure in table.measures.iter().filter(|measure| measure.drawn && measure.unit == unit) {
            // 0 has no logarithm.
            let Some(value) = row.get(&measure.name).filter(|value| value.low > 0.0) else { continue };
            let name = name(table, unit, &keys, &measure.name);
            match lines.iter_mut().find(|line| line.name == name) {
                Some(line) => line.points.push((at, value)),
                None => lines.push(PlotLine { name, points: vec![(at, value)] }),
            }
        }
    }
    for line in &mut lines {
        line.points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    lines
}

fn bars(table: &Table, unit: Unit) -> Vec<(String, Value)> {
    let mut bars = Vec::new();
    for row in table.rows() {
        let keys: Vec<&str> = row.keys.iter().map(String::as_str).collect();
        for measure in table.measures.iter().filter(|measure| measure.drawn && measure.unit == unit) {
            let value = row.get(&measure.name);
            bars.extend(value.map(|value| (name(table, unit, &keys, &measure.name), value)));
        }
    }
    bars
}

impl TablePanel<'_> {
    fn height(&self) -> f64 {
        match self {
            TablePanel::Lines { lines, .. } => TITLE + HEIGHT.max(lines.len() as f64 * LINE) + AXIS,
            TablePanel::Bars { bars, .. } => TITLE + bars.len() as f64 * BAR + AXIS,
        }
    }

    fn draw(&self, drawing: &mut Drawing, top: f64) {
        let (TablePanel::Lines { table, unit, .. } | TablePanel::Bars { table, unit, .. }) = self;
        let title = format!("{} ({})", table.title, unit.symbol());
        drawing.text((16.0, top - 16.0), Anchor::Start, "title", &title);
        match self {
            TablePanel::Lines { lines, ticks, axis, named_by, .. } => {
                draw_lines(drawing, lines, ticks, top);
                let along = format!("{axis} (logarithmic)");
                drawing.text(((LEFT + RIGHT) / 2.0, top + HEIGHT + 38.0), Anchor::Middle, "", &along);
                let up = format!("{} ({}, logarithmic)", unit.quantity(), unit.symbol());
                drawing.text_upwards((20.0, top + HEIGHT / 2.0), &up);
                drawing.text((LEGEND, top - 8.0), Anchor::Start, "", &named_by.join(", "));
            }
            TablePanel::Bars { table, bars, .. } => {
                draw_bars(drawing, bars, top);
                let along = format!("{} ({})", unit.quantity(), unit.symbol());
                let under = top + bars.len() as f64 * BAR + 16.0;
                drawing.text((WIDTH - 90.0, under), Anchor::End, "", &along);
                drawing.text((16.0, under), Anchor::Start, "", &table.keys.join(", "));
            }
        }
    }
}

fn draw_lines(drawing: &mut Drawing, lines: &[PlotLine], ticks: &[(f64, String)], top: f64) {
    let (across, up) = (across(ticks), up(lines, top));
    for (tick, label) in up.ticks() {
        let y = up.place(tick);
        drawing.path("grid", format_args!("M{LEFT} {y:.1}H{RIGHT}"));
        drawing.text((LEFT - 8.0, y + 4.0), Anchor::End, "", &label);
    }
    let mut free = f64::NEG_INFINITY;
    for (at, label) in ticks {
        let x = across.place(*at);
        drawing.path("grid", format_args!("M{x:.1} {top:.1}v{HEIGHT}"));
        // Labels that would overlap are left out.
        let half = label.chars().count() as f64 * 3.4;
        if x - half > free {
            drawing.text((x, top + HEIGHT + 18.0), Anchor::Middle, "", label);
            free = x + half + 6.0;
        }
    }
    for (index, PlotLine { name, points }) in lines.iter().enumerate() {
        let (colour, dashed) = (index % COLOURS, if index / COLOURS % 2 == 1 { " dashed" } else { "" });
        let places =
            |of: fn(&Value) -> f64| points.iter().map(move |(at, value)| (across.place(*at), up.place(of(value))));
        if points.len() > 1 {
            let band = line(places(|value| value.high).chain(places(|value| value.low).rev()));
            drawing.path(&format!("band c{colour}"), format_args!("{band}Z"));
            let medians = line(places(|value| value.median));
            drawing.path(&format!("line c{colour}{dashed}"), format_args!("{medians}"));
        }
        places(|value| value.median).for_each(|place| drawing.dot(place, 2.6, &format!("c{colour}")));
        let y = top + 10.0 + index as f64 * LINE;
        drawing.path(&format!("line c{colour}{dashed}"), format_args!("M{LEGEND} {:.1}h22", y - 4.0));
        drawing.text((LEGEND + 30.0, y), Anchor::Start, "", name);
    }
}

/// The horizontal axis, with a margin at both ends.
fn across(ticks: &[(f64, String)]) -> Axis {
    let low = ticks.first().map_or(1.0, |tick| tick.0);
    let high = ticks.last().map_or(1.0, |tick| tick.0);
    let room = (high / low).powf(0.06).max(1.02);
    Axis::new((low / room, high * room), (LEFT, RIGHT))
}

fn up(lines: &[PlotLine], top: f64) -> Axis {
    let values = || lines.iter().flat_map(|line| &line.points).map(|(_, value)| value);
    let low = values().map(|value| value.low).fold(f64::INFINITY, f64::min);
    let high = values().map(|value| value.high).fold(0.0, f64::max);
    let room = (high / low).powf(0.05).max(1.1);
    Axis::new((low / room, high * room), (top + HEIGHT, top))
}

/// Draws a bar to the median, and a stroke from quartile to quartile.
fn draw_bars(drawing: &mut Drawing, bars: &[(String, Value)], top: f64) {
    let longest = bars.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0) as f64;
    let left = (16.0 + longest * 6.8 + 10.0).min(RIGHT);
    let highest = bars.iter().map(|(_, value)| value.median).fold(0.0, f64::max).max(f64::MIN_POSITIVE) * 1.15;
    let place = |figure: f64| left + figure / highest * (WIDTH - 90.0 - left);
    for (index, (name, value)) in bars.iter().enumerate() {
        let y = top + index as f64 * BAR;
        drawing.text((left - 8.0, y + 14.0), Anchor::End, "", name);
        let [low, end, high] = [value.low, value.median, value.high.min(highest)].map(place);
        drawing.rectangle((left, y + 3.0), ((end - left).max(1.0), BAR - 6.0), "c0");
        drawing.path("line c7", format_args!("M{low:.1} {:.1}H{high:.1}", y + BAR / 2.0));
        drawing.text((high.max(end) + 8.0, y + 14.0), Anchor::Start, "", &significant(value.median));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Row;

    #[test]
    fn a_table_without_an_axis_is_drawn_as_bars() {
        let mut table = Table::new("t", "T", &["kernel"]).measures(["time"], Unit::Microseconds);
        table.push(Row::new(["a < b"]).with("time", Value::of(&[1.0, 2.0, 3.0])));
        let [panel] = &panels(&table)[..] else { panic!("not one panel") };
        assert!(matches!(panel, TablePanel::Bars { bars, .. } if bars.len() == 1));
        let mut drawing = Drawing::new((WIDTH, panel.height()), "");
        panel.draw(&mut drawing, TITLE);
        let text = drawing.finish();
        assert!(text.contains("a &lt; b") && text.contains("<rect ") && text.contains("time (µs)"), "{text}");
    }
}

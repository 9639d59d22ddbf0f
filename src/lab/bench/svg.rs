//! SVG for plots: a drawing that escapes its text, and logarithmic axes with round ticks.

use std::fmt::{Arguments, Write};

/// The alignment of text.
#[derive(Clone, Copy, Debug)]
pub enum Anchor {
    /// The text begins at its position.
    Start,
    /// The text is centred at its position.
    Middle,
    /// The text ends at its position.
    End,
}

/// An SVG drawing.
pub struct Drawing(String);

impl Drawing {
    /// An empty drawing of this width and height, with the style sheet `style` (CSS).
    pub fn new((width, height): (f64, f64), style: &str) -> Self {
        Drawing(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" role=\"img\">\n\
             <style>{style}</style>\n"
        ))
    }

    /// Writes `text` on the line at (x, y).
    pub fn text(&mut self, (x, y): (f64, f64), anchor: Anchor, class: &str, text: &str) {
        let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        self.put(format_args!("<text{class} x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>\n"));
    }

    /// Writes `text` upwards, with its middle at (x, y).
    pub fn text_upwards(&mut self, (x, y): (f64, f64), text: &str) {
        self.put(format_args!("<g transform=\"translate({x:.1} {y:.1}) rotate(-90)\">"));
        self.text((0.0, 0.0), Anchor::Middle, "", text);
        self.put(format_args!("</g>\n"));
    }

    /// Draws a path; `shape` is its `d` attribute.
    pub fn path(&mut self, class: &str, shape: Arguments<'_>) {
        self.put(format_args!("<path class=\"{class}\" d=\"{shape}\"/>"));
    }

    /// Draws a dot.
    pub fn dot(&mut self, (x, y): (f64, f64), radius: f64, class: &str) {
        self.put(format_args!("<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\"/>"));
    }

    /// Draws a rectangle.
    pub fn rectangle(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), class: &str) {
        self.put(format_args!(
            "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"/>"
        ));
    }

    /// The finished file.
    pub fn finish(mut self) -> String {
        self.0.push_str("</svg>\n");
        self.0
    }

    fn put(&mut self, what: Arguments<'_>) {
        let Ok(()) = self.0.write_fmt(what) else { unreachable!("text takes everything") };
    }
}

/// The `d` attribute of a line through these points.
pub fn line(points: impl IntoIterator<Item = (f64, f64)>) -> String {
    let points: Vec<String> = points.into_iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
    format!("M{}", points.join("L"))
}

/// A logarithmic axis of a plot.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    low: f64,
    high: f64,
    /// The positions of `low` and `high`.
    from: f64,
    to: f64,
}

impl Axis {
    /// An axis with `low`, which is greater than 0, at position `from`, and `high`, which is greater than `low`, at
    /// `to`.
    pub fn new((low, high): (f64, f64), (from, to): (f64, f64)) -> Self {
        Axis { low, high, from, to }
    }

    /// The position of `value`.
    pub fn place(&self, value: f64) -> f64 {
        self.from + (value / self.low).ln() / (self.high / self.low).ln() * (self.to - self.from)
    }

    /// 1, 2 and 5 times the powers of ten inside of the axis, with their labels; only the powers of ten on more than
    /// three decades.
    pub fn ticks(&self) -> Vec<(f64, String)> {
        let decades = (self.high / self.low).log10();
        let factors: &[f64] = if decades > 3.0 { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let powers = self.low.log10().floor() as i32..=self.high.log10().ceil() as i32;
        let ticks = powers.flat_map(|power| factors.iter().map(move |factor| (factor * 10f64.powi(power), power)));
        let inside = ticks.filter(|(tick, _)| (self.low..=self.high).contains(tick));
        inside.map(|(tick, power)| (tick, format!("{tick:.*}", (-power).max(0) as usize))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_has_equal_factors_at_equal_distances_and_round_ticks() {
        let labels = |axis: Axis| axis.ticks().into_iter().map(|(_, label)| label).collect::<Vec<_>>();
        let axis = Axis::new((0.4, 40.0), (100.0, 300.0));
        assert!((axis.place(4.0) - 200.0).abs() < 1e-9);
        assert_eq!(labels(axis), ["0.5", "1", "2", "5", "10", "20"]);
        assert_eq!(labels(Axis::new((0.05, 2000.0), (0.0, 1.0))), ["0.1", "1", "10", "100", "1000"]);
    }
}

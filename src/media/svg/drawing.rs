//! A writer of SVG drawings: text, paths and shapes.

use super::Axis;
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

/// The coordinates of several values at one position of a plot.
#[derive(Clone, Copy, Debug)]
pub struct Spread {
    /// Distance from the left.
    pub x: f64,
    /// Of the lowest value, from the top.
    pub low: f64,
    /// Of the median or mean, from the top.
    pub middle: f64,
    /// Of the highest value, from the top.
    pub high: f64,
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

    /// An empty drawing that is stretched to any width and height.
    pub fn stretched((width, height): (f64, f64)) -> Self {
        Drawing(format!("<svg viewBox=\"0 0 {width} {height}\" preserveAspectRatio=\"none\" aria-hidden=\"true\">"))
    }

    /// Writes `text` on the line at (x, y).
    pub fn text(&mut self, (x, y): (f64, f64), anchor: Anchor, class: &str, text: &str) {
        let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let text = escaped(text);
        self.put(format_args!("<text{class} x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>\n"));
    }

    /// Draws a path; `shape` is its `d` attribute.
    pub fn path(&mut self, class: &str, shape: Arguments<'_>) {
        self.put(format_args!("<path class=\"{class}\" d=\"{shape}\"/>"));
    }

    /// Draws a horizontal line from `left` to `right` at each of about `about` ticks of `up`, with its label at the left.
    pub fn grid(&mut self, up: &Axis, about: u32, (left, right): (f64, f64)) {
        for tick in up.ticks(about) {
            let y = up.place(tick);
            self.path("grid", format_args!("M{left} {y:.1}H{right}"));
            self.text((left - 8.0, y + 4.0), Anchor::End, "", &up.label(tick));
        }
    }

    /// Draws a line through the middle values of `spreads`.
    pub fn line(&mut self, class: &str, spreads: &[Spread]) {
        self.path(class, format_args!("{}", path(spreads.iter().map(|spread| (spread.x, spread.middle)))));
    }

    /// Fills the area between the lowest and the highest values of `spreads`.
    pub fn band(&mut self, class: &str, spreads: &[Spread]) {
        let highs = spreads.iter().map(|spread| (spread.x, spread.high));
        let lows = spreads.iter().rev().map(|spread| (spread.x, spread.low));
        self.path(class, format_args!("{}Z", path(highs.chain(lows))));
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
fn path(points: impl Iterator<Item = (f64, f64)>) -> String {
    points.fold(String::new(), |mut path, (x, y)| {
        let command = if path.is_empty() { 'M' } else { 'L' };
        let Ok(()) = write!(path, "{command}{x:.1} {y:.1}") else { unreachable!("text takes everything") };
        path
    })
}

/// `text` with the special characters of XML and HTML escaped.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

//! A drawing under way: text, paths, and the end of the file.

use super::Axis;
use std::fmt::{Arguments, Write};

/// Where text begins.
#[derive(Clone, Copy, Debug)]
pub enum Anchor {
    /// At its place.
    Start,
    /// So that its place is its middle.
    Middle,
    /// So that it ends there.
    End,
}

/// Several values at one place of a plot: where their lowest, their highest and the one in the middle lie.
#[derive(Clone, Copy, Debug)]
pub struct Spread {
    /// From the left.
    pub x: f64,
    /// From the top, like the others.
    pub low: f64,
    /// The median, or the mean.
    pub middle: f64,
    /// Above the others.
    pub high: f64,
}

/// An SVG that is being written.
pub struct Drawing(String);

impl Drawing {
    /// An empty drawing of this width and height, whose classes look like `style` (CSS).
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
        let text = escaped(text);
        self.put(format_args!("<text{class} x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>\n"));
    }

    /// Draws a path of this shape.
    pub fn path(&mut self, class: &str, shape: Arguments<'_>) {
        self.put(format_args!("<path class=\"{class}\" d=\"{shape}\"/>"));
    }

    /// Draws a line from `left` to `right` at each of about `about` ticks of `up`, with its value at the left.
    pub fn grid(&mut self, up: &Axis, about: u32, (left, right): (f64, f64)) {
        for tick in up.ticks(about) {
            let y = up.place(tick);
            self.path("grid", format_args!("M{left} {y:.1}H{right}"));
            self.text((left - 8.0, y + 4.0), Anchor::End, "", &up.label(tick));
        }
    }

    /// Draws a line through the middles of `spreads`.
    pub fn line(&mut self, class: &str, spreads: &[Spread]) {
        self.path(class, format_args!("{}", path(spreads.iter().map(|spread| (spread.x, spread.middle)))));
    }

    /// Fills what lies between the lows and the highs of `spreads`.
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

/// The shape of a line through these points.
fn path(points: impl Iterator<Item = (f64, f64)>) -> String {
    points.fold(String::new(), |mut path, (x, y)| {
        let command = if path.is_empty() { 'M' } else { 'L' };
        let Ok(()) = write!(path, "{command}{x:.1} {y:.1}") else { unreachable!("text takes everything") };
        path
    })
}

/// Text that XML and HTML take for text.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

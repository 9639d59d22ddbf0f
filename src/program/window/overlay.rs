//! Drawing over the picture: status line, labels, divider, list of keys, no signal.

use crate::draw::chart::Canvas;
use embedded_graphics::Drawable;
use embedded_graphics::mono_font::ascii::{FONT_7X13_BOLD, FONT_9X18_BOLD};
use embedded_graphics::mono_font::{MonoFont, MonoTextStyle};
use embedded_graphics::pixelcolor::Rgb888;
use embedded_graphics::prelude::{DrawTarget, OriginDimensions, Point, RgbColor, Size};
use embedded_graphics::primitives::{Primitive, PrimitiveStyle, Rectangle, Styled};
use embedded_graphics::text::{Baseline, Text};
use std::ops::Range;

/// Margin around text, in points.
pub const MARGIN: i32 = 6;

const LARGE: &MonoFont = &FONT_9X18_BOLD;
/// The font of labels.
pub const SMALL: &MonoFont = &FONT_7X13_BOLD;

/// Draws the status line at the bottom, in the small font if the large one does not fit.
pub fn status_line(canvas: &mut Canvas, text: &str) {
    let (width, height) = canvas_size(canvas);
    let font = [LARGE, SMALL].into_iter().find(|font| text_width(text, font) + 2 * MARGIN <= width).unwrap_or(SMALL);
    let line = font.character_size.height as i32 + MARGIN;
    let top = height - line;
    shade(canvas, Point::new(0, top), (width, line));
    write(canvas, text, Point::new(MARGIN, top + MARGIN / 2), font, Rgb888::WHITE);
}

/// Draws lines in the middle, in the small font if the large one does not fit.
pub fn centred(canvas: &mut Canvas, lines: &[&str]) {
    let (width, height) = canvas_size(canvas);
    let longest = lines.iter().map(|line| line.len()).max().unwrap_or(0) as i32;
    let size = |font: &MonoFont| {
        let (letter, line) = (font.character_size.width as i32, font.character_size.height as i32 + MARGIN / 2);
        (longest * letter + 4 * MARGIN, lines.len() as i32 * line + 4 * MARGIN)
    };
    let fits = |font: &&MonoFont| size(font).0 <= width && size(font).1 <= height;
    let font = [LARGE, SMALL].into_iter().find(fits).unwrap_or(SMALL);
    let (size, line) = (size(font), font.character_size.height as i32 + MARGIN / 2);
    let corner = Point::new((width - size.0) / 2, (height - size.1) / 2);
    shade(canvas, corner, size);
    for (index, text) in lines.iter().enumerate() {
        let place = corner + Point::new(2 * MARGIN, 2 * MARGIN + index as i32 * line);
        write(canvas, text, place, font, Rgb888::WHITE);
    }
}

/// Draws a label above the status line, to the right of `x`, or to the left of it with `before`.
pub fn label(canvas: &mut Canvas, text: &str, x: i32, before: bool) {
    let size = (text_width(text, SMALL) + 2 * MARGIN, SMALL.character_size.height as i32 + MARGIN);
    let status = LARGE.character_size.height as i32 + MARGIN;
    let corner = Point::new(if before { x - size.0 } else { x }, canvas_size(canvas).1 - status - size.1);
    shade(canvas, corner, size);
    write(canvas, text, corner + Point::new(MARGIN, MARGIN / 2), SMALL, Rgb888::WHITE);
}

/// Draws the divider of the split view: a white line between black ones, visible on any picture.
pub fn divider(canvas: &mut Canvas, x: i32, rows: Range<i32>) {
    for (x, width, colour) in [(x - 1, 3, Rgb888::BLACK), (x, 1, Rgb888::WHITE)] {
        let bar = Rectangle::new(Point::new(x, rows.start), Size::new(width, rows.len() as u32));
        let Ok(()) = canvas.fill_solid(&bar, colour);
    }
}

/// Width and height in points.
pub fn canvas_size(canvas: &Canvas) -> (i32, i32) {
    (canvas.size().width as i32, canvas.size().height as i32)
}

/// Width of `text` in points.
pub fn text_width(text: &str, font: &MonoFont) -> i32 {
    text.len() as i32 * font.character_size.width as i32
}

/// Darkens a part of the picture.
pub fn shade(canvas: &mut Canvas, corner: Point, (width, height): (i32, i32)) {
    canvas.shade(Rectangle::new(corner, Size::new(width.max(0) as u32, height.max(0) as u32)));
}

/// Writes `text` with its upper left corner at `place`.
pub fn write(canvas: &mut Canvas, text: &str, place: Point, font: &MonoFont, colour: Rgb888) {
    let style = MonoTextStyle::new(font, colour);
    let Ok(_) = Text::with_baseline(text, place, style, Baseline::Top).draw(canvas);
}

/// Draws the outline of `shape`, `width` points wide.
pub fn draw<P: Primitive>(canvas: &mut Canvas, shape: P, colour: Rgb888, width: u32)
where
    Styled<P, PrimitiveStyle<Rgb888>>: Drawable<Color = Rgb888>,
{
    let Ok(_) = shape.into_styled(PrimitiveStyle::with_stroke(colour, width)).draw(canvas);
}

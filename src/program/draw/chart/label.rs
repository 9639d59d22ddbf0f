//! Text labels on pictures.

use super::Canvas;
use embedded_graphics::mono_font::iso_8859_1::{FONT_6X10, FONT_10X20};
use embedded_graphics::mono_font::{MonoFont, MonoTextStyle};
use embedded_graphics::pixelcolor::Rgb888;
use embedded_graphics::prelude::{Dimensions, DrawTarget, Point, RgbColor, Size};
use embedded_graphics::primitives::Rectangle;
use embedded_graphics::text::{Baseline, Text};
use embedded_graphics::{Drawable, Pixel};
use std::convert::Infallible;

/// The size of letters and lines for a picture.
#[derive(Clone, Copy)]
pub struct Lettering {
    font: &'static MonoFont<'static>,
    /// Pixels of the picture for a pixel of the font; also the width of lines.
    pub scale: u32,
}

impl Lettering {
    /// A readable size for a picture of `rows` rows.
    pub fn for_height(rows: usize) -> Self {
        let font = if rows < 360 { &FONT_6X10 } else { &FONT_10X20 };
        Lettering { font, scale: (rows as u32 / 540).max(1) }
    }

    /// The size of a letter, in pixels.
    pub fn letter(self) -> Size {
        self.font.character_size * self.scale
    }

    /// The distance between labels and charts, and from the edge.
    pub fn margin(self) -> u32 {
        self.letter().width / 2 + 1
    }
}

/// The alignment of a label.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// At the left edge.
    Left,
    /// At the right edge.
    Right,
}

/// Draws `text` on a dark background at the top of these columns. Text that is too long is truncated at its beginning,
/// since file names differ at their end.
pub fn label(canvas: &mut Canvas, text: &str, columns: std::ops::Range<usize>, side: Side, lettering: Lettering) {
    let (letter, margin) = (lettering.letter(), lettering.margin());
    let room = (columns.len() as u32).saturating_sub(4 * margin) / letter.width;
    let text = shortened(text, room as usize);
    if text.is_empty() {
        return;
    }
    let size = Size::new(text.chars().count() as u32 * letter.width + 2 * margin, letter.height + margin);
    let x = match side {
        Side::Left => columns.start as i32 + margin as i32,
        Side::Right => columns.end as i32 - (margin + size.width) as i32,
    };
    let corner = Point::new(x, margin as i32);
    canvas.shade(Rectangle::new(corner, size));
    words(canvas, &text, corner + Point::new(margin as i32, margin as i32 / 2), lettering);
}

/// Draws `text` in white, with its upper left corner at `place`.
pub fn words(canvas: &mut Canvas, text: &str, place: Point, lettering: Lettering) {
    let mut enlarged = Enlarged { canvas, at: place, scale: lettering.scale };
    let style = MonoTextStyle::new(lettering.font, Rgb888::WHITE);
    let Ok(_) = Text::with_baseline(text, Point::zero(), style, Baseline::Top).draw(&mut enlarged);
}

fn shortened(text: &str, room: usize) -> String {
    let count = text.chars().count();
    if count <= room {
        return text.to_owned();
    }
    if room < 4 { String::new() } else { "..".chars().chain(text.chars().skip(count - room + 2)).collect() }
}

/// A canvas that draws each pixel as a square of `scale` x `scale` pixels.
struct Enlarged<'a, 'b> {
    canvas: &'a mut Canvas<'b>,
    at: Point,
    scale: u32,
}

impl Dimensions for Enlarged<'_, '_> {
    fn bounding_box(&self) -> Rectangle {
        self.canvas.bounding_box()
    }
}

impl DrawTarget for Enlarged<'_, '_> {
    type Color = Rgb888;
    type Error = Infallible;

    fn draw_iter<I: IntoIterator<Item = Pixel<Rgb888>>>(&mut self, pixels: I) -> Result<(), Infallible> {
        for Pixel(point, colour) in pixels {
            let corner = self.at + point * self.scale as i32;
            self.canvas.fill_solid(&Rectangle::new(corner, Size::new_equal(self.scale)), colour)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::shortened;

    #[test]
    fn long_names_keep_their_end() {
        assert_eq!(shortened("night.mp4", 9), "night.mp4");
        assert_eq!(shortened("long/path/night.mp4", 11), "..night.mp4");
        assert_eq!(shortened("night.mp4", 3), "");
    }
}

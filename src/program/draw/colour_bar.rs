//! A bar of the colours of a palette, with labels of the values that they show.

use super::chart::{Canvas, Lettering, words};
use crate::palette::{Palette, WHITE};
use embedded_graphics::pixelcolor::Rgb888;
use embedded_graphics::prelude::{DrawTarget, Point, Size};
use embedded_graphics::primitives::Rectangle;

/// The most labels of a bar: at black, white, and three colours at equal distances between them.
pub const LABELS: usize = 5;

/// Letters that a label has room for without making the bar wider.
const LETTERS: usize = 5;

/// The colour of the line around the bar.
const OUTLINE: Rgb888 = Rgb888::new(128, 128, 128);

/// A bar, and its position in the frame.
pub struct ColourBar {
    /// The column and the row of its upper left corner.
    pub at: (usize, usize),
    /// Its size in pixels.
    pub size: (usize, usize),
    /// Its pixels, row by row: 0RGB.
    pub pixels: Vec<u32>,
}

impl ColourBar {
    /// Draws a bar on black for the right edge of a frame of this size in pixels, with the last label at the top;
    /// `None` if the first label, the middle one and the last one do not fit.
    pub fn draw((width, height): (usize, usize), palette: Palette, labels: &[String; LABELS]) -> Option<Self> {
        let lettering = Lettering::for_height(height);
        let (letter, margin) = (lettering.letter(), lettering.margin() as usize);
        let (letter_width, letter_height) = (letter.width as usize, letter.height as usize);
        let letters = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0).max(LETTERS);
        let (text, bar) = (letters * letter_width, 2 * letter_width);
        // The first and last labels extend beyond the bar by half the height of a letter.
        let edges = letter_height + 2 * margin;
        let size = (text + bar + 3 * margin, (height * 3 / 4).max((edges + 2 * letter_height + 1).min(height)));
        let length = size.1.checked_sub(edges).filter(|length| *length > 2 * letter_height)?;
        if 4 * size.0 > 3 * width {
            return None;
        }
        let mut pixels = vec![0; size.0 * size.1];
        let mut canvas = Canvas::new(&mut pixels, size, 1);
        let top = margin + letter_height / 2;
        // The outline separates the black end of the bar from the black background.
        let outline = Rectangle::new(
            Point::new((text + 2 * margin) as i32 - 1, top as i32 - 1),
            Size::new(bar as u32 + 2, length as u32 + 2),
        );
        let Ok(()) = canvas.fill_solid(&outline, OUTLINE);
        for row in 0..length {
            let share = (length - 1 - row) * WHITE as usize / (length - 1);
            let [r, g, b] = palette.colour_up_to(share as u32, 255).map(|component| component as u8);
            let corner = Point::new((text + 2 * margin) as i32, (top + row) as i32);
            let Ok(()) = canvas.fill_solid(&Rectangle::new(corner, Size::new(bar as u32, 1)), Rgb888::new(r, g, b));
        }
        let step = if length > 6 * letter_height { 1 } else { 2 };
        for (index, label) in labels.iter().enumerate().step_by(step) {
            let middle = top + (LABELS - 1 - index) * (length - 1) / (LABELS - 1);
            let left = margin + text - label.chars().count() * letter_width;
            words(&mut canvas, label, Point::new(left as i32, (middle - letter_height / 2) as i32), lettering);
        }
        let place = (width - size.0, (height - size.1) / 2);
        Some(ColourBar { at: place, size, pixels })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(size: (usize, usize)) -> Option<ColourBar> {
        ColourBar::draw(size, Palette::Lava, &["20000", "1", "20512", "3", "21000"].map(str::to_owned))
    }

    #[test]
    fn bars_fit_into_pictures_of_all_sizes_that_cameras_have() {
        for size in [(80, 60), (160, 120), (320, 256), (640, 512), (1280, 1024), (3840, 2160), (120, 1000)] {
            let bar = bar(size).unwrap_or_else(|| panic!("no bar in {size:?}"));
            assert!(bar.at.0 + bar.size.0 == size.0 && bar.at.1 + bar.size.1 <= size.1, "{size:?}: {:?}", bar.size);
            assert!(4 * bar.size.0 <= 3 * size.0 && bar.pixels.len() == bar.size.0 * bar.size.1);
        }
        assert!(bar((64, 40)).is_none() && bar((40, 64)).is_none() && bar((1, 1)).is_none());
    }

    #[test]
    fn white_is_at_the_top_and_black_at_the_bottom() {
        let bar = bar((320, 256)).expect("room");
        let (column, edge) = (bar.size.0 - 7, 4 + 5);
        let value_at = |row: usize| bar.pixels[row * bar.size.0 + column];
        assert_eq!((value_at(edge), value_at(bar.size.1 - 1 - edge)), (0xff_ffff, 0));
        // Labels lie left of both ends and of the middle.
        let is_lit = |row: usize| bar.pixels[row * bar.size.0..][..5 * 6].contains(&0xff_ffff);
        assert!(is_lit(edge) && is_lit(bar.size.1 - 1 - edge) && is_lit(bar.size.1 / 2));
    }

    #[test]
    fn where_there_is_little_room_the_ends_and_the_middle_have_labels() {
        let labels = |size| {
            let bar = bar(size).expect("room");
            let lit = |row: &[u32]| row[..34].contains(&0xff_ffff);
            let rows: Vec<bool> = bar.pixels.chunks(bar.size.0).map(lit).collect();
            rows.windows(2).filter(|pair| !pair[0] && pair[1]).count()
        };
        assert_eq!((labels((160, 60)), labels((320, 256))), (3, 5));
    }
}

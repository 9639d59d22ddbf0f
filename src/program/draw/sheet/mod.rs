//! A sheet of small pictures in rows and columns, with labels (`preview`).

mod miniature;

pub use miniature::Miniatures;

use crate::draw::chart::Canvas;
use embedded_graphics::Drawable;
use embedded_graphics::mono_font::MonoTextStyle;
use embedded_graphics::mono_font::ascii::FONT_10X20;
use embedded_graphics::pixelcolor::Rgb888;
use embedded_graphics::prelude::{Dimensions, DrawTarget, Point};
use embedded_graphics::text::{Baseline, Text};
use histeq::frame::{Frame, FrameError, HostPool};

const BACKGROUND: Rgb888 = Rgb888::new(28, 28, 28);
const LETTERS: Rgb888 = Rgb888::new(225, 225, 225);

/// Pixels between the cells, and around the labels.
const GAP: usize = 8;

/// The pictures of a column, `bgr0`, from the top to the bottom.
pub struct Column {
    /// The label above; may be empty.
    pub label: String,
    /// A picture for each row.
    pub pictures: Vec<Frame>,
}

/// The sheet as a `bgr0` picture; `rows` has their labels. All cells have the size of the largest picture; smaller ones
/// are centred.
///
/// # Errors
/// When there is no picture.
pub fn draw(rows: &[String], columns: &[Column]) -> Result<Frame, FrameError> {
    let layout = Layout::new(rows, columns);
    let (width, height) = layout.size;
    let mut pixels = vec![0; width * height];
    let mut canvas = Canvas::new(&mut pixels, layout.size, 1);
    let whole = canvas.bounding_box();
    let Ok(()) = canvas.fill_solid(&whole, BACKGROUND);
    for (y, label) in rows.iter().enumerate() {
        let (_, top) = layout.corner(0, y);
        let middle = Point::new(2 * GAP as i32, (top + layout.cell.1 / 2) as i32);
        text(&mut canvas, label, middle, Baseline::Middle);
    }
    for (x, column) in columns.iter().enumerate() {
        let (left, _) = layout.corner(x, 0);
        text(&mut canvas, &column.label, Point::new(left as i32, GAP as i32), Baseline::Top);
        for (y, picture) in column.pictures.iter().enumerate() {
            let (left, top) = layout.corner(x, y);
            let beside = |cell: usize, length: usize| cell.saturating_sub(length) / 2;
            let at = (left + beside(layout.cell.0, picture.width()), top + beside(layout.cell.1, picture.height()));
            canvas.copy(picture, at, 0..picture.width());
        }
    }
    canvas.to_frame(&HostPool::default())
}

fn text(canvas: &mut Canvas, text: &str, at: Point, baseline: Baseline) {
    let Ok(_) = Text::with_baseline(text, at, MonoTextStyle::new(&FONT_10X20, LETTERS), baseline).draw(canvas);
}

/// Where the cells are, in pixels.
struct Layout {
    /// Width and height of a cell.
    cell: (usize, usize),
    /// Left edge of the first column.
    left: usize,
    /// Upper edge of the first row.
    top: usize,
    /// Width and height of the sheet.
    size: (usize, usize),
}

impl Layout {
    fn new(rows: &[String], columns: &[Column]) -> Self {
        let pictures = || columns.iter().flat_map(|column| &column.pictures);
        let letter = FONT_10X20.character_size;
        let room = |label: &str| label.chars().count() * letter.width as usize;
        // Labels have room beside and above the pictures.
        let cell = (
            pictures().map(Frame::width).chain(columns.iter().map(|column| room(&column.label))).max().unwrap_or(0),
            pictures().map(Frame::height).max().unwrap_or(0).max(letter.height as usize),
        );
        let left = rows.iter().map(|label| room(label)).max().unwrap_or(0) + 4 * GAP;
        let has_header = columns.iter().any(|column| !column.label.is_empty());
        let top = if has_header { letter.height as usize + 2 * GAP } else { GAP };
        let size = (left + columns.len() * (cell.0 + GAP), top + rows.len() * (cell.1 + GAP));
        Layout { cell, left, top, size }
    }

    /// The upper left corner of a cell.
    fn corner(&self, column: usize, row: usize) -> (usize, usize) {
        (self.left + column * (self.cell.0 + GAP), self.top + row * (self.cell.1 + GAP))
    }
}

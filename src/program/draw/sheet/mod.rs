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
use histeq::internal::frame::{Frame, FrameError, HostPool};

const BACKGROUND: Rgb888 = Rgb888::new(28, 28, 28);
const LETTERS: Rgb888 = Rgb888::new(225, 225, 225);

/// Pixels between the cells, and around the labels.
const GAP: usize = 8;

/// The height of a line of a label, in pixels.
const LINE: usize = 22;

/// Two frames whose samples differ by more levels on average are visibly different.
const MAX_APART: u64 = 3;

/// If more than one sample in a hundred differs by more levels than this, the difference is visible.
const FAR: u8 = 16;

/// The pictures of a column, `bgr0`, from the top to the bottom.
pub struct Column {
    /// The label above; may be empty.
    pub label: String,
    /// A picture for each row.
    pub pictures: Vec<Frame>,
}

/// For each row, the first row above it that looks the same in all columns, if one does.
pub fn alike(columns: &[Column]) -> Vec<Option<usize>> {
    let rows = columns.first().map_or(0, |column| column.pictures.len());
    let are_alike = |above: usize, row: usize| {
        columns.iter().all(|Column { pictures, .. }| look_alike(&pictures[above], &pictures[row]))
    };
    (0..rows).map(|row| (0..row).find(|&above| are_alike(above, row))).collect()
}

/// Whether nobody sees a difference between two pictures of one frame.
fn look_alike(one: &Frame, other: &Frame) -> bool {
    let (mut apart, mut far, mut count) = (0, 0, 0);
    for y in 0..one.height().min(other.height()) {
        for (a, b) in samples(one, y).zip(samples(other, y)) {
            apart += u64::from(a.abs_diff(b));
            far += u64::from(a.abs_diff(b) > FAR);
            count += 1;
        }
    }
    apart <= MAX_APART * count && 100 * far <= count
}

/// Blue, green and red of a row of a `bgr0` frame.
fn samples(frame: &Frame, y: usize) -> impl Iterator<Item = u8> {
    let pixels = frame.planes()[0].row(y)[..4 * frame.width()].chunks_exact(4);
    pixels.flat_map(|pixel| [pixel[0], pixel[1], pixel[2]])
}

/// The sheet as a `bgr0` picture; `rows` has the lines of their labels. All cells have the size of the largest picture;
/// smaller ones are centred.
///
/// # Errors
/// When there is no picture.
pub fn draw(rows: &[Vec<String>], columns: &[Column]) -> Result<Frame, FrameError> {
    let layout = Layout::new(rows, columns);
    let (width, height) = layout.size;
    let mut pixels = vec![0; width * height];
    let mut canvas = Canvas::new(&mut pixels, layout.size, 1);
    let whole = canvas.bounding_box();
    let Ok(()) = canvas.fill_solid(&whole, BACKGROUND);
    for (y, lines) in rows.iter().enumerate() {
        let (_, top) = layout.corner(0, y);
        let first = top + layout.cell.1 / 2 - (lines.len() - 1) * LINE / 2;
        for (number, line) in lines.iter().enumerate() {
            let middle = Point::new(2 * GAP as i32, (first + number * LINE) as i32);
            text(&mut canvas, line, middle, Baseline::Middle);
        }
    }
    for (x, column) in columns.iter().enumerate() {
        let (left, _) = layout.corner(x, 0);
        text(&mut canvas, &column.label, Point::new(left as i32, GAP as i32), Baseline::Top);
        for (y, picture) in column.pictures.iter().enumerate() {
            let (left, top) = layout.corner(x, y);
            let beside = |cell: usize, length: usize| cell.saturating_sub(length) / 2;
            let index = (left + beside(layout.cell.0, picture.width()), top + beside(layout.cell.1, picture.height()));
            canvas.copy(picture, index, 0..picture.width());
        }
    }
    canvas.to_frame(&HostPool::default())
}

fn text(canvas: &mut Canvas, text: &str, place: Point, baseline: Baseline) {
    let Ok(_) = Text::with_baseline(text, place, MonoTextStyle::new(&FONT_10X20, LETTERS), baseline).draw(canvas);
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
    fn new(rows: &[Vec<String>], columns: &[Column]) -> Self {
        let pictures = || columns.iter().flat_map(|column| &column.pictures);
        let letter = FONT_10X20.character_size;
        let room = |label: &str| label.chars().count() * letter.width as usize;
        // A cell is as wide as the column's label, and as high as the row's label.
        let cell = (
            pictures().map(Frame::width).chain(columns.iter().map(|column| room(&column.label))).max().unwrap_or(0),
            pictures().map(Frame::height).chain(rows.iter().map(|lines| lines.len() * LINE)).max().unwrap_or(0),
        );
        let left = rows.iter().flatten().map(|line| room(line)).max().unwrap_or(0) + 4 * GAP;
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

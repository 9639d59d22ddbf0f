//! The luminance of a frame, row by row, for measurements.

use crate::frame::{Component, Endian, Frame, Luminance, Sample};

/// Reads the luminance codes of row `y` into `codes`, which has one place a pixel.
///
/// # Panics
/// When `codes` is longer than a row, or there is no such row.
pub fn luminance_row(frame: &Frame, y: usize, codes: &mut [u16]) {
    assert!(codes.len() <= frame.width());
    let descriptor = frame.format().descriptor();
    let row = |component: Component| frame.planes()[component.plane].row(y);
    let read = |row: &[u8], of: Component, x: usize| descriptor.sample.read(row, of.offset + x * of.step);
    match descriptor.luminance {
        Luminance::Stored(Component { plane, offset: 0, step: 1 }) if descriptor.sample.bytes == 1 => {
            for (code, &byte) in codes.iter_mut().zip(frame.planes()[plane].row(y)) {
                *code = byte.into();
            }
        }
        Luminance::Stored(Component { plane, offset: 0, step: 1 }) => {
            let Sample { shift, endian, .. } = descriptor.sample;
            let words = frame.planes()[plane].row(y).as_chunks::<2>().0.iter();
            let code = |word: u16| (word >> shift).min(descriptor.sample.max());
            match endian {
                Endian::Little => {
                    codes.iter_mut().zip(words).for_each(|(to, &word)| *to = code(u16::from_le_bytes(word)))
                }
                Endian::Big => codes.iter_mut().zip(words).for_each(|(to, &word)| *to = code(u16::from_be_bytes(word))),
            }
        }
        Luminance::Stored(luma) => {
            let row = row(luma);
            for (x, code) in codes.iter_mut().enumerate() {
                *code = read(row, luma, x);
            }
        }
        Luminance::FromRgb { r, g, b } => {
            let (weights, rows) = (frame.weights(), [row(r), row(g), row(b)]);
            for (x, code) in codes.iter_mut().enumerate() {
                *code = weights.luminance([read(rows[0], r, x), read(rows[1], g, x), read(rows[2], b, x)]);
            }
        }
    }
}

/// Room for a row of luminance, used again and again.
#[derive(Default)]
pub struct Rows(Vec<u16>);

impl Rows {
    /// The luminance codes of row `y`.
    pub fn read(&mut self, frame: &Frame, y: usize) -> &[u16] {
        self.0.resize(frame.width(), 0);
        luminance_row(frame, y, &mut self.0);
        &self.0
    }
}

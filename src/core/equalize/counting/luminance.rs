//! The luminance of a frame, row by row, for measurements.

use crate::frame::{Component, Frame, Luminance, in_byte_order};

/// Reads the luminance codes of row `y` into `codes`, which has one entry for each pixel.
///
/// # Panics
/// When `codes` is longer than a row, or there is no such row.
pub fn luminance_row(frame: &Frame, y: usize, codes: &mut [u16]) {
    assert!(codes.len() <= frame.width());
    let descriptor = frame.format().descriptor();
    let row = |component: Component| frame.planes()[component.plane].row(y);
    let read = |row: &[u8], part: Component, x: usize| descriptor.sample.read(row, part.offset + x * part.step);
    match descriptor.luminance {
        Luminance::Stored(Component { plane, offset: 0, step: 1 }) if descriptor.sample.bytes == 1 => {
            for (code, &byte) in codes.iter_mut().zip(frame.planes()[plane].row(y)) {
                *code = byte.into();
            }
        }
        Luminance::Stored(Component { plane, offset: 0, step: 1 }) => {
            let sample = descriptor.sample;
            let words = frame.planes()[plane].row(y).as_chunks::<2>().0.iter();
            in_byte_order!(sample.endian, |read, _| {
                for (target, &word) in codes.iter_mut().zip(words) {
                    *target = (read(word) >> sample.shift).min(sample.max());
                }
            });
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

/// Memory for a row of luminance, reused for each row.
#[derive(Default)]
pub struct LuminanceRow(Vec<u16>);

impl LuminanceRow {
    /// The luminance codes of row `y`.
    pub fn read(&mut self, frame: &Frame, y: usize) -> &[u16] {
        self.0.resize(frame.width(), 0);
        luminance_row(frame, y, &mut self.0);
        &self.0
    }
}

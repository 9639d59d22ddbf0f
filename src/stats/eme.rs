//! EME, the measure of enhancement (Agaian, Panetta, Grigoryan 2001): local contrast.

use crate::equalize::{levels, luminance_row};
use crate::frame::Frame;

/// Width and height of a block, in pixels; those at the right and the lower edge hold what is left.
const BLOCK: usize = 8;

/// The mean over blocks of 8 x 8 pixels of `20 * ln((max + 1) / (min + 1))`, where `max` and `min` are the highest and
/// the lowest luminance of a block in levels above black. The ones guard against division by zero: a flat block has
/// no contrast, and one from black to white at 8 bits in full range has 20 * ln 256, about 111.
pub fn eme(frame: &Frame) -> f64 {
    let levels = levels(frame);
    let mut codes = vec![0; frame.width()];
    let mut ranges = vec![(u16::MAX, 0); frame.width().div_ceil(BLOCK)];
    let (mut sum, mut blocks) = (0.0, 0);
    for y in 0..frame.height() {
        luminance_row(frame, y, &mut codes);
        for (range, block) in ranges.iter_mut().zip(codes.chunks(BLOCK)) {
            for &code in block {
                *range = (range.0.min(code), range.1.max(code));
            }
        }
        if (y + 1) % BLOCK == 0 || y + 1 == frame.height() {
            for range in &mut ranges {
                let (min, max) = std::mem::replace(range, (u16::MAX, 0));
                let above_black = |code: u16| levels.level_of(code) as f64 + 1.0;
                sum += 20.0 * (above_black(max) / above_black(min)).ln();
            }
            blocks += ranges.len();
        }
    }
    sum / blocks as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{HostPool, Matrix, PixelFormat, Range};

    fn gray(size: (usize, usize), range: Range, code: impl Fn(usize, usize) -> u8) -> Frame {
        let bytes: Vec<u8> =
            (0..size.1).flat_map(|y| (0..size.0).map(move |x| (x, y))).map(|(x, y)| code(x, y)).collect();
        let plane = HostPool::default().plane_from(&bytes, size.0, size.1);
        Frame::new(PixelFormat::Gray, size, range, Matrix::Bt601, vec![plane]).expect("a gray frame")
    }

    #[test]
    fn a_flat_picture_has_no_local_contrast() {
        assert_eq!(eme(&gray((20, 9), Range::Full, |_, _| 0)), 0.0);
        assert_eq!(eme(&gray((1, 1), Range::Full, |_, _| 255)), 0.0);
    }

    #[test]
    fn each_block_counts_the_same_the_narrow_ones_at_the_edge_too() {
        // Two blocks across: eight columns of 9 and 99, then four flat ones.
        let frame = gray((12, 8), Range::Full, |x, _| if x == 3 { 99 } else { 9 });
        assert!((eme(&frame) - 20.0 * 10f64.ln() / 2.0).abs() < 1e-12);
    }

    #[test]
    fn levels_count_from_black() {
        // 16 is black in limited range, and what is below it is black too.
        let frame = gray((8, 8), Range::Limited, |x, y| if (x, y) == (7, 7) { 16 + 9 } else { 3 });
        assert!((eme(&frame) - 20.0 * 10f64.ln()).abs() < 1e-12);
    }
}

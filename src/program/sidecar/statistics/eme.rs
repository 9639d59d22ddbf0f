//! EME, the measure of enhancement (Agaian, Panetta, Grigoryan 2001): local contrast.

use histeq::internal::equalize::counting::luminance_row;
use histeq::internal::frame::{Component, Frame, Luminance};
use histeq::internal::spec::curves::Levels;

/// Width and height of a block, in pixels; blocks at the right and lower edges can be smaller.
const BLOCK: usize = 8;

/// Up to this number of levels, the contrast of each pair of levels is computed once and cached.
const MAX_CACHED: usize = 256;

/// Measures the EME of frames.
#[derive(Default)]
pub struct Eme {
    /// The current levels, and the contrast of a block by its highest and lowest level; NaN before the first such
    /// block.
    cache: Option<(Levels, Vec<f64>)>,
}

impl Eme {
    /// The mean over blocks of 8 x 8 pixels of `20 * ln((max + 1) / (min + 1))`, where `max` and `min` are the highest
    /// and the lowest luminance of a block in levels above black. The added ones prevent a division by zero. A flat
    /// block has the contrast 0, and a block from black to white at 8 bits in full range has 20 * ln 256, about 111.
    pub fn mean(&mut self, frame: &Frame) -> f64 {
        let descriptor = frame.format().descriptor();
        match descriptor.luminance {
            Luminance::Stored(Component { plane, offset: 0, step: 1 }) if descriptor.sample.bytes == 1 => {
                let plane = &frame.planes()[plane];
                self.row_mean(frame, u8::MAX, |y, codes| codes.copy_from_slice(&plane.row(y)[..frame.width()]))
            }
            _ => self.row_mean(frame, u16::MAX, |y, codes| luminance_row(frame, y, codes)),
        }
    }

    /// The EME of a frame whose rows of codes are read by `read`; no code is above `most`.
    fn row_mean<T: Copy + Ord + Default + Into<u16>>(
        &mut self,
        frame: &Frame,
        most: T,
        mut read: impl FnMut(usize, &mut [T]),
    ) -> f64 {
        let levels = frame.levels();
        let width = frame.width();
        let mut codes = vec![T::default(); width];
        // The lowest and the highest code of each pixel column in a row of blocks.
        let (mut lowest, mut highest) = (vec![most; width], vec![T::default(); width]);
        let (mut sum, mut blocks) = (0.0, 0);
        for y in 0..frame.height() {
            read(y, &mut codes);
            for ((lowest, highest), &code) in lowest.iter_mut().zip(&mut highest).zip(&codes) {
                *lowest = code.min(*lowest);
                *highest = code.max(*highest);
            }
            if (y + 1) % BLOCK == 0 || y + 1 == frame.height() {
                for (lowest, highest) in lowest.chunks(BLOCK).zip(highest.chunks(BLOCK)) {
                    let min = lowest.iter().copied().fold(most, T::min);
                    let max = highest.iter().copied().fold(T::default(), T::max);
                    sum += self.contrast(levels, min.into(), max.into());
                    blocks += 1;
                }
                lowest.fill(most);
                highest.fill(T::default());
            }
        }
        sum / f64::from(blocks)
    }

    /// The contrast of a block whose lowest and highest codes are these.
    fn contrast(&mut self, levels: Levels, min: u16, max: u16) -> f64 {
        let [min, max] = [min, max].map(|code| levels.level_of(code));
        let compute = || 20.0 * ((max as f64 + 1.0) / (min as f64 + 1.0)).ln();
        if levels.count() > MAX_CACHED {
            return compute();
        }
        if self.cache.as_ref().is_none_or(|(known, _)| *known != levels) {
            self.cache = Some((levels, vec![f64::NAN; MAX_CACHED * MAX_CACHED]));
        }
        let Some((_, cache)) = &mut self.cache else { return compute() };
        let cached = &mut cache[max * MAX_CACHED + min];
        if cached.is_nan() {
            *cached = compute();
        }
        *cached
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use histeq::internal::frame::{HostPool, Matrix, PixelFormat, Range};

    fn gray(size: (usize, usize), range: Range, code: impl Fn(usize, usize) -> u8) -> Frame {
        let bytes: Vec<u8> =
            (0..size.1).flat_map(|y| (0..size.0).map(move |x| (x, y))).map(|(x, y)| code(x, y)).collect();
        let plane = HostPool::default().plane_from(&bytes, size.0, size.1);
        Frame::new(PixelFormat::Gray, size, range, Matrix::Bt601, vec![plane]).expect("a gray frame")
    }

    #[test]
    fn a_flat_picture_has_no_local_contrast() {
        assert_eq!(Eme::default().mean(&gray((20, 9), Range::Full, |_, _| 0)), 0.0);
        assert_eq!(Eme::default().mean(&gray((1, 1), Range::Full, |_, _| 255)), 0.0);
    }

    #[test]
    fn each_block_counts_the_same_the_narrow_ones_at_the_edge_too() {
        // Two blocks: eight columns with the levels 9 and 99, then four flat columns.
        let frame = gray((12, 8), Range::Full, |x, _| if x == 3 { 99 } else { 9 });
        assert!((Eme::default().mean(&frame) - 20.0 * 10f64.ln() / 2.0).abs() < 1e-12);
    }

    #[test]
    fn levels_count_from_black() {
        // 16 is black in limited range, and what is below it is black too.
        let frame = gray((8, 8), Range::Limited, |x, y| if (x, y) == (7, 7) { 16 + 9 } else { 3 });
        assert!((Eme::default().mean(&frame) - 20.0 * 10f64.ln()).abs() < 1e-12);
    }
}

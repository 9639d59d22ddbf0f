//! The relation of the levels of two frames, A and B, measured at each pixel position.

use super::luminance_row;
use crate::frame::Frame;

/// For each level that occurs in `a`, in ascending order: the level, and the mean level of the same pixels in `b`, both
/// as numbers from 0 (black) to 1 (white). Reads one row of every `step`. `None` when the frames have different sizes.
pub fn relation(a: &Frame, b: &Frame, step: usize) -> Option<Vec<(f64, f64)>> {
    let size = (a.width(), a.height());
    if size != (b.width(), b.height()) {
        return None;
    }
    let (of_a, of_b) = (a.levels(), b.levels());
    let mut sums = vec![(0u64, 0u64); of_a.count()];
    let (mut before, mut after) = (vec![0; size.0], vec![0; size.0]);
    for y in (0..size.1).step_by(step) {
        luminance_row(a, y, &mut before);
        luminance_row(b, y, &mut after);
        for (&before, &after) in before.iter().zip(&after) {
            let (sum, count) = &mut sums[of_a.level_of(before)];
            *sum += of_b.level_of(after) as u64;
            *count += 1;
        }
    }
    let highest = |levels: crate::spec::curves::Levels| (levels.count() - 1) as f64;
    let point = |(level, &(sum, count)): (usize, &(u64, u64))| {
        (level as f64 / highest(of_a), sum as f64 / count as f64 / highest(of_b))
    };
    Some(sums.iter().enumerate().filter(|(_, (_, count))| *count > 0).map(point).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{HostPool, Matrix, PixelFormat, Range};

    fn gray(codes: &[u8], range: Range) -> Frame {
        let plane = HostPool::default().plane_from(codes, codes.len(), 1);
        Frame::new(PixelFormat::Gray, (codes.len(), 1), range, Matrix::Bt601, vec![plane]).expect("a gray frame")
    }

    #[test]
    fn a_level_becomes_the_mean_of_what_its_pixels_are() {
        let (a, b) = (gray(&[0, 51, 51, 255], Range::Full), gray(&[0, 102, 204, 255], Range::Full));
        assert_eq!(relation(&a, &b, 1), Some(vec![(0.0, 0.0), (0.2, 0.6), (1.0, 1.0)]));
    }

    #[test]
    fn black_and_white_are_the_same_in_any_range() {
        let (a, b) = (gray(&[16, 235], Range::Limited), gray(&[0, 255], Range::Full));
        assert_eq!(relation(&a, &b, 1), Some(vec![(0.0, 0.0), (1.0, 1.0)]));
    }

    #[test]
    fn frames_of_two_sizes_tell_no_curve() {
        assert_eq!(relation(&gray(&[1, 2], Range::Full), &gray(&[1], Range::Full), 1), None);
    }
}

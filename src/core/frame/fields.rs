//! The fields of interlaced frames, whose rows alternate in each plane.

use super::Frame;

/// Rows of luma and the rows of chroma that belong to them: of a frame, of a field, or of the rows below both fields.
/// Each `2^log2_height` successive rows of luma share a row of chroma, which belongs to no other rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FieldRows {
    /// The first row of luma.
    pub luma: usize,
    /// The first row of chroma.
    pub chroma: usize,
    /// Distance from one row to the next, counted in rows of the plane, for luma and chroma.
    pub step: usize,
    /// The number of rows of luma.
    pub rows: usize,
}

impl FieldRows {
    /// The parts of a frame of `height` rows, of which `2^log2_height` share a row of chroma.
    pub fn for_frame(is_interlaced: bool, log2_height: u8, height: usize) -> Vec<FieldRows> {
        if !is_interlaced || log2_height == 0 {
            return vec![FieldRows { luma: 0, chroma: 0, step: 1, rows: height }];
        }
        let chroma_rows = height.div_ceil(1 << log2_height);
        // If the number of chroma rows is odd, the last one belongs to the last rows of both fields.
        let woven = if chroma_rows.is_multiple_of(2) { height } else { (chroma_rows - 1) << log2_height };
        let field =
            |first| FieldRows { luma: first, chroma: first, step: 2, rows: woven.saturating_sub(first).div_ceil(2) };
        let rest = FieldRows { luma: woven, chroma: woven >> log2_height, step: 1, rows: height - woven };
        [field(0), field(1), rest].into_iter().filter(|one| one.rows > 0).collect()
    }
}

impl Frame {
    /// The row of chroma that belongs to row `y` of luma: that of the same field, if the frame is interlaced.
    #[doc(hidden)]
    pub fn chroma_row(&self, y: usize) -> usize {
        let Some(chroma) = self.format.descriptor().chroma else { return y };
        if !self.is_interlaced {
            return y >> chroma.log2_height;
        }
        let last = self.height.div_ceil(1 << chroma.log2_height) - 1;
        (2 * (y >> (chroma.log2_height + 1)) + y % 2).min(last)
    }

    /// The fields of an interlaced frame, with the rows of chroma that belong to them; a progressive frame as one part.
    pub(crate) fn fields(&self) -> Vec<FieldRows> {
        let log2_height = self.format.descriptor().chroma.map_or(0, |chroma| chroma.log2_height);
        FieldRows::for_frame(self.is_interlaced, log2_height, self.height)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{HostPool, Matrix, PixelFormat, Range};

    fn frame(format: PixelFormat, height: usize) -> Frame {
        let pool = HostPool::default();
        let plane = |index| pool.plane(format.row_bytes(index, 2), format.rows(index, height)).freeze();
        let planes = (0..format.descriptor().planes().len()).map(plane).collect();
        Frame::new(format, (2, height), Range::Full, Matrix::Bt601, planes).expect("a frame")
    }

    /// The row of chroma of each row of luma.
    fn chroma_rows(frame: &Frame) -> Vec<usize> {
        (0..frame.height()).map(|y| frame.chroma_row(y)).collect()
    }

    #[test]
    fn a_row_of_luma_has_the_chroma_of_its_own_field() {
        let mut picture = frame(PixelFormat::Yuv420p, 10);
        assert_eq!(chroma_rows(&picture), [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]);
        picture.is_interlaced = true;
        assert_eq!(chroma_rows(&picture), [0, 1, 0, 1, 2, 3, 2, 3, 4, 4]);
        for format in [PixelFormat::Yuv422p, PixelFormat::Yuv444p, PixelFormat::Gray] {
            let mut picture = frame(format, 5);
            picture.is_interlaced = true;
            assert_eq!(chroma_rows(&picture), [0, 1, 2, 3, 4], "{format}");
        }
    }

    #[test]
    fn fields_have_every_row_once_with_its_own_chroma() {
        for format in PixelFormat::ALL {
            for height in 1..=20 {
                let mut frame = frame(*format, height);
                for is_interlaced in [false, true] {
                    frame.is_interlaced = is_interlaced;
                    let log2_height = format.descriptor().chroma.map_or(0, |chroma| chroma.log2_height);
                    let mut found = vec![None; height];
                    for FieldRows { luma, chroma, step, rows } in frame.fields() {
                        for row in 0..rows {
                            let place = &mut found[luma + step * row];
                            assert_eq!(*place, None, "{format} {height}");
                            *place = Some(chroma + step * (row >> log2_height));
                        }
                    }
                    let expected: Vec<Option<usize>> = chroma_rows(&frame).into_iter().map(Some).collect();
                    assert_eq!(found, expected, "{format}, {height} rows, interlaced: {is_interlaced}");
                }
            }
        }
    }
}

//! Test pictures of any format, size, stride and content, generated from a seed; and a comparison that reports the
//! first sample that differs.
#![allow(dead_code, reason = "no test binary uses all of it")]

use histeq::internal::frame::{Frame, Matrix, Memory, PixelFormat, Plane, Range};
use std::sync::Arc;

pub use super::random::{Random, seed};

/// The content of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// A single code.
    Flat,
    /// Two codes.
    TwoLevel,
    /// The lowest and the highest code: `TwoLevel` after equalization in full range.
    BlackAndWhite,
    /// All codes in order.
    Ramp,
    /// Random bits, including unused bits and forbidden codes.
    Noise,
    /// The highest few codes.
    NearMax,
    /// The lowest few codes.
    NearZero,
}

impl Content {
    pub const ALL: [Content; 6] =
        [Content::Flat, Content::TwoLevel, Content::Ramp, Content::Noise, Content::NearMax, Content::NearZero];
}

/// The arrangement of a picture's rows in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// Rows in order, with this number of padding bytes between them.
    Padded(usize),
    /// Rows in reverse order.
    BottomUp,
}

impl Placement {
    pub const ALL: [Placement; 3] = [Placement::Padded(0), Placement::Padded(13), Placement::BottomUp];
}

/// Placement and range of picture `number` in a grid whose innermost loop is over the contents. They alternate, so that
/// each content gets each of them; all combinations would take minutes.
pub fn placement_and_range(number: usize) -> (Placement, Range) {
    // Each pass over the contents is shifted by one; otherwise, a content would always get the same placement and
    // range.
    let turn = number + number / Content::ALL.len();
    let ranges = [Range::Limited, Range::Full];
    (Placement::ALL[turn % Placement::ALL.len()], ranges[turn / Placement::ALL.len() % ranges.len()])
}

/// All properties of a picture; printed when a test fails.
#[derive(Clone, Copy, Debug)]
pub struct Picture {
    pub format: PixelFormat,
    pub size: (usize, usize),
    pub range: Range,
    pub matrix: Matrix,
    pub content: Content,
    pub placement: Placement,
    pub seed: u64,
}

impl Picture {
    /// A picture of noise in unpadded rows; tests change single fields.
    pub fn new(format: PixelFormat, size: (usize, usize)) -> Self {
        Picture {
            format,
            size,
            range: Range::Limited,
            matrix: Matrix::Bt601,
            content: Content::Noise,
            placement: Placement::Padded(0),
            seed: seed(),
        }
    }

    pub fn make(self) -> Frame {
        let mut random = Random::new(self.seed);
        let planes = (0..self.format.descriptor().planes().len()).map(|plane| self.plane(plane, &mut random)).collect();
        Frame::new(self.format, self.size, self.range, self.matrix, planes).expect("planes of the format's shape")
    }

    fn plane(self, plane: usize, random: &mut Random) -> Plane {
        let (row_bytes, rows) = (self.format.row_bytes(plane, self.size.0), self.format.rows(plane, self.size.1));
        let pad = match self.placement {
            Placement::Padded(pad) => pad,
            Placement::BottomUp => 5,
        };
        let stride = row_bytes + pad;
        // If padding were counted by mistake, this value would change the histogram.
        let mut memory = vec![0xa5; stride * rows];
        for (y, row) in memory.chunks_exact_mut(stride).enumerate() {
            self.fill(&mut row[..row_bytes], y, random);
        }
        let (start, stride) = match self.placement {
            Placement::Padded(_) => (0, stride as isize),
            Placement::BottomUp => (stride * (rows - 1), -(stride as isize)),
        };
        Plane::new(Arc::new(Bytes(memory)), start, stride, row_bytes, rows).expect("rows inside the memory")
    }

    fn fill(self, row: &mut [u8], y: usize, random: &mut Random) {
        if self.content == Content::Noise {
            row.fill_with(|| random.next() as u8);
            return;
        }
        let sample = self.format.descriptor().sample;
        let max = sample.max();
        for index in 0..row.len() / usize::from(sample.bytes) {
            let code = match self.content {
                Content::Flat => (self.seed % (u64::from(max) + 1)) as u16,
                Content::TwoLevel => [max / 3, max / 2][(random.next() & 1) as usize],
                Content::BlackAndWhite => [0, max][(random.next() & 1) as usize],
                Content::Ramp => ((index + 7 * y) % (usize::from(max) + 1)) as u16,
                Content::NearMax => max - (random.next() & 3) as u16,
                Content::NearZero => (random.next() & 3) as u16,
                Content::Noise => unreachable!("filled above"),
            };
            sample.write(row, index, code);
        }
    }
}

/// A byte vector as memory of planes.
pub struct Bytes(pub Vec<u8>);

impl Memory for Bytes {
    fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Describes the first difference between `found` and `expected`, if there is one.
pub fn difference(expected: &Frame, found: &Frame) -> Option<String> {
    if (found.format(), found.width(), found.height(), found.range(), found.pts)
        != (expected.format(), expected.width(), expected.height(), expected.range(), expected.pts)
    {
        return Some(format!("{found:?} instead of {expected:?}"));
    }
    let bytes = usize::from(expected.format().descriptor().sample.bytes);
    for (plane, (expected, found)) in expected.planes().iter().zip(found.planes()).enumerate() {
        for y in 0..expected.rows() {
            if let Some(index) =
                expected.row(y).iter().zip(found.row(y)).position(|(expected, found)| expected != found)
            {
                let x = index / bytes;
                let sample = x * bytes..(x + 1) * bytes;
                let (expected, found) = (&expected.row(y)[sample.clone()], &found.row(y)[sample]);
                return Some(format!("plane {plane}, sample x = {x}, y = {y}: {found:?} instead of {expected:?}"));
            }
        }
    }
    None
}

/// The mean absolute difference of two pictures with equally many 8-bit samples, in levels.
pub fn apart(a: &[u8], b: &[u8]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| f64::from(a.abs_diff(*b))).sum::<f64>() / a.len() as f64
}

//! A plane of samples with a margin around it, into which its edges are repeated.

/// Rows and columns around a plane.
pub const PAD: usize = 16;

/// A plane. Rows and columns from `-PAD` on may be read: samples beyond an edge repeat the edge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sheet {
    samples: Vec<i16>,
    width: usize,
    height: usize,
}

impl Sheet {
    /// A plane of zeros.
    pub fn new(width: usize, height: usize) -> Self {
        Sheet::filled(width, height, 0)
    }

    /// A plane of one code.
    pub fn filled(width: usize, height: usize, code: i16) -> Self {
        // The last `PAD` samples let vector loads extend beyond the last row.
        Sheet { samples: vec![code; (width + 2 * PAD) * (height + 2 * PAD) + PAD], width, height }
    }

    /// Columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Rows.
    pub fn height(&self) -> usize {
        self.height
    }

    /// Samples from a row to the next.
    #[inline(always)]
    pub fn stride(&self) -> usize {
        self.width + 2 * PAD
    }

    /// All samples, including the margin, row by row.
    pub fn samples(&self) -> &[i16] {
        &self.samples[..self.stride() * (self.height + 2 * PAD)]
    }

    /// All samples from column `-PAD` of row `y` on.
    #[inline(always)]
    pub fn from_row(&self, y: isize) -> &[i16] {
        &self.samples[(y + PAD as isize) as usize * self.stride()..]
    }

    /// The samples from row `y` and column `x` on.
    #[inline(always)]
    pub fn at(&self, x: isize, y: isize) -> &[i16] {
        &self.samples[(y + PAD as isize) as usize * self.stride() + (x + PAD as isize) as usize..]
    }

    /// The samples from row `y` and column `x` on, for writing.
    #[inline(always)]
    pub fn at_mut(&mut self, x: isize, y: isize) -> &mut [i16] {
        let index = (y + PAD as isize) as usize * self.stride() + (x + PAD as isize) as usize;
        &mut self.samples[index..]
    }

    /// The samples of row `y`, without the margin.
    #[inline(always)]
    pub fn row(&self, y: usize) -> &[i16] {
        &self.at(0, y as isize)[..self.width]
    }

    /// The samples of row `y`, for writing.
    #[inline(always)]
    pub fn row_mut(&mut self, y: usize) -> &mut [i16] {
        let width = self.width;
        &mut self.at_mut(0, y as isize)[..width]
    }

    /// The sample of the plane that is nearest to column `x` and row `y`.
    #[inline(always)]
    pub fn nearest(&self, x: usize, y: usize) -> i16 {
        self.row(y.min(self.height - 1))[x.min(self.width - 1)]
    }

    /// Repeats the edges into the margin.
    pub fn repeat_edges(&mut self) {
        let (width, height, stride) = (self.width, self.height, self.stride());
        for row in self.samples.chunks_exact_mut(stride).skip(PAD).take(height) {
            let (first, last) = (row[PAD], row[PAD + width - 1]);
            row[..PAD].fill(first);
            row[PAD + width..].fill(last);
        }
        for y in 0..PAD {
            self.samples.copy_within(PAD * stride..(PAD + 1) * stride, y * stride);
            let last = (PAD + height - 1) * stride;
            self.samples.copy_within(last..last + stride, (PAD + height + y) * stride);
        }
    }

    /// Moves the start `place` of `size` samples in a dimension of `length`, so that these samples and two more on each
    /// side can be read. Farther out, all samples repeat the edge.
    #[inline(always)]
    pub fn within(place: isize, size: usize, length: usize) -> isize {
        place.clamp(2 - PAD as isize, (length + PAD - 2) as isize - size as isize)
    }
}

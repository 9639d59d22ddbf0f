//! Samples of other frames, from where they have moved to, at fractions of a sample.

use crate::denoise::dct::part;
use crate::denoise::sheet::Sheet;

/// Samples from a tile to the next.
pub(super) const STEP: usize = 4;

/// A position in another frame.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct MovedPlace {
    pub(super) x: isize,
    pub(super) y: isize,
    /// Fractions of a sample to the right and down: quarters for luma, eighths for chroma.
    pub(super) behind: (i16, i16),
}

impl MovedPlace {
    #[inline(always)]
    pub(super) fn right(self, by: usize) -> Self {
        MovedPlace { x: self.x + by as isize, ..self }
    }
}

/// Four rows, each with `LANES` spare samples, because reads write up to `LANES` at once.
pub(super) type FourRows = [Vec<i16>; STEP];

#[inline(always)]
pub(super) fn line<const N: usize>(sheet: &Sheet, x: isize, y: isize) -> &[i16; N] {
    sheet.at(x, y).first_chunk().unwrap_or(&[0; N])
}

/// The weights of four samples for each quarter between the middle two, in 16384ths.
const CUBIC: [[i16; 4]; 4] =
    [[0; 4], [-1792, 14_336, 4352, -512], [-1536, 9728, 9728, -1536], [-512, 4352, 14_336, -1792]];

/// Interpolates between the middle two of four samples.
#[inline(always)]
fn cubic_between<const N: usize>([a, b, c, d]: [&[i16; N]; 4], weights: [i16; 4], out: &mut [i16; N]) {
    for index in 0..N {
        out[index] = part(a[index] << 2, weights[0])
            + part(b[index] << 2, weights[1])
            + part(c[index] << 2, weights[2])
            + part(d[index] << 2, weights[3])
            + 2;
    }
}

/// Interpolates four rows from four samples in each direction.
#[inline(always)]
pub(super) fn cubic<const N: usize>(
    sheet: &Sheet,
    MovedPlace { x, y, behind: (across, down) }: MovedPlace,
    out: &mut [[i16; N]; STEP],
) {
    const ROWS: usize = STEP + 3;
    let mut rows = [[0; N]; ROWS];
    let (first, count) = if down == 0 { (0, STEP) } else { (-1, ROWS) };
    for (index, row) in rows[..count].iter_mut().enumerate() {
        let y = y + first + index as isize;
        if across == 0 {
            *row = *line(sheet, x, y);
        } else {
            let lines = [line(sheet, x - 1, y), line(sheet, x, y), line(sheet, x + 1, y), line(sheet, x + 2, y)];
            cubic_between(lines, CUBIC[across as usize & 3], row);
        }
    }
    for index in 0..STEP {
        if down == 0 {
            out[index] = rows[index];
        } else {
            let lines = [&rows[index], &rows[index + 1], &rows[index + 2], &rows[index + 3]];
            cubic_between(lines, CUBIC[down as usize & 3], &mut out[index]);
        }
    }
}

/// Interpolates between two samples, in eighths.
#[inline(always)]
fn linear_between<const N: usize>(a: &[i16; N], b: &[i16; N], eighths: i16, out: &mut [i16; N]) {
    for index in 0..N {
        out[index] = (a[index] * (8 - eighths) + b[index] * eighths + 4) >> 3;
    }
}

/// Interpolates four rows from two samples in each direction, in eighths.
#[inline(always)]
pub(super) fn linear<const N: usize>(
    sheet: &Sheet,
    MovedPlace { x, y, behind: (across, down) }: MovedPlace,
    out: &mut [[i16; N]; STEP],
) {
    let mut rows = [[0; N]; STEP + 1];
    for (index, row) in rows.iter_mut().enumerate() {
        let y = y + index as isize;
        linear_between(line(sheet, x, y), line(sheet, x + 1, y), across, row);
    }
    for index in 0..STEP {
        linear_between(&rows[index], &rows[index + 1], down, &mut out[index]);
    }
}

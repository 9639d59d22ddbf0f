//! The discrete cosine transform of tiles of 8x8, of many tiles at once. It keeps lengths: a flat tile has 8 times its
//! level as its first coefficient.
//!
//! Samples are ordered by row, then by tile, as they are copied from a plane. Coefficients are ordered by number, then
//! by tile.

/// Tiles that are transformed at once.
pub const TILES: usize = 32;

/// Samples or coefficients of a tile.
pub const SAMPLES: usize = 64;

/// Samples, or coefficients, of some tiles.
pub type Batch = [i16; SAMPLES * TILES];

/// `cos(k * pi / 16) / 2` in 65536ths, for k from 1 to 7; that of k = 4 is `1 / sqrt(8)`.
const HALF_COSINE: [i16; 7] = [32_138, 30_274, 27_246, 23_170, 18_205, 12_540, 6_393];

/// `a * b / 65536`, rounded down: one instruction of a vector unit. Sums of several have half of their number added, to
/// be right on average.
#[inline(always)]
pub fn part(a: i16, b: i16) -> i16 {
    ((i32::from(a) * i32::from(b)) >> 16) as i16
}

/// The transform of 8 samples.
#[inline(always)]
fn forward_line(x: [i16; 8]) -> [i16; 8] {
    let [c1, c2, c3, c4, c5, c6, c7] = HALF_COSINE;
    let [x0, x1, x2, x3, x4, x5, x6, x7] = x;
    let (s0, s1) = (x0.wrapping_add(x7), x1.wrapping_add(x6));
    let (s2, s3) = (x2.wrapping_add(x5), x3.wrapping_add(x4));
    let (d0, d1) = (x0.wrapping_sub(x7), x1.wrapping_sub(x6));
    let (d2, d3) = (x2.wrapping_sub(x5), x3.wrapping_sub(x4));
    let (even, odd) = (part(s0.wrapping_add(s3), c4), part(s1.wrapping_add(s2), c4));
    let (e0, e1) = (s0.wrapping_sub(s3), s1.wrapping_sub(s2));
    [
        even.wrapping_add(odd).wrapping_add(1),
        part(d0, c1).wrapping_add(part(d1, c3)).wrapping_add(part(d2, c5)).wrapping_add(part(d3, c7)).wrapping_add(2),
        part(e0, c2).wrapping_add(part(e1, c6)).wrapping_add(1),
        part(d0, c3).wrapping_sub(part(d1, c7)).wrapping_sub(part(d2, c1)).wrapping_sub(part(d3, c5)).wrapping_sub(1),
        even.wrapping_sub(odd),
        part(d0, c5).wrapping_sub(part(d1, c1)).wrapping_add(part(d2, c7)).wrapping_add(part(d3, c3)).wrapping_add(1),
        part(e0, c6).wrapping_sub(part(e1, c2)),
        part(d0, c7).wrapping_sub(part(d1, c5)).wrapping_add(part(d2, c3)).wrapping_sub(part(d3, c1)),
    ]
}

/// The samples of 8 coefficients.
#[inline(always)]
fn backward_line(x: [i16; 8]) -> [i16; 8] {
    let [c1, c2, c3, c4, c5, c6, c7] = HALF_COSINE;
    let (first, fourth) = (part(x[0], c4), part(x[4], c4));
    let (even, odd) = (first.wrapping_add(fourth).wrapping_add(1), first.wrapping_sub(fourth));
    let outer = part(x[2], c2).wrapping_add(part(x[6], c6)).wrapping_add(1);
    let inner = part(x[2], c6).wrapping_sub(part(x[6], c2));
    let (s0, s1) = (even.wrapping_add(outer), odd.wrapping_add(inner));
    let (s2, s3) = (odd.wrapping_sub(inner), even.wrapping_sub(outer));
    let (x1, x3, x5, x7) = (x[1], x[3], x[5], x[7]);
    let d0 =
        part(x1, c1).wrapping_add(part(x3, c3)).wrapping_add(part(x5, c5)).wrapping_add(part(x7, c7)).wrapping_add(2);
    let d1 =
        part(x1, c3).wrapping_sub(part(x3, c7)).wrapping_sub(part(x5, c1)).wrapping_sub(part(x7, c5)).wrapping_sub(1);
    let d2 =
        part(x1, c5).wrapping_sub(part(x3, c1)).wrapping_add(part(x5, c7)).wrapping_add(part(x7, c3)).wrapping_add(1);
    let d3 = part(x1, c7).wrapping_sub(part(x3, c5)).wrapping_add(part(x5, c3)).wrapping_sub(part(x7, c1));
    [
        s0.wrapping_add(d0),
        s1.wrapping_add(d1),
        s2.wrapping_add(d2),
        s3.wrapping_add(d3),
        s3.wrapping_sub(d3),
        s2.wrapping_sub(d2),
        s1.wrapping_sub(d1),
        s0.wrapping_sub(d0),
    ]
}

/// Row `y` of all tiles.
type Row = [i16; ROW];

const ROW: usize = 8 * TILES;

/// From tile after tile to sample after sample. Number `8 * tile + x` becomes `TILES * x + tile`: the last three bits
/// of it come first, one after the other.
#[inline(always)]
fn by_sample(row: &mut Row) {
    let mut other = [0; ROW];
    for _ in 0..3 {
        for at in 0..ROW / 2 {
            (other[at], other[at + ROW / 2]) = (row[2 * at], row[2 * at + 1]);
        }
        *row = other;
    }
}

/// The inverse of [`by_sample`].
#[inline(always)]
fn by_tile(row: &mut Row) {
    let mut other = [0; ROW];
    for _ in 0..3 {
        for at in 0..ROW / 2 {
            (other[2 * at], other[2 * at + 1]) = (row[at], row[at + ROW / 2]);
        }
        *row = other;
    }
}

/// All lines of 8 samples that are `apart`.
#[inline(always)]
fn lines<const IS_FORWARD: bool>(samples: &mut [i16], apart: usize) {
    let (a, rest) = samples.split_at_mut(apart);
    let (b, rest) = rest.split_at_mut(apart);
    let (c, rest) = rest.split_at_mut(apart);
    let (d, rest) = rest.split_at_mut(apart);
    let (e, rest) = rest.split_at_mut(apart);
    let (f, rest) = rest.split_at_mut(apart);
    let (g, h) = rest.split_at_mut(apart);
    let h = &mut h[..apart];
    for at in 0..apart {
        let line = [a[at], b[at], c[at], d[at], e[at], f[at], g[at], h[at]];
        let out = if IS_FORWARD { forward_line(line) } else { backward_line(line) };
        [a[at], b[at], c[at], d[at], e[at], f[at], g[at], h[at]] = out;
    }
}

/// The coefficients of samples.
#[inline(always)]
pub fn forward(batch: &mut Batch) {
    lines::<true>(batch, ROW);
    for row in batch.as_chunks_mut::<ROW>().0 {
        by_sample(row);
        lines::<true>(row, TILES);
    }
}

/// The samples of coefficients.
#[inline(always)]
pub fn backward(batch: &mut Batch) {
    lines::<false>(batch, ROW);
    for row in batch.as_chunks_mut::<ROW>().0 {
        lines::<false>(row, TILES);
        by_tile(row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back_again_is_the_same_to_two_steps() {
        let mut state = 1u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 20) as i16 - 2048
        };
        let mut batch: Batch = [0; SAMPLES * TILES];
        batch.iter_mut().for_each(|sample| *sample = next());
        // A black tile and a white one.
        for row in batch.as_chunks_mut::<ROW>().0 {
            row[..8].fill(-2048);
            row[8..16].fill(2047);
        }
        let before = batch;
        forward(&mut batch);
        assert!(batch[0].abs_diff(-16384) < 8 && batch[1].abs_diff(16376) < 8, "{:?}", &batch[..2]);
        let length = |batch: &Batch| batch.iter().map(|of| i64::from(*of) * i64::from(*of)).sum::<i64>();
        assert!((length(&batch) - length(&before)).abs() < length(&before) / 500);
        backward(&mut batch);
        let sum = |batch: &Batch| batch.iter().map(|of| i64::from(*of)).sum::<i64>();
        assert!((sum(&batch) - sum(&before)).abs() < batch.len() as i64 / 10, "right on average");
        let worst = batch.iter().zip(&before).map(|(a, b)| a.abs_diff(*b)).max();
        assert!(worst <= Some(8), "{worst:?}");
    }
}

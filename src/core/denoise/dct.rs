//! The discrete cosine transform of tiles of 8x8, of many tiles at once. It is orthonormal: a flat tile has 8 times its
//! level as its first coefficient.
//!
//! Samples are ordered by row, then by tile, as they are copied from a plane. Coefficients are ordered by number, then
//! by tile.

/// Tiles that are transformed at once.
pub const TILES: usize = 32;

/// Samples or coefficients of a tile.
pub const SAMPLES: usize = 64;

/// The samples or the coefficients of `TILES` tiles.
pub type Batch = [i16; SAMPLES * TILES];

/// `cos(k * pi / 16) / 2` in 65536ths, for k from 1 to 7; that of k = 4 is `1 / sqrt(8)`.
const HALF_COSINE: [i16; 7] = [32_138, 30_274, 27_246, 23_170, 18_205, 12_540, 6_393];

/// `a * b / 65536`, rounded down: one instruction of a vector unit. To a sum of `n` such products, `n / 2` is added, so
/// that its mean rounding error is 0.
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

/// The inverse transform of 8 coefficients.
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

/// The width and the height of a cell, in samples. A tile has two by two cells.
const STEP: usize = 4;

/// A raised-cosine window in 128ths, whose overlapping halves add up to 1.
const COSINE: [i16; 8] = [5, 39, 89, 123, 123, 89, 39, 5];

/// Multiplies a sample by a weight in 128ths, rounded down.
#[inline(always)]
fn weighed(sample: i16, weight: i16) -> i16 {
    part(sample << 1, weight << 8)
}

/// Reorders a row of cells: first the first samples of all cells, then the second ones, and so on.
#[inline(always)]
pub fn by_sample(row: &[i16], target: &mut [i16]) {
    let [a, b, c, d] = parted_mut(target);
    let cells = row.as_chunks::<STEP>().0;
    for ((((cell, a), b), c), d) in cells.iter().zip(a).zip(b).zip(c).zip(d) {
        [*a, *b, *c, *d] = *cell;
    }
}

/// The inverse of [`by_sample`], from the second cell on.
#[inline(always)]
pub fn by_place(source: &[i16], row: &mut [i16]) {
    let [a, b, c, d] = parted(source).map(|part| &part[1..]);
    let cells = row.as_chunks_mut::<STEP>().0;
    for ((((cell, a), b), c), d) in cells.iter_mut().zip(a).zip(b).zip(c).zip(d) {
        *cell = [*a, *b, *c, *d];
    }
}

/// Divides a slice into `N` parts of equal length.
#[inline(always)]
fn parted<const N: usize>(all: &[i16]) -> [&[i16]; N] {
    let each = all.len() / N;
    std::array::from_fn(|index| &all[index * each..(index + 1) * each])
}

/// As [`parted`], for writing.
#[inline(always)]
fn parted_mut<const N: usize>(mut rest: &mut [i16]) -> [&mut [i16]; N] {
    let each = rest.len() / N;
    std::array::from_fn(|_| rest.split_off_mut(..each).unwrap_or_default())
}

/// Transforms all columns of two bands of four rows.
#[inline(always)]
pub fn forward_columns(bands: &[Vec<i16>; 2], target: &mut [i16]) {
    let ([a, b, c, d], [e, f, g, h]) = (parted(&bands[0]), parted(&bands[1]));
    let [p, q, r, s, t, u, v, w] = parted_mut(target);
    let count = a.len();
    let (b, c, d, e) = (&b[..count], &c[..count], &d[..count], &e[..count]);
    let (f, g, h) = (&f[..count], &g[..count], &h[..count]);
    let (p, q, r, s) = (&mut p[..count], &mut q[..count], &mut r[..count], &mut s[..count]);
    let (t, u, v, w) = (&mut t[..count], &mut u[..count], &mut v[..count], &mut w[..count]);
    for index in 0..count {
        let line = [a[index], b[index], c[index], d[index], e[index], f[index], g[index], h[index]];
        [p[index], q[index], r[index], s[index], t[index], u[index], v[index], w[index]] = forward_line(line);
    }
}

/// Transforms the rows of the tiles from cell `first` on, whose columns are transformed already. The samples of a cell
/// lie `pitch` apart.
#[inline(always)]
pub fn forward_rows(columns: &[i16], pitch: usize, first: usize, batch: &mut Batch) {
    for (row, target) in columns.chunks_exact(STEP * pitch).zip(batch.as_chunks_mut::<{ 8 * TILES }>().0) {
        let x: [&[i16; TILES]; 8] =
            std::array::from_fn(|x| row[(x % STEP) * pitch + first + x / STEP..].first_chunk().unwrap_or(&[0; TILES]));
        for index in 0..TILES {
            let out = forward_line(x.map(|x| x[index]));
            for (number, out) in out.into_iter().enumerate() {
                target[number * TILES + index] = out;
            }
        }
    }
}

/// Transforms the rows of tiles back, applies the window along the rows, and adds the results to the coefficients of
/// columns.
#[inline(always)]
pub fn backward_rows(batch: &Batch, columns: &mut [i16], pitch: usize, first: usize) {
    for (row, source) in columns.chunks_exact_mut(STEP * pitch).zip(batch.as_chunks::<{ 8 * TILES }>().0) {
        let mut lines = [[0; TILES]; 8];
        for index in 0..TILES {
            let line = backward_line(std::array::from_fn(|number| source[number * TILES + index]));
            for x in 0..8 {
                lines[x][index] = weighed(line[x], COSINE[x]);
            }
        }
        for (x, line) in lines.iter().enumerate() {
            let target = &mut row[(x % STEP) * pitch + first + x / STEP..][..TILES];
            for index in 0..TILES {
                target[index] = target[index].wrapping_add(line[index]);
            }
        }
    }
}

/// Transforms columns back into samples, applies the window along the columns, and adds `before` to the first four
/// rows.
#[inline(always)]
pub fn backward_columns(columns: &mut [i16], before: &[i16]) {
    let [a, b, c, d, e, f, g, h] = parted_mut(columns);
    let [p, q, r, s] = parted(before);
    let count = a.len();
    let (b, c, d, e) = (&mut b[..count], &mut c[..count], &mut d[..count], &mut e[..count]);
    let (f, g, h) = (&mut f[..count], &mut g[..count], &mut h[..count]);
    let (p, q, r, s) = (&p[..count], &q[..count], &r[..count], &s[..count]);
    for index in 0..count {
        let line = backward_line([a[index], b[index], c[index], d[index], e[index], f[index], g[index], h[index]]);
        let line: [i16; 8] = std::array::from_fn(|y| weighed(line[y], COSINE[y]));
        // Adds 1, because both terms are rounded down, by half a step on average.
        let sum = |one: i16, other: i16| one.wrapping_add(other).wrapping_add(1);
        [a[index], b[index], c[index], d[index]] =
            [sum(line[0], p[index]), sum(line[1], q[index]), sum(line[2], r[index]), sum(line[3], s[index])];
        [e[index], f[index], g[index], h[index]] = [line[4], line[5], line[6], line[7]];
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
        const PITCH: usize = 2 * TILES;
        let mut bands: [Vec<i16>; 3] = std::array::from_fn(|_| (0..STEP * STEP * PITCH).map(|_| next()).collect());
        // A black tile and a white one.
        for (index, sample) in bands.iter_mut().flatten().enumerate() {
            *sample = match index % PITCH {
                0 | 1 => -2048,
                3 | 4 => 2047,
                _ => *sample,
            };
        }
        let (mut columns, mut before) = (vec![0; 8 * STEP * PITCH], vec![0; STEP * STEP * PITCH]);
        let (mut batch, mut sums): (Batch, _) = ([0; SAMPLES * TILES], Vec::new());
        for pair in bands.windows(2) {
            forward_columns(&[pair[0].clone(), pair[1].clone()], &mut columns);
            forward_rows(&columns, PITCH, 0, &mut batch);
            assert!(batch[0].abs_diff(-16384) < 8 && batch[3].abs_diff(16376) < 8, "{:?}", &batch[..4]);
            sums = vec![1; columns.len()];
            backward_rows(&batch, &mut sums, PITCH, 0);
            backward_columns(&mut sums, &before);
            before.copy_from_slice(&sums[STEP * STEP * PITCH..]);
        }
        // The middle band is complete, except for its outer cells.
        let (mut wrong, mut worst, mut count) = (0, 0, 0);
        for (index, (after, sample)) in sums.iter().zip(&bands[1]).enumerate() {
            if (1..TILES).contains(&(index % PITCH)) {
                wrong += i32::from(*after) - i32::from(*sample);
                worst = worst.max(after.abs_diff(*sample));
                count += 1;
            }
        }
        assert!(wrong.abs() < count / 2, "right on average: {wrong} of {count}");
        assert!(worst <= 8, "{worst:?}");
    }

    #[test]
    fn rows_are_ordered_by_sample_and_back() {
        let row: Vec<i16> = (0..16).collect();
        let mut by = vec![0; 16];
        by_sample(&row, &mut by);
        assert_eq!(by, [0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15]);
        let mut back = vec![0; 12];
        by_place(&by, &mut back);
        assert_eq!(back, row[4..]);
    }

    #[test]
    fn windows_add_up_to_one() {
        for x in 0..STEP {
            assert_eq!(COSINE[x] + COSINE[x + STEP], 128);
        }
    }
}

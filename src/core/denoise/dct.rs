//! The discrete cosine transform of tiles of 8x8, of many tiles at once: sample `at` of tile `tile` is number
//! `at * TILES + tile`. It keeps lengths: a flat tile has 8 times its level as its first coefficient.

/// Tiles that are transformed at once.
pub const TILES: usize = 32;

/// Samples or coefficients of a tile.
pub const SAMPLES: usize = 64;

/// Samples, or coefficients, of some tiles.
pub type Batch = [i16; SAMPLES * TILES];

/// `cos(k * pi / 16) / 2` in 32768ths, for k from 0 to 7; the first is that of k = 4, which is `1 / sqrt(8)`.
const HALF_COSINE: [i16; 8] = [11585, 16069, 15137, 13623, 11585, 9102, 6270, 3196];

/// `a * b / 32768`, to the nearest.
#[inline(always)]
pub fn part(a: i16, b: i16) -> i16 {
    // In the steps that are one instruction of a vector unit.
    let product = (i32::from(a) * i32::from(b)) as u32 >> 14;
    ((product + 1) >> 1) as i16
}

/// The transform of 8 samples.
#[inline(always)]
fn forward_line(x: [i16; 8]) -> [i16; 8] {
    let [_, c1, c2, c3, c4, c5, c6, c7] = HALF_COSINE;
    let sum: [i16; 4] = std::array::from_fn(|at| x[at].wrapping_add(x[7 - at]));
    let [d0, d1, d2, d3]: [i16; 4] = std::array::from_fn(|at| x[at].wrapping_sub(x[7 - at]));
    let [even, odd] = [sum[0].wrapping_add(sum[3]), sum[1].wrapping_add(sum[2])].map(|sum| part(sum, c4));
    let (e0, e1) = (sum[0].wrapping_sub(sum[3]), sum[1].wrapping_sub(sum[2]));
    [
        even.wrapping_add(odd),
        part(d0, c1).wrapping_add(part(d1, c3)).wrapping_add(part(d2, c5)).wrapping_add(part(d3, c7)),
        part(e0, c2).wrapping_add(part(e1, c6)),
        part(d0, c3).wrapping_sub(part(d1, c7)).wrapping_sub(part(d2, c1)).wrapping_sub(part(d3, c5)),
        even.wrapping_sub(odd),
        part(d0, c5).wrapping_sub(part(d1, c1)).wrapping_add(part(d2, c7)).wrapping_add(part(d3, c3)),
        part(e0, c6).wrapping_sub(part(e1, c2)),
        part(d0, c7).wrapping_sub(part(d1, c5)).wrapping_add(part(d2, c3)).wrapping_sub(part(d3, c1)),
    ]
}

/// The samples of 8 coefficients.
#[inline(always)]
fn backward_line(x: [i16; 8]) -> [i16; 8] {
    let [_, c1, c2, c3, c4, c5, c6, c7] = HALF_COSINE;
    let (first, fourth) = (part(x[0], c4), part(x[4], c4));
    let (even, odd) = (first.wrapping_add(fourth), first.wrapping_sub(fourth));
    let (outer, inner) =
        (part(x[2], c2).wrapping_add(part(x[6], c6)), part(x[2], c6).wrapping_sub(part(x[6], c2)));
    let sum = [even.wrapping_add(outer), odd.wrapping_add(inner), odd.wrapping_sub(inner), even.wrapping_sub(outer)];
    let (x1, x3, x5, x7) = (x[1], x[3], x[5], x[7]);
    let difference = [
        part(x1, c1).wrapping_add(part(x3, c3)).wrapping_add(part(x5, c5)).wrapping_add(part(x7, c7)),
        part(x1, c3).wrapping_sub(part(x3, c7)).wrapping_sub(part(x5, c1)).wrapping_sub(part(x7, c5)),
        part(x1, c5).wrapping_sub(part(x3, c1)).wrapping_add(part(x5, c7)).wrapping_add(part(x7, c3)),
        part(x1, c7).wrapping_sub(part(x3, c5)).wrapping_add(part(x5, c3)).wrapping_sub(part(x7, c1)),
    ];
    std::array::from_fn(|at| match at {
        0..4 => sum[at].wrapping_add(difference[at]),
        _ => sum[7 - at].wrapping_sub(difference[7 - at]),
    })
}

/// Both directions of all tiles through `line`.
#[inline(always)]
fn transform(batch: &mut Batch, line: impl Fn([i16; 8]) -> [i16; 8] + Copy) {
    lines(batch, 8 * TILES, line);
    for row in batch.as_chunks_mut::<{ 8 * TILES }>().0 {
        lines(row, TILES, line);
    }
}

/// All lines of 8 samples that are `apart`.
#[inline(always)]
fn lines(samples: &mut [i16], apart: usize, line: impl Fn([i16; 8]) -> [i16; 8]) {
    let (a, rest) = samples.split_at_mut(apart);
    let (b, rest) = rest.split_at_mut(apart);
    let (c, rest) = rest.split_at_mut(apart);
    let (d, rest) = rest.split_at_mut(apart);
    let (e, rest) = rest.split_at_mut(apart);
    let (f, rest) = rest.split_at_mut(apart);
    let (g, h) = rest.split_at_mut(apart);
    let h = &mut h[..apart];
    for at in 0..apart {
        let out = line([a[at], b[at], c[at], d[at], e[at], f[at], g[at], h[at]]);
        [a[at], b[at], c[at], d[at], e[at], f[at], g[at], h[at]] = out;
    }
}

/// The coefficients of samples.
#[inline(always)]
pub fn forward(batch: &mut Batch) {
    transform(batch, forward_line);
}

/// The samples of coefficients.
#[inline(always)]
pub fn backward(batch: &mut Batch) {
    transform(batch, backward_line);
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
        (0..SAMPLES).for_each(|at| (batch[at * TILES], batch[at * TILES + 1]) = (-2048, 2047));
        let before = batch;
        forward(&mut batch);
        assert!(batch[0].abs_diff(-16384) < 8 && batch[1].abs_diff(16376) < 8, "{:?}", &batch[..2]);
        let length = |batch: &Batch| batch.iter().map(|of| i64::from(*of) * i64::from(*of)).sum::<i64>();
        assert!((length(&batch) - length(&before)).abs() < length(&before) / 500);
        backward(&mut batch);
        let worst = batch.iter().zip(&before).map(|(a, b)| a.abs_diff(*b)).max();
        assert!(worst <= Some(5), "{worst:?}");
    }
}

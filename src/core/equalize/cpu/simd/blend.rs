//! The kernels of local equalization in plain Rust, as in `scalar.rs`: each is compiled again for AVX2 and AVX-512.
//!
//! A blend is one exact division, with the same divisor for all pixels of a frame. For bytes, f32 gives an estimate of
//! the quotient, a little too low, so that rounding to the nearest integer gives the right result or one less; the
//! integer remainder decides which. Words are divided in f64, where both operands are exact. A quotient that is not
//! halfway between integers is 2^-36 or more away from it; the error of 2^-38 cannot change its rounding.

/// Four lookup tables of bytes: upper left, lower left, upper right, lower right.
pub struct ByteCell<'a> {
    /// The four tables.
    pub tables: [&'a [u8; 256]; 4],
    /// The four results for each byte side by side, the upper left one in the lowest byte.
    pub quads: &'a [u32; 256],
}

/// The blending weights of the four tiles.
pub struct Shares<'a> {
    /// For each pixel, the weight of the tiles on the right, in parts of `across`; those on the left have the rest.
    pub right: &'a [u32],
    /// The sum of the weights of a left and a right tile.
    pub across: u32,
    /// The weight of the lower tiles, in parts of `down`; the upper ones have the rest.
    pub below: u32,
    /// The sum of the weights of an upper and a lower tile.
    pub down: u32,
}

/// The estimate of a quotient up to 255 is lowered by this: more than its error, which is 255 * 4 * 2^-24.
pub const LOWERED: f32 = 1e-4;

/// The number of pixels that are looked up one by one before they are blended as vectors. With 64, the first results
/// have reached the cache when they are loaded as a vector.
const BATCH: usize = 64;

/// Adding this to an f32 of 0 to 2^22 rounds it to the nearest integer, which is then in the low bits.
const ROUND_F32: f32 = 8_388_608.0;

/// Adding this to an f64 of 0 to 2^51 rounds it to the nearest integer.
const ROUND_F64: f64 = 4_503_599_627_370_496.0;

/// The entries of four tables side by side.
#[inline(always)]
pub fn interleave(tables: [&[u8; 256]; 4], quads: &mut [u32; 256]) {
    for (code, quad) in quads.iter_mut().enumerate() {
        *quad = u32::from_le_bytes(tables.map(|table| table[code]));
    }
}

/// Looks up each byte in four tables and blends by `shares`, rounded half to even. `255 * across * down` fits 31 bits.
#[inline(always)]
pub fn blend_bytes(source: &[u8], target: &mut [u8], cell: &ByteCell, shares: &Shares) {
    for ((source, target), right) in source.chunks(BATCH).zip(target.chunks_mut(BATCH)).zip(shares.right.chunks(BATCH))
    {
        let (mut quads, mut blended) = ([0; BATCH], [0; BATCH]);
        for (quad, byte) in quads.iter_mut().zip(source) {
            *quad = cell.quads[usize::from(*byte)];
        }
        blend_quads(&quads, &mut blended, &batch_of(right), shares);
        put(&blended, target);
    }
}

#[inline(always)]
fn blend_quads(quads: &[u32; BATCH], target: &mut [u8; BATCH], right: &[u32; BATCH], shares: &Shares) {
    let Shares { across, below, down, .. } = *shares;
    let whole = (across * down) as i32;
    let inverse = 1.0 / whole as f32;
    for ((quad, target), right) in quads.iter().zip(target).zip(right) {
        let mixed = |upper: u32| {
            let left = (quad >> (8 * upper)) & 0xff;
            let right_value = (quad >> (16 + 8 * upper)) & 0xff;
            left * (across - right) + right_value * right
        };
        let sum = (mixed(0) * (down - below) + mixed(1) * below) as i32;
        let estimate = (sum as f32 * inverse - LOWERED + ROUND_F32).to_bits() as i32 - ROUND_F32.to_bits() as i32;
        let twice_rest = 2 * (sum - estimate * whole);
        *target = (estimate + i32::from(twice_rest + (estimate & 1) > whole)) as u8;
    }
}

/// Looks up each code in four tables and blends by `shares`, rounded half to even.
#[inline(always)]
pub fn blend_words(source: &[u16], target: &mut [u16], luts: [&[u16]; 4], shares: &Shares) {
    for ((source, target), right) in source.chunks(BATCH).zip(target.chunks_mut(BATCH)).zip(shares.right.chunks(BATCH))
    {
        let (mut found, mut blended) = ([[0; BATCH]; 4], [0; BATCH]);
        for (lut, found) in luts.iter().zip(&mut found) {
            for (found, code) in found.iter_mut().zip(source) {
                *found = lut[usize::from(*code)];
            }
        }
        blend_found(&found, &mut blended, &batch_of(right), shares);
        put(&blended, target);
    }
}

#[inline(always)]
fn blend_found(found: &[[u16; BATCH]; 4], target: &mut [u16; BATCH], right: &[u32; BATCH], shares: &Shares) {
    let Shares { across, below, down, .. } = *shares;
    let whole = f64::from(across) * f64::from(down);
    let (upper_share, lower_share) = (f64::from(down - below), f64::from(below));
    let [upper_left, lower_left, upper_right, lower_right] = found;
    for (index, (target, right)) in target.iter_mut().zip(right).enumerate() {
        // Weights are below 2^31, so that a vector of them can be converted to f64 as signed integers.
        let (left, right) = (f64::from((across - right) as i32), f64::from(*right as i32));
        let mixed = |left_values: &[u16; BATCH], right_values: &[u16; BATCH]| {
            f64::from(left_values[index]) * left + f64::from(right_values[index]) * right
        };
        let upper = mixed(upper_left, upper_right) * upper_share;
        let lower = mixed(lower_left, lower_right) * lower_share;
        *target = ((upper + lower) / whole + ROUND_F64).to_bits() as u16;
    }
}

/// A batch of weights, padded with 0, because whole vectors are always computed.
#[inline(always)]
fn batch_of(right: &[u32]) -> [u32; BATCH] {
    <[u32; BATCH]>::try_from(right).unwrap_or_else(|_| {
        let mut batch = [0; BATCH];
        batch[..right.len()].copy_from_slice(right);
        batch
    })
}

/// Writes as much of a batch as `target` holds. The length of a whole batch is a constant, so it is copied inline.
#[inline(always)]
fn put<T: Copy>(batch: &[T; BATCH], target: &mut [T]) {
    match <&mut [T; BATCH]>::try_from(&mut *target) {
        Ok(target) => *target = *batch,
        Err(_) => target.copy_from_slice(&batch[..target.len()]),
    }
}

/// `(from + index * step) / area` for each index, rounded down. As in `chroma.rs`, integers are divided as floats,
/// which is exact for quotients below 2^20 of sums below 2^50; others are divided as integers.
#[inline(always)]
pub fn ramp(start: u64, step: i64, area: u64, target: &mut [u32]) {
    let last = start.wrapping_add_signed(step * target.len() as i64);
    let most = start.max(last);
    if most >= 1 << 50 || most >= area << 20 {
        for (index, value) in target.iter_mut().enumerate() {
            *value = (start.wrapping_add_signed(step * index as i64) / area) as u32;
        }
        return;
    }
    let (start, step, area) = (start as f64, step as f64, area as f64);
    for (index, value) in target.iter_mut().enumerate() {
        let quotient = (start + step * f64::from(index as u32)) / area;
        // Adding 2^52 rounds to an integer, which is then in the low bits.
        let nearest = (quotient + 4_503_599_627_370_496.0).to_bits() as u32;
        *value = nearest - u32::from(f64::from(nearest) > quotient);
    }
}

/// Mixes `before` into `after`: `(before * (256 - k) + after * k + 128) >> 8`.
#[inline(always)]
pub fn mix_bytes(before: &[u8], after: &mut [u8], k: u32) {
    let k = k as u16;
    for (before, after) in before.iter().zip(after) {
        *after = ((u16::from(*before) * (256 - k) + u16::from(*after) * k + 128) >> 8) as u8;
    }
}

/// Mixes `before` into `after` as [`mix_bytes`] does, for codes of up to 16 bits.
#[inline(always)]
pub fn mix_words(before: &[u16], after: &mut [u16], k: u32) {
    for (before, after) in before.iter().zip(after) {
        *after = ((u32::from(*before) * (256 - k) + u32::from(*after) * k + 128) >> 8) as u16;
    }
}

//! The kernels of local equalization in plain Rust, as in `scalar.rs`: each is compiled again for AVX2 and AVX-512.
//!
//! A blend is one exact division by the same number for all pixels of a frame. Bytes estimate the quotient in f32, a
//! little too low, so that rounding to the nearest integer gives the right one or one less; the remainder in integers
//! decides which. Words divide in f64: numerator and denominator are exact there, and the quotient of a fraction that
//! is no half cannot become one, since its distance from the half, 2^-36 or more, is more than the error, 2^-38.

/// Four lookup tables of bytes: upper left, lower left, upper right, lower right.
pub struct ByteCell<'a> {
    /// Each table by itself.
    pub tables: [&'a [u8; 256]; 4],
    /// The four results for each byte side by side, the upper left one in the lowest byte.
    pub quads: &'a [u32; 256],
}

/// The weights of the four tiles.
pub struct Shares<'a> {
    /// For each pixel, the weight of the tiles on the right, in parts of `across`; those on the left have the rest.
    pub right: &'a [u32],
    /// Parts from the left to the right.
    pub across: u32,
    /// The weight of the lower tiles, in parts of `down`; the upper ones have the rest.
    pub below: u32,
    /// Parts from top to bottom.
    pub down: u32,
}

/// The estimate of a quotient up to 255 is lowered by this: more than its error, which is 255 * 4 * 2^-24.
pub const LOWERED: f32 = 1e-4;

/// Pixels that are looked up one by one before all of them are computed side by side: enough that the first have
/// reached the cache when a vector of them is read back.
const BATCH: usize = 64;

/// Adding this to an f32 of 0 to 2^22 rounds it to the nearest integer, which then stands in the low bits.
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

/// Each byte looked up in four tables, blended by its shares, rounded half to even. `255 * across * down` fits 31 bits.
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

/// Each code looked up in four tables, blended by its shares, rounded half to even.
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

/// Writes as much of a batch as `target` holds. The compiler knows the length of a whole one, and copies it without a
/// call.
#[inline(always)]
fn put<T: Copy>(batch: &[T; BATCH], target: &mut [T]) {
    match <&mut [T; BATCH]>::try_from(&mut *target) {
        Ok(target) => *target = *batch,
        Err(_) => target.copy_from_slice(&batch[..target.len()]),
    }
}

/// `(from + index * step) / area` for each index, rounded down. As in `chroma.rs`, integers are divided as floats; that
/// is exact for quotients below 2^20 of sums below 2^50, and others are divided as they are.
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
        // Adding 2^52 rounds to an integer, which then stands in the low bits.
        let nearest = (quotient + 4_503_599_627_370_496.0).to_bits() as u32;
        *value = nearest - u32::from(f64::from(nearest) > quotient);
    }
}

/// `after` between `before` and itself: `(before * (256 - k) + after * k + 128) >> 8`.
#[inline(always)]
pub fn mix_bytes(before: &[u8], after: &mut [u8], k: u32) {
    let k = k as u16;
    for (before, after) in before.iter().zip(after) {
        *after = ((u16::from(*before) * (256 - k) + u16::from(*after) * k + 128) >> 8) as u8;
    }
}

/// `after` between `before` and itself, for codes of up to 16 bits.
#[inline(always)]
pub fn mix_words(before: &[u16], after: &mut [u16], k: u32) {
    for (before, after) in before.iter().zip(after) {
        *after = ((u32::from(*before) * (256 - k) + u32::from(*after) * k + 128) >> 8) as u16;
    }
}

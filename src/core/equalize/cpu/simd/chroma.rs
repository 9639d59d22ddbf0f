//! The kernels of colour that follows luma, in plain Rust, as in `scalar.rs`: each is compiled again for AVX2 and
//! AVX-512.
//!
//! `spec::chroma` divides integers, which no vector unit can; here they are divided as floats. Both parts are exact in
//! f32 while the larger one is at most 2^24, in f64 always, and then the quotient rounded down is the integers': it is
//! below the next integer by `1 / divisor` or more, which is more than half the distance of the floats there.

use super::scalar::{read_words, write_words};
use crate::equalize::cpu::layout::PackedPixel;
use crate::frame::{Sample, in_byte_order};
use crate::spec::chroma::{Colours, MAX_GAIN, UNIT_GAIN, component_with_gain, scaled};

/// Items that are computed side by side: enough for the widest vectors, and for the compiler to know that nothing
/// overlaps.
const BATCH: usize = 64;

/// Adds the levels above `black` of `1 << log2_width` pixels of `row` to each of `sums`, fewer to the last one.
#[inline(always)]
pub fn sum_bytes(row: &[u8], black: u16, log2_width: u8, sums: &mut [i32]) {
    sum(row, |code| i32::from(code.saturating_sub(black as u8)), log2_width, sums);
}

/// As [`sum_bytes`], for codes of more than 8 bits.
#[inline(always)]
pub fn sum_words(row: &[u16], black: u16, log2_width: u8, sums: &mut [i32]) {
    sum(row, |code| i32::from(code.saturating_sub(black)), log2_width, sums);
}

#[inline(always)]
fn sum<T: Copy>(row: &[T], level: impl Fn(T) -> i32, log2_width: u8, sums: &mut [i32]) {
    match log2_width {
        0 => sum_groups::<T, 1>(row, level, sums),
        1 => sum_groups::<T, 2>(row, level, sums),
        _ => sum_groups::<T, 4>(row, level, sums),
    }
}

#[inline(always)]
fn sum_groups<T: Copy, const N: usize>(row: &[T], level: impl Fn(T) -> i32, sums: &mut [i32]) {
    let (groups, rest) = row.as_chunks::<N>();
    for (group, sum) in groups.iter().zip(sums.iter_mut()) {
        for code in group {
            *sum += level(*code);
        }
    }
    if let Some(last) = sums.get_mut(groups.len()) {
        *last += rest.iter().map(|code| level(*code)).sum::<i32>();
    }
}

/// Scales pairs of chroma samples, each of which covers `samples` luma samples of these sums.
#[inline(always)]
pub fn scale_pairs(colours: &Colours, samples: i32, sums: [&[i32]; 2], pairs: [&mut [u16]; 2]) {
    // The largest sum is that of samples of the highest code, which is below twice the code of no colour.
    if samples * 2 * colours.centre <= 1 << 12 {
        scale_pairs_with(colours, samples, sums, pairs, quotient_f32);
    } else {
        scale_pairs_with(colours, samples, sums, pairs, quotient_f64);
    }
}

#[inline(always)]
fn scale_pairs_with(
    colours: &Colours,
    samples: i32,
    [before, after]: [&[i32]; 2],
    [cb, cr]: [&mut [u16]; 2],
    quotient: impl Fn(i32, i32) -> i32,
) {
    let sums = before.chunks(BATCH).zip(after.chunks(BATCH));
    for ((before, after), (cb, cr)) in sums.zip(cb.chunks_mut(BATCH).zip(cr.chunks_mut(BATCH))) {
        let mut pairs = [batch_of(cb, |code| code), batch_of(cr, |code| code)];
        scale_batch(colours, samples, [before, after].map(|sums| batch_of(sums, |sum| sum)), &mut pairs, &quotient);
        cb.copy_from_slice(&pairs[0][..cb.len()]);
        cr.copy_from_slice(&pairs[1][..cr.len()]);
    }
}

/// The items of a slice, and zeros behind them.
#[inline(always)]
fn batch_of<T: Copy, U: Copy + Default>(items: &[T], as_is: impl Fn(T) -> U) -> [U; BATCH] {
    let mut batch = [U::default(); BATCH];
    batch.iter_mut().zip(items).for_each(|(to, item)| *to = as_is(*item));
    batch
}

#[inline(always)]
fn scale_batch(
    colours: &Colours,
    samples: i32,
    [before, after]: [[i32; BATCH]; 2],
    [cb, cr]: &mut [[u16; BATCH]; 2],
    quotient: impl Fn(i32, i32) -> i32,
) {
    let (span, centre, reach) = (samples * colours.span as i32, colours.centre, colours.reach);
    for i in 0..BATCH {
        let (b, r) = (i32::from(cb[i]) - centre, i32::from(cr[i]) - centre);
        let excursion = colours.excursion(b, r);
        let (up, down) = (samples * excursion.up as i32, samples * excursion.down as i32);
        let gain = gain([before[i], after[i]], span, [up, down], &quotient);
        let place = |offset: i32| {
            let most = offset.abs().max(reach);
            // As `clamp`, which would look whether its bounds are in order.
            (centre + scaled(offset, gain).max(-most).min(most)) as u16
        };
        (cb[i], cr[i]) = (place(b), place(r));
    }
}

/// As `spec::chroma::gain`, span and excursions being those of all samples together.
#[inline(always)]
fn gain([before, after]: [i32; 2], span: i32, [up, down]: [i32; 2], quotient: impl Fn(i32, i32) -> i32) -> u32 {
    let brighter = after > before;
    let divisor = if brighter { before.max(down) } else { before };
    let asked = quotient(after, divisor.max(1));
    let room = quotient((span - after).max(0), up.max(1));
    let bounded = asked.min(room).max(UNIT_GAIN as i32);
    let gain = if brighter { bounded } else { asked };
    (if before == 0 { UNIT_GAIN as i32 } else { gain }) as u32
}

/// `part / whole` in 4096ths, rounded down, but at most the largest gain; for parts of up to 2^12. Adding 2^23 rounds
/// it to an integer, which then stands in the low bits: a conversion would look for numbers that are none.
#[inline(always)]
fn quotient_f32(part: i32, whole: i32) -> i32 {
    let quotient = part as f32 * UNIT_GAIN as f32 / whole as f32;
    let quotient = if quotient < MAX_GAIN as f32 { quotient } else { MAX_GAIN as f32 };
    let nearest = ((quotient + 8_388_608.0).to_bits() & 0x7f_ffff) as i32;
    nearest - i32::from(nearest as f32 > quotient)
}

/// As [`quotient_f32`], for parts of up to 2^20, by adding 2^52.
#[inline(always)]
fn quotient_f64(part: i32, whole: i32) -> i32 {
    let quotient = f64::from(part) * f64::from(UNIT_GAIN) / f64::from(whole);
    let quotient = if quotient < f64::from(MAX_GAIN) { quotient } else { f64::from(MAX_GAIN) };
    let nearest = (quotient + 4_503_599_627_370_496.0).to_bits() as i32;
    nearest - i32::from(f64::from(nearest) > quotient)
}

/// Packed pixels whose luminance moves from `before` to `after`, and their saturation with it.
#[inline(always)]
pub fn rescale_packed(from: &[u8], before: &[u8], after: &[u8], pixel: &PackedPixel, to: &mut [u8]) {
    match pixel.bytes {
        3 => rescale_pixels::<3>(from, before, after, pixel.moves, to),
        _ => rescale_pixels::<4>(from, before, after, pixel.moves, to),
    }
}

#[inline(always)]
fn rescale_pixels<const N: usize>(from: &[u8], before: &[u8], after: &[u8], moves: [i16; 4], to: &mut [u8]) {
    let pixels = from.as_chunks::<N>().0.chunks(BATCH).zip(to.as_chunks_mut::<N>().0.chunks_mut(BATCH));
    for ((from, to), (before, after)) in pixels.zip(before.chunks(BATCH).zip(after.chunks(BATCH))) {
        let mut rows = [[0; BATCH]; N];
        for (i, pixel) in from.iter().enumerate() {
            for k in 0..N {
                rows[k][i] = i32::from(pixel[k]);
            }
        }
        rescale_batch(&mut rows, moves, [before, after].map(|row| batch_of(row, i32::from)), 255, quotient_f32);
        for (i, pixel) in to.iter_mut().enumerate() {
            for k in 0..N {
                pixel[k] = rows[k][i] as u8;
            }
        }
    }
}

/// Rows of red, green and blue, in any order, whose luminance moves from `before` to `after`.
#[inline(always)]
pub fn rescale_bytes(from: [&[u8]; 3], before: &[u8], after: &[u8], to: [&mut [u8]; 3]) {
    let [to_a, to_b, to_c] = to;
    let to = to_a.chunks_mut(BATCH).zip(to_b.chunks_mut(BATCH)).zip(to_c.chunks_mut(BATCH));
    for (batch, ((to_a, to_b), to_c)) in to.enumerate() {
        let mut rows = from.map(|row| batch_of(&row[batch * BATCH..], i32::from));
        let luminances = [before, after].map(|row| batch_of(&row[batch * BATCH..], i32::from));
        rescale_batch(&mut rows, [1; 4], luminances, 255, quotient_f32);
        for (to, row) in [to_a, to_b, to_c].into_iter().zip(rows) {
            to.iter_mut().zip(row).for_each(|(to, code)| *to = code as u8);
        }
    }
}

/// As [`rescale_bytes`], for rows of words; codes above that of `sample` are read as the highest.
#[inline(always)]
pub fn rescale_words(from: [&[u8]; 3], before: &[u16], after: &[u16], sample: Sample, to: [&mut [u8]; 3]) {
    let max = sample.max();
    let from = from.map(|row| row.as_chunks::<2>().0);
    let [to_a, to_b, to_c] = to.map(|row| row.as_chunks_mut::<2>().0.chunks_mut(BATCH));
    in_byte_order!(sample.endian, |read, write| {
        for (batch, ((to_a, to_b), to_c)) in to_a.zip(to_b).zip(to_c).enumerate() {
            let mut rows = from.map(|row| batch_of(&row[batch * BATCH..], |word| i32::from(read(word).min(max))));
            let luminances = [before, after].map(|row| batch_of(&row[batch * BATCH..], i32::from));
            rescale_batch(&mut rows, [1; 4], luminances, max.into(), quotient_f64);
            for (to, row) in [to_a, to_b, to_c].into_iter().zip(rows) {
                to.iter_mut().zip(row).for_each(|(to, code)| *to = write(code as u16));
            }
        }
    });
}

/// As `spec::chroma::rescaled`: a row for each component, of which those that `moves` names become what they become.
#[inline(always)]
fn rescale_batch<const N: usize>(
    rows: &mut [[i32; BATCH]; N],
    moves: [i16; 4],
    [before, after]: [[i32; BATCH]; 2],
    max: i32,
    quotient: impl Fn(i32, i32) -> i32,
) {
    let (mut low, mut high) = ([max; BATCH], [0; BATCH]);
    for (row, _) in rows.iter().zip(moves).filter(|(_, moves)| *moves != 0) {
        for i in 0..BATCH {
            low[i] = low[i].min(row[i]);
            high[i] = high[i].max(row[i]);
        }
    }
    let mut gains = [0; BATCH];
    for i in 0..BATCH {
        gains[i] = gain([before[i], after[i]], max, [high[i] - before[i], before[i] - low[i]], &quotient);
    }
    for (row, _) in rows.iter_mut().zip(moves).filter(|(_, moves)| *moves != 0) {
        for i in 0..BATCH {
            row[i] = (after[i] + scaled(row[i] - before[i], gains[i])).max(0).min(max);
        }
    }
}

/// Chroma codes with these gains.
#[inline(always)]
pub fn follow(gains: &[u32], colours: &Colours, codes: &mut [u16]) {
    codes.iter_mut().zip(gains).for_each(|(code, gain)| *code = colours.followed(*code, *gain));
}

/// Codes of red, green or blue after the luminance of their pixels has moved from `before` to `after`, with these gains
/// of colour; `max` is the highest code.
#[inline(always)]
pub fn move_with_gains(gains: &[u32], before: &[u16], after: &[u16], max: u16, codes: &mut [u16]) {
    for ((code, gain), (from, to)) in codes.iter_mut().zip(gains).zip(before.iter().zip(after)) {
        *code = component_with_gain(*code, *from, *to, *gain, max);
    }
}

/// The codes of every `step`th sample of `row`, from `offset` on.
#[inline(always)]
pub fn gather(row: &[u8], sample: Sample, [offset, step]: [usize; 2], codes: &mut [u16]) {
    match (sample.bytes, step) {
        (1, 1) => row.iter().zip(codes).for_each(|(byte, code)| *code = u16::from(*byte)),
        (_, 1) => read_words(row, sample, codes),
        (1, 2) => gather_bytes::<2>(row, offset, codes),
        (1, 3) if row.len() >= 3 * codes.len() => gather_bytes::<3>(row, offset, codes),
        (1, 4) if row.len() >= 4 * codes.len() => gather_bytes::<4>(row, offset, codes),
        _ => {
            for (x, code) in codes.iter_mut().enumerate() {
                *code = sample.read(row, offset + x * step);
            }
        }
    }
}

#[inline(always)]
fn gather_bytes<const STEP: usize>(row: &[u8], offset: usize, codes: &mut [u16]) {
    for (pixel, code) in row.as_chunks::<STEP>().0.iter().zip(codes) {
        *code = u16::from(pixel[offset % STEP]);
    }
}

/// Stores codes as every `step`th sample of `row`, from `offset` on.
#[inline(always)]
pub fn scatter(codes: &[u16], sample: Sample, [offset, step]: [usize; 2], row: &mut [u8]) {
    match (sample.bytes, step) {
        (1, 1) => codes.iter().zip(row).for_each(|(code, byte)| *byte = *code as u8),
        (_, 1) => write_words(codes, sample, row),
        (1, 2) => scatter_bytes::<2>(codes, offset, row),
        (1, 3) if row.len() >= 3 * codes.len() => scatter_bytes::<3>(codes, offset, row),
        (1, 4) if row.len() >= 4 * codes.len() => scatter_bytes::<4>(codes, offset, row),
        _ => {
            for (x, code) in codes.iter().enumerate() {
                sample.write(row, offset + x * step, *code);
            }
        }
    }
}

#[inline(always)]
fn scatter_bytes<const STEP: usize>(codes: &[u16], offset: usize, row: &mut [u8]) {
    for (code, pixel) in codes.iter().zip(row.as_chunks_mut::<STEP>().0) {
        pixel[offset % STEP] = *code as u8;
    }
}

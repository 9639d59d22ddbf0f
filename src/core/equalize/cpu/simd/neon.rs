//! The kernels for NEON, which every aarch64 has. The compiler makes NEON code of the plain kernels, too; these are
//! hand-written where it does not find the instructions: lookups in the 64 bytes of four registers, the high half of
//! products, narrowing products; or because a window is read once for four comparisons.

#![allow(unsafe_code, reason = "vector loads and stores, and functions compiled for NEON")]

use super::{chroma, scalar};
use crate::denoise::merge::{Average, MergedPlane, Others, merge_by};
use crate::denoise::noise::Noise;
use crate::denoise::search::{Compare, CompareFour, MotionField, Window, search_by};
use crate::denoise::sheet::Sheet;
use crate::spec::chroma::Colours;
use std::arch::aarch64::*;

pub fn map_bytes(source: &[u8], target: &mut [u8], table: &[u8; 256]) {
    // SAFETY: every aarch64 has NEON.
    unsafe { look_up(source, target, table, vdupq_n_u8(0xff)) };
    let done = source.len().min(target.len()) / 16 * 16;
    scalar::map_bytes(&source[done..], &mut target[done..], table);
}

pub fn map_every_other(source: &[u8], target: &mut [u8], table: &[u8; 256], offset: usize) {
    let chosen = if offset & 1 == 0 { 0x00ff } else { 0xff00 };
    // SAFETY: as in `map_bytes`.
    unsafe { look_up(source, target, table, vreinterpretq_u8_u16(vdupq_n_u16(chosen))) };
    let done = source.len().min(target.len()) / 16 * 16;
    scalar::map_every_other(&source[done..], &mut target[done..], table, offset);
}

/// Looks up the bytes that `mask` chooses and copies the others, in whole vectors of 16; the remainder is not written.
#[target_feature(enable = "neon")]
fn look_up(source: &[u8], target: &mut [u8], table: &[u8; 256], mask: uint8x16_t) {
    let quarters: [uint8x16x4_t; 4] = std::array::from_fn(|quarter| {
        // SAFETY: the 64 bytes from 64 * quarter on lie inside the 256 of `table`.
        unsafe { vld1q_u8_x4(table.as_ptr().add(64 * quarter)) }
    });
    for (source, target) in source.as_chunks::<16>().0.iter().zip(target.as_chunks_mut::<16>().0) {
        // SAFETY: `source` is 16 bytes; the load needs no alignment.
        let bytes = unsafe { vld1q_u8(source.as_ptr()) };
        // An index beyond the 64 bytes of a quarter keeps the result of the quarters before.
        let mut found = vqtbl4q_u8(quarters[0], bytes);
        found = vqtbx4q_u8(found, quarters[1], veorq_u8(bytes, vdupq_n_u8(64)));
        found = vqtbx4q_u8(found, quarters[2], veorq_u8(bytes, vdupq_n_u8(128)));
        found = vqtbx4q_u8(found, quarters[3], veorq_u8(bytes, vdupq_n_u8(192)));
        // SAFETY: `target` is 16 bytes; the store needs no alignment.
        unsafe { vst1q_u8(target.as_mut_ptr(), vbslq_u8(mask, found, bytes)) };
    }
}

pub fn follow(gains: &[u32], colours: &Colours, codes: &mut [u16]) {
    // SAFETY: as in `map_bytes`.
    unsafe { follow_by_eight(gains, colours, codes) };
    let done = codes.len().min(gains.len()) / 8 * 8;
    chroma::follow(&gains[done..], colours, &mut codes[done..]);
}

pub fn move_with_gains(gains: &[u32], before: &[u16], after: &[u16], max: u16, codes: &mut [u16]) {
    // SAFETY: as in `map_bytes`.
    unsafe { move_by_eight(gains, before, after, max, codes) };
    let done = codes.len().min(gains.len()).min(before.len()).min(after.len()) / 8 * 8;
    chroma::move_with_gains(&gains[done..], &before[done..], &after[done..], max, &mut codes[done..]);
}

#[target_feature(enable = "neon")]
fn read(codes: &[u16; 8]) -> uint16x8_t {
    // SAFETY: these are 16 bytes; the load needs no alignment.
    unsafe { vld1q_u16(codes.as_ptr()) }
}

#[target_feature(enable = "neon")]
fn write(codes: uint16x8_t, target: &mut [u16; 8]) {
    // SAFETY: `target` is 16 bytes; the store needs no alignment.
    unsafe { vst1q_u16(target.as_mut_ptr(), codes) };
}

/// `number * gain` in 4096ths, to the nearest integer, at most 65535.
#[target_feature(enable = "neon")]
fn scaled(numbers: uint16x8_t, gains: &[u32; 8]) -> uint16x8_t {
    // SAFETY: these are 32 bytes; the load needs no alignment.
    let gains = unsafe { vld1q_u32_x2(gains.as_ptr()) };
    let four = |numbers: uint32x4_t, gains: uint32x4_t| {
        let low = vqrshrn_n_u64::<12>(vmull_u32(vget_low_u32(numbers), vget_low_u32(gains)));
        vqrshrn_high_n_u64::<12>(low, vmull_high_u32(numbers, gains))
    };
    let low = vqmovn_u32(four(vmovl_u16(vget_low_u16(numbers)), gains.0));
    vqmovn_high_u32(low, four(vmovl_high_u16(numbers), gains.1))
}

/// The kernel `chroma::follow` in whole vectors of 8; the remainder is not written.
#[target_feature(enable = "neon")]
fn follow_by_eight(gains: &[u32], colours: &Colours, codes: &mut [u16]) {
    let (centre, reach) = (vdupq_n_u16(colours.centre as u16), vdupq_n_u16(colours.reach as u16));
    for (target, gains) in codes.as_chunks_mut::<8>().0.iter_mut().zip(gains.as_chunks::<8>().0) {
        let codes = read(target);
        let away = vabdq_u16(codes, centre);
        let scaled = vminq_u16(scaled(away, gains), vmaxq_u16(away, reach));
        let (below, above) = (vsubq_u16(centre, scaled), vaddq_u16(centre, scaled));
        write(vbslq_u16(vcltq_u16(codes, centre), below, above), target);
    }
}

/// The kernel `chroma::move_with_gains` in whole vectors of 8; the remainder is not written.
#[target_feature(enable = "neon")]
fn move_by_eight(gains: &[u32], before: &[u16], after: &[u16], max: u16, codes: &mut [u16]) {
    let max = vdupq_n_u16(max);
    let luminance = before.as_chunks::<8>().0.iter().zip(after.as_chunks::<8>().0);
    let rows = codes.as_chunks_mut::<8>().0.iter_mut().zip(gains.as_chunks::<8>().0).zip(luminance);
    for ((target, gains), (before, after)) in rows {
        let (codes, before, after) = (read(target), read(before), read(after));
        let scaled = scaled(vabdq_u16(codes, before), gains);
        let (below, above) = (vqsubq_u16(after, scaled), vqaddq_u16(after, scaled));
        write(vminq_u16(vbslq_u16(vcltq_u16(codes, before), below, above), max), target);
    }
}

pub fn search(one: &[Sheet], other: &[Sheet], calm: u32, guess: Option<&MotionField>) -> MotionField {
    search_by(&Neon, one, other, calm, guess)
}

pub fn merge(plane: &MergedPlane<'_>, noise: &Noise) -> Sheet {
    merge_by(&Neon, plane, noise)
}

/// The comparison of windows and the averaging of coefficients, by NEON.
struct Neon;

/// Rows of a window that are compared, and samples of a row.
const ROWS: usize = 8;
const SAMPLES: usize = 16;

/// Strides in samples are masked with this, so that a stride times a number of rows does not overflow.
const MAX_STRIDE: usize = u32::MAX as usize;

impl Compare for Neon {
    #[inline(always)]
    fn differences(&self, (a, of_a): Window<'_>, (b, of_b): Window<'_>, bound: i16, enough: u32) -> u32 {
        let (of_a, of_b) = (of_a & MAX_STRIDE, of_b & MAX_STRIDE);
        assert!(a.len() >= (ROWS - 1) * of_a + SAMPLES && b.len() >= (ROWS - 1) * of_b + SAMPLES);
        // SAFETY: every aarch64 has NEON, and both windows have all their rows.
        unsafe { differences((a.as_ptr(), of_a), (b.as_ptr(), of_b), bound, enough) }
    }

    const AROUND: Option<CompareFour> = Some(|(a, of_a), (b, of_b), bound| {
        let (of_a, of_b) = (of_a & MAX_STRIDE, of_b & MAX_STRIDE);
        // The last read is of row 16 of `b` from its second sample on; row 15 from its third sample on ends no later.
        assert!(a.len() >= (ROWS - 1) * of_a + SAMPLES && b.len() > 2 * ROWS * of_b + SAMPLES && of_b > 0);
        // SAFETY: every aarch64 has NEON, and all rows are there.
        unsafe { differences_around((a.as_ptr(), of_a), (b.as_ptr(), of_b), bound) }
    });
}

/// Adds the differences of two rows to `sums`, each sample by no more than `bound`.
#[inline]
#[target_feature(enable = "neon")]
fn add(sums: uint16x8_t, a: int16x8x2_t, b: int16x8x2_t, bound: uint16x8_t) -> uint16x8_t {
    let bounded = |a, b| vminq_u16(vreinterpretq_u16_s16(vabdq_s16(a, b)), bound);
    vaddq_u16(vaddq_u16(sums, bounded(a.0, b.0)), bounded(a.1, b.1))
}

/// # Safety
/// Both pointers address eight rows of 16 readable samples; the number beside a pointer is their stride in samples.
#[inline]
#[target_feature(enable = "neon")]
unsafe fn differences(a: (*const i16, usize), b: (*const i16, usize), bound: i16, enough: u32) -> u32 {
    let bound = vdupq_n_u16(bound as u16);
    let (mut of_a, mut of_b, mut sum) = (a.0, b.0, 0);
    for _ in 0..2 {
        let mut sums = vdupq_n_u16(0);
        for _ in 0..ROWS / 2 {
            // SAFETY: the caller guarantees these rows.
            sums = unsafe { add(sums, vld1q_s16_x2(of_a), vld1q_s16_x2(of_b), bound) };
            (of_a, of_b) = (of_a.wrapping_add(a.1), of_b.wrapping_add(b.1));
        }
        sum += vaddlvq_u16(sums);
        if sum >= enough {
            break;
        }
    }
    sum
}

/// # Safety
/// As for [`differences`]; `b` has 17 readable rows, of 18 samples each, except the last one, of 17.
#[inline]
#[target_feature(enable = "neon")]
unsafe fn differences_around(a: (*const i16, usize), b: (*const i16, usize), bound: i16) -> [u32; 4] {
    let bound = vdupq_n_u16(bound as u16);
    let [mut right, mut left, mut below, mut above] = [vdupq_n_u16(0); 4];
    // SAFETY: the caller guarantees these rows.
    let read = |samples: *const i16| unsafe { vld1q_s16_x2(samples) };
    let (mut row, mut of_b) = (a.0, b.0);
    let mut upper = read(of_b.wrapping_add(1));
    for _ in 0..ROWS {
        let (middle, here) = (of_b.wrapping_add(b.1), read(row));
        (row, of_b) = (row.wrapping_add(a.1), middle.wrapping_add(b.1));
        let lower = read(of_b.wrapping_add(1));
        right = add(right, here, read(middle.wrapping_add(2)), bound);
        left = add(left, here, read(middle), bound);
        below = add(below, here, lower, bound);
        above = add(above, here, upper, bound);
        upper = lower;
    }
    [right, left, below, above].map(|sums| vaddlvq_u16(sums))
}

impl Average for Neon {
    #[inline(always)]
    fn average(&self, first: usize, frames: Others<'_>, shares: &[u16], here: &mut [i16], left: &mut [u16]) {
        // SAFETY: as in `map_bytes`.
        unsafe { average(first, frames, shares, here, left) }
    }
}

/// `vqdmulhq_s16` returns the high half of twice a product, so one factor, or the result, is halved.
#[inline]
#[target_feature(enable = "neon")]
fn average(first: usize, (weights, batches): Others<'_>, shares: &[u16], here: &mut [i16], left: &mut [u16]) {
    let chunks = here.as_chunks_mut::<8>().0.iter_mut().zip(left.as_chunks_mut::<8>().0);
    for (number, ((here, left), shares)) in chunks.zip(shares.as_chunks::<8>().0).enumerate() {
        let place = first / 8 + number;
        let (before, shares, mut squares) = (read_signed(here), vreinterpretq_s16_u16(read(shares)), read(left));
        let mut moves = vdupq_n_s16(0);
        for (weights, batch) in weights.iter().zip(batches) {
            let weights = vreinterpretq_s16_u16(read(&weights.as_chunks().0[place]));
            // If a weight is not 0, `shares` is less than 32768, and `share` is less than 16384: both fit signed
            // integers.
            let share = vqdmulhq_s16(vshlq_n_s16::<7>(weights), shares);
            let apart = vqsubq_s16(read_signed(&batch.as_chunks().0[place]), before);
            moves = vaddq_s16(moves, vqdmulhq_s16(apart, share));
            squares = vsraq_n_u16::<1>(squares, vreinterpretq_u16_s16(vqdmulhq_s16(share, share)));
        }
        write(squares, left);
        let mean = vqaddq_s16(before, moves);
        // SAFETY: these are 16 bytes; the store needs no alignment.
        unsafe { vst1q_s16(here.as_mut_ptr(), mean) };
    }
}

#[target_feature(enable = "neon")]
fn read_signed(numbers: &[i16; 8]) -> int16x8_t {
    // SAFETY: these are 16 bytes; the load needs no alignment.
    unsafe { vld1q_s16(numbers.as_ptr()) }
}

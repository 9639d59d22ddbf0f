//! The kernels for AVX-512 with VBMI. Bytes are looked up in a table of 256 bytes in four registers, at the speed of
//! memory; words of up to 10 bits in a table of 1,024 words in thirty-two registers. Deeper words are looked up one by
//! one, which is faster than gathering.

#![allow(unsafe_code, reason = "vector loads and stores, and functions compiled for AVX-512")]

use super::blend::{ByteCell, LOWERED, Shares};
use super::scalar;
use crate::equalize::cpu::lookup::Lookup;
use crate::frame::Endian;
use std::arch::x86_64::*;

pub fn map_bytes(source: &[u8], target: &mut [u8], table: &[u8; 256]) {
    // SAFETY: reachable only through its table, which `Kernels::for_isa` hands out where the CPU has these features.
    unsafe { look_up_bytes(source, target, table, u64::MAX) };
}

pub fn map_every_other(source: &[u8], target: &mut [u8], table: &[u8; 256], offset: usize) {
    // SAFETY: as in `map_bytes`.
    unsafe {
        look_up_bytes(
            source,
            target,
            table,
            if offset & 1 == 0 { 0x5555_5555_5555_5555 } else { 0xaaaa_aaaa_aaaa_aaaa },
        )
    };
}

/// A table of 256 bytes in registers.
struct ByteTable([__m512i; 4]);

impl ByteTable {
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
    fn new(table: &[u8; 256]) -> Self {
        ByteTable(std::array::from_fn(|quarter| {
            // SAFETY: the 64 bytes from 64 * quarter on lie inside the 256 of `table`.
            unsafe { _mm512_loadu_si512(table.as_ptr().add(64 * quarter).cast()) }
        }))
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
    fn look_up(&self, bytes: __m512i) -> __m512i {
        let dark = _mm512_permutex2var_epi8(self.0[0], bytes, self.0[1]);
        let bright = _mm512_permutex2var_epi8(self.0[2], bytes, self.0[3]);
        _mm512_mask_blend_epi8(_mm512_movepi8_mask(bytes), dark, bright)
    }
}

/// Looks up the bytes that `mask` chooses and copies the others.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
fn look_up_bytes(source: &[u8], target: &mut [u8], table: &[u8; 256], mask: u64) {
    let table = ByteTable::new(table);
    let look_up = |bytes: __m512i| _mm512_mask_blend_epi8(mask, bytes, table.look_up(bytes));
    let len = source.len().min(target.len());
    let ((source, from_rest), (target, to_rest)) =
        (source[..len].as_chunks::<64>(), target[..len].as_chunks_mut::<64>());
    for (source, target) in source.iter().zip(target) {
        // SAFETY: both are 64 bytes; neither load nor store needs alignment.
        unsafe { _mm512_storeu_si512(target.as_mut_ptr().cast(), look_up(_mm512_loadu_si512(source.as_ptr().cast()))) };
    }
    let present = (1u64 << from_rest.len()) - 1;
    // SAFETY: only the bytes that `present` names are touched, and both rests have that many.
    unsafe {
        let bytes = _mm512_maskz_loadu_epi8(present, from_rest.as_ptr().cast());
        _mm512_mask_storeu_epi8(to_rest.as_mut_ptr().cast(), present, look_up(bytes));
    }
}

pub fn blend_bytes(source: &[u8], target: &mut [u8], cell: &ByteCell, shares: &Shares) {
    // SAFETY: as in `map_bytes`.
    unsafe { blend_vectors(source, target, cell, shares) };
}

/// The kernel `scalar::blend_bytes`: all tables fit in registers; looks up 64 bytes at once, blends them in quarters.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
fn blend_vectors(source: &[u8], target: &mut [u8], cell: &ByteCell, shares: &Shares) {
    let upper_left = ByteTable::new(cell.tables[0]);
    let lower_left = ByteTable::new(cell.tables[1]);
    let upper_right = ByteTable::new(cell.tables[2]);
    let lower_right = ByteTable::new(cell.tables[3]);
    let whole = (shares.across * shares.down) as i32;
    let across = _mm512_set1_epi32(shares.across as i32);
    let upper_share = _mm512_set1_epi32((shares.down - shares.below) as i32);
    let lower_share = _mm512_set1_epi32(shares.below as i32);
    let (inverse, lowered) = (_mm512_set1_ps(1.0 / whole as f32), _mm512_set1_ps(LOWERED));
    let (whole, one) = (_mm512_set1_epi32(whole), _mm512_set1_epi32(1));
    // The permutation that puts byte i of both vectors side by side, as two words, for pixel i of a quarter.
    let first_pairs = _mm512_add_epi32(
        _mm512_set1_epi32(0x0040_0000),
        _mm512_mullo_epi32(lane_numbers(), _mm512_set1_epi32(0x1_0001)),
    );

    let chunks = source.chunks(64).zip(target.chunks_mut(64)).zip(shares.right.chunks(64));
    for ((source, target), right) in chunks {
        let present = u64::MAX >> (64 - source.len().min(target.len()).min(right.len()));
        // SAFETY: only the bytes that `present` names are touched, and `source` has them.
        let bytes = unsafe { _mm512_maskz_loadu_epi8(present, source.as_ptr().cast()) };
        let (upper_left, upper_right) = (upper_left.look_up(bytes), upper_right.look_up(bytes));
        let (lower_left, lower_right) = (lower_left.look_up(bytes), lower_right.look_up(bytes));
        let mut pairs = first_pairs;
        for quarter in 0..source.len().div_ceil(16) {
            let start = 16 * quarter;
            let present = (present >> start) as u16;
            // SAFETY: only the pixels that `present` names are touched, and `right` has them.
            let right = unsafe { _mm512_maskz_loadu_epi32(present, right.as_ptr().wrapping_add(start).cast()) };
            let weights = _mm512_or_si512(_mm512_sub_epi32(across, right), _mm512_slli_epi32(right, 16));
            let side_by_side = |left, right| _mm512_maskz_permutex2var_epi8(0x5555_5555_5555_5555, left, pairs, right);
            let upper = _mm512_madd_epi16(side_by_side(upper_left, upper_right), weights);
            let lower = _mm512_madd_epi16(side_by_side(lower_left, lower_right), weights);
            let sum = _mm512_add_epi32(_mm512_mullo_epi32(upper, upper_share), _mm512_mullo_epi32(lower, lower_share));
            let estimate = _mm512_cvtps_epi32(_mm512_fmsub_ps(_mm512_cvtepi32_ps(sum), inverse, lowered));
            let twice_rest = _mm512_slli_epi32(_mm512_sub_epi32(sum, _mm512_mullo_epi32(estimate, whole)), 1);
            let odd = _mm512_and_si512(estimate, one);
            let too_low = _mm512_cmpgt_epi32_mask(_mm512_add_epi32(twice_rest, odd), whole);
            let bytes = _mm512_cvtepi32_epi8(_mm512_mask_add_epi32(estimate, too_low, estimate, one));
            // SAFETY: only the bytes that `present` names are touched, and `target` has them.
            unsafe { _mm_mask_storeu_epi8(target.as_mut_ptr().wrapping_add(start).cast(), present, bytes) };
            pairs = _mm512_add_epi32(pairs, _mm512_set1_epi32(0x0010_0010));
        }
    }
}

#[target_feature(enable = "avx512f")]
fn lane_numbers() -> __m512i {
    _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
}

pub fn map_words(source: &[u8], target: &mut [u8], lookup: &Lookup) {
    if lookup.depth > 10 {
        return scalar::map_words(source, target, lookup);
    }
    // SAFETY: as in `map_bytes`.
    unsafe { look_up_words(source, target, lookup) };
    let done = source.len().min(target.len()) / 64 * 64;
    scalar::map_words(&source[done..], &mut target[done..], lookup);
}

/// Looks up words of up to 10 bits in whole vectors of 32; the remainder is not written.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
fn look_up_words(source: &[u8], target: &mut [u8], lookup: &Lookup) {
    let tables: [__m512i; 32] = std::array::from_fn(|index| {
        // SAFETY: the 32 words from 32 * index on lie inside the first 1,024 of the table.
        unsafe { _mm512_loadu_si512(lookup.table.as_ptr().add(32 * index).cast()) }
    });
    let shift = _mm_cvtsi32_si128(i32::from(lookup.shift));
    let highest = _mm512_set1_epi16(1023);
    let native = _mm512_broadcast_i32x4(match lookup.endian {
        Endian::Little => _mm_set_epi64x(0x0f0e_0d0c_0b0a_0908, 0x0706_0504_0302_0100),
        Endian::Big => _mm_set_epi64x(0x0e0f_0c0d_0a0b_0809, 0x0607_0405_0203_0001),
    });
    for (source, target) in source.as_chunks::<64>().0.iter().zip(target.as_chunks_mut::<64>().0) {
        // SAFETY: `source` is 64 bytes; the load needs no alignment.
        let stored = unsafe { _mm512_loadu_si512(source.as_ptr().cast()) };
        let words = _mm512_srl_epi16(_mm512_shuffle_epi8(stored, native), shift);
        // A word above the depth has the table entry of the highest code.
        let codes = _mm512_min_epu16(words, highest);
        let bit = |bit: u32| _mm512_test_epi16_mask(codes, _mm512_set1_epi16(1 << bit));
        let (bit6, bit7, bit8, bit9) = (bit(6), bit(7), bit(8), bit(9));
        let one = |high: usize| _mm512_permutex2var_epi16(tables[2 * high], codes, tables[2 * high + 1]);
        let two = |high| _mm512_mask_blend_epi16(bit6, one(high), one(high + 1));
        let four = |high| _mm512_mask_blend_epi16(bit7, two(high), two(high + 2));
        let eight = |high| _mm512_mask_blend_epi16(bit8, four(high), four(high + 4));
        let mapped = _mm512_mask_blend_epi16(bit9, eight(0), eight(8));
        // SAFETY: `target` is 64 bytes; the store needs no alignment.
        unsafe { _mm512_storeu_si512(target.as_mut_ptr().cast(), mapped) };
    }
}

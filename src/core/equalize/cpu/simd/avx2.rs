//! The kernels for AVX2. It looks up bytes in tables of 16 entries only, so each byte is looked up in sixteen tables,
//! and its high bits choose among the results. Words are looked up one by one, which is faster here than gathering.

#![allow(unsafe_code, reason = "vector loads and stores, and functions compiled for AVX2")]

use super::scalar;
use std::arch::x86_64::*;

pub fn map_bytes(source: &[u8], target: &mut [u8], table: &[u8; 256]) {
    // SAFETY: reachable only through its table, which `Kernels::for_isa` hands out where the CPU has AVX2.
    unsafe { look_up(source, target, table, _mm256_set1_epi8(-1)) };
    let done = source.len().min(target.len()) / 32 * 32;
    scalar::map_bytes(&source[done..], &mut target[done..], table);
}

pub fn map_every_other(source: &[u8], target: &mut [u8], table: &[u8; 256], offset: usize) {
    // SAFETY: as in `map_bytes`.
    unsafe {
        look_up(source, target, table, _mm256_set1_epi16(if offset & 1 == 0 { 0x00ff } else { 0xff00_u16 as i16 }))
    };
    let done = source.len().min(target.len()) / 32 * 32;
    scalar::map_every_other(&source[done..], &mut target[done..], table, offset);
}

/// Looks up the bytes that `mask` chooses and copies the others, in whole vectors of 32; the remainder is not written.
#[target_feature(enable = "avx2")]
fn look_up(source: &[u8], target: &mut [u8], table: &[u8; 256], mask: __m256i) {
    // One table for each value of the four high bits, indexed by the four low ones.
    let tables: [__m256i; 16] = std::array::from_fn(|high| {
        // SAFETY: the 16 bytes from 16 * high on lie inside the 256 of `table`.
        _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(table.as_ptr().add(16 * high).cast()) })
    });
    for (source, target) in source.as_chunks::<32>().0.iter().zip(target.as_chunks_mut::<32>().0) {
        // SAFETY: `source` is 32 bytes; the load needs no alignment.
        let bytes = unsafe { _mm256_loadu_si256(source.as_ptr().cast()) };
        let low = _mm256_and_si256(bytes, _mm256_set1_epi8(0x0f));
        // A vector blend selects by the top bit of each byte, so bits 4, 5 and 6 are shifted there.
        let (bit4, bit5, bit6) =
            (_mm256_slli_epi16(bytes, 3), _mm256_slli_epi16(bytes, 2), _mm256_slli_epi16(bytes, 1));
        let one = |high: usize| _mm256_shuffle_epi8(tables[high], low);
        let two = |high| _mm256_blendv_epi8(one(high), one(high + 1), bit4);
        let four = |high| _mm256_blendv_epi8(two(high), two(high + 2), bit5);
        let eight = |high| _mm256_blendv_epi8(four(high), four(high + 4), bit6);
        let mapped = _mm256_blendv_epi8(eight(0), eight(8), bytes);
        let result = _mm256_blendv_epi8(bytes, mapped, mask);
        // SAFETY: `target` is 32 bytes; the store needs no alignment.
        unsafe { _mm256_storeu_si256(target.as_mut_ptr().cast(), result) };
    }
}

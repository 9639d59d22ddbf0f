//! The kernels for AVX-512 with VBMI. Bytes are looked up in a table of 256 that lives in four registers, at the speed
//! of memory; words of up to 10 bits in one of 1,024, thirty-two registers' worth. Deeper words are looked up one by
//! one, which is faster than gathering.

#![allow(unsafe_code, reason = "vector loads and stores, and functions compiled for AVX-512")]

use super::{Kernels, compile_for, scalar};
use crate::equalize::cpu::layout::PackedPixel;
use crate::equalize::cpu::lookup::Lookup;
use crate::equalize::cpu::words::Words;
use crate::frame::Endian;
use crate::spec::Weights;
use std::arch::x86_64::*;

pub(super) static KERNELS: Kernels = Kernels {
    take_bytes,
    every_other,
    map_bytes,
    map_every_other,
    map_words,
    luminance_packed,
    move_packed,
    luminance_bytes,
    move_bytes,
    luminance_words,
    move_words,
};

compile_for! { "avx512f,avx512bw,avx512vl,avx512vbmi":
    fn take_bytes(words: &mut Words) -> [u32; 256];
    fn every_other(from: &[u8], offset: usize, to: &mut [u8]);
    fn luminance_packed(from: &[u8], pixel: &PackedPixel, to: &mut [u8]);
    fn move_packed(from: &[u8], before: &[u8], after: &[u8], pixel: &PackedPixel, to: &mut [u8]);
    fn luminance_bytes(rgb: [&[u8]; 3], weights: Weights, to: &mut [u8]);
    fn move_bytes(from: &[u8], before: &[u8], after: &[u8], to: &mut [u8]);
    fn luminance_words(rgb: [&[u8]; 3], endian: Endian, max: u16, weights: Weights, to: &mut [u16]);
    fn move_words(from: &[u8], before: &[u16], after: &[u16], endian: Endian, max: u16, to: &mut [u8]);
}

fn map_bytes(from: &[u8], to: &mut [u8], table: &[u8; 256]) {
    // SAFETY: reachable only through KERNELS, which `Kernels::of` hands out where the CPU has these features.
    unsafe { look_up_bytes(from, to, table, u64::MAX) };
}

fn map_every_other(from: &[u8], to: &mut [u8], table: &[u8; 256], offset: usize) {
    // SAFETY: as in `map_bytes`.
    unsafe {
        look_up_bytes(from, to, table, if offset & 1 == 0 { 0x5555_5555_5555_5555 } else { 0xaaaa_aaaa_aaaa_aaaa })
    };
}

/// Looks up the bytes that `mask` chooses and copies the others.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
fn look_up_bytes(from: &[u8], to: &mut [u8], table: &[u8; 256], mask: u64) {
    let tables: [__m512i; 4] = std::array::from_fn(|quarter| {
        // SAFETY: the 64 bytes from 64 * quarter on lie inside the 256 of `table`.
        unsafe { _mm512_loadu_si512(table.as_ptr().add(64 * quarter).cast()) }
    });
    let look_up = |bytes: __m512i| {
        let dark = _mm512_permutex2var_epi8(tables[0], bytes, tables[1]);
        let bright = _mm512_permutex2var_epi8(tables[2], bytes, tables[3]);
        _mm512_mask_blend_epi8(mask, bytes, _mm512_mask_blend_epi8(_mm512_movepi8_mask(bytes), dark, bright))
    };
    let len = from.len().min(to.len());
    let ((from, from_rest), (to, to_rest)) = (from[..len].as_chunks::<64>(), to[..len].as_chunks_mut::<64>());
    for (from, to) in from.iter().zip(to) {
        // SAFETY: both are 64 bytes; neither load nor store needs alignment.
        unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), look_up(_mm512_loadu_si512(from.as_ptr().cast()))) };
    }
    let present = (1u64 << from_rest.len()) - 1;
    // SAFETY: only the bytes that `present` names are touched, and both rests have that many.
    unsafe {
        let bytes = _mm512_maskz_loadu_epi8(present, from_rest.as_ptr().cast());
        _mm512_mask_storeu_epi8(to_rest.as_mut_ptr().cast(), present, look_up(bytes));
    }
}

fn map_words(from: &[u8], to: &mut [u8], lookup: &Lookup) {
    if lookup.depth > 10 {
        return scalar::map_words(from, to, lookup);
    }
    // SAFETY: as in `map_bytes`.
    unsafe { look_up_words(from, to, lookup) };
    let done = from.len().min(to.len()) / 64 * 64;
    scalar::map_words(&from[done..], &mut to[done..], lookup);
}

/// Looks up words of up to 10 bits in whole vectors of 32; the rest is left.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
fn look_up_words(from: &[u8], to: &mut [u8], lookup: &Lookup) {
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
    for (from, to) in from.as_chunks::<64>().0.iter().zip(to.as_chunks_mut::<64>().0) {
        // SAFETY: `from` is 64 bytes; the load needs no alignment.
        let stored = unsafe { _mm512_loadu_si512(from.as_ptr().cast()) };
        let words = _mm512_srl_epi16(_mm512_shuffle_epi8(stored, native), shift);
        // The table goes on above the depth, where a word that breaks it becomes what the highest code becomes.
        let codes = _mm512_min_epu16(words, highest);
        let bit = |bit: u32| _mm512_test_epi16_mask(codes, _mm512_set1_epi16(1 << bit));
        let (bit6, bit7, bit8, bit9) = (bit(6), bit(7), bit(8), bit(9));
        let one = |high: usize| _mm512_permutex2var_epi16(tables[2 * high], codes, tables[2 * high + 1]);
        let two = |high| _mm512_mask_blend_epi16(bit6, one(high), one(high + 1));
        let four = |high| _mm512_mask_blend_epi16(bit7, two(high), two(high + 2));
        let eight = |high| _mm512_mask_blend_epi16(bit8, four(high), four(high + 4));
        let mapped = _mm512_mask_blend_epi16(bit9, eight(0), eight(8));
        // SAFETY: `to` is 64 bytes; the store needs no alignment.
        unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), mapped) };
    }
}

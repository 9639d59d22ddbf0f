//! The kernels for AVX2. Its only table lookup knows 16 entries, so a byte goes through sixteen of them and its high
//! bits choose among the results; words are looked up one by one, which is faster here than gathering.

#![allow(unsafe_code, reason = "vector loads and stores, and functions compiled for AVX2")]

use super::{Kernels, compile_for, scalar};
use crate::equalize::cpu::blend::{ByteCell, Shares};
use crate::equalize::cpu::layout::PackedPixel;
use crate::equalize::cpu::lookup::Lookup;
use crate::equalize::cpu::word_histogram::WordHistogram;
use crate::frame::{Endian, Sample};
use crate::spec::Weights;
use crate::spec::chroma::Colours;
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
    set_every_other,
    read_words,
    write_words,
    interleave,
    blend_bytes,
    blend_words,
    mix_bytes,
    mix_words,
    sum_bytes,
    sum_words,
    scale_pairs,
    gather,
    scatter,
    rescale_packed,
    rescale_bytes,
    rescale_words,
};

compile_for! { "avx2":
    fn take_bytes(words: &mut WordHistogram) -> [u32; 256];
    fn every_other(from: &[u8], offset: usize, to: &mut [u8]);
    fn map_words(from: &[u8], to: &mut [u8], lookup: &Lookup);
    fn luminance_packed(from: &[u8], pixel: &PackedPixel, to: &mut [u8]);
    fn move_packed(from: &[u8], before: &[u8], after: &[u8], pixel: &PackedPixel, to: &mut [u8]);
    fn luminance_bytes(rgb: [&[u8]; 3], weights: Weights, to: &mut [u8]);
    fn move_bytes(from: &[u8], before: &[u8], after: &[u8], to: &mut [u8]);
    fn luminance_words(rgb: [&[u8]; 3], endian: Endian, max: u16, weights: Weights, to: &mut [u16]);
    fn move_words(from: &[u8], before: &[u16], after: &[u16], endian: Endian, max: u16, to: &mut [u8]);
    fn set_every_other(from: &[u8], offset: usize, to: &mut [u8]);
    fn read_words(from: &[u8], sample: Sample, to: &mut [u16]);
    fn write_words(from: &[u16], sample: Sample, to: &mut [u8]);
    fn interleave(tables: [&[u8; 256]; 4], quads: &mut [u32; 256]);
    fn blend_bytes(from: &[u8], to: &mut [u8], cell: &ByteCell, shares: &Shares);
    fn blend_words(from: &[u16], to: &mut [u16], luts: [&[u16]; 4], shares: &Shares);
    fn mix_bytes(before: &[u8], after: &mut [u8], k: u32);
    fn mix_words(before: &[u16], after: &mut [u16], k: u32);
    fn sum_bytes(row: &[u8], black: u16, log2_width: u8, sums: &mut [i32]);
    fn sum_words(row: &[u16], black: u16, log2_width: u8, sums: &mut [i32]);
    fn scale_pairs(colours: &Colours, samples: i32, sums: [&[i32]; 2], pairs: [&mut [u16]; 2]);
    fn gather(row: &[u8], sample: Sample, place: [usize; 2], codes: &mut [u16]);
    fn scatter(codes: &[u16], sample: Sample, place: [usize; 2], row: &mut [u8]);
    fn rescale_packed(from: &[u8], before: &[u8], after: &[u8], pixel: &PackedPixel, to: &mut [u8]);
    fn rescale_bytes(from: [&[u8]; 3], before: &[u8], after: &[u8], to: [&mut [u8]; 3]);
    fn rescale_words(from: [&[u8]; 3], before: &[u16], after: &[u16], sample: Sample, to: [&mut [u8]; 3]);
}

fn map_bytes(from: &[u8], to: &mut [u8], table: &[u8; 256]) {
    // SAFETY: reachable only through KERNELS, which `Kernels::of` hands out where the CPU has AVX2.
    unsafe { look_up(from, to, table, _mm256_set1_epi8(-1)) };
    let done = from.len().min(to.len()) / 32 * 32;
    scalar::map_bytes(&from[done..], &mut to[done..], table);
}

fn map_every_other(from: &[u8], to: &mut [u8], table: &[u8; 256], offset: usize) {
    // SAFETY: as in `map_bytes`.
    unsafe { look_up(from, to, table, _mm256_set1_epi16(if offset & 1 == 0 { 0x00ff } else { 0xff00_u16 as i16 })) };
    let done = from.len().min(to.len()) / 32 * 32;
    scalar::map_every_other(&from[done..], &mut to[done..], table, offset);
}

/// Looks up the bytes that `mask` chooses and copies the others, in whole vectors of 32; the rest is left.
#[target_feature(enable = "avx2")]
fn look_up(from: &[u8], to: &mut [u8], table: &[u8; 256], mask: __m256i) {
    // One table for each value of the four high bits, indexed by the four low ones.
    let tables: [__m256i; 16] = std::array::from_fn(|high| {
        // SAFETY: the 16 bytes from 16 * high on lie inside the 256 of `table`.
        _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(table.as_ptr().add(16 * high).cast()) })
    });
    for (from, to) in from.as_chunks::<32>().0.iter().zip(to.as_chunks_mut::<32>().0) {
        // SAFETY: `from` is 32 bytes; the load needs no alignment.
        let bytes = unsafe { _mm256_loadu_si256(from.as_ptr().cast()) };
        let low = _mm256_and_si256(bytes, _mm256_set1_epi8(0x0f));
        // A blend looks at the top bit of each byte: bits 4, 5 and 6 are moved there.
        let (bit4, bit5, bit6) =
            (_mm256_slli_epi16(bytes, 3), _mm256_slli_epi16(bytes, 2), _mm256_slli_epi16(bytes, 1));
        let one = |high: usize| _mm256_shuffle_epi8(tables[high], low);
        let two = |high| _mm256_blendv_epi8(one(high), one(high + 1), bit4);
        let four = |high| _mm256_blendv_epi8(two(high), two(high + 2), bit5);
        let eight = |high| _mm256_blendv_epi8(four(high), four(high + 4), bit6);
        let mapped = _mm256_blendv_epi8(eight(0), eight(8), bytes);
        let result = _mm256_blendv_epi8(bytes, mapped, mask);
        // SAFETY: `to` is 32 bytes; the store needs no alignment.
        unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), result) };
    }
}

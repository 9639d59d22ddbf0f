//! The kernels of global equalization in plain Rust: what the vector kernels compute, and what most of them are made
//! of. Each is compiled again for AVX2 and AVX-512, where the compiler vectorizes it; only table lookups need a
//! hand-written twin.
//!
//! All rows of a call have the same number of pixels; whatever is longer is left alone.

use crate::equalize::cpu::layout::PackedPixel;
use crate::equalize::cpu::lookup::Lookup;
use crate::equalize::cpu::word_histogram::WordHistogram;
use crate::frame::{Endian, Sample, in_byte_order};
use crate::spec::{Weights, moved};

/// How often each byte was counted; the counters are zero afterwards.
#[inline(always)]
pub fn take_bytes(words: &mut WordHistogram) -> [u32; 256] {
    let mut first = std::mem::replace(&mut words.single, [0; 256]);
    let mut second = [0; 256];
    for (high, row) in words.pairs.as_chunks_mut::<256>().0.iter_mut().enumerate() {
        let mut sum = 0;
        for (low, pair) in first.iter_mut().zip(row.iter()) {
            let count = pair[0] + pair[1];
            *low += count;
            sum += count;
        }
        second[high] = sum;
        row.fill([0; 2]);
    }
    for (first, second) in first.iter_mut().zip(second) {
        *first += second;
    }
    first
}

/// Every other byte of `from`, from `offset` on.
#[inline(always)]
pub fn every_other(from: &[u8], offset: usize, to: &mut [u8]) {
    for (pair, to) in from.as_chunks::<2>().0.iter().zip(to) {
        *to = pair[offset & 1];
    }
}

/// Every other byte of `to`, from `offset` on, is one of `from`.
#[inline(always)]
pub fn set_every_other(from: &[u8], offset: usize, to: &mut [u8]) {
    for (from, pair) in from.iter().zip(to.as_chunks_mut::<2>().0) {
        pair[offset & 1] = *from;
    }
}

/// The codes of stored words.
#[inline(always)]
pub fn read_words(from: &[u8], sample: Sample, to: &mut [u16]) {
    in_byte_order!(sample.endian, |read, _| {
        for (from, to) in from.as_chunks::<2>().0.iter().zip(to) {
            *to = (read(*from) >> sample.shift).min(sample.max());
        }
    });
}

/// Codes as they are stored.
#[inline(always)]
pub fn write_words(from: &[u16], sample: Sample, to: &mut [u8]) {
    in_byte_order!(sample.endian, |_, write| {
        for (from, to) in from.iter().zip(to.as_chunks_mut::<2>().0) {
            *to = write(*from << sample.shift);
        }
    });
}

/// Each byte looked up.
#[inline(always)]
pub fn map_bytes(from: &[u8], to: &mut [u8], table: &[u8; 256]) {
    for (from, to) in from.iter().zip(to) {
        *to = table[usize::from(*from)];
    }
}

/// Every other byte looked up, from `offset` on; the others copied.
#[inline(always)]
pub fn map_every_other(from: &[u8], to: &mut [u8], table: &[u8; 256], offset: usize) {
    for (from, to) in from.as_chunks::<2>().0.iter().zip(to.as_chunks_mut::<2>().0) {
        *to = *from;
        to[offset & 1] = table[usize::from(from[offset & 1])];
    }
}

/// Each word looked up.
#[inline(always)]
pub fn map_words(from: &[u8], to: &mut [u8], lookup: &Lookup) {
    in_byte_order!(lookup.endian, |read, _| {
        for (from, to) in from.as_chunks::<2>().0.iter().zip(to.as_chunks_mut::<2>().0) {
            *to = lookup.table[usize::from(read(*from) >> lookup.shift)].to_ne_bytes();
        }
    });
}

/// The luminance of packed pixels.
#[inline(always)]
pub fn luminance_packed(from: &[u8], pixel: &PackedPixel, to: &mut [u8]) {
    match pixel.bytes {
        3 => weigh::<3>(from, pixel.weights, to),
        _ => weigh::<4>(from, pixel.weights, to),
    }
}

#[inline(always)]
fn weigh<const N: usize>(from: &[u8], weights: [u32; 4], to: &mut [u8]) {
    for (pixel, to) in from.as_chunks::<N>().0.iter().zip(to) {
        let mut sum = 32768;
        for (byte, weight) in pixel.iter().zip(weights) {
            sum += u32::from(*byte) * weight;
        }
        *to = (sum >> 16) as u8;
    }
}

/// Packed pixels whose luminance moves from `before` to `after`.
#[inline(always)]
pub fn move_packed(from: &[u8], before: &[u8], after: &[u8], pixel: &PackedPixel, to: &mut [u8]) {
    match pixel.bytes {
        3 => shift::<3>(from, before, after, pixel.moves, to),
        _ => shift::<4>(from, before, after, pixel.moves, to),
    }
}

#[inline(always)]
fn shift<const N: usize>(from: &[u8], before: &[u8], after: &[u8], moves: [i16; 4], to: &mut [u8]) {
    let pixels = from.as_chunks::<N>().0.iter().zip(to.as_chunks_mut::<N>().0);
    for ((from, to), (before, after)) in pixels.zip(before.iter().zip(after)) {
        let step = i16::from(*after) - i16::from(*before);
        for index in 0..N {
            to[index] = (i16::from(from[index]) + step * moves[index]).clamp(0, 255) as u8;
        }
    }
}

/// The luminance of red, green and blue rows.
#[inline(always)]
pub fn luminance_bytes([r, g, b]: [&[u8]; 3], weights: Weights, to: &mut [u8]) {
    for (((r, g), b), to) in r.iter().zip(g).zip(b).zip(to) {
        *to = weights.luminance([*r, *g, *b].map(u16::from)) as u8;
    }
}

/// A row of one component whose luminance moves from `before` to `after`.
#[inline(always)]
pub fn move_bytes(from: &[u8], before: &[u8], after: &[u8], to: &mut [u8]) {
    for (((from, before), after), to) in from.iter().zip(before).zip(after).zip(to) {
        *to = (i16::from(*from) + i16::from(*after) - i16::from(*before)).clamp(0, 255) as u8;
    }
}

/// The luminance of red, green and blue rows of words; codes above `max` are read as `max`.
#[inline(always)]
pub fn luminance_words(rgb: [&[u8]; 3], endian: Endian, max: u16, weights: Weights, to: &mut [u16]) {
    let [r, g, b] = rgb.map(|row| row.as_chunks::<2>().0);
    in_byte_order!(endian, |read, _| {
        for (((r, g), b), to) in r.iter().zip(g).zip(b).zip(to) {
            *to = weights.luminance([*r, *g, *b].map(|word| read(word).min(max)));
        }
    });
}

/// A row of words of one component whose luminance moves from `before` to `after`.
#[inline(always)]
pub fn move_words(from: &[u8], before: &[u16], after: &[u16], endian: Endian, max: u16, to: &mut [u8]) {
    let words = from.as_chunks::<2>().0.iter().zip(to.as_chunks_mut::<2>().0);
    let words = words.zip(before.iter().zip(after));
    in_byte_order!(endian, |read, write| {
        for ((from, to), (before, after)) in words {
            *to = write(moved(read(*from).min(max), *before, *after, max));
        }
    });
}

//! The kernels of global equalization in plain Rust: they define what the vector kernels compute, and most vector
//! kernels are made of them. Each is compiled again for AVX2 and AVX-512, where the compiler vectorizes it; only table
//! lookups need hand-written vector code.
//!
//! All rows of a call have the same number of pixels; elements beyond it are ignored.

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

/// Copies every other byte of `source`, from `offset` on, to `target`.
#[inline(always)]
pub fn every_other(source: &[u8], offset: usize, target: &mut [u8]) {
    for (pair, target) in source.as_chunks::<2>().0.iter().zip(target) {
        *target = pair[offset & 1];
    }
}

/// Writes the bytes of `source` to every other byte of `target`, from `offset` on.
#[inline(always)]
pub fn set_every_other(source: &[u8], offset: usize, target: &mut [u8]) {
    for (source, pair) in source.iter().zip(target.as_chunks_mut::<2>().0) {
        pair[offset & 1] = *source;
    }
}

/// Reads stored words as codes.
#[inline(always)]
pub fn read_words(source: &[u8], sample: Sample, target: &mut [u16]) {
    in_byte_order!(sample.endian, |read, _| {
        for (source, target) in source.as_chunks::<2>().0.iter().zip(target) {
            *target = (read(*source) >> sample.shift).min(sample.max());
        }
    });
}

/// Writes codes as stored words.
#[inline(always)]
pub fn write_words(source: &[u16], sample: Sample, target: &mut [u8]) {
    in_byte_order!(sample.endian, |_, write| {
        for (source, target) in source.iter().zip(target.as_chunks_mut::<2>().0) {
            *target = write(*source << sample.shift);
        }
    });
}

/// Looks up each byte in `table`.
#[inline(always)]
pub fn map_bytes(source: &[u8], target: &mut [u8], table: &[u8; 256]) {
    for (source, target) in source.iter().zip(target) {
        *target = table[usize::from(*source)];
    }
}

/// Looks up every other byte, from `offset` on, and copies the others.
#[inline(always)]
pub fn map_every_other(source: &[u8], target: &mut [u8], table: &[u8; 256], offset: usize) {
    for (source, target) in source.as_chunks::<2>().0.iter().zip(target.as_chunks_mut::<2>().0) {
        *target = *source;
        target[offset & 1] = table[usize::from(source[offset & 1])];
    }
}

/// Looks up each word.
#[inline(always)]
pub fn map_words(source: &[u8], target: &mut [u8], lookup: &Lookup) {
    in_byte_order!(lookup.endian, |read, _| {
        for (source, target) in source.as_chunks::<2>().0.iter().zip(target.as_chunks_mut::<2>().0) {
            *target = lookup.table[usize::from(read(*source) >> lookup.shift)].to_ne_bytes();
        }
    });
}

/// Computes the luminance of packed pixels.
#[inline(always)]
pub fn luminance_packed(source: &[u8], pixel: &PackedPixel, target: &mut [u8]) {
    match pixel.bytes {
        3 => weigh::<3>(source, pixel.weights, target),
        _ => weigh::<4>(source, pixel.weights, target),
    }
}

#[inline(always)]
fn weigh<const N: usize>(source: &[u8], weights: [u32; 4], target: &mut [u8]) {
    for (pixel, target) in source.as_chunks::<N>().0.iter().zip(target) {
        let mut sum = 32768;
        for (byte, weight) in pixel.iter().zip(weights) {
            sum += u32::from(*byte) * weight;
        }
        *target = (sum >> 16) as u8;
    }
}

/// Changes packed pixels so that their luminance moves from `before` to `after`.
#[inline(always)]
pub fn move_packed(source: &[u8], before: &[u8], after: &[u8], pixel: &PackedPixel, target: &mut [u8]) {
    match pixel.bytes {
        3 => shift::<3>(source, before, after, pixel.moves, target),
        _ => shift::<4>(source, before, after, pixel.moves, target),
    }
}

#[inline(always)]
fn shift<const N: usize>(source: &[u8], before: &[u8], after: &[u8], moves: [i16; 4], target: &mut [u8]) {
    let pixels = source.as_chunks::<N>().0.iter().zip(target.as_chunks_mut::<N>().0);
    for ((source, target), (before, after)) in pixels.zip(before.iter().zip(after)) {
        let step = i16::from(*after) - i16::from(*before);
        for index in 0..N {
            target[index] = (i16::from(source[index]) + step * moves[index]).clamp(0, 255) as u8;
        }
    }
}

/// Computes the luminance of rows of red, green and blue.
#[inline(always)]
pub fn luminance_bytes([r, g, b]: [&[u8]; 3], weights: Weights, target: &mut [u8]) {
    for (((r, g), b), target) in r.iter().zip(g).zip(b).zip(target) {
        *target = weights.luminance([*r, *g, *b].map(u16::from)) as u8;
    }
}

/// Changes a row of one colour component whose luminance moves from `before` to `after`.
#[inline(always)]
pub fn move_bytes(source: &[u8], before: &[u8], after: &[u8], target: &mut [u8]) {
    for (((source, before), after), target) in source.iter().zip(before).zip(after).zip(target) {
        *target = (i16::from(*source) + i16::from(*after) - i16::from(*before)).clamp(0, 255) as u8;
    }
}

/// Computes the luminance of rows of red, green and blue words; codes above `max` are read as `max`.
#[inline(always)]
pub fn luminance_words(rgb: [&[u8]; 3], endian: Endian, max: u16, weights: Weights, target: &mut [u16]) {
    let [r, g, b] = rgb.map(|row| row.as_chunks::<2>().0);
    in_byte_order!(endian, |read, _| {
        for (((r, g), b), target) in r.iter().zip(g).zip(b).zip(target) {
            *target = weights.luminance([*r, *g, *b].map(|word| read(word).min(max)));
        }
    });
}

/// Changes a row of words of one colour component whose luminance moves from `before` to `after`.
#[inline(always)]
pub fn move_words(source: &[u8], before: &[u16], after: &[u16], endian: Endian, max: u16, target: &mut [u8]) {
    let words = source.as_chunks::<2>().0.iter().zip(target.as_chunks_mut::<2>().0);
    let words = words.zip(before.iter().zip(after));
    in_byte_order!(endian, |read, write| {
        for ((source, target), (before, after)) in words {
            *target = write(moved(read(*source).min(max), *before, *after, max));
        }
    });
}

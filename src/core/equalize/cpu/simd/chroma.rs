//! The kernels of colour, in plain Rust, as in `scalar.rs`: each is compiled again for AVX2 and AVX-512.

use super::scalar::{read_words, write_words};
use crate::frame::Sample;
use crate::spec::chroma::{Colours, component_with_gain};

/// Applies these gains to codes of chroma.
#[inline(always)]
pub fn follow(gains: &[u32], colours: &Colours, codes: &mut [u16]) {
    codes.iter_mut().zip(gains).for_each(|(code, gain)| *code = colours.followed(*code, *gain));
}

/// Changes codes of red, green or blue for luminance that moves from `before` to `after`; `max` is the highest code.
#[inline(always)]
pub fn move_with_gains(gains: &[u32], before: &[u16], after: &[u16], max: u16, codes: &mut [u16]) {
    for ((code, gain), (source, target)) in codes.iter_mut().zip(gains).zip(before.iter().zip(after)) {
        *code = component_with_gain(*code, *source, *target, *gain, max);
    }
}

/// Reads every `step`th sample of `row`, from sample `offset` on, as codes.
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

/// Stores codes as every `step`th sample of `row`, from sample `offset` on.
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

//! A pyramid of smoothed luma, each level half as large, in which motion is searched. Its samples have 10 bits.

use super::sheet::{PAD, Sheet};

/// The smallest side of the coarsest picture, in samples, roughly.
const COARSEST: usize = 34;

/// The most pictures of a pyramid.
const MAX_PICTURES: usize = 6;

/// The number of pictures in the pyramid of a frame of this size.
pub fn levels(width: usize, height: usize) -> usize {
    (1..MAX_PICTURES).take_while(|level| width.min(height) >> level >= COARSEST).count().max(2) + 1
}

/// Luma, smoothed with the weights 1 4 6 4 1 in both directions.
#[inline(always)]
pub fn smooth(luma: &Sheet, target: &mut Sheet) {
    let stride = luma.stride();
    let mut line = vec![0u16; stride];
    for y in 0..luma.height() {
        let rows: [&[i16]; 5] = std::array::from_fn(|row| &luma.from_row(y as isize + row as isize - 2)[..stride]);
        let [a, b, c, d, e] = rows;
        for x in 0..stride {
            let [a, b, c, d, e] = [a[x], b[x], c[x], d[x], e[x]].map(|code| (code + 2048) as u16);
            line[x] = (a + e + 4 * (b + d) + 6 * c) >> 4;
        }
        across(&line, target.row_mut(y), 6);
    }
    target.repeat_edges();
}

/// The next coarser picture: smoothed in the same way, every other sample in both directions.
#[inline(always)]
pub fn halve(source: &Sheet, target: &mut Sheet) {
    let stride = source.stride();
    let (mut line, mut whole) = (vec![0u16; stride], vec![0i16; source.width()]);
    for y in 0..target.height() {
        let rows: [&[i16]; 5] =
            std::array::from_fn(|row| &source.from_row(2 * y as isize + row as isize - 2)[..stride]);
        let [a, b, c, d, e] = rows;
        for x in 0..stride {
            let [a, b, c, d, e] = [a[x], b[x], c[x], d[x], e[x]].map(|code| code as u16);
            line[x] = a + e + 4 * (b + d) + 6 * c;
        }
        for sample in &mut line {
            *sample = (*sample + 2) >> 2;
        }
        across(&line, &mut whole, 6);
        for (target, pair) in target.row_mut(y).iter_mut().zip(whole.chunks(2)) {
            *target = pair[0];
        }
    }
    target.repeat_edges();
}

/// Smooths a row, and divides it by `2^shift`; `line` begins `PAD` samples before the row.
#[inline(always)]
fn across(line: &[u16], target: &mut [i16], shift: u32) {
    let width = target.len();
    let value_of = |offset: usize| &line[PAD + offset - 2..][..width];
    let (a, b, c, d, e) = (value_of(0), value_of(1), value_of(2), value_of(3), value_of(4));
    let half = 1 << (shift - 1);
    for x in 0..width {
        let sum = u32::from(a[x]) + u32::from(e[x]) + 4 * (u32::from(b[x]) + u32::from(d[x])) + 6 * u32::from(c[x]);
        target[x] = ((sum + half) >> shift) as i16;
    }
}

/// The number of distinct differences, in codes of 10 bits; the last one stands for all larger ones.
pub const DIFFERENCES: usize = 1024;

/// The histogram of the absolute differences between two pictures of the same size.
pub fn differences(one: &Sheet, other: &Sheet) -> Vec<u32> {
    let mut counts = vec![0u32; DIFFERENCES];
    for y in 0..one.height() {
        for (a, b) in one.row(y).iter().zip(other.row(y)) {
            counts[usize::from(a.abs_diff(*b)).min(DIFFERENCES - 1)] += 1;
        }
    }
    counts
}

/// The median of these [`differences`], in 64ths of an 8-bit level.
pub fn calm_difference(counts: &[u32]) -> u32 {
    let half = counts.iter().sum::<u32>() / 2;
    let (mut below, mut index) = (0, 0);
    while below + counts[index] <= half && index < counts.len() - 1 {
        below += counts[index];
        index += 1;
    }
    // Interpolates between two codes of 10 bits. Bin 0 holds differences of up to half a code,
    // any other bin those of half a code below and above its number.
    let share = 16 * (half - below) / counts[index].max(1);
    if index == 0 { share / 2 } else { 16 * index as u32 + share - 8 }
}

//! The publications' programs for one thread of a CPU: plain loops over bytes, as the compiler optimizes them. The
//! suites compare GPUs with them, both times and results.

use histeq::internal::spec::Weights;

/// The count of each value.
pub fn histogram(elements: &[u8]) -> [u32; 256] {
    let mut counts = [0; 256];
    for &element in elements {
        counts[usize::from(element)] += 1;
    }
    counts
}

/// Equalizes `source`, full-range 8-bit gray, by the specification, and writes the result to `target`.
pub fn equalize(source: &[u8], target: &mut [u8]) {
    let mut cumulative = histogram(source);
    let (mut sum, mut first) = (0, 0);
    for entry in &mut cumulative {
        sum += *entry;
        *entry = sum;
        if first == 0 {
            first = sum;
        }
    }
    let spread = u64::from(sum - first);
    if spread == 0 {
        return target.copy_from_slice(source);
    }
    let lut = cumulative.map(|count| (u64::from(count.saturating_sub(first)) * 255 + spread / 2) / spread);
    for (target, &source) in target.iter_mut().zip(source) {
        *target = lut[usize::from(source)] as u8;
    }
}

/// The count of each value, limited to `most`; all elements are below `bins`.
pub fn saturated(elements: &[u32], bins: usize, most: u32) -> Vec<u32> {
    let mut counts = vec![0; bins];
    for &element in elements {
        let count = &mut counts[element as usize];
        if *count < most {
            *count += 1;
        }
    }
    counts
}

/// The histogram of the luminance of BGRA pixels, computed in float and truncated, as in cuda-rgb-luminance-histogram.
pub fn truncated_luminance(pixels: &[u8]) -> [u32; 256] {
    let mut counts = [0; 256];
    for pixel in pixels.chunks_exact(4) {
        let [b, g, r] = [pixel[0], pixel[1], pixel[2]].map(f32::from);
        counts[(0.299f32 * r + 0.587f32 * g + 0.114f32 * b) as usize & 0xff] += 1;
    }
    counts
}

/// The histogram of the luminance of BGRA pixels, computed in integers.
pub fn luminance(pixels: &[u8], weights: Weights) -> [u32; 256] {
    let mut counts = [0; 256];
    for pixel in pixels.chunks_exact(4) {
        let rgb = [pixel[2], pixel[1], pixel[0]].map(u16::from);
        counts[usize::from(weights.luminance(rgb))] += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use histeq::internal::spec::curves::{Curve, Histogram, Levels};

    #[test]
    fn the_program_for_one_thread_is_the_specification() {
        let pictures: [Vec<u8>; 3] =
            [(0..5000u32).map(|x| (x * x / 7 % 90 + 40) as u8).collect(), vec![7; 64], vec![3, 3, 9]];
        for source in pictures {
            let curve = Curve::equalizing(&Histogram::from_codes(Levels::full(8), &histogram(&source)));
            let mut target = vec![0; source.len()];
            equalize(&source, &mut target);
            let expected: Vec<u8> = source.iter().map(|&code| curve.apply(code.into()) as u8).collect();
            assert_eq!(target, expected);
        }
    }

    #[test]
    fn bins_stop_where_they_are_full() {
        assert_eq!(saturated(&[0, 2, 2, 2, 1, 2], 4, 3), [1, 1, 3, 0]);
    }

    #[test]
    fn luminance_is_that_of_red_green_and_blue_in_the_order_of_bgra() {
        let counts = luminance(&[0, 0, 255, 0, 255, 255, 255, 9], Weights::BT601);
        assert_eq!((counts[76], counts[255]), (1, 1));
    }
}

//! Converts rows of samples to more bits and back to 8, in 16-bit arithmetic without branches, which the compiler
//! vectorizes.

use super::pattern::{SIZE, ranks};

/// The conversion of 8-bit codes to more bits.
#[derive(Clone, Copy)]
pub struct Lift {
    shift: u32,
    /// In full range, the code shifted right by this fills the new low bits.
    back: u32,
    mask: u16,
    /// Codes between these get noise.
    between: (u16, u16),
    /// The number of codes over which noise spreads one 8-bit code.
    pub steps: u16,
    scale: u32,
}

impl Lift {
    /// A conversion to `depth` bits (10, 12 or 16) without noise.
    pub fn plain(depth: u8, is_full: bool) -> Self {
        let depth = u32::from(depth);
        let mask = if is_full { u16::MAX } else { 0 };
        Lift { shift: depth - 8, back: 16 - depth, mask, between: (0, 0), steps: 1, scale: 0 }
    }

    /// A conversion to `depth` bits with noise.
    pub fn noisy(depth: u8, is_full: bool) -> Self {
        let between = if is_full { (0, 255) } else { (16, 235) };
        // The noise has steps of a quarter of an 8-bit code for 10 bits, of a sixteenth for 12 bits and more.
        let (steps, scale) = if depth < 12 { (3, 0) } else { (8, u32::from(depth) - 12) };
        Lift { between, steps, scale, ..Lift::plain(depth, is_full) }
    }

    /// Converts row `y` of a plane.
    pub fn row(self, y: usize, codes: &[u8], out: &mut [u16]) {
        let Lift { shift, back, mask, between: (black, white), steps, scale } = self;
        // Negative noise wraps around, as the sum does.
        let noise = ranks(y).map(|rank| {
            let step = (u32::from(rank) * u32::from(steps)) >> 12;
            (step as u16).wrapping_sub(steps / 2) << scale
        });
        for (codes, out) in codes.chunks(SIZE).zip(out.chunks_mut(SIZE)) {
            for ((&code, out), &noise) in codes.iter().zip(out).zip(&noise) {
                let code = u16::from(code);
                let noise = if code > black && code < white { noise } else { 0 };
                *out = (code << shift).wrapping_add((code >> back) & mask).wrapping_add(noise);
            }
        }
    }
}

/// The conversion of deeper codes to 8 bits.
#[derive(Clone, Copy)]
pub struct Lower {
    shift: u32,
    mask: u16,
    is_dithered: bool,
}

impl Lower {
    /// A conversion from `depth` bits (9 to 16) that rounds, or dithers with the pattern as threshold.
    pub fn new(depth: u8, is_full: bool, is_dithered: bool) -> Self {
        Lower { shift: u32::from(depth) - 8, mask: if is_full { u16::MAX } else { 0 }, is_dithered }
    }

    /// Converts row `y` of a plane.
    pub fn row(self, y: usize, codes: &[u16], out: &mut [u8]) {
        let Lower { shift, mask, is_dithered } = self;
        let half = 1u16 << (shift - 1);
        let add = ranks(y).map(|rank| if is_dithered { rank >> (12 - shift) } else { half });
        for (codes, out) in codes.chunks(SIZE).zip(out.chunks_mut(SIZE)) {
            for ((&code, out), &add) in codes.iter().zip(out).zip(&add) {
                *out = ((code - ((code >> 8) & mask)).saturating_add(add) >> shift).min(255) as u8;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lifts each 8-bit code at all 64 columns of row `y` of the pattern. Returns the codes and the lifted codes.
    fn lifted(lift: Lift, y: usize) -> (Vec<u8>, Vec<u16>) {
        let codes: Vec<u8> = (0..=255).flat_map(|code| [code; SIZE]).collect();
        let mut out = vec![0; codes.len()];
        lift.row(y, &codes, &mut out);
        (codes, out)
    }

    #[test]
    fn what_is_left_alone_comes_back_as_it_was() {
        for (depth, is_full) in [(10, false), (10, true), (12, false), (12, true), (16, false), (16, true)] {
            for lift in [Lift::plain(depth, is_full), Lift::noisy(depth, is_full)] {
                for y in 0..SIZE {
                    let (codes, deep) = lifted(lift, y);
                    let mut back = vec![0; codes.len()];
                    Lower::new(depth, is_full, false).row(y, &deep, &mut back);
                    assert!(back == codes, "{depth} bits, row {y}");
                }
            }
        }
    }

    #[test]
    fn black_and_white_get_no_noise_and_stay_black_and_white() {
        for depth in [10, 12, 16] {
            let full = (lifted(Lift::noisy(depth, true), 5).1, (1u32 << depth) - 1);
            assert!(full.0[..SIZE].iter().all(|&code| code == 0));
            assert!(full.0[255 * SIZE..].iter().all(|&code| u32::from(code) == full.1));
            let limited = lifted(Lift::noisy(depth, false), 5).1;
            for code in (0..=16).chain(235..=255) {
                let alike = |&deep: &u16| usize::from(deep) == code << (depth - 8);
                assert!(limited[code * SIZE..][..SIZE].iter().all(alike), "{code}");
            }
        }
    }

    #[test]
    fn noise_has_every_step_equally_often() {
        for (depth, expected) in [(10, -1..=1), (12, -4..=3)] {
            let lift = Lift::noisy(depth, false);
            let mut counts = vec![0; usize::from(lift.steps)];
            for y in 0..SIZE {
                let mut out = [0; SIZE];
                lift.row(y, &[100; SIZE], &mut out);
                for code in out {
                    let step = i32::from(code) - (100 << (depth - 8));
                    assert!(expected.contains(&step));
                    counts[(step - expected.start()) as usize] += 1;
                }
            }
            let even = SIZE * SIZE / counts.len();
            assert!(counts.iter().all(|&count| count == even || count == even + 1), "{counts:?}");
        }
    }

    #[test]
    fn thresholds_keep_the_mean_of_deep_codes() {
        for depth in [9u8, 10, 12, 14, 16] {
            let shift = depth - 8;
            for code in [16u16 << shift, (100 << shift) + 1, (101 << shift) - 1, 235 << shift] {
                let mut sum = 0;
                for y in 0..SIZE {
                    let mut out = [0; SIZE];
                    Lower::new(depth, false, true).row(y, &[code; SIZE], &mut out);
                    sum += out.iter().map(|&code| u64::from(code)).sum::<u64>();
                }
                assert_eq!(sum << shift, u64::from(code) * (SIZE * SIZE) as u64, "{code} of {depth} bits");
            }
            let mut ends = [0; 2];
            Lower::new(depth, true, true).row(0, &[0, ((1u32 << depth) - 1) as u16], &mut ends);
            assert_eq!(ends, [0, 255]);
        }
    }
}

//! The kernels that rewrite luma and chroma together, in plain Rust, as in `scalar.rs`. Those called `narrow` use
//! 32-bit numbers, for sums that fit; those called `wide` use 64-bit numbers.

use crate::spec::curves::Levels;

macro_rules! kernels_of {
    ($number:ty: $terms:ident, $luma:ident, $chroma:ident) => {
        /// `cb * of_cb + cr * of_cr + added` for each pair of chroma samples, given as distances from the centre code.
        #[inline(always)]
        pub fn $terms([of_cb, of_cr, added]: [$number; 3], [cb, cr]: [&[i32]; 2], terms: &mut [$number]) {
            for ((term, cb), cr) in terms.iter_mut().zip(cb).zip(cr) {
                *term = of_cb * <$number>::from(*cb) + of_cr * <$number>::from(*cr) + added;
            }
        }

        /// Rewrites a row of luma, of which `1 << log2_width` samples share a term, and adds their levels to `sums`.
        #[inline(always)]
        pub fn $luma(
            of_luma: $number,
            terms: &[$number],
            log2_width: u8,
            levels: Levels,
            codes: &mut [u16],
            sums: &mut [i32],
        ) {
            #[inline(always)]
            fn groups<const N: usize>(
                of_luma: $number,
                terms: &[$number],
                levels: Levels,
                codes: &mut [u16],
                sums: &mut [i32],
            ) {
                let (lo, hi) = (levels.lo(), levels.lo() + (levels.count() - 1) as u16);
                let highest = <$number>::from(hi - lo);
                let rewrite = |code: &mut u16, term: $number| {
                    let level = (*code).max(lo).min(hi) - lo;
                    let sum = (of_luma * <$number>::from(level) + term) >> 16;
                    *code = lo + sum.max(0).min(highest) as u16;
                    i32::from(level)
                };
                let (groups, rest) = codes.as_chunks_mut::<N>();
                let whole = groups.len();
                for ((group, term), sum) in groups.iter_mut().zip(terms).zip(sums.iter_mut()) {
                    for code in group {
                        *sum += rewrite(code, *term);
                    }
                }
                if let (Some(term), Some(sum)) = (terms.get(whole), sums.get_mut(whole)) {
                    rest.iter_mut().for_each(|code| *sum += rewrite(code, *term));
                }
            }
            match log2_width {
                0 => groups::<1>(of_luma, terms, levels, codes, sums),
                1 => groups::<2>(of_luma, terms, levels, codes, sums),
                _ => groups::<4>(of_luma, terms, levels, codes, sums),
            }
        }

        /// Codes of chroma from means of luma levels and from terms, clamped to `reach` codes around the centre.
        #[inline(always)]
        pub fn $chroma(
            of_luma: $number,
            (means, terms): (&[i32], &[$number]),
            [centre, reach]: [i32; 2],
            codes: &mut [u16],
        ) {
            for ((code, mean), term) in codes.iter_mut().zip(means).zip(terms) {
                let sum = (of_luma * <$number>::from(*mean) + *term) >> 16;
                let most = <$number>::from(reach);
                *code = (centre + sum.max(-most).min(most) as i32) as u16;
            }
        }
    };
}

kernels_of!(i32: terms_narrow, luma_narrow, chroma_narrow);
kernels_of!(i64: terms_wide, luma_wide, chroma_wide);

//! Stretches red, green and blue separately; in YUV this changes luma and chroma, which are rewritten in one pass.

use super::engine::Engine;
use super::simd::Kernels;
use crate::frame::{ChromaSamples, Component, FieldRows, Frame, Luminance, PlaneMut};
use crate::spec::curves::tone::{Balance, BalanceOfYuv};
use crate::spec::curves::{Curve, Levels};

impl Engine {
    /// `frame` with red, green and blue stretched separately.
    pub fn balance(&mut self, frame: &Frame, balance: &Balance) -> Frame {
        let descriptor = frame.format().descriptor();
        let (sample, levels) = (descriptor.sample, frame.levels());
        match (descriptor.luminance, descriptor.chroma) {
            (Luminance::Stored(_), None) => {
                self.map(frame, &Curve::for_balanced_gray(balance, levels), super::Colour::Keep)
            }
            (Luminance::FromRgb { r, g, b }, _) => {
                // The output code for each code of red, green and blue.
                let codes: Vec<[u16; 3]> =
                    (0..=sample.max()).map(|code| balance.rgb([code; 3], sample.max())).collect();
                let mut row = vec![0; frame.width()];
                self.rewrite_all(frame, |planes| {
                    for y in 0..frame.height() {
                        for (channel, component) in [r, g, b].into_iter().enumerate() {
                            let place = [component.offset, component.step];
                            (self.kernels.gather)(frame.planes()[component.plane].row(y), sample, place, &mut row);
                            row.iter_mut().for_each(|code| *code = codes[usize::from(*code)][channel]);
                            (self.kernels.scatter)(&row, sample, place, planes[component.plane].row_mut(y));
                        }
                    }
                })
            }
            (Luminance::Stored(luma), Some(chroma)) => {
                let sums = BalanceOfYuv::new(balance, &frame.colours(), frame.weights());
                match sums.narrow(levels, &frame.colours()) {
                    Some(rows) => self.rewrite_yuv(frame, luma, chroma, rows),
                    None => self.rewrite_yuv(frame, luma, chroma, sums.rounding()),
                }
            }
        }
    }

    fn rewrite_yuv<N: Number>(
        &self,
        frame: &Frame,
        luma: Component,
        chroma: ChromaSamples,
        sums: [[N; 4]; 3],
    ) -> Frame {
        let mut rows = BalancedRows { frame, luma, chroma, sums, kernels: self.kernels, memory: RowScratch::default() };
        self.rewrite_all(frame, |planes| {
            for field in frame.fields() {
                (0..field.rows).step_by(1 << chroma.log2_height).for_each(|first| rows.write(field, first, planes));
            }
        })
    }

    /// Copies the planes of `frame` and lets `write` change the copies.
    fn rewrite_all(&self, frame: &Frame, write: impl FnOnce(&mut [PlaneMut])) -> Frame {
        let rewritten = frame.rewritten_planes(true);
        let mut target: Vec<PlaneMut> =
            frame.planes()[rewritten.clone()].iter().map(|plane| self.pool.copy_of(plane)).collect();
        write(&mut target);
        frame.replacing(rewritten, target)
    }
}

/// The kernels for sums in numbers of type `N`.
#[allow(clippy::type_complexity, reason = "each is the type of the function of its name")]
struct SumKernels<N> {
    terms: fn([N; 3], [&[i32]; 2], &mut [N]),
    luma: fn(N, &[N], u8, Levels, &mut [u16], &mut [i32]),
    chroma: fn(N, (&[i32], &[N]), [i32; 2], &mut [u16]),
}

/// The type of the numbers in sums: `i32` where they fit, else `i64`.
trait Number: Copy + Default {
    fn kernels(all: &Kernels) -> SumKernels<Self>;
}

impl Number for i32 {
    fn kernels(all: &Kernels) -> SumKernels<i32> {
        SumKernels { terms: all.terms_narrow, luma: all.luma_narrow, chroma: all.chroma_narrow }
    }
}

impl Number for i64 {
    fn kernels(all: &Kernels) -> SumKernels<i64> {
        SumKernels { terms: all.terms_wide, luma: all.luma_wide, chroma: all.chroma_wide }
    }
}

/// A row of chroma and the rows of luma that it covers.
struct BalancedRows<'a, N> {
    frame: &'a Frame,
    luma: Component,
    chroma: ChromaSamples,
    /// The coefficients of the sums, as in [`BalanceOfYuv::rounding`].
    sums: [[N; 4]; 3],
    kernels: &'a Kernels,
    memory: RowScratch<N>,
}

#[derive(Default)]
struct RowScratch<N> {
    codes: Vec<u16>,
    /// Cb and Cr, as distances from their centre.
    pairs: [Vec<i32>; 2],
    /// The terms that Cb and Cr contribute to luma, Cb and Cr.
    terms: [Vec<N>; 3],
    /// Of the luma levels that each pair of Cb and Cr covers: their sum, then their mean.
    levels: Vec<i32>,
}

impl<N: Number> BalancedRows<'_, N> {
    /// Writes the luma rows of a field that share a row of chroma, from row `first` on, and that row of chroma.
    fn write(&mut self, field: FieldRows, first: usize, planes: &mut [PlaneMut]) {
        let ChromaSamples { cb, cr, log2_width, log2_height } = self.chroma;
        let (frame, kernels, luma) = (self.frame, self.kernels, self.luma);
        let sum_kernels = N::kernels(kernels);
        let (sample, colours, width) = (frame.format().descriptor().sample, frame.colours(), frame.width());
        let (count, chroma_y) = (width.div_ceil(1 << log2_width), field.chroma + field.step * (first >> log2_height));
        let RowScratch { codes, pairs, terms, levels } = &mut self.memory;
        let place = |component: Component| [component.offset, component.step];

        codes.resize(count.max(width), 0);
        for (component, pairs) in [cb, cr].into_iter().zip(&mut *pairs) {
            let row = frame.planes()[component.plane].row(chroma_y);
            (kernels.gather)(row, sample, place(component), &mut codes[..count]);
            pairs.clear();
            pairs.extend(codes[..count].iter().map(|&code| i32::from(code) - colours.centre));
        }
        for (terms, [_, of_cb, of_cr, added]) in terms.iter_mut().zip(self.sums) {
            terms.resize(count, N::default());
            (sum_kernels.terms)([of_cb, of_cr, added], [&pairs[0], &pairs[1]], terms);
        }
        levels.clear();
        levels.resize(count, 0);
        let rows = first..(first + (1 << log2_height)).min(field.rows);
        for y in rows.clone().map(|row| field.luma + field.step * row) {
            let codes = &mut codes[..width];
            (kernels.gather)(frame.planes()[luma.plane].row(y), sample, place(luma), codes);
            (sum_kernels.luma)(self.sums[0][0], &terms[0], log2_width, frame.levels(), codes, levels);
            (kernels.scatter)(codes, sample, place(luma), planes[luma.plane].row_mut(y));
        }
        if let Some((last, whole)) = levels.split_last_mut() {
            let samples = rows.len() << log2_width;
            match samples.is_power_of_two() {
                true => whole.iter_mut().for_each(|sum| *sum >>= samples.ilog2()),
                // At the end of a field, only three of the four rows that share a row of chroma are left.
                false => whole.iter_mut().for_each(|sum| *sum /= samples as i32),
            }
            *last /= ((width - (whole.len() << log2_width)) * rows.len()) as i32;
        }
        for (component, row) in [(cb, 1), (cr, 2)] {
            let codes = &mut codes[..count];
            let inputs = (&levels[..], &terms[row][..]);
            (sum_kernels.chroma)(self.sums[row][0], inputs, [colours.centre, colours.reach], codes);
            (kernels.scatter)(codes, sample, place(component), planes[component.plane].row_mut(chroma_y));
        }
    }
}

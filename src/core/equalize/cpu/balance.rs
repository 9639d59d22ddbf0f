//! Red, green and blue, each stretched by itself: luma and chroma depend on each other, so both are rewritten at once.

use super::engine::Engine;
use super::simd::Kernels;
use crate::frame::{ChromaSamples, Component, Frame, Luminance, PlaneMut};
use crate::spec::tone::{Balance, BalanceOfYuv};
use crate::spec::{Curve, Levels};

impl Engine {
    /// `frame` with red, green and blue stretched each by itself.
    pub fn balance(&mut self, frame: &Frame, balance: &Balance) -> Frame {
        let descriptor = frame.format().descriptor();
        let (sample, levels) = (descriptor.sample, frame.levels());
        match (descriptor.luminance, descriptor.chroma) {
            (Luminance::Stored(_), None) => {
                self.map(frame, &Curve::of_balanced_gray(balance, levels), super::Colour::Keep)
            }
            (Luminance::FromRgb { r, g, b }, _) => {
                // What each code of red, green and blue becomes.
                let codes: Vec<[u16; 3]> =
                    (0..=sample.max()).map(|code| balance.rgb([code; 3], sample.max())).collect();
                let mut row = vec![0; frame.width()];
                self.rewrite_all(frame, |y, planes| {
                    for (channel, of) in [r, g, b].into_iter().enumerate() {
                        let place = [of.offset, of.step];
                        (self.kernels.gather)(frame.planes()[of.plane].row(y), sample, place, &mut row);
                        row.iter_mut().for_each(|code| *code = codes[usize::from(*code)][channel]);
                        (self.kernels.scatter)(&row, sample, place, planes[of.plane].row_mut(y));
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
        let mut rows = Rows { frame, luma, chroma, sums, kernels: self.kernels, memory: Memory::default() };
        self.rewrite_all(frame, |y, planes| {
            if y.is_multiple_of(1 << chroma.log2_height) {
                rows.write(y, planes);
            }
        })
    }

    /// `frame` with its planes copied, and each row then written by `write_row`.
    fn rewrite_all(&self, frame: &Frame, mut write_row: impl FnMut(usize, &mut [PlaneMut])) -> Frame {
        let rewritten = frame.rewritten_planes(true);
        let copy = |plane: usize| {
            let plane = &frame.planes()[plane];
            let mut copy = self.pool.plane(plane.row_bytes(), plane.rows());
            (0..plane.rows()).for_each(|y| copy.row_mut(y).copy_from_slice(plane.row(y)));
            copy
        };
        let mut to: Vec<PlaneMut> = rewritten.clone().map(copy).collect();
        (0..frame.height()).for_each(|y| write_row(y, &mut to));
        let mut to = to.into_iter().map(PlaneMut::freeze);
        frame.with_planes(|plane| if rewritten.contains(&plane) { to.next() } else { None })
    }
}

/// A number in which sums are taken, and the kernels for it.
trait Number: Copy + Default {
    fn terms(kernels: &Kernels, factors: [Self; 3], pairs: [&[i32]; 2], terms: &mut [Self]);
    fn luma(kernels: &Kernels, of_luma: Self, of: (&[Self], u8, Levels), codes: &mut [u16], sums: &mut [i32]);
    fn chroma(kernels: &Kernels, of_luma: Self, of: (&[i32], &[Self]), place: [i32; 2], codes: &mut [u16]);
}

macro_rules! impl_number {
    ($number:ty, $terms:ident, $luma:ident, $chroma:ident) => {
        impl Number for $number {
            fn terms(kernels: &Kernels, factors: [Self; 3], pairs: [&[i32]; 2], terms: &mut [Self]) {
                (kernels.$terms)(factors, pairs, terms);
            }

            fn luma(
                kernels: &Kernels,
                of_luma: Self,
                (terms, log2_width, levels): (&[Self], u8, Levels),
                codes: &mut [u16],
                sums: &mut [i32],
            ) {
                (kernels.$luma)(of_luma, terms, log2_width, levels, codes, sums);
            }

            fn chroma(kernels: &Kernels, of_luma: Self, of: (&[i32], &[Self]), place: [i32; 2], codes: &mut [u16]) {
                (kernels.$chroma)(of_luma, of, place, codes);
            }
        }
    };
}
impl_number!(i32, terms_narrow, luma_narrow, chroma_narrow);
impl_number!(i64, terms_wide, luma_wide, chroma_wide);

/// A row of chroma and the rows of luma that it covers.
struct Rows<'a, N> {
    frame: &'a Frame,
    luma: Component,
    chroma: ChromaSamples,
    /// As in [`BalanceOfYuv::rounding`].
    sums: [[N; 4]; 3],
    kernels: &'a Kernels,
    memory: Memory<N>,
}

/// What is used again for every row.
#[derive(Default)]
struct Memory<N> {
    codes: Vec<u16>,
    /// Cb and Cr, from their centre.
    pairs: [Vec<i32>; 2],
    /// What they add to luma, Cb and Cr.
    terms: [Vec<N>; 3],
    /// The levels of luma that a pair covers: their sum, then their mean.
    levels: Vec<i32>,
}

impl<N: Number> Rows<'_, N> {
    /// Writes the rows of luma from `y` on that share a row of chroma, and that row.
    fn write(&mut self, y: usize, planes: &mut [PlaneMut]) {
        let ChromaSamples { cb, cr, log2_width, log2_height } = self.chroma;
        let (frame, kernels, luma) = (self.frame, self.kernels, self.luma);
        let (sample, colours, width) = (frame.format().descriptor().sample, frame.colours(), frame.width());
        let (count, chroma_y) = (width.div_ceil(1 << log2_width), y >> log2_height);
        let Memory { codes, pairs, terms, levels } = &mut self.memory;
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
            N::terms(kernels, [of_cb, of_cr, added], [&pairs[0], &pairs[1]], terms);
        }
        levels.clear();
        levels.resize(count, 0);
        let rows = y..(y + (1 << log2_height)).min(frame.height());
        for y in rows.clone() {
            let codes = &mut codes[..width];
            (kernels.gather)(frame.planes()[luma.plane].row(y), sample, place(luma), codes);
            N::luma(kernels, self.sums[0][0], (&terms[0], log2_width, frame.levels()), codes, levels);
            (kernels.scatter)(codes, sample, place(luma), planes[luma.plane].row_mut(y));
        }
        if let Some((last, whole)) = levels.split_last_mut() {
            let samples = rows.len() << log2_width;
            match samples.is_power_of_two() {
                true => whole.iter_mut().for_each(|sum| *sum >>= samples.ilog2()),
                // The last three rows of four that share a row of chroma.
                false => whole.iter_mut().for_each(|sum| *sum /= samples as i32),
            }
            *last /= ((width - (whole.len() << log2_width)) * rows.len()) as i32;
        }
        for (component, row) in [(cb, 1), (cr, 2)] {
            let codes = &mut codes[..count];
            let of = (&levels[..], &terms[row][..]);
            N::chroma(kernels, self.sums[row][0], of, [colours.centre, colours.reach], codes);
            (kernels.scatter)(codes, sample, place(component), planes[component.plane].row_mut(chroma_y));
        }
    }
}

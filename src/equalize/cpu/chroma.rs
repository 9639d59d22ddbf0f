//! Chroma that follows luma: a row of it once the rows of luma that it covers are written.

use super::layout::Layout;
use super::simd::Kernels;
use crate::frame::{ChromaSamples, Component, Frame, Luminance, PlaneMut};
use crate::spec::chroma::Colours;

/// A row of chroma, and the luma that it covers. Its memory is used again for every row.
#[derive(Default)]
pub struct ChromaRow {
    /// Sums of levels above black, before and after.
    sums: [Vec<i32>; 2],
    /// Cb and Cr.
    pairs: [Vec<u16>; 2],
    /// A row of luma, of one byte a sample and of two, where it is not stored as such.
    bytes: Vec<u8>,
    codes: Vec<u16>,
}

impl ChromaRow {
    /// If luma row `y` is the last one that a row of chroma covers, scales that row of chroma from `frame` to `planes`,
    /// whose luma has been written up to there.
    pub fn scale(
        &mut self,
        kernels: &Kernels,
        frame: &Frame,
        layout: &Layout,
        colours: &Colours,
        y: usize,
        planes: &mut [PlaneMut],
    ) {
        let descriptor = frame.format().descriptor();
        let (Some(chroma), Luminance::Stored(luma)) = (descriptor.chroma, descriptor.luminance) else { return };
        let ChromaSamples { cb, cr, log2_width, log2_height } = chroma;
        if y + 1 != frame.height() && !(y + 1).is_multiple_of(1 << log2_height) {
            return;
        }
        let chroma_y = y >> log2_height;
        let rows = (chroma_y << log2_height)..y + 1;
        let sample = descriptor.sample;
        let width = frame.width().div_ceil(1 << log2_width);
        self.bytes.resize(frame.width(), 0);
        self.codes.resize(frame.width(), 0);
        for (sums, is_after) in self.sums.iter_mut().zip([false, true]) {
            sums.clear();
            sums.resize(width, 0);
            for y in rows.clone() {
                let row = if is_after { planes[luma.plane].row_mut(y) } else { frame.planes()[luma.plane].row(y) };
                let (bytes, codes) = (&mut self.bytes, &mut self.codes);
                match layout {
                    Layout::Bytes => (kernels.sum_bytes)(row, colours.black, log2_width, sums),
                    Layout::OtherBytes { offset } => {
                        (kernels.every_other)(row, *offset, bytes);
                        (kernels.sum_bytes)(bytes, colours.black, log2_width, sums);
                    }
                    _ => {
                        (kernels.gather)(row, sample, [luma.offset, luma.step], codes);
                        (kernels.sum_words)(codes, colours.black, log2_width, sums);
                    }
                }
            }
        }

        let places = |component: Component| [component.offset, component.step];
        for (component, codes) in [cb, cr].into_iter().zip(&mut self.pairs) {
            codes.resize(width, 0);
            (kernels.gather)(frame.planes()[component.plane].row(chroma_y), sample, places(component), codes);
        }
        // The last pair covers fewer samples where the width is odd.
        let whole = frame.width() >> log2_width;
        let [before, after] = self.sums.each_ref().map(|sums| sums.split_at(whole));
        let [cbs, crs] = self.pairs.each_mut().map(|codes| codes.split_at_mut(whole));
        let scale = kernels.scale_pairs;
        scale(colours, (rows.len() << log2_width) as i32, [before.0, after.0], [cbs.0, crs.0]);
        let rest = frame.width() - (whole << log2_width);
        scale(colours, (rows.len() * rest) as i32, [before.1, after.1], [cbs.1, crs.1]);
        for (component, codes) in [cb, cr].into_iter().zip(&self.pairs) {
            (kernels.scatter)(codes, sample, places(component), planes[component.plane].row_mut(chroma_y));
        }
    }
}

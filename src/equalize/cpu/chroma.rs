//! Chroma that follows luma: a row of it once the rows of luma that it covers are written.

use super::engine::Engine;
use super::layout::Layout;
use crate::frame::{ChromaSamples, Component, Frame, Luminance, PlaneMut};
use crate::spec::chroma::Colours;

/// A row of chroma, and the luma that it covers. It is used again for every row.
#[derive(Default)]
pub(super) struct ChromaRow {
    /// Sums of levels above black, before and after.
    sums: [Vec<i32>; 2],
    /// Cb and Cr.
    pairs: [Vec<u16>; 2],
}

impl Engine {
    /// If luma row `y` is the last one that a row of chroma covers, scales that row of chroma from `frame` to `planes`,
    /// whose luma has been written so far.
    pub(super) fn scale_chroma(
        &mut self,
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
        // Out of `self`, which is asked for its other rows meanwhile.
        let mut row = std::mem::take(&mut self.chroma);
        for sums in &mut row.sums {
            sums.clear();
            sums.resize(width, 0);
        }
        for y in rows.clone() {
            let [before, after] = &mut row.sums;
            self.add_levels(
                frame,
                layout,
                luma,
                frame.planes()[luma.plane].row(y),
                (colours.black, log2_width),
                before,
            );
            self.add_levels(frame, layout, luma, planes[luma.plane].row_mut(y), (colours.black, log2_width), after);
        }

        let places = |component: Component| [component.offset, component.step];
        for (component, codes) in [cb, cr].into_iter().zip(&mut row.pairs) {
            codes.resize(width, 0);
            (self.kernels.gather)(frame.planes()[component.plane].row(chroma_y), sample, places(component), codes);
        }
        // The last pair covers fewer samples where the width is odd.
        let whole = frame.width() >> log2_width;
        let [before, after] = row.sums.each_ref().map(|sums| sums.split_at(whole));
        let [cbs, crs] = row.pairs.each_mut().map(|codes| codes.split_at_mut(whole));
        let scale = self.kernels.scale_pairs;
        scale(colours, (rows.len() << log2_width) as i32, [before.0, after.0], [cbs.0, crs.0]);
        let rest = frame.width() - (whole << log2_width);
        scale(colours, (rows.len() * rest) as i32, [before.1, after.1], [cbs.1, crs.1]);
        for (component, codes) in [cb, cr].into_iter().zip(&row.pairs) {
            (self.kernels.scatter)(codes, sample, places(component), planes[component.plane].row_mut(chroma_y));
        }
        self.chroma = row;
    }

    /// Adds the levels of a stored row of luma to `sums`.
    fn add_levels(
        &mut self,
        frame: &Frame,
        layout: &Layout,
        luma: Component,
        row: &[u8],
        (black, log2_width): (u16, u8),
        sums: &mut [i32],
    ) {
        let (kernels, sample) = (self.kernels, frame.format().descriptor().sample);
        match layout {
            Layout::Bytes => (kernels.sum_bytes)(row, black, log2_width, sums),
            Layout::OtherBytes { offset } => {
                (kernels.every_other)(row, *offset, &mut self.bytes.before);
                (kernels.sum_bytes)(&self.bytes.before, black, log2_width, sums);
            }
            _ => {
                let codes = &mut self.codes.before;
                if let Layout::WordHistogram = layout {
                    (kernels.read_words)(row, sample, codes);
                } else {
                    (kernels.gather)(row, sample, [luma.offset, luma.step], codes);
                }
                (kernels.sum_words)(codes, black, log2_width, sums);
            }
        }
    }
}

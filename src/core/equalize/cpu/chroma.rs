//! Writes a row of chroma as soon as the luma rows that it covers are written.

use super::colour::Colour;
use super::simd::Kernels;
use crate::frame::{ChromaSamples, Component, Frame, PlaneMut};
use crate::spec::chroma::Colours;

/// Scratch memory for a row of chroma, reused for every row.
#[derive(Default)]
pub struct ChromaRow {
    /// The codes of Cb or Cr.
    codes: Vec<u16>,
    /// The gain of each pair of Cb and Cr.
    gains: Vec<u32>,
    /// The output for each code, if all pixels have the same gain.
    table: Vec<u16>,
    byte_table: Vec<u8>,
    /// The gain and the colours for which `table` and `byte_table` were made.
    gain: Option<(u32, Colours)>,
}

impl ChromaRow {
    /// If luma row `y` is the last one of a row of chroma, writes that row of chroma, treated by `colour`, to `planes`.
    pub fn write(
        &mut self,
        kernels: &Kernels,
        frame: &Frame,
        (colour, colours): (Colour, &Colours),
        y: usize,
        planes: &mut [PlaneMut],
    ) {
        let descriptor = frame.format().descriptor();
        let Some(chroma) = descriptor.chroma else { return };
        if y + 1 != frame.height() && !(y + 1).is_multiple_of(1 << chroma.log2_height) {
            return;
        }
        match colour {
            Colour::Keep => {}
            Colour::Gain(gain) => {
                self.set_table(gain, colours, descriptor.sample.max());
                self.look_up(kernels, frame, chroma, y, planes);
            }
            Colour::Veil(..) => self.follow(kernels, frame, (chroma, colour, colours), y, planes),
        }
    }

    fn set_table(&mut self, gain: u32, colours: &Colours, max: u16) {
        if self.gain == Some((gain, *colours)) {
            return;
        }
        self.gain = Some((gain, *colours));
        self.table.clear();
        self.table.extend((0..=max).map(|code| colours.followed(code, gain)));
        self.byte_table.clear();
        self.byte_table.extend(self.table.iter().map(|&code| code as u8));
    }

    /// Maps a row of chroma with `table` or `byte_table`.
    fn look_up(&mut self, kernels: &Kernels, frame: &Frame, chroma: ChromaSamples, y: usize, planes: &mut [PlaneMut]) {
        let ChromaSamples { cb, cr, log2_width, log2_height } = chroma;
        let (y, sample) = (y >> log2_height, frame.format().descriptor().sample);
        // Chroma in plane 0 is interleaved with luma, which `map_bytes` would change too.
        if let (Ok(table), true) = (<&[u8; 256]>::try_from(&self.byte_table[..]), cb.plane > 0 && sample.bytes == 1) {
            // Cb and Cr have separate planes, or share one.
            for plane in [cb.plane, cr.plane].into_iter().take(if cb.plane == cr.plane { 1 } else { 2 }) {
                (kernels.map_bytes)(frame.planes()[plane].row(y), planes[plane].row_mut(y), table);
            }
            return;
        }
        let width = frame.width().div_ceil(1 << log2_width);
        let places = |component: Component| [component.offset, component.step];
        for component in [cb, cr] {
            self.codes.resize(width, 0);
            (kernels.gather)(frame.planes()[component.plane].row(y), sample, places(component), &mut self.codes);
            for code in &mut self.codes {
                *code = self.table[usize::from(*code).min(self.table.len() - 1)];
            }
            (kernels.scatter)(&self.codes, sample, places(component), planes[component.plane].row_mut(y));
        }
    }

    /// Applies to a row of chroma the gains at the positions of its samples.
    fn follow(
        &mut self,
        kernels: &Kernels,
        frame: &Frame,
        (chroma, colour, colours): (ChromaSamples, Colour, &Colours),
        y: usize,
        planes: &mut [PlaneMut],
    ) {
        let ChromaSamples { cb, cr, log2_width, log2_height } = chroma;
        let (chroma_y, sample) = (y >> log2_height, frame.format().descriptor().sample);
        let width = frame.width().div_ceil(1 << log2_width);
        self.gains.resize(width, 0);
        colour.gains(kernels, chroma_y << log2_height, 1 << log2_width, &mut self.gains);
        let places = |component: Component| [component.offset, component.step];
        for component in [cb, cr] {
            self.codes.resize(width, 0);
            (kernels.gather)(frame.planes()[component.plane].row(chroma_y), sample, places(component), &mut self.codes);
            (kernels.follow)(&self.gains, colours, &mut self.codes);
            (kernels.scatter)(&self.codes, sample, places(component), planes[component.plane].row_mut(chroma_y));
        }
    }
}

//! The two passes over a frame on one thread, with the kernels of one instruction set and their scratch memory.

use super::Isa;
use super::chroma::ChromaRow;
use super::colour::Colour;
use super::layout::{Layout, PlanarRgb};
use super::lookup::Lookup;
use super::simd::Kernels;
use super::word_histogram::WordHistogram;
use crate::equalize::Work;
use crate::frame::{Component, Endian, Frame, HostPool, Luminance, Plane, PlaneMut, Sample};
use crate::spec::curves::{Curve, Histogram};
use crate::spec::moved;
use crate::spec::parameters::Rect;
use crate::spec::time::Counts;
use std::ops::Range;
use std::sync::Arc;

/// Counts and maps frames, one at a time. Its memory (some 0.7 MB) is used again for every frame.
pub struct Engine {
    pub(super) kernels: &'static Kernels,
    pub(super) pool: HostPool,
    words: WordHistogram,
    /// The current curve for samples of one byte; for samples of two bytes, `lookup` holds the curve.
    table: [u8; 256],
    lookup: Lookup,
    /// The luminance of the current row, before and after the curve, for formats that do not store it byte by byte or
    /// word by word.
    pub(super) bytes: Luminances<u8>,
    pub(super) codes: Luminances<u16>,
    chroma: ChromaRow,
}

/// A row of luminance, before and after the curve.
#[derive(Default)]
pub(super) struct Luminances<T> {
    pub before: Vec<T>,
    pub after: Vec<T>,
}

impl<T: Clone + Default> Luminances<T> {
    fn resize(&mut self, width: usize) {
        self.before.resize(width, T::default());
        self.after.resize(width, T::default());
    }
}

impl Engine {
    /// An engine that takes the memory of result frames from `pool`; `None` on a machine that lacks `isa`.
    pub fn new(isa: Isa, pool: HostPool) -> Option<Self> {
        Some(Engine {
            kernels: Kernels::for_isa(isa)?,
            pool,
            words: WordHistogram::new(),
            table: [0; 256],
            lookup: Lookup::new(),
            bytes: Luminances::default(),
            codes: Luminances::default(),
            chroma: ChromaRow::default(),
        })
    }

    /// An engine with the fastest instruction set of this machine.
    pub fn best() -> Self {
        Engine::best_in(HostPool::default())
    }

    /// As [`best`](Engine::best), with result frames in memory of `pool`.
    pub fn best_in(pool: HostPool) -> Self {
        let Some(engine) = Engine::new(Isa::best(), pool) else {
            unreachable!("the best of the available instruction sets is available")
        };
        engine
    }

    /// Counts the frame of `work`, unless the work has its counts already.
    pub fn counts(&mut self, work: &Work) -> Arc<Counts> {
        let (frame, settings) = (work.frame(), work.settings());
        if let Some(counts) = work.counts() {
            return counts.clone();
        }
        Arc::new(match frame.tiles(settings.method) {
            _ if !settings.method.counts() => work.uncounted(),
            None => Counts::Frame {
                size: (frame.width(), frame.height()),
                histogram: self.histogram(frame, work.counted()),
            },
            Some(tiles) => Counts::Tiles {
                frame: work.counts_frame_with_tiles().then(|| self.histogram(frame, frame.whole())),
                tiles: self.tile_histograms(frame, tiles, settings.bins),
            },
        })
    }

    /// The histogram of the luminance in a part of `frame`.
    pub fn histogram(&mut self, frame: &Frame, counted: Rect) -> Histogram {
        let layout = Layout::new(frame);
        self.resize_rows(frame.width());
        for y in counted.y..counted.y + counted.height {
            self.count_row(frame, &layout, y, counted.x..counted.x + counted.width);
        }
        let sample = frame.format().descriptor().sample;
        if sample.bytes == 1 {
            Histogram::from_codes(frame.levels(), &(self.kernels.take_bytes)(&mut self.words))
        } else {
            Histogram::from_codes(frame.levels(), &self.words.take_codes(sample.max()))
        }
    }

    /// `frame` with its luminance mapped by `curve`; planes that do not change are shared with it.
    pub fn map<'a>(&mut self, frame: &Frame, curve: &Curve, colour: impl Into<Colour<'a>>) -> Frame {
        let colour = colour.into();
        let layout = Layout::new(frame);
        self.set_curve(curve, &layout, frame.format().descriptor().sample);
        self.rewrite(frame, colour, |engine, y, planes| engine.map_row(frame, &layout, colour, y, planes))
    }

    /// Rewrites `frame`: `write_row` writes each row of the luminance planes, `colour` treats the chroma. All other
    /// planes are shared with `frame`.
    pub(super) fn rewrite(
        &mut self,
        frame: &Frame,
        colour: Colour,
        mut write_row: impl FnMut(&mut Self, usize, &mut [PlaneMut]),
    ) -> Frame {
        let rewritten = frame.rewritten_planes(colour.changes());
        let colours = colour.changes().then(|| frame.colours());
        let plane = |plane: &Plane| self.pool.plane(plane.row_bytes(), plane.rows());
        let mut target: Vec<PlaneMut> = frame.planes()[rewritten.clone()].iter().map(plane).collect();
        self.resize_rows(frame.width());
        for y in 0..frame.height() {
            write_row(self, y, &mut target);
            if let Some(colours) = &colours {
                self.chroma.write(self.kernels, frame, (colour, colours), y, &mut target);
            }
        }
        frame.replacing(rewritten, target)
    }

    pub(super) fn resize_rows(&mut self, width: usize) {
        self.bytes.resize(width);
        self.codes.resize(width);
    }

    fn set_curve(&mut self, curve: &Curve, layout: &Layout, sample: Sample) {
        if sample.bytes == 1 {
            for (entry, &code) in self.table.iter_mut().zip(curve.codes()) {
                *entry = code as u8;
            }
        } else if let Layout::Words = layout {
            self.lookup.set(curve, sample);
        } else {
            // The lookup maps the rows in `codes`, which have native byte order and no unused low bits.
            self.lookup.set(curve, Sample { shift: 0, endian: NATIVE, ..sample });
        }
    }

    fn count_row(&mut self, frame: &Frame, layout: &Layout, y: usize, columns: Range<usize>) {
        let sample = frame.format().descriptor().sample;
        match layout {
            Layout::Bytes => self.words.count_bytes(&first_row(frame, y)[columns]),
            Layout::Words => {
                let words = &first_row(frame, y)[2 * columns.start..2 * columns.end];
                self.words.count_words(words, sample.endian, sample.shift);
            }
            Layout::OtherBytes { .. } | Layout::Packed(_) | Layout::PlanarBytes(_) => {
                self.read_luminance(frame, layout, y);
                self.words.count_bytes(&self.bytes.before[columns]);
            }
            Layout::PlanarWords(_) | Layout::Any => {
                self.read_luminance(frame, layout, y);
                self.words.count_words(bytemuck::cast_slice(&self.codes.before[columns]), NATIVE, 0);
            }
        }
    }

    fn map_row(&mut self, frame: &Frame, layout: &Layout, colour: Colour, y: usize, planes: &mut [PlaneMut]) {
        let kernels = self.kernels;
        match layout {
            Layout::Bytes => (kernels.map_bytes)(first_row(frame, y), planes[0].row_mut(y), &self.table),
            Layout::Words => (kernels.map_words)(first_row(frame, y), planes[0].row_mut(y), &self.lookup),
            Layout::OtherBytes { offset } => {
                // If the width is odd, the row ends with a sample that belongs to no pixel.
                let (source, beyond) = first_row(frame, y).split_at(2 * frame.width());
                let (target, to_beyond) = planes[0].row_mut(y).split_at_mut(2 * frame.width());
                (kernels.map_every_other)(source, target, &self.table, *offset);
                to_beyond.copy_from_slice(beyond);
            }
            Layout::Packed(_) | Layout::PlanarBytes(_) => {
                self.read_luminance(frame, layout, y);
                let Luminances { before, after } = &mut self.bytes;
                (kernels.map_bytes)(before, after, &self.table);
                self.write_luminance(frame, layout, colour, y, planes);
            }
            Layout::PlanarWords(_) | Layout::Any => {
                self.read_luminance(frame, layout, y);
                let Luminances { before, after } = &mut self.codes;
                (kernels.map_words)(bytemuck::cast_slice(before), bytemuck::cast_slice_mut(after), &self.lookup);
                self.write_luminance(frame, layout, colour, y, planes);
            }
        }
    }

    /// Writes row `y` with its luminance changed from `before` to `after` (in `bytes` or `codes`).
    pub(super) fn write_luminance(
        &self,
        frame: &Frame,
        layout: &Layout,
        colour: Colour,
        y: usize,
        planes: &mut [PlaneMut],
    ) {
        let kernels = self.kernels;
        let sample = frame.format().descriptor().sample;
        let (bytes, codes) = (&self.bytes, &self.codes);
        if let (Colour::Gain(_) | Colour::Veil(..), Luminance::FromRgb { r, g, b }) =
            (colour, frame.format().descriptor().luminance)
        {
            let mut gains = vec![0; frame.width()];
            colour.gains(self.kernels, y, 1, &mut gains);
            // Copies whole rows, because alpha does not change.
            for (plane, target) in planes.iter_mut().enumerate() {
                target.row_mut(y).copy_from_slice(frame.planes()[plane].row(y));
            }
            let wide = |bytes: &[u8]| bytes.iter().map(|byte| u16::from(*byte)).collect::<Vec<u16>>();
            let of_bytes = (sample.bytes == 1).then(|| [wide(&bytes.before), wide(&bytes.after)]);
            let [before, after] = match &of_bytes {
                Some([before, after]) => [before, after],
                None => [&codes.before, &codes.after],
            };
            let mut moved = vec![0; frame.width()];
            for component in [r, g, b] {
                let place = [component.offset, component.step];
                (kernels.gather)(frame.planes()[component.plane].row(y), sample, place, &mut moved);
                (kernels.move_with_gains)(&gains, before, after, sample.max(), &mut moved);
                (kernels.scatter)(&moved, sample, place, planes[component.plane].row_mut(y));
            }
            return;
        }
        match layout {
            Layout::Bytes => planes[0].row_mut(y).copy_from_slice(&bytes.after),
            Layout::Words => (kernels.write_words)(&codes.after, sample, planes[0].row_mut(y)),
            Layout::OtherBytes { offset } => {
                let target = planes[0].row_mut(y);
                target.copy_from_slice(first_row(frame, y));
                (kernels.set_every_other)(&bytes.after, *offset, target);
            }
            Layout::Packed(pixel) => {
                let target = planes[0].row_mut(y);
                (kernels.move_packed)(first_row(frame, y), &bytes.before, &bytes.after, pixel, target);
            }
            Layout::PlanarBytes(rgb) => {
                for plane in rgb.planes {
                    let (source, target) = (frame.planes()[plane].row(y), planes[plane].row_mut(y));
                    (kernels.move_bytes)(source, &bytes.before, &bytes.after, target);
                }
            }
            Layout::PlanarWords(rgb) => {
                for plane in rgb.planes {
                    let (source, target) = (frame.planes()[plane].row(y), planes[plane].row_mut(y));
                    (kernels.move_words)(source, &codes.before, &codes.after, sample.endian, sample.max(), target);
                }
            }
            Layout::Any => map_any_row(frame, y, &codes.before, &codes.after, planes[0].row_mut(y)),
        }
    }

    /// Reads row `y` of the luminance into `bytes.before` or `codes.before`; does nothing for planes of plain luma.
    pub(super) fn read_luminance(&mut self, frame: &Frame, layout: &Layout, y: usize) {
        let kernels = self.kernels;
        let Sample { endian, .. } = frame.format().descriptor().sample;
        let rows = |rgb: &PlanarRgb| rgb.planes.map(|plane| frame.planes()[plane].row(y));
        match layout {
            Layout::Bytes | Layout::Words => {}
            Layout::OtherBytes { offset } => {
                (kernels.every_other)(first_row(frame, y), *offset, &mut self.bytes.before);
            }
            Layout::Packed(pixel) => (kernels.luminance_packed)(first_row(frame, y), pixel, &mut self.bytes.before),
            Layout::PlanarBytes(rgb) => (kernels.luminance_bytes)(rows(rgb), rgb.weights, &mut self.bytes.before),
            Layout::PlanarWords(rgb) => {
                let max = frame.format().descriptor().sample.max();
                (kernels.luminance_words)(rows(rgb), endian, max, rgb.weights, &mut self.codes.before);
            }
            Layout::Any => read_any_row(frame, y, &mut self.codes.before),
        }
    }
}

const NATIVE: Endian = if cfg!(target_endian = "little") { Endian::Little } else { Endian::Big };

/// Row `y` of the plane with the luma or the packed pixels.
pub(super) fn first_row(frame: &Frame, y: usize) -> &[u8] {
    frame.planes()[0].row(y)
}

/// The luminance of row `y`, whatever the format.
fn read_any_row(frame: &Frame, y: usize, codes: &mut [u16]) {
    let descriptor = frame.format().descriptor();
    let row = first_row(frame, y);
    let read = |component: Component, x: usize| descriptor.sample.read(row, component.offset + x * component.step);
    match descriptor.luminance {
        Luminance::Stored(luma) => {
            for (x, code) in codes.iter_mut().enumerate() {
                *code = read(luma, x);
            }
        }
        Luminance::FromRgb { r, g, b } => {
            let weights = frame.weights();
            for (x, code) in codes.iter_mut().enumerate() {
                *code = weights.luminance([read(r, x), read(g, x), read(b, x)]);
            }
        }
    }
}

/// Row `y` with the luminance `after` in place of `before`, whatever the packed format.
fn map_any_row(frame: &Frame, y: usize, before: &[u16], after: &[u16], target: &mut [u8]) {
    let descriptor = frame.format().descriptor();
    let sample = descriptor.sample;
    let row = first_row(frame, y);
    // Chroma and alpha samples between the luminance samples do not change.
    target.copy_from_slice(row);
    for (x, (&before, &after)) in before.iter().zip(after).enumerate() {
        match descriptor.luminance {
            Luminance::Stored(luma) => sample.write(target, luma.offset + x * luma.step, after),
            Luminance::FromRgb { r, g, b } => {
                let places = [r, g, b].map(|component| component.offset + x * component.step);
                let codes = places.map(|index| sample.read(row, index));
                for (index, code) in places.into_iter().zip(codes) {
                    sample.write(target, index, moved(code, before, after, sample.max()));
                }
            }
        }
    }
}

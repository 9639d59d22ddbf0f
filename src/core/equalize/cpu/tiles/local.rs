//! The two passes of local equalization over a frame: one counts its tiles, one blends their curves.

use super::blend::Blend;
use super::counters::TileCounters;
use crate::equalize::cpu::colour::Colour;
use crate::equalize::cpu::engine::{Engine, Luminances, first_row};
use crate::equalize::cpu::layout::Layout;
use crate::frame::{Frame, PlaneMut};
use crate::spec::clahe::{TileBins, TileCurves, TileHistograms, Tiles, mirrored};

impl Engine {
    /// The histograms of the luminance in the tiles of `frame`.
    pub fn tile_histograms(&mut self, frame: &Frame, tiles: Tiles, bins: Option<u32>) -> TileHistograms {
        let layout = Layout::new(frame);
        let wide = frame.format().descriptor().sample.bytes == 2;
        let mut counters = TileCounters::new(tiles, TileBins::new(frame.levels(), bins), wide);
        self.resize_rows(frame.width());
        for row_of_tiles in 0..tiles.rows {
            for y in row_of_tiles * tiles.height..(row_of_tiles + 1) * tiles.height {
                let y = mirrored(y, frame.height());
                if let Layout::Bytes = layout {
                    counters.count_bytes(first_row(frame, y));
                } else if wide {
                    self.read_codes(frame, &layout, y);
                    counters.count_codes(&self.codes.before);
                } else {
                    self.read_luminance(frame, &layout, y);
                    counters.count_bytes(&self.bytes.before);
                }
            }
            counters.end_row_of_tiles();
        }
        counters.finish()
    }

    /// `frame` with its luminance blended between `curves`; planes that do not change are shared with it.
    pub fn map_tiles<'a>(&mut self, frame: &Frame, curves: &TileCurves, colour: impl Into<Colour<'a>>) -> Frame {
        let colour = colour.into();
        let layout = Layout::new(frame);
        let mut blend = Blend::new(curves, self.kernels);
        self.rewrite(frame, colour, |engine, y, planes| engine.blend_row(frame, &layout, y, &mut blend, planes, colour))
    }

    fn blend_row(
        &mut self,
        frame: &Frame,
        layout: &Layout,
        y: usize,
        blend: &mut Blend,
        planes: &mut [PlaneMut],
        colour: Colour,
    ) {
        if let Layout::Bytes = layout {
            return blend.bytes(y, first_row(frame, y), planes[0].row_mut(y));
        }
        if frame.format().descriptor().sample.bytes == 1 {
            self.read_luminance(frame, layout, y);
            let Luminances { before, after } = &mut self.bytes;
            blend.bytes(y, before, after);
        } else {
            self.read_codes(frame, layout, y);
            let Luminances { before, after } = &mut self.codes;
            blend.codes(y, before, after);
        }
        self.write_luminance(frame, layout, colour, y, planes);
    }

    /// Reads row `y` of the luminance into `codes.before`, for every layout.
    fn read_codes(&mut self, frame: &Frame, layout: &Layout, y: usize) {
        match layout {
            Layout::Words => {
                let sample = frame.format().descriptor().sample;
                (self.kernels.read_words)(first_row(frame, y), sample, &mut self.codes.before);
            }
            _ => self.read_luminance(frame, layout, y),
        }
    }
}

//! The curves of tiles, prepared for blending between neighbouring tiles row by row.

use crate::equalize::cpu::simd::{ByteCell, Kernels, Shares};
use crate::spec::clahe::{Neighbours, TileCurves, Tiles};
use std::ops::Range;

/// Pixel columns between the same two columns of tiles.
pub struct Segment {
    /// The pixel columns.
    pub pixels: Range<usize>,
    /// The columns of tiles.
    pub tiles: [usize; 2],
}

/// The curves, weights and tables from which rows of a frame are blended.
pub struct Blend<'a> {
    curves: &'a TileCurves,
    kernels: &'static Kernels,
    /// The pixel columns of a row, one segment for each cell of four neighbouring tiles.
    segments: Vec<Segment>,
    right: Vec<u32>,
    /// Right shift of the horizontal and of the vertical weights: 1 for tiles of even size, whose weights are all even.
    reduced: [u32; 2],
    /// The lookup tables as bytes, by tile; empty where the kernel `blend_bytes` cannot be used.
    bytes: Vec<[u8; 256]>,
    /// The tables of each segment side by side ([`ByteCell::quads`]), for the current row of cells.
    quads: Vec<[u32; 256]>,
    rows_of_quads: Option<[usize; 2]>,
}

impl<'a> Blend<'a> {
    /// Prepares these curves for blending.
    pub fn new(curves: &'a TileCurves, kernels: &'static Kernels) -> Self {
        let tiles = curves.tiles();
        let reduced = [tiles.width, tiles.height].map(|size| u32::from(size.is_multiple_of(2)));
        let right = (0..tiles.picture.0).map(|x| tiles.across(x).weight as u32 >> reduced[0]).collect();
        let mut blend = Blend {
            curves,
            kernels,
            segments: segments(&tiles),
            right,
            reduced,
            bytes: Vec::new(),
            quads: Vec::new(),
            rows_of_quads: None,
        };
        if curves.levels().depth() == 8 && blend.is_narrow() {
            let narrow = |lut: &[u16]| std::array::from_fn(|code| lut[code] as u8);
            blend.bytes = (0..tiles.count()).map(|tile| narrow(curves.lut(tile))).collect();
            blend.quads = vec![[0; 256]; blend.segments.len()];
        }
        blend
    }

    /// Blends row `y` of pixels of one byte.
    pub fn bytes(&mut self, y: usize, source: &[u8], target: &mut [u8]) {
        if self.bytes.is_empty() {
            return self.wide_bytes(y, source, target);
        }
        let down = self.curves.tiles().down(y);
        if self.rows_of_quads != Some(down.tiles) {
            self.set_quads(down.tiles);
        }
        for (segment, quads) in self.segments.iter().zip(&self.quads) {
            let cell = ByteCell { tables: self.cell(segment, down).map(|tile| &self.bytes[tile]), quads };
            let pixels = segment.pixels.clone();
            (self.kernels.blend_bytes)(
                &source[pixels.clone()],
                &mut target[pixels],
                &cell,
                &self.shares(segment, down),
            );
        }
        self.mix(|kernels, k| (kernels.mix_bytes)(source, target, k));
    }

    /// Blends row `y` of codes of any depth.
    pub fn codes(&self, y: usize, source: &[u16], target: &mut [u16]) {
        let down = self.curves.tiles().down(y);
        for segment in &self.segments {
            let luts = self.cell(segment, down).map(|tile| self.curves.lut(tile));
            let pixels = segment.pixels.clone();
            (self.kernels.blend_words)(&source[pixels.clone()], &mut target[pixels], luts, &self.shares(segment, down));
        }
        self.mix(|kernels, k| (kernels.mix_words)(source, target, k));
    }

    /// Blends bytes where tiles are too large for the kernel `blend_bytes`: a few tiles on a huge frame.
    fn wide_bytes(&self, y: usize, source: &[u8], target: &mut [u8]) {
        let codes: Vec<u16> = source.iter().map(|byte| u16::from(*byte)).collect();
        let mut blended = vec![0; codes.len()];
        self.codes(y, &codes, &mut blended);
        for (target, code) in target.iter_mut().zip(blended) {
            *target = code as u8;
        }
    }

    /// Mixes the blended row with its input if the strength is below 1.
    fn mix(&self, mix: impl FnOnce(&Kernels, u32)) {
        let k = self.curves.strength.to_256ths();
        if k != 256 {
            mix(self.kernels, k);
        }
    }

    fn is_narrow(&self) -> bool {
        let [across, down] = self.parts().map(u64::from);
        across <= i16::MAX as u64 && 255 * across * down <= i32::MAX as u64
    }

    /// The sum of the weights of two neighbouring tiles, horizontally and vertically.
    fn parts(&self) -> [u32; 2] {
        let tiles = self.curves.tiles();
        [(2 * tiles.width as u32) >> self.reduced[0], (2 * tiles.height as u32) >> self.reduced[1]]
    }

    fn shares(&self, segment: &Segment, down: Neighbours) -> Shares<'_> {
        let [across, parts_down] = self.parts();
        let below = down.weight as u32 >> self.reduced[1];
        Shares { right: &self.right[segment.pixels.clone()], across, below, down: parts_down }
    }

    /// The tiles of a cell: upper left, lower left, upper right, lower right.
    fn cell(&self, segment: &Segment, down: Neighbours) -> [usize; 4] {
        let tile = |column: usize, row: usize| down.tiles[row] * self.curves.tiles().columns + segment.tiles[column];
        [tile(0, 0), tile(0, 1), tile(1, 0), tile(1, 1)]
    }

    fn set_quads(&mut self, rows: [usize; 2]) {
        for index in 0..self.segments.len() {
            let tiles = self.cell(&self.segments[index], Neighbours { tiles: rows, weight: 0 });
            (self.kernels.interleave)(tiles.map(|tile| &self.bytes[tile]), &mut self.quads[index]);
        }
        self.rows_of_quads = Some(rows);
    }
}

/// The pixel columns of a row, split where the neighbouring tiles change.
fn segments(tiles: &Tiles) -> Vec<Segment> {
    let mut segments: Vec<Segment> = Vec::new();
    for x in 0..tiles.picture.0 {
        let neighbours = tiles.across(x).tiles;
        match segments.last_mut() {
            Some(last) if last.tiles == neighbours => last.pixels.end = x + 1,
            _ => segments.push(Segment { pixels: x..x + 1, tiles: neighbours }),
        }
    }
    segments
}

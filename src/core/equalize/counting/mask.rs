//! The weight with which each pixel is counted. A mask excludes the rim of a fisheye lens, a burnt-in clock or the
//! surroundings of an endoscope from the decisions on levels and curves, which are applied to the whole frame.
//!
//! In integers: each pixel has a weight from 0 to 255, and all weights are divided by their greatest common divisor, so
//! that with a mask of black and white, each sample that counts counts as one. The count of a level is the sum of the
//! weights of its samples; a plateau given as a number of samples is multiplied by the largest weight, one given as a
//! share is a share of the sum of all weights. (In frames of more than 16 million pixels, weights are scaled down such
//! that their sum fits 32 bits.) Samples outside of the counted region do not count, whatever their weight. A
//! [`Measure`](crate::spec::Measure) omits the points whose weight is 0, and treats all others alike; if no point
//! is left, it has all points. The points lie over the smallest rectangle around the weights above 0.
//!
//! A pixel whose alpha is 0 has the weight 0. A frame of such pixels only is counted whole.
//!
//! The curve of a tile needs as many samples as the tile has pixels. Samples that are missing, because their weight is
//! 0, are distributed over the bins as the samples of all tiles are: of `missing` samples, the bins up to `b` get
//! `missing * below / all`, where all tiles together have `all` samples, `below` of them in these bins.

use super::luminance::LuminanceRow;
use crate::equalize::Work;
use crate::frame::{Component, Frame, Luminance, MemoryError, Plane};
use crate::spec::clahe::{TileBins, TileHistograms, Tiles};
use crate::spec::curves::Histogram;
use crate::spec::parameters::{Plateau, Rect, Settings};
use crate::spec::time::Counts;
use crate::{Error, Result};

/// The weights of the pixels, for frames of one size.
#[derive(Clone, Debug)]
pub struct Mask {
    size: (usize, usize),
    /// The weight of each pixel, row by row.
    weights: Vec<u8>,
    most: u8,
}

impl Mask {
    /// Weights for frames of `size` (columns, rows), row by row from the top. `None` when there are not as many as
    /// pixels, or all are 0.
    pub fn new(size @ (width, height): (usize, usize), mut weights: Vec<u8>) -> Option<Self> {
        let divisor = weights.iter().fold(0, |divisor, &weight| common_divisor(divisor, weight));
        if weights.len() != width * height || divisor == 0 {
            return None;
        }
        // The sum of all weights fits 32 bits, as the number of samples does.
        let most = u32::from(weights.iter().max()? / divisor);
        let limit = most.min(u32::MAX / weights.len() as u32).max(1);
        let rescaled = |weight: u8| (u32::from(weight / divisor) * limit).div_ceil(most) as u8;
        weights.iter_mut().for_each(|weight| *weight = rescaled(*weight));
        Some(Mask { size, weights, most: limit as u8 })
    }

    /// The luminance of `frame` as weights: black is 0, white is 255. `None` when all of it is black.
    pub fn from_frame(frame: &Frame) -> Option<Self> {
        let (levels, mut rows) = (frame.levels(), LuminanceRow::default());
        let white = levels.count() - 1;
        let mut weights = Vec::with_capacity(frame.width() * frame.height());
        for y in 0..frame.height() {
            let row = rows.read(frame, y).iter();
            weights.extend(row.map(|&code| ((levels.level_of(code) * 255 + white / 2) / white) as u8));
        }
        Mask::new((frame.width(), frame.height()), weights)
    }

    /// The weights of `mask`, or 1 each without one, but 0 where the alpha of `frame` is 0. `None` if its alpha is 0
    /// nowhere, or if no weight is left above 0.
    ///
    /// # Errors
    /// When the GPU that the frame is on fails.
    ///
    /// # Panics
    /// When the mask is for another size.
    pub fn for_visible(frame: &Frame, mask: Option<&Mask>) -> Result<Option<Self>, MemoryError> {
        let Some(alpha) = frame.format().alpha() else { return Ok(None) };
        let size @ (width, height) = (frame.width(), frame.height());
        let plane = frame.planes()[alpha.plane].on_host()?;
        let bytes = usize::from(frame.format().descriptor().sample.bytes);
        if (0..height).all(|y| !has_zeros(plane.row(y), bytes, alpha)) {
            return Ok(None);
        }
        let mut weights = mask.map_or_else(|| vec![1; width * height], |mask| mask.weights.clone());
        for (y, weights) in weights.chunks_exact_mut(width).enumerate() {
            for (weight, pixel) in weights.iter_mut().zip(samples_of(plane.row(y), bytes, alpha)) {
                *weight *= u8::from(pixel.iter().any(|&byte| byte != 0));
            }
        }
        let counts = weights.iter().any(|&weight| weight > 0);
        Ok(counts.then(|| Mask { size, weights, most: mask.map_or(1, |mask| mask.most) }))
    }

    /// Columns and rows of the frames that the mask is for.
    pub fn size(&self) -> (usize, usize) {
        self.size
    }

    /// Checks that the mask is for `frame`, which has this number.
    ///
    /// # Errors
    /// When the frame has another size.
    pub fn check(&self, number: u64, frame: &Frame) -> Result<()> {
        let size = (frame.width(), frame.height());
        if size == self.size { Ok(()) } else { Err(Error::MaskSize { frame: number, size, mask: self.size }) }
    }

    /// Whether a pixel counts.
    pub fn includes(&self, x: usize, y: usize) -> bool {
        self.weights[y * self.size.0 + x] > 0
    }

    /// The weights of a part of row `y`.
    fn row(&self, y: usize, Rect { x, width, .. }: Rect) -> &[u8] {
        &self.weights[y * self.size.0 + x..][..width]
    }

    /// The smallest rectangle around the pixels of `region` that count; around all pixels that count if
    /// none of `region` does.
    ///
    /// # Panics
    /// When the region does not lie in the frame.
    pub fn around(&self, region: Rect) -> Rect {
        self.bounds(region).or_else(|| self.bounds(Rect::whole(self.size))).unwrap_or(region)
    }

    /// The smallest rectangle around the pixels of `region` that count, if any does.
    pub fn bounds(&self, region: Rect) -> Option<Rect> {
        let rows = region.y..region.y + region.height;
        let counts = |y: &usize| self.row(*y, region).iter().any(|&weight| weight > 0);
        let (top, bottom) = (rows.clone().find(counts)?, rows.rev().find(counts)?);
        let first = |y: usize| self.row(y, region).iter().position(|&weight| weight > 0);
        let last = |y: usize| self.row(y, region).iter().rposition(|&weight| weight > 0);
        let (left, right) = ((top..=bottom).filter_map(first).min()?, (top..=bottom).filter_map(last).max()?);
        Some(Rect { x: region.x + left, y: top, width: right + 1 - left, height: bottom + 1 - top })
    }

    /// The settings for histograms counted with this mask: a plateau in samples is multiplied by the largest weight.
    pub fn settings(&self, settings: &Settings) -> Settings {
        let plateau = match settings.plateau {
            Plateau::Count(count) => Plateau::Count(count.max(1).saturating_mul(self.most.into())),
            other => other,
        };
        Settings { plateau, ..*settings }
    }

    /// The counts of the frame of `work`, in which each sample counts by its weight; in tiles, each sample with a
    /// weight above 0 counts once. A frame on a GPU stays there.
    ///
    /// # Errors
    /// When the GPU that the frame is on fails.
    ///
    /// # Panics
    /// When the frame has another size.
    pub fn counts(&self, work: &Work) -> Result<Counts, MemoryError> {
        let (frame, settings) = (work.frame(), work.settings());
        let luminance = frame.rewritten_planes(false);
        let planes = frame.planes()[luminance.clone()].iter().map(Plane::on_host).collect::<Result<Vec<_>, _>>()?;
        let frame = &frame.with_planes(|index| luminance.contains(&index).then(|| planes[index].clone()));
        Ok(match frame.tiles(settings.method) {
            None => Counts::Frame { size: self.size, histogram: self.histogram(frame, work.counted()) },
            Some(tiles) => Counts::Tiles {
                frame: work.counts_frame_with_tiles().then(|| self.histogram(frame, frame.whole())),
                tiles: self.tile_histograms(frame, tiles, TileBins::new(frame.levels(), settings.bins)),
            },
        })
    }

    /// The histograms of the tiles of `frame`, with as many samples as the tiles have pixels.
    fn tile_histograms(&self, frame: &Frame, tiles: Tiles, bins: TileBins) -> TileHistograms {
        let mut histograms = TileHistograms::new(tiles, bins);
        let (width, height) = tiles.padded();
        let mut rows = LuminanceRow::default();
        for y in 0..height {
            let (_, seen_y) = tiles.seen_at(0, y);
            let codes = rows.read(frame, seen_y);
            for x in 0..width {
                let (seen_x, _) = tiles.seen_at(x, y);
                if self.includes(seen_x, seen_y) {
                    histograms.add(x, y, codes[seen_x]);
                }
            }
        }
        histograms.filled()
    }

    /// The histogram of the luminance in a part of `frame`, in which each sample counts by its weight.
    ///
    /// # Panics
    /// When the frame has another size, or the part does not lie in it.
    pub fn histogram(&self, frame: &Frame, counted: Rect) -> Histogram {
        assert_eq!(self.size, (frame.width(), frame.height()));
        let Rect { x, y: top, width, height } = counted;
        let descriptor = frame.format().descriptor();
        if let (Luminance::Stored(Component { plane, offset: 0, step: 1 }), 1) =
            (descriptor.luminance, descriptor.sample.bytes)
        {
            // Four tables are used in turns, so that a code that repeats does not wait for the last store to its sum.
            let mut sums = [[0u32; 256]; 4];
            for y in top..top + height {
                let row = &frame.planes()[plane].row(y)[x..x + width];
                let (codes, codes_left) = row.as_chunks::<4>();
                let (weights, weights_left) = self.row(y, counted).as_chunks::<4>();
                for (codes, weights) in codes.iter().zip(weights) {
                    for (sums, (&code, &weight)) in sums.iter_mut().zip(codes.iter().zip(weights)) {
                        sums[usize::from(code)] += u32::from(weight);
                    }
                }
                for (&code, &weight) in codes_left.iter().zip(weights_left) {
                    sums[0][usize::from(code)] += u32::from(weight);
                }
            }
            let sums: Vec<u32> = (0..256).map(|code| sums.iter().map(|sums| sums[code]).sum()).collect();
            return Histogram::from_codes(frame.levels(), &sums);
        }
        let mut rows = LuminanceRow::default();
        let mut sums = vec![[0u32; 2]; frame.levels().codes()];
        for y in top..top + height {
            let codes = &rows.read(frame, y)[x..x + width];
            for ((&code, &weight), turn) in codes.iter().zip(self.row(y, counted)).zip([0, 1].into_iter().cycle()) {
                sums[usize::from(code)][turn] += u32::from(weight);
            }
        }
        let sums: Vec<u32> = sums.iter().map(|sums| sums.iter().sum()).collect();
        Histogram::from_codes(frame.levels(), &sums)
    }
}

/// The alpha samples of a row whose samples have this number of bytes.
fn samples_of(row: &[u8], bytes: usize, alpha: Component) -> impl Iterator<Item = &[u8]> {
    row.chunks_exact(bytes * alpha.step).map(move |pixel| &pixel[bytes * alpha.offset..][..bytes])
}

/// Whether an alpha sample of a row is 0.
fn has_zeros(row: &[u8], bytes: usize, alpha: Component) -> bool {
    match (bytes, alpha.step) {
        (1, 1) => row.contains(&0),
        (1, 4) => {
            // The compiler vectorizes a loop of this form.
            let seen = u32::from_ne_bytes(std::array::from_fn(|index| if index == alpha.offset { 255 } else { 0 }));
            row.as_chunks::<4>().0.iter().fold(false, |any, pixel| any | (u32::from_ne_bytes(*pixel) & seen == 0))
        }
        _ => samples_of(row, bytes, alpha).any(|sample| sample.iter().all(|&byte| byte == 0)),
    }
}

fn common_divisor(a: u8, b: u8) -> u8 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

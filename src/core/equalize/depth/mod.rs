//! The depth of the output (`--output-depth`): frames get more bits before they are equalized, and are reduced after
//! the backend.
//!
//! A curve that stretches 46 levels of 8 bits over 178 leaves gaps of 3 codes between them, which show as bands. Noise
//! of half a code *before* the curve grows with it and so fills each gap, while noise after the curve, of one code of
//! the output, does not. For a gradient that is stretched threefold, the banding index CAMBI is 0.0 with this noise,
//! and 41 without (`benches/results/banding.md`).
//!
//! `v` is a code, `r` the rank of its position in the [`pattern`], 0 to 4095:
//!
//! | | luma, red, green, blue | chroma | alpha |
//! |---|---|---|---|
//! | 8 to 10 bits | `4*v + (3*r >> 12) - 1` | `4*v` | `4*v + (v >> 6)` |
//! | 8 to 12 bits | `16*v + (8*r >> 12) - 4` | `16*v` | `16*v + (v >> 4)` |
//! | 12 to 8 bits, once lifted | `(v + 8) >> 4` | the same | `(v - (v >> 8) + 8) >> 4` |
//! | d to 8 bits, else | `(v + (r >> (20 - d))) >> (d - 8)` | to the nearest | as once lifted |
//!
//! * Codes at or below black, and at or above white, get no noise: bars stay black.
//! * The noise is less than half a code, so that what the curve leaves alone gets back its 8-bit codes.
//! * In full range, luma, red, green and blue are scaled as alpha is, by repeating their highest bits, as swscale does,
//!   so that white stays white. The reduction subtracts these bits again.
//! * Where there is no format of 12 bits, one of 16 is used, with the same noise, 16 times as large.
//! * Noise spreads the samples of one code evenly over 3 or 8 codes. The histogram is counted in the bins of 8 bits,
//!   and a plateau is divided among these codes, so that the curve is that of the same video without noise.

mod pattern;
mod rows;
pub(crate) mod sibling;

use crate::frame::{Component, Endian, Frame, HostPool, Limits, PixelFormat, PlaneMut, Range};
use crate::spec::curves::Levels;
use crate::spec::parameters::{Denoise, OutputDepth, Plateau, Settings};
use crate::{Error, Result};
use rows::{Lift, Lower};
pub(super) use sibling::{Part, SampleKind, parts, sibling};
use std::collections::VecDeque;

/// How a frame is reduced to 8 bits.
struct Below {
    format: PixelFormat,
    was_lifted: bool,
}

/// Gives frames more bits before a backend, and reduces them after it.
pub struct Depth {
    output: OutputDepth,
    pool: HostPool,
    /// How to reduce each frame that was lifted and not yet lowered, oldest first; `None` if its depth stays.
    under_way: VecDeque<Option<Below>>,
    /// Scratch memory for a row, as 8-bit codes and as deeper codes.
    bytes: Vec<u8>,
    words: Vec<u16>,
}

impl Depth {
    /// A converter to this output depth, which makes planes within these limits.
    pub fn new(output: OutputDepth, limits: &Limits) -> Self {
        let pool = HostPool::new(limits);
        Depth { output, pool, under_way: VecDeque::new(), bytes: Vec::new(), words: Vec::new() }
    }

    /// Lifts `frame` to the depth in which it is equalized; returns it with the settings for that.
    ///
    /// # Errors
    /// When the frame needs more bits, and there is no such format.
    pub fn lift(&mut self, frame: Frame, settings: Settings) -> Result<(Frame, Settings)> {
        let format = frame.format();
        let always = matches!(settings.denoise, Denoise::Always(_)) && format.depth() == 8;
        let depths: &[u8] = match self.output {
            // Denoised values lie between two codes of 8 bits; 10 bits keep them until the result is dithered.
            OutputDepth::AsInput if always => &[10],
            OutputDepth::AsInput => {
                self.under_way.push_back(None);
                return Ok((frame, settings));
            }
            OutputDepth::Ten => &[10],
            OutputDepth::Eight => &[12, 16],
        };
        if format.depth() > 8 {
            let below = sibling(format, 8).filter(|_| self.output != OutputDepth::Ten);
            self.under_way.push_back(below.map(|format| Below { format, was_lifted: false }));
            return Ok((frame, settings));
        }
        let target = depths.iter().find_map(|&depth| sibling(format, depth)).ok_or(Error::NoDeeperFormat { format })?;
        let below = Below { format, was_lifted: !always };
        self.under_way.push_back(Some(below).filter(|_| self.output != OutputDepth::Ten));
        let is_full = frame.range() == Range::Full;
        let levels = if is_full { Levels::full(8) } else { Levels::limited(8) };
        let lift = if always { Lift::plain(target.depth(), is_full) } else { Lift::noisy(target.depth(), is_full) };
        // Denoising spreads a code over several codes, as dithering does.
        let steps = if always { 1 << (target.depth() - 8) } else { u32::from(lift.steps) };
        let settings = Settings {
            bins: settings.bins.or(Some(levels.count() as u32)),
            plateau: match settings.plateau {
                Plateau::Off => Plateau::Off,
                Plateau::Count(count) => Plateau::Count((count / steps).max(1)),
                Plateau::Millionths(share) => Plateau::Millionths((share / steps).max(1)),
            },
            ..settings
        };
        Ok((self.lifted(&frame, target, lift)?, settings))
    }

    /// Discards the state of the frame that was lifted first, because it will not be lowered.
    pub fn drop_lifted(&mut self) {
        self.under_way.pop_front();
    }

    /// Lowers the frame that was lifted first, once it is equalized, to its final depth.
    ///
    /// # Errors
    /// When the frame is on a GPU that fails.
    pub fn lower(&mut self, frame: Frame) -> Result<Frame> {
        match self.under_way.pop_front() {
            Some(Some(below)) => self.lowered(&frame, &below),
            _ => Ok(frame),
        }
    }

    /// A frame of more bits, dithered to the 8 bits of `format`.
    ///
    /// # Errors
    /// When the frame is on a GPU that fails.
    pub fn dithered(&mut self, frame: &Frame, format: PixelFormat) -> Result<Frame> {
        self.lowered(frame, &Below { format, was_lifted: false })
    }

    fn lifted(&mut self, frame: &Frame, target: PixelFormat, light: Lift) -> Result<Frame> {
        frame.bring_down()?;
        let mut planes = planes(&self.pool, frame, target);
        let sample = target.descriptor().sample;
        for (source, into) in parts(frame.format()).into_iter().zip(parts(target)) {
            let lift = match source.kind {
                SampleKind::Light => light,
                SampleKind::Chroma => Lift::plain(target.depth(), false),
                SampleKind::Alpha => Lift::plain(target.depth(), true),
            };
            let width = frame.width().div_ceil(1 << source.log2_width);
            self.words.resize(width, 0);
            for y in 0..frame.height().div_ceil(1 << source.log2_height) {
                let row = frame.planes()[source.at.plane].row(y);
                let codes = if source.at.step == 1 { row } else { gathered(row, source.at, width, &mut self.bytes) };
                lift.row(y, codes, &mut self.words);
                let out = planes[into.at.plane].row_mut(y);
                if into.at.step == 1 {
                    for (out, code) in out.chunks_exact_mut(2).zip(&self.words) {
                        out.copy_from_slice(&code.to_le_bytes());
                    }
                } else {
                    for (x, &code) in self.words.iter().enumerate() {
                        sample.write(out, into.at.offset + x * into.at.step, code);
                    }
                }
            }
        }
        like(frame, target, planes)
    }

    fn lowered(&mut self, frame: &Frame, below: &Below) -> Result<Frame> {
        frame.bring_down()?;
        let mut planes = planes(&self.pool, frame, below.format);
        let sample = frame.format().descriptor().sample;
        let is_full = frame.range() == Range::Full;
        for (source, into) in parts(frame.format()).into_iter().zip(parts(below.format)) {
            let lower = match source.kind {
                SampleKind::Light => Lower::new(sample.depth, is_full, !below.was_lifted),
                SampleKind::Chroma => Lower::new(sample.depth, false, false),
                SampleKind::Alpha => Lower::new(sample.depth, true, false),
            };
            let width = frame.width().div_ceil(1 << source.log2_width);
            self.words.resize(width, 0);
            self.bytes.resize(width, 0);
            for y in 0..frame.height().div_ceil(1 << source.log2_height) {
                let row = frame.planes()[source.at.plane].row(y);
                if source.at.step == 1 && sample.endian == Endian::Little {
                    for (code, bytes) in self.words.iter_mut().zip(row.chunks_exact(2)) {
                        *code = (u16::from_le_bytes([bytes[0], bytes[1]]) >> sample.shift).min(sample.max());
                    }
                } else {
                    for (x, code) in self.words.iter_mut().enumerate() {
                        *code = sample.read(row, source.at.offset + x * source.at.step);
                    }
                }
                let out = planes[into.at.plane].row_mut(y);
                if into.at.step == 1 {
                    lower.row(y, &self.words, out);
                } else {
                    lower.row(y, &self.words, &mut self.bytes);
                    for (out, &code) in out[into.at.offset..].iter_mut().step_by(into.at.step).zip(&self.bytes) {
                        *out = code;
                    }
                }
            }
        }
        like(frame, below.format, planes)
    }
}

/// Planes for a frame of the same size in another format.
pub(super) fn planes(pool: &HostPool, frame: &Frame, format: PixelFormat) -> Vec<PlaneMut> {
    let (width, height) = (frame.width(), frame.height());
    let descriptor = format.descriptor();
    let plane = |index| {
        let mut plane = pool.plane(format.row_bytes(index, width), format.rows(index, height));
        // The unused sample of an RGB pixel is 255, as FFmpeg writes it, and so is the unused sample after an odd last
        // pixel of packed 4:2:2.
        if descriptor.planes()[index].samples == 4 && !format.has_alpha() {
            (0..height).for_each(|y| plane.row_mut(y).fill(255));
        }
        plane
    };
    (0..descriptor.planes().len()).map(plane).collect()
}

/// Collects the samples of an 8-bit component in one slice.
fn gathered<'a>(row: &[u8], component: Component, width: usize, bytes: &'a mut Vec<u8>) -> &'a [u8] {
    bytes.clear();
    bytes.extend(row[component.offset..].iter().step_by(component.step).take(width));
    bytes
}

/// A frame of these planes in `format`, otherwise like `frame`.
pub(super) fn like(frame: &Frame, format: PixelFormat, planes: Vec<PlaneMut>) -> Result<Frame> {
    Ok(frame.with_format(format, planes.into_iter().map(PlaneMut::freeze).collect())?)
}

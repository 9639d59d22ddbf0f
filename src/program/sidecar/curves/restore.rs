//! Undoes the curves of a file (`restore`): each code becomes the lowest of the levels that have become it.
//!
//! Codes below black and above white, which equalization moves into the range, are restored as black and white. A
//! code that no level becomes, which only an encoder with losses gives, is read as the next one below that one becomes.

use super::{CurveFile, CurveFormat};
use anyhow::{Context, Result, bail, ensure};
use histeq::CallerError;
use histeq::equalize::cpu::{Engine, Isa};
use histeq::equalize::{Given, MappingSource, codes_lifted_to};
use histeq::frame::{Frame, HostPool, Model};
use histeq::spec::chroma::UNIT_GAIN;
use histeq::spec::{Curve, Levels, Mapping, Settings};
use histeq_media::pipeline::{Notices, to_stage};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A source of curves that undo those of a file.
pub struct InverseCurves {
    file: CurveFile,
    /// For each code, the one of the original video that it was made from, if there is one.
    origins: Vec<Option<u16>>,
    /// The last inverse, with the index of its curve in the file.
    last: Option<(usize, Inverse)>,
    engine: Engine,
    notices: Notices,
    has_warned: bool,
    /// How many samples of luma may have been a higher level, which became the same; counted while frames are restored.
    pub merged: Arc<AtomicU64>,
}

struct Inverse {
    mapping: Mapping,
    /// For each code, how many origins it has: none, one, or more.
    origins: Vec<Origins>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Origins {
    None,
    One,
    More,
}

/// Checks that what `file` has of each frame can be undone.
///
/// # Errors
/// When it cannot: why, and what can.
pub fn check_undone(file: &CurveFile) -> Result<()> {
    let what = |mapping: &Mapping| match mapping {
        Mapping::Curve { chroma_gain: UNIT_GAIN, .. } => None,
        Mapping::Curve { .. } => Some("multiplied colours"),
        Mapping::Veil(_) => Some("a curve for each region"),
        Mapping::Balance(_) | Mapping::Balanced { .. } => Some("a balance of colours"),
        Mapping::Tiles { .. } => Some("a curve for each tile"),
    };
    let Some((frame, what)) = file.mappings().find_map(|(frame, mapping)| Some((frame, what(mapping)?))) else {
        return Ok(());
    };
    bail!(
        "{}: frame {frame} has {what}, which cannot be undone: take the video that was equalized, which is as it was \
         (only what --method global --chroma keep does can be undone)",
        file.name
    )
}

impl InverseCurves {
    /// The inverses of the curves of `file`, which were for video of 8 bits made deeper if `was_lifted`. Warns where
    /// the video cannot have come out of them.
    pub fn new(file: CurveFile, was_lifted: bool, notices: Notices) -> Self {
        let (depth, levels) = (file.format.depth, file.format.levels());
        let origins = if was_lifted && depth > 8 {
            codes_lifted_to(depth, levels == Levels::full(depth))
        } else {
            (0..levels.codes()).map(|code| Some(code as u16)).collect()
        };
        let Some(engine) = Engine::new(Isa::best(), HostPool::default()) else {
            unreachable!("the best of the available instruction sets is available")
        };
        InverseCurves { file, origins, last: None, engine, notices, has_warned: false, merged: Arc::default() }
    }

    /// The inverse of the curve of frame `number`.
    fn inverse(&mut self, number: u64) -> Result<&Inverse> {
        let name = &self.file.name;
        ensure!(
            self.file.begins_at() <= number,
            "{name}: no curve for frame {number} (the first is for frame {})",
            self.file.begins_at()
        );
        let index = self.file.index_at(number);
        let last = self.last.take().filter(|(last, _)| *last == index);
        let last = match last {
            Some(last) => last,
            None => {
                let curve = match self.file.mapping(index) {
                    Mapping::Curve { curve, chroma_gain: UNIT_GAIN } => curve,
                    _ => bail!("{name}: what was done to frame {number} cannot be undone"),
                };
                (index, Inverse::of(curve, self.file.format.levels(), &self.origins)?)
            }
        };
        Ok(&self.last.insert(last).1)
    }
}

impl MappingSource for InverseCurves {
    fn mapping(&mut self, number: u64, frame: &Frame, _: &Settings) -> Result<Given, CallerError> {
        self.inverse_for(number, frame).map_err(to_stage)
    }
}

impl InverseCurves {
    fn inverse_for(&mut self, number: u64, frame: &Frame) -> Result<Given> {
        let (name, expected, format) = (&self.file.name, self.file.format, CurveFormat::of(frame));
        ensure!(
            format == expected,
            "{name}: curves for {expected}, but frame {number} of the video has {format} (only video of the \
             depth that was equalized can be restored)"
        );
        ensure!(
            frame.format().descriptor().model != Model::Rgb,
            "frame {number} is RGB: red, green and blue moved by as much as their luminance, which cannot be undone"
        );
        frame.bring_down()?;
        let counts = self.engine.histogram(frame, frame.whole());
        let inverse = self.inverse(number)?;
        let of_levels = &inverse.origins[usize::from(frame.levels().lo())..];
        let sum = |wanted: Origins| -> u64 {
            counts.counts().iter().zip(of_levels).filter(|(_, of)| **of == wanted).map(|(count, _)| count).sum()
        };
        let (merged, foreign, mapping) = (sum(Origins::More), sum(Origins::None), inverse.mapping.clone());
        self.merged.fetch_add(merged, Ordering::Relaxed);
        if foreign > 0 && !self.has_warned {
            self.has_warned = true;
            self.notices.warn(&format!(
                "{foreign} samples of frame {number} have codes that its curve never gives: what is restored is only \
                 similar (encode without loss, as --encoder ffv1 does, and take the curves of this video)"
            ))?;
        }
        Ok(Given { mapping, scene: None })
    }
}

impl Inverse {
    fn of(curve: &Curve, levels: Levels, origin_of: &[Option<u16>]) -> Result<Self> {
        let mut lowest: Vec<Option<u16>> = vec![None; levels.codes()];
        let mut origins = vec![Origins::None; levels.codes()];
        for code in levels.lo()..=levels.hi() {
            let Some(origin) = origin_of[usize::from(code)] else { continue };
            let to = usize::from(curve.apply(code));
            match lowest[to] {
                None => (lowest[to], origins[to]) = (Some(code), Origins::One),
                Some(first) if origin_of[usize::from(first)] != Some(origin) => origins[to] = Origins::More,
                Some(_) => {}
            }
        }
        // What lay outside and stayed there, as in frames of one level.
        for code in (0..=u16::MAX).take(levels.codes()).filter(|code| !(levels.lo()..=levels.hi()).contains(code)) {
            lowest[usize::from(curve.apply(code))].get_or_insert(code);
        }
        let mut below = levels.lo();
        let lut = lowest.into_iter().map(|code| {
            below = code.unwrap_or(below);
            below
        });
        let curve = Curve::from_codes(levels, lut.collect()).context("a curve of another depth")?;
        Ok(Inverse { mapping: Mapping::Curve { curve: curve.into(), chroma_gain: UNIT_GAIN }, origins })
    }
}

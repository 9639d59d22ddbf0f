//! Builds the stage of equalization: the backend, with loaded curves (`--load-curves`) or a fixed range (`--range`), a
//! mask (`--mask`), luma only (`--set gray`), and the depth of the output (`--output-depth`).

use crate::mask::NamedMask;
use crate::options::picture::EqualizeOptions;
use crate::samples::{FixedRange, SampleScale};
use crate::sidecar::curves::{CurveFile, LoadedCurves};
use anyhow::{Context, Result, bail};
use histeq::Limits;
use histeq::internal::equalize::cpu::Cpu;
use histeq::internal::equalize::{EqualizeStage, Executor, MappingSource, OutputDepth, Survey};
use histeq::internal::frame::Frame;
use histeq::internal::spec::parameters::{Chroma, Settings, Smoothing};
use histeq_media::pipeline::Input;
use histeq_media::pipeline::live::Shown;
use histeq_media::sink::files::Target;
use histeq_media::sys::files::Name;
use std::sync::Arc;

/// Checks that the files to be `written` are different ones, and none of those that are `read` beside the input.
pub fn check_files_differ<'a>(
    read: impl Iterator<Item = &'a Name>,
    written: impl Iterator<Item = &'a Name>,
) -> Result<()> {
    let (read, written): (Vec<&Name>, Vec<&Name>) = (read.collect(), written.collect());
    for (index, name) in written.iter().enumerate() {
        read.iter().try_for_each(|read| Target::differs(name, read))?;
        if let Some(other) = written[index + 1..].iter().find(|other| Target::are_one(name, other)) {
            bail!("{name} and {other} are one file (give each its own)");
        }
    }
    Ok(())
}

/// How many threads besides that of the stage measure frames: 0 if the other stages leave no cores for them.
pub fn measuring_threads(limits: &Limits) -> usize {
    let cores = limits.threads();
    if cores < 6 { 0 } else { (cores / 3).min(6) }
}

/// The options of the stage that the settings do not have, with the curves and the mask read from their files.
#[derive(Clone)]
pub struct StageBuilder {
    kept: Option<Arc<CurveFile>>,
    /// The mask.
    pub mask: Option<NamedMask>,
    gray: bool,
    depth: OutputDepth,
    range: Option<(f64, f64)>,
    limits: Limits,
}

impl StageBuilder {
    /// Reads the curves of `--load-curves`, and the picture of `--mask`.
    pub fn new(options: &EqualizeOptions, limits: &Limits) -> Result<Self> {
        let kept = options.load_curves.as_ref().map(|name| CurveFile::read(name, limits)).transpose()?;
        let mask = options.mask.as_ref().map(NamedMask::read).transpose()?;
        Ok(StageBuilder {
            kept: kept.map(Arc::new),
            mask,
            gray: options.options.gray,
            depth: options.options.output_depth,
            range: options.range,
            limits: limits.clone(),
        })
    }

    /// Settings that give the same frames with less work: chroma that stays the same need not go through a GPU.
    pub fn sparing(&self, mut settings: Settings) -> Settings {
        if settings.chroma == Chroma::Follow && self.kept.as_ref().is_some_and(|file| !file.changes_chroma()) {
            settings.chroma = Chroma::Keep;
        }
        settings
    }

    /// A stage on `backend`; `scale` has the samples that codes of its frames represent.
    pub fn stage(&self, backend: Box<dyn Executor>, settings: Settings, scale: SampleScale) -> EqualizeStage {
        let settings = self.sparing(settings);
        let curves = self.kept.clone().map(|file| Box::new(LoadedCurves::new(file)) as Box<dyn MappingSource>);
        let range = || self.range.map(|range| Box::new(FixedRange::new(range, scale)) as Box<dyn MappingSource>);
        let mask = self.mask.as_ref().map(|named| named.mask.clone());
        EqualizeStage::new(backend, settings)
            .within(&self.limits)
            .gray(self.gray)
            .with_output_depth(self.depth)
            .with_mask(mask)
            .with_mappings(curves.or_else(range))
    }

    /// Checks that the mask fits the frames of `input` and these settings.
    pub fn check(&self, input: &Input, settings: &Settings) -> Result<()> {
        self.mask.as_ref().map_or(Ok(()), |mask| mask.check(input, settings.region))
    }

    /// The survey of scenes for the first of two passes.
    pub fn survey(&self, settings: Settings) -> Survey {
        let mask = self.mask.as_ref().map(|named| named.mask.clone());
        Survey::new(settings, self.gray, self.depth, mask, &self.limits)
    }

    /// Equalizes a paused frame with other settings. Without the temporal window, which would need the frames before
    /// it.
    pub fn equalize_shown(&self, shown: &Shown, settings: Settings) -> Result<Frame> {
        let settings = Settings { smoothing: Smoothing::OFF, ..settings };
        let mut stage = self.stage(Box::new(Cpu::new(1)), settings, SampleScale::default()).from_frame(shown.number);
        stage.submit(shown.original.clone())?;
        stage.finish()?;
        Ok(stage.collect()?.context("the CPU lost a frame")?.frame)
    }
}

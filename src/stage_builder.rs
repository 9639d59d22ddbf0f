//! Builds the stage of equalization: the backend, with kept curves (`--load-curves`), luma only (`--gray`), and the depth of the
//! output (`--output-depth`).

use anyhow::{Context, Result};
use histeq_video::cli::EqualizeOptions;
use histeq_video::curves::{CurveFile, LoadedCurves};
use histeq_video::equalize::cpu::Cpu;
use histeq_video::equalize::{CurveSource, EqualizeStage, Equalizer, OutputDepth};
use histeq_video::frame::Frame;
use histeq_video::pipeline::live::Shown;
use histeq_video::sink::Target;
use histeq_video::spec::{Settings, Smoothing};
use std::sync::Arc;

/// Checks that the file of `--load-curves` is none of the files to be `written`.
pub fn check_curves_differ<'a>(options: &EqualizeOptions, mut written: impl Iterator<Item = &'a String>) -> Result<()> {
    let Some(curves) = &options.load_curves else { return Ok(()) };
    Ok(written.try_for_each(|name| Target::differs(name, curves))?)
}

/// The options that apply ahead of the backend, with the curves read.
#[derive(Clone)]
pub struct StageBuilder {
    kept: Option<Arc<CurveFile>>,
    gray: bool,
    depth: OutputDepth,
}

impl StageBuilder {
    /// Reads the curves of `--load-curves`.
    pub fn new(options: &EqualizeOptions) -> Result<Self> {
        let kept = options.load_curves.as_deref().map(CurveFile::read).transpose()?;
        Ok(StageBuilder { kept: kept.map(Arc::new), gray: options.gray, depth: options.output_depth })
    }

    /// A stage on `backend`.
    pub fn stage(&self, backend: Box<dyn Equalizer>, settings: Settings) -> EqualizeStage {
        let curves = self.kept.clone().map(|file| Box::new(LoadedCurves::new(file)) as Box<dyn CurveSource>);
        EqualizeStage::new(backend, settings).gray(self.gray).with_output_depth(self.depth).with_curves(curves)
    }

    /// Equalizes a paused frame with other settings. Without the temporal window, which would need the frames before it.
    pub fn equalize_shown(&self, shown: &Shown, settings: Settings) -> Result<Frame> {
        let settings = Settings { smoothing: Smoothing::OFF, ..settings };
        let mut stage = self.stage(Box::new(Cpu::new(1)), settings).from_frame(shown.number);
        stage.submit(shown.original.clone())?;
        stage.finish()?;
        Ok(stage.collect()?.context("the CPU lost a frame")?.frame)
    }
}

//! What the options do to frames ahead of the backend: kept curves (`--load-curves`), luma alone (`--gray`).

use anyhow::{Context, Result};
use histeq_video::curves::{CurveFile, LoadedCurves};
use histeq_video::equalize::cpu::Cpu;
use histeq_video::equalize::{CurveSource, EqualizeStage, Equalizer};
use histeq_video::frame::Frame;
use histeq_video::pipeline::live::Shown;
use histeq_video::sink::Target;
use histeq_video::spec::{Settings, Smoothing};
use std::sync::Arc;

/// Makes sure that none of the names that are `written` to is the file of curves that is read.
pub fn differ<'a>(load_curves: Option<&str>, mut written: impl Iterator<Item = &'a String>) -> Result<()> {
    let Some(curves) = load_curves else { return Ok(()) };
    Ok(written.try_for_each(|name| Target::differs(name, curves))?)
}

/// The options, once their files have been read.
#[derive(Clone)]
pub struct FrameOptions {
    kept: Option<Arc<CurveFile>>,
    gray: bool,
}

impl FrameOptions {
    /// Reads the curves of this file, if there is one.
    pub fn read(load_curves: Option<&str>, gray: bool) -> Result<Self> {
        Ok(FrameOptions { kept: load_curves.map(CurveFile::read).transpose()?.map(Arc::new), gray })
    }

    /// Frames through `backend` with these options.
    pub fn stage(&self, backend: Box<dyn Equalizer>, settings: Settings) -> EqualizeStage {
        let curves = self.kept.clone().map(|file| Box::new(LoadedCurves::new(file)) as Box<dyn CurveSource>);
        EqualizeStage::new(backend, settings).gray(self.gray).with_curves(curves)
    }

    /// The frame that is shown, equalized again by itself: with the temporal window, only the frames before it could tell
    /// its curve.
    pub fn again(&self, shown: &Shown, settings: Settings) -> Result<Frame> {
        let settings = Settings { smoothing: Smoothing::OFF, ..settings };
        let mut stage = self.stage(Box::new(Cpu::new(1)), settings).from_frame(shown.number);
        stage.submit(shown.original.clone())?;
        stage.finish()?;
        Ok(stage.collect()?.context("the CPU lost a frame")?.frame)
    }
}

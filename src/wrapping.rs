//! What the options put around a backend: kept curves (`--load-curves`), luma alone (`--gray`).

use anyhow::{Context, Result};
use histeq_video::curves::{ApplyCurves, CurveFile};
use histeq_video::equalize::Equalizer;
use histeq_video::equalize::cpu::Cpu;
use histeq_video::equalize::gray::Gray;
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
pub struct Wrapping {
    kept: Option<Arc<CurveFile>>,
    gray: bool,
}

impl Wrapping {
    /// Reads the curves of this file, if there is one.
    pub fn read(load_curves: Option<&str>, gray: bool) -> Result<Self> {
        Ok(Wrapping { kept: load_curves.map(CurveFile::read).transpose()?.map(Arc::new), gray })
    }

    /// `backend`, which was made with the same settings and gets the frames from number `first` on, with this around it.
    pub fn around(&self, backend: Box<dyn Equalizer>, settings: Settings, first: u64) -> Box<dyn Equalizer> {
        let mut equalizer = backend;
        if let Some(kept) = self.kept.clone() {
            equalizer = Box::new(ApplyCurves::new(equalizer, kept, settings, first));
        }
        if self.gray { Box::new(Gray::new(equalizer)) } else { equalizer }
    }

    /// The frame that is shown, equalized again by itself: with the temporal window, only the frames before it could tell
    /// its curve.
    pub fn again(&self, shown: &Shown, settings: Settings) -> Result<Frame> {
        let settings = Settings { smoothing: Smoothing::OFF, ..settings };
        let mut equalizer = self.around(Box::new(Cpu::new(settings, 1)), settings, shown.number);
        equalizer.submit(shown.original.clone())?;
        equalizer.finish()?;
        equalizer.collect()?.context("the CPU lost a frame")
    }
}

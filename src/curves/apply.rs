//! A backend whose frames get kept curves in place of their own. Strength works on them as on any curve.

use super::{CurveFile, Kind};
use crate::equalize::{Equalizer, queue_of_backend};
use crate::frame::Frame;
use crate::spec::{Curve, Settings, Strength};
use anyhow::{Result, ensure};
use std::sync::Arc;

/// A backend, and the curves that it gets.
pub struct ApplyCurves {
    backend: Box<dyn Equalizer>,
    curves: Arc<CurveFile>,
    strength: Strength,
    /// The number of the next frame.
    frame: u64,
    /// Index and strength of the curve that the backend has.
    at: Option<(usize, Strength)>,
}

impl ApplyCurves {
    /// Sends the frames of `backend`, which was made with the same settings, through `curves`; the first one is number
    /// `first`.
    pub fn new(backend: Box<dyn Equalizer>, curves: Arc<CurveFile>, settings: Settings, first: u64) -> Self {
        ApplyCurves { backend, curves, strength: settings.strength, frame: first, at: None }
    }
}

impl Equalizer for ApplyCurves {
    fn submit(&mut self, frame: Frame) -> Result<()> {
        let (wanted, kind) = (self.curves.kind(), Kind::of(&frame));
        let (name, number) = (self.curves.name(), self.frame);
        ensure!(
            kind == wanted,
            "{name}: curves for {wanted}, but frame {number} of the video has {kind} (save curves of such a video)"
        );
        let at = (self.curves.index_at(self.frame), self.strength);
        if self.at != Some(at) {
            let curve = self.curves.curve(at.0).clone().blended(self.strength);
            self.backend.set_curve(Some(Arc::new(curve)));
            self.at = Some(at);
        }
        self.frame += 1;
        self.backend.submit(frame)
    }

    /// There is nothing to be remembered of it.
    fn warm_up(&mut self, _frame: Frame) -> Result<()> {
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        self.backend.finish()
    }

    fn collect(&mut self) -> Result<Option<Frame>> {
        self.backend.collect()
    }

    queue_of_backend!();

    fn set(&mut self, settings: Settings) {
        self.strength = settings.strength;
        self.backend.set(settings);
    }

    /// It has curves, and keeps them.
    fn set_curve(&mut self, _curve: Option<Arc<Curve>>) {}

    fn name(&self) -> String {
        self.backend.name()
    }
}

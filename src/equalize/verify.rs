//! Recomputes every frame with the reference and stops at the first sample that differs (`--verify`).

use super::{Equalizer, queue_of_backend, reference::Reference};
use crate::frame::Frame;
use crate::spec::{Curve, Settings};
use anyhow::{Result, bail};
use std::sync::Arc;

/// A backend under supervision.
pub struct Verified {
    backend: Box<dyn Equalizer>,
    reference: Reference,
    frame: u64,
}

impl Verified {
    /// Watches over `backend`, which was made with the same settings.
    pub fn new(backend: Box<dyn Equalizer>, settings: Settings) -> Self {
        Verified { backend, reference: Reference::new(settings), frame: 0 }
    }
}

impl Equalizer for Verified {
    fn submit(&mut self, frame: Frame) -> Result<()> {
        self.reference.submit(frame.clone())?;
        self.backend.submit(frame)
    }

    fn collect(&mut self) -> Result<Option<Frame>> {
        let Some(equalized) = self.backend.collect()? else { return Ok(None) };
        let Some(expected) = self.reference.collect()? else { bail!("{} gave a frame too many", self.backend.name()) };
        if let Some(difference) = first_difference(&expected, &equalized) {
            bail!("{}: frame {}: {difference} (a bug: please report it)", self.backend.name(), self.frame);
        }
        self.frame += 1;
        Ok(Some(equalized))
    }

    fn warm_up(&mut self, frame: Frame) -> Result<()> {
        self.reference.warm_up(frame.clone())?;
        self.backend.warm_up(frame)
    }

    fn finish(&mut self) -> Result<()> {
        self.reference.finish()?;
        self.backend.finish()
    }

    queue_of_backend!();

    fn set(&mut self, settings: Settings) {
        self.backend.set(settings);
        self.reference.set(settings);
    }

    fn set_curve(&mut self, curve: Option<Arc<Curve>>) {
        self.backend.set_curve(curve.clone());
        self.reference.set_curve(curve);
    }

    fn name(&self) -> String {
        format!("{}, verified", self.backend.name())
    }
}

/// Where two frames of the same format and size first differ, in words.
pub fn first_difference(expected: &Frame, found: &Frame) -> Option<String> {
    for (index, (expected, found)) in expected.planes().iter().zip(found.planes()).enumerate() {
        for y in 0..expected.rows() {
            let (a, b) = (expected.row(y), found.row(y));
            if let Some(x) = (0..a.len()).find(|&x| a[x] != b[x]) {
                return Some(format!("plane {index}, row {y}, byte {x}: {} instead of {}", b[x], a[x]));
            }
        }
    }
    None
}

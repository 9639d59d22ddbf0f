//! Recomputes every frame with the reference and stops at the first sample that differs (`--verify`).

use super::{Equalizer, Observation, Observer, Work, reference::Reference};
use crate::frame::Frame;
use anyhow::{Context, Result, bail};

/// The reference, beside a backend.
#[derive(Default)]
pub struct Verifier(Reference);

impl Observer for Verifier {
    fn submitted(&mut self, work: &Work) -> Result<()> {
        self.0.submit(work.clone())
    }

    fn finished(&mut self) -> Result<()> {
        self.0.finish()
    }

    fn equalized(&mut self, seen: Observation<'_>) -> Result<()> {
        let expected = self.0.collect()?.with_context(|| format!("{} gave a frame too many", seen.backend.name()))?;
        if let Some(difference) = first_difference(&expected.frame, &seen.after.frame) {
            bail!("{}: frame {}: {difference} (a bug: please report it)", seen.backend.name(), seen.number);
        }
        Ok(())
    }

    fn suffix(&self) -> &'static str {
        ", verified"
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

//! Recomputes every frame with the reference and stops at the first sample that differs (`--verify`).

use super::backend::reference::Reference;
use super::{Equalized, Executor, Observation, Observer, Work};
use crate::error::{CallerError, Error, Result};
use crate::frame::Frame;
use std::collections::VecDeque;

/// Runs the reference beside a backend, and compares their frames.
#[derive(Default)]
pub struct Verifier {
    reference: Reference,
    /// The backend's frames that the reference has not computed yet, each with its name for errors. Where the size or
    /// the settings change, the backend can be ahead of the reference, because it need not wait for later frames there.
    ahead: VecDeque<(String, Frame)>,
}

impl Verifier {
    /// Compares the frames that both have computed.
    fn compare(&mut self) -> Result<()> {
        while !self.ahead.is_empty()
            && let Some(Equalized { frame: expected, .. }) = self.reference.collect()?
            && let Some((name, found)) = self.ahead.pop_front()
        {
            if let Some(difference) = first_difference(&expected, &found) {
                return Err(Error::Differs { frame: name, difference });
            }
        }
        Ok(())
    }
}

impl Observer for Verifier {
    fn submitted(&mut self, work: &Work) -> Result<(), CallerError> {
        self.reference.submit(work.clone())?;
        Ok(self.compare()?)
    }

    fn finished(&mut self) -> Result<(), CallerError> {
        self.reference.finish()?;
        Ok(self.compare()?)
    }

    fn equalized(&mut self, seen: Observation<'_>) -> Result<(), CallerError> {
        let name = format!("{}: frame {}", seen.backend.name(), seen.number);
        self.ahead.push_back((name, seen.after.frame.clone()));
        Ok(self.compare()?)
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

//! The file of `--save-curves`: written while the run goes on, into a temporary file until it is whole.

use super::lines::{Header, Kind, Line, VERSION};
use crate::pipeline::Outcome;
use crate::sink::Target;
use crate::spec::Curve;
use anyhow::{Context, Result, bail};
use serde::Serialize;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// A file of curves in the making; shared by its clones, one of which finishes it. Dropped unfinished, it leaves nothing
/// behind.
#[derive(Clone)]
pub struct CurveWriter(Arc<Mutex<Option<Open>>>);

struct Open {
    target: Target,
    /// Open from the first curve on.
    file: Option<BufWriter<File>>,
    last: Option<(Kind, Curve)>,
}

impl CurveWriter {
    /// Will write `target`, from the first curve on.
    pub fn new(target: Target) -> Self {
        CurveWriter(Arc::new(Mutex::new(Some(Open { target, file: None, last: None }))))
    }

    /// Takes in the curve of the next frame, which is of this kind.
    ///
    /// # Errors
    /// When it cannot be written, or the frame is of another kind than those before.
    pub fn write(&self, frame: u64, kind: Kind, curve: &Curve) -> Result<()> {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(open) = open.as_mut() else { return Ok(()) };
        let name = open.target.name().to_owned();
        if let Some((before, _)) = open.last.as_ref().filter(|(before, _)| *before != kind) {
            bail!("{name}: frame {frame} has {kind}, the ones before {before}; a file has curves of one kind only");
        }
        open.write(frame, kind, curve).with_context(|| format!("{name}: cannot be written"))
    }

    /// Writes what is left and gives the file its name, as [`Target::end`] has it.
    ///
    /// # Errors
    /// When it cannot be written or renamed.
    pub fn finish(self, outcome: Outcome) -> Result<()> {
        let open = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(Open { target, file: Some(mut file), .. }) = open else { return Ok(()) };
        file.flush().with_context(|| format!("{}: cannot be written", target.name()))?;
        target.end(outcome)?;
        Ok(())
    }
}

impl Open {
    fn write(&mut self, frame: u64, kind: Kind, curve: &Curve) -> Result<()> {
        if self.file.is_none() {
            self.file = Some(BufWriter::new(self.target.writer()?));
            self.line(&Header { histeq_curves: VERSION, kind })?;
        }
        if self.last.as_ref().is_none_or(|(_, last)| last != curve) {
            self.line(&Line { frame, lut: curve.codes() })?;
            self.last = Some((kind, curve.clone()));
        }
        Ok(())
    }

    fn line(&mut self, line: &impl Serialize) -> Result<()> {
        let file = self.file.as_mut().context("opened by the first curve")?;
        serde_json::to_writer(&mut *file, line)?;
        file.write_all(b"\n")?;
        Ok(())
    }
}

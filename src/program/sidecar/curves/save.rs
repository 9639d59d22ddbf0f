//! Writes the file of `--save-curves` during the run, into a temporary file until it is complete; an archive (`.npz`)
//! at its end.

use super::archive::Archive;
use super::lines::{CurveFormat, CurveLine, Header, VERSION};
use anyhow::{Context, Result, bail};
use histeq::spec::Mapping;
use histeq_media::pipeline::Outcome;
use histeq_media::sink::Target;
use histeq_media::sys::PlaneWriter;
use serde::Serialize;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// A writer of a curve file, shared by its clones, one of which finishes it. If it is dropped unfinished, no file is
/// left.
#[derive(Clone)]
pub struct CurveWriter(Arc<Mutex<Option<UnfinishedFile>>>);

struct UnfinishedFile {
    target: Target,
    /// The curves so far, if they become an archive.
    archive: Option<Archive>,
    /// Lines: open from the first curve on.
    file: Option<BufWriter<PlaneWriter>>,
    last: Option<(CurveFormat, Mapping)>,
}

impl CurveWriter {
    /// A writer of `target`: of an archive if its name ends in `.npz`, else of lines, and then it is created with the
    /// first curve.
    pub fn new(target: Target) -> Self {
        let is_archive = Path::new(target.name()).extension().is_some_and(|extension| extension == "npz");
        let archive = is_archive.then(Archive::default);
        CurveWriter(Arc::new(Mutex::new(Some(UnfinishedFile { target, archive, file: None, last: None }))))
    }

    /// Writes what is applied to the next frame: anything but curves of tiles.
    ///
    /// # Errors
    /// When it cannot be written, or its format differs from that of the frames before.
    pub fn write(&self, frame: u64, format: CurveFormat, mapping: &Mapping) -> Result<()> {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(open) = open.as_mut() else { return Ok(()) };
        let name = open.target.name().to_owned();
        if let Some((before, _)) = open.last.as_ref().filter(|(before, _)| *before != format) {
            bail!("{name}: frame {frame} has {format}, the ones before {before}; a file has curves of one kind only");
        }
        open.write(frame, format, mapping).with_context(|| format!("{name}: cannot be written"))
    }

    /// Flushes the file and renames it to its final name ([`Target::end`]).
    ///
    /// # Errors
    /// When it cannot be written or renamed.
    pub fn finish(self, outcome: Outcome) -> Result<()> {
        let open = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(UnfinishedFile { mut target, archive, file, last: Some((format, _)) }) = open else { return Ok(()) };
        let name = target.name().to_owned();
        let written = match (archive, file) {
            (Some(archive), _) => archive.write(format, target.patient_writer()?),
            (None, Some(mut file)) => file.flush().map_err(Into::into),
            (None, None) => Ok(()),
        };
        written.with_context(|| format!("{name}: cannot be written"))?;
        target.end(outcome)?;
        Ok(())
    }
}

impl UnfinishedFile {
    fn write(&mut self, frame: u64, format: CurveFormat, mapping: &Mapping) -> Result<()> {
        let is_new = self.last.as_ref().is_none_or(|(_, last)| last != mapping);
        if let Some(archive) = &mut self.archive {
            archive.add(frame, format, mapping, is_new)?;
        } else {
            if self.file.is_none() {
                self.file = Some(BufWriter::new(self.target.patient_writer()?));
                self.line(&Header { histeq_curves: VERSION, format })?;
            }
            if is_new {
                self.line(&CurveLine::of(frame, mapping, format.levels()).context("curves of tiles")?)?;
            }
        }
        self.last = Some((format, mapping.clone()));
        Ok(())
    }

    fn line(&mut self, line: &impl Serialize) -> Result<()> {
        let file = self.file.as_mut().context("the first curve opens the file")?;
        serde_json::to_writer(&mut *file, line)?;
        file.write_all(b"\n")?;
        Ok(())
    }
}

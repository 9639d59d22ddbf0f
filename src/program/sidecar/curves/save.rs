//! Writes the file of `--save-curves` during the run, into a temporary file until it is complete; tables
//! for grading programs (`.cube`) at its end.

use super::cube::Cubes;
use super::lines::{CurveFormat, CurveLine, Header, VERSION};
use crate::sidecar::record_file::{RecordFile, json_line};
use anyhow::{Context, Result, bail};
use histeq::internal::frame::Matrix;
use histeq::internal::spec::curves::Mapping;
use histeq_media::pipeline::{Notices, Outcome};
use histeq_media::sink::files::Target;
use histeq_media::source::Developed;
use std::sync::{Arc, Mutex, PoisonError};

/// A writer of a curve file, shared by its clones, one of which finishes it. If it is dropped unfinished, no file is
/// left.
#[derive(Clone)]
pub struct CurveWriter(Arc<Mutex<Option<UnfinishedFile>>>);

struct UnfinishedFile {
    file: RecordFile,
    kind: CurveFileKind,
    last: Option<(CurveFormat, Mapping)>,
}

/// The kind of file, with the mappings that it needs at its end.
enum CurveFileKind {
    Lines,
    /// A table for each scene.
    Cubes(Cubes),
}

/// The position of a frame in its video, and its colour matrix.
#[derive(Clone, Copy, Debug)]
pub struct FramePlace {
    /// Its number, counted from 0 at the first frame of the run.
    pub frame: u64,
    /// Its time in seconds, and how long it is shown, where that is known.
    pub seconds: (f64, f64),
    /// The number of its scene.
    pub scene: u64,
    /// The matrix of its colours; `None` of gray.
    pub matrix: Option<Matrix>,
}

impl CurveWriter {
    /// A writer of `target`: of tables if its name ends in `.cube`, else of lines, and then it is created with the
    /// first curve. With `notices`, a file of lines whose disk is full ends there with a warning.
    pub fn new(target: Target, notices: Option<&Notices>) -> Self {
        let extension = target.name().path().extension().map(|extension| extension.to_ascii_lowercase());
        let kind = match extension.as_ref().and_then(|extension| extension.to_str()) {
            Some("cube") => CurveFileKind::Cubes(Cubes::default()),
            _ => CurveFileKind::Lines,
        };
        let file = RecordFile::new(target, notices);
        CurveWriter(Arc::new(Mutex::new(Some(UnfinishedFile { file, kind, last: None }))))
    }

    /// The frames have been converted from log to BT.709: tables for grading programs begin with that conversion.
    pub fn follow(&self, log: &Developed) {
        if let Some(UnfinishedFile { kind: CurveFileKind::Cubes(cubes), .. }) =
            self.0.lock().unwrap_or_else(PoisonError::into_inner).as_mut()
        {
            cubes.follow(log);
        }
    }

    /// Writes the mapping of the next frame, which may be any but curves of tiles.
    ///
    /// # Errors
    /// When it cannot be written, or its format differs from that of the frames before.
    pub fn write(&self, place: FramePlace, format: CurveFormat, mapping: &Mapping) -> Result<()> {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(open) = open.as_mut() else { return Ok(()) };
        let (name, frame) = (open.file.name().to_owned(), place.frame);
        if let Some((before, _)) = open.last.as_ref().filter(|(before, _)| *before != format) {
            bail!("{name}: frame {frame} has {format}, the ones before {before}; a file has curves of one kind only");
        }
        open.write(place, format, mapping).with_context(|| format!("{name}: cannot be written"))
    }

    /// Ends the file and renames it to its final name ([`Target::end`]).
    ///
    /// # Errors
    /// When it cannot be written or renamed.
    pub fn finish(self, outcome: Outcome, notices: &Notices) -> Result<()> {
        let open = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(UnfinishedFile { file, kind, last: Some((format, _)) }) = open else { return Ok(()) };
        match kind {
            CurveFileKind::Lines => file.end(None, outcome),
            CurveFileKind::Cubes(cubes) => cubes.write(format, file.into_target(), outcome, notices),
        }
    }
}

impl UnfinishedFile {
    fn write(&mut self, place: FramePlace, format: CurveFormat, mapping: &Mapping) -> Result<()> {
        let is_new = self.last.as_ref().is_none_or(|(_, last)| last != mapping);
        match &mut self.kind {
            CurveFileKind::Cubes(cubes) => cubes.add(place, format, mapping)?,
            CurveFileKind::Lines if is_new => {
                let head = self.last.is_none().then(|| json_line(&Header { histeq_curves: VERSION, format }));
                let applied = CurveLine::new(place.frame, mapping, format.levels()).context("curves of tiles")?;
                self.file.write(&[head.transpose()?.unwrap_or_default(), json_line(&applied)?].concat())?;
            }
            CurveFileKind::Lines => {}
        }
        self.last = Some((format, mapping.clone()));
        Ok(())
    }
}

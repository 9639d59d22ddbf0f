//! Writes the file of `--stats` during the run, under a temporary name until it is complete.

use super::FrameRecord;
use super::html::levels::FrameLevels;
use super::html::page::Page;
use super::piece::{Jpeg, PieceRecord, SceneFrames};
use crate::options::jobs::StatsFormat;
use crate::sidecar::record_file::{RecordFile, json_line};
use anyhow::{Context, Result};
use histeq_media::pipeline::{Notices, Outcome};
use histeq_media::sink::files::Target;
use serde_json::{Map, Value};
use std::cell::LazyCell;
use std::sync::{Arc, Mutex, PoisonError};

/// Files of records, shared by its clones, one of which finishes them. If it is dropped unfinished, no file is left.
#[derive(Clone)]
pub struct Recording(Arc<Mutex<Vec<UnfinishedRecording>>>);

struct UnfinishedRecording {
    file: RecordFile,
    kind: RecordKind,
}

/// The format of a file, with the data that are kept of the records until the end.
enum RecordKind {
    Csv { has_head: bool },
    JsonLines,
    Page(Box<Page>),
    PieceOfPage(SceneFrames),
}

impl Recording {
    /// Opens `targets` for writing. `title` is the title of a page. With `notices`, a file whose disk is full ends
    /// there with a warning.
    ///
    /// # Errors
    /// When a file cannot be opened.
    pub fn create(targets: Vec<(Target, StatsFormat)>, title: &str, notices: Option<&Notices>) -> Result<Self> {
        let open = |(target, format): (Target, StatsFormat)| -> Result<UnfinishedRecording> {
            let mut file = RecordFile::new(target, notices);
            file.open()?;
            let kind = match format {
                StatsFormat::Csv => RecordKind::Csv { has_head: false },
                StatsFormat::JsonLines => RecordKind::JsonLines,
                StatsFormat::Page => RecordKind::Page(Box::new(Page::new(title))),
                StatsFormat::PieceOfPage => RecordKind::PieceOfPage(SceneFrames::default()),
            };
            Ok(UnfinishedRecording { file, kind })
        };
        Ok(Recording(Arc::new(Mutex::new(targets.into_iter().map(open).collect::<Result<_>>()?))))
    }

    /// Writes the record of the next frame. Where a page is made, `levels` is called, and `pictures` for the frames that
    /// show scenes: JPEG files of before and after.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(
        &self,
        record: &FrameRecord,
        levels: impl FnOnce() -> FrameLevels,
        pictures: impl FnOnce() -> [Vec<u8>; 2],
    ) -> Result<()> {
        let (levels, pictures) = (LazyCell::new(levels), LazyCell::new(pictures));
        for UnfinishedRecording { file, kind } in self.0.lock().unwrap_or_else(PoisonError::into_inner).iter_mut() {
            let bytes = kind.add(record, || levels.clone(), || pictures.clone());
            let written = bytes.and_then(|bytes| bytes.map_or(Ok(()), |bytes| file.write(&bytes)));
            written.with_context(|| format!("{}: cannot be written", file.name()))?;
        }
        Ok(())
    }

    /// Adds to a page how the video was made: the command line, and the settings by the names of their options.
    pub fn describe(&self, command: String, settings: Map<String, Value>) {
        for recording in self.0.lock().unwrap_or_else(PoisonError::into_inner).iter_mut() {
            if let RecordKind::Page(page) = &mut recording.kind {
                page.describe(command.clone(), settings.clone());
            }
        }
    }

    /// Completes the files and renames them to their final names ([`Target::end`]).
    ///
    /// # Errors
    /// When one cannot be written or renamed.
    pub fn finish(self, outcome: Outcome) -> Result<()> {
        let open = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        for UnfinishedRecording { file, kind } in open {
            let last = kind.last().with_context(|| format!("{}: cannot be written", file.name()))?;
            file.end(last.as_deref(), outcome)?;
        }
        Ok(())
    }
}

impl RecordKind {
    /// Adds a record. Returns the bytes to write for it; `None` if it is written at the end.
    fn add(
        &mut self,
        record: &FrameRecord,
        levels: impl FnOnce() -> FrameLevels,
        pictures: impl FnOnce() -> [Vec<u8>; 2],
    ) -> Result<Option<Vec<u8>>> {
        Ok(match self {
            RecordKind::Csv { has_head } => {
                let mut row = Vec::new();
                let mut csv = csv::WriterBuilder::new().has_headers(!*has_head).from_writer(&mut row);
                csv.serialize(record)?;
                csv.flush()?;
                drop(csv);
                *has_head = true;
                Some(row)
            }
            RecordKind::JsonLines => Some(json_line(record)?),
            RecordKind::Page(page) => {
                page.add(record, &levels(), pictures);
                None
            }
            RecordKind::PieceOfPage(scenes) => {
                let pictures = scenes.next(record).then(|| pictures().map(Jpeg));
                Some(json_line(&PieceRecord { record: record.clone(), levels: Some(levels()), pictures })?)
            }
        })
    }

    /// The bytes to write at the end, if any.
    fn last(self) -> Result<Option<Vec<u8>>> {
        Ok(match self {
            RecordKind::Csv { .. } | RecordKind::JsonLines | RecordKind::PieceOfPage(_) => None,
            RecordKind::Page(page) => Some(page.html().into_bytes()),
        })
    }
}

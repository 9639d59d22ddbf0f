//! Writes the file of `--stats` during the run, under a temporary name until it is complete.

use super::FrameRecord;
use super::levels::FrameLevels;
use super::page::Page;
use super::piece::{Jpeg, PieceRecord, SceneFrames};
use crate::options::StatsFormat;
use anyhow::{Context, Result};
use histeq_media::pipeline::Outcome;
use histeq_media::sink::Target;
use histeq_media::sys::PlaneWriter;
use serde_json::{Map, Value};
use std::cell::LazyCell;
use std::io::{LineWriter, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// Files of records, shared by its clones, one of which finishes them. If it is dropped unfinished, no file is left.
#[derive(Clone)]
pub struct Recording(Arc<Mutex<Vec<UnfinishedRecording>>>);

struct UnfinishedRecording {
    target: Target,
    writer: RecordWriter,
}

enum RecordWriter {
    Csv(Box<csv::Writer<PlaneWriter>>),
    JsonLines(LineWriter<PlaneWriter>),
    Page(Box<Page>, PlaneWriter),
    PieceOfPage(LineWriter<PlaneWriter>, SceneFrames),
}

impl Recording {
    /// Opens `targets` for writing. `title` is the title of a page.
    ///
    /// # Errors
    /// When a file cannot be opened.
    pub fn create(targets: Vec<(Target, StatsFormat)>, title: &str) -> Result<Self> {
        let open = |(mut target, format): (Target, StatsFormat)| -> Result<UnfinishedRecording> {
            let file = target.patient_writer()?;
            let writer = match format {
                StatsFormat::Csv => RecordWriter::Csv(Box::new(csv::Writer::from_writer(file))),
                StatsFormat::JsonLines => RecordWriter::JsonLines(LineWriter::new(file)),
                StatsFormat::Page => RecordWriter::Page(Box::new(Page::new(title)), file),
                StatsFormat::PieceOfPage => RecordWriter::PieceOfPage(LineWriter::new(file), SceneFrames::default()),
            };
            Ok(UnfinishedRecording { target, writer })
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
        for UnfinishedRecording { target, writer } in self.0.lock().unwrap_or_else(PoisonError::into_inner).iter_mut() {
            writer
                .write(record, || levels.clone(), || pictures.clone())
                .with_context(|| format!("{}: cannot be written", target.name()))?;
        }
        Ok(())
    }

    /// Adds to a page how the video was made: the command line, and the settings by the names of their options.
    pub fn describe(&self, command: String, settings: Map<String, Value>) {
        for recording in self.0.lock().unwrap_or_else(PoisonError::into_inner).iter_mut() {
            if let RecordWriter::Page(page, _) = &mut recording.writer {
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
        for UnfinishedRecording { target, writer } in open {
            writer.finish().with_context(|| format!("{}: cannot be written", target.name()))?;
            target.end(outcome)?;
        }
        Ok(())
    }
}

impl RecordWriter {
    fn write(
        &mut self,
        record: &FrameRecord,
        levels: impl FnOnce() -> FrameLevels,
        pictures: impl FnOnce() -> [Vec<u8>; 2],
    ) -> Result<()> {
        match self {
            RecordWriter::Csv(writer) => writer.serialize(record)?,
            RecordWriter::JsonLines(writer) => {
                serde_json::to_writer(&mut *writer, record)?;
                writer.write_all(b"\n")?;
            }
            RecordWriter::Page(page, _) => page.add(record, &levels(), pictures),
            RecordWriter::PieceOfPage(writer, scenes) => {
                let pictures = scenes.next(record).then(|| pictures().map(Jpeg));
                let record = PieceRecord { record: record.clone(), levels: Some(levels()), pictures };
                serde_json::to_writer(&mut *writer, &record)?;
                writer.write_all(b"\n")?;
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<()> {
        match self {
            RecordWriter::Csv(mut writer) => writer.flush()?,
            RecordWriter::JsonLines(mut writer) | RecordWriter::PieceOfPage(mut writer, _) => writer.flush()?,
            RecordWriter::Page(page, mut file) => file.write_all(page.html().as_bytes())?,
        }
        Ok(())
    }
}

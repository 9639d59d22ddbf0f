//! The file of `--stats`: written while the run goes on, under a temporary name until it is whole.

use super::series::Series;
use super::{Record, page};
use crate::pipeline::Outcome;
use crate::sink::Target;
use anyhow::{Context, Result};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// What records are written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatsFormat {
    /// A table with a line of names: `.csv`.
    Csv,
    /// An object a line: `.jsonl`.
    JsonLines,
    /// A page with plots: `.html`.
    Page,
}

impl StatsFormat {
    /// The format that a file's name asks for.
    pub fn of(name: &str) -> Option<Self> {
        let extension = Path::new(name).extension()?.to_ascii_lowercase();
        match extension.to_str()? {
            "csv" => Some(StatsFormat::Csv),
            "jsonl" => Some(StatsFormat::JsonLines),
            "html" => Some(StatsFormat::Page),
            _ => None,
        }
    }
}

/// A file of records; shared by its clones, one of which finishes it. A recording that is dropped unfinished leaves
/// nothing behind.
#[derive(Clone)]
pub struct Recording(Arc<Mutex<Option<Open>>>);

struct Open {
    target: Target,
    writer: Writer,
}

enum Writer {
    Csv(Box<csv::Writer<File>>),
    JsonLines(BufWriter<File>),
    /// What of the records a plot can show; its size does not depend on the length of the video.
    Page {
        series: Box<Series>,
        title: String,
        file: File,
    },
}

impl Recording {
    /// Begins to write `target`. `title` is what a page calls the video.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn create(mut target: Target, format: StatsFormat, title: &str) -> Result<Self> {
        let file = target.writer()?;
        let writer = match format {
            StatsFormat::Csv => Writer::Csv(Box::new(csv::Writer::from_writer(file))),
            StatsFormat::JsonLines => Writer::JsonLines(BufWriter::new(file)),
            StatsFormat::Page => Writer::Page { series: Box::default(), title: title.to_owned(), file },
        };
        Ok(Recording(Arc::new(Mutex::new(Some(Open { target, writer })))))
    }

    /// Takes in the next record.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, record: &Record) -> Result<()> {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(Open { target, writer }) = open.as_mut() else { return Ok(()) };
        writer.write(record).with_context(|| format!("{}: cannot be written", target.name()))
    }

    /// Writes what is left and gives the file its name, as [`Target::end`] has it.
    ///
    /// # Errors
    /// When it cannot be written or renamed.
    pub fn finish(self, outcome: Outcome) -> Result<()> {
        let open = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(Open { target, writer }) = open else { return Ok(()) };
        writer.finish().with_context(|| format!("{}: cannot be written", target.name()))?;
        target.end(outcome)?;
        Ok(())
    }
}

impl Writer {
    fn write(&mut self, record: &Record) -> Result<()> {
        match self {
            Writer::Csv(writer) => writer.serialize(record)?,
            Writer::JsonLines(writer) => {
                serde_json::to_writer(&mut *writer, record)?;
                writer.write_all(b"\n")?;
            }
            Writer::Page { series, .. } => series.add(record),
        }
        Ok(())
    }

    fn finish(self) -> Result<()> {
        match self {
            Writer::Csv(mut writer) => writer.flush()?,
            Writer::JsonLines(mut writer) => writer.flush()?,
            Writer::Page { series, title, mut file } => file.write_all(page::page(&title, &series).as_bytes())?,
        }
        Ok(())
    }
}

//! A file beside the video, written record by record. If its disk is full, the file ends early, and the video goes on.

use anyhow::{Context, Result};
use histeq_media::pipeline::{FailureKind, Level, Notices, Outcome, reason};
use histeq_media::sink::files::Target;
use histeq_media::sys::files::Name;
use histeq_media::sys::io::PlaneWriter;
use serde::Serialize;
use std::io;

/// A file of records. If it is dropped unfinished, no file is left.
pub struct RecordFile {
    target: Target,
    /// `None` until it is opened, with the first record at the latest.
    file: Option<PlaneWriter>,
    /// The bytes of all whole records.
    bytes: u64,
    /// Gets the warning that the file ends early; `None` if a full disk is an error at once.
    notices: Option<Notices>,
    /// The error of a full disk, after which nothing is written.
    full: Option<io::Error>,
}

impl RecordFile {
    /// A file at `target`. With `notices`, a full disk is a warning, and an error once the video is whole; without, it
    /// is an error at once.
    pub fn new(target: Target, notices: Option<&Notices>) -> Self {
        RecordFile { target, file: None, bytes: 0, notices: notices.cloned(), full: None }
    }

    /// Its name, in messages.
    pub fn name(&self) -> &Name {
        self.target.name()
    }

    /// The target, for a file that is not written record by record.
    pub fn into_target(self) -> Target {
        self.target
    }

    /// Opens the file; if it is a FIFO, waits for a reader.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open(&mut self) -> Result<()> {
        if self.file.is_none() {
            self.file = Some(self.target.patient_writer()?);
        }
        Ok(())
    }

    /// Writes a record, unless the disk has been full before.
    ///
    /// # Errors
    /// When it cannot be written, unless a full disk is only a warning.
    pub fn write(&mut self, record: &[u8]) -> Result<()> {
        if self.full.is_some() {
            return Ok(());
        }
        self.open()?;
        let written = self.file.as_mut().map_or(Ok(()), |file| file.bytes(record));
        match (written, &self.notices) {
            (Ok(()), _) => self.bytes += record.len() as u64,
            (Err(error), Some(notices)) if FailureKind::from_io(&error) == FailureKind::Disk => {
                let (name, why) = (self.target.name(), reason(&error));
                // Only printed, even with `--strict`: the run ends with this error in any case.
                notices.print(
                    Level::Warning,
                    &format!(
                        "{name}: cannot be written: {why}; it ends here, and the video goes on (make room, or name a \
                         file on another disk)"
                    ),
                );
                self.full = Some(error);
            }
            (Err(error), _) => return Err(error.into()),
        }
        Ok(())
    }

    /// Writes the last bytes, if any, and gives the file its final name ([`Target::end`]).
    ///
    /// # Errors
    /// When it cannot be written or renamed. An incomplete file may have another name, which the error contains.
    pub fn end(mut self, last: Option<&[u8]>, outcome: Outcome) -> Result<()> {
        // The video has ended, so that a full disk is an error at once.
        self.notices = None;
        let written = last.map_or(Ok(()), |last| self.write(last));
        written.with_context(|| format!("{}: cannot be written", self.target.name()))?;
        drop(self.file);
        match self.full {
            Some(error) => Err(self.target.cut(self.bytes, &error)),
            None => self.target.end(outcome).map(drop),
        }
    }
}

/// A record as a line of JSON.
///
/// # Errors
/// When it cannot be serialized.
pub fn json_line(record: &impl Serialize) -> Result<Vec<u8>> {
    let mut line = serde_json::to_vec(record)?;
    line.push(b'\n');
    Ok(line)
}

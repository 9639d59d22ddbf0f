//! Names of segments: a pattern with the time in it.

use crate::pipeline::FailureKind;
use crate::sink::files::place::no_folder;
use crate::sys::files::Name;
use anyhow::{Context, Result, ensure};
use jiff::fmt::strtime;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ZonedDateTime};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// A name pattern for segments, in the syntax of `strftime`: `cam-%Y%m%d-%H%M%S.mkv`. Only the file name is a pattern,
/// not its folder.
#[derive(Clone, Debug)]
pub(super) struct NamePattern {
    /// The folder of the segments; empty for the current folder.
    place: PathBuf,
    /// The file name pattern.
    pub file: Name,
}

impl NamePattern {
    /// Parses and checks the pattern `name`.
    ///
    /// # Errors
    /// When the name contains no time or is no pattern of `strftime`, or the folder does not exist.
    pub fn new(name: &Name) -> Result<Self> {
        let place = name.path().parent().unwrap_or(Path::new("")).to_owned();
        let file = name.path().file_name().context("a segment needs a file name")?;
        let pattern = NamePattern { place, file: file.into() };
        let value_at = |second| pattern.formatted(&Timestamp::from_second(second)?.to_zoned_datetime(TimeZone::UTC));
        let (first, way_out) = (value_at(0)?, "(as in cam-%Y%m%d-%H%M%S.mkv)");
        // The Unix time 1,795,780,799 differs from time 0 in each field, from year to second.
        let fault = |what: &str| FailureKind::Usage.error(format!("{name}: {what} {way_out}"));
        ensure!(first != value_at(1_795_780_799)?, fault("segments need the time in their names"));
        ensure!(!first.bytes().contains(&b'/'), fault("a time in the name must have no slash"));
        let folder = pattern.folder();
        ensure!(folder.is_dir(), no_folder(name, folder));
        Ok(pattern)
    }

    /// The folder of the segments.
    pub fn folder(&self) -> &Path {
        if self.place.as_os_str().is_empty() { Path::new(".") } else { &self.place }
    }

    /// The path of the segment with this file name.
    pub fn place_of(&self, file: &OsStr) -> PathBuf {
        self.place.join(file)
    }

    /// The whole pattern, with the folder, which identifies it.
    pub fn path(&self) -> PathBuf {
        self.place.join(&self.file)
    }

    fn formatted(&self, time: &ZonedDateTime) -> Result<Name> {
        let mut name = Vec::new();
        for chunk in self.file.bytes().utf8_chunks() {
            let text = strtime::format(chunk.valid(), time);
            name.extend(text.with_context(|| format!("{}: no pattern of a time", self.file))?.bytes());
            name.extend(chunk.invalid());
        }
        Ok(Name::from_bytes(name))
    }

    /// The name of a segment that begins at `begin`. A file may have this name already: local time repeats an hour when
    /// daylight saving time ends, and another program may have made a file of this name.
    pub fn first_name(&self, begin: &ZonedDateTime) -> Result<PathBuf> {
        Ok(self.place.join(self.formatted(begin)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sink::files::file_names::next_names;

    #[test]
    fn a_name_has_the_time_and_a_number_where_it_is_taken() {
        let pattern = NamePattern::new(&"/tmp/cam 1-%Y%m%d-%H%M%S.mkv".into()).expect("a pattern");
        let begin: ZonedDateTime = "2026-10-25T02:00:00+01:00[Europe/Berlin]".parse().expect("a time");
        let first = pattern.first_name(&begin).expect("a name");
        let names: Vec<PathBuf> = next_names(&first).take(2).collect();
        assert_eq!(names, ["/tmp/cam 1-20261025-020000.mkv", "/tmp/cam 1-20261025-020000.2.mkv"].map(PathBuf::from));
    }

    #[test]
    fn what_is_no_pattern_says_so() {
        for (name, said) in [
            ("/tmp/cam.mkv", "need the time in their names"),
            ("/tmp/cam-100%%.mkv", "need the time in their names"),
            ("/tmp/cam-%!.mkv", "no pattern of a time"),
            ("/tmp/cam-%D.mkv", "must have no slash"),
            ("/nowhere/cam-%s.mkv", "there is no folder /nowhere"),
        ] {
            let error = NamePattern::new(&name.into()).expect_err(name).to_string();
            assert!(error.contains(said), "{name}: {error}");
        }
    }
}

//! Which recordings are kept, and which are removed. The program knows its recordings by an extended attribute of the
//! file, which has the name that the program gave it. So it never removes another file, even one with the name of a
//! recording, nor a recording that the user has renamed to keep it.

use super::names::NamePattern;
use super::room::Room;
use crate::pipeline::FailureKind;
use anyhow::{Result, ensure};
use jiff::Timestamp;
use rustix::fs::XattrFlags;
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::fs::DirEntry;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The attribute of recordings.
const RECORDING: &str = "user.histeq-video.recording";

/// The longest value of that attribute, in bytes.
const LONGEST: usize = 4096;

/// How long and how many recordings are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    /// For this long after their end.
    pub time: Option<Duration>,
    /// As many as take this many bytes together.
    pub bytes: Option<u64>,
}

impl Retention {
    /// Whether recordings go at all.
    pub fn removes(self) -> bool {
        self != Retention::default()
    }
}

/// The value of the attribute.
#[derive(Deserialize, Serialize)]
struct Mark {
    /// The file's name when it was recorded.
    name: String,
    /// The last part of the pattern that it was named by.
    pattern: String,
    /// When it began.
    begin: Timestamp,
    /// The bytes that it has without a frame.
    header: u64,
}

/// A recording that is there.
pub struct Recorded {
    /// Its file.
    pub file: PathBuf,
    /// When it began.
    pub begin: Timestamp,
    /// Its size.
    pub bytes: u64,
}

/// The recordings of the pattern `name`, of this run and of earlier ones, in the order of their begins. Those of a folder
/// without attributes of files are not known.
pub fn recordings(name: &str) -> Vec<Recorded> {
    let Ok(pattern) = NamePattern::new(name) else { return Vec::new() };
    let Ok(entries) = std::fs::read_dir(pattern.folder()) else { return Vec::new() };
    let recorded = |entry: DirEntry| {
        let file = pattern.place_of(&entry.file_name());
        let Mark { begin, .. } = mark_of(&file, &pattern)?;
        Some(Recorded { bytes: entry.metadata().ok()?.len(), file, begin })
    };
    let mut found: Vec<Recorded> = entries.flatten().filter_map(recorded).collect();
    found.sort_by_key(|recorded| recorded.begin);
    found
}

/// A recording.
struct Recording {
    file: PathBuf,
    begin: Timestamp,
    bytes: u64,
}

/// The recordings of one pattern, in the order of their begins. The last one is being written.
pub(super) struct Recordings {
    pattern: NamePattern,
    rule: Retention,
    all: VecDeque<Recording>,
}

impl Recordings {
    /// Finds the recordings of earlier runs. Of one that was killed, the last may have no frame yet: it is removed, and
    /// room that is set aside behind another is given back.
    ///
    /// # Errors
    /// When the folder cannot be read, or its file system keeps no attributes.
    pub fn find(pattern: &NamePattern, rule: Retention) -> Result<Self> {
        if rule.removes() {
            check_attributes(pattern.folder())?;
        }
        let name = pattern.folder().display().to_string();
        let entries = std::fs::read_dir(pattern.folder()).map_err(|error| FailureKind::of_file(&name, &error))?;
        let mut found = Vec::new();
        for entry in entries.flatten() {
            let file = pattern.place_of(&entry.file_name());
            let Some(Mark { begin, header, .. }) = mark_of(&file, pattern) else { continue };
            let Ok(metadata) = entry.metadata() else { continue };
            // Another process may be writing it.
            if let Some(room) = Room::left(&file) {
                drop(room);
                if metadata.len() <= header && std::fs::remove_file(&file).is_ok() {
                    continue;
                }
            }
            found.push(Recording { bytes: metadata.len(), file, begin });
        }
        found.sort_by_key(|recording| recording.begin);
        Ok(Recordings { pattern: pattern.clone(), rule, all: found.into() })
    }

    /// Adds a file that is new, and has `header` bytes without a frame.
    pub fn begin(&mut self, file: &Path, begin: Timestamp, header: u64) {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mark = Mark { name, pattern: self.pattern.file.clone(), begin, header };
        // Without it, the file is kept.
        if let Ok(value) = serde_json::to_vec(&mark) {
            let _ = rustix::fs::lsetxattr(file, RECORDING, &value, XattrFlags::empty());
        }
        if self.rule.removes() {
            self.all.push_back(Recording { file: file.to_owned(), begin, bytes: 0 });
        }
    }

    /// Notes how large the file of a recording is now.
    pub fn set_bytes(&mut self, file: &Path, bytes: u64) {
        let recording = self.all.iter_mut().rev().find(|recording| recording.file == file);
        recording.into_iter().for_each(|recording| recording.bytes = bytes);
    }

    /// Removes those that are too old at the time `now`, and the oldest ones while all together are too large. Returns their
    /// names.
    pub fn remove_old(&mut self, now: Timestamp) -> Vec<PathBuf> {
        let mut removed = Vec::new();
        loop {
            // One ends when the next begins.
            let end = self.all.get(1).map(|next| next.begin);
            let age = end.and_then(|end| Duration::try_from(now.duration_since(end)).ok());
            let is_old = age.zip(self.rule.time).is_some_and(|(age, most)| age >= most);
            let all: u64 = self.all.iter().map(|recording| recording.bytes).sum();
            let is_too_much = self.rule.bytes.is_some_and(|most| all > most);
            if !(is_old || is_too_much) {
                return removed;
            }
            match self.remove_oldest() {
                Some(file) => removed.push(file),
                None => return removed,
            }
        }
    }

    /// Removes the oldest one, but never the last, which is being written. Returns its name; `None` if there is no other.
    pub fn remove_oldest(&mut self) -> Option<PathBuf> {
        while self.all.len() > 1 {
            let Recording { file, .. } = self.all.pop_front()?;
            // It may be another file by now.
            if mark_of(&file, &self.pattern).is_some() && std::fs::remove_file(&file).is_ok() {
                return Some(file);
            }
        }
        None
    }
}

/// The mark of the recording `file`; `None` if it is none of this pattern, or has another name by now.
fn mark_of(file: &Path, pattern: &NamePattern) -> Option<Mark> {
    let mut value = vec![0; LONGEST];
    let length = rustix::fs::lgetxattr(file, RECORDING, &mut value[..]).ok()?;
    let mark: Mark = serde_json::from_slice(&value[..length]).ok()?;
    let is_this = file.file_name().is_some_and(|name| name == mark.name.as_str()) && mark.pattern == pattern.file;
    is_this.then_some(mark)
}

/// Checks that files in this folder can have attributes.
fn check_attributes(folder: &Path) -> Result<()> {
    let Ok(file) = tempfile::tempfile_in(folder) else { return Ok(()) };
    let set = rustix::fs::fsetxattr(&file, RECORDING, b"", XattrFlags::empty());
    let is_kept = !matches!(set, Err(Errno::OPNOTSUPP | Errno::PERM));
    ensure!(
        is_kept,
        "{}: its file system keeps no attributes, by which recordings are told from other files (leave out --keep and \
         --keep-size, or record to another disk)",
        folder.display()
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).expect("a time")
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).expect("the folder").flatten();
        let mut names: Vec<String> = entries.map(|entry| entry.file_name().into_string().expect("a name")).collect();
        names.sort();
        names
    }

    #[test]
    fn the_oldest_recordings_go_and_no_other_file_ever_does() {
        let folder = tempfile::tempdir().expect("a folder");
        let pattern =
            |text: &str| NamePattern::new(folder.path().join(text).to_str().expect("UTF-8")).expect("a pattern");
        let ours = pattern("a-%s.mkv");
        let record = |pattern: &NamePattern, second: i64| {
            let mut recordings = Recordings::find(pattern, Retention::default()).expect("the folder");
            let begin = at(second).to_zoned_datetime(jiff::tz::TimeZone::UTC);
            let file = pattern.names(&begin).expect("names").next().expect("a name");
            std::fs::write(&file, [0; 100]).expect("a file");
            recordings.begin(&file, at(second), 0);
            file
        };
        let files: Vec<PathBuf> = (0..6).map(|number| record(&ours, number * 100)).collect();
        // Not to be removed: one of another pattern, a file of another program, a recording with a new name, a file that
        // replaced a recording, and a link to one.
        record(&pattern("b-%s.mkv"), 0);
        std::fs::write(folder.path().join("a--100.mkv"), "x").expect("a file");
        std::fs::rename(&files[1], folder.path().join("evidence.mkv")).expect("a name");
        std::fs::remove_file(&files[2]).expect("removed");
        std::fs::write(&files[2], "not a recording").expect("a file");
        std::os::unix::fs::symlink(&files[5], folder.path().join("a-7.mkv")).expect("a link");

        let rule = Retention { time: Some(Duration::from_secs(150)), bytes: None };
        let mut after_restart = Recordings::find(&ours, rule).expect("the folder");
        assert!(after_restart.remove_old(at(449)).is_empty());
        assert_eq!(after_restart.remove_old(at(450)), [files[0].clone()]);
        let left =
            ["a--100.mkv", "a-200.mkv", "a-300.mkv", "a-400.mkv", "a-500.mkv", "a-7.mkv", "b-0.mkv", "evidence.mkv"];
        assert_eq!(names(folder.path()), left);

        let rule = Retention { time: None, bytes: Some(250) };
        let mut by_size = Recordings::find(&ours, rule).expect("the folder");
        assert_eq!(by_size.remove_old(at(0)), [files[3].clone()]);
        by_size.set_bytes(&files[5], 150);
        assert!(by_size.remove_old(at(0)).is_empty(), "250 bytes are kept");
        by_size.set_bytes(&files[4], 101);
        assert_eq!(by_size.remove_old(at(0)), [files[4].clone()]);
        by_size.set_bytes(&files[5], 1000);
        assert!(by_size.remove_old(at(0)).is_empty(), "the one that is being written stays");
        assert!(files[5].exists());
    }

    #[test]
    fn a_recording_without_a_frame_is_removed_unless_another_process_is_writing_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let pattern = NamePattern::new(folder.path().join("a-%s.mkv").to_str().expect("UTF-8")).expect("a pattern");
        let file = folder.path().join("a-0.mkv");
        std::fs::write(&file, [0; 100]).expect("a file");
        let room = Room::of(&file, 0.0).expect("a file");
        let find = || Recordings::find(&pattern, Retention::default()).expect("the folder");
        find().begin(&file, at(0), 100);
        find();
        assert!(file.exists(), "it is being written");
        drop(room);
        find();
        assert!(!file.exists());
    }
}

//! Which recordings are kept, and which are removed. The program recognizes its recordings by an extended attribute,
//! which contains the original file name. So it never removes another file, even one with the name of a recording, nor
//! a recording that the user has renamed to keep it.
//!
//! The age of a recording of this run is measured by the monotonic clock.

use super::names::NamePattern;
use super::room::DiskRoom;
use crate::pipeline::FailureKind;
use crate::sys::files::Name;
use crate::sys::wall_time;
use anyhow::{Result, ensure};
use jiff::Timestamp;
use rustix::fs::XattrFlags;
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};
use std::fs::DirEntry;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The extended attribute that marks a file as a recording.
const RECORDING: &str = "user.histeq-video.recording";

/// The longest value of that attribute, in bytes.
const MAX_VALUE: usize = 4096;

/// The time between two checks for recordings that have to be removed.
pub(super) const LOOK: Duration = Duration::from_secs(1);

/// For this long after a start, no recording of an earlier run is removed for its age: the clock may still be wrong.
const GRACE: Duration = Duration::from_secs(60 * 60);

/// How long and how many recordings are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    /// How long a recording is kept after its end.
    pub time: Option<Duration>,
    /// The largest total size of the recordings, in bytes.
    pub bytes: Option<u64>,
    /// Whether `bytes` is shared by all patterns on the [`Shelf`] for which this is set.
    pub is_shared: bool,
}

impl Retention {
    /// Whether recordings are removed at all.
    pub fn removes(self) -> bool {
        self.time.is_some() || self.bytes.is_some()
    }
}

/// The value of the attribute [`RECORDING`], as JSON.
#[derive(Deserialize, Serialize)]
struct Mark {
    /// The file's name when it was recorded.
    name: Name,
    /// The name pattern without its folder.
    pattern: Name,
    /// When the recording began.
    begin: Timestamp,
    /// Size of the file before the first frame, in bytes.
    header: u64,
}

/// An existing recording.
pub struct Recorded {
    /// The path of the file.
    pub file: PathBuf,
    /// When the recording began.
    pub begin: Timestamp,
    /// Size of the file, in bytes.
    pub bytes: u64,
}

/// The recordings of the pattern `name`, from this run and earlier ones, in the order in which they began. Empty on
/// file systems without extended attributes.
pub fn recordings(name: &Name) -> Vec<Recorded> {
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

#[derive(Debug)]
struct Recording {
    file: PathBuf,
    begin: Timestamp,
    /// Start time by the monotonic clock, for a recording of this run.
    begun: Option<Instant>,
    bytes: u64,
    /// Whether the file is still being written.
    is_open: bool,
}

/// The time by the system clock, which can be set, and by the monotonic clock.
pub(super) type Now = (Timestamp, Instant);

/// The recordings of one pattern, in the order in which they began.
#[derive(Debug)]
struct List {
    pattern: NamePattern,
    rule: Retention,
    all: VecDeque<Recording>,
    /// When the recordings of earlier runs were found.
    found: Now,
}

impl List {
    /// Finds all recordings of `pattern` in its folder. If a run was killed, its last recording may have no frame: it
    /// is removed. Disk space that is still reserved after the end of another recording is released.
    fn read(pattern: &NamePattern, rule: Retention, now: Now) -> std::io::Result<Self> {
        let mut all = Vec::new();
        for entry in std::fs::read_dir(pattern.folder())?.flatten() {
            let file = pattern.place_of(&entry.file_name());
            let Some(Mark { begin, header, .. }) = mark_of(&file, pattern) else { continue };
            let Ok(metadata) = entry.metadata() else { continue };
            // `None`: another process is writing the file.
            if let Some(room) = DiskRoom::left(&file) {
                drop(room);
                if metadata.len() <= header && std::fs::remove_file(&file).is_ok() {
                    continue;
                }
            }
            all.push(Recording { bytes: metadata.len(), file, begin, begun: None, is_open: false });
        }
        all.sort_by_key(|recording| recording.begin);
        Ok(List { pattern: pattern.clone(), rule, all: all.into(), found: now })
    }

    /// Copies the monotonic start times of this run's recordings from `before`.
    fn after(mut self, before: &List) -> Self {
        for recording in &mut self.all {
            let known = before.all.iter().find(|known| known.file == recording.file && known.begin == recording.begin);
            recording.begun = known.and_then(|known| known.begun);
        }
        // Sorted by the monotonic clock, so that setting the system clock does not change the order.
        self.all.make_contiguous().sort_by_key(|recording| recording.begun);
        List { found: before.found, ..self }
    }

    /// The age of the oldest recording since its end, which is the start of the next one. `None` if the age may be
    /// wrong.
    fn age(&self, (wall, now): Now) -> Option<Duration> {
        let next = self.all.get(1)?;
        if let Some(begun) = next.begun {
            return Some(now.saturating_duration_since(begun));
        }
        // The smaller age counts. So no recording gets old by setting the clock ahead; setting it back makes recordings
        // younger.
        let since = |wall: Timestamp| Duration::try_from(wall.duration_since(next.begin)).unwrap_or_default();
        let seen = now.saturating_duration_since(self.found.1);
        let grace = self.rule.time.map_or(GRACE, |most| most.min(GRACE));
        (seen >= grace).then(|| since(wall).min(since(self.found.0) + seen))
    }

    fn bytes(&self) -> u64 {
        self.all.iter().map(|recording| recording.bytes).sum()
    }

    /// Whether the oldest recording may be removed: it must not be the newest one, nor be open for writing.
    fn has_old(&self) -> bool {
        self.all.len() > 1 && !self.all[0].is_open
    }

    /// Removes the oldest recording that may be removed. Returns its path; `None` if there is none.
    fn remove_oldest(&mut self) -> Option<PathBuf> {
        while self.has_old() {
            let Recording { file, .. } = self.all.pop_front()?;
            // Another file may have this name by now.
            if mark_of(&file, &self.pattern).is_some() && std::fs::remove_file(&file).is_ok() {
                return Some(file);
            }
        }
        None
    }

    /// Removes recordings that are too old, and the oldest ones while the total is too large.
    fn remove_old(&mut self, now: Now) -> Vec<PathBuf> {
        let mut removed = Vec::new();
        loop {
            let is_old = self.age(now).zip(self.rule.time).is_some_and(|(age, most)| age >= most);
            let is_too_much = !self.rule.is_shared && self.rule.bytes.is_some_and(|most| self.bytes() > most);
            match (is_old || is_too_much).then(|| self.remove_oldest()).flatten() {
                Some(file) => removed.push(file),
                None => return removed,
            }
        }
    }
}

/// The recordings of a run, by their patterns. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Shelf(Arc<Mutex<Lists>>);

#[derive(Debug, Default)]
struct Lists {
    by_pattern: BTreeMap<PathBuf, List>,
    next_look: Option<Instant>,
}

impl Shelf {
    /// From now on, the recordings of these patterns are subject to these rules, even if no recorder writes them.
    /// Recordings of other patterns are no longer removed.
    pub fn hold<'a>(&self, rules: impl Iterator<Item = (&'a Name, Retention)>) {
        let (mut lists, now) = (self.lock(), (wall_time(), Instant::now()));
        let mut before = std::mem::take(&mut lists.by_pattern);
        for (name, rule) in rules.filter(|(_, rule)| rule.removes()) {
            let Ok(pattern) = NamePattern::new(name) else { continue };
            let list = match before.remove(&pattern.path()) {
                Some(list) => Ok(List { rule, ..list }),
                None => List::read(&pattern, rule, now),
            };
            // A folder that cannot be read is ignored here: recording into it reports the error.
            list.into_iter().for_each(|list| drop(lists.by_pattern.insert(pattern.path(), list)));
        }
    }

    /// Removes the recordings that the rules do not keep, at most once a second. Returns their paths.
    pub fn tick(&self) -> Vec<PathBuf> {
        let (mut lists, now) = (self.lock(), Instant::now());
        if lists.next_look.is_some_and(|next| now < next) {
            return Vec::new();
        }
        lists.next_look = Some(now + LOOK);
        drop(lists);
        self.remove_old((wall_time(), now))
    }

    /// Removes the recordings that the rules do not keep. Returns their paths.
    fn remove_old(&self, now: Now) -> Vec<PathBuf> {
        let lists = &mut self.lock().by_pattern;
        let mut removed: Vec<PathBuf> = lists.values_mut().flat_map(|list| list.remove_old(now)).collect();
        let is_shared = |list: &List| list.rule.is_shared && list.rule.bytes.is_some();
        loop {
            let shared = || lists.values().filter(|list| is_shared(list));
            let most = shared().filter_map(|list| list.rule.bytes).min();
            if most.is_none_or(|most| shared().map(List::bytes).sum::<u64>() <= most) {
                return removed;
            }
            let with_old = lists.values_mut().filter(|list| is_shared(list) && list.has_old());
            let Some(oldest) = with_old.min_by_key(|list| list.all[0].begin) else { return removed };
            removed.extend(oldest.remove_oldest());
        }
    }

    fn lock(&self) -> MutexGuard<'_, Lists> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The recordings of one recorder.
pub(super) struct Recordings {
    pattern: NamePattern,
    shelf: Shelf,
}

impl Recordings {
    /// Finds the recordings of earlier runs.
    ///
    /// # Errors
    /// When the folder cannot be read, or the file system lacks the extended attributes that removal needs.
    pub fn find(pattern: &NamePattern, rule: Retention, shelf: Shelf, now: Now) -> Result<Self> {
        if rule.removes() {
            check_attributes(pattern.folder())?;
        }
        let name = pattern.folder().display().to_string();
        let list = List::read(pattern, rule, now).map_err(|error| FailureKind::file_error(&name, &error))?;
        let lists = &mut shelf.lock().by_pattern;
        let list = match lists.remove(&pattern.path()) {
            Some(before) => list.after(&before),
            None => list,
        };
        if rule.removes() {
            lists.insert(pattern.path(), list);
        }
        Ok(Recordings { pattern: pattern.clone(), shelf: shelf.clone() })
    }

    /// Registers a new recording, which has `header` bytes before its first frame.
    pub fn begin(&self, file: &Path, (begin, now): Now, header: u64) {
        let name = file.file_name().unwrap_or_default().into();
        let mark = Mark { name, pattern: self.pattern.file.clone(), begin, header };
        // Without the attribute, the file is never removed.
        if let Ok(value) = serde_json::to_vec(&mark) {
            let _ = rustix::fs::lsetxattr(file, RECORDING, &value, XattrFlags::empty());
        }
        let recording = Recording { file: file.to_owned(), begin, begun: Some(now), bytes: 0, is_open: true };
        self.change(|list| list.all.push_back(recording));
    }

    /// Updates the size of a recording, and whether it is still being written.
    pub fn set_bytes(&self, file: &Path, bytes: u64, is_open: bool) {
        self.change(|list| {
            let recording = list.all.iter_mut().rev().find(|recording| recording.file == file);
            recording.into_iter().for_each(|recording| (recording.bytes, recording.is_open) = (bytes, is_open));
        });
    }

    /// Removes recordings that are too old at the time `now`, and the oldest ones while the total size is too large.
    /// Returns their paths.
    pub fn remove_old(&self, now: Now) -> Vec<PathBuf> {
        self.shelf.remove_old(now)
    }

    /// Removes the oldest recording, but never the newest. Returns its path; `None` if there is no other.
    pub fn remove_oldest(&self) -> Option<PathBuf> {
        self.change(List::remove_oldest).flatten()
    }

    fn change<T>(&self, change: impl FnOnce(&mut List) -> T) -> Option<T> {
        self.shelf.lock().by_pattern.get_mut(&self.pattern.path()).map(change)
    }
}

/// The mark of the recording `file`; `None` if it does not belong to this pattern, or has been renamed.
fn mark_of(file: &Path, pattern: &NamePattern) -> Option<Mark> {
    let mut value = vec![0; MAX_VALUE];
    let length = rustix::fs::lgetxattr(file, RECORDING, &mut value[..]).ok()?;
    let mark: Mark = serde_json::from_slice(&value[..length]).ok()?;
    let is_this = file.file_name().is_some_and(|name| mark.name == *name) && mark.pattern == pattern.file;
    is_this.then_some(mark)
}

/// Checks that the file system of this folder supports extended attributes.
fn check_attributes(folder: &Path) -> Result<()> {
    let Ok(file) = tempfile::tempfile_in(folder) else { return Ok(()) };
    let set = rustix::fs::fsetxattr(&file, RECORDING, b"", XattrFlags::empty());
    let is_kept = !matches!(set, Err(Errno::OPNOTSUPP | Errno::PERM));
    ensure!(
        is_kept,
        "{}: its file system keeps no attributes, by which recordings are told from other files (leave out --keep and \
         --keep-size, or record to another disk)",
        Name::from(folder)
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: u64 = 24 * 60 * 60;

    fn stamp(second: i64) -> Timestamp {
        Timestamp::from_second(second).expect("a time")
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).expect("the folder").flatten();
        let mut names: Vec<String> = entries.map(|entry| entry.file_name().into_string().expect("a name")).collect();
        names.sort();
        names
    }

    fn pattern(folder: &Path, file: &str) -> NamePattern {
        NamePattern::new(&folder.join(file).into()).expect("a pattern")
    }

    /// Creates a file of 100 bytes as a recording that begins now.
    fn record(pattern: &NamePattern, recordings: &Recordings, (wall, now): Now) -> PathBuf {
        let begin = wall.to_zoned_datetime(jiff::tz::TimeZone::UTC);
        let file = pattern.first_name(&begin).expect("a name");
        std::fs::write(&file, [0; 100]).expect("a file");
        recordings.begin(&file, (wall, now), 0);
        recordings.set_bytes(&file, 100, false);
        file
    }

    fn find(pattern: &NamePattern, rule: Retention, now: Now) -> Recordings {
        Recordings::find(pattern, rule, Shelf::default(), now).expect("the folder")
    }

    /// Six recordings of an earlier run, 100 seconds apart, starting in 1970.
    fn earlier(pattern: &NamePattern) -> Vec<PathBuf> {
        let recordings = find(pattern, Retention::default(), (stamp(0), Instant::now()));
        (0..6).map(|number| record(pattern, &recordings, (stamp(number * 100), Instant::now()))).collect()
    }

    #[test]
    fn the_oldest_recordings_go_and_no_other_file_ever_does() {
        let folder = tempfile::tempdir().expect("a folder");
        let ours = pattern(folder.path(), "a-%s.mkv");
        let files = earlier(&ours);
        // Files that must not be removed: a recording of another pattern, a file of another program, a renamed
        // recording, a file that replaced a recording, and a link to a recording.
        let rest = pattern(folder.path(), "b-%s.mkv");
        record(&rest, &find(&rest, Retention::default(), (stamp(0), Instant::now())), (stamp(0), Instant::now()));
        std::fs::write(folder.path().join("a--100.mkv"), "x").expect("a file");
        std::fs::rename(&files[1], folder.path().join("evidence.mkv")).expect("a name");
        std::fs::remove_file(&files[2]).expect("removed");
        std::fs::write(&files[2], "not a recording").expect("a file");
        std::os::unix::fs::symlink(&files[5], folder.path().join("a-7.mkv")).expect("a link");

        let rule = Retention { time: Some(Duration::from_secs(150)), ..Retention::default() };
        let begin = Instant::now();
        let later = |seconds: u64| (stamp(300 + seconds as i64), begin + Duration::from_secs(seconds));
        let after_restart = find(&ours, rule, later(0));
        assert!(after_restart.remove_old(later(149)).is_empty(), "the oldest has ended 149 seconds ago");
        assert_eq!(after_restart.remove_old(later(150)), [files[0].clone()]);
        let left =
            ["a--100.mkv", "a-200.mkv", "a-300.mkv", "a-400.mkv", "a-500.mkv", "a-7.mkv", "b-0.mkv", "evidence.mkv"];
        assert_eq!(names(folder.path()), left);

        let rule = Retention { bytes: Some(250), ..Retention::default() };
        let by_size = find(&ours, rule, later(0));
        assert_eq!(by_size.remove_old(later(0)), [files[3].clone()]);
        by_size.set_bytes(&files[5], 150, true);
        assert!(by_size.remove_old(later(0)).is_empty(), "250 bytes are kept");
        by_size.set_bytes(&files[4], 101, false);
        assert_eq!(by_size.remove_old(later(0)), [files[4].clone()]);
        by_size.set_bytes(&files[5], 1000, false);
        assert!(by_size.remove_old(later(0)).is_empty(), "the newest one stays");
        assert!(files[5].exists());
    }

    #[test]
    fn patterns_that_share_bytes_lose_the_oldest_of_all_and_none_its_newest() {
        let folder = tempfile::tempdir().expect("a folder");
        let (shelf, now) = (Shelf::default(), Instant::now());
        let rule = Retention { bytes: Some(450), is_shared: true, ..Retention::default() };
        let [a, b] = ["a-%s.mkv", "b-%s.mkv"].map(|file| pattern(folder.path(), file));
        let find = |pattern| Recordings::find(pattern, rule, shelf.clone(), (stamp(0), now)).expect("the folder");
        let (of_a, of_b) = (find(&a), find(&b));
        for second in [1, 4, 5] {
            record(&a, &of_a, (stamp(second), now));
        }
        for second in [2, 3, 6] {
            record(&b, &of_b, (stamp(second), now));
        }
        // While audio is still written to a recording, it is not removed.
        of_b.set_bytes(&folder.path().join("b-2.mkv"), 100, true);
        assert_eq!(of_a.remove_old((stamp(7), now)), ["a-1.mkv", "a-4.mkv"].map(|file| folder.path().join(file)));
        of_b.set_bytes(&folder.path().join("b-2.mkv"), 100, false);
        of_b.set_bytes(&folder.path().join("b-6.mkv"), 10_000, true);
        of_a.remove_old((stamp(7), now));
        assert_eq!(names(folder.path()), ["a-5.mkv", "b-6.mkv"]);
        // A pattern without a rule does not count towards the shared limit.
        of_a.set_bytes(&folder.path().join("a-5.mkv"), 100, false);
        record(&a, &of_a, (stamp(8), now));
        shelf.hold([(&a.path().into(), rule)].into_iter());
        assert!(of_a.remove_old((stamp(9), now)).is_empty(), "200 bytes are kept");
    }

    #[test]
    fn a_clock_that_is_set_ahead_makes_no_recording_old() {
        let folder = tempfile::tempdir().expect("a folder");
        let ours = pattern(folder.path(), "a-%s.mkv");
        let files = earlier(&ours);
        let week = Duration::from_secs(7 * DAY);
        let rule = Retention { time: Some(week), ..Retention::default() };
        let begin = Instant::now();
        let recordings = find(&ours, rule, (stamp(600), begin));
        let ours_now = [0, 100, 200].map(|second| {
            record(&ours, &recordings, (stamp(600 + second as i64), begin + Duration::from_secs(second)))
        });
        // The system clock is about ten years ahead.
        let wrong = |hours: u64| (stamp(315_000_000), begin + Duration::from_secs(hours * 3600));
        assert!(recordings.remove_old(wrong(1)).is_empty());
        assert!(recordings.remove_old(wrong(24)).is_empty());
        // The recorder of the camera restarts.
        let again = Recordings::find(&ours, rule, recordings.shelf.clone(), wrong(25)).expect("the folder");
        assert!(again.remove_old(wrong(48)).is_empty());
        record(&ours, &again, wrong(48));
        // Recordings that are a week old by the monotonic clock are removed nevertheless.
        assert_eq!(again.remove_old((stamp(315_000_000), begin + week - Duration::from_secs(100))), files[..5]);
        let removed = again.remove_old((stamp(315_000_000), begin + week + Duration::from_secs(100)));
        assert_eq!(removed, [&files[5..], &ours_now[..1]].concat());

        // A new run under a wrong clock removes nothing until there was time to set the clock.
        let start = find(&ours, rule, (stamp(630_000_000), begin));
        assert!(start.remove_old((stamp(630_003_000), begin + Duration::from_secs(3000))).is_empty());
        assert!(start.remove_old((stamp(1000), begin + Duration::from_secs(3700))).is_empty(), "it was set");
        assert_eq!(start.remove_old((stamp(630_003_700), begin + Duration::from_secs(3700))), ours_now[1..]);
    }

    #[test]
    fn a_recording_without_a_frame_is_removed_unless_another_process_is_writing_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let pattern = pattern(folder.path(), "a-%s.mkv");
        let file = folder.path().join("a-0.mkv");
        std::fs::write(&file, [0; 100]).expect("a file");
        let room = DiskRoom::open(&file, 0.0).expect("a file");
        let now = (stamp(0), Instant::now());
        let find = || find(&pattern, Retention::default(), now);
        find().begin(&file, now, 100);
        find();
        assert!(file.exists(), "it is being written");
        drop(room);
        find();
        assert!(!file.exists());
    }
}

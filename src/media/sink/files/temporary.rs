//! Temporary files for incomplete output, which other users cannot find by name: files without a name if the system
//! supports that, else with a hidden, random name in the output folder.

use super::file_names::shortened;
use super::sources::mark;
use crate::sys::files::{Name, by_descriptor, folder_of, is_same};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, RenameFlags, linkat, rename, renameat_with};
use rustix::io::Errno;
use std::fs::{File, Permissions, remove_file, symlink_metadata};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::Builder;

/// A temporary file, open for reading and writing. It is removed when dropped, unless it has got its final name.
#[derive(Debug)]
pub(crate) struct Temporary {
    pub(crate) file: File,
    /// The path by which FFmpeg opens the file, and from which it is linked to a name.
    pub(crate) location: PathBuf,
    /// A random name in the output folder, which the file has or may get.
    hidden: PathBuf,
    names: Names,
}

/// Which names a temporary file has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Names {
    /// No name.
    Nothing,
    /// The hidden name.
    Hidden,
    /// The final name, which did not exist before.
    New,
    /// The final name. The replaced file has the hidden name until this is dropped.
    Exchanged,
    /// The final name. The replaced file no longer exists.
    Replaced,
}

/// The hidden name of a temporary file, for removal on an abort.
#[derive(Clone, Debug)]
pub struct Leftover(PathBuf, Arc<File>);

impl Leftover {
    /// Removes the file, if the hidden name still leads to it.
    pub fn remove(&self) {
        if is_same(symlink_metadata(&self.0), &self.1) {
            // If this fails, the hidden name still marks the file as temporary.
            let _ = remove_file(&self.0);
        }
    }
}

impl Temporary {
    /// Creates a temporary file in the folder of `place`, its final name. If `place` exists, only the owner may open
    /// the new file until it gets the mode of the old one.
    ///
    /// # Errors
    /// When no file can be created in the folder.
    pub(crate) fn beside(place: &Path) -> io::Result<Self> {
        Temporary::create(place, nameless)
    }

    /// Creates a file by `nameless`; if that returns `None`, under the hidden name.
    fn create(place: &Path, nameless: impl Fn(&Path, u32) -> Option<File>) -> io::Result<Self> {
        let is_file = symlink_metadata(place).is_ok_and(|there| there.is_file());
        let (folder, mode) = (folder_of(place), if is_file { 0o600 } else { 0o666 });
        let mut options = File::options();
        options.read(true).write(true).create_new(true).mode(mode);
        let make = |hidden: &Path| match nameless(folder, mode) {
            Some(file) => Ok((file, Names::Nothing)),
            None => options.open(hidden).map(|file| (file, Names::Hidden)),
        };
        let [stem, extension] = shortened(place, 100);
        let prefix = Name::from_parts([&".", &stem, &"."]);
        let made = Builder::new().prefix(&prefix).suffix(&extension).disable_cleanup(true).make_in(folder, make)?;
        let ((file, names), hidden) = made.into_parts();
        mark(&file);
        let location = by_descriptor(&file).unwrap_or_else(|| hidden.to_path_buf());
        Ok(Temporary { file, location, hidden: hidden.to_path_buf(), names })
    }

    /// The hidden name, if the file has it, for removal on an abort.
    pub(crate) fn leftover(&self) -> Option<Leftover> {
        let hidden = (self.names == Names::Hidden).then(|| self.hidden.clone())?;
        Some(Leftover(hidden, self.file.try_clone().ok()?.into()))
    }

    /// Checks that the hidden name, if the file has it, still leads to the file.
    ///
    /// # Errors
    /// When another file has the hidden name.
    pub(crate) fn check(&self) -> io::Result<()> {
        match self.names == Names::Hidden && !is_same(symlink_metadata(&self.hidden), &self.file) {
            true => Err(io::Error::other(format!("another program has replaced {}", Name::from(&self.hidden)))),
            false => Ok(()),
        }
    }

    /// Sets owner and mode to those of the file `place`, as far as permitted, if that file will be replaced. If the
    /// group cannot be set, the group gets no more rights than all users.
    pub(crate) fn resemble(&self, place: &Path, replace: bool) {
        let Some(old) = symlink_metadata(place).ok().filter(|old| replace && old.is_file()) else { return };
        let mut mode = old.mode() & 0o777;
        let give = |user| fchown(&self.file, user, Some(old.gid()));
        // Only root can change the owner; other users can still set a group that they belong to.
        if give(Some(old.uid())).or_else(|_| give(None)).is_err() {
            mode &= 0o707 | (mode & 0o007) << 3;
        }
        // File systems without modes refuse this; their files all have the same mode.
        let _ = self.file.set_permissions(Permissions::from_mode(mode));
    }

    /// Renames the file to `place`; an existing file there is replaced only if `replace` is set.
    ///
    /// # Errors
    /// When the system refuses; then nothing has changed.
    pub(crate) fn take(&mut self, place: &Path, replace: bool) -> io::Result<()> {
        self.prepare(replace)?;
        self.place(place, replace)
    }

    /// The first of two steps of [`take`](Self::take). To rename several files together, do this step for all of them
    /// first: it does what can fail if no file can be created in the folder. Only renaming can replace a file, so a
    /// file without a name gets the hidden name. From here to the end, no memory is allocated unless something fails or
    /// paths are long: running out of memory would end the program and leave hidden files.
    ///
    /// # Errors
    /// When another file has the hidden name, or the system refuses; then nothing has changed.
    pub(crate) fn prepare(&mut self, replace: bool) -> io::Result<()> {
        self.check()?;
        if replace && self.names == Names::Nothing {
            linkat(CWD, &self.location, CWD, &self.hidden, AtFlags::SYMLINK_FOLLOW)?;
            self.names = Names::Hidden;
        }
        Ok(())
    }

    /// The second step: renames the file to its final name.
    ///
    /// # Errors
    /// When the system refuses; then nothing has changed.
    pub(crate) fn place(&mut self, place: &Path, replace: bool) -> io::Result<()> {
        let exchanged = if replace { exchange(&self.hidden, place) } else { Err(Errno::NOENT) };
        self.names = match exchanged {
            Ok(()) => Names::Exchanged,
            Err(Errno::NOENT) => {
                match self.names {
                    Names::Hidden => rename_new(&self.hidden, place)?,
                    _ => linkat(CWD, &self.location, CWD, place, AtFlags::SYMLINK_FOLLOW)?,
                }
                Names::New
            }
            // The file system cannot exchange names, or the sandbox forbids it because `place` is not a file.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP | Errno::ACCESS) => {
                rename(&self.hidden, place)?;
                Names::Replaced
            }
            Err(error) => return Err(error.into()),
        };
        Ok(())
    }

    /// Gives the name `place` back to the replaced file, if possible. Returns whether this file can get another name:
    /// not if the replaced file no longer exists or has not got its name back.
    pub(crate) fn undo(&mut self, place: &Path) -> bool {
        if self.names == Names::Exchanged && exchange(&self.hidden, place).is_ok() {
            self.names = Names::Hidden;
        }
        !matches!(self.names, Names::Exchanged | Names::Replaced)
    }

    /// Whether the file has its final name, and no file had it before.
    pub(crate) fn is_new(&self) -> bool {
        self.names == Names::New
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // If another program has put a file at this path, that is not removed.
        if self.names == Names::Exchanged || self.names == Names::Hidden && self.check().is_ok() {
            let _ = remove_file(&self.hidden);
        }
    }
}

/// Creates a file without a name, which the system deletes with the process; `None` if the file system does not support
/// that.
fn nameless(folder: &Path, mode: u32) -> Option<File> {
    let flags = OFlags::RDWR | OFlags::TMPFILE | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(folder, flags, Mode::from_raw_mode(mode)).ok()?);
    // The file is opened and linked through /proc, so check that this works.
    is_same(std::fs::metadata(by_descriptor(&file)?), &file).then_some(file)
}

/// Exchanges the names of two files.
fn exchange(hidden: &Path, place: &Path) -> Result<(), Errno> {
    let exchange = || renameat_with(CWD, hidden, CWD, place, RenameFlags::EXCHANGE);
    exchange()?;
    // If `place` has become a folder in the meantime, the exchange is undone.
    let is_folder = symlink_metadata(hidden).is_ok_and(|there| there.is_dir());
    if is_folder { exchange().and(Err(Errno::ISDIR)) } else { Ok(()) }
}

/// Renames the file without replacing another one.
fn rename_new(hidden: &Path, place: &Path) -> io::Result<()> {
    let mut named = renameat_with(CWD, hidden, CWD, place, RenameFlags::NOREPLACE);
    // NFS supports hard links, but not renaming with `NOREPLACE`.
    if let Err(Errno::INVAL | Errno::NOSYS) = named {
        named = linkat(CWD, hidden, CWD, place, AtFlags::empty()).map(|()| drop(remove_file(hidden)));
    }
    match named {
        Ok(()) | Err(Errno::EXIST) => Ok(named?),
        Err(_) => claim(hidden, place),
    }
}

/// Renames the file without replacing another one, if the file system supports neither `NOREPLACE` nor hard links:
/// creates an empty file first to reserve the name.
fn claim(hidden: &Path, place: &Path) -> io::Result<()> {
    File::create_new(place)?;
    Ok(rename(hidden, place).inspect_err(|_| drop(remove_file(place)))?)
}

/// Syncs the file to the disk. Does nothing for devices, which cannot be synced.
pub(crate) fn sync(file: &File) -> io::Result<()> {
    file.sync_all().or_else(|error| match error.kind() {
        io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported => Ok(()),
        _ => Err(error),
    })
}

/// Syncs the folder of a file, and so the file's name, to the disk.
pub(crate) fn sync_folder(place: &Path) -> io::Result<()> {
    // A writable folder need not be readable; then it is not synced.
    File::open(folder_of(place)).map_or(Ok(()), |folder| sync(&folder))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// A temporary file as on systems without nameless files.
    fn named(place: &Path, bytes: &[u8]) -> (Temporary, PathBuf) {
        let temporary = Temporary::create(place, |_, _| None).expect("a file");
        (&temporary.file).write_all(bytes).expect("a disk");
        let path = temporary.hidden.clone();
        (temporary, path)
    }

    fn names(folder: &Path) -> Vec<String> {
        let name =
            |entry: io::Result<std::fs::DirEntry>| entry.expect("an entry").file_name().into_string().expect("text");
        let mut names: Vec<String> = std::fs::read_dir(folder).expect("a folder").map(name).collect();
        names.sort();
        names
    }

    #[test]
    fn a_named_file_is_removed_unless_another_file_has_taken_its_place() {
        let folder = tempfile::tempdir().expect("a folder");
        let (temporary, path) = named(&folder.path().join("out.mkv"), b"ours");
        let leftover = temporary.leftover().expect("a name");
        drop(temporary);
        assert_eq!(names(folder.path()), [""; 0]);
        std::fs::write(&path, "theirs").expect("a disk");
        leftover.remove();
        assert_eq!(std::fs::read(&path).expect("their file"), b"theirs");
        let (mut temporary, path) = named(&folder.path().join("out.mkv"), b"ours");
        std::fs::rename(&path, folder.path().join("moved")).expect("a folder");
        std::fs::write(&path, "theirs").expect("a disk");
        let error = temporary.take(&folder.path().join("out.mkv"), true).expect_err("their file");
        assert!(error.to_string().contains("another program has replaced"), "{error}");
        drop(temporary);
        assert_eq!(std::fs::read(&path).expect("their file"), b"theirs");
        assert!(!folder.path().join("out.mkv").exists());
    }

    #[test]
    fn an_existing_file_is_replaced_only_on_request() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().join("out.mkv");
        for temporary in [|place: &Path| Temporary::create(place, |_, _| None), Temporary::beside] {
            std::fs::write(&place, "precious").expect("a disk");
            let mut temporary = temporary(&place).expect("a file");
            (&temporary.file).write_all(b"new").expect("a disk");
            let error = temporary.take(&place, false).expect_err("it is there");
            assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
            assert_eq!(std::fs::read(&place).expect("a file"), b"precious");
            temporary.take(&place, true).expect("a new name");
            drop(temporary);
            assert_eq!(std::fs::read(&place).expect("a file"), b"new");
            assert_eq!(names(folder.path()), ["out.mkv"]);
        }
    }

    #[test]
    fn a_file_system_that_knows_no_other_way_has_names_taken_by_an_empty_file_first() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().join("out.mkv");
        for there in [true, false] {
            let (_temporary, path) = named(&place, b"new");
            if there {
                std::fs::write(&place, "precious").expect("a disk");
                let error = claim(&path, &place).expect_err("it is there");
                assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
                assert_eq!(std::fs::read(&place).expect("a file"), b"precious");
                std::fs::remove_file(&place).expect("a file");
            } else {
                claim(&path, &place).expect("a new name");
                assert_eq!(std::fs::read(&place).expect("a file"), b"new");
            }
        }
        assert_eq!(names(folder.path()), ["out.mkv"]);
    }
}

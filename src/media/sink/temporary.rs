//! Temporary files for incomplete output, whose names other users cannot guess: without a name where the system
//! supports that, else with a hidden, random name in the folder of the output.

use super::file_names::{folder_of, shortened};
use super::sources::mark;
use crate::sys::{Name, by_descriptor, is_same};
use rustix::fs::{AtFlags, CWD, RenameFlags, linkat, renameat_with};
use rustix::io::Errno;
use std::fs::{File, Metadata, Permissions, symlink_metadata};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use tempfile::{Builder, PathPersistError, TempPath};

/// A temporary file, open for reading and writing. It is removed when dropped.
#[derive(Debug)]
pub(super) struct Temporary {
    pub(super) file: File,
    /// The path by which FFmpeg can open it, and the system name it.
    pub(super) location: PathBuf,
    /// Its name, if it has one.
    path: Option<TempPath>,
}

/// The name of a temporary file, for removal on an abort.
#[derive(Clone, Debug)]
pub struct Leftover {
    path: PathBuf,
    file: std::sync::Arc<File>,
}

impl Leftover {
    /// Removes the file, if the name still leads to it.
    pub fn remove(&self) {
        if is_same(symlink_metadata(&self.path), &self.file) {
            // If this fails, the hidden name still marks the file as temporary.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// How a file has got its name.
#[derive(Debug)]
pub(super) enum Named {
    /// No file had it before.
    New,
    /// The file that had it is still there, under this hidden name, until this is dropped.
    Exchanged(TempPath),
    /// The file that had it is gone.
    Replaced,
}

impl Temporary {
    /// Creates one in the folder of `place`, its later name. If a file is there, only the owner may open the new one,
    /// until it gets the mode of the old one.
    ///
    /// # Errors
    /// When the folder takes no new files.
    pub(super) fn beside(place: &Path) -> io::Result<Self> {
        let is_file = symlink_metadata(place).is_ok_and(|there| there.is_file());
        let mode = if is_file { 0o600 } else { 0o666 };
        let temporary =
            Temporary::nameless(folder_of(place), mode).map_or_else(|| Temporary::named(place, mode), Ok)?;
        mark(&temporary.file);
        Ok(temporary)
    }

    /// Creates one without a name, which disappears with the process; `None` where the file system has none.
    fn nameless(folder: &Path, mode: u32) -> Option<Self> {
        use rustix::fs::{Mode, OFlags};
        let flags = OFlags::RDWR | OFlags::TMPFILE | OFlags::CLOEXEC;
        let file = File::from(rustix::fs::open(folder, flags, Mode::from_raw_mode(mode)).ok()?);
        // It is opened, and named, through /proc.
        let location = by_descriptor(&file)?;
        is_same(std::fs::metadata(&location), &file).then_some(Temporary { file, location, path: None })
    }

    /// Creates one with a new name.
    fn named(place: &Path, mode: u32) -> io::Result<Self> {
        let create = |builder: &mut Builder<'_, '_>, folder: &Path| {
            builder.permissions(Permissions::from_mode(mode)).tempfile_in(folder)
        };
        let (file, path) = hidden(place, create)?.into_parts();
        let location = by_descriptor(&file).unwrap_or_else(|| path.to_path_buf());
        Ok(Temporary { file, location, path: Some(path) })
    }

    /// Its name, if it has one, for removal on an abort.
    pub(super) fn leftover(&self) -> Option<Leftover> {
        let file = self.file.try_clone().ok()?.into();
        self.path.as_ref().map(|path| Leftover { path: path.to_path_buf(), file })
    }

    /// Checks that its name, if it has one, still leads to it.
    ///
    /// # Errors
    /// When another file has taken its place.
    pub(super) fn check(&self) -> io::Result<()> {
        match self.path.as_ref().filter(|path| !is_same(symlink_metadata(path), &self.file)) {
            Some(path) => Err(io::Error::other(format!("another program has replaced {}", Name::from(&**path)))),
            None => Ok(()),
        }
    }

    /// Gives it the name `place` (an existing file there is replaced only with `replace`), and the owner and mode of
    /// `old`.
    ///
    /// # Errors
    /// When the system refuses; nothing has changed then.
    pub(super) fn take(&mut self, place: &Path, replace: bool, old: Option<&Metadata>) -> io::Result<()> {
        let hidden = self.prepare(place, replace, old)?;
        self.link(hidden)?;
        self.place(place, replace).map(drop)
    }

    /// The first of three steps to its name, as [`take`](Self::take) gives it. Several files get theirs together by each
    /// step with all of them before the next. Answers with a hidden name: only renaming replaces a file, so that a file
    /// without a name needs one before.
    ///
    /// # Errors
    /// When another file has taken its place, or the name cannot be one.
    pub(super) fn prepare(&self, place: &Path, replace: bool, old: Option<&Metadata>) -> io::Result<Option<TempPath>> {
        self.check()?;
        if let Some(old) = old {
            resemble(&self.file, old);
        }
        if !replace || self.path.is_some() {
            return Ok(None);
        }
        let mut path = hidden(place, |builder, folder| builder.make_in(folder, |_| Ok(())))?.into_temp_path();
        // Nothing has this name yet.
        path.disable_cleanup(true);
        Ok(Some(path))
    }

    /// Does what may fail where the folder takes no new files. No memory is allocated from here to the end, unless
    /// something fails, or paths are long: a program that runs out of memory ends there, and would leave a hidden name.
    ///
    /// # Errors
    /// When the system refuses; nothing has changed then.
    pub(super) fn link(&mut self, hidden: Option<TempPath>) -> io::Result<()> {
        if let Some(mut path) = hidden {
            linkat(CWD, &self.location, CWD, &*path, AtFlags::SYMLINK_FOLLOW)?;
            path.disable_cleanup(false);
            self.path = Some(path);
        }
        Ok(())
    }

    /// Gives it its name.
    ///
    /// # Errors
    /// When the system refuses; nothing has changed then.
    pub(super) fn place(&mut self, place: &Path, replace: bool) -> io::Result<Named> {
        let Some(path) = self.path.take() else {
            linkat(CWD, &self.location, CWD, place, AtFlags::SYMLINK_FOLLOW)?;
            return Ok(Named::New);
        };
        let as_new = |path: TempPath| {
            path.persist_noclobber(place).or_else(|refused| claim(refused, place)).map(|()| Named::New)
        };
        let named = match replace.then(|| exchange(&path, place)) {
            None | Some(Err(Errno::NOENT)) => as_new(path),
            Some(Ok(())) => Ok(Named::Exchanged(path)),
            // File systems that know no other way; and walls, for what is no file.
            Some(Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP | Errno::ACCESS)) => {
                path.persist(place).map(|()| Named::Replaced)
            }
            Some(Err(error)) => Err(PathPersistError { error: error.into(), path }),
        };
        named.map_err(|refused| {
            self.path = Some(refused.path);
            refused.error
        })
    }

    /// Takes back what [`place`](Self::place) has done, as far as that goes. Answers whether it can get another name,
    /// which is not so if the file that had its own is gone.
    pub(super) fn undo(&mut self, named: Option<Named>, place: &Path) -> bool {
        match named {
            Some(Named::Exchanged(path)) if exchange(&path, place).is_ok() => self.path = Some(path),
            Some(Named::Exchanged(_) | Named::Replaced) => return false,
            Some(Named::New) | None => {}
        }
        true
    }
}

/// Exchanges the names of two files.
fn exchange(hidden: &Path, place: &Path) -> Result<(), Errno> {
    let exchange = || renameat_with(CWD, hidden, CWD, place, RenameFlags::EXCHANGE);
    exchange()?;
    // A folder has got the name meanwhile.
    let is_folder = symlink_metadata(hidden).is_ok_and(|there| there.is_dir());
    if is_folder { exchange().and(Err(Errno::ISDIR)) } else { Ok(()) }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(mut path) = self.path.take() {
            // A file of another program at this path stays.
            path.disable_cleanup(!is_same(symlink_metadata(&path), &self.file));
        }
    }
}

/// Makes something with a hidden name for `place`, which ends with its extension.
fn hidden<T>(place: &Path, make: impl FnOnce(&mut Builder<'_, '_>, &Path) -> io::Result<T>) -> io::Result<T> {
    let [stem, extension] = shortened(place, 100);
    make(Builder::new().prefix(&Name::of_parts([&".", &stem, &"."])).suffix(&extension), folder_of(place))
}

/// Renames the file without replacing another one, on file systems with neither exclusive renames nor hard links: an
/// empty file reserves the name first.
fn claim(refused: PathPersistError, place: &Path) -> Result<(), PathPersistError> {
    let PathPersistError { error, path } = refused;
    if error.kind() == io::ErrorKind::AlreadyExists {
        return Err(PathPersistError { error, path });
    }
    if let Err(error) = File::create_new(place) {
        return Err(PathPersistError { error, path });
    }
    path.persist(place).inspect_err(|_| drop(std::fs::remove_file(place)))
}

/// Gives the file owner and mode of `old`, as far as that is permitted. If the group cannot be set, the new group gets
/// no more rights than all users.
fn resemble(file: &File, old: &Metadata) {
    let mut mode = old.mode() & 0o777;
    // Only root gives files away; others may still give them to a group of theirs.
    let owned = fchown(file, Some(old.uid()), Some(old.gid())).or_else(|_| fchown(file, None, Some(old.gid())));
    if owned.is_err() {
        mode &= 0o707 | (mode & 0o007) << 3;
    }
    // On file systems without modes, all files have the same.
    let _ = file.set_permissions(Permissions::from_mode(mode));
}

/// Syncs the file to the disk. Does nothing for devices, which cannot be synced.
pub(super) fn sync(file: &File) -> io::Result<()> {
    file.sync_all().or_else(|error| match error.kind() {
        io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported => Ok(()),
        _ => Err(error),
    })
}

/// Syncs the folder of a file, and so the file's name, to the disk.
pub(super) fn sync_folder(place: &Path) -> io::Result<()> {
    // A folder that may be written to need not be readable.
    File::open(folder_of(place)).map_or(Ok(()), |folder| sync(&folder))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// Where the system has no files without a name.
    fn named(place: &Path, bytes: &[u8]) -> (Temporary, PathBuf) {
        let temporary = Temporary::named(place, 0o600).expect("a file");
        (&temporary.file).write_all(bytes).expect("a disk");
        let path = temporary.path.as_ref().expect("a name").to_path_buf();
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
        let error = temporary.take(&folder.path().join("out.mkv"), true, None).expect_err("their file");
        assert!(error.to_string().contains("another program has replaced"), "{error}");
        drop(temporary);
        assert_eq!(std::fs::read(&path).expect("their file"), b"theirs");
        assert!(!folder.path().join("out.mkv").exists());
    }

    #[test]
    fn an_existing_file_is_replaced_only_on_request() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().join("out.mkv");
        for temporary in [|place: &Path| Temporary::named(place, 0o600), Temporary::beside] {
            std::fs::write(&place, "precious").expect("a disk");
            let mut temporary = temporary(&place).expect("a file");
            (&temporary.file).write_all(b"new").expect("a disk");
            let error = temporary.take(&place, false, None).expect_err("it is there");
            assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
            assert_eq!(std::fs::read(&place).expect("a file"), b"precious");
            temporary.take(&place, true, None).expect("a new name");
            drop(temporary);
            assert_eq!(std::fs::read(&place).expect("a file"), b"new");
            assert_eq!(names(folder.path()), ["out.mkv"]);
        }
    }

    #[test]
    fn a_file_system_that_knows_no_other_way_has_names_taken_by_an_empty_file_first() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().join("out.mkv");
        let refused = |path| PathPersistError { error: io::ErrorKind::PermissionDenied.into(), path };
        for there in [true, false] {
            let (mut temporary, _) = named(&place, b"new");
            let path = temporary.path.take().expect("a name");
            if there {
                std::fs::write(&place, "precious").expect("a disk");
                let refused = claim(refused(path), &place).expect_err("it is there");
                assert_eq!(refused.error.kind(), io::ErrorKind::AlreadyExists);
                assert_eq!(std::fs::read(&place).expect("a file"), b"precious");
                std::fs::remove_file(&place).expect("a file");
            } else {
                claim(refused(path), &place).expect("a new name");
                assert_eq!(std::fs::read(&place).expect("a file"), b"new");
            }
        }
        assert_eq!(names(folder.path()), ["out.mkv"]);
    }
}

//! A file that nobody else can have prepared or guessed, until it is whole: without any name where the system has such
//! files, else under a hidden, random one beside its own.

use super::file_names::{folder_of, shortened};
use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use tempfile::{Builder, PathPersistError, TempPath};

/// A file in the making, open for reading and writing. Dropped, it is gone.
#[derive(Debug)]
pub(super) struct Temporary {
    file: File,
    /// Its name, if it has one.
    path: Option<TempPath>,
}

/// The name of a temporary file, for whoever has to give up in a hurry.
#[derive(Clone, Debug)]
pub struct Leftover {
    path: PathBuf,
    file: std::sync::Arc<File>,
}

impl Leftover {
    /// Removes the file, if the name still leads to it.
    pub fn remove(&self) {
        if leads_to(&self.path, &self.file) {
            // Gone, or its hidden name still says that it is not the output.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

impl Temporary {
    /// Makes one in the folder of `place`, which it is to take. Where a file with rights of its own is there, nobody but
    /// its owner may open the new one.
    ///
    /// # Errors
    /// When the folder takes no new files.
    pub(super) fn beside(place: &Path) -> io::Result<Self> {
        let mode = if place.exists() { 0o600 } else { 0o666 };
        match Temporary::nameless(folder_of(place), mode) {
            Some(temporary) => Ok(temporary),
            None => Temporary::named(place, mode),
        }
    }

    /// One without a name, which is gone with the program, however that ends.
    #[cfg(target_os = "linux")]
    fn nameless(folder: &Path, mode: u32) -> Option<Self> {
        use rustix::fs::{Mode, OFlags};
        let flags = OFlags::RDWR | OFlags::TMPFILE | OFlags::CLOEXEC;
        let file = rustix::fs::open(folder, flags, Mode::from_raw_mode(mode)).ok()?;
        let file = File::from(file);
        // It is written, and gets its name, by way of /proc.
        leads_to_same(&by_descriptor(&file)?, &file).then_some(Temporary { file, path: None })
    }

    #[cfg(not(target_os = "linux"))]
    fn nameless(_folder: &Path, _mode: u32) -> Option<Self> {
        None
    }

    /// One with a name, which is new and no link.
    fn named(place: &Path, mode: u32) -> io::Result<Self> {
        let [prefix, suffix] = hidden(place);
        let mut builder = Builder::new();
        builder.prefix(&prefix).suffix(&suffix);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(std::fs::Permissions::from_mode(mode));
        }
        let (file, path) = builder.tempfile_in(folder_of(place))?.into_parts();
        Ok(Temporary { file, path: Some(path) })
    }

    /// The open file.
    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// Where others can open it.
    pub(super) fn location(&self) -> PathBuf {
        let path = self.path.as_ref().map(|path| path.to_path_buf());
        by_descriptor(&self.file).or(path).unwrap_or_default()
    }

    /// Its name, for whoever has to give up in a hurry.
    pub(super) fn leftover(&self) -> Option<Leftover> {
        let file = self.file.try_clone().ok()?.into();
        self.path.as_ref().map(|path| Leftover { path: path.to_path_buf(), file })
    }

    /// Makes sure that its name, if it has one, still leads to it.
    ///
    /// # Errors
    /// When another file has taken its place.
    pub(super) fn check(&self) -> io::Result<()> {
        match self.path.as_ref().filter(|path| !leads_to(path, &self.file)) {
            Some(path) => Err(io::Error::other(format!("another program has replaced {}", path.display()))),
            None => Ok(()),
        }
    }

    /// Writes it to the disk.
    ///
    /// # Errors
    /// When the disk is full, or broken.
    pub(super) fn sync(&self) -> io::Result<()> {
        sync(&self.file)
    }

    /// Gives it the name `place`, which may be taken only if `replace` says so, and owner and mode of `old`.
    ///
    /// # Errors
    /// When the system refuses; nothing has changed then.
    pub(super) fn take(&mut self, place: &Path, replace: bool, old: Option<&Metadata>) -> io::Result<()> {
        self.check()?;
        let path = match self.path.take() {
            Some(path) => path,
            None => self.name(place)?,
        };
        if let Some(old) = old {
            resemble(&self.file, old);
        }
        let taken = match replace {
            true => path.persist(place),
            false => path.persist_noclobber(place).or_else(|refused| claim(refused, place)),
        };
        if let Err(PathPersistError { error, path }) = taken {
            self.path = Some(path);
            return Err(error);
        }
        Ok(())
    }

    /// Gives a file without a name a hidden one.
    #[cfg(target_os = "linux")]
    fn name(&self, place: &Path) -> io::Result<TempPath> {
        use rustix::fs::{AtFlags, CWD, linkat};
        let from = by_descriptor(&self.file).unwrap_or_default();
        let [prefix, suffix] = hidden(place);
        let link = |path: &Path| Ok(linkat(CWD, &from, CWD, path, AtFlags::SYMLINK_FOLLOW)?);
        let named = Builder::new().prefix(&prefix).suffix(&suffix).make_in(folder_of(place), link)?;
        Ok(named.into_temp_path())
    }

    #[cfg(not(target_os = "linux"))]
    fn name(&self, _place: &Path) -> io::Result<TempPath> {
        Err(io::ErrorKind::NotFound.into())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(mut path) = self.path.take() {
            // Whoever has put a file of his own there keeps it.
            path.disable_cleanup(!leads_to(&path, &self.file));
        }
    }
}

/// What stands before and behind the random part of the hidden name for `place`: its extension stays last, for whoever
/// looks at the folder.
fn hidden(place: &Path) -> [String; 2] {
    let [stem, extension] = shortened(place, 100);
    [format!(".{stem}."), extension]
}

/// Takes a name where the file system can neither rename to a new one only nor give a file two: an empty file takes it first.
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

/// A name of the open file by which it can be opened again, whatever has become of its path.
pub(super) fn by_descriptor(file: &File) -> Option<PathBuf> {
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::AsRawFd;
        let path = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
        path.exists().then_some(path)
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = file;
        None
    }
}

/// Is this file what `path` itself, and no link, is the name of?
fn leads_to(path: &Path, file: &File) -> bool {
    is_same(std::fs::symlink_metadata(path), file)
}

/// The same, through links.
#[cfg(target_os = "linux")]
fn leads_to_same(path: &Path, file: &File) -> bool {
    is_same(std::fs::metadata(path), file)
}

#[cfg(unix)]
fn is_same(there: io::Result<Metadata>, file: &File) -> bool {
    use std::os::unix::fs::MetadataExt;
    let id = |metadata: Metadata| (metadata.dev(), metadata.ino());
    there.ok().map(id).is_some_and(|there| file.metadata().is_ok_and(|ours| id(ours) == there))
}

#[cfg(not(unix))]
fn is_same(there: io::Result<Metadata>, _file: &File) -> bool {
    there.is_ok()
}

/// Gives the file owner and mode of `old`, as far as that is permitted. Where the group is not, nobody in it gets more
/// than everybody has.
#[cfg(unix)]
fn resemble(file: &File, old: &Metadata) {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let mut mode = old.mode() & 0o777;
    // Only root gives files away; others may still give them to a group of theirs.
    let owned = fchown(file, Some(old.uid()), Some(old.gid())).or_else(|_| fchown(file, None, Some(old.gid())));
    if owned.is_err() {
        mode &= 0o707 | (mode & 0o007) << 3;
    }
    // On file systems without modes, all files have the same.
    let _ = file.set_permissions(std::fs::Permissions::from_mode(mode));
}

#[cfg(not(unix))]
fn resemble(_file: &File, _old: &Metadata) {}

/// Has the system write the file to the disk. Where a file is no such thing (a device), there is nothing to do.
pub(super) fn sync(file: &File) -> io::Result<()> {
    file.sync_all().or_else(|error| match error.kind() {
        io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported => Ok(()),
        _ => Err(error),
    })
}

/// Has the system write the name to the disk.
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
        temporary.file().write_all(bytes).expect("a disk");
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
    fn a_name_that_is_taken_is_taken_over_only_when_told_so() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().join("out.mkv");
        for temporary in [|place: &Path| Temporary::named(place, 0o600), Temporary::beside] {
            std::fs::write(&place, "precious").expect("a disk");
            let mut temporary = temporary(&place).expect("a file");
            temporary.file().write_all(b"new").expect("a disk");
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

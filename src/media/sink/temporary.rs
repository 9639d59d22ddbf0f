//! Temporary files for incomplete output, whose names other users cannot guess: without a name where the system
//! supports that, else with a hidden, random name in the folder of the output.

use super::file_names::{folder_of, shortened};
use super::sources::mark;
use crate::sys::Name;
#[cfg(target_os = "linux")]
use std::ffi::CString;
use std::fs::{File, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use tempfile::{Builder, PathPersistError, TempPath};

/// A temporary file, open for reading and writing. It is removed when dropped.
#[derive(Debug)]
pub(super) struct Temporary {
    pub(super) file: File,
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
        if leads_to(&self.path, &self.file) {
            // If this fails, the hidden name still marks the file as temporary.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

impl Temporary {
    /// Creates one in the folder of `place`, its later name. If a file is there, only the owner may open the new one,
    /// until it gets the mode of the old one.
    ///
    /// # Errors
    /// When the folder takes no new files.
    pub(super) fn beside(place: &Path) -> io::Result<Self> {
        let mode = if place.exists() { 0o600 } else { 0o666 };
        let temporary = match Temporary::nameless(folder_of(place), mode) {
            Some(temporary) => temporary,
            None => Temporary::named(place, mode)?,
        };
        mark(&temporary.file);
        Ok(temporary)
    }

    /// Creates one without a name, which disappears with the process.
    #[cfg(target_os = "linux")]
    fn nameless(folder: &Path, mode: u32) -> Option<Self> {
        use rustix::fs::{Mode, OFlags};
        let flags = OFlags::RDWR | OFlags::TMPFILE | OFlags::CLOEXEC;
        let file = rustix::fs::open(folder, flags, Mode::from_raw_mode(mode)).ok()?;
        let file = File::from(file);
        // It is opened, and named, through /proc.
        leads_to_same(&by_descriptor(&file)?, &file).then_some(Temporary { file, path: None })
    }

    #[cfg(not(target_os = "linux"))]
    fn nameless(_folder: &Path, _mode: u32) -> Option<Self> {
        None
    }

    /// Creates one with a new name.
    fn named(place: &Path, mode: u32) -> io::Result<Self> {
        let [prefix, suffix] = hidden(place);
        let mut builder = Builder::new();
        builder.prefix(&prefix).suffix(&suffix).permissions(Permissions::from_mode(mode));
        let (file, path) = builder.tempfile_in(folder_of(place))?.into_parts();
        Ok(Temporary { file, path: Some(path) })
    }

    /// The path by which FFmpeg can open it.
    pub(super) fn location(&self) -> PathBuf {
        let path = self.path.as_ref().map(|path| path.to_path_buf());
        by_descriptor(&self.file).or(path).unwrap_or_default()
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
        match self.path.as_ref().filter(|path| !leads_to(path, &self.file)) {
            Some(path) => Err(io::Error::other(format!("another program has replaced {}", Name::from(&**path)))),
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

    /// Gives it the name `place` (an existing file there is replaced only with `replace`), and the owner and mode of
    /// `old`.
    ///
    /// # Errors
    /// When the system refuses; nothing has changed then.
    pub(super) fn take(&mut self, place: &Path, replace: bool, old: Option<&Metadata>) -> io::Result<()> {
        let mut naming = self.begin_naming(place, replace, old)?;
        naming.link()?;
        naming.place(self, place)?;
        naming.finish();
        Ok(())
    }

    /// Prepares to give it the name `place`, as [`take`](Self::take) does.
    ///
    /// # Errors
    /// When another file has taken its place, or the name cannot be one.
    pub(super) fn begin_naming(&self, place: &Path, replace: bool, old: Option<&Metadata>) -> io::Result<Naming> {
        self.check()?;
        if let Some(old) = old {
            resemble(&self.file, old);
        }
        let hidden = if replace && self.path.is_none() { Some(HiddenName::new(&self.file, place)?) } else { None };
        Ok(Naming { hidden, replace, state: NameState::Unnamed })
    }
}

/// A temporary file on its way to its name. Several files get theirs together by taking each step with all of them
/// before the next.
#[derive(Debug)]
pub(super) struct Naming {
    /// Only renaming replaces a file, so that a file without a name needs a hidden one before.
    hidden: Option<HiddenName>,
    replace: bool,
    state: NameState,
}

/// Whether a file has its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameState {
    /// It has no name yet.
    Unnamed,
    /// It has its name, which no file had before.
    New,
    /// It has its name. The file that had it is still there, under the hidden name.
    Exchanged,
    /// It has its name. The file that had it is gone.
    Replaced,
}

impl Naming {
    /// Does what may fail where the folder takes no new files. No memory is allocated from here to the end, unless
    /// something fails: a program that runs out of memory ends there, and would leave a hidden name.
    ///
    /// # Errors
    /// When the system refuses; nothing has changed then.
    pub(super) fn link(&mut self) -> io::Result<()> {
        self.hidden.as_mut().map_or(Ok(()), HiddenName::link)
    }

    /// Gives `temporary` its name.
    ///
    /// # Errors
    /// When the system refuses; nothing has changed then.
    pub(super) fn place(&mut self, temporary: &mut Temporary, place: &Path) -> io::Result<()> {
        self.state = if let Some(hidden) = &mut self.hidden {
            hidden.place()?
        } else if let Some(path) = temporary.path.take() {
            let taken = match self.replace {
                true => path.persist(place),
                false => path.persist_noclobber(place).or_else(|refused| claim(refused, place)),
            };
            if let Err(PathPersistError { error, path }) = taken {
                temporary.path = Some(path);
                return Err(error);
            }
            if self.replace { NameState::Replaced } else { NameState::New }
        } else {
            link_new(&temporary.file, place)?;
            NameState::New
        };
        Ok(())
    }

    /// Gives the name back to the file that had it before, if that still exists. Returns whether the new file can be
    /// kept under another name, which is not so if the old file is gone.
    pub(super) fn undo(&mut self) -> bool {
        if self.state == NameState::Exchanged && self.hidden.as_mut().is_some_and(|hidden| hidden.exchange().is_ok()) {
            self.state = NameState::Unnamed;
        }
        matches!(self.state, NameState::Unnamed | NameState::New)
    }

    /// Removes the name `place` of a file that has another one by now.
    pub(super) fn remove_new(&self, place: &Path) {
        if self.state == NameState::New {
            let _ = std::fs::remove_file(place);
        }
    }

    /// Removes what was replaced.
    pub(super) fn finish(self) {
        drop(self.hidden);
    }
}

/// The hidden name that a file without a name gets before it replaces another file. The name is removed when this is
/// dropped.
#[cfg(target_os = "linux")]
#[derive(Debug)]
struct HiddenName {
    /// The open file, in `/proc`.
    file: CString,
    hidden: CString,
    place: CString,
    is_there: bool,
}

#[cfg(target_os = "linux")]
impl HiddenName {
    fn new(file: &File, place: &Path) -> io::Result<Self> {
        let [prefix, suffix] = hidden(place);
        let named = Builder::new().prefix(&prefix).suffix(&suffix).make_in(folder_of(place), c_string)?;
        let (hidden, mut path) = named.into_parts();
        // Nothing has this name yet.
        path.disable_cleanup(true);
        let file = c_string(&by_descriptor(file).unwrap_or_default())?;
        Ok(HiddenName { file, hidden, place: c_string(place)?, is_there: false })
    }

    fn link(&mut self) -> io::Result<()> {
        use rustix::fs::{AtFlags, CWD, linkat};
        linkat(CWD, self.file.as_c_str(), CWD, self.hidden.as_c_str(), AtFlags::SYMLINK_FOLLOW)?;
        self.is_there = true;
        Ok(())
    }

    /// Gives the file its name, and this one to what had that.
    fn place(&mut self) -> io::Result<NameState> {
        use rustix::fs::{CWD, RenameFlags, renameat, renameat_with};
        use rustix::io::Errno;
        let new = || renameat_with(CWD, self.hidden.as_c_str(), CWD, self.place.as_c_str(), RenameFlags::NOREPLACE);
        let exchanged = self.exchange().and_then(|()| match self.is_folder() {
            // A folder has got the name meanwhile.
            true => self.exchange().and(Err(Errno::ISDIR)),
            false => Ok(NameState::Exchanged),
        });
        let named = match exchanged {
            Err(Errno::NOENT) => new().map(|()| NameState::New),
            // File systems that know no other way; and walls, for what is no file.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP | Errno::ACCESS) => {
                renameat(CWD, self.hidden.as_c_str(), CWD, self.place.as_c_str()).map(|()| NameState::Replaced)
            }
            exchanged => exchanged,
        }?;
        self.is_there = named == NameState::Exchanged;
        Ok(named)
    }

    fn exchange(&self) -> Result<(), rustix::io::Errno> {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        renameat_with(CWD, self.hidden.as_c_str(), CWD, self.place.as_c_str(), RenameFlags::EXCHANGE)
    }

    fn is_folder(&self) -> bool {
        use rustix::fs::{AtFlags, CWD, FileType, statat};
        let there = statat(CWD, self.hidden.as_c_str(), AtFlags::SYMLINK_NOFOLLOW);
        there.is_ok_and(|there| FileType::from_raw_mode(there.st_mode) == FileType::Directory)
    }
}

#[cfg(target_os = "linux")]
impl Drop for HiddenName {
    fn drop(&mut self) {
        if self.is_there {
            // If this fails, the hidden name still marks the file as temporary.
            let _ = rustix::fs::unlink(self.hidden.as_c_str());
        }
    }
}

/// Gives a file without a name one that is free.
#[cfg(target_os = "linux")]
fn link_new(file: &File, place: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};
    let (file, place) = (c_string(&by_descriptor(file).unwrap_or_default())?, c_string(place)?);
    Ok(linkat(CWD, file.as_c_str(), CWD, place.as_c_str(), AtFlags::SYMLINK_FOLLOW)?)
}

#[cfg(target_os = "linux")]
fn c_string(path: &Path) -> io::Result<CString> {
    CString::new(path.as_os_str().as_encoded_bytes()).map_err(io::Error::from)
}

/// Other systems have no files without a name.
#[cfg(not(target_os = "linux"))]
#[derive(Debug)]
struct HiddenName;

#[cfg(not(target_os = "linux"))]
impl HiddenName {
    fn new(_file: &File, _place: &Path) -> io::Result<Self> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn link(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn place(&mut self) -> io::Result<NameState> {
        Ok(NameState::Unnamed)
    }

    fn exchange(&self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(not(target_os = "linux"))]
fn link_new(_file: &File, _place: &Path) -> io::Result<()> {
    Err(io::ErrorKind::NotFound.into())
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(mut path) = self.path.take() {
            // A file of another program at this path stays.
            path.disable_cleanup(!leads_to(&path, &self.file));
        }
    }
}

/// Prefix and suffix of the hidden name for `place`. The suffix is its extension.
fn hidden(place: &Path) -> [Name; 2] {
    let [stem, extension] = shortened(place, 100);
    [Name::of_parts([&".", &stem, &"."]), extension]
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

/// A path that opens the same file again, even if its own path has changed.
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

/// Whether `path` leads to this file, without following links.
fn leads_to(path: &Path, file: &File) -> bool {
    is_same(std::fs::symlink_metadata(path), file)
}

/// Whether `path` leads to this file, following links.
#[cfg(target_os = "linux")]
fn leads_to_same(path: &Path, file: &File) -> bool {
    is_same(std::fs::metadata(path), file)
}

/// Whether `there` is the metadata of this file.
fn is_same(there: io::Result<Metadata>, file: &File) -> bool {
    let id = |metadata: Metadata| (metadata.dev(), metadata.ino());
    there.ok().map(id).is_some_and(|there| file.metadata().is_ok_and(|ours| id(ours) == there))
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

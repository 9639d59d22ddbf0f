//! A private folder for the program's own files. It lies beside an output, which may be in /tmp or in a folder that
//! several users share, and only the user who runs the program may write in it. The program opens the files relative to
//! the open folder and follows no links. So another user who replaces the folder, or puts links into it, cannot make the
//! program read, write or remove other files.

use super::by_name::{Links, open_at};
use super::name::folder_of;
use super::open_folder::OpenFolder;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, RawMode, Stat, fstat, mkdirat, openat, statat, unlinkat};
use rustix::io::Errno;
use rustix::process::geteuid;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How often making a folder is tried.
const ATTEMPTS: u32 = 100;

/// The bits of a mode by which the group, and all others, may write.
const GROUP: RawMode = 0o020;
const OTHERS: RawMode = 0o002;

/// The bit of a folder in which only the owner of a file may remove it.
const STICKY: RawMode = 0o1000;

/// Flags to open a folder for access to its files, not to list them.
const REACH: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// The folder, open. Clones are the same one.
#[derive(Clone, Debug)]
pub struct PrivateFolder(Arc<PrivateEntry>);

#[derive(Debug)]
struct PrivateEntry {
    folder: OpenFolder,
    /// The folder that it lies in, and its name there.
    above: File,
    name: OsString,
}

impl PrivateFolder {
    /// Opens the folder of this name; `None` if there is none.
    ///
    /// # Errors
    /// When it is a link, no folder, another user's, or one that others may write in.
    pub fn open(path: &Path) -> io::Result<Option<Self>> {
        let Some(name) = path.file_name() else { return Err(refused("not the name of a folder")) };
        let folder_above = folder_of(path);
        let opened = openat(CWD, folder_above, REACH, Mode::empty()).and_then(|above| {
            let folder = openat(&above, name, REACH | OFlags::NOFOLLOW, Mode::empty())?;
            Ok((File::from(above), File::from(folder)))
        });
        let (above, folder) = match opened {
            Ok(opened) => opened,
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP | Errno::NOTDIR) => return Err(refused("a link, or no folder (remove it)")),
            Err(error) => return Err(error.into()),
        };
        let folder = OpenFolder::new(path, folder);
        let folder = PrivateFolder(Arc::new(PrivateEntry { folder, above, name: name.to_owned() }));
        folder.check(folder_above)?;
        Ok(Some(folder))
    }

    /// Opens the folder, and makes it if there is none.
    ///
    /// # Errors
    /// As for [`open`](Self::open), and when it cannot be made.
    pub fn make(path: &Path) -> io::Result<Self> {
        // Try again, because another process may remove the folder before it is opened.
        for _ in 0..ATTEMPTS {
            if let Some(folder) = PrivateFolder::open(path)? {
                return Ok(folder);
            }
            path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
            match mkdirat(CWD, path, Mode::RWXU) {
                Ok(()) | Err(Errno::EXIST | Errno::NOENT) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(refused("no folder can be made there (give the output another folder)"))
    }

    /// Checks that nobody else may write in it.
    fn check(&self, folder_above: &Path) -> io::Result<()> {
        let (there, above) = (fstat(self.0.folder.folder())?, fstat(&self.0.above)?);
        if let Some(why) = objection(&there, &above, geteuid().as_raw()) {
            // On some servers and file systems, files that this user creates belong to another user.
            let is_mine = || Ok::<_, io::Error>(tempfile::tempfile_in(folder_above)?.metadata()?.uid() == there.st_uid);
            if why != NOT_MINE || !is_mine().unwrap_or(false) {
                return Err(refused(why));
            }
        }
        Ok(())
    }

    /// The open folder.
    pub fn opened(&self) -> &OpenFolder {
        &self.0.folder
    }

    /// The name of one of its files, for messages.
    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.folder.path(name)
    }

    /// Opens a file of it for reading; `None` if there is none of this name.
    ///
    /// # Errors
    /// When it is no regular file, or cannot be opened.
    pub fn read(&self, name: impl AsRef<Path>) -> io::Result<Option<File>> {
        self.open_in_it(name.as_ref(), OFlags::RDONLY)
    }

    /// Opens a file of it that a process can lock, and makes it, empty, if there is none; `None` if the folder has been
    /// removed.
    ///
    /// # Errors
    /// As for [`read`](Self::read).
    pub fn file_to_lock(&self, name: impl AsRef<Path>) -> io::Result<Option<File>> {
        self.open_in_it(name.as_ref(), OFlags::RDWR | OFlags::CREATE)
    }

    fn open_in_it(&self, name: &Path, flags: OFlags) -> io::Result<Option<File>> {
        match open_at(self.0.folder.folder(), name, Links::Refused, flags) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            opened => opened.map(Some),
        }
    }

    /// Whether `name` in the folder is still this file.
    pub fn has(&self, name: impl AsRef<Path>, file: &File) -> bool {
        let there = statat(self.0.folder.folder(), name.as_ref(), AtFlags::SYMLINK_NOFOLLOW);
        let id = |stat: Stat| (stat.st_dev, stat.st_ino);
        there.is_ok_and(|there| fstat(file).is_ok_and(|file| id(file) == id(there)))
    }

    /// Whether there is anything of this name.
    pub fn has_name(&self, name: impl AsRef<Path>) -> bool {
        statat(self.0.folder.folder(), name.as_ref(), AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    /// Removes a file of it. A link is removed, and what it leads to stays.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn remove(&self, name: impl AsRef<Path>) -> io::Result<()> {
        Ok(unlinkat(self.0.folder.folder(), name.as_ref(), AtFlags::empty())?)
    }

    /// Removes the folder, if it is empty.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn remove_itself(&self) -> io::Result<()> {
        Ok(unlinkat(&self.0.above, self.0.name.as_os_str(), AtFlags::REMOVEDIR)?)
    }
}

const NOT_MINE: &str = "another user's folder (remove it, or give the output another folder)";

/// Why a folder with these properties, in the folder `above`, is not private; `None` if it is.
fn objection(there: &Stat, above: &Stat, user: u32) -> Option<&'static str> {
    let (mode, group, mode_above) = (there.st_mode, there.st_gid, above.st_mode);
    // Without the sticky bit, those who may write to the folder above could replace it.
    let above_it = if mode_above & STICKY == 0 { mode_above & (GROUP | OTHERS) } else { 0 };
    let is_group = group == above.st_gid && above_it & GROUP != 0;
    let may_write = match above_it & OTHERS != 0 {
        true => GROUP | OTHERS,
        false if is_group => GROUP,
        false => 0,
    };
    // In a group that works together, one user makes the folder and lets the others in.
    let is_shared = is_group && may_write == GROUP && mode & GROUP != 0;
    if ![user, 0, above.st_uid].contains(&there.st_uid) && !is_shared {
        return Some(NOT_MINE);
    }
    let is_open = mode & (GROUP | OTHERS) & !may_write != 0;
    is_open.then_some("others may write in this folder (take that from them with `chmod go-w`, or remove it)")
}

fn refused(why: &str) -> io::Error {
    io::Error::new(ErrorKind::PermissionDenied, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The objection to a folder of this owner, group and mode in another one, for user 1000.
    fn is_refused(there: (u32, u32, u32), above: (u32, u32, u32)) -> bool {
        let stat = |(uid, gid, mode): (u32, u32, u32)| {
            let mut stat = fstat(File::open("/").expect("a folder")).expect("its properties");
            (stat.st_uid, stat.st_gid, stat.st_mode) = (uid, gid, mode as _);
            stat
        };
        objection(&stat(there), &stat(above), 1000).is_some()
    }

    #[test]
    fn a_folder_is_ours_if_nobody_writes_in_it_who_could_not_replace_it() {
        let (mine, tmp) = ((1000, 1000, 0o700), (0, 0, 0o1777));
        for above in [tmp, (1000, 1000, 0o755), (0, 50, 0o2775), (0, 0, 0o777)] {
            assert!(!is_refused(mine, above), "{above:?}");
            assert!(!is_refused((1000, 1000, 0o755), above), "{above:?}");
            assert!(is_refused((1001, 1001, 0o700), above), "{above:?}");
        }
        // Folders of root, and of the owner of the folder above, are accepted: they could do anything.
        assert!(
            !is_refused((1001, 1001, 0o700), (1001, 1001, 0o755)) && !is_refused((0, 0, 0o755), (1001, 1001, 0o755))
        );
        // Refused: folders that users may write in who could not replace them.
        for mode in [0o770, 0o702, 0o777] {
            assert!(is_refused((1000, 50, mode), tmp) && is_refused((1000, 50, mode), (1000, 1000, 0o755)), "{mode:o}");
        }
        // Accepted: a folder of another member of the group that shares the folder above, and a file system without
        // modes.
        assert!(!is_refused((1001, 50, 0o2770), (0, 50, 0o2770)) && is_refused((1001, 50, 0o2770), (0, 51, 0o2770)));
        assert!(is_refused((1001, 50, 0o2770), (0, 50, 0o2777)) && is_refused((1001, 50, 0o2770), (0, 50, 0o3770)));
        assert!(is_refused((1001, 50, 0o2772), (0, 50, 0o2770)) && is_refused((1001, 50, 0o2700), (0, 50, 0o2770)));
        assert!(!is_refused((1000, 1000, 0o777), (1000, 1000, 0o777)));
    }
}

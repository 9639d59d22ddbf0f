//! Files that are opened by their names. The type of the file is checked first, so that a FIFO is not waited for, and a
//! device, which may have no end, is not read.

use super::{is_input, note_input};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, fstat, openat, statat};
use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Read};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Opens the regular file of this name for reading.
///
/// # Errors
/// When it cannot be opened, or is not a regular file.
pub fn open_regular(path: impl AsRef<Path>) -> io::Result<File> {
    open_at(CWD, path.as_ref(), Links::Followed, OFlags::RDONLY)
}

/// Opens the regular file of this name for reading. A link is not followed.
///
/// # Errors
/// When it cannot be opened, or is not a regular file.
pub fn open_no_link(path: impl AsRef<Path>) -> io::Result<File> {
    open_at(CWD, path.as_ref(), Links::Refused, OFlags::RDONLY)
}

/// Opens the regular file of this name for writing, and makes it if there is none. A link is not followed.
///
/// # Errors
/// When it cannot be opened, is not a regular file, or was opened for an input.
pub fn create_regular(path: impl AsRef<Path>) -> io::Result<File> {
    if is_input(path.as_ref()) {
        return Err(rustix::io::Errno::EXIST.into());
    }
    open_at(CWD, path.as_ref(), Links::Refused, OFlags::WRONLY | OFlags::CREATE)
}

/// The bytes of the regular file of this name, which counts as an input.
///
/// # Errors
/// As for [`open_regular`], and when it has more than `most` bytes.
pub fn read_regular(path: impl AsRef<Path>, most: u64) -> io::Result<Vec<u8>> {
    note_input(path.as_ref().as_os_str().as_bytes());
    read_whole(open_regular(path)?, most)
}

/// The bytes of an open file.
///
/// # Errors
/// When it cannot be read, or has more than `most` bytes.
pub fn read_whole(file: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::new(ErrorKind::FileTooLarge, format!("longer than {} MiB", most >> 20)));
    }
    Ok(bytes)
}

/// A path that opens the same file again, even if its own path has changed; `None` without /proc.
pub fn by_descriptor(file: &File) -> Option<PathBuf> {
    let path = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
    path.exists().then_some(path)
}

/// Whether `there` is the metadata of this file.
pub fn is_same(there: io::Result<Metadata>, file: &File) -> bool {
    let id = |metadata: Metadata| (metadata.dev(), metadata.ino());
    there.ok().map(id).is_some_and(|there| file.metadata().is_ok_and(|ours| id(ours) == there))
}

/// Whether the last part of a name may be a link.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Links {
    Followed,
    Refused,
}

/// Opens the regular file `name` of a folder.
pub(super) fn open_at(folder: impl AsFd, name: &Path, links: Links, flags: OFlags) -> io::Result<File> {
    let (index, no_links) = match links {
        Links::Followed => (AtFlags::empty(), OFlags::empty()),
        Links::Refused => (AtFlags::SYMLINK_NOFOLLOW, OFlags::NOFOLLOW),
    };
    // To open a device can do something already.
    match statat(&folder, name, index) {
        Ok(there) => check(FileType::from_raw_mode(there.st_mode))?,
        Err(rustix::io::Errno::NOENT) if flags.contains(OFlags::CREATE) => {}
        Err(error) => return Err(error.into()),
    }
    // It may be another one by now.
    let flags = flags | no_links | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = openat(&folder, name, flags, Mode::from_raw_mode(0o666))?;
    check(FileType::from_raw_mode(fstat(&file)?.st_mode))?;
    Ok(file.into())
}

fn check(kind: FileType) -> io::Result<()> {
    let what = match kind {
        FileType::RegularFile => return Ok(()),
        FileType::Fifo => "a pipe, which is not read here (save what comes out of it to a file)",
        FileType::Directory => "a folder (give a file name)",
        FileType::Symlink => "a link, which is not followed here (remove it)",
        FileType::CharacterDevice | FileType::BlockDevice => "a device, which is not read here (give a file name)",
        _ => "no file (give a file name)",
    };
    Err(io::Error::new(ErrorKind::InvalidInput, what))
}

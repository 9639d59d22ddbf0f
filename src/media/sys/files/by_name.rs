//! Files that are opened by their names. The type of the file is checked first, so that a FIFO is not waited for, and a
//! device, which may have no end, is not read.

use super::{is_input, note_input};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, fstat, openat, openat2, statat};
use rustix::io::Errno;
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

/// Opens the regular file of this name, which begins with `/`, for reading. No link in any part of the name is
/// followed.
///
/// # Errors
/// When it cannot be opened, is not a regular file, or has a link in its name.
pub fn open_without_links(path: impl AsRef<Path>) -> io::Result<File> {
    let path = path.as_ref();
    check_there(CWD, path, AtFlags::SYMLINK_NOFOLLOW)?;
    let flags = OFlags::RDONLY | WITHOUT_WAITING;
    let file = match openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        // Linux before 5.6 does not have openat2, and some containers forbid it.
        Err(Errno::NOSYS | Errno::PERM) => return open_and_compare(path),
        opened => File::from(opened?),
    };
    check(FileType::from_raw_mode(fstat(&file)?.st_mode))?;
    Ok(file)
}

/// As [`open_without_links`]: compares the path of the opened file, from /proc, with `path`.
fn open_and_compare(path: &Path) -> io::Result<File> {
    compare(open_no_link(path)?, path)
}

fn compare(file: File, path: &Path) -> io::Result<File> {
    let place = by_descriptor(&file).and_then(|link| link.read_link().ok());
    if place.as_deref() == Some(path) { Ok(file) } else { Err(Errno::LOOP.into()) }
}

/// Opens the folder of this name, which begins with `/`, for access to its files. No link in any part of the name is
/// followed.
pub(crate) fn open_folder_without_links(path: &Path) -> io::Result<File> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    match openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        Err(Errno::NOSYS | Errno::PERM) => {
            let folder = File::from(openat(CWD, path, flags | OFlags::NOFOLLOW, Mode::empty())?);
            compare(folder, path)
        }
        opened => Ok(File::from(opened?)),
    }
}

/// Opens the regular file of this name for writing, and creates it if there is none. A link is not followed.
///
/// # Errors
/// When it cannot be opened, is not a regular file, or is an input of this program; or when the file of its name
/// without `.tmp` is an input, because muxers rename `.tmp` files.
pub fn create_regular(path: impl AsRef<Path>) -> io::Result<File> {
    let path = path.as_ref();
    let is_temporary = path.extension().is_some_and(|extension| extension == "tmp");
    if is_input(path) || (is_temporary && is_input(&path.with_extension(""))) {
        return Err(Errno::EXIST.into());
    }
    open_at(CWD, path, Links::Refused, OFlags::WRONLY | OFlags::CREATE)
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
pub(crate) enum Links {
    Followed,
    Refused,
}

/// Opening does not wait for the other end of a pipe, and no terminal becomes the controlling one.
const WITHOUT_WAITING: OFlags = OFlags::NONBLOCK.union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// Opens the regular file `name` of a folder.
pub(crate) fn open_at(folder: impl AsFd, name: &Path, links: Links, flags: OFlags) -> io::Result<File> {
    let (index, no_links) = match links {
        Links::Followed => (AtFlags::empty(), OFlags::empty()),
        Links::Refused => (AtFlags::SYMLINK_NOFOLLOW, OFlags::NOFOLLOW),
    };
    match check_there(&folder, name, index) {
        Err(error) if error.kind() == ErrorKind::NotFound && flags.contains(OFlags::CREATE) => {}
        checked => checked?,
    }
    // The name may lead to another file by now: check the open one, too.
    let file = openat(&folder, name, flags | no_links | WITHOUT_WAITING, Mode::from_raw_mode(0o666))?;
    check(FileType::from_raw_mode(fstat(&file)?.st_mode))?;
    Ok(file.into())
}

/// Checks the type of a file before it is opened: already opening a device may have effects.
fn check_there(folder: impl AsFd, name: &Path, links: AtFlags) -> io::Result<()> {
    check(FileType::from_raw_mode(statat(folder, name, links)?.st_mode))
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

#[cfg(test)]
mod tests {
    use super::{open_and_compare, open_without_links};
    use std::os::unix::fs::symlink;

    #[test]
    fn no_link_in_a_name_is_followed() {
        let folder = tempfile::tempdir().expect("a folder");
        let whole = folder.path().canonicalize().expect("a folder");
        let path = |name: &str| whole.join(name);
        std::fs::create_dir(path("in")).expect("a folder");
        std::fs::write(path("in/own.mp4"), b"x").expect("a file");
        symlink(path("in/own.mp4"), path("link.mp4")).expect("a link");
        symlink(path("in"), path("folder")).expect("a link");
        let opens = |name: &str| [open_without_links(path(name)).is_ok(), open_and_compare(&path(name)).is_ok()];
        assert_eq!(opens("in/own.mp4"), [true, true]);
        for wrong in ["link.mp4", "folder/own.mp4", "in", "gone.mp4"] {
            assert_eq!(opens(wrong), [false, false], "{wrong}");
        }
    }
}

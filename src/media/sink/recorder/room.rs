//! Disk space is reserved before it is needed, so that a full disk is noticed before a frame is lost.

use crate::sink::files::file_names::resolve_links;
use crate::sink::files::place::is_stream;
use crate::sys::files::Name;
use rustix::fs::{FallocateFlags, FlockOperation};
use rustix::io::Errno;
use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// The least space that is reserved after the end of a file, in bytes.
const MIN_ROOM: u64 = 64 << 10;

/// Space is reserved for this many seconds of recording, of which the muxer may buffer one.
const SECONDS: f64 = 4.0;

/// How many bytes [`DiskRoom::reach`] tries to reserve beyond what is needed; the larger number is tried first.
const AHEAD: [u64; 2] = [16 << 20, 1 << 20];

/// Recorded seconds from which the data rate is measured. Before, it is estimated.
const TOO_FEW: f64 = 2.0;

/// Free bytes on the disk of this file; `None` if it is not a regular file, or if the system does not report them.
pub fn free_bytes(name: &Name) -> Option<u64> {
    let file = resolve_links(name.path());
    if is_stream(name) || std::fs::metadata(&file).is_ok_and(|there| !there.is_file()) {
        return None;
    }
    let folder = file
        .ancestors()
        .skip(1)
        .map(|ancestor| if ancestor.as_os_str().is_empty() { Path::new(".") } else { ancestor });
    let disk = rustix::fs::statvfs(folder.into_iter().find(|ancestor| ancestor.is_dir())?).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// Disk space that is reserved after the end of a growing file.
pub struct DiskRoom {
    file: File,
    /// End of the reserved space, in bytes from the start of the file.
    until: u64,
    /// The estimated data rate, in bytes per second.
    guess: f64,
}

impl DiskRoom {
    /// Whether the disk of this folder has space for the start of a file; true if that is unknown.
    pub fn is_in(folder: &Path, guess: f64) -> bool {
        let file = match tempfile::tempfile_in(folder) {
            Ok(file) => file,
            // A disk without free inodes is full, too.
            Err(error) => return !matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded),
        };
        DiskRoom { file, until: 0, guess }.make(0.0).is_ok()
    }

    /// Reserves space for an existing file that grows by about `guess` bytes per second. Locks the file until it is
    /// dropped.
    pub fn open(file: &Path, guess: f64) -> std::io::Result<Self> {
        let file = File::options().write(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(file)?;
        // The lock keeps other processes of this program out, and ends with this process, even if that is killed.
        rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        Ok(DiskRoom { file, until: 0, guess })
    }

    /// The space that a killed run has left reserved after the end of a file; dropping it releases the space. `None`
    /// while another process writes the file.
    pub fn left(file: &Path) -> Option<Self> {
        let mut room = DiskRoom::open(file, 0.0).ok()?;
        let metadata = room.file.metadata().ok()?;
        let (bytes, taken) = (metadata.len(), metadata.blocks() * 512);
        if taken > bytes + MIN_ROOM / 2 {
            room.until = bytes + taken;
        }
        Some(room)
    }

    /// Reserves space for an open file.
    pub fn for_open_file(file: &File) -> std::io::Result<Self> {
        Ok(DiskRoom { file: file.try_clone()?, until: 0, guess: 0.0 })
    }

    /// Reserves space up to the offset `byte`, and some more if the disk has it.
    ///
    /// # Errors
    /// When the disk or the user's quota is full.
    pub fn reach(&mut self, byte: u64) -> Result<(), Errno> {
        if byte <= self.until {
            return Ok(());
        }
        let until = self.until;
        let more = AHEAD.iter().any(|more| self.set_aside(until, byte + more - until).is_ok());
        if more { Ok(()) } else { self.set_aside(until, byte - until) }
    }

    /// Current size of the file, in bytes.
    pub fn bytes(&self) -> u64 {
        self.file.metadata().map_or(0, |metadata| metadata.len())
    }

    /// Reserves space for the next seconds; `seconds` is the duration written so far.
    ///
    /// # Errors
    /// When the disk or the user's quota is full.
    pub fn make(&mut self, seconds: f64) -> Result<(), Errno> {
        let bytes = self.bytes();
        let rate = if seconds < TOO_FEW { self.guess } else { bytes as f64 / seconds };
        let ahead = MIN_ROOM.max((rate * SECONDS) as u64);
        if bytes + ahead / 2 <= self.until {
            return Ok(());
        }
        self.set_aside(bytes, ahead)
    }

    fn set_aside(&mut self, begin: u64, length: u64) -> Result<(), Errno> {
        match rustix::fs::fallocate(&self.file, FallocateFlags::KEEP_SIZE, begin, length) {
            Ok(()) => self.until = begin + length,
            Err(error @ (Errno::NOSPC | Errno::DQUOT)) => return Err(error),
            // If the file system cannot reserve space, compare with its free space instead.
            Err(_) => {
                let left = rustix::fs::fstatvfs(&self.file).map_or(u64::MAX, |disk| disk.f_bavail * disk.f_frsize);
                if left < length {
                    return Err(Errno::NOSPC);
                }
            }
        }
        Ok(())
    }
}

impl Drop for DiskRoom {
    /// Releases the reserved space that was not used.
    fn drop(&mut self) {
        let bytes = self.bytes();
        if self.until > bytes {
            let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            // Depending on the file system, one of these releases the space. If both fail, only disk space is wasted.
            let _ = rustix::fs::fallocate(&self.file, hole, bytes, self.until - bytes);
            let _ = self.file.set_len(bytes);
        }
    }
}

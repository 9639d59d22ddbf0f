//! FIFOs and pipes: detects them, and opens them for writes that do not wait for the reader.

use rustix::fs::{Mode, OFlags};
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether `name` is stdin (`-`) or a FIFO. FFmpeg cannot be interrupted while it waits for such an input, so it is
/// read by [`super::Reader`].
pub fn is_pipe(name: impl AsRef<OsStr>) -> bool {
    name.as_ref() == "-" || is_fifo(name)
}

/// Whether it is a FIFO.
pub fn is_fifo(name: impl AsRef<OsStr>) -> bool {
    std::fs::metadata(name.as_ref()).is_ok_and(|file| file.file_type().is_fifo())
}

/// Opens a FIFO for writing as soon as it has a reader; `None` when `interrupt` is set before. Writes do not wait for
/// room.
///
/// # Errors
/// When it cannot be opened.
pub fn open_for_reader(name: &Path, interrupt: &AtomicBool) -> io::Result<Option<File>> {
    while !interrupt.load(Ordering::Relaxed) {
        // Without NONBLOCK, the call waits for a reader, and signal handlers do not end it.
        let flags = OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
        match rustix::fs::open(name, flags, Mode::empty()) {
            Ok(file) => return Ok(Some(file.into())),
            // The FIFO has no reader yet.
            Err(rustix::io::Errno::NXIO | rustix::io::Errno::INTR) => {
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(None)
}

/// Stdout, if it is a pipe, opened again for writes that do not wait for room; programs that share stdout are not
/// affected.
pub fn stdout_pipe() -> Option<File> {
    use rustix::fs::FileType;
    let is_pipe =
        rustix::fs::fstat(std::io::stdout()).is_ok_and(|s| FileType::from_raw_mode(s.st_mode) == FileType::Fifo);
    let flags = OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    is_pipe.then(|| rustix::fs::open("/proc/self/fd/1", flags, Mode::empty()).ok()).flatten().map(File::from)
}

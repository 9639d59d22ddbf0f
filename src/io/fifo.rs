//! FIFOs: detects them, and opens one for writing when it has a reader.

use std::fs::File;
use std::io;
use std::sync::atomic::AtomicBool;

/// Is it stdin or a FIFO? FFmpeg cannot be interrupted while it waits for such an input, so it is read by [`super::Reader`].
pub fn is_pipe(name: &str) -> bool {
    name == "-" || is_fifo(name)
}

/// Is it a FIFO?
#[cfg(unix)]
pub fn is_fifo(name: &str) -> bool {
    use std::os::unix::fs::FileTypeExt;
    std::fs::metadata(name).is_ok_and(|file| file.file_type().is_fifo())
}

/// Is it a FIFO?
#[cfg(not(unix))]
pub fn is_fifo(_name: &str) -> bool {
    false
}

/// Opens a FIFO for writing as soon as it has a reader; `None` when `interrupt` is set before.
///
/// # Errors
/// When it cannot be opened.
#[cfg(unix)]
pub fn open_for_reader(name: &str, interrupt: &AtomicBool) -> io::Result<Option<File>> {
    use rustix::fs::{Mode, OFlags, fcntl_getfl, fcntl_setfl};
    use std::sync::atomic::Ordering;
    while !interrupt.load(Ordering::Relaxed) {
        // Without NONBLOCK, the call waits for a reader, and signal handlers do not end it.
        let flags = OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
        match rustix::fs::open(name, flags, Mode::empty()) {
            Ok(file) => {
                fcntl_setfl(&file, fcntl_getfl(&file)? - OFlags::NONBLOCK)?;
                return Ok(Some(file.into()));
            }
            // There is no reader yet.
            Err(rustix::io::Errno::NXIO | rustix::io::Errno::INTR) => {
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(None)
}

/// Opens a file for writing. This system has no FIFOs.
///
/// # Errors
/// When it cannot be opened.
#[cfg(not(unix))]
pub fn open_for_reader(name: &str, _interrupt: &AtomicBool) -> io::Result<Option<File>> {
    File::create(name).map(Some)
}

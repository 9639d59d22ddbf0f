//! FIFOs: which names are one, and how to open one whose reader is still to come.

use std::fs::File;
use std::io;
use std::sync::atomic::AtomicBool;

/// Does it come through a pipe, on stdin or under a name? Then a read may wait for long, and has to be ours to be
/// interrupted.
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

/// Opens a FIFO for writing as soon as somebody reads from it; `None` when `interrupt` is set before.
///
/// # Errors
/// When it cannot be opened.
#[cfg(unix)]
pub fn open_for_reader(name: &str, interrupt: &AtomicBool) -> io::Result<Option<File>> {
    use rustix::fs::{Mode, OFlags, fcntl_getfl, fcntl_setfl};
    use std::sync::atomic::Ordering;
    while !interrupt.load(Ordering::Relaxed) {
        // Without NONBLOCK the call itself waits, and no signal handler of ours would end it.
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

/// Opens a FIFO for writing. There are none here.
///
/// # Errors
/// When it cannot be opened.
#[cfg(not(unix))]
pub fn open_for_reader(name: &str, _interrupt: &AtomicBool) -> io::Result<Option<File>> {
    File::create(name).map(Some)
}

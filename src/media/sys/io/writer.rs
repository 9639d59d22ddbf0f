//! Writes headers and planes to a file, a FIFO or stdout, without a buffer in between.

use histeq::internal::frame::Plane;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::fs::File;
use std::io::{self, IoSlice, Write};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Rows that are written with one call when a plane has padding between rows.
const ROWS: usize = 512;

/// How often a wait for room checks for an interrupt.
const INTERVAL: Duration = Duration::from_millis(100);

/// How long a pipe may have no room after an interrupt, before its reader is taken for stalled.
const PATIENCE: Duration = Duration::from_secs(1);

/// Writes bytes to a file or a pipe.
pub struct PlaneWriter {
    file: File,
    interrupt: Arc<AtomicBool>,
}

impl PlaneWriter {
    /// Writes to stdout.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn stdout(interrupt: Arc<AtomicBool>) -> io::Result<Self> {
        stdout().map(|stdout| PlaneWriter::new(stdout, interrupt))
    }

    /// Writes to an open file. Once `interrupt` is set, it does not wait for a stalled reader, if writes to the file do
    /// not block.
    pub fn new(file: File, interrupt: Arc<AtomicBool>) -> Self {
        crate::sys::enlarge_pipe(&file);
        PlaneWriter { file, interrupt }
    }

    /// Writes all of `bytes`.
    ///
    /// # Errors
    /// When writing fails; `TimedOut` if the reader has stalled after an interrupt.
    pub fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.all(&mut [IoSlice::new(bytes)])
    }

    /// Writes the rows of `plane`, without padding.
    ///
    /// # Errors
    /// As for [`bytes`](Self::bytes).
    pub fn plane(&mut self, plane: &Plane) -> io::Result<()> {
        if let Some(bytes) = plane.contiguous() {
            return self.bytes(bytes);
        }
        for first in (0..plane.rows()).step_by(ROWS) {
            let rows = first..(first + ROWS).min(plane.rows());
            let mut slices: Vec<IoSlice> = rows.map(|y| IoSlice::new(plane.row(y))).collect();
            self.all(&mut slices)?;
        }
        Ok(())
    }

    fn all(&mut self, mut slices: &mut [IoSlice]) -> io::Result<()> {
        while !slices.is_empty() {
            match self.file.write_vectored(slices) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => IoSlice::advance_slices(&mut slices, count),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // The pipe was opened non-blocking, or a program that shares it has made it so.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.wait_for_room()?,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Waits until the pipe accepts data.
    fn wait_for_room(&self) -> io::Result<()> {
        let mut interrupted = None;
        while !has_room(&self.file)? {
            let begin = self.interrupt.load(Ordering::Relaxed).then(|| *interrupted.get_or_insert_with(Instant::now));
            if begin.is_some_and(|begin| begin.elapsed() > PATIENCE) {
                return Err(io::ErrorKind::TimedOut.into());
            }
        }
        Ok(())
    }
}

impl Write for PlaneWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes(bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Waits for a while until a pipe accepts data, and returns whether it does.
fn has_room(file: &File) -> io::Result<bool> {
    let interval = Timespec { tv_sec: 0, tv_nsec: INTERVAL.as_nanos() as i64 };
    match poll(&mut [PollFd::new(file, PollFlags::OUT)], Some(&interval)) {
        Ok(count) => Ok(count > 0),
        Err(rustix::io::Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Stdout, unbuffered.
///
/// # Errors
/// When the system gives no other descriptor for it.
pub fn stdout() -> io::Result<File> {
    Ok(File::from(std::io::stdout().as_fd().try_clone_to_owned()?))
}

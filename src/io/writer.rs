//! Writes headers and planes to a file, a FIFO or stdout, without a buffer in between.

use crate::frame::Plane;
use std::fs::File;
use std::io::{self, IoSlice, Write};

/// Rows that are written with one call when a plane has padding between rows.
const ROWS: usize = 512;

/// Writes bytes to a file or a pipe.
pub struct PlaneWriter {
    file: File,
}

impl PlaneWriter {
    /// Writes to stdout.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn stdout() -> io::Result<Self> {
        stdout().map(PlaneWriter::new)
    }

    /// Writes to an open file.
    pub fn new(file: File) -> Self {
        super::enlarge_pipe(&file);
        PlaneWriter { file }
    }

    /// Writes all of `bytes`.
    ///
    /// # Errors
    /// When writing fails.
    pub fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.all(&mut [IoSlice::new(bytes)])
    }

    /// Writes the rows of `plane`, without padding.
    ///
    /// # Errors
    /// When writing fails.
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
                // A program that shares stdout may have made it non-blocking.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => wait_for_room(&self.file)?,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Waits until a pipe accepts data.
#[cfg(unix)]
fn wait_for_room(file: &File) -> io::Result<()> {
    use rustix::event::{PollFd, PollFlags, poll};
    match poll(&mut [PollFd::new(file, PollFlags::OUT)], None) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(unix))]
fn wait_for_room(_file: &File) -> io::Result<()> {
    std::thread::sleep(std::time::Duration::from_millis(10));
    Ok(())
}

#[cfg(unix)]
fn stdout() -> io::Result<File> {
    use std::os::fd::AsFd;
    Ok(File::from(std::io::stdout().as_fd().try_clone_to_owned()?))
}

#[cfg(windows)]
fn stdout() -> io::Result<File> {
    use std::os::windows::io::AsHandle;
    Ok(File::from(std::io::stdout().as_handle().try_clone_to_owned()?))
}

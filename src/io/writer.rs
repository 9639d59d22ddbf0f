//! Writes headers and planes to a file, a FIFO or stdout, past every buffer.

use crate::frame::Plane;
use std::fs::File;
use std::io::{self, IoSlice, Write};

/// Rows that go out with one call when a plane has padding between them.
const ROWS: usize = 512;

/// Bytes into a file or a pipe.
pub struct Writer {
    file: File,
}

impl Writer {
    /// Stdout (`-`) or a file, which is made anew.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open(name: &str) -> io::Result<Self> {
        Ok(Writer::of(if name == "-" { stdout()? } else { File::create(name)? }))
    }

    /// A file that is open.
    pub fn of(file: File) -> Self {
        super::enlarge_pipe(&file);
        Writer { file }
    }

    /// Writes all of `bytes`.
    ///
    /// # Errors
    /// When writing fails.
    pub fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.all(&mut [IoSlice::new(bytes)])
    }

    /// Writes the rows of `plane`, without what lies between them.
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
                // Whoever shares stdout with this program may have seen to it that no write waits.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => wait_for_room(&self.file)?,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Waits until a pipe takes more.
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

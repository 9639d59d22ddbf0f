//! Reads a file, a FIFO or stdin without a buffer in between.

use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Reads bytes from a file or a pipe. Peeked bytes are read again.
pub struct Reader {
    file: File,
    /// Bytes that were peeked.
    peeked: Vec<u8>,
    interrupt: Arc<AtomicBool>,
}

impl Reader {
    /// Opens stdin (`-`), a file or a FIFO, whose writer may come later. Once `interrupt` is set, reads return the end.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open(name: &str, interrupt: Arc<AtomicBool>) -> io::Result<Self> {
        let file = if name == "-" { stdin()? } else { open_at_once(name)? };
        super::enlarge_pipe(&file);
        Ok(Reader { file, peeked: Vec::new(), interrupt })
    }

    /// The next bytes, up to `len`, without consuming them.
    ///
    /// # Errors
    /// When reading fails.
    pub fn peek(&mut self, len: usize) -> io::Result<&[u8]> {
        while self.peeked.len() < len {
            let mut more = vec![0; len - self.peeked.len()];
            let count = self.read_file(&mut more)?;
            if count == 0 {
                break;
            }
            self.peeked.extend_from_slice(&more[..count]);
        }
        Ok(&self.peeked[..len.min(self.peeked.len())])
    }

    /// Fills `buffer`, and returns the number of bytes read: less than its length only at the end.
    ///
    /// # Errors
    /// When reading fails.
    pub fn fill(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.read(&mut buffer[filled..])? {
                0 => break,
                count => filled += count,
            }
        }
        Ok(filled)
    }

    /// Reads a line, without its end; `None` when there is no line end within `most` bytes.
    ///
    /// # Errors
    /// When reading fails.
    pub fn line(&mut self, most: usize) -> io::Result<Option<Vec<u8>>> {
        let mut line = Vec::new();
        let mut byte = [0];
        while line.len() < most {
            if self.fill(&mut byte)? == 0 {
                return Ok(None);
            }
            if byte == *b"\n" {
                return Ok(Some(line));
            }
            line.extend_from_slice(&byte);
        }
        Ok(None)
    }

    /// Was reading interrupted?
    pub fn is_interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }

    fn read_file(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.wait()? {
                return Ok(0);
            }
            match self.file.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return result,
            }
        }
    }

    /// Waits for data; `false` when interrupted.
    #[cfg(unix)]
    fn wait(&self) -> io::Result<bool> {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        // Short enough for a prompt reaction to Ctrl-C.
        let poll_interval = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
        loop {
            if self.is_interrupted() {
                return Ok(false);
            }
            let mut watched = [PollFd::new(&self.file, PollFlags::IN)];
            match poll(&mut watched, Some(&poll_interval)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) => return Ok(true),
                Err(error) => return Err(error.into()),
            }
        }
    }

    #[cfg(not(unix))]
    fn wait(&self) -> io::Result<bool> {
        Ok(!self.is_interrupted())
    }
}

impl Read for Reader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.peeked.is_empty() {
            return self.read_file(buffer);
        }
        let count = self.peeked.len().min(buffer.len());
        buffer[..count].copy_from_slice(&self.peeked[..count]);
        self.peeked.drain(..count);
        Ok(count)
    }
}

/// Opens a file, or a FIFO that may not have a writer yet: `Reader::wait`, which can be interrupted, waits for one.
#[cfg(target_os = "linux")]
fn open_at_once(name: &str) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags, fcntl_getfl, fcntl_setfl};
    let file = File::from(rustix::fs::open(name, OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK, Mode::empty())?);
    // Reads come after `poll`, so they block only briefly; with NONBLOCK, they could fail.
    fcntl_setfl(&file, fcntl_getfl(&file)? - OFlags::NONBLOCK)?;
    Ok(file)
}

/// On other systems, a FIFO without a writer may look like one at its end.
#[cfg(not(target_os = "linux"))]
fn open_at_once(name: &str) -> io::Result<File> {
    File::open(name)
}

#[cfg(unix)]
fn stdin() -> io::Result<File> {
    use std::os::fd::AsFd;
    // The file descriptor itself, without the buffer of `std::io::stdin`.
    Ok(File::from(std::io::stdin().as_fd().try_clone_to_owned()?))
}

#[cfg(windows)]
fn stdin() -> io::Result<File> {
    use std::os::windows::io::AsHandle;
    Ok(File::from(std::io::stdin().as_handle().try_clone_to_owned()?))
}

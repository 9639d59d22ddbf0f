//! Reads a file, a FIFO or stdin straight into the memory that it is given.

use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes from a file or a pipe. What was looked at in advance comes again.
pub struct Reader {
    file: File,
    /// Read already, but not asked for yet.
    ahead: Vec<u8>,
    interrupt: Arc<AtomicBool>,
}

impl Reader {
    /// Stdin (`-`), a file or a FIFO, whose writer may come later. Once `interrupt` is set, it is at its end.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open(name: &str, interrupt: Arc<AtomicBool>) -> io::Result<Self> {
        let file = if name == "-" { stdin()? } else { open_at_once(name)? };
        super::enlarge_pipe(&file);
        Ok(Reader { file, ahead: Vec::new(), interrupt })
    }

    /// The first bytes, up to `len`, without taking them.
    ///
    /// # Errors
    /// When reading fails.
    pub fn peek(&mut self, len: usize) -> io::Result<&[u8]> {
        while self.ahead.len() < len {
            let mut more = vec![0; len - self.ahead.len()];
            let count = self.read_file(&mut more)?;
            if count == 0 {
                break;
            }
            self.ahead.extend_from_slice(&more[..count]);
        }
        Ok(&self.ahead[..len.min(self.ahead.len())])
    }

    /// Fills `buffer`, and says how much of it: less than all only at the end.
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

    /// Up to the next line end, which is taken and left out; `None` when there is none within `most` bytes.
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

    /// Was the end reached because somebody asked for it?
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

    /// Waits until there is something to read; `false` when interrupted.
    #[cfg(unix)]
    fn wait(&self) -> io::Result<bool> {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        // Long enough to cost nothing, short enough for Ctrl-C to feel prompt.
        let tick = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
        loop {
            if self.is_interrupted() {
                return Ok(false);
            }
            let mut watched = [PollFd::new(&self.file, PollFlags::IN)];
            match poll(&mut watched, Some(&tick)) {
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
        if self.ahead.is_empty() {
            return self.read_file(buffer);
        }
        let count = self.ahead.len().min(buffer.len());
        buffer[..count].copy_from_slice(&self.ahead[..count]);
        self.ahead.drain(..count);
        Ok(count)
    }
}

/// Opens a file. A FIFO is opened whether or not it has a writer yet: waiting for one is left to `Reader::wait`, which
/// can be interrupted.
#[cfg(target_os = "linux")]
fn open_at_once(name: &str) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags, fcntl_getfl, fcntl_setfl};
    let file = File::from(rustix::fs::open(name, OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK, Mode::empty())?);
    // What has been waited for is there; a read that waits a little longer does no harm, one that fails would.
    fcntl_setfl(&file, fcntl_getfl(&file)? - OFlags::NONBLOCK)?;
    Ok(file)
}

/// Elsewhere, a FIFO without a writer may look like one at its end.
#[cfg(not(target_os = "linux"))]
fn open_at_once(name: &str) -> io::Result<File> {
    File::open(name)
}

#[cfg(unix)]
fn stdin() -> io::Result<File> {
    use std::os::fd::AsFd;
    // The file itself, past the buffer of `std::io::stdin`.
    Ok(File::from(std::io::stdin().as_fd().try_clone_to_owned()?))
}

#[cfg(windows)]
fn stdin() -> io::Result<File> {
    use std::os::windows::io::AsHandle;
    Ok(File::from(std::io::stdin().as_handle().try_clone_to_owned()?))
}

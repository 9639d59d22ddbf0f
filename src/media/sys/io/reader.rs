//! Reads a file, a FIFO or stdin without a buffer in between.

use super::read_ahead::{Filled, Filling, ReadAhead, fill};
use crate::sys::files::Name;
use anyhow::Result;
use histeq::Limits;
use histeq::internal::frame::{Pool, Sample};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::fd::{AsFd, AsRawFd};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Reads bytes from a file or a pipe. Peeked bytes are read again.
pub struct Reader {
    file: File,
    /// Bytes that were peeked.
    peeked: Vec<u8>,
    interrupt: Arc<AtomicBool>,
    /// What reads a regular file, once [`read_ahead`](Reader::read_ahead) has been called.
    ahead: Option<ReadAhead>,
}

impl Reader {
    /// Opens stdin (`-`), a file or a FIFO, whose writer may come later. Once `interrupt` is set, reads return the end.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open(name: &Name, interrupt: Arc<AtomicBool>) -> io::Result<Self> {
        let file = if *name == "-" { stdin()? } else { open_at_once(name.path())? };
        crate::sys::enlarge_pipe(&file);
        Ok(Reader { file, peeked: Vec::new(), interrupt, ahead: None })
    }

    /// Reads from an open file or pipe.
    pub fn new(file: File, interrupt: Arc<AtomicBool>) -> Self {
        Reader { file, peeked: Vec::new(), interrupt, ahead: None }
    }

    /// What it reads from, without the bytes that were peeked.
    pub fn into_file(self) -> File {
        self.file
    }

    /// The file that it reads, opened a second time, if only peeked bytes were read so far: a file can be read in any
    /// order, such as an index at its end.
    pub fn whole_file(&mut self) -> Option<File> {
        let is_whole = self.file.metadata().is_ok_and(|metadata| metadata.is_file())
            && self.file.stream_position().is_ok_and(|position| position == self.peeked.len() as u64);
        is_whole.then(|| File::open(format!("/proc/self/fd/{}", self.file.as_raw_fd())).ok()).flatten()
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
        fill(buffer, None, |buffer, _| self.read(buffer)).map(|(filled, _)| filled)
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

    /// Lets several threads read a regular file from now on, if buffers of `len` bytes are large enough. Returns how
    /// many of them are to be [begun](Reader::begin) at once: 1 if it is read as before.
    ///
    /// # Errors
    /// When the file's position cannot be read.
    pub fn read_ahead(&mut self, len: usize, limits: &Limits) -> io::Result<usize> {
        if self.file.metadata().is_ok_and(|metadata| metadata.is_file()) {
            let position = self.file.stream_position()? - self.peeked.len() as u64;
            self.ahead = ReadAhead::new(&self.file, position, len, limits);
            if self.ahead.is_some() {
                self.peeked.clear();
            }
        }
        Ok(self.ahead.as_ref().map_or(1, |ahead| ahead.most))
    }

    /// Begins to fill a buffer of `pool` with the next `len` bytes; without [`read_ahead`](Reader::read_ahead), fills
    /// it. Samples above the depth of `sample` are lowered to the highest code.
    ///
    /// # Errors
    /// When reading fails, or the pool has no memory.
    pub fn begin(&mut self, pool: &Arc<dyn Pool>, len: usize, sample: Sample) -> Result<Filling> {
        if let Some(ahead) = &mut self.ahead {
            return Ok(ahead.begin(pool, len, Some(sample), &self.interrupt));
        }
        let mut buffer = pool.buffer(len)?;
        let (filled, clamped) = fill(&mut buffer[..len], Some(sample), |buffer, _| self.read(buffer))?;
        Ok(Filling::done(buffer, filled, clamped))
    }

    /// Waits until a buffer is filled. Call it for the buffers in the order in which they were begun.
    ///
    /// # Errors
    /// When reading failed, or the pool had no memory.
    pub fn finish(&mut self, filling: Filling) -> Result<Filled> {
        let filled = filling.wait()?;
        if let Some(ahead) = &mut self.ahead {
            ahead.take(&filled);
        }
        Ok(filled)
    }

    /// Whether reading was interrupted.
    pub fn is_interrupted(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }

    fn read_file(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(ahead) = &mut self.ahead {
            return ahead.read(buffer);
        }
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
    fn wait(&self) -> io::Result<bool> {
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
fn open_at_once(name: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags, fcntl_getfl, fcntl_setfl};
    let file = File::from(rustix::fs::open(name, OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK, Mode::empty())?);
    // Reads come after `poll`, so they block only briefly; with NONBLOCK, they could fail.
    fcntl_setfl(&file, fcntl_getfl(&file)? - OFlags::NONBLOCK)?;
    Ok(file)
}

fn stdin() -> io::Result<File> {
    // The file descriptor itself, without the buffer of `std::io::stdin`.
    Ok(File::from(std::io::stdin().as_fd().try_clone_to_owned()?))
}

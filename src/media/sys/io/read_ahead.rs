//! Reads a regular file by several threads, each of which fills buffers from their own offset in the file.

use anyhow::{Context, Result};
use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use histeq::Limits;
use histeq::internal::frame::{Buffer, Pool, Sample};
use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle};

/// The most threads: one copies 6 to 8 GB/s out of the page cache, and each needs a core.
const MAX_THREADS: usize = 6;

/// The least bytes of a buffer that is worth waking a thread for.
const MIN_BYTES: usize = 256 << 10;

/// The most bytes of buffers that are filled ahead, if they are more than two; two of them fill no more than an eighth
/// of the [memory](limits::under_way) for frames.
const MAX_AHEAD: usize = 64 << 20;

/// The most bytes that are read before samples are checked.
const AT_ONCE: usize = 256 << 10;

/// A buffer that is being filled.
pub struct Filling(Receiver<Result<Filled>>);

/// A buffer, and how many of its bytes are filled: fewer than were asked for only at the end.
pub struct Filled {
    /// The buffer.
    pub buffer: Box<dyn Buffer>,
    /// The number of bytes.
    pub len: usize,
    /// Whether samples were above their depth, and are lowered.
    pub clamped: bool,
    /// The offset in the file after these bytes.
    end: u64,
}

impl Filling {
    /// A buffer that is filled already.
    pub(crate) fn done(buffer: Box<dyn Buffer>, len: usize, clamped: bool) -> Self {
        let (sender, receiver) = bounded(1);
        let _ = sender.send(Ok(Filled { buffer, len, clamped, end: 0 }));
        Filling(receiver)
    }

    /// The buffer, when it is filled.
    pub(crate) fn wait(self) -> Result<Filled> {
        self.0.recv().context("a thread that reads has ended")?
    }
}

/// Fills `buffer` by calls of `read`, which gets the rest of the buffer and its offset, and returns the number of
/// bytes, 0 at the end. Returns how many bytes are filled, and whether samples were lowered.
///
/// Samples that may exceed their depth are read in blocks that are still in the cache when they are checked.
pub(crate) fn fill(
    buffer: &mut [u8],
    sample: Option<Sample>,
    mut read: impl FnMut(&mut [u8], usize) -> io::Result<usize>,
) -> io::Result<(usize, bool)> {
    let sample = sample.filter(|sample| sample.may_exceed());
    let most = if sample.is_some() { AT_ONCE } else { usize::MAX };
    let (mut filled, mut seen, mut clamped) = (0, 0, false);
    while filled < buffer.len() {
        let end = buffer.len().min(filled.saturating_add(most));
        match read(&mut buffer[filled..end], filled)? {
            0 => break,
            count => filled += count,
        }
        if let Some(sample) = sample {
            // The last sample may have only its first byte yet: check whole samples.
            let whole = filled & !1;
            clamped |= sample.clamp(&mut buffer[seen..whole]);
            seen = whole;
        }
    }
    Ok((filled, clamped))
}

/// A file that is read at many offsets at once.
pub(crate) struct ReadAhead {
    file: Arc<File>,
    /// Where the next bytes are read.
    position: u64,
    /// The offset after the last buffer that was delivered.
    taken: Option<u64>,
    /// How many buffers are to be filled at once.
    pub most: usize,
    /// `None` once the threads have to end.
    jobs: Option<Sender<ReadJob>>,
    queued: Receiver<ReadJob>,
    threads: Vec<JoinHandle<()>>,
}

/// A buffer to be filled.
struct ReadJob {
    file: Arc<File>,
    position: u64,
    pool: Arc<dyn Pool>,
    len: usize,
    sample: Option<Sample>,
    interrupt: Arc<AtomicBool>,
    done: Sender<Result<Filled>>,
}

impl ReadAhead {
    /// Threads that read `file` from `position` on, into buffers of `len` bytes; `None` where they would gain nothing,
    /// because buffers are small or cores few, or where they cannot be started.
    pub fn new(file: &File, position: u64, len: usize, limits: &Limits) -> Option<Self> {
        let threads = (limits.threads() / 3).min(MAX_THREADS);
        let wins = threads > 1 && len >= MIN_BYTES && len <= limits.under_way() / 16;
        if wins { Self::with_threads(file, position, len, threads).ok() } else { None }
    }

    fn with_threads(file: &File, position: u64, len: usize, threads: usize) -> io::Result<Self> {
        let (jobs, queued) = unbounded::<ReadJob>();
        let start = |_| {
            let jobs = queued.clone();
            Builder::new().name("read".to_owned()).spawn(move || jobs.iter().for_each(ReadJob::run))
        };
        Ok(ReadAhead {
            file: Arc::new(file.try_clone()?),
            position,
            taken: None,
            most: (2 * threads).min(MAX_AHEAD / len.max(1)).max(2),
            jobs: Some(jobs),
            threads: (0..threads).map(start).collect::<io::Result<_>>()?,
            queued,
        })
    }

    /// Reads the next bytes on this thread.
    pub fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (count, _) = fill_at(&self.file, buffer, None, self.position)?;
        self.position += count as u64;
        Ok(count)
    }

    /// Fills a buffer of `pool` with the next `len` bytes, which are checked if `sample` is given.
    pub fn begin(
        &mut self,
        pool: &Arc<dyn Pool>,
        len: usize,
        sample: Option<Sample>,
        interrupt: &Arc<AtomicBool>,
    ) -> Filling {
        let (done, filling) = bounded(1);
        let (file, pool, interrupt) = (self.file.clone(), pool.clone(), interrupt.clone());
        let job = ReadJob { file, position: self.position, pool, len, sample, interrupt, done };
        self.position += len as u64;
        // Without threads the job is dropped, and the wait for it fails.
        let _ = self.jobs.as_ref().map(|jobs| jobs.send(job));
        Filling(filling)
    }

    /// Notes that all bytes up to the end of `filled` are delivered.
    pub fn take(&mut self, filled: &Filled) {
        self.taken = Some(filled.end);
    }
}

impl Drop for ReadAhead {
    fn drop(&mut self) {
        self.jobs = None;
        self.queued.try_iter().for_each(drop);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
        // Other programs with the same stdin continue after the delivered bytes.
        let _ = self.file.as_ref().seek(SeekFrom::Start(self.taken.unwrap_or(self.position)));
    }
}

impl ReadJob {
    fn run(self) {
        let filled = self.fill();
        // The receiver is gone when the run has ended.
        let _ = self.done.send(filled);
    }

    fn fill(&self) -> Result<Filled> {
        let mut buffer = self.pool.buffer(self.len)?;
        let (len, clamped) = match self.interrupt.load(Ordering::Relaxed) {
            true => (0, false),
            false => fill_at(&self.file, &mut buffer[..self.len], self.sample, self.position)?,
        };
        Ok(Filled { buffer, len, clamped, end: self.position + len as u64 })
    }
}

/// Fills `buffer` from `position` in the file on, as far as the file goes.
fn fill_at(file: &File, buffer: &mut [u8], sample: Option<Sample>, position: u64) -> io::Result<(usize, bool)> {
    fill(buffer, sample, |buffer, filled| {
        loop {
            match file.read_at(buffer, position + filled as u64) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => return read,
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use histeq::internal::frame::HostPool;
    use std::io::{Read, Write};

    const LEN: usize = 100_000;

    /// A file of `len` bytes, read by three threads, and its bytes.
    fn begun(len: usize) -> (File, ReadAhead, Vec<u8>) {
        let bytes: Vec<u8> = (0..len as u32).flat_map(|word| word.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&bytes[..len]).unwrap();
        let ahead = ReadAhead::with_threads(&file, 0, LEN, 3).unwrap();
        (file, ahead, bytes[..len].to_vec())
    }

    /// The next bytes, of `count` buffers that are filled at once.
    fn next(ahead: &mut ReadAhead, count: usize) -> Vec<u8> {
        let pool: Arc<dyn Pool> = Arc::new(HostPool::default());
        let begun: Vec<Filling> = (0..count).map(|_| ahead.begin(&pool, LEN, None, &Arc::default())).collect();
        let mut bytes = Vec::new();
        for filling in begun {
            let filled = filling.wait().unwrap();
            ahead.take(&filled);
            bytes.extend_from_slice(&filled.buffer[..filled.len]);
        }
        bytes
    }

    #[test]
    fn what_several_threads_read_comes_in_order_up_to_a_short_end() {
        let (_, mut ahead, bytes) = begun(LEN * 40 + 17);
        let mut head = [0; 10];
        assert_eq!(ahead.read(&mut head).unwrap(), 10);
        assert_eq!([head.to_vec(), next(&mut ahead, 50)].concat(), bytes);
        assert_eq!(ahead.read(&mut head).unwrap(), 0, "the end");
    }

    #[test]
    fn a_file_that_is_cut_while_it_is_read_has_a_short_end() {
        let (file, mut ahead, bytes) = begun(LEN * 20);
        assert_eq!(next(&mut ahead, 4), bytes[..LEN * 4]);
        file.set_len(LEN as u64 * 6 + 5).unwrap();
        assert_eq!(next(&mut ahead, 8), bytes[LEN * 4..LEN * 6 + 5]);
    }

    #[test]
    fn others_go_on_behind_what_was_taken_out() {
        let (mut file, mut ahead, bytes) = begun(LEN * 20);
        next(&mut ahead, 4);
        let pool: Arc<dyn Pool> = Arc::new(HostPool::default());
        let _ahead_of_time: Vec<Filling> = (0..9).map(|_| ahead.begin(&pool, LEN, None, &Arc::default())).collect();
        drop(ahead);
        let mut rest = Vec::new();
        file.read_to_end(&mut rest).unwrap();
        assert_eq!(rest.len(), LEN * 16);
        assert_eq!(rest, bytes[LEN * 4..]);
    }
}

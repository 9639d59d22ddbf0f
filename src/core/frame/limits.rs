//! Limits for the frames of equalizers: pixels of each frame, bytes of all frames, and threads. Pools count buffers
//! here.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The default limit of pixels in a frame, which is also FFmpeg's: 16384x16384.
pub const MAX_PIXELS: u64 = 1 << 28;

/// The most bytes of frames on their way from the source to the sink, even if [`Limits::memory`] allows for more.
const MAX_UNDER_WAY: usize = 2 << 30;

/// Limits of pixels, memory and threads, with a count of the memory in use. Clones share the count, so equalizers that
/// are built with clones share the memory; those that are built with other limits have their own.
///
/// ```
/// use histeq::{Equalizer, Limits, PixelFormat};
///
/// # fn main() -> histeq::Result<()> {
/// let limits = Limits::default().with_memory(100_000).with_threads(1);
/// let mut equalizer = Equalizer::builder(PixelFormat::Gray, 640, 480).limits(&limits).build()?;
/// // A frame and its result need 2 x 307 kB.
/// assert!(equalizer.push(&vec![0; 640 * 480]).is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Limits {
    pixels: u64,
    memory: usize,
    threads: Option<usize>,
    used: Arc<Used>,
}

/// What is in use, or was announced.
#[derive(Debug, Default)]
struct Used {
    frames: AtomicUsize,
    peak: AtomicUsize,
    look_ahead: AtomicUsize,
    codecs: AtomicUsize,
}

/// Limits are equal if they share their memory, as clones do.
impl PartialEq for Limits {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.used, &other.used)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits { pixels: MAX_PIXELS, memory: usize::MAX, threads: None, used: Arc::default() }
    }
}

impl Limits {
    /// The same limits with at most this many pixels in a frame; 268,435,456 (16384x16384) by default. Nothing is
    /// in use within the new limits.
    #[must_use]
    pub fn with_pixels(self, pixels: u64) -> Self {
        Limits { pixels, used: Arc::default(), ..self }
    }

    /// The same limits with this many bytes for all frames that are in use at the same time, results and idle buffers
    /// included; without a limit by default. It is checked when a frame goes in: a result of its size has to fit into
    /// what is left, and a sixteenth more. So what is in use may exceed it by that, and by the results of frames that
    /// wait for later ones. Allow for twice the frames that [`Equalizer::reach`](crate::Equalizer::reach) has behind
    /// a frame, and four for each thread. Nothing is in use within the new limits.
    #[must_use]
    pub fn with_memory(self, bytes: usize) -> Self {
        Limits { memory: bytes, used: Arc::default(), ..self }
    }

    /// The same limits with this many threads for each part of the work, at least 1; by default one for each core.
    /// Nothing is in use within the new limits.
    #[must_use]
    pub fn with_threads(self, threads: usize) -> Self {
        Limits { threads: Some(threads.max(1)), used: Arc::default(), ..self }
    }

    /// The most pixels of a frame.
    pub fn pixels(&self) -> u64 {
        self.pixels
    }

    /// The most bytes of all frames; `usize::MAX` without a limit.
    pub fn memory(&self) -> usize {
        self.memory
    }

    /// How many threads each part of the work may start: one for each core, unless it was
    /// [set](Limits::with_threads).
    pub fn threads(&self) -> usize {
        self.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
    }

    /// The bytes of memory that this process can still allocate: those of the machine, or fewer in a container. `None`
    /// where the system does not report it.
    pub fn available() -> Option<usize> {
        let number = |path: &Path| std::fs::read_to_string(path).ok()?.trim().parse::<usize>().ok();
        let machine = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
            let kib = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
            kib.trim().trim_end_matches(" kB").parse::<usize>().ok().map(|kib| kib << 10)
        });
        // The line `0::/a/b` has the process's cgroup of version 2; the cgroups that contain it may have lower limits.
        let groups = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let group = groups.lines().find_map(|line| line.strip_prefix("0::/")).unwrap_or_default();
        let group = Path::new("/sys/fs/cgroup").join(group);
        let of_group =
            group.ancestors().take_while(|folder| folder.starts_with("/sys/fs/cgroup")).filter_map(|folder| {
                let used = number(&folder.join("memory.current"))?;
                Some(number(&folder.join("memory.max"))?.saturating_sub(used))
            });
        // The cgroup of version 1, at the path that a container has it.
        let old = Path::new("/sys/fs/cgroup/memory");
        let of_old = number(&old.join("memory.limit_in_bytes")).zip(number(&old.join("memory.usage_in_bytes")));
        let of_old = of_old.map(|(most, used)| most.saturating_sub(used));
        of_group.chain(of_old).chain(machine).min()
    }

    /// The bytes of all frames that are in use now, and of idle buffers, which go with their equalizer.
    pub fn in_use(&self) -> usize {
        self.used.frames.load(Ordering::Relaxed)
    }

    /// The most bytes that were [in use](Limits::in_use) at the same time so far.
    pub fn peak(&self) -> usize {
        self.used.peak.load(Ordering::Relaxed)
    }
}

/// For the packages that decode and encode.
#[doc(hidden)]
impl Limits {
    /// The number of threads that was [set](Limits::with_threads), if one was.
    pub fn given_threads(&self) -> Option<usize> {
        self.threads
    }

    /// Records that a run with a look-ahead of this many frames begins.
    pub fn note_look_ahead(&self, frames: usize) {
        self.used.look_ahead.fetch_max(frames, Ordering::Relaxed);
    }

    /// Records for [`share_of_codecs`](Limits::share_of_codecs) that a decoder of frames of this many bytes is opened.
    /// Frames too large for the limit are refused later, so they are ignored.
    pub fn note_decoder(&self, picture: usize) {
        if picture <= self.memory / 2 {
            self.used.codecs.fetch_max(picture.saturating_mul(32 + 2 * self.threads()), Ordering::Relaxed);
        }
    }

    /// Records for [`share_of_codecs`](Limits::share_of_codecs) that an encoder of frames of this many bytes is opened.
    /// Measured numbers of frames that encoders keep in host memory: x265 170 with two threads and 330 with 16, x264
    /// 150 and 230, SVT-AV1 180.
    pub fn note_encoder(&self, picture: usize) {
        self.used.codecs.fetch_max(picture.saturating_mul(300 + 20 * self.threads()), Ordering::Relaxed);
    }

    /// The bytes that a video's decoder and encoder may allocate besides the frames of pools: an estimate by the
    /// largest need that was recorded so far.
    pub fn share_of_codecs(&self) -> usize {
        self.used.codecs.load(Ordering::Relaxed)
    }

    /// The limit of bytes of frames on their way from the source to the sink, without the frames of a look-ahead.
    pub fn under_way(&self) -> usize {
        (self.memory / 4).min(MAX_UNDER_WAY)
    }

    /// The most bytes of idle buffers that a pool keeps.
    pub(crate) fn idle(&self) -> usize {
        self.memory / 16
    }

    /// Checks that a frame of `bytes` bytes, and a result of the same size, fit into the memory that is left.
    ///
    /// # Errors
    /// When they do not fit.
    pub fn check_room(&self, bytes: usize) -> Result<(), NoRoom> {
        if bytes == 0 || bytes.saturating_mul(2).saturating_add(self.in_use()) <= self.memory {
            return Ok(());
        }
        Err(self.no_room(bytes))
    }

    /// Checks that a result of `bytes` bytes fits into the memory that is left; the idle memory of a pool, which may
    /// serve it, counts for nothing.
    pub(crate) fn check_result(&self, bytes: usize) -> Result<(), NoRoom> {
        if bytes.saturating_add(self.in_use()) <= self.memory.saturating_add(self.idle()) {
            return Ok(());
        }
        Err(self.no_room(bytes))
    }

    fn no_room(&self, bytes: usize) -> NoRoom {
        let (in_use, most) = (self.in_use(), self.memory);
        let ahead = self.used.look_ahead.load(Ordering::Relaxed);
        // Measured: this many frames, the decoder's included, use three quarters of the limit; `under_way` is the
        // fourth.
        let needed = bytes.saturating_mul(ahead + 4 + self.threads().min(8)) / 3 * 4;
        NoRoom { frame: bytes, in_use, most, needed, looks_ahead: ahead > 0 }
    }

    /// Counts `bytes` bytes until the result is dropped.
    pub fn count(&self, bytes: usize) -> Counted {
        let before = self.used.frames.fetch_add(bytes, Ordering::Relaxed);
        self.used.peak.fetch_max(before + bytes, Ordering::Relaxed);
        Counted(self.used.clone(), bytes)
    }
}

/// The bytes of a buffer of a [`Pool`](super::Pool), which count towards the limit until this value is dropped.
#[derive(Debug)]
pub struct Counted(Arc<Used>, usize);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.frames.fetch_sub(self.1, Ordering::Relaxed);
    }
}

/// The error that the memory for frames cannot hold another frame.
#[derive(Clone, Copy, Debug, thiserror::Error)]
pub struct NoRoom {
    frame: usize,
    in_use: usize,
    most: usize,
    /// An estimate of the bytes of all frames of the run.
    needed: usize,
    looks_ahead: bool,
}

/// Decimal megabytes.
fn megabytes(bytes: usize) -> String {
    match bytes as f64 / 1e6 {
        few @ ..10.0 => format!("{few:.1}"),
        many => format!("{many:.0}"),
    }
}

impl NoRoom {
    /// The cause, without the remedy.
    #[doc(hidden)]
    pub fn cause(&self) -> String {
        let [frame, in_use, most] = [self.frame, self.in_use, self.most].map(megabytes);
        format!(
            "a frame of {frame} MB and its result do not fit into the {most} MB for frames, {in_use} of which are in use"
        )
    }

    /// The megabytes that all frames need, if they are more than the limit.
    #[doc(hidden)]
    pub fn megabytes_needed(&self) -> Option<usize> {
        (self.needed > self.most).then(|| self.needed.div_ceil(10_000_000) * 10)
    }

    /// Whether a look-ahead of 0 would take less.
    #[doc(hidden)]
    pub fn looks_ahead(&self) -> bool {
        self.looks_ahead
    }
}

impl fmt::Display for NoRoom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let less = if self.looks_ahead { ", or look less far ahead, which takes less" } else { "" };
        match self.megabytes_needed() {
            None => write!(f, "{} (allow more memory)", self.cause()),
            Some(needed) => write!(f, "{} (allow about {needed} MB{less})", self.cause()),
        }
    }
}

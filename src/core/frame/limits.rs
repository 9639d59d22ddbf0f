//! Limits for the frames of this process: pixels of each frame, and bytes of all frames. Pools count buffers here.

use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// The default limit of pixels in a frame, which is also FFmpeg's: 16384x16384.
pub const MAX_PIXELS: u64 = 1 << 28;

/// The most bytes of frames on their way from the source to the sink, even if [`memory`] allows for more.
const MAX_UNDER_WAY: usize = 2 << 30;

static PIXELS: AtomicU64 = AtomicU64::new(MAX_PIXELS);
static MEMORY: AtomicUsize = AtomicUsize::new(usize::MAX);
static IN_USE: AtomicUsize = AtomicUsize::new(0);
static LOOK_AHEAD: AtomicUsize = AtomicUsize::new(0);
static SHARE: AtomicUsize = AtomicUsize::new(0);
/// 0 means one thread for each core.
static THREADS: AtomicUsize = AtomicUsize::new(0);

/// The error that the memory for frames cannot hold another frame. Numbers are bytes.
#[derive(Clone, Copy, Debug, thiserror::Error)]
pub struct NoRoom {
    frame: usize,
    in_use: usize,
    most: usize,
    /// An estimate of the bytes of all frames of the run.
    needed: usize,
    looks_ahead: bool,
}

impl fmt::Display for NoRoom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Decimal megabytes, the unit of --max-memory.
        let megabytes = |bytes: usize| match bytes as f64 / 1e6 {
            few @ ..10.0 => format!("{few:.1}"),
            many => format!("{many:.0}"),
        };
        let NoRoom { frame, in_use, most, needed, looks_ahead } = *self;
        let (frame, in_use, all) = (megabytes(frame), megabytes(in_use), megabytes(most));
        write!(
            f,
            "a frame of {frame} MB and its result do not fit into the {all} MB for frames, {in_use} of which are in use"
        )?;
        if needed <= most {
            return write!(f, " (give more with --max-memory)");
        }
        let needed = needed.div_ceil(10_000_000) * 10;
        let less = if looks_ahead { ", or a look-ahead of 0, which takes less" } else { "" };
        write!(f, " (the run needs about {needed} MB: --max-memory {needed}M{less})")
    }
}

/// Sets the most pixels of a frame, and the most bytes of all frames, for the whole process.
pub fn set(pixels: u64, memory: usize) {
    PIXELS.store(pixels, Ordering::Relaxed);
    MEMORY.store(memory, Ordering::Relaxed);
}

/// Sets how many threads a part of the process may start for its work: a decoder, an equalizer, an encoder.
pub fn set_threads(threads: usize) {
    THREADS.store(threads, Ordering::Relaxed);
}

/// The number of threads that was [set](set_threads), if one was.
pub fn given_threads() -> Option<usize> {
    Some(THREADS.load(Ordering::Relaxed)).filter(|&threads| threads > 0)
}

/// How many threads a part of the process may start for its work: one for each core, unless it was [set](set_threads).
pub fn threads() -> usize {
    given_threads().unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// The most pixels of a frame.
pub fn pixels() -> u64 {
    PIXELS.load(Ordering::Relaxed)
}

/// Records that a run with a look-ahead of this many frames begins.
pub fn note_look_ahead(frames: usize) {
    LOOK_AHEAD.fetch_max(frames, Ordering::Relaxed);
}

/// Records for [`share_of_codecs`] that a decoder of frames of this many bytes is opened. Frames too large for the
/// limit are refused later, so they are ignored.
pub fn note_decoder(picture: usize) {
    if picture <= memory() / 2 {
        SHARE.fetch_max(picture.saturating_mul(32 + 2 * threads()), Ordering::Relaxed);
    }
}

/// Records for [`share_of_codecs`] that an encoder of frames of this many bytes is opened. Measured numbers of frames
/// that encoders keep in host memory: x265 170 with two threads and 330 with 16, x264 150 and 230, SVT-AV1 180.
pub fn note_encoder(picture: usize) {
    SHARE.fetch_max(picture.saturating_mul(300 + 20 * threads()), Ordering::Relaxed);
}

/// The bytes that a video's decoder and encoder may allocate besides the frames of pools: an estimate by the largest
/// need that was recorded so far.
pub fn share_of_codecs() -> usize {
    SHARE.load(Ordering::Relaxed)
}

/// The limit of bytes of all frames; `usize::MAX` unless it was [set].
pub fn memory() -> usize {
    MEMORY.load(Ordering::Relaxed)
}

/// The limit of bytes of frames on their way from the source to the sink, without the frames of a look-ahead.
pub fn under_way() -> usize {
    (memory() / 4).min(MAX_UNDER_WAY)
}

/// The most bytes of idle buffers that a pool keeps.
pub(crate) fn idle() -> usize {
    memory() / 16
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
    let of_group = group.ancestors().take_while(|folder| folder.starts_with("/sys/fs/cgroup")).filter_map(|folder| {
        let used = number(&folder.join("memory.current"))?;
        Some(number(&folder.join("memory.max"))?.saturating_sub(used))
    });
    // The cgroup of version 1, at the path that a container has it.
    let old = Path::new("/sys/fs/cgroup/memory");
    let of_old = number(&old.join("memory.limit_in_bytes")).zip(number(&old.join("memory.usage_in_bytes")));
    let of_old = of_old.map(|(most, used)| most.saturating_sub(used));
    of_group.chain(of_old).chain(machine).min()
}

/// Checks that a frame of `bytes` bytes, and a result of the same size, fit into the memory that is left for frames.
///
/// # Errors
/// When they do not fit.
pub fn check_room(bytes: usize) -> Result<(), NoRoom> {
    let (in_use, most) = (IN_USE.load(Ordering::Relaxed), memory());
    if bytes == 0 || bytes.saturating_mul(2).saturating_add(in_use) <= most {
        return Ok(());
    }
    let ahead = LOOK_AHEAD.load(Ordering::Relaxed);
    // Measured: this many frames, the decoder's included, use three quarters of the limit; `under_way` is the fourth.
    let needed = bytes.saturating_mul(ahead + 4 + threads().min(8)) / 3 * 4;
    Err(NoRoom { frame: bytes, in_use, most, needed, looks_ahead: ahead > 0 })
}

/// The bytes of a buffer of a [`Pool`](super::Pool), which count towards the limit until this value is dropped.
#[derive(Debug)]
pub struct Counted(usize);

impl Counted {
    /// Counts `bytes` bytes.
    pub fn new(bytes: usize) -> Self {
        IN_USE.fetch_add(bytes, Ordering::Relaxed);
        Counted(bytes)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        IN_USE.fetch_sub(self.0, Ordering::Relaxed);
    }
}

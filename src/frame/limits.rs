//! The most that frames may take in this process: pixels of each, and bytes of all. Pools count their buffers here.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// The most pixels of a frame by default, which is also the most that FFmpeg decodes: 16384x16384.
pub const MOST_PIXELS: u64 = 1 << 28;

/// The most bytes of frames that are on their way from the source to the sink, if [`memory`] allows for more.
const MOST_UNDER_WAY: usize = 2 << 30;

static PIXELS: AtomicU64 = AtomicU64::new(MOST_PIXELS);
static MEMORY: AtomicUsize = AtomicUsize::new(usize::MAX);
static IN_USE: AtomicUsize = AtomicUsize::new(0);

/// There is no room for another frame.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error(
    "a frame of {needed} MiB and its result do not fit into the {most} MiB for frames, {in_use} of which are in use (give \
     more with --max-memory)"
)]
pub struct NoRoom {
    needed: usize,
    in_use: usize,
    most: usize,
}

/// Sets the most pixels of a frame, and the most bytes of all frames, for the whole process.
pub fn set(pixels: u64, memory: usize) {
    PIXELS.store(pixels, Ordering::Relaxed);
    MEMORY.store(memory, Ordering::Relaxed);
}

/// The most pixels of a frame.
pub fn pixels() -> u64 {
    PIXELS.load(Ordering::Relaxed)
}

/// The most bytes of all frames; `usize::MAX` unless it was [set].
pub fn memory() -> usize {
    MEMORY.load(Ordering::Relaxed)
}

/// The most bytes of frames that are on their way from the source to the sink, those of a look-ahead not counted.
pub fn under_way() -> usize {
    (memory() / 4).min(MOST_UNDER_WAY)
}

/// The most bytes that a pool keeps without use.
pub(crate) fn idle() -> usize {
    memory() / 16
}

/// Checks that a frame of `bytes` bytes, and a result of the same size, fit into what is left.
///
/// # Errors
/// When they do not.
pub fn check_room(bytes: usize) -> Result<(), NoRoom> {
    let (in_use, most) = (IN_USE.load(Ordering::Relaxed), memory());
    if bytes == 0 || bytes.saturating_mul(2).saturating_add(in_use) <= most {
        return Ok(());
    }
    let mib = |bytes: usize| bytes >> 20;
    Err(NoRoom { needed: mib(bytes), in_use: mib(in_use), most: mib(most) })
}

/// Bytes of a buffer, which count until this is dropped.
#[derive(Debug)]
pub(crate) struct Counted(usize);

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

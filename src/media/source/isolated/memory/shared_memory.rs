//! Frames in memory that two processes share, in blocks of the size of a picture. The program makes each on request,
//! and counts it; the decoding process writes there; the program copies what it reads, so that it cannot change any
//! more.
#![allow(unsafe_code, reason = "maps memory that another process writes")]

use crate::ffmpeg::demux::Lie;
use crate::source::isolated::channel::Channel;
use crate::source::isolated::messages::{RowPlace, Wants};
use histeq::Limits;
use histeq::internal::frame::limits::Counted;
use histeq::internal::frame::{Buffer, Memory, MemoryError, Pool};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::collections::BTreeMap;
use std::io::{self, Error, ErrorKind};
use std::ops::{Deref, DerefMut};
use std::os::fd::OwnedFd;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The most blocks of a decoding process: pictures of several decoders that work ahead.
const MAX_BLOCKS: usize = 4096;

/// The length of each block is a multiple of this many bytes.
const PAGE: usize = 4096;

/// A block serves requests for at least 1/`MIN_USED` of its length.
const MIN_USED: usize = 4;

/// Shared memory that is mapped here.
struct Mapping {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: an address of the process, not tied to a thread.
unsafe impl Send for Mapping {}
// SAFETY: as above; what reads and writes there is up to its owner.
unsafe impl Sync for Mapping {}

impl Mapping {
    fn new(descriptor: &OwnedFd, len: usize, protection: ProtFlags) -> io::Result<Self> {
        // SAFETY: a new mapping, at an address that the kernel chooses.
        let start = unsafe { mmap(ptr::null_mut(), len, protection, MapFlags::SHARED, descriptor, 0) }?;
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Mapping { start, len })
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: made in `new`; its owner has given back all that points there.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.len) };
    }
}

/// Asks the program for a block of this length, in bytes.
pub type Ask = Box<dyn Fn(usize) -> io::Result<OwnedFd> + Send + Sync>;

/// The pool of the decoding process. It keeps all memory that it was given.
#[derive(Clone)]
pub struct SharedPool(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    /// Locked during a request for a block, so that both sides number the blocks alike.
    ask: Mutex<Ask>,
    /// The most bytes of waiting frames, as the program has set it.
    room: AtomicUsize,
    limits: Limits,
}

#[derive(Default)]
struct State {
    idle: Vec<SharedBlock>,
    /// Number and end of each block, by the address of its first byte.
    places: BTreeMap<usize, (u32, usize)>,
    given: u32,
    /// Whether the program has refused a block. Then no more are requested.
    is_all: bool,
}

struct SharedBlock {
    mapping: Mapping,
    _counted: Counted,
}

impl SharedPool {
    /// A pool of the blocks that `ask` returns, within these limits.
    pub fn new(ask: Ask, limits: &Limits) -> Self {
        let (ask, limits) = (Mutex::new(ask), limits.clone());
        SharedPool(Arc::new(Shared { state: Mutex::default(), ask, room: AtomicUsize::new(0), limits }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on, frames of this many bytes may wait.
    pub fn set_room(&self, bytes: usize) {
        self.0.room.store(bytes, Ordering::Relaxed);
    }

    /// The number of the block that has these bytes, and their offset in it; `None` if no block has them.
    pub fn place_of(&self, bytes: &[u8]) -> Option<(u32, u64)> {
        let address = bytes.as_ptr().addr();
        let state = self.state();
        let (&start, &(number, end)) = state.places.range(..=address).next_back()?;
        (address + bytes.len() <= end).then_some((number, (address - start) as u64))
    }

    fn make(&self, len: usize) -> io::Result<SharedBlock> {
        let ask = self.0.ask.lock().unwrap_or_else(PoisonError::into_inner);
        if self.state().is_all {
            return Err(ErrorKind::OutOfMemory.into());
        }
        let descriptor = ask(len).inspect_err(|_| self.state().is_all = true)?;
        let mut state = self.state();
        let number = state.given;
        state.given += 1;
        let mapping = Mapping::new(&descriptor, len, ProtFlags::READ | ProtFlags::WRITE)?;
        let start = mapping.start.as_ptr().addr();
        state.places.insert(start, (number, start + len));
        Ok(SharedBlock { mapping, _counted: self.0.limits.count(len) })
    }
}

impl Pool for SharedPool {
    fn buffer(&self, len: usize) -> Result<Box<dyn Buffer>, MemoryError> {
        let len = len.max(1).next_multiple_of(PAGE);
        let found = {
            let mut state = self.state();
            let fits = |block: &SharedBlock| (len..=len.saturating_mul(MIN_USED)).contains(&block.mapping.len);
            // The block that was used last is the likeliest to be in the caches.
            let found = state.idle.iter().rposition(fits);
            found.map(|index| state.idle.swap_remove(index))
        };
        let block = match found {
            Some(block) => block,
            None => {
                self.0.limits.check_room(len)?;
                self.make(len).map_err(MemoryError::new)?
            }
        };
        Ok(Box::new(SharedBuffer { block: Some(block), pool: self.clone() }))
    }

    fn make_room(&self) -> usize {
        self.0.room.load(Ordering::Relaxed)
    }
}

/// A buffer of a [`SharedPool`], to which it goes back when dropped.
struct SharedBuffer {
    /// `None` only while it is being dropped.
    block: Option<SharedBlock>,
    pool: SharedPool,
}

impl Deref for SharedBuffer {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        let Some(SharedBlock { mapping, .. }) = &self.block else { return &[] };
        // SAFETY: the mapping has these bytes, and the other side does not write.
        unsafe { std::slice::from_raw_parts(mapping.start.as_ptr(), mapping.len) }
    }
}

impl DerefMut for SharedBuffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        let Some(SharedBlock { mapping, .. }) = &mut self.block else { return &mut [] };
        // SAFETY: as above, and only one buffer has the block.
        unsafe { std::slice::from_raw_parts_mut(mapping.start.as_ptr(), mapping.len) }
    }
}

impl Buffer for SharedBuffer {
    fn freeze(self: Box<Self>) -> Arc<dyn Memory> {
        Arc::new(*self)
    }
}

impl Memory for SharedBuffer {
    fn bytes(&self) -> &[u8] {
        self
    }
}

impl Drop for SharedBuffer {
    fn drop(&mut self) {
        self.pool.state().idle.extend(self.block.take());
    }
}

/// The blocks of a decoding process as the program sees them. Their bytes may change at any time: they are copied by
/// address, and no Rust reference points to them.
#[derive(Clone)]
pub struct SharedBlocks(Arc<Mutex<Given>>);

struct Given {
    /// The most bytes of all blocks.
    most_bytes: usize,
    mappings: Vec<Mapping>,
    bytes: usize,
}

impl SharedBlocks {
    /// No block yet; all of them within these limits.
    pub fn new(limits: &Limits) -> Self {
        SharedBlocks(Arc::new(Mutex::new(Given { most_bytes: limits.memory(), mappings: Vec::new(), bytes: 0 })))
    }

    /// Makes a block of `len` bytes. The process that gets the returned descriptor writes there.
    ///
    /// # Errors
    /// When that process has reached its limit, or the system has no memory.
    pub fn make(&self, len: u64) -> io::Result<OwnedFd> {
        let mut given = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let len = usize::try_from(len).map_err(Error::other)?;
        let bytes = given.bytes.saturating_add(len);
        if len == 0 || bytes > given.most_bytes || given.mappings.len() >= MAX_BLOCKS {
            return Err(Error::from_raw_os_error(libc::ENOMEM));
        }
        let descriptor = memfd_create(c"frame", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        ftruncate(&descriptor, len as u64)?;
        // If the file could shrink, a read beyond its end would end this process.
        fcntl_add_seals(&descriptor, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        given.mappings.push(Mapping::new(&descriptor, len, ProtFlags::READ)?);
        given.bytes = bytes;
        Ok(descriptor)
    }

    /// Requests blocks from the program over this connection; for the decoding process.
    pub fn asked_of(channel: Arc<Mutex<Channel>>) -> Ask {
        Box::new(move |len| ask(&channel, Wants::Memory(len as u64)))
    }

    /// Copies rows of `row_bytes` bytes from this place, one after the other, to rows of `target` that begin `stride`
    /// bytes apart.
    pub fn copy(&self, place: RowPlace, row_bytes: usize, target: &mut [u8], stride: usize) -> Result<(), Lie> {
        let given = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Mapping { start, len: length } = given.mappings.get(place.slot as usize).ok_or(Lie("memory"))?;
        if row_bytes == 0 || stride < row_bytes {
            return Err(Lie("a row"));
        }
        let mut offset = i64::try_from(place.start).map_err(|_| Lie("a row"))?;
        let (rows, whole) = (target.len() / stride, target.len() - target.len() % stride);
        if i64::try_from(stride) == Ok(place.stride) && rows > 0 {
            // Rows with the same pitch are copied in one call, with their padding.
            let (begin, len) = (offset as usize, whole - stride + row_bytes);
            if begin.checked_add(len).is_none_or(|end| end > *length) {
                return Err(Lie("a row"));
            }
            // SAFETY: the rows lie in the mapping, as was just checked, and in `target`, which is memory of this
            // process alone. Concurrent writes of the other process change only the copied bytes.
            unsafe { ptr::copy_nonoverlapping(start.as_ptr().add(begin), target.as_mut_ptr(), len) };
            return Ok(());
        }
        for row in target.chunks_mut(stride) {
            let begin = usize::try_from(offset).map_err(|_| Lie("a row"))?;
            if begin.checked_add(row_bytes).is_none_or(|end| end > *length) || row.len() < row_bytes {
                return Err(Lie("a row"));
            }
            // SAFETY: the row lies in the mapping, as was just checked, and in `row`, which is memory of this process
            // alone. Concurrent writes of the other process change only the copied bytes.
            unsafe { ptr::copy_nonoverlapping(start.as_ptr().add(begin), row.as_mut_ptr(), row_bytes) };
            offset = offset.checked_add(place.stride).ok_or(Lie("a row"))?;
        }
        Ok(())
    }
}

/// Asks the program for memory or an image, and returns its descriptor.
pub fn ask(channel: &Mutex<Channel>, what: Wants) -> io::Result<OwnedFd> {
    let channel = channel.lock().unwrap_or_else(PoisonError::into_inner);
    channel.send(&what, &[])?;
    let (error, descriptors) = channel.receive::<Option<i32>>()?;
    match (error, descriptors.into_iter().next()) {
        (None, Some(descriptor)) => Ok(descriptor),
        (error, _) => Err(Error::from_raw_os_error(error.unwrap_or(libc::EIO))),
    }
}

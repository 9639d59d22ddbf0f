//! Frames in memory that two processes share. The decoding process makes it, in pieces of the size of a picture; the other side
//! reads it, and copies what it reads: from then on nothing can change.
#![allow(unsafe_code, reason = "maps memory that another process writes")]

use super::messages::{Place, Slot};
use crate::ffmpeg::Lie;
use histeq::frame::limits::{self, Counted};
use histeq::frame::{Buffer, Memory, MemoryError, Pool};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, fstat, fstatfs, ftruncate, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::ops::{Deref, DerefMut};
use std::os::fd::OwnedFd;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The most pieces that the decoding process has at once: pictures of several decoders that work ahead.
const MOST_SLOTS: usize = 8192;

/// The most idle pieces that it keeps.
const MOST_IDLE: usize = 16;

/// Bytes after which pieces end.
const PAGE: usize = 4096;

/// The kind of file system of ordinary shared memory (`TMPFS_MAGIC`), whose pages are there whenever they are read.
const ORDINARY: i64 = 0x0102_1994;

/// Shared memory that is mapped here.
struct Mapping {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: an address of the process, which nothing ties to a thread.
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

/// The pool of the decoding process.
#[derive(Clone, Default)]
pub struct SharedPool(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// Bytes of frames that may wait, as the other side says.
    room: AtomicUsize,
}

#[derive(Default)]
struct State {
    idle: Vec<Piece>,
    /// Number and end of each piece, by the address of its first byte.
    places: BTreeMap<usize, (u32, usize)>,
    /// What the other side does not know of yet.
    new: Vec<(Slot, OwnedFd)>,
    gone: Vec<u32>,
    next: u32,
}

/// A piece of shared memory.
struct Piece {
    number: u32,
    mapping: Mapping,
    _counted: Counted,
}

impl SharedPool {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on, frames of this many bytes may wait.
    pub fn set_room(&self, bytes: usize) {
        self.0.room.store(bytes, Ordering::Relaxed);
    }

    /// Where these bytes lie, if they lie in one of its pieces.
    pub fn place_of(&self, bytes: &[u8]) -> Option<(u32, u64)> {
        let address = bytes.as_ptr().addr();
        let state = self.state();
        let (&start, &(number, end)) = state.places.range(..=address).next_back()?;
        (address + bytes.len() <= end).then_some((number, (address - start) as u64))
    }

    /// The pieces of these that the other side does not know of yet, with their descriptors, and those that are gone.
    pub fn changes(&self, used: &[u32]) -> (Vec<(Slot, OwnedFd)>, Vec<u32>) {
        let mut state = self.state();
        let (used, others) =
            std::mem::take(&mut state.new).into_iter().partition(|(slot, _)| used.contains(&slot.number));
        state.new = others;
        (used, std::mem::take(&mut state.gone))
    }

    fn make(&self, len: usize) -> io::Result<Piece> {
        let counted = Counted::new(len);
        let descriptor = memfd_create(c"frame", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        ftruncate(&descriptor, len as u64)?;
        fcntl_add_seals(&descriptor, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        let mapping = Mapping::new(&descriptor, len, ProtFlags::READ | ProtFlags::WRITE)?;
        let mut state = self.state();
        let number = state.next;
        state.next += 1;
        let start = mapping.start.as_ptr().addr();
        state.places.insert(start, (number, start + len));
        state.new.push((Slot { number, len: len as u64 }, descriptor));
        Ok(Piece { number, mapping, _counted: counted })
    }
}

impl State {
    /// Gives up a piece, which is unmapped when the answer is dropped.
    fn forget(&mut self, piece: Piece) -> Piece {
        self.places.remove(&piece.mapping.start.as_ptr().addr());
        match self.new.iter().position(|(slot, _)| slot.number == piece.number) {
            Some(index) => drop(self.new.swap_remove(index)),
            None => self.gone.push(piece.number),
        }
        piece
    }
}

impl Pool for SharedPool {
    fn buffer(&self, len: usize) -> Result<Box<dyn Buffer>, MemoryError> {
        let len = len.max(1).next_multiple_of(PAGE);
        let (found, others) = {
            let mut state = self.state();
            let found = state.idle.iter().rposition(|piece| piece.mapping.len == len);
            let found = found.map(|index| state.idle.swap_remove(index));
            // Where none is of this size, they are for pictures of another one.
            let others = if found.is_none() { std::mem::take(&mut state.idle) } else { Vec::new() };
            let others: Vec<Piece> = others.into_iter().map(|piece| state.forget(piece)).collect();
            (found, others)
        };
        drop(others);
        let piece = match found {
            Some(piece) => piece,
            None => {
                limits::check_room(len)?;
                self.make(len).map_err(MemoryError::new)?
            }
        };
        Ok(Box::new(SharedBuffer { piece: Some(piece), pool: self.clone() }))
    }

    fn make_room(&self) -> usize {
        self.0.room.load(Ordering::Relaxed)
    }
}

/// A buffer of a [`SharedPool`], to which it goes back when dropped.
struct SharedBuffer {
    /// `None` only while it is being dropped.
    piece: Option<Piece>,
    pool: SharedPool,
}

impl Deref for SharedBuffer {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        let Some(Piece { mapping, .. }) = &self.piece else { return &[] };
        // SAFETY: the mapping has these bytes, and the other side does not write.
        unsafe { std::slice::from_raw_parts(mapping.start.as_ptr(), mapping.len) }
    }
}

impl DerefMut for SharedBuffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        let Some(Piece { mapping, .. }) = &mut self.piece else { return &mut [] };
        // SAFETY: as above, and only one buffer has the piece.
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
        let Some(piece) = self.piece.take() else { return };
        let mut state = self.pool.state();
        let dropped = match state.idle.len() < MOST_IDLE {
            true => {
                state.idle.push(piece);
                None
            }
            false => Some(state.forget(piece)),
        };
        drop(state);
        drop(dropped);
    }
}

/// The pieces of a decoding process as the other side sees them. Their bytes may change at any time: they are copied by address,
/// and no reference leads there.
#[derive(Default)]
pub struct Slots(HashMap<u32, Mapping>);

impl Slots {
    /// Takes over a piece of this number and length.
    pub fn add(&mut self, slot: Slot, descriptor: &OwnedFd) -> Result<(), Lie> {
        let len = usize::try_from(slot.len).unwrap_or(usize::MAX);
        // A picture has at most 16 bytes for each pixel, beside what rows are padded with.
        let most = usize::try_from(limits::pixels()).unwrap_or(usize::MAX).saturating_mul(32).saturating_add(1 << 20);
        if len == 0 || len > most || self.0.len() >= MOST_SLOTS || self.0.contains_key(&slot.number) {
            return Err(Lie("memory"));
        }
        // Of memory that could shrink, or whose pages might not be there, a read could end this process.
        let seals = fcntl_get_seals(descriptor).map_err(|_| Lie("memory"))?;
        let is_ordinary = fstatfs(descriptor).is_ok_and(|of| i64::from(of.f_type) == ORDINARY);
        let is_whole = fstat(descriptor).is_ok_and(|of| u64::try_from(of.st_size) == Ok(slot.len));
        if !seals.contains(SealFlags::SHRINK) || !is_ordinary || !is_whole {
            return Err(Lie("memory"));
        }
        let mapping = Mapping::new(descriptor, len, ProtFlags::READ).map_err(|_| Lie("memory"))?;
        self.0.insert(slot.number, mapping);
        Ok(())
    }

    /// Gives up the piece of this number.
    pub fn remove(&mut self, number: u32) {
        self.0.remove(&number);
    }

    /// Copies rows of `row_bytes` bytes from this place, one after the other, to rows of `to` that begin `stride` bytes apart.
    pub fn copy(&self, place: Place, row_bytes: usize, to: &mut [u8], stride: usize) -> Result<(), Lie> {
        let Mapping { start, len } = self.0.get(&place.slot).ok_or(Lie("memory"))?;
        if row_bytes == 0 || stride < row_bytes {
            return Err(Lie("a row"));
        }
        let mut from = i64::try_from(place.start).map_err(|_| Lie("a row"))?;
        for row in to.chunks_mut(stride) {
            let begin = usize::try_from(from).map_err(|_| Lie("a row"))?;
            if begin.checked_add(row_bytes).is_none_or(|end| end > *len) || row.len() < row_bytes {
                return Err(Lie("a row"));
            }
            // SAFETY: the row lies in the mapping, as was just checked, and in `row`, which is memory of this process alone. What the
            // other process writes meanwhile changes what is copied, and nothing else.
            unsafe { ptr::copy_nonoverlapping(start.as_ptr().add(begin), row.as_mut_ptr(), row_bytes) };
            from = from.checked_add(place.stride).ok_or(Lie("a row"))?;
        }
        Ok(())
    }
}

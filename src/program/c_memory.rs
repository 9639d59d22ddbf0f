//! The C library's memory.
//!
//! `posix_memalign`, `memalign` and `realloc` that end the program when an allocation fails, as
//! [`histeq_media::sys::Allocator`] does. FFmpeg and its encoders call them, and ignore some failures: frames, metadata
//! or the index of a file would be missing without an error. The dynamic linker prefers these functions to those of the
//! C library.
//!
//! [`return_large_blocks`] keeps the memory of long-running streams from growing.
#![allow(unsafe_code, reason = "wraps functions of the C library")]

use histeq_media::sys::out_of_memory;
use std::ffi::{CStr, c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

type PosixMemalign = unsafe extern "C" fn(*mut *mut c_void, usize, usize) -> c_int;
type Memalign = unsafe extern "C" fn(usize, usize) -> *mut c_void;
type Realloc = unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void;

/// The next definition of a function after this program's: the C library's, or that of a library loaded before it.
struct Next {
    name: &'static CStr,
    address: AtomicPtr<c_void>,
}

impl Next {
    const fn new(name: &'static CStr) -> Self {
        Next { name, address: AtomicPtr::new(std::ptr::null_mut()) }
    }

    /// The function's address, never null. Does not allocate.
    fn address(&self) -> *mut c_void {
        let known = self.address.load(Ordering::Relaxed);
        if !known.is_null() {
            return known;
        }
        // SAFETY: the name ends with a zero byte.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        if found.is_null() {
            out_of_memory();
        }
        self.address.store(found, Ordering::Relaxed);
        found
    }
}

/// A freed block of memory of this size in bytes or more goes back to the system. Raw frames are larger than this from
/// about 480x360 on; most packets of encoded video are smaller.
#[cfg(target_env = "gnu")]
const LARGE_BLOCK: c_int = 256 << 10;

/// From now on, freed blocks of the size of a frame go back to the system. By default, glibc raises the size limit when
/// the first such block is freed: later ones stay in the heaps of its threads, which grow for as long as streams run.
///
/// Does nothing where the C library is not glibc.
pub fn return_large_blocks() {
    // SAFETY: `mallopt` takes any numbers. `main` calls this while there are no other threads.
    #[cfg(target_env = "gnu")]
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE_BLOCK);
    }
}

/// # Safety
/// As in the C library.
#[unsafe(no_mangle)]
unsafe extern "C" fn posix_memalign(memory: *mut *mut c_void, alignment: usize, size: usize) -> c_int {
    static NEXT: Next = Next::new(c"posix_memalign");
    // SAFETY: the C function of this name has this type, and the caller meets its requirements.
    let code = unsafe { std::mem::transmute::<*mut c_void, PosixMemalign>(NEXT.address())(memory, alignment, size) };
    if code == libc::ENOMEM { out_of_memory() } else { code }
}

/// # Safety
/// As in the C library.
#[unsafe(no_mangle)]
unsafe extern "C" fn memalign(alignment: usize, size: usize) -> *mut c_void {
    static NEXT: Next = Next::new(c"memalign");
    // SAFETY: the C function of this name has this type, and the caller meets its requirements.
    let memory = unsafe { std::mem::transmute::<*mut c_void, Memalign>(NEXT.address())(alignment, size) };
    // For a size of 0, null is no failure.
    if memory.is_null() && size != 0 { out_of_memory() } else { memory }
}

/// # Safety
/// As in the C library.
#[unsafe(no_mangle)]
unsafe extern "C" fn realloc(memory: *mut c_void, size: usize) -> *mut c_void {
    static NEXT: Next = Next::new(c"realloc");
    // SAFETY: the C function of this name has this type, and the caller meets its requirements.
    let moved = unsafe { std::mem::transmute::<*mut c_void, Realloc>(NEXT.address())(memory, size) };
    // For a size of 0, `realloc` frees the memory and may return null.
    if moved.is_null() && size != 0 { out_of_memory() } else { moved }
}

//! The end of a program that cannot go on: its memory has run out, or a library is about to abort it.
#![allow(unsafe_code, reason = "implements an allocator, and ends the process")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether it has been said why the program ends.
static IS_EXPLAINED: AtomicBool = AtomicBool::new(false);

/// It has been said why the program ends: if memory runs out while it does, no other reason follows.
pub fn end_is_explained() {
    IS_EXPLAINED.store(true, Ordering::Relaxed);
}

/// Ends the program at once, with exit code 1 and this line on stderr. Outputs that are not whole have no names, so that nothing
/// of them stays.
pub fn give_up(line: &str) -> ! {
    static IS_SAID: AtomicBool = AtomicBool::new(false);
    // SAFETY: the first call waits for the end; the second reads a text of this length; after the third no more code of the
    // process runs. None takes memory, or runs exit handlers, which might.
    unsafe {
        while IS_SAID.swap(true, Ordering::Relaxed) {
            libc::pause();
        }
        if !IS_EXPLAINED.load(Ordering::Relaxed) {
            libc::write(libc::STDERR_FILENO, line.as_ptr().cast(), line.len());
        }
        libc::_exit(1)
    }
}

/// Ends the program because memory has run out.
pub fn out_of_memory() -> ! {
    give_up("histeq-video: error: out of memory: the system gives no more (smaller frames, or a higher `ulimit -v`)\n")
}

/// The system's allocator, with an end in [`out_of_memory`] instead of an abort, which would leave exit code 134 and a core dump
/// as large as the process.
pub struct Allocator;

impl Allocator {
    fn checked(memory: *mut u8) -> *mut u8 {
        if memory.is_null() { out_of_memory() } else { memory }
    }
}

// SAFETY: `System` does all of it, and its promises are those that are made here; the program ends where it has no memory.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: by the caller's promise.
        Allocator::checked(unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: by the caller's promise.
        Allocator::checked(unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: by the caller's promise; `System` has allocated `memory`.
        Allocator::checked(unsafe { System.realloc(memory, layout, size) })
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: by the caller's promise; `System` has allocated `memory`.
        unsafe { System.dealloc(memory, layout) }
    }
}

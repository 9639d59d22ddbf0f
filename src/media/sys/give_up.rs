//! The end of a program that cannot go on: its memory has run out, or a library is about to abort it.
#![allow(unsafe_code, reason = "implements an allocator, and ends the process")]

use super::terminal::own_stderr;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the reason why the program ends has been printed.
static IS_EXPLAINED: AtomicBool = AtomicBool::new(false);

/// Notes that the reason why the program ends has been printed: if memory then runs out, no other reason is printed.
pub fn end_is_explained() {
    IS_EXPLAINED.store(true, Ordering::Relaxed);
}

/// Whether stderr is for lines of JSON only.
static IS_AN_EVENT: AtomicBool = AtomicBool::new(false);

/// From now on, [`give_up`] writes its error as an event of `--progress json`.
pub fn give_up_with_an_event() {
    IS_AN_EVENT.store(true, Ordering::Relaxed);
}

/// Whether stderr is for lines of JSON only.
pub fn stderr_has_events() -> bool {
    IS_AN_EVENT.load(Ordering::Relaxed)
}

/// Ends the program at once, with exit code 1 and this error on stderr. Incomplete outputs have no names, so they
/// disappear.
pub fn give_up(error: &str) -> ! {
    give_up_with(error, "failed", 1)
}

/// As [`give_up`], with this kind of failure and its exit code.
pub fn give_up_with(error: &str, kind: &str, code: i32) -> ! {
    static HAS_BEGUN: AtomicBool = AtomicBool::new(false);
    let mut line = TextLine { bytes: [0; 2048], len: 0 };
    if IS_AN_EVENT.load(Ordering::Relaxed) {
        line.add(b"{\"event\":\"error\",\"kind\":\"");
        line.add(kind.as_bytes());
        line.add(b"\",\"message\":\"");
        for byte in error.bytes() {
            line.add(if matches!(byte, b'"' | b'\\') { b"\\" } else { b"" });
            line.add(&[byte]);
        }
        line.end(b"\"}\n");
    } else {
        line.add(b"histeq-video: error: ");
        line.add(error.as_bytes());
        line.end(b"\n");
    }
    // SAFETY: the first call waits for the end; the second reads as many bytes as there are; after the third no more
    // code of the process runs. None takes memory, or runs exit handlers, which might.
    unsafe {
        while HAS_BEGUN.swap(true, Ordering::Relaxed) {
            libc::pause();
        }
        if !IS_EXPLAINED.load(Ordering::Relaxed) {
            libc::write(own_stderr(), line.bytes.as_ptr().cast(), line.len);
        }
        libc::_exit(code)
    }
}

/// A line of text in a buffer of a fixed size: there may be no memory for more.
struct TextLine {
    bytes: [u8; 2048],
    len: usize,
}

/// Bytes that are kept free for the end of a line.
const END: usize = 8;

impl TextLine {
    /// Adds this text, if there is room for it.
    fn add(&mut self, text: &[u8]) {
        if self.len + text.len() <= self.bytes.len() - END {
            self.end(text);
        }
    }

    /// Adds the last text, of [`END`] bytes at most.
    fn end(&mut self, text: &[u8]) {
        self.bytes[self.len..self.len + text.len()].copy_from_slice(text);
        self.len += text.len();
    }
}

/// Ends the program because memory has run out.
pub fn out_of_memory() -> ! {
    give_up("out of memory: the system gives no more (smaller frames, or a higher `ulimit -v`)")
}

/// The system's allocator, with an end in [`out_of_memory`] instead of an abort, which would leave exit code 134 and a
/// core dump as large as the process.
pub struct Allocator;

impl Allocator {
    fn checked(memory: *mut u8) -> *mut u8 {
        if memory.is_null() { out_of_memory() } else { memory }
    }
}

// SAFETY: `System` does all of it, and its promises are those that are made here; the program ends where it has no
// memory.
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

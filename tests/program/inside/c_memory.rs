//! Which memory returns to the system when it is freed.
#![allow(unsafe_code, reason = "asks the C library about blocks of its memory")]

use crate::c_memory::return_large_blocks;

/// Bytes of a frame in yuv420p of 1920x1080.
const FRAME: usize = 1920 * 1080 * 3 / 2;

/// Does glibc get this many bytes by `mmap`, so that `free` returns them to the system? Then `malloc_usable_size` is a
/// multiple of the page size minus glibc's own 16 bytes.
fn is_mapped(bytes: usize) -> bool {
    // SAFETY: a block is asked about and freed once.
    let usable = unsafe {
        let block = libc::malloc(bytes);
        assert!(!block.is_null());
        let usable = libc::malloc_usable_size(block);
        libc::free(block);
        usable
    };
    (usable + 16) % 4096 == 0
}

#[test]
fn frames_go_back_to_the_system_however_many_were_freed_before() {
    return_large_blocks();
    // Otherwise the first freed frame would raise glibc's threshold for `mmap`.
    assert!((0..3).all(|_| is_mapped(FRAME)));
    assert!(!is_mapped(20_000));
}

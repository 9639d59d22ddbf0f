//! Closes descriptors without an owner.
#![allow(unsafe_code, reason = "closes descriptors that nothing owns")]

use std::os::fd::RawFd;

/// Closes all but stdin, stdout, stderr and these. Call it before the program opens anything.
pub fn close_but(mut kept: Vec<RawFd>) {
    kept.retain(|&descriptor| descriptor > 2);
    kept.sort_unstable();
    let mut first = 3;
    for kept in kept.into_iter().chain([RawFd::MAX]) {
        if first < kept {
            close(first, kept - 1);
        }
        first = kept.saturating_add(1);
    }
}

/// Closes the open descriptors from `first` to `last`.
fn close(first: RawFd, last: RawFd) {
    // SAFETY: by the promise of `close_but`, nothing in this process owns them; no memory is touched.
    if unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) } == 0 {
        return;
    }
    // Linux before 5.9 lacks close_range: list open descriptors.
    let entries = std::fs::read_dir("/dev/fd").into_iter().flatten().flatten();
    let open: Vec<RawFd> = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    for descriptor in open.into_iter().filter(|descriptor| (first..=last).contains(descriptor)) {
        // SAFETY: by the promise of `close_but`, nothing in this process owns it. The one that has read the folder is
        // closed.
        unsafe { libc::close(descriptor) };
    }
}

//! Descriptors that the program inherits. Those that nobody has named are closed: whoever takes a decoder over would have them.
#![allow(unsafe_code, reason = "closes descriptors that nothing owns")]

use std::ffi::OsStr;
use std::os::fd::RawFd;
use std::path::Path;

/// What stands ahead of the number of a descriptor in the name of a file or pipe.
const NAMES: [&str; 2] = ["/dev/fd/", "/proc/self/fd/"];

/// The descriptors that `words` name.
pub fn named<W: AsRef<OsStr>>(words: impl IntoIterator<Item = W>) -> Vec<RawFd> {
    let of_word = |word: W| -> Vec<RawFd> {
        let word = word.as_ref().to_string_lossy();
        let behind = NAMES.iter().flat_map(|name| word.split(name).skip(1));
        // A file that has such a name names no descriptor.
        let of_pipe = word.strip_prefix("pipe:").filter(|_| !Path::new(&*word).exists());
        let numbers = behind.filter_map(|rest| rest.split(|c: char| !c.is_ascii_digit()).next()).chain(of_pipe);
        numbers.filter_map(|number| number.parse().ok()).collect()
    };
    words.into_iter().flat_map(of_word).collect()
}

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

/// Closes the open ones of these.
fn close(first: RawFd, last: RawFd) {
    #[cfg(target_os = "linux")]
    if close_range(first, last) {
        return;
    }
    // Linux before 5.9, and other systems.
    let entries = std::fs::read_dir("/dev/fd").into_iter().flatten().flatten();
    let open: Vec<RawFd> = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    for descriptor in open.into_iter().filter(|descriptor| (first..=last).contains(descriptor)) {
        // SAFETY: by the promise of `close_but`, nothing in this process owns it. The one that has read the folder is closed.
        unsafe { libc::close(descriptor) };
    }
}

/// Does the kernel close them all at once?
#[cfg(target_os = "linux")]
fn close_range(first: RawFd, last: RawFd) -> bool {
    // SAFETY: by the promise of `close_but`, nothing in this process owns them; no memory is touched.
    unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_are_named_as_files_and_pipes() {
        let words =
            ["/dev/fd/63", "file:/proc/self/fd/7", "pipe:5", "movie=/dev/fd/9[a];movie=/dev/fd/10", "fd/8", "9"];
        assert_eq!(named(words), [63, 7, 5, 9, 10]);
        assert!(named(["/dev/fd/x", "pipe:", "/dev/fd/99999999999", ""]).is_empty());
    }
}

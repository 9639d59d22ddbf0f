//! File descriptors that the program inherits. Those that the command line does not name are closed, so that an
//! attacker who takes over a decoder cannot use them.

use std::ffi::OsStr;
use std::os::fd::RawFd;
use std::path::Path;

/// Prefixes of the number of a descriptor in the name of a file or pipe.
const NAMES: [&str; 2] = ["/dev/fd/", "/proc/self/fd/"];

/// The descriptors that `words` name.
pub fn named<W: AsRef<OsStr>>(words: impl IntoIterator<Item = W>) -> Vec<RawFd> {
    let of_word = |word: W| -> Vec<RawFd> {
        let word = word.as_ref().to_string_lossy();
        let behind = NAMES.iter().flat_map(|name| word.split(name).skip(1));
        // An existing file of this name is no descriptor.
        let of_pipe = word.strip_prefix("pipe:").filter(|_| !Path::new(&*word).exists());
        let numbers = behind.filter_map(|rest| rest.split(|c: char| !c.is_ascii_digit()).next()).chain(of_pipe);
        numbers.filter_map(|number| number.parse().ok()).collect()
    };
    words.into_iter().flat_map(of_word).collect()
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

//! Whether an output that exists may be a source: of two names that a shell makes of `*.mp4`, the second one is.

use crate::sys::folder_of;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The attribute of files that this program has made. A wall takes the call for it, so it is set before.
const MADE: &str = "user.histeq-video";

/// Marks a file as made by this program, where the file system keeps attributes.
pub fn mark(file: &File) {
    let _ = rustix::fs::fsetxattr(file, MADE, b"1", rustix::fs::XattrFlags::empty());
}

/// Whether this program has made the file; `None` if that is not known.
pub fn is_made_here(path: &Path) -> Option<bool> {
    match rustix::fs::getxattr(path, MADE, &mut [0; 1]) {
        Ok(_) => Some(true),
        Err(rustix::io::Errno::NODATA) => Some(false),
        Err(_) => None,
    }
}

/// Whether the file `output` may be a source as `input` is: its name ends as that of the input does, it begins as that
/// does, and has no mark of a file made here.
pub fn may_be_source(output: &Path, input: &Path) -> bool {
    let ends_alike = output.extension().zip(input.extension()).is_some_and(|(a, b)| a.eq_ignore_ascii_case(b));
    ends_alike && begin_alike(output, input) && is_made_here(output) != Some(true)
}

/// Whether both are files of one container, judged by their first bytes: `ftyp` of an mp4 comes fifth.
fn begin_alike(a: &Path, b: &Path) -> bool {
    let begin = |path: &Path| {
        let mut bytes = [0; 8];
        let mut file = path.is_file().then(|| File::open(path).ok()).flatten()?;
        file.read_exact(&mut bytes).ok().map(|()| bytes)
    };
    begin(a).zip(begin(b)).is_some_and(|(a, b)| a[..4] == b[..4] || a[4..] == b[4..])
}

/// Whether `input` and `output` are all that the shell's pattern for such names stands for, and `output` was not made
/// here.
pub fn are_of_pattern(output: &Path, input: &Path) -> bool {
    if input >= output
        || input.parent() != output.parent()
        || input.extension() != output.extension()
        || is_made_here(output) != Some(false)
        || !begin_alike(output, input)
    {
        return false;
    }
    let names = std::fs::read_dir(folder_of(output)).into_iter().flatten().flatten().map(|file| file.file_name());
    let is_alike = |name: &std::ffi::OsString| {
        Path::new(name).extension() == output.extension() && !name.as_encoded_bytes().starts_with(b".")
    };
    names.filter(is_alike).take(3).count() == 2
}

//! Detects outputs that are an input, or may be one by mistake: if a shell expands `*.mp4` to two names, the second
//! input is parsed as the output.

use crate::pipeline::FailureKind;
use crate::sys::files::{FileId, Name, files_of_input, folder_of, id_of, path_of_input};
use crate::sys::io::stdout;
use crate::sys::without_password;
use anyhow::{Error, Result};
use std::cell::OnceCell;
use std::collections::HashSet;
use std::fs::{File, Metadata, metadata};
use std::io::Read;
use std::path::Path;

/// The extended attribute of files that this program has made. It is set before the sandbox forbids that system call.
const MADE: &str = "user.histeq-video";

/// An input, and the files that it is read from, as far as they are known before it is opened.
pub struct InputFiles<'a> {
    input: &'a Name,
    files: OnceCell<HashSet<FileId>>,
}

impl<'a> InputFiles<'a> {
    /// The input; its files are determined on demand.
    pub fn new(input: &'a Name) -> Self {
        InputFiles { input, files: OnceCell::new() }
    }

    /// Checks that the output `name` is none of the input's files.
    ///
    /// # Errors
    /// When it is.
    pub fn differ_from(&self, name: &Name) -> Result<()> {
        let input = self.input;
        let (there, shown) = match *name == "-" {
            true => (stdout().and_then(|stdout| stdout.metadata()), "stdout".into()),
            false => (metadata(name), name.clone()),
        };
        if name == input && *name != "-" {
            return Err(is_input_itself(&shown, ""));
        }
        let id = there.ok().filter(Metadata::is_file).map(|there| id_of(&there));
        if id.is_none_or(|id| !self.files.get_or_init(|| files_of_input(input)).contains(&id)) {
            return Ok(());
        }
        let is_whole = metadata(path_of_input(input)).is_ok_and(|input| Some(id_of(&input)) == id);
        let names = if is_whole { String::new() } else { format!(": {} names it", without_password(input)) };
        Err(is_input_itself(&shown, &names))
    }
}

/// The error for an output that is the input or one of its files. `why` is appended after "itself", and may be empty.
pub fn is_input_itself(name: &Name, why: &str) -> Error {
    FailureKind::Exists.error(format!("{name} is the input itself{why} (give the output another name)"))
}

/// Marks a file as made by this program, if its file system has extended attributes.
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

/// Whether the file `output` may be another source: it has the same extension and the same first bytes as `input`, and
/// no mark of this program.
pub fn may_be_source(output: &Path, input: &Path) -> bool {
    let ends_alike = output.extension().zip(input.extension()).is_some_and(|(a, b)| a.eq_ignore_ascii_case(b));
    ends_alike && begin_alike(output, input) && is_made_here(output) != Some(true)
}

/// Whether both files have the same first eight bytes: for mp4, bytes 4 to 7 are `ftyp`.
fn begin_alike(a: &Path, b: &Path) -> bool {
    let begin = |path: &Path| {
        let mut bytes = [0; 8];
        let mut file = path.is_file().then(|| File::open(path).ok()).flatten()?;
        file.read_exact(&mut bytes).ok().map(|()| bytes)
    };
    begin(a).zip(begin(b)).is_some_and(|(a, b)| a[..4] == b[..4] || a[4..] == b[4..])
}

/// Whether a shell pattern like `*.mp4` would expand to just `input` and `output`, in this order, and this program did
/// not make `output`.
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

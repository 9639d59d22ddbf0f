//! Places that may be written: what may be overwritten, and what stands in the way.

use crate::pipeline::{FailureKind, reason};
use crate::sink::files::sources::{InputFiles, are_of_pattern, may_be_source};
use crate::sys::files::{Name, folder_of, numbered, numbers_there};
use crate::sys::{one_line, stderr_is_terminal};
use anyhow::{Error, Result, ensure};
use std::fs::Metadata;
use std::io::{ErrorKind, IsTerminal};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// Which files an output name denotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Files {
    /// One file.
    One,
    /// A sequence of numbered files; the name is its pattern.
    Sequence,
    /// A playlist and its segments, whose names derive from the playlist's (HLS) or are fixed (DASH).
    List,
}

/// Whether an existing output is replaced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overwrite {
    /// Ask the user on a terminal; without a terminal, refuse.
    #[default]
    Ask,
    /// Overwrite the output (`-y`).
    Yes,
    /// Refuse to overwrite the output.
    No,
    /// Write nothing (`-n`).
    Skip,
    /// Keep existing images of a sequence, and write the missing ones.
    Keep,
}

impl Overwrite {
    /// Whether the user is asked before an existing output is overwritten.
    pub fn asks(self) -> bool {
        self == Overwrite::Ask && std::io::stdin().is_terminal() && stderr_is_terminal()
    }
}

/// The error for an existing output with [`Overwrite::Skip`].
#[derive(Debug, thiserror::Error)]
#[error("{0} exists: nothing was done (-n)")]
pub struct Skipped(Name);

/// The error for an existing output that must not be overwritten.
pub(super) fn exists(name: &Name) -> Error {
    FailureKind::Exists.error(format!("{name} exists (use -y to overwrite it)"))
}

/// The error if a name that the program has chosen belongs to something other than a regular file.
pub(super) fn no_file(name: &Name) -> Error {
    FailureKind::Exists.error(format!(
        "{name} is no file: what the program names itself never goes through a link (remove it, or name the output)"
    ))
}

/// The error if the folder of an output does not exist.
pub(crate) fn no_folder(name: &Name, folder: &Path) -> Error {
    FailureKind::Missing.error(format!("{name}: there is no folder {} (make it first)", Name::from(folder)))
}

/// The error if the file of an output cannot be created.
pub(super) fn not_created(name: &Name) -> impl FnOnce(std::io::Error) -> Error {
    move |error| match error.kind() {
        ErrorKind::AlreadyExists => exists(name),
        ErrorKind::InvalidFilename | ErrorKind::StorageFull | ErrorKind::QuotaExceeded => not_written(name)(error),
        _ => FailureKind::Refused.error(format!("{name}: cannot write there: {}", with_remedy(&error))),
    }
}

/// The error if an output cannot be completed.
pub(super) fn not_written(name: &Name) -> impl FnOnce(std::io::Error) -> Error {
    move |error| match error.kind() {
        ErrorKind::IsADirectory => is_folder(name),
        ErrorKind::InvalidFilename => {
            FailureKind::Usage.error(format!("{name}: the name is too long (give a shorter one)"))
        }
        _ => FailureKind::Disk.error(format!("{name}: cannot be written: {}", with_remedy(&error))),
    }
}

/// Whether both paths lead to the same existing file. Only regular files are compared, because comparing opens them:
/// the writer of a FIFO would take that for a reader.
pub(super) fn are_one_file(a: &Path, b: &Path) -> bool {
    a.is_file() && b.is_file() && same_file::is_same_file(a, b).unwrap_or(false)
}

/// Error text if only opening the input shows that the output belongs to it.
pub(super) const IS_READ: &str = ", or one of the files that this is read from";

/// The reason in the error message for not replacing a file of the input.
pub(super) const STAYS: &str = "the input was read from it";

/// Whether `name` is stdout or a URL instead of a file.
pub(crate) fn is_stream(name: &Name) -> bool {
    *name == "-" || name.to_string().contains("://")
}

/// Checks that `name`, or each file that it denotes, may be written and is not `input`. Returns whether such files
/// exist, which may then be replaced.
pub(super) fn check_place(name: &Name, input: &Name, files: Files, overwrite: Overwrite) -> Result<bool> {
    let read = InputFiles::new(input);
    read.differ_from(name)?;
    let there = match std::fs::metadata(name) {
        Ok(there) if there.is_dir() => Err(ErrorKind::IsADirectory.into()),
        // A pattern may be too long for a file name: its numbered names may be shorter.
        Err(error) if error.kind() == ErrorKind::InvalidFilename && files != Files::Sequence => Err(error),
        there => Ok(there.ok()),
    };
    // A block device is protected from overwriting like a file.
    let is_file = |there: Metadata| there.is_file() || there.file_type().is_block_device();
    let is_file = there.map_err(not_written(name))?.is_some_and(is_file);
    let itself = is_file.then(|| name.clone()).into_iter();
    let written: Vec<Name> = match files {
        Files::One => itself.collect(),
        Files::Sequence => numbers_there(name).into_iter().map(|number| numbered(name, number)).collect(),
        Files::List => itself.chain(segments(name)).collect(),
    };
    for other in written.iter().filter(|_| files != Files::One) {
        // The muxer would follow a link when it opens a segment.
        ensure!(files != Files::List || other == name || is_regular(other.path()), no_file(other));
        read.differ_from(other)?;
    }
    let keeps = files == Files::Sequence && overwrite == Overwrite::Keep;
    let message = match written.first().filter(|other| !keeps && !may_overwrite(other, overwrite)) {
        Some(other) if overwrite == Overwrite::Skip => return Err(Skipped(other.clone()).into()),
        Some(other) if files == Files::One && may_be_source(other.path(), input.path()) => format!(
            "{other} exists, and may be a source (-o NAME names another output; --output-dir DIR takes many inputs)"
        ),
        Some(other) => return Err(exists(other)),
        None if overwrite == Overwrite::Yes && is_file && are_of_pattern(name.path(), input.path()) => format!(
            "{name} is the second of the two names that a pattern like *.mp4 stands for, and may be a source: -y does \
             not replace it (remove it first; --output-dir DIR takes many inputs)"
        ),
        None => return Ok(!written.is_empty()),
    };
    Err(FailureKind::Exists.error(message))
}

/// Existing segments that the playlist `name` would overwrite.
fn segments(name: &Name) -> Vec<Name> {
    let stem = name.path().file_stem().unwrap_or_default().as_bytes();
    let is_segment = |file: &Path| {
        let [name, end] = [file.file_stem(), file.extension()].map(|part| part.unwrap_or_default().as_bytes());
        let number = name.strip_prefix(stem);
        let of_hls = number.is_some_and(|number| !number.is_empty() && number.iter().all(u8::is_ascii_digit));
        let of_dash = name.starts_with(b"init-stream") || name.starts_with(b"chunk-stream");
        (end == b"ts" || end == b"m4s") && (of_hls || of_dash)
    };
    let files = std::fs::read_dir(folder_of(name.path())).into_iter().flatten().flatten();
    files.map(|file| file.path()).filter(|file| is_segment(file)).map(Name::from).collect()
}

/// Whether `path` is a regular file, not a link to one.
pub(super) fn is_regular(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|there| there.is_file())
}

fn is_folder(name: &Name) -> Error {
    let word = name.quoted();
    FailureKind::Exists
        .error(format!("{name} is a folder (give a file name; --output-dir {word} keeps those of the inputs)"))
}

/// The system's error message, with a remedy if there is one.
pub(super) fn with_remedy(error: &std::io::Error) -> String {
    let remedy = match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => " (make room, or name an output on another disk)",
        ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied => {
            " (name an output elsewhere, or all of them with --output-dir DIR)"
        }
        _ => "",
    };
    reason(error) + remedy
}

/// Whether the file `name` may be overwritten. Asks the user if `overwrite` requires that.
fn may_overwrite(name: &Name, overwrite: Overwrite) -> bool {
    if !overwrite.asks() {
        return overwrite == Overwrite::Yes;
    }
    crate::sys::print_text(&format!("{} exists. Overwrite? [y/N] ", one_line(&name.to_string())));
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer).is_ok() && answer.trim().eq_ignore_ascii_case("y")
}

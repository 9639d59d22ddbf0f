//! Classifies errors by kind of failure, for programs that react to them.

use crate::sys::files::Name;
use crate::sys::without_codes;
use histeq::CallerError;
use serde::{Deserialize, Serialize};
use std::fmt::Display;

/// Kinds of failures. docs/reliability.md lists them with their exit codes. New kinds may be added; existing ones are
/// neither renamed nor removed.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FailureKind {
    /// A failure of no other kind.
    #[default]
    Failed = 1,
    /// The command line is not valid.
    Usage = 2,
    /// An input, or the folder of an output, does not exist.
    Missing = 4,
    /// The operating system, a server or a camera denies access.
    Refused = 5,
    /// A GPU, a camera or another device is missing, or fails.
    Device = 6,
    /// An input is not a video, or is damaged.
    Damage = 7,
    /// A limit is exceeded, which the user has set or which applies by default.
    Limit = 8,
    /// A disk is full, or cannot be written.
    Disk = 9,
    /// An output exists, and must not be overwritten.
    Exists = 10,
    /// An input is undamaged, but encrypted or of a kind that is not supported.
    Unsupported = 11,
}

impl FailureKind {
    /// The exit code of a run that ends with this failure.
    pub fn exit_code(self) -> u8 {
        self as u8
    }

    /// The kind of a system error, by its number.
    pub fn from_errno(errno: i32) -> Self {
        match errno {
            libc::ENOENT | libc::ENOTDIR => FailureKind::Missing,
            libc::EEXIST => FailureKind::Exists,
            libc::EACCES | libc::EPERM | libc::EROFS | libc::ECONNREFUSED | libc::EHOSTUNREACH | libc::ENETUNREACH => {
                FailureKind::Refused
            }
            libc::ENODEV | libc::ENXIO | libc::EBUSY => FailureKind::Device,
            libc::ENOSPC | libc::EDQUOT | libc::EFBIG | libc::EIO => FailureKind::Disk,
            _ => FailureKind::Failed,
        }
    }

    /// The kind of an I/O error: by its system error number, if it has one.
    pub fn from_io(error: &std::io::Error) -> Self {
        error.raw_os_error().map_or(FailureKind::Failed, FailureKind::from_errno)
    }

    /// The system error for the file `name`; its message leaves out the error number.
    pub fn file_error(name: impl Display, error: &std::io::Error) -> anyhow::Error {
        FailureKind::from_io(error).error(format!("{name}: {}", reason(error)))
    }

    /// An error of this kind.
    pub fn error(self, message: impl Into<String>) -> anyhow::Error {
        Failure { kind: self, message: message.into() }.into()
    }
}

/// The system's error message, without the error number.
pub fn reason(error: &std::io::Error) -> String {
    without_codes(&error.to_string()).into_owned()
}

/// The error when a run is interrupted before this input has given a frame.
#[derive(Debug, thiserror::Error)]
#[error("{0}: interrupted before the first frame: nothing was written")]
pub struct Interrupted(pub Name);

/// An error that carries its kind of failure.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// The kind of failure.
    pub kind: FailureKind,
    /// What failed, and the remedy.
    pub message: String,
}

/// An error with its cause and its remedy.
#[derive(Debug, thiserror::Error)]
#[error("{cause} ({remedy})")]
pub struct ErrorWithRemedy {
    /// What failed, and where.
    pub cause: String,
    /// What the user can do.
    pub remedy: String,
}

impl ErrorWithRemedy {
    /// The error for a video that cannot be split into pieces.
    pub fn not_in_pieces(cause: String) -> Self {
        ErrorWithRemedy { cause, remedy: "leave --jobs out".to_owned() }
    }
}

/// Converts an error of an observer, or of a source of mappings, to the type that the stage expects.
pub fn to_stage(error: anyhow::Error) -> CallerError {
    error.reallocate_into_boxed_dyn_error_without_backtrace()
}

/// Converts an error of the stage to `anyhow`; an observer's error becomes what it was before [`to_stage`].
pub fn from_stage(error: histeq::Error) -> anyhow::Error {
    match error {
        histeq::Error::Caller(error) => anyhow::Error::from_boxed(error),
        error => error.into(),
    }
}

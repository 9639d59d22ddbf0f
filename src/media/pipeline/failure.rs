//! What kind of failure an error is, for programs that act on it.

use crate::sys::{Name, without_codes};
use serde::{Deserialize, Serialize};
use std::fmt::Display;

/// Kinds of failures, of which docs/reliability.md has the list, with the exit code of each. Kinds may be added; none
/// is renamed or taken away.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FailureKind {
    /// None of the others.
    #[default]
    Failed = 1,
    /// The command line cannot be understood.
    Usage = 2,
    /// An input, or the folder of an output, is not there.
    Missing = 4,
    /// The system, a server or a camera does not allow it.
    Refused = 5,
    /// A GPU, a camera or another device is missing, or fails.
    Device = 6,
    /// An input is no video, or is damaged.
    Damage = 7,
    /// A limit that the user has set, or that holds by default.
    Limit = 8,
    /// A disk is full, or does not take what is written.
    Disk = 9,
    /// An output exists, and is kept.
    Exists = 10,
    /// An input is undamaged, but encrypted or of a kind that is not supported.
    Unsupported = 11,
}

impl FailureKind {
    /// The exit code of a run that ends with it.
    pub fn exit_code(self) -> u8 {
        self as u8
    }

    /// The kind of a system's error.
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

    /// The kind of an error that is the system's.
    pub fn from_io(error: &std::io::Error) -> Self {
        error.raw_os_error().map_or(FailureKind::Failed, FailureKind::from_errno)
    }

    /// The system's error for the file of this name, without its number.
    pub fn file_error(name: impl Display, error: &std::io::Error) -> anyhow::Error {
        FailureKind::from_io(error).error(format!("{name}: {}", reason(error)))
    }

    /// An error of this kind.
    pub fn error(self, message: impl Into<String>) -> anyhow::Error {
        Failure { kind: self, message: message.into() }.into()
    }
}

/// The system's message, without the number of its error.
pub fn reason(error: &std::io::Error) -> String {
    without_codes(&error.to_string()).into_owned()
}

/// A run was interrupted before the input of this name had given a frame.
#[derive(Debug, thiserror::Error)]
#[error("{0}: interrupted before the first frame: nothing was written")]
pub struct Interrupted(pub Name);

/// An error with its kind, which its type does not show.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// Its kind.
    pub kind: FailureKind,
    /// The failure, and its remedy.
    pub message: String,
}

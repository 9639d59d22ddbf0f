//! The kind of failure that an error is, by what caused it.

use histeq::cuda;
use histeq_media::pipeline::FailureKind;
use histeq_media::sink::{TargetError, TooLarge};
use histeq_media::source::kind_of_cause;
use std::error::Error;
use std::io::ErrorKind;

/// The exit code of a run that has done nothing, because the output exists.
pub const SKIPPED: u8 = 3;

/// The kind of `error`: that of the first of its causes that has one.
pub fn kind_of(error: &anyhow::Error) -> FailureKind {
    error.chain().map(of_cause).find(|kind| *kind != FailureKind::Failed).unwrap_or_default()
}

fn of_cause(cause: &(dyn Error + 'static)) -> FailureKind {
    if let Some(error) = cause.downcast_ref::<TargetError>() {
        of_target(error)
    } else if let Some(error) = cause.downcast_ref::<histeq::Error>() {
        match error {
            histeq::Error::NoRoom(_) => FailureKind::Limit,
            error if error.gpu().is_some() => FailureKind::Device,
            _ => FailureKind::Failed,
        }
    } else if cause.is::<cuda::Error>() {
        FailureKind::Device
    } else if cause.is::<TooLarge>() {
        FailureKind::Limit
    } else {
        kind_of_cause(cause)
    }
}

fn of_target(error: &TargetError) -> FailureKind {
    match error {
        TargetError::Exists(_)
        | TargetError::MayBeSource(_)
        | TargetError::IsOfPattern(_)
        | TargetError::Skipped(_)
        | TargetError::SameAsInput(_)
        | TargetError::NoFile(_)
        | TargetError::Folder(_)
        | TargetError::InUse(_)
        | TargetError::Kept { kind: ErrorKind::IsADirectory, .. }
        | TargetError::Appeared { .. } => FailureKind::Exists,
        TargetError::TooLong(_) | TargetError::Kept { kind: ErrorKind::InvalidFilename, .. } => FailureKind::Usage,
        TargetError::NoFolder(..) => FailureKind::Missing,
        TargetError::NotWritable(..) => FailureKind::Refused,
        TargetError::NotWritten(..) | TargetError::Kept { .. } | TargetError::Cut { .. } => FailureKind::Disk,
        TargetError::NoReader(_) => FailureKind::Failed,
    }
}

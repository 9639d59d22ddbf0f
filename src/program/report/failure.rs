//! The kind of failure that an error is, by what caused it.

use histeq::ErrorKind;
use histeq::internal::cuda;
use histeq_media::pipeline::FailureKind;
use histeq_media::sink::encoder::TooLarge;
use histeq_media::sink::files::Skipped;
use histeq_media::source::kind_of_cause;
use std::error::Error;

/// The exit code of a run that has done nothing, because the output exists.
pub const SKIPPED: u8 = 3;

/// The kind of `error`: that of the first of its causes that has one.
pub fn kind_of(error: &anyhow::Error) -> FailureKind {
    error.chain().map(cause_kind).find(|kind| *kind != FailureKind::Failed).unwrap_or_default()
}

fn cause_kind(cause: &(dyn Error + 'static)) -> FailureKind {
    if cause.is::<Skipped>() {
        FailureKind::Exists
    } else if let Some(error) = cause.downcast_ref::<histeq::Error>() {
        match error.kind() {
            ErrorKind::Limit => FailureKind::Limit,
            _ if error.gpu().is_some() => FailureKind::Device,
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

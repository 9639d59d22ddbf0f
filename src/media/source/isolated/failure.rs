//! Errors that pass from one process to another.

use super::said::about;
use crate::pipeline::{Failure, FailureKind, said};
use crate::source::failure::kind_of_cause;
use crate::source::packets::InputChanged;
use crate::sys::{Name, without_middle};
use serde::{Deserialize, Serialize};

#[derive(Deserialize, Serialize)]
pub enum WireError {
    /// The kind and the text of an error.
    Failure(FailureKind, String),
    /// [`InputChanged`].
    Changed(Name, String),
}

/// Kinds of errors that reading an input can have, beside damage and limits.
#[derive(Clone, Copy, Default)]
pub struct MayFail {
    /// Wrong options for the content of the input, such as the number of a stream.
    pub of_usage: bool,
    /// Access errors: the input is opened by its name.
    pub of_access: bool,
    /// [`InputChanged`], because the input was planned before.
    pub of_change: bool,
}

impl WireError {
    pub fn new(error: &anyhow::Error) -> Self {
        if let Some(InputChanged(name, how)) = error.downcast_ref() {
            return WireError::Changed(name.clone(), how.clone().into_owned());
        }
        let kind = error.chain().map(kind_of_cause).find(|kind| *kind != FailureKind::Failed).unwrap_or_default();
        WireError::Failure(kind, said(error))
    }

    /// The error of the input `name`. A kind that reading it cannot have becomes [`FailureKind::Failed`]: the process
    /// is untrusted.
    pub fn checked(self, name: &str, may: MayFail) -> anyhow::Error {
        match self {
            WireError::Failure(kind, message) => {
                let is_possible = match kind {
                    FailureKind::Failed | FailureKind::Damage | FailureKind::Limit | FailureKind::Unsupported => true,
                    FailureKind::Usage => may.of_usage,
                    FailureKind::Missing | FailureKind::Refused | FailureKind::Device => may.of_access,
                    FailureKind::Disk | FailureKind::Exists => false,
                };
                let kind = if is_possible { kind } else { FailureKind::Failed };
                Failure { kind, message: about(name, &message) }.into()
            }
            WireError::Changed(_, how) if may.of_change => {
                InputChanged(name.into(), without_middle(&how).into_owned().into()).into()
            }
            WireError::Changed(_, how) => FailureKind::Damage.error(about(name, &how)),
        }
    }
}

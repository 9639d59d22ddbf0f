//! Errors that pass from one process to another.

use crate::pipeline::{ErrorWithRemedy, Failure, FailureKind};
use crate::source::failure::kind_of_cause;
use crate::source::packets::InputChanged;
use crate::sys::Name;
use serde::{Deserialize, Serialize};

/// An error.
#[derive(Deserialize, Serialize)]
pub enum WireError {
    /// The kind, and the text.
    Failure(FailureKind, String),
    /// An [`ErrorWithRemedy`]: the cause, and the remedy.
    WithRemedy(String, String),
    /// [`InputChanged`].
    Changed(Name, String),
}

impl WireError {
    pub fn of(error: &anyhow::Error) -> Self {
        if let Some(ErrorWithRemedy { cause, remedy }) = error.downcast_ref() {
            return WireError::WithRemedy(cause.clone(), remedy.clone());
        }
        if let Some(InputChanged(name, how)) = error.downcast_ref() {
            return WireError::Changed(name.clone(), how.clone().into_owned());
        }
        let kind = error.chain().map(kind_of_cause).find(|kind| *kind != FailureKind::Failed).unwrap_or_default();
        WireError::Failure(kind, format!("{error:#}"))
    }
}

impl From<WireError> for anyhow::Error {
    fn from(error: WireError) -> Self {
        match error {
            WireError::Failure(kind, message) => Failure { kind, message }.into(),
            WireError::WithRemedy(cause, remedy) => ErrorWithRemedy { cause, remedy }.into(),
            WireError::Changed(name, how) => InputChanged(name, how.into()).into(),
        }
    }
}

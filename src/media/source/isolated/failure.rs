//! Errors that pass from one process to another: their kind and their text.

use crate::pipeline::{ErrorWithRemedy, Failure, FailureKind};
use crate::source::failure::kind_of_cause;
use serde::{Deserialize, Serialize};

/// An error.
#[derive(Deserialize, Serialize)]
pub struct WireError {
    kind: FailureKind,
    message: String,
    /// The two parts of an [`ErrorWithRemedy`].
    parts: Option<(String, String)>,
}

impl WireError {
    pub fn of(error: &anyhow::Error) -> Self {
        let kind = error.chain().map(kind_of_cause).find(|kind| *kind != FailureKind::Failed).unwrap_or_default();
        let parts = error.downcast_ref::<ErrorWithRemedy>();
        let parts = parts.map(|ErrorWithRemedy { cause, remedy }| (cause.clone(), remedy.clone()));
        WireError { kind, message: format!("{error:#}"), parts }
    }
}

impl From<WireError> for anyhow::Error {
    fn from(WireError { kind, message, parts }: WireError) -> Self {
        match parts {
            Some((cause, remedy)) => ErrorWithRemedy { cause, remedy }.into(),
            None => Failure { kind, message }.into(),
        }
    }
}

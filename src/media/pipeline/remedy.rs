//! An error that keeps cause and remedy separate, so that callers can replace the remedy.

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

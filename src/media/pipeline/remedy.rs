//! An error that keeps its cause and its remedy apart, for callers that can offer another remedy.

/// An error and its remedy.
#[derive(Debug, thiserror::Error)]
#[error("{cause} ({remedy})")]
pub struct ErrorWithRemedy {
    /// What failed, and where.
    pub cause: String,
    /// What helps.
    pub remedy: String,
}

impl ErrorWithRemedy {
    /// The error of a video that cannot be split into pieces.
    pub fn not_in_pieces(cause: String) -> Self {
        ErrorWithRemedy { cause, remedy: "leave --jobs out".to_owned() }
    }
}

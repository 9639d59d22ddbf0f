//! Converts errors between this program's code, which uses `anyhow`, and the stage of `histeq`, which has its own error
//! type. An observer's error passes through the stage unchanged.

use histeq::CallerError;

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

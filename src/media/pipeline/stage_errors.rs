//! Converts errors between this program's code, which uses `anyhow`, and the stage of `histeq`, which has its own type.
//! An error of an observer passes through the stage unchanged.

use histeq::CallerError;

/// An error of an observer, or of a source of mappings, as the stage takes it.
pub fn to_stage(error: anyhow::Error) -> CallerError {
    error.reallocate_into_boxed_dyn_error_without_backtrace()
}

/// The error of a stage; an error of an observer is again what it was before [`to_stage`].
pub fn from_stage(error: histeq::Error) -> anyhow::Error {
    match error {
        histeq::Error::Caller(error) => anyhow::Error::from_boxed(error),
        error => error.into(),
    }
}

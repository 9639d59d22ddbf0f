//! The exit code of a command, and its last message.

use crate::pieces::{ChildError, TRY_AGAIN};
use crate::report::{Console, SKIPPED, kind_of};
use crate::signals;
use anyhow::Result;
use histeq::internal::cuda;
use histeq_media::pipeline::{Failure, FailureKind, Interrupted, Outcome};
use histeq_media::sink::files::Skipped;
use histeq_media::source::InputChanged;
use histeq_media::sys::end_is_explained;
use std::error::Error;
use std::io::{self, ErrorKind};

/// The exit code when the input is not the one that was planned.
const CHANGED: u8 = 65;

/// Prints the error of a command that has failed, and returns its exit code. `may_be_tried_again`: the command is
/// `run`, which job schedulers start again after [`TRY_AGAIN`].
pub fn exit_code(result: Result<Outcome>, may_be_tried_again: bool, console: &Console) -> u8 {
    match result {
        Ok(Outcome::Complete) => 0,
        // Any other error is a consequence of the time limit, and is not printed.
        _ if signals::is_out_of_time() => {
            let error = signals::out_of_time();
            console.error(&error);
            kind_of(&error).exit_code()
        }
        Ok(Outcome::Interrupted) if may_be_tried_again => TRY_AGAIN,
        Ok(Outcome::Interrupted) => signals::INTERRUPTED,
        Err(error) if is_interrupted(&error) => {
            console.info(&format!("{error:#}"));
            if may_be_tried_again { TRY_AGAIN } else { signals::INTERRUPTED }
        }
        Err(error) if error.is::<Skipped>() => {
            console.note(&format!("{error:#}"));
            SKIPPED
        }
        Err(error) => {
            console.error(&error);
            end_is_explained();
            error_code(&error, may_be_tried_again)
        }
    }
}

/// Whether `error` is no failure, but an interruption before the first frame.
pub fn is_interrupted(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| cause.is::<Interrupted>())
}

fn error_code(error: &anyhow::Error, may_be_tried_again: bool) -> u8 {
    match error.downcast_ref::<ChildError>() {
        Some(ChildError { code, .. }) => *code,
        None if error.chain().any(|cause| cause.is::<InputChanged>()) => CHANGED,
        None if may_be_tried_again && (error.chain().any(is_passing) || signals::was_interrupted()) => TRY_AGAIN,
        // The exit code reports an interruption even if the error has another cause: the shell needs to know.
        None if signals::was_interrupted() => signals::INTERRUPTED,
        None => kind_of(error).exit_code(),
    }
}

/// Whether another attempt may succeed: a GPU was lost, or a disk is full.
fn is_passing(error: &(dyn Error + 'static)) -> bool {
    let full = [ErrorKind::StorageFull, ErrorKind::QuotaExceeded, ErrorKind::FileTooLarge, ErrorKind::Interrupted];
    error.is::<cuda::Error>()
        || error.downcast_ref::<histeq::Error>().is_some_and(|error| error.gpu().is_some())
        || error.downcast_ref::<io::Error>().is_some_and(|error| full.contains(&error.kind()))
        || error.downcast_ref::<Failure>().is_some_and(|failure| failure.kind == FailureKind::Disk)
}

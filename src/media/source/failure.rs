//! The kinds of the errors of inputs.

use crate::camera::NotOpened;
use crate::ffmpeg::Error as FfmpegError;
use crate::ffmpeg::demux::OpenError;
use crate::pipeline::{Failure, FailureKind};
use histeq::internal::frame::NoRoom;
use std::error::Error;
use std::io;

/// The kind of failure of `cause`, one error in a chain of causes; [`FailureKind::Failed`] if it is not an error of an
/// input.
pub fn kind_of_cause(cause: &(dyn Error + 'static)) -> FailureKind {
    if let Some(failure) = cause.downcast_ref::<Failure>() {
        failure.kind
    } else if let Some(error) = cause.downcast_ref::<io::Error>() {
        FailureKind::from_io(error)
    } else if let Some(error) = cause.downcast_ref::<FfmpegError>() {
        ffmpeg_kind(error)
    } else if let Some(error) = cause.downcast_ref::<NotOpened>() {
        match (&error.error, error.is_camera) {
            (Some(error), false) => opening_kind(error),
            (Some(FfmpegError::Other { errno: libc::EIO }) | None, _) => FailureKind::Device,
            (Some(error), true) => ffmpeg_kind(error),
        }
    } else if let Some(error) = cause.downcast_ref::<OpenError>() {
        match error {
            OpenError::Ffmpeg(error) => opening_kind(error),
            OpenError::Playlist(_) => FailureKind::Damage,
            OpenError::Protocol { .. } => FailureKind::Refused,
            _ => FailureKind::Limit,
        }
    } else if cause.is::<NoRoom>() {
        FailureKind::Limit
    } else {
        FailureKind::Failed
    }
}

/// The kind of an error on opening. FFmpeg reports EIO for host names that do not resolve, and for servers that close
/// the connection.
fn opening_kind(error: &FfmpegError) -> FailureKind {
    match error {
        FfmpegError::Other { errno: libc::EIO } => FailureKind::Missing,
        error => ffmpeg_kind(error),
    }
}

fn ffmpeg_kind(error: &FfmpegError) -> FailureKind {
    match error {
        FfmpegError::InvalidData => FailureKind::Damage,
        FfmpegError::HttpUnauthorized | FfmpegError::HttpForbidden => FailureKind::Refused,
        FfmpegError::HttpNotFound | FfmpegError::Exit => FailureKind::Missing,
        FfmpegError::Other { errno: libc::ETIMEDOUT } => FailureKind::Missing,
        FfmpegError::Other { errno } => FailureKind::from_errno(*errno),
        _ => FailureKind::Failed,
    }
}

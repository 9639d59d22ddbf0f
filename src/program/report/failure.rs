//! The kind of failure that an error is, by what caused it.

use histeq::{cuda, frame::NoRoom};
use histeq_media::camera::NotOpened;
use histeq_media::ffmpeg::{Error as FfmpegError, OpenError};
use histeq_media::pipeline::{Failure, FailureKind};
use histeq_media::sink::{TargetError, TooLarge};
use std::error::Error;
use std::io;

/// The exit code of a run that has done nothing, because the output exists.
pub const SKIPPED: u8 = 3;

/// The kind of `error`: that of the first of its causes that has one.
pub fn kind_of(error: &anyhow::Error) -> FailureKind {
    error.chain().map(of_cause).find(|kind| *kind != FailureKind::Failed).unwrap_or_default()
}

fn of_cause(cause: &(dyn Error + 'static)) -> FailureKind {
    if let Some(failure) = cause.downcast_ref::<Failure>() {
        failure.kind
    } else if let Some(error) = cause.downcast_ref::<TargetError>() {
        of_target(error)
    } else if let Some(error) = cause.downcast_ref::<io::Error>() {
        error.raw_os_error().map_or(FailureKind::Failed, FailureKind::of_errno)
    } else if let Some(error) = cause.downcast_ref::<FfmpegError>() {
        of_ffmpeg(error)
    } else if let Some(error) = cause.downcast_ref::<NotOpened>() {
        error.error.as_ref().map_or(FailureKind::Device, of_ffmpeg)
    } else if let Some(error) = cause.downcast_ref::<OpenError>() {
        match error {
            OpenError::Ffmpeg(error) => of_ffmpeg(error),
            OpenError::Playlist(_) | OpenError::Protocol { .. } => FailureKind::Refused,
            _ => FailureKind::Limit,
        }
    } else if let Some(error) = cause.downcast_ref::<histeq::Error>() {
        match error {
            histeq::Error::NoRoom(_) => FailureKind::Limit,
            error if error.gpu().is_some() => FailureKind::Device,
            _ => FailureKind::Failed,
        }
    } else if cause.is::<cuda::Error>() {
        FailureKind::Device
    } else if cause.is::<NoRoom>() || cause.is::<TooLarge>() {
        FailureKind::Limit
    } else {
        FailureKind::Failed
    }
}

fn of_target(error: &TargetError) -> FailureKind {
    match error {
        TargetError::Exists(_)
        | TargetError::MayBeSource(_)
        | TargetError::IsOfPattern(_)
        | TargetError::Skipped(_)
        | TargetError::SameAsInput(_)
        | TargetError::Folder(_)
        | TargetError::Appeared { .. } => FailureKind::Exists,
        TargetError::NoFolder(..) => FailureKind::Missing,
        TargetError::NotWritable(..) => FailureKind::Refused,
        TargetError::NotWritten(..) | TargetError::Kept { .. } => FailureKind::Disk,
        TargetError::NoReader(_) => FailureKind::Failed,
    }
}

fn of_ffmpeg(error: &FfmpegError) -> FailureKind {
    match error {
        FfmpegError::InvalidData => FailureKind::Damage,
        FfmpegError::HttpUnauthorized | FfmpegError::HttpForbidden => FailureKind::Refused,
        FfmpegError::HttpNotFound | FfmpegError::Exit => FailureKind::Missing,
        FfmpegError::Other { errno: libc::ETIMEDOUT } => FailureKind::Missing,
        FfmpegError::Other { errno } => FailureKind::of_errno(*errno),
        _ => FailureKind::Failed,
    }
}

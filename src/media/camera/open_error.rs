//! Errors of a camera or a stream that does not open, with a remedy.

use super::INPUT;
use crate::ffmpeg::{Error, last_message};

/// Why an input does not open, in one line.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct NotOpened {
    message: String,
    /// FFmpeg's error; `None` for an error that is not FFmpeg's.
    pub error: Option<Error>,
    /// Whether the input is a camera of this machine.
    pub is_camera: bool,
    /// Whether another attempt with the same request fails, too.
    pub is_final: bool,
}

impl NotOpened {
    /// The error on opening the input of this name, and of this format if one is given.
    pub fn new(name: &str, format: Option<&str>, error: Error) -> Self {
        // A missing permission is not final: a camera that was plugged in gets its group a moment later.
        let is_final = matches!(
            error,
            Error::HttpUnauthorized
                | Error::HttpForbidden
                | Error::ProtocolNotFound
                | Error::DemuxerNotFound
                | Error::Other { errno: libc::ENOTTY | libc::EISDIR }
        );
        let is_camera = format == Some(INPUT);
        NotOpened { message: explain(name, format, error), error: Some(error), is_camera, is_final }
    }

    /// An error that every further attempt would meet, too.
    pub fn for_good(message: String) -> Self {
        NotOpened { message, error: None, is_camera: false, is_final: true }
    }
}

/// A message of one line for an error on opening the input of this name, and of this format if one is given.
pub fn explain(name: &str, format: Option<&str>, error: Error) -> String {
    let why = match error {
        // FFmpeg reports invalid data if no server replies, or if a server of another protocol does.
        Error::InvalidData if name.starts_with("rtsp://") => Some("no RTSP server answers there (is the camera on?)"),
        _ if format == Some(INPUT) => camera_cause(&error),
        Error::InvalidData if format.is_some() => Some("what comes in is not of the format that --format says it is"),
        _ => None,
    };
    match why.or_else(|| stream_cause(&error)) {
        Some(why) => format!("{name}: {why}"),
        None => whole_message(name, format, error),
    }
}

fn camera_cause(error: &Error) -> Option<&'static str> {
    let Error::Other { errno } = error else { return None };
    Some(match *errno {
        libc::ENOENT | libc::ENODEV | libc::ENXIO => {
            "no such camera or file (`histeq-video devices` lists the cameras that are here)"
        }
        libc::EBUSY => "another program uses the camera (close that first)",
        libc::EACCES | libc::EPERM => {
            "no permission (join the group that owns it: sudo usermod -aG video $USER, then log in again)"
        }
        libc::EINVAL => "the camera has no such mode (`histeq-video devices` lists its sizes, rates and formats)",
        libc::ENOTTY | libc::EISDIR => "not a camera",
        _ => return None,
    })
}

fn stream_cause(error: &Error) -> Option<&'static str> {
    Some(match error {
        Error::Other { errno: libc::ECONNREFUSED } => "the connection is refused (is the camera on?)",
        Error::Other { errno: libc::EHOSTUNREACH | libc::ENETUNREACH } => "no way there (is the address right?)",
        Error::Exit | Error::Other { errno: libc::ETIMEDOUT } => "no data received (is the sender running?)",
        Error::HttpUnauthorized => "a name and a password are wanted (as in rtsp://name:password@camera/stream)",
        Error::HttpForbidden => "the camera refuses (name and password may be wrong)",
        Error::HttpNotFound => "no such stream there (is the path right?)",
        Error::ProtocolNotFound => "this FFmpeg does not know such URLs (`ffmpeg -protocols` lists those it does)",
        Error::InvalidData => "what comes in is no video that FFmpeg knows (name it with -f)",
        _ => return None,
    })
}

fn whole_message(name: &str, format: Option<&str>, error: Error) -> String {
    match (error, last_message()) {
        (Error::DemuxerNotFound, _) => {
            let format = format.unwrap_or_default();
            format!(
                "{name}: this FFmpeg has no input format {format} (`ffmpeg -devices` and `-demuxers` list those it has)"
            )
        }
        // The log message is more specific than these errors.
        (Error::Other { errno: libc::EIO }, Some(message)) if message.contains("resolve") => {
            format!("{name}: {message} (is the name right?)")
        }
        (Error::Other { errno: libc::EIO | libc::EINVAL }, Some(message)) => format!("{name}: {message}"),
        (error, Some(message)) => format!("{name}: {error} ({message})"),
        (error, None) => format!("{name}: {error}"),
    }
}

//! What it means when a camera does not open, and the way out.

use crate::ffmpeg::Error;

/// Why the camera of this name does not open, in a line.
pub fn explain(name: &str, error: Error) -> String {
    match error {
        Error::Other { errno: libc::ENOENT | libc::ENODEV | libc::ENXIO } => {
            format!("{name}: no such camera (`histeq-video devices` lists those that are here)")
        }
        Error::Other { errno: libc::EBUSY } => format!("{name}: another program uses the camera (close that first)"),
        Error::Other { errno: libc::EACCES | libc::EPERM } => {
            format!(
                "{name}: no permission (join the group that owns it: sudo usermod -aG video $USER, then log in anew)"
            )
        }
        Error::Other { errno: libc::EINVAL } => {
            format!("{name}: the camera has no such mode (`histeq-video devices` lists its sizes, rates and formats)")
        }
        Error::Other { errno: libc::ENOTTY } => format!("{name}: not a camera"),
        Error::Other { errno: libc::ECONNREFUSED } => format!("{name}: nobody answers there (is the camera on?)"),
        Error::Exit | Error::Other { errno: libc::ETIMEDOUT } => {
            format!("{name}: nothing comes in (is the sender running?)")
        }
        Error::InvalidData => format!("{name}: what comes in is no video that FFmpeg knows (name it with -f)"),
        Error::DemuxerNotFound => format!("{name}: this FFmpeg has no such input (`ffmpeg -devices` lists them)"),
        error => match crate::ffmpeg::last_message() {
            Some(message) => format!("{name}: {error} ({message})"),
            None => format!("{name}: {error}"),
        },
    }
}

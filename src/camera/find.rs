//! The cameras of this machine, by the input device that its system has.

use super::{Mode, Wanted};
use crate::ffmpeg::{Device, input_devices};

/// FFmpeg's input device for cameras on this system.
pub const INPUT: &str = if cfg!(target_os = "macos") {
    "avfoundation"
} else if cfg!(windows) {
    "dshow"
} else {
    "v4l2"
};

/// The cameras that are here, in the system's order.
pub fn cameras() -> Vec<Device> {
    input_devices(INPUT)
}

/// The modes of a camera; none where they cannot be told, and the camera's own default has to do. Of a camera that has
/// any size or rate, what is wanted is among them.
#[cfg(target_os = "linux")]
pub fn modes(url: &str, wanted: &Wanted) -> Vec<Mode> {
    super::v4l2::modes(url, wanted)
}

/// The modes of a camera; none where they cannot be told, and the camera's own default has to do.
#[cfg(not(target_os = "linux"))]
pub fn modes(_url: &str, _wanted: &Wanted) -> Vec<Mode> {
    Vec::new()
}

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

/// The cameras that are here, by their numbers.
pub fn cameras() -> Vec<Device> {
    let mut found = input_devices(INPUT);
    found.retain(|device| other_than_camera(&device.url).is_none());
    found.sort_by_key(|device| (device.url.len(), device.url.clone()));
    found
}

/// What the device of this name is, if it is no camera, as far as that can be told.
#[cfg(target_os = "linux")]
pub fn other_than_camera(url: &str) -> Option<&'static str> {
    super::v4l2::other_than_camera(url)
}

/// What the device of this name is, if it is no camera, as far as that can be told.
#[cfg(not(target_os = "linux"))]
pub fn other_than_camera(_url: &str) -> Option<&'static str> {
    None
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

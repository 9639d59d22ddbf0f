//! The cameras of this machine, listed by the input device of its operating system.

use super::{Mode, Wanted};
use crate::ffmpeg::{Device, input_devices};
use std::path::Path;

/// FFmpeg's input device for cameras on this system.
pub const INPUT: &str = if cfg!(target_os = "macos") { "avfoundation" } else { "v4l2" };

/// The cameras of this machine, by number.
pub fn cameras() -> Vec<Device> {
    let mut found = input_devices(INPUT);
    found.retain(|device| other_than_camera(&device.url).is_none());
    found.sort_by_key(|device| (device.url.len(), device.url.clone()));
    found
}

/// A description of the device of this name if it is no camera; `None` for a camera, or when that is unknown.
#[cfg(target_os = "linux")]
pub fn other_than_camera(url: impl AsRef<Path>) -> Option<&'static str> {
    super::v4l2::other_than_camera(url)
}

/// A description of the device of this name if it is no camera; unknown on this system.
#[cfg(not(target_os = "linux"))]
pub fn other_than_camera(_url: impl AsRef<Path>) -> Option<&'static str> {
    None
}

/// The modes of a camera; empty where they are unknown. For a camera with ranges of sizes or rates, the `wanted` ones
/// are included.
#[cfg(target_os = "linux")]
pub fn modes(url: impl AsRef<Path>, wanted: &Wanted) -> Vec<Mode> {
    super::v4l2::modes(url, wanted)
}

/// The modes of a camera; unknown on this system.
#[cfg(not(target_os = "linux"))]
pub fn modes(_url: impl AsRef<Path>, _wanted: &Wanted) -> Vec<Mode> {
    Vec::new()
}

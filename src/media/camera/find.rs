//! The cameras of this machine, as Linux lists them.

use super::other_than_camera;
use crate::ffmpeg::demux::{Device, input_devices};

/// FFmpeg's input device for cameras.
pub const INPUT: &str = "v4l2";

/// The cameras of this machine, sorted by device number.
pub fn cameras() -> Vec<Device> {
    let mut found = input_devices(INPUT);
    found.retain(|device| other_than_camera(&device.url).is_none());
    found.sort_by_key(|device| (device.url.len(), device.url.clone()));
    found
}

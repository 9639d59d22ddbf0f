//! The cameras and microphones that libavdevice finds.
#![allow(unsafe_code, reason = "FFI")]

use crate::ffmpeg::{c_string, text};
use ffmpeg_next::ffi;

/// A camera or a microphone, as the operating system lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// The URL that opens it: `/dev/video0`, `hw:1`, or a number.
    pub url: String,
    /// The name to show to the user.
    pub name: String,
}

/// The devices that FFmpeg's input device of this name (`v4l2`, `alsa`, `pulse`) lists; empty where
/// this FFmpeg lacks it, or it cannot list them.
pub fn input_devices(input: &str) -> Vec<Device> {
    crate::ffmpeg::init();
    let mut list = std::ptr::null_mut();
    // SAFETY: a NUL-terminated name; afterwards the list is null or valid. It is freed below.
    unsafe {
        let format = ffi::av_find_input_format(c_string(input).as_ptr());
        if format.is_null() {
            return Vec::new();
        }
        let none = std::ptr::null_mut();
        ffi::avdevice_list_input_sources(format.cast_mut().cast(), std::ptr::null(), none, &mut list);
    }
    crate::ffmpeg::last_message();
    if list.is_null() {
        return Vec::new();
    }
    // SAFETY: a valid list has `nb_devices` valid entries, whose texts are NUL-terminated or null.
    unsafe {
        let found = (0..(*list).nb_devices as usize)
            .map(|index| {
                let device = &**(*list).devices.add(index);
                Device { url: text(device.device_name), name: text(device.device_description) }
            })
            .collect();
        ffi::avdevice_free_list_devices(&mut list);
        found
    }
}

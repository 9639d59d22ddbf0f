//! Holds a virtual camera (v4l2loopback) open, so that it is free for the next writer afterwards.
#![allow(unsafe_code, reason = "an ioctl")]

use linuxvideo::{CapabilityFlags, Device};
use rustix::ioctl::{Setter, ioctl, opcode};
use std::fs::{File, OpenOptions};
use std::io::Result;
use std::path::Path;

/// V4L2's number for the direction in which pictures are written.
const OUTPUT: std::ffi::c_int = 2;

/// A virtual camera that is held open. With `exclusive_caps=1`, its driver does not release the device when a program
/// that uses `write`, as FFmpeg does, closes it. It does release the device when a streaming writer, which this is,
/// closes it after FFmpeg.
pub struct HeldVirtualCamera {
    _file: File,
}

impl HeldVirtualCamera {
    /// Holds the device, whose format has been set.
    ///
    /// # Errors
    /// When it cannot be opened, or is no such device.
    pub fn hold(device: &Path) -> Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open(device)?;
        // SAFETY: VIDIOC_STREAMON reads one int, which this is, and changes no memory of the program's.
        unsafe {
            ioctl(&file, Setter::<{ opcode::write::<std::ffi::c_int>(b'V', 18) }, std::ffi::c_int>::new(OUTPUT))?;
        }
        Ok(HeldVirtualCamera { _file: file })
    }

    /// Frees a device that a former writer has left occupied.
    pub fn free(device: &Path) {
        let capabilities = Device::open(device).and_then(|device| device.capabilities());
        let either = CapabilityFlags::VIDEO_CAPTURE | CapabilityFlags::VIDEO_OUTPUT;
        if capabilities.is_ok_and(|found| !found.device_capabilities().intersects(either)) {
            // Closing it frees it, even if STREAMON fails.
            drop(HeldVirtualCamera::hold(device));
        }
    }
}

//! Holds a virtual camera (v4l2loopback) open, so that readers find a camera, and the next writer a free device.
#![allow(unsafe_code, reason = "an ioctl")]

use linuxvideo::{CapabilityFlags, Device};
use rustix::ioctl::{Setter, ioctl, opcode};
use std::fs::{File, OpenOptions};
use std::io::Result;

/// V4L2's number for the direction in which pictures are written.
const OUTPUT: std::ffi::c_int = 2;

/// A virtual camera that is being written to. With `exclusive_caps=1`, its driver takes programs that use `write`, as FFmpeg
/// does, for no writers: the device would stay occupied after the end. This is a writer to the driver; when it is dropped
/// after FFmpeg's, the device is free.
pub struct HeldVirtualCamera {
    _file: File,
}

impl HeldVirtualCamera {
    /// Holds the device, whose format has been set.
    ///
    /// # Errors
    /// When it cannot be opened, or is no such device.
    pub fn hold(device: &str) -> Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open(device)?;
        // SAFETY: VIDIOC_STREAMON reads one int, which this is, and changes no memory of the program's.
        unsafe {
            ioctl(&file, Setter::<{ opcode::write::<std::ffi::c_int>(b'V', 18) }, std::ffi::c_int>::new(OUTPUT))?;
        }
        Ok(HeldVirtualCamera { _file: file })
    }

    /// Frees a device that was left occupied by a writer which is gone.
    pub fn free(device: &str) {
        let can = Device::open(device).and_then(|device| device.capabilities());
        let either = CapabilityFlags::VIDEO_CAPTURE | CapabilityFlags::VIDEO_OUTPUT;
        if can.is_ok_and(|can| !can.device_capabilities().intersects(either)) {
            // Whether or not it begins to stream, closing it frees it.
            drop(HeldVirtualCamera::hold(device));
        }
    }
}

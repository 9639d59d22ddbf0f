//! The modes of a camera, from its V4L2 driver.

use super::{Mode, SizeRange, Wanted, format_of, rates_between};
use crate::ffmpeg::Rational;
use linuxvideo::format::{FrameIntervals, FrameSizes};
use linuxvideo::{BufType, CapabilityFlags, Device, Fract};
use std::path::Path;

/// A description of a V4L2 device that is no camera; `None` for a camera, or a device that cannot be opened.
pub fn other_than_camera(path: impl AsRef<Path>) -> Option<&'static str> {
    let capabilities = Device::open(path).and_then(|device| device.capabilities()).ok()?.device_capabilities();
    let uses = [
        (CapabilityFlags::TOUCH, "it is a touch surface"),
        (CapabilityFlags::VIDEO_CAPTURE, ""),
        (CapabilityFlags::META_CAPTURE, "it gives data about the pictures of a camera, which has a number of its own"),
        (CapabilityFlags::VBI_CAPTURE | CapabilityFlags::SLICED_VBI_CAPTURE, "it gives teletext"),
        (CapabilityFlags::RADIO | CapabilityFlags::TUNER, "it is a radio"),
        (CapabilityFlags::SDR_CAPTURE, "it is a radio"),
        (CapabilityFlags::VIDEO_M2M | CapabilityFlags::VIDEO_M2M_MPLANE, "it is a codec"),
        (
            CapabilityFlags::VIDEO_OUTPUT,
            "it takes pictures (a virtual camera gives some as soon as a program feeds it)",
        ),
        (CapabilityFlags::VIDEO_CAPTURE_MPLANE, "its pictures come in several planes, which FFmpeg does not read"),
    ];
    let found = uses.iter().find(|(flags, _)| capabilities.intersects(*flags));
    found.map_or(Some("it gives no pictures"), |(_, what)| Some(*what).filter(|what| !what.is_empty()))
}

/// The modes that the driver lists; empty when the device cannot be opened. For a camera with ranges of sizes or rates,
/// the `wanted` ones are included.
pub fn modes(path: impl AsRef<Path>, wanted: &Wanted) -> Vec<Mode> {
    let Ok(device) = Device::open(path) else { return Vec::new() };
    let mut found = Vec::new();
    for format in device.formats(BufType::VIDEO_CAPTURE).flatten() {
        let code = format.pixel_format();
        let Some(name) = format_of(code.as_fourcc()) else { continue };
        let usize = |(width, height): (u32, u32)| (width as usize, height as usize);
        let sizes: Vec<(usize, usize)> = match device.frame_sizes(code) {
            Ok(FrameSizes::Discrete(sizes)) => sizes.iter().map(|size| usize((size.width(), size.height()))).collect(),
            Ok(FrameSizes::Stepwise(range) | FrameSizes::Continuous(range)) => {
                let range = SizeRange {
                    smallest: usize((range.min_width(), range.min_height())),
                    largest: usize((range.max_width(), range.max_height())),
                    step: usize((range.step_width(), range.step_height())),
                };
                range.sizes(wanted.size)
            }
            Err(_) => Vec::new(),
        };
        for (width, height) in sizes {
            let rates = match device.frame_intervals(code, width as u32, height as u32) {
                Ok(FrameIntervals::Discrete(intervals)) => intervals.iter().filter_map(|i| rate(i.fract())).collect(),
                // The longest interval is the slowest rate.
                Ok(FrameIntervals::Stepwise(range) | FrameIntervals::Continuous(range)) => {
                    let ends = rate(range.max()).zip(rate(range.min()));
                    ends.map(|(slowest, fastest)| rates_between(slowest, fastest, wanted.rate)).unwrap_or_default()
                }
                Err(_) => Vec::new(),
            };
            found.push(Mode { format: name.to_owned(), size: (width, height), rates });
        }
    }
    found
}

/// Converts seconds for each frame to frames a second.
fn rate(interval: &Fract) -> Option<Rational> {
    let (seconds, frames) = (i32::try_from(interval.numerator()).ok()?, i32::try_from(interval.denominator()).ok()?);
    (seconds > 0 && frames > 0).then(|| Rational::new(frames, seconds))
}

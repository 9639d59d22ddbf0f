//! The modes of a camera on Linux, asked of its driver.

use super::Mode;
use crate::ffmpeg::Rational;
use linuxvideo::format::{FrameIntervals, FrameSizes};
use linuxvideo::{BufType, Device, Fract};

/// V4L2's four letters, and FFmpeg's name.
const NAMES: &[(&[u8; 4], &str)] = &[
    (b"YUYV", "yuyv422"),
    (b"UYVY", "uyvy422"),
    (b"YVYU", "yvyu422"),
    (b"NV12", "nv12"),
    (b"NV21", "nv21"),
    (b"YU12", "yuv420p"),
    (b"422P", "yuv422p"),
    (b"BGR3", "bgr24"),
    (b"RGB3", "rgb24"),
    (b"GREY", "gray"),
    (b"MJPG", "mjpeg"),
    (b"JPEG", "mjpeg"),
    (b"H264", "h264"),
    (b"HEVC", "hevc"),
];

/// Sizes that are tried on a camera that scales to any.
const USUAL: &[(u32, u32)] = &[(320, 240), (640, 480), (1280, 720), (1920, 1080), (3840, 2160)];

/// What the driver says; nothing when it cannot be asked, for which opening the camera will have the reason.
pub fn modes(path: &str) -> Vec<Mode> {
    let Ok(device) = Device::open(path) else { return Vec::new() };
    let mut found = Vec::new();
    for format in device.formats(BufType::VIDEO_CAPTURE).flatten() {
        let code = format.pixel_format();
        let Some(name) = NAMES.iter().find(|(letters, _)| **letters == code.as_fourcc()) else {
            continue;
        };
        let sizes: Vec<(u32, u32)> = match device.frame_sizes(code) {
            Ok(FrameSizes::Discrete(sizes)) => sizes.iter().map(|size| (size.width(), size.height())).collect(),
            Ok(FrameSizes::Stepwise(range) | FrameSizes::Continuous(range)) => {
                let fits = |&(width, height): &(u32, u32)| {
                    (range.min_width()..=range.max_width()).contains(&width)
                        && (range.min_height()..=range.max_height()).contains(&height)
                };
                USUAL.iter().copied().filter(fits).collect()
            }
            Err(_) => Vec::new(),
        };
        for (width, height) in sizes {
            let rates = match device.frame_intervals(code, width, height) {
                Ok(FrameIntervals::Discrete(intervals)) => intervals.iter().filter_map(|i| rate(i.fract())).collect(),
                Ok(FrameIntervals::Stepwise(range) | FrameIntervals::Continuous(range)) => {
                    [range.min(), range.max()].into_iter().filter_map(rate).collect()
                }
                Err(_) => Vec::new(),
            };
            found.push(Mode { format: name.1.to_owned(), size: (width as usize, height as usize), rates });
        }
    }
    found
}

/// Frames a second of seconds a frame.
fn rate(interval: &Fract) -> Option<Rational> {
    let (seconds, frames) = (i32::try_from(interval.numerator()).ok()?, i32::try_from(interval.denominator()).ok()?);
    (seconds > 0 && frames > 0).then(|| Rational::new(frames, seconds))
}

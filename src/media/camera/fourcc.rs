//! V4L2's four-character codes of formats, and FFmpeg's names.

/// V4L2's code, and FFmpeg's name.
const NAMES: &[([u8; 4], &str)] = &[
    (*b"YUYV", "yuyv422"),
    (*b"UYVY", "uyvy422"),
    (*b"YVYU", "yvyu422"),
    (*b"NV12", "nv12"),
    (*b"NV21", "nv21"),
    (*b"YU12", "yuv420p"),
    (*b"422P", "yuv422p"),
    (*b"BGR3", "bgr24"),
    (*b"RGB3", "rgb24"),
    (*b"GREY", "gray"),
    (*b"Y16 ", "gray16le"),
    (*b"MJPG", "mjpeg"),
    (*b"JPEG", "mjpeg"),
    (*b"H264", "h264"),
    (*b"HEVC", "hevc"),
];

/// FFmpeg's name of a V4L2 format; `None` for formats that FFmpeg cannot read from a camera, or that are not supported
/// here.
pub fn format_of(fourcc: [u8; 4]) -> Option<&'static str> {
    NAMES.iter().find(|(letters, _)| *letters == fourcc).map(|(_, name)| *name)
}

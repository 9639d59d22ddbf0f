//! Clips that several test modules use.

use crate::support::programs::program::Dir;

/// H.264 in mp4, encoded from `source` (an input and options of the ffmpeg program), with the display matrix of a
/// phone's video that has to be rotated clockwise by `angle` degrees.
pub fn phone(dir: &Dir, file: &str, source: &str, angle: u32) {
    dir.ffmpeg(&format!("{source} -c:v libx264 plain.mp4"));
    dir.ffmpeg(&format!("-i plain.mp4 -c copy -metadata:s:v rotate={angle} {file}"));
    if !dir.probe("-show_streams", file).to_string().contains("Display Matrix") {
        // Since FFmpeg 6, the rotation is an option of the input, and counterclockwise.
        dir.ffmpeg(&format!("-display_rotation -{angle} -i plain.mp4 -c copy {file}"));
    }
}

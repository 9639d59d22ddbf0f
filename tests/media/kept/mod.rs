//! What the output keeps of a file: everything except the luma of one video stream.

// Transparency.
pub(crate) mod alpha;
// Captions inside of the video stream.
mod captions;
// Fields, pixel shapes and colours that change during a video.
mod changes;
// The matrix of each format, and colours and pixels that it cannot signal.
mod colours;
// Chapters, titles, timecode.
mod description;
// Fields of interlaced video in conversions.
mod fields;
// Clocks that jump.
mod jumps;
// Lossless input, and notes where the output is lossy.
mod lossless;
// The table of what each container keeps; EXIF, ICC, Dolby Vision.
mod metadata;
// Pixel shape, rotation, fields, colours, light levels.
mod picture;
// Limited and full range.
mod range;
// Sound, subtitles, data, attachments.
mod streams;
// PCR and SCR.
mod system_clock;
// Time stamps.
mod times;
// Metadata that FFmpeg does not expose or write.
mod unshown;
// Video that is rotated because the output cannot signal it.
mod upright;

use crate::support::program::Dir;

/// Two seconds of video and sound, encoded by `video` options, with more `options` for the file.
fn film(dir: &Dir, file: &str, video: &str, options: &str) {
    dir.ffmpeg(&format!(
        "-f lavfi -i testsrc2=size=96x64:rate=25:duration=2 -f lavfi -i sine=duration=2:sample_rate=48000 \
         -map 0 -map 1 {video} {options} {file}"
    ));
}

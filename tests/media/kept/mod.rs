//! What the output keeps of a file: everything except the luma of one video stream.

// Captions inside of the video stream.
mod captions;
// Fields, pixel shapes and colours that change during a video.
mod changes;
// Chapters, titles, timecode.
mod description;
// Fields of interlaced video in conversions.
mod fields;
// The table of what each container keeps; EXIF, ICC, Dolby Vision.
mod metadata;
// Pixel shape, rotation, fields, colours, light levels.
mod picture;
// Sound, subtitles, data, attachments.
mod streams;
// Metadata that FFmpeg does not expose or write.
mod unshown;
// Video that is rotated because the output cannot signal it.
mod upright;
// Colours, their range, transparency, lossless video.
pub(crate) mod colour;
// Time stamps and clocks.
mod timing;

use crate::support::programs::program::Dir;

/// Two seconds of video and sound, encoded by `video` options, with more `options` for the file.
fn film(dir: &Dir, file: &str, video: &str, options: &str) {
    dir.ffmpeg(&format!(
        "-f lavfi -i testsrc2=size=96x64:rate=25:duration=2 -f lavfi -i sine=duration=2:sample_rate=48000 \
         -map 0 -map 1 {video} {options} {file}"
    ));
}

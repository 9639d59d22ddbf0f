//! What a file keeps: everything about it but the luma of one of its video streams.

// Transparency.
mod alpha;
// Captions inside of pictures.
mod captions;
// Fields, shapes and colours that change in the middle.
mod changes;
// The matrix of each format, and colours and pixels that it cannot say.
mod colours;
// Chapters, titles, timecode.
mod description;
// Fields of interlaced video in conversions.
mod fields;
// Clocks that jump.
mod jumps;
// Codecs and samples without loss, and what is said where they cannot stay so.
mod lossless;
// The table of what each container keeps; EXIF, ICC, Dolby Vision.
mod metadata;
// Pixel shape, rotation, fields, colours, light.
mod picture;
// Limited and full range.
mod range;
// Sound, subtitles, data, attachments.
mod streams;
// PCR and SCR.
mod system_clock;
// Time stamps.
mod times;
// What frames and files say that FFmpeg does not show, or does not write.
mod unshown;
// Pictures that are turned because the output cannot say so.
mod upright;

use crate::support::program::Dir;

/// Two seconds of video and sound, encoded by `video` options, with more `options` for the file.
fn film(dir: &Dir, file: &str, video: &str, options: &str) {
    dir.ffmpeg(&format!(
        "-f lavfi -i testsrc2=size=96x64:rate=25:duration=2 -f lavfi -i sine=duration=2:sample_rate=48000 \
         -map 0 -map 1 {video} {options} {file}"
    ));
}

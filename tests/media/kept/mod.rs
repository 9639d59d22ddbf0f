//! What a file keeps: everything about it but the luma of one of its video streams.

mod alpha;
mod captions;
mod changes;
mod description;
mod jumps;
mod metadata;
mod picture;
mod range;
mod streams;
mod system_clock;
mod times;
mod upright;

use crate::support::program::Dir;

/// Two seconds of video and sound, encoded by `video` options, with more `options` for the file.
fn film(dir: &Dir, file: &str, video: &str, options: &str) {
    dir.ffmpeg(&format!(
        "-f lavfi -i testsrc2=size=96x64:rate=25:duration=2 -f lavfi -i sine=duration=2:sample_rate=48000 \
         -map 0 -map 1 {video} {options} {file}"
    ));
}

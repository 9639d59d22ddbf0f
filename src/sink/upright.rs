//! Pictures the right way up: where the output cannot say that they are to be turned when they are shown, they are turned
//! before they are encoded.

use crate::ffmpeg::{Picture, Stream, Turn, Turner};
use crate::pipeline::Notices;
use anyhow::Result;

/// What turns pictures like `first`, if that is needed; `is_told` says whether the output tells what its stream says of it.
/// What pictures say themselves, as photos do, is lost when they are encoded.
pub fn turner(first: &Picture, stream: &Stream, is_told: bool) -> Option<Turner> {
    let said = stream.side_data.turns_pictures();
    let turn = if said { stream.side_data.turn().filter(|_| !is_told) } else { Turn::of_picture(first) };
    turn.map(Turner::new)
}

/// Warns of a video that is to be turned by something else than quarters when it is shown, if its output does not say so.
///
/// # Errors
/// The warning, with `--strict`.
pub fn check(video: &Stream, name: &str, is_told: bool, notices: &Notices) -> Result<()> {
    if is_told || !video.side_data.turns_pictures() || video.side_data.turn().is_some() {
        return Ok(());
    }
    notices.warn(&format!(
        "{name} cannot say that the video is to be turned when it is shown, by no quarter of a turn: it lies as it was \
         recorded (an .mp4 file turns it)"
    ))
}

//! Writes a single picture.

use super::{OutputOptions, Target, open};
use crate::pipeline::{Delivery, Input, Notices, Outcome};
use crate::sys::Name;
use anyhow::Result;
use histeq::frame::Frame;

/// Writes a picture that this program has drawn; messages call it `what`. Returns the name of the file, if it has one.
///
/// # Errors
/// When it cannot be written.
pub fn write_drawn(mut frame: Frame, what: &str, target: Target, options: OutputOptions) -> Result<Option<Name>> {
    frame.pts = Some(0);
    // Silent, to suppress the note that PNG takes RGB.
    let mut sink = open(Input::drawn(what), target, options, &mut || false, Notices::silent())?;
    sink.write(Delivery { frame: Some(frame), ..Delivery::default() })?;
    sink.finish(Outcome::Complete)
}

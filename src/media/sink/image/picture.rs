//! Writes a single image.

use crate::pipeline::{Delivery, Input, Notices, Outcome};
use crate::sink::files::Target;
use crate::sink::{OutputOptions, open};
use crate::sys::files::Name;
use anyhow::Result;
use histeq::internal::frame::Frame;

/// Writes an image that this program has drawn; `what` is its name in messages. Returns the file name, if there is one.
///
/// # Errors
/// When it cannot be written.
pub fn write_drawn(mut frame: Frame, what: &str, target: Target, options: OutputOptions) -> Result<Option<Name>> {
    frame.pts = Some(0);
    // Suppresses the note that PNG is converted to RGB.
    let mut sink = open(Input::drawn(what), target, options, &mut || false, Notices::silent())?;
    sink.write(Delivery { frame: Some(frame), ..Delivery::default() })?;
    sink.finish(Outcome::Complete)
}

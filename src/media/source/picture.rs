//! Reads a single picture.

use super::{InputOptions, Isolation, open};
use crate::pipeline::{Cancel, Notices};
use crate::sys::files::Name;
use anyhow::{Context, Result};
use histeq::internal::frame::Frame;
use std::sync::Arc;

/// The first picture of the file `name`.
///
/// # Errors
/// When the file cannot be read or has no picture, or reading is cancelled; each error names the file.
pub fn first_picture(name: &Name, cancel: &Cancel) -> Result<Frame> {
    let mut options = InputOptions { url: name.clone(), ..InputOptions::default() };
    if options.obstacle().is_none() {
        options.isolation = Isolation::Auto;
    }
    let (mut source, _) = open(&options, cancel, Notices::silent(), Arc::default())?;
    loop {
        let delivery = source.next()?.with_context(|| format!("{name}: no picture in it"))?;
        if let Some(frame) = delivery.frame {
            return Ok(frame);
        }
    }
}

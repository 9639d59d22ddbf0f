//! Whether the rectangle that makes the histogram lies in the picture, as soon as the size of the picture is known.

use crate::pipeline::Input;
use crate::spec::{Rect, Region, Settings};
use anyhow::{Result, bail};

/// Refuses a rectangle of which nothing lies in the pictures of `input`. One that lies in them in part is cut off at
/// their edge.
///
/// # Errors
/// When it does, with the size of the pictures.
pub fn check_region(settings: &Settings, input: &Input) -> Result<()> {
    let (Region::Fixed(rect), Some(size)) = (settings.region, input.picture.map(|(_, size)| size)) else {
        return Ok(());
    };
    if rect.within(size).is_none() {
        let Rect { x, y, width, height } = rect;
        bail!(
            "{}: --roi {x},{y},{width},{height} lies outside of its picture of {}x{} pixels (X,Y is the rectangle's \
             upper left corner, counted from 0,0)",
            input.name,
            size.0,
            size.1
        );
    }
    Ok(())
}

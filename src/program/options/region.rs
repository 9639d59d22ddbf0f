//! Checks that the rectangle of `--roi` lies in the picture.

use anyhow::{Result, bail};
use histeq::spec::{Rect, Region, Settings};
use histeq_media::pipeline::{Input, Notices};

/// Checks the rectangle against the pictures of `input`. The part past their edge is not counted, with a warning.
///
/// # Errors
/// When it lies outside the pictures; with `--strict`, also the warning.
pub(super) fn check_region(settings: &Settings, input: &Input, notices: &Notices) -> Result<()> {
    let (Region::Fixed(rect), Some(size)) = (settings.region, input.picture.map(|(_, size)| size)) else {
        return Ok(());
    };
    let within = rect.within(size);
    if within == Some(rect) {
        return Ok(());
    }
    let Rect { x, y, width, height } = rect;
    let named = format!("{}: --roi {x},{y},{width},{height}", input.name);
    let picture = format!("picture of {}x{} pixels", size.0, size.1);
    match within {
        None => {
            bail!("{named} lies outside of its {picture} (X,Y is the rectangle's upper left corner, counted from 0,0)")
        }
        Some(Rect { width, height, .. }) => {
            notices.warn(&format!("{named} extends past the edge of its {picture}: only {width}x{height} is counted"))
        }
    }
}

//! Parses the values of options; the functions return `None` for an invalid text.

use super::setters::{
    checked_bins, checked_count, checked_levels, checked_percent, checked_region, checked_seconds, checked_tiles,
};
use super::{MaxGain, Smooth, StretchLimit};
use crate::spec::parameters::{Gain, Plateau, Region, Strength, Threshold};

fn number(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|number: &f64| number.is_finite())
}

pub(super) fn strength(text: &str) -> Option<Strength> {
    Strength::from_share(number(text)?)
}

pub(super) fn threshold(text: &str) -> Option<Threshold> {
    Threshold::from_share(number(text)?)
}

pub(super) fn levels(text: &str) -> Option<StretchLimit> {
    if text == "full" {
        return Some(StretchLimit::Full);
    }
    checked_levels(number(text)?)
}

pub(super) fn max_gain(text: &str) -> Option<MaxGain> {
    if text == "auto" { Some(MaxGain::Auto) } else { Gain::from_slope(number(text)?).map(MaxGain::Fixed) }
}

pub(super) fn seconds(text: &str) -> Option<f64> {
    checked_seconds(number(text)?)
}

pub(super) fn smooth(text: &str) -> Option<Smooth> {
    if text == "scene" { Some(Smooth::Scene) } else { seconds(text).map(Smooth::Seconds) }
}

/// A number of samples, or a percentage.
pub(super) fn plateau(text: &str) -> Option<Plateau> {
    if let Some(percent) = text.strip_suffix('%') {
        return checked_percent(number(percent)?);
    }
    text.parse().ok().map(checked_count)
}

/// Columns and rows of tiles: `8x8`.
pub(super) fn tiles(text: &str) -> Option<(u32, u32)> {
    let (columns, rows) = text.trim().split_once('x')?;
    checked_tiles(columns.parse().ok()?, rows.parse().ok()?)
}

pub(super) fn bins(text: &str) -> Option<u32> {
    text.trim().parse().ok().and_then(checked_bins)
}

/// `X,Y,W,H`, or `auto`.
pub(super) fn region(text: &str) -> Option<Region> {
    if text == "auto" {
        return Some(Region::Auto);
    }
    let numbers = text.split(',').map(|number| number.trim().parse().ok()).collect::<Option<Vec<usize>>>()?;
    checked_region(numbers.try_into().ok()?)
}

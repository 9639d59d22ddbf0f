//! Parses the values of options; the functions return `None` for an invalid text.

use super::{MaxGain, Smooth, StretchLimit};
use crate::spec::{Gain, Plateau, Rect, Region, Strength, Threshold};

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
    Gain::from_slope(number(text)?).filter(|gain| *gain != Gain::OFF).map(StretchLimit::Gain)
}

pub(super) fn max_gain(text: &str) -> Option<MaxGain> {
    if text == "auto" { Some(MaxGain::Auto) } else { Gain::from_slope(number(text)?).map(MaxGain::Fixed) }
}

pub(super) fn seconds(text: &str) -> Option<f64> {
    number(text).filter(|seconds| (0.0..=3600.0).contains(seconds))
}

pub(super) fn smooth(text: &str) -> Option<Smooth> {
    if text == "scene" { Some(Smooth::Scene) } else { seconds(text).map(Smooth::Seconds) }
}

/// A number of samples, or a percentage.
pub(super) fn plateau(text: &str) -> Option<Plateau> {
    if let Some(percent) = text.strip_suffix('%') {
        let percent = number(percent).filter(|percent| (0.0..=100.0).contains(percent))?;
        let millionths = (percent * 10_000.0).round() as u32;
        return Some(if percent == 0.0 { Plateau::Off } else { Plateau::Millionths(millionths) });
    }
    Some(match text.parse().ok()? {
        0 => Plateau::Off,
        count => Plateau::Count(count),
    })
}

/// Columns and rows of tiles: `8x8`.
pub(super) fn tiles(text: &str) -> Option<(u32, u32)> {
    let (columns, rows) = text.trim().split_once('x')?;
    let count = |text: &str| text.parse().ok().filter(|count| (1..=256).contains(count));
    Some((count(columns)?, count(rows)?))
}

pub(super) fn bins(text: &str) -> Option<u32> {
    text.trim().parse().ok().filter(|bins| (2..=65536).contains(bins))
}

/// `X,Y,W,H`, or `auto`.
pub(super) fn region(text: &str) -> Option<Region> {
    if text == "auto" {
        return Some(Region::Auto);
    }
    let numbers = text.split(',').map(|number| number.trim().parse().ok()).collect::<Option<Vec<usize>>>()?;
    let [x, y, width, height] = numbers[..] else { return None };
    (width > 0 && height > 0).then_some(Region::Fixed(Rect { x, y, width, height }))
}

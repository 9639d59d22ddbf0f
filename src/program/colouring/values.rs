//! Which samples the colours of a bar show: the inverse of each frame's curve.

use crate::draw::colour_bar::LABELS;
use crate::samples::SampleScale;
use histeq::CallerError;
use histeq::internal::equalize::{Observation, Observer, Role};
use histeq::internal::spec::curves::{Levels, Mapping};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// For the colour of each label, from black to white, the sample that is shown in it; `None` if there is none.
pub type LabelValues = [Option<f64>; LABELS];

/// The values of the frames that have been equalized and not yet coloured, oldest first. `None` for a frame to which
/// more than a single curve was applied.
#[derive(Clone, Default)]
pub struct ValueQueue(Arc<Mutex<VecDeque<Option<LabelValues>>>>);

impl ValueQueue {
    /// Removes and returns the values of the oldest frame.
    pub fn next(&self) -> Option<LabelValues> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front().flatten()
    }
}

/// Finds the label values of each frame.
pub struct ValueObserver {
    /// The queue that receives the values.
    pub queue: ValueQueue,
    /// Converts codes of a frame to samples of the input.
    pub scale: SampleScale,
}

impl Observer for ValueObserver {
    fn equalized(&mut self, seen: Observation<'_>) -> Result<(), CallerError> {
        if matches!(seen.before.role(), Role::WarmUp) {
            return Ok(());
        }
        let (frame, applied) = (seen.before.frame(), &seen.after.applied);
        let curve = match (seen.before.role(), &applied.curves, &applied.mapping) {
            (Role::Apply(Mapping::Curve { curve, .. }), ..) => Some(curve.codes()),
            (_, Some(curves), _) => Some(&**curves).filter(|curves| curves.len() == frame.levels().codes()),
            (_, None, Some(Mapping::Curve { curve, .. })) => Some(curve.codes()),
            _ => None,
        };
        let values = curve.map(|curve| values(curve, frame.levels(), self.scale.ends(frame)));
        self.queue.0.lock().unwrap_or_else(PoisonError::into_inner).push_back(values);
        Ok(())
    }

    fn asks_for_everything(&self) -> bool {
        true
    }
}

/// The samples that `curve` maps to the colours of the labels. `ends` are the samples that the lowest and the highest
/// level represent.
fn values(curve: &[u16], levels: Levels, ends: (f64, f64)) -> LabelValues {
    let steps = (levels.count() - 1) as f64;
    std::array::from_fn(|label| {
        let code = inverted(curve, levels, label)?;
        Some(ends.0 + (code - f64::from(levels.lo())) / steps * (ends.1 - ends.0))
    })
}

/// The code that `curve` maps to the colour of a label, interpolated between two codes if none does; `None` if it maps
/// all codes to darker colours, or all to brighter ones. If several codes match, the largest for black, the smallest
/// for white, and the middle for other colours.
fn inverted(curve: &[u16], levels: Levels, label: usize) -> Option<f64> {
    let (lo, steps) = (u32::from(levels.lo()), levels.count() as u32 - 1);
    let target = lo + (steps * label as u32 + (LABELS as u32 - 1) / 2) / (LABELS as u32 - 1);
    // Levels that differ by half an 8-bit step or less have the same colour.
    let near = steps / 510;
    let codes = || (levels.lo()..=levels.hi()).map(|code| (code, u32::from(curve[usize::from(code)])));
    let same = |near: u32| {
        let mut found = codes().filter(move |(_, out)| out.abs_diff(target) <= near).map(|(code, _)| code);
        let first = found.next()?;
        Some((f64::from(first), f64::from(found.next_back().unwrap_or(first))))
    };
    match same(0).or_else(|| if label == 0 || label == LABELS - 1 { same(near) } else { None }) {
        Some((_, last)) if label == 0 => Some(last),
        Some((first, _)) if label == LABELS - 1 => Some(first),
        Some((first, last)) => Some(f64::midpoint(first, last)),
        None => {
            let below = codes().filter(|(_, out)| *out < target).max_by_key(|(code, out)| (*out, *code))?;
            let above = codes().filter(|(_, out)| *out > target).min_by_key(|(code, out)| (*out, *code))?;
            let share = f64::from(target - below.1) / f64::from(above.1 - below.1);
            Some(f64::from(below.0) + share * (f64::from(above.0) - f64::from(below.0)))
        }
    }
}

/// Formats values: with a unit, with three significant digits of their range; else as whole codes.
pub fn labels(values: &LabelValues, has_unit: bool) -> [String; LABELS] {
    let known = || values.iter().flatten().copied();
    let (least, most) = (known().fold(f64::INFINITY, f64::min), known().fold(f64::NEG_INFINITY, f64::max));
    let (span, largest) = (most - least, least.abs().max(most.abs()));
    let in_words = |value: f64| match span {
        _ if !has_unit => format!("{:.0}", value.round()),
        _ if span > 0.0 && !(1e-3..1e6).contains(&largest) => format!("{value:.2e}"),
        _ if span > 0.0 => format!("{value:.*}", (2.0 - span.log10().floor()).clamp(0.0, 6.0) as usize),
        _ => value.to_string(),
    };
    values.map(|value| value.map(in_words).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: Levels = Levels::full(8);

    fn eight_bit_values(curve: impl Fn(f64) -> f64) -> LabelValues {
        let curve: Vec<u16> = (0..256).map(|code| curve(f64::from(code)).round().clamp(0.0, 255.0) as u16).collect();
        values(&curve, FULL, (0.0, 255.0))
    }

    fn rounded(values: LabelValues) -> [Option<i64>; LABELS] {
        values.map(|value| value.map(|value| value.round() as i64))
    }

    #[test]
    fn a_curve_is_read_backwards() {
        assert_eq!(rounded(eight_bit_values(|code| code)), [0, 64, 128, 191, 255].map(Some));
        // The curve stretches 100 to 151: darker codes become black, brighter ones white.
        assert_eq!(rounded(eight_bit_values(|code| 5.0 * (code - 100.0))), [100, 113, 126, 138, 151].map(Some));
        // The curve has four output levels: a label between two of them shows the code at which the curve jumps.
        assert_eq!(rounded(eight_bit_values(|code| (code / 64.0).floor() * 85.0)), [63, 64, 128, 191, 192].map(Some));
        // The curve maps no sample to more than a third of white.
        assert_eq!(rounded(eight_bit_values(|code| code / 3.0)), [Some(1), Some(192), None, None, None]);
        // The curve inverts luminance.
        assert_eq!(rounded(eight_bit_values(|code| 255.0 - code)), [255, 191, 127, 64, 0].map(Some));
    }

    #[test]
    fn values_are_in_the_unit_of_the_file() {
        let levels = Levels::full(16);
        let curve: Vec<u16> =
            (0..=65_535u32).map(|code| (code.saturating_sub(16_384) * 4).min(65_535) as u16).collect();
        let values = values(&curve, levels, (-40.0, 120.0));
        assert_eq!(labels(&values, true), ["0.0", "10.0", "20.0", "30.0", "40.0"]);
        let limited = Levels::limited(8);
        let curve: Vec<u16> = (0..=255).map(|code: u16| code.clamp(16, 235)).collect();
        assert_eq!(labels(&super::values(&curve, limited, (16.0, 235.0)), false), ["16", "71", "126", "180", "235"]);
    }

    #[test]
    fn labels_have_digits_for_their_range() {
        let value_of = |values: [f64; LABELS]| labels(&values.map(Some), true).join(" ");
        assert_eq!(value_of([-20.0, 0.0, 22.0, 60.0, 150.0]), "-20 0 22 60 150");
        assert_eq!(value_of([20.0, 20.5, 21.0, 22.0, 23.0]), "20.00 20.50 21.00 22.00 23.00");
        assert_eq!(value_of([0.0, 1e9, 2e9, 3e9, 4e9]), "0.00e0 1.00e9 2.00e9 3.00e9 4.00e9");
        assert_eq!(value_of([7.0; LABELS]), "7 7 7 7 7");
        assert_eq!(labels(&[Some(1.0), None, None, None, Some(2.6)], false), ["1", "", "", "", "3"]);
    }
}

//! Numbered images: which there are, and what is done where one is missing.

use crate::ffmpeg::demux::{OpenImage, Sequence};
use crate::pipeline::{FailureKind, Notices};
use crate::source::options::{Gaps, InputOptions};
use crate::sys::files::{Name, number_pattern, numbered, numbers_there, open_regular};
use anyhow::Result;

/// From this many images on, the step of their numbers is measured. Between two images alone, any gap would be the
/// step.
const FEW: usize = 3;

/// The sequence that the input's name describes; `None` if the name is no pattern, or there are no images.
///
/// # Errors
/// When a number is missing: with `--gaps error`, or with `--strict`, which makes the warning an error.
pub fn sequence_of(options: &InputOptions, notices: &Notices) -> Result<Option<Sequence>> {
    let pattern = &options.url;
    let is_sequence = options.format.as_deref().is_none_or(|format| format == "image2")
        && number_pattern(pattern).is_some()
        && !pattern.path().exists();
    let numbers = if is_sequence { numbers_there(pattern) } else { Vec::new() };
    let step = step_of(&numbers);
    if let (Some(named), count @ 2..) = (&options.named, numbers.len()) {
        notices
            .note(&format!("{named} is the first of {count} images, which are all read (--frames 1 takes it alone)"));
    }
    let gap = numbers.windows(2).find(|pair| pair[1] - pair[0] != step);
    let gaps = options.raw.gaps;
    if let Some(pair) = gap {
        let missing: u64 = numbers.windows(2).map(|pair| (pair[1] - pair[0]) / step - 1).sum();
        let first = numbered(pattern, pair[0] + step);
        let them = match missing {
            1 => format!("{first} is missing"),
            2 => format!("{first} and 1 other image are missing"),
            _ => format!("{first} and {} other images are missing", missing - 1),
        };
        let done = match gaps {
            Gaps::Error => {
                let message = format!("{pattern}: {them} (--gaps skip or hold goes on without)");
                return Err(FailureKind::Missing.error(message));
            }
            Gaps::Skip => "what is behind follows at once (--gaps hold shows the image before for it)",
            Gaps::Hold => "the image before is shown for it",
        };
        notices.warn(&format!("{pattern}: {them}: {done}"))?;
    }
    Ok(Sequence::new(numbers, (gaps == Gaps::Hold).then_some(step)))
}

/// The step between numbers without a gap.
fn step_of(numbers: &[u64]) -> u64 {
    if numbers.len() < FEW {
        return 1;
    }
    let distances = numbers.windows(2).map(|pair| pair[1] - pair[0]);
    distances.fold(0, divisor).max(1)
}

/// The greatest common divisor.
fn divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { divisor(b, a % b) }
}

/// Opens images of this pattern by their names.
pub fn images_by_name(pattern: &Name) -> OpenImage {
    let pattern = pattern.clone();
    Box::new(move |number| open_regular(numbered(&pattern, number)))
}

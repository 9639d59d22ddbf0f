//! Numbered images: the first number, and gaps.

use crate::pipeline::Notices;
use crate::source::options::InputOptions;
use crate::sys::{escaped_pattern, number_pattern, numbered, numbers_there};
use anyhow::{Result, ensure};
use std::path::Path;

/// An existing sequence of numbered images.
pub struct Sequence {
    /// Its pattern in FFmpeg's syntax.
    pub pattern: String,
    /// The number of the first image.
    pub first: u64,
    /// The number of images before the first missing number, if one is missing. Images after it are not read.
    pub before_gap: Option<u64>,
}

impl Sequence {
    /// The sequence that the input's name stands for; `None` if the name is no pattern, or there are no images.
    ///
    /// # Errors
    /// When a number is larger than FFmpeg accepts. A missing number is a warning, and an error with `--strict`.
    pub fn of(options: &InputOptions, notices: &Notices) -> Result<Option<Self>> {
        let pattern = &options.url;
        let is_sequence = options.format.as_deref().is_none_or(|format| format == "image2")
            && number_pattern(pattern).is_some()
            && !Path::new(pattern).exists();
        let numbers = if is_sequence { numbers_there(pattern) } else { Vec::new() };
        let Some((&first, &last)) = numbers.first().zip(numbers.last()) else { return Ok(None) };
        let most = i32::MAX as u64;
        ensure!(last <= most, "{pattern}: FFmpeg counts images up to {most}, not to {last} (rename them)");
        let gap = numbers.windows(2).position(|pair| pair[1] != pair[0] + 1);
        if let Some(last) = gap {
            let (missing, behind) = (numbered(pattern, numbers[last] + 1), numbers.len() - last - 1);
            let them = if behind == 1 { "image behind it is" } else { "images behind it are" };
            notices.warn(&format!("{pattern}: {missing} is missing: the {behind} {them} left out"))?;
        }
        Ok(Some(Sequence { pattern: escaped_pattern(pattern), first, before_gap: gap.map(|last| last as u64 + 1) }))
    }
}

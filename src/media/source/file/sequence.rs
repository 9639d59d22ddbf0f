//! Numbered images: the first number, and gaps.

use crate::ffmpeg::{Images, OpenImage};
use crate::pipeline::Notices;
use crate::source::options::InputOptions;
use crate::sys::{number_pattern, numbered, numbers_there, open_regular};
use anyhow::Result;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// An existing sequence of numbered images, up to the first missing number.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub struct Sequence {
    /// The number of the first image.
    pub first: u64,
    /// How many images there are.
    pub count: u64,
}

impl Sequence {
    /// The sequence that the input's name stands for; `None` if the name is no pattern, or there are no images.
    ///
    /// # Errors
    /// A missing number is a warning, and an error with `--strict`.
    pub fn of(options: &InputOptions, notices: &Notices) -> Result<Option<Self>> {
        let pattern = &options.url;
        let is_sequence = options.format.as_deref().is_none_or(|format| format == "image2")
            && number_pattern(pattern).is_some()
            && !Path::new(pattern).exists();
        let numbers = if is_sequence { numbers_there(pattern) } else { Vec::new() };
        let Some(&first) = numbers.first() else { return Ok(None) };
        let gap = numbers.windows(2).position(|pair| pair[1] != pair[0] + 1);
        if let Some(last) = gap {
            let (missing, behind) = (numbered(pattern, numbers[last] + 1), numbers.len() - last - 1);
            let them = if behind == 1 { "image behind it is" } else { "images behind it are" };
            notices.warn(&format!("{pattern}: {missing} is missing: the {behind} {them} left out"))?;
        }
        let count = gap.map_or(numbers.len(), |last| last + 1) as u64;
        Ok(Some(Sequence { first, count }))
    }

    /// Its images, opened by `open`.
    pub fn images(self, open: OpenImage) -> Images {
        Images::new(self.first, self.count, open)
    }

    /// Opens images of this pattern by their names.
    pub fn by_name(pattern: &str) -> OpenImage {
        let pattern = pattern.to_owned();
        Box::new(move |number| open_regular(Path::new(&numbered(&pattern, number))))
    }
}

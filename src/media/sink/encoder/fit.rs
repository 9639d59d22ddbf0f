//! Converts frames to the format and size for which the encoder was opened.

use super::format::loses;
use super::steady::Steady;
use crate::ffmpeg::filter::{Converter, VideoFormat};
use crate::ffmpeg::frame::{Picture, RawFormat};
use crate::pipeline::Notices;
use anyhow::{Context, Result};

/// Converts frames to the encoder's format and size.
pub struct Fitter {
    target: VideoFormat,
    converter: Converter,
    steady: Steady,
    notices: Notices,
    /// Whether the user has been told that the matrix changes. Set from the start if all frames are converted anyway.
    warned_matrix: bool,
    /// The size of the first frame; `None` once the size has changed.
    first_size: Option<(usize, usize)>,
    first_format: RawFormat,
    /// Whether `target` has held all bits and colours of the frames so far.
    is_whole: bool,
    /// Whether the user has been warned that fields are blended.
    warned_fields: bool,
}

impl Fitter {
    /// Converts to the format `target`, which was chosen for `first`. `fields` is `Some(top field first?)` if the
    /// encoder codes fields. Causes of a warning: a frame of another size, one with more bits or colour than `target`
    /// holds, and one whose metadata differs from that of the first.
    pub fn new(target: VideoFormat, first: &Picture, fields: Option<bool>, notices: Notices) -> Self {
        Fitter {
            target,
            converter: Converter::default(),
            steady: Steady::new(first, fields, notices.clone()),
            notices,
            warned_matrix: first.colour().other_matrix(target.colour).is_some(),
            first_size: Some(first.size()),
            first_format: first.format(),
            is_whole: !loses(first, target.format),
            warned_fields: false,
        }
    }

    /// The format that frames are converted to.
    pub fn video(&self) -> VideoFormat {
        self.target
    }

    /// Adapts the metadata of `picture`. Returns whether its format, range, matrix and size are already right.
    ///
    /// # Errors
    /// A warning, with `--strict`.
    pub fn check(&mut self, picture: &mut Picture) -> Result<bool> {
        self.steady.check(picture)?;
        let same_samples = picture.format() == self.target.format
            || picture.format().native().is_some() && picture.format().native() == self.target.format.native();
        let same_range = picture.is_full_range() == self.target.colour.is_full_range(self.target.format);
        let is_yuv = |format: RawFormat| !format.is_rgb() && !format.is_gray();
        let other_matrix = match is_yuv(picture.format()) && is_yuv(self.target.format) {
            true => picture.colour().other_matrix(self.target.colour),
            false => None,
        };
        if let Some((is, was)) = other_matrix.as_ref().filter(|_| !std::mem::replace(&mut self.warned_matrix, true)) {
            self.notices
                .note(&format!("the matrix changes from {was} to {is}: from there on, it is converted to {was}"));
        }
        Ok(same_samples && same_range && other_matrix.is_none() && picture.size() == self.target.size)
    }

    /// Converts `picture`; returns it unchanged if format, range, matrix and size are already right.
    ///
    /// # Errors
    /// When swscale cannot convert it; with `--strict`, a warning.
    pub fn fit(&mut self, mut picture: Picture) -> Result<Picture> {
        if self.check(&mut picture)? {
            picture.rename(self.target.format);
            return Ok(picture);
        }
        if self.first_size.take_if(|size| *size != picture.size()).is_some() {
            let ((w, h), (to_w, to_h)) = (picture.size(), self.target.size);
            self.notices
                .warn(&format!("the video changes size to {w}x{h}; from there on it is scaled to {to_w}x{to_h}"))?;
        }
        let is_blended = picture.interlaced().is_some() && picture.size().1 != self.target.size.1;
        if is_blended && !std::mem::replace(&mut self.warned_fields, true) {
            self.notices.warn(&format!(
                "scaled from {} to {} rows, interlaced video becomes progressive: its fields are blended (--filter \
                 yadif makes frames of them first)",
                picture.size().1,
                self.target.size.1
            ))?;
        }
        let (source, target) = (picture.format(), self.target.format);
        if self.is_whole && loses(&picture, target) {
            self.is_whole = false;
            if source == self.first_format {
                self.notices.warn(&format!(
                    "the video becomes transparent, which {target} is not: from there on alpha is lost"
                ))?;
            } else {
                self.notices.warn(&format!(
                    "the video changes to {source}; from there on it is narrowed to {target} (--filter format={source} keeps \
                     all of it)"
                ))?;
            }
        }
        self.converter
            .picture(&picture, self.target)
            .with_context(|| format!("cannot convert pixel format {source} to {target}"))
    }
}

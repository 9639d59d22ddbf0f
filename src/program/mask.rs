//! Reads the picture of `--mask`.

use anyhow::{Context, Result, ensure};
use histeq::internal::equalize::counting::Mask;
use histeq::internal::spec::parameters::Region;
use histeq_media::pipeline::{Cancel, Input};
use histeq_media::source::first_picture;
use histeq_media::sys::files::{Name, open_regular};
use histeq_media::sys::io::is_fifo;
use std::sync::Arc;

/// A mask, and the name of its file.
#[derive(Clone)]
pub struct NamedMask {
    /// The weight of each pixel.
    pub mask: Arc<Mask>,
    name: Name,
}

impl NamedMask {
    /// Reads the first picture of the file `name`.
    ///
    /// # Errors
    /// When it cannot be read, or is black.
    pub fn read(name: &Name) -> Result<Self> {
        // Only files are checked: patterns of numbered images and URLs are not.
        if name.path().exists() && !is_fifo(name) {
            open_regular(name).with_context(|| format!("--mask {name}"))?;
        }
        let frame = first_picture(name, &Cancel::default()).context("--mask")?;
        let mask = Mask::from_frame(&frame)
            .with_context(|| format!("--mask {name}: the picture is black, so that nothing counts (white counts)"))?;
        Ok(NamedMask { mask: mask.into(), name: name.clone() })
    }

    /// Checks that the frames of `input` have the size of the mask, and that the mask is not black all over `region`.
    ///
    /// # Errors
    /// When the size differs, or the mask is black in the region.
    pub fn check(&self, input: &Input, region: Region) -> Result<()> {
        let (Some((_, (width, height))), (columns, rows)) = (input.picture, self.mask.size()) else { return Ok(()) };
        ensure!(
            (width, height) == (columns, rows),
            "{}: pictures of {width}x{height} pixels, but the mask {} has {columns}x{rows} (make it as large as the \
             pictures are before any rotation)",
            input.name,
            self.name
        );
        if let Region::Fixed(rect) = region {
            let counts = rect.within((columns, rows)).and_then(|rect| self.mask.bounds(rect));
            ensure!(
                counts.is_some(),
                "--mask {} is black all over --roi, so that nothing counts (white counts)",
                self.name
            );
        }
        Ok(())
    }
}

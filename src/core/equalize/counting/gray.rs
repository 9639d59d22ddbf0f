//! Luminance alone (`--gray`): frames lose their colour before they are equalized, so that exactly what was counted and
//! mapped is written.

use super::luminance::luminance_row;
use crate::frame::{Endian, Frame, HostPool, Limits, Luminance, Model, PixelFormat, Plane};
use crate::{Error, Result};

/// Removes the colour of frames.
pub struct Gray {
    pool: HostPool,
    row: Vec<u16>,
}

impl Gray {
    /// Makes planes within these limits.
    pub fn new(limits: &Limits) -> Self {
        Gray { pool: HostPool::new(limits), row: Vec::new() }
    }

    /// `frame` without colour. A luma plane without other samples is shared, not copied, on a GPU too.
    ///
    /// # Errors
    /// When there is no gray format of its depth, or the GPU that it is on fails.
    pub fn without_colour(&mut self, frame: &Frame) -> Result<Frame> {
        let descriptor = frame.format().descriptor();
        let format = gray_of(descriptor.sample.depth).ok_or(Error::NoGrayFormat { depth: descriptor.sample.depth })?;
        let as_stored = descriptor.sample == format.descriptor().sample;
        let luma = match descriptor.luminance {
            Luminance::Stored(luma) if luma.step == 1 && as_stored => frame.planes()[luma.plane].clone(),
            _ => {
                frame.bring_luminance_down()?;
                self.luminance(frame, format)
            }
        };
        let gray = frame.with_format(format, vec![luma])?;
        debug_assert_eq!(gray.levels(), frame.levels());
        Ok(gray)
    }

    fn luminance(&mut self, frame: &Frame, format: PixelFormat) -> Plane {
        let sample = format.descriptor().sample;
        let mut plane = self.pool.plane(format.row_bytes(0, frame.width()), frame.height());
        self.row.resize(frame.width(), 0);
        for y in 0..frame.height() {
            luminance_row(frame, y, &mut self.row);
            let row = plane.row_mut(y);
            for (x, &code) in self.row.iter().enumerate() {
                sample.write(row, x, code);
            }
        }
        plane.freeze()
    }
}

/// The gray format of this depth in bits, with little-endian samples, which most programs read.
pub(crate) fn gray_of(depth: u8) -> Option<PixelFormat> {
    PixelFormat::ALL.iter().copied().find(|format| {
        let descriptor = format.descriptor();
        let plain = descriptor.sample.shift == 0 && descriptor.sample.endian == Endian::Little;
        descriptor.model == Model::Gray && descriptor.planes()[0].samples == 1 && plain && format.depth() == depth
    })
}

//! FITS files: FFmpeg's encoder makes the samples; this module makes the headers, with the metadata of the input.

use crate::ffmpeg::encode::{Encoder, VideoEncoder};
use crate::ffmpeg::mux::Container;
use crate::ffmpeg::{CodecId as Id, Packet};
use crate::image_file::About;
use crate::image_file::fits::FitsImage;

/// The FITS file, or numbered sequence of them, that is being written.
pub struct FitsFile {
    /// FFmpeg's `data` muxer, which writes the bytes unchanged.
    pub container: Container,
    /// The metadata of the first image of the file.
    first: About,
}

impl FitsFile {
    /// The FITS output for this container and these encoders; `None` if the output is not FITS.
    pub fn for_container(container: Container, encoders: &[Encoder]) -> Option<Self> {
        let is_fits = container.is_fits() && encoders.iter().all(|encoder| encoder.codec() == Id::FITS);
        let container = Container::guess(Some("data"), "").filter(|_| is_fits)?;
        Some(FitsFile { container, first: About::default() })
    }

    /// Adds a FITS header to the image in `packet`. `is_first` tells whether the image is the first of its file.
    pub fn image(&mut self, packet: &Packet, encoder: &VideoEncoder, about: About, is_first: bool) -> Packet {
        let (format, size) = encoder.picture();
        let image = FitsImage { samples: packet.data(), format: &format, size };
        let bytes = about.write_fits(&image, (!is_first).then_some(&self.first));
        if is_first {
            self.first = about;
        }
        packet.with_bytes(&bytes)
    }
}

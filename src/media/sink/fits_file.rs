//! FITS: FFmpeg's encoder makes the samples, and headers are made here, with what the input says of itself.

use crate::ffmpeg::{CodecId as Id, Container, Encoder, Packet, VideoEncoder};
use crate::image_file::About;
use crate::image_file::fits::FitsImage;

/// A file of FITS that is being written, or numbered ones.
pub struct FitsFile {
    /// The container that adds nothing to it.
    pub container: Container,
    /// What the first image of the file says of itself.
    first: About,
}

impl FitsFile {
    /// The file that becomes of what these encoders make for this container, if it is one.
    pub fn for_container(container: Container, encoders: &[Encoder]) -> Option<Self> {
        let is_fits = container.is_fits() && encoders.iter().all(|encoder| encoder.codec() == Id::FITS);
        let container = Container::guess(Some("data"), "").filter(|_| is_fits)?;
        Some(FitsFile { container, first: About::default() })
    }

    /// The image in a packet of this encoder, with its header; `is_first` if it begins a file.
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

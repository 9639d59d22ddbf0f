//! Reads and writes image files: those of the user, and those of the program of opencl-blelloch-scan.

use anyhow::{Result, ensure};
use histeq::internal::frame::{Frame, PixelFormat};
use histeq_media::ffmpeg::filter::{Converter, VideoFormat};
use histeq_media::ffmpeg::frame::{Picture, RawFormat};
use histeq_media::pipeline::Cancel;
use histeq_media::sink::OutputOptions;
use histeq_media::sink::files::{Files, Overwrite, Target};
use histeq_media::sink::image::write_drawn;
use histeq_media::source::first_picture;
use histeq_media::sys::files::Name;
use std::path::Path;

/// Reads the first frame of a file, as pixels of `format` in full range.
///
/// # Errors
/// When the file cannot be read, or has no frame (the error names the file), or the suite is cancelled.
pub fn read(file: &Path, format: PixelFormat, cancel: &Cancel) -> Result<Frame> {
    let frame = first_picture(&file.into(), cancel);
    ensure!(!cancel.is_cancelled(), "interrupted");
    let frame = frame?;
    let source = VideoFormat::from_picture(&Picture::from_frame(&frame)?);
    let format = RawFormat::from(format);
    let colour = source.colour.converted(source.format, format, source.size).full_range();
    Converter::default().frame(&frame, VideoFormat { format, colour, ..source })
}

/// Writes a frame in the file format of the file's extension. An existing file is replaced.
///
/// # Errors
/// When it cannot be written.
pub fn write(frame: &Frame, file: &Path) -> Result<()> {
    let target = Target::new(&file.into(), &Name::default(), Files::One, Overwrite::Yes)?;
    write_drawn(frame.clone(), "the image", target, OutputOptions::default()).map(drop)
}

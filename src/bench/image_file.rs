//! Images of the user, and the files that opencl-blelloch-scan reads and writes.

use crate::ffmpeg::{Converter, Picture, RawFormat, VideoFormat};
use crate::frame::{Frame, PixelFormat};
use crate::pipeline::{Cancel, Delivery, Input, Notices, Outcome};
use crate::sink::{self, Files, OutputOptions, Overwrite, Target};
use crate::source::{self, InputOptions};
use anyhow::{Context, Result};
use std::path::Path;
use std::sync::Arc;

/// Reads the first picture of a file, as pixels of `format` in full range.
///
/// # Errors
/// When it cannot be read, or has no picture; both name the file.
pub fn read(file: &Path, format: PixelFormat) -> Result<Frame> {
    let url = file.to_string_lossy().into_owned();
    let options = InputOptions { url: url.clone(), ..InputOptions::default() };
    let silent = Notices::new(false, |_, _| {});
    let (mut source, _) = source::open(&options, &Cancel::default(), silent, Arc::default())?;
    let frame = loop {
        let delivery = source.next()?.with_context(|| format!("{url}: no picture in it"))?;
        if let Some(frame) = delivery.frame {
            break frame;
        }
    };
    let from = VideoFormat::of(&Picture::from_frame(&frame)?);
    let format = RawFormat::from(format);
    let colour = from.colour.converted(from.format, format, false);
    Converter::default().frame(&frame, VideoFormat { format, colour, ..from })
}

/// Writes a picture; the name's end says the format of the file, which is replaced.
///
/// # Errors
/// When it cannot be written.
pub fn write(frame: &Frame, file: &Path) -> Result<()> {
    let silent = Notices::new(false, |_, _| {});
    let target = Target::new(&file.to_string_lossy(), "", Files::One, Overwrite::Yes)?;
    let mut sink = sink::open(Input::drawn("the image"), target, OutputOptions::default(), &mut || false, silent)?;
    let mut frame = frame.clone();
    frame.pts = Some(0);
    sink.write(Delivery { frame: Some(frame), ..Delivery::default() })?;
    sink.finish(Outcome::Complete).map(drop)
}

//! Writes raw frames or a y4m stream to a pipe or a file.

use super::encoder::fit::Fitter;
use super::files::target::Target;
use super::kept::streams::check_rotation;
use crate::ffmpeg::filter::VideoFormat;
use crate::ffmpeg::frame::{AutoRotate, Picture};
use crate::pipeline::{Delivery, Encoding, Input, Notices, Outcome, ReaderGone, Sink};
use crate::rawvideo::{FRAME, RawVideo, header, is_carried};
use crate::sys::files::Name;
use crate::sys::io::PlaneWriter;
use anyhow::{Context, Result, bail};
use ffmpeg_next::Rational;
use histeq::internal::frame::Frame;
use std::io::ErrorKind;

/// The headers around raw frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// No headers.
    Raw,
    /// The headers of YUV4MPEG2.
    Y4m,
    /// The headers of YUV4MPEG2 if that supports the pixel format, else no headers.
    Y4mIfPossible,
}

/// A sink for raw frames to a file or a pipe.
pub struct RawSink {
    /// Opened for the first frame.
    writer: Option<PlaneWriter>,
    target: Target,
    framing: Framing,
    input: Input,
    notices: Notices,
    rotate: AutoRotate,
    stream: Option<RawStream>,
    /// Bytes written so far.
    written: u64,
    /// Bytes written up to the end of the last whole frame.
    whole: u64,
}

/// The state from the first frame on.
struct RawStream {
    fitter: Fitter,
    is_y4m: bool,
}

impl RawSink {
    /// Prepares the output. Streams other than the video are left out, with a note.
    ///
    /// # Errors
    /// When the output cannot be opened.
    pub fn create(input: Input, mut target: Target, framing: Framing, notices: Notices) -> Result<Self> {
        let name = target.name().to_owned();
        check_rotation(input.video_stream(), &name, false, &notices)?;
        target.wait_for_reader()?;
        if input.media.streams.len() > 1 {
            notices.note(&format!("{name}: raw video holds pictures only; the other streams are left out"));
        }
        let rotate = AutoRotate::new(input.video_stream(), false, &input.limits);
        Ok(RawSink { writer: None, target, framing, input, notices, rotate, stream: None, written: 0, whole: 0 })
    }

    fn start(&mut self, frame: &Frame, picture: &Picture) -> Result<()> {
        let interrupt = self.target.cancel().flag();
        self.writer = Some(match *self.target.name() == "-" && self.target.fifo().is_none() {
            true => PlaneWriter::stdout(interrupt).context("stdout: cannot be opened")?,
            false => PlaneWriter::new(self.target.writer()?, interrupt),
        });
        let name = self.target.name();
        let format = frame.format();
        let is_y4m = match self.framing {
            Framing::Raw => false,
            _ if is_carried(format) => true,
            Framing::Y4m => {
                bail!("{name}: y4m cannot carry pixel format {format} (use --output-format rawvideo)")
            }
            Framing::Y4mIfPossible => {
                let (width, height) = picture.size();
                self.notices.note(&format!(
                    "{name}: y4m cannot carry pixel format {format}; writing raw frames of {width}x{height} {format}"
                ));
                false
            }
        };
        if is_y4m {
            let stream = self.input.video_stream();
            let video = RawVideo {
                format,
                size: picture.size(),
                rate: stream.frame_rate.unwrap_or(Rational::new(25, 1)),
                range: Some(frame.range()),
                sample_aspect_ratio: picture.sample_aspect_ratio().or(stream.sample_aspect_ratio),
                interlaced: picture.interlaced(),
                chroma_location: picture.colour().chroma_location(),
            };
            let line = header(&video).context("y4m carries this format")?;
            self.bytes(line.as_bytes())?;
        }
        let fitter =
            Fitter::new(VideoFormat::from_picture(picture), picture, picture.interlaced(), self.notices.clone());
        self.stream = Some(RawStream { fitter, is_y4m });
        Ok(())
    }

    fn write_frame(&mut self, mut frame: Frame) -> Result<()> {
        frame = self.rotate.frame(frame).with_context(|| self.target.name().to_owned())?;
        if let Some(warning) = self.rotate.warning() {
            self.notices.warn(warning)?;
        }
        let mut picture = Picture::from_frame(&frame)?;
        if self.stream.is_none() {
            self.start(&frame, &picture)?;
        }
        let Some(stream) = &mut self.stream else { unreachable!("started above") };
        if !stream.fitter.check(&mut picture)? {
            frame = stream.fitter.fit(picture)?.to_frame()?.context("the first frame was native")?;
        }
        if stream.is_y4m {
            let line = [FRAME, b"\n"].concat();
            self.bytes(&line)?;
        }
        let written = self
            .writer
            .as_mut()
            .map_or(Ok(()), |writer| frame.planes().iter().try_for_each(|plane| writer.plane(plane)));
        written.map_err(|error| self.failed(error))?;
        self.written += frame.planes().iter().map(|plane| (plane.row_bytes() * plane.rows()) as u64).sum::<u64>();
        self.whole = self.written;
        Ok(())
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        let written = self.writer.as_mut().map_or(Ok(()), |writer| writer.bytes(bytes));
        written.map_err(|error| self.failed(error))?;
        self.written += bytes.len() as u64;
        Ok(())
    }

    fn failed(&mut self, error: std::io::Error) -> anyhow::Error {
        match error.kind() {
            ErrorKind::BrokenPipe => ReaderGone.into(),
            ErrorKind::TimedOut => self.target.stalled(),
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
                std::mem::take(&mut self.target).cut(self.whole, &error)
            }
            _ => anyhow::Error::new(error).context(format!("{}: cannot be written", self.target.name())),
        }
    }
}

impl Sink for RawSink {
    fn write(&mut self, delivery: Delivery) -> Result<()> {
        delivery.frame.map_or(Ok(()), |frame| self.write_frame(frame))
    }

    fn encoding(&self) -> Option<Encoding> {
        let container = if self.framing == Framing::Raw { "rawvideo" } else { "yuv4mpegpipe" };
        Some(Encoding { container: container.to_owned(), ..Encoding::default() })
    }

    fn finish(self: Box<Self>, outcome: Outcome) -> Result<Option<Name>> {
        if self.stream.is_none() {
            return Ok(None);
        }
        Ok(Some(self.target.end(outcome)?))
    }
}

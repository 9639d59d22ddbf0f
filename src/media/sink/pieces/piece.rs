//! Encodes a piece of a video; the pieces are joined later.

use super::file::PieceWriter;
use super::joinable::joinable;
use crate::ffmpeg::encode::{EncodedVideo, Encoder, VideoEncoder};
use crate::ffmpeg::frame::{AutoRotate, Picture};
use crate::ffmpeg::mux::Container;
use crate::pipeline::{Delivery, Input, Notices, Outcome, Sink};
use crate::sink::encoder::choice::Pace;
use crate::sink::encoder::clock::EncoderClock;
use crate::sink::encoder::fit::Fitter;
use crate::sink::encoder::start::{EncoderStart, Started};
use crate::sink::file::container;
use crate::sink::files::target::Target;
use crate::sink::options::OutputOptions;
use crate::sys::files::Name;
use crate::sys::{Hash, Hasher};
use anyhow::{Context, Result, ensure};
use histeq::internal::frame::Frame;

/// Identifies a piece, and the file that it belongs to.
#[derive(Clone, Copy, Debug)]
pub struct PieceOf {
    /// The hash of the work plan for the file.
    pub plan: Hash,
    /// The number of the piece in the file, from 0.
    pub piece: usize,
    /// Number of frames at the start of the piece that are not encoded.
    pub left_out: u64,
}

/// A sink for the frames of a piece. Other streams than the video are ignored.
pub struct PieceSink {
    input: Input,
    name: Name,
    target: Option<Target>,
    container: Container,
    encoder: Encoder,
    options: OutputOptions,
    piece: PieceOf,
    notices: Notices,
    rotate: AutoRotate,
    frames: Hasher,
    written: usize,
    running: Option<RunningPiece>,
    records: [Option<Hash>; 2],
}

struct RunningPiece {
    encoder: VideoEncoder,
    fitter: Fitter,
    clock: EncoderClock,
    video: EncodedVideo,
    writer: PieceWriter,
}

impl PieceSink {
    /// A sink that writes the piece to `target`. `file` is the name of the whole file.
    ///
    /// # Errors
    /// When this FFmpeg lacks the encoder, or pieces of the encoder cannot be joined.
    pub fn create(
        input: Input,
        target: Target,
        file: &Name,
        options: OutputOptions,
        piece: PieceOf,
        notices: Notices,
    ) -> Result<Self> {
        let container = container(file, options.format.as_deref())?;
        let (encoder, options) = joinable(&input, container, file, options)?;
        let rotate = AutoRotate::new(input.video_stream(), container.holds_rotation(), &input.limits);
        Ok(PieceSink {
            input,
            name: target.name().to_owned(),
            target: Some(target),
            container,
            encoder,
            options,
            piece,
            notices,
            rotate,
            frames: Hasher::default(),
            written: 0,
            running: None,
            records: [None; 2],
        })
    }

    /// Sets the hashes of the files with measurements and with curves, for the description.
    pub fn set_records(&mut self, hashes: [Option<Hash>; 2]) {
        self.records = hashes;
    }

    fn start(&mut self, first: &Picture) -> Result<()> {
        let candidates = [self.encoder];
        let start = EncoderStart {
            input: &self.input,
            container: self.container,
            choice: &self.options.encoder,
            candidates: &candidates,
            pace: Pace::Offline,
            pixels: (self.options.pixels, self.options.fit),
            codec_changes: None,
            notices: &self.notices,
        };
        let Started { encoder, fitter, clock, side_data } = start.open(first, self.rotate.rotates(), None)?;
        let video = EncodedVideo::new(&encoder, &side_data);
        let writer = PieceWriter::create(self.target.take().context("the piece is open")?)?;
        self.running = Some(RunningPiece { encoder, fitter, clock, video, writer });
        Ok(())
    }

    fn write_frame(&mut self, frame: &Frame) -> Result<()> {
        for plane in frame.planes() {
            (0..plane.rows()).for_each(|y| self.frames.add(plane.row(y)));
        }
        let picture = self.rotate.picture(Picture::from_frame(frame)?);
        let picture = picture.with_context(|| format!("{}: cannot be turned", self.name))?;
        if let Some(warning) = self.rotate.warning() {
            self.notices.warn(warning)?;
        }
        if self.running.is_none() {
            self.start(&picture)?;
        }
        let Some(running) = &mut self.running else { unreachable!("started above") };
        let mut picture = running.fitter.fit(picture)?;
        running.clock.set(&mut picture, &self.notices)?;
        self.written += 1;
        let sent = running.encoder.send(Some(&mut picture));
        sent.with_context(|| format!("{}: frame {}: cannot be encoded", self.name, self.written - 1))?;
        self.write_encoded()
    }

    fn write_encoded(&mut self) -> Result<()> {
        let Some(running) = &mut self.running else { return Ok(()) };
        while let Some(mut packet) =
            running.encoder.receive().with_context(|| format!("{}: cannot be encoded", self.name))?
        {
            running.clock.set_duration(&mut packet);
            running.writer.write(&packet)?;
        }
        Ok(())
    }
}

impl Sink for PieceSink {
    fn write(&mut self, delivery: Delivery) -> Result<()> {
        let Some(frame) = delivery.frame else { return Ok(()) };
        if self.piece.left_out > 0 {
            self.piece.left_out -= 1;
            return Ok(());
        }
        self.write_frame(&frame)
    }

    fn finish(mut self: Box<Self>, outcome: Outcome) -> Result<Option<Name>> {
        let Some(running) = self.running.as_mut().filter(|_| outcome == Outcome::Complete) else { return Ok(None) };
        running.encoder.send(None).with_context(|| format!("{}: cannot be encoded", self.name))?;
        self.write_encoded()?;
        let PieceSink { piece, frames, running, name, written, records, .. } = *self;
        let Some(RunningPiece { video, writer, .. }) = running else { return Ok(None) };
        let packets = writer.packets();
        ensure!(packets == written, "{name}: the encoder made {packets} packets of {written} frames (use another one)");
        writer.finish((piece.plan, piece.piece), video, frames.hash(), records).map(Some)
    }
}

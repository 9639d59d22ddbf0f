//! Joins pieces of encoded video and the other streams of the input to one file, as a single run would write it.

use crate::ffmpeg::encode::EncodedVideo;
use crate::ffmpeg::mux::OutputStream;
use crate::ffmpeg::{Packet, Rational};
use crate::pipeline::{Input, Notices, Outcome};
use crate::sink::file::{Begun, FileSink};
use crate::sink::files::target::Target;
use crate::sink::kept::streams::Routes;
use crate::sink::kept::table;
use crate::sink::options::OutputOptions;
use crate::sys::files::Name;
use anyhow::{Context, Result};

/// A file that pieces are joined to.
pub struct JoinedFile {
    file: FileSink,
    video: OutputStream,
    time_base: Rational,
    routes: Routes,
    /// Start time of the video, in microseconds.
    begin: i64,
}

/// Checks, before any piece is encoded, whether pieces can be joined with the streams of `input` to the file `name`.
///
/// # Errors
/// When the container cannot hold the codec; with `--strict`, when it cannot hold all streams.
pub fn check_joined(input: Input, name: &Name, options: OutputOptions, notices: Notices) -> Result<()> {
    FileSink::prepare(input, Target::nowhere(name), options, None, &mut || false, notices).map(drop)
}

impl JoinedFile {
    /// Starts the file. Its video starts at `begin` (microseconds), and was encoded like `video`.
    ///
    /// # Errors
    /// When this FFmpeg lacks the container or the codec, the container cannot hold the codec, or the file does not
    /// open.
    pub fn create(
        input: Input,
        target: Target,
        mut options: OutputOptions,
        video: &EncodedVideo,
        begin: i64,
        notices: Notices,
    ) -> Result<Self> {
        // Makes the bytes reproducible: without this flag, some muxers write random numbers.
        options.container.insert(0, ("fflags".to_owned(), "+bitexact".to_owned()));
        let mut file = FileSink::prepare(input, target, options, None, &mut || false, notices)?;
        table::check(&file.input, file.container, None, None, file.target.name(), &file.notices)?;
        let begun = file.begin_file(begin, |muxer, stream, metadata| Ok(muxer.add_kept(video, stream, metadata)?))?;
        let Begun { video: stream, routes, .. } = begun;
        Ok(JoinedFile { file, video: stream, time_base: video.time_base(), routes, begin })
    }

    /// Writes a packet of another input stream than the video.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_other(&mut self, packet: Packet) -> Result<()> {
        let FileSink { muxer, notices, target, .. } = &mut self.file;
        let muxer = muxer.as_mut().context("the file is closed")?;
        let written = self.routes.write(packet, self.begin, muxer, notices);
        written.with_context(|| format!("{}: cannot be written", target.name()))
    }

    /// Writes a packet of the video.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write_video(&mut self, packet: Packet) -> Result<()> {
        let FileSink { muxer, target, .. } = &mut self.file;
        let written = muxer.as_mut().context("the file is closed")?.write(packet, self.video, self.time_base);
        written.map(drop).with_context(|| format!("{}: cannot be written", target.name()))
    }

    /// Completes the file, and renames it to its final name.
    ///
    /// # Errors
    /// When it cannot be written or renamed.
    pub fn finish(mut self, outcome: Outcome) -> Result<Name> {
        let FileSink { muxer, target, notices, .. } = &mut self.file;
        let name = target.name().to_owned();
        let mut muxer = muxer.take().context("the file is closed")?;
        self.routes.finish(&mut muxer, notices).with_context(|| format!("{name}: cannot be written"))?;
        muxer.finish().with_context(|| format!("{name}: cannot be written"))?;
        self.file.target.end(outcome)
    }
}

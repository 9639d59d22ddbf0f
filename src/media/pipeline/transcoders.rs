//! Where other streams than the video are transcoded, if their codec does not fit the output.

use crate::ffmpeg::Packet;
use crate::ffmpeg::demux::Stream;
use crate::ffmpeg::encode::{TranscodeTo, Transcoder};
use crate::pipeline::Notices;
use anyhow::Result;

/// Opens transcoders for the streams of an input, in the process that decodes it.
pub trait OpenTranscoders: Send + Sync {
    /// Opens a transcoder for each stream. Returns the transcoded streams, or why they cannot be transcoded.
    ///
    /// # Errors
    /// When the process for the transcoders cannot be used.
    fn open(&self, wanted: &[(Stream, TranscodeTo)], notices: &Notices) -> Result<Opened>;
}

/// The result of [`OpenTranscoders::open`].
pub type Opened = (Box<dyn Transcoders>, Vec<Result<Stream, String>>);

/// Open transcoders. `place` is the index of a transcoder, in the order in which they were opened.
pub trait Transcoders: Send {
    /// Transcodes a packet; `None` ends the stream.
    ///
    /// # Errors
    /// With `--strict`, when packets are lost because the transcoders' process fails.
    fn send(&mut self, place: usize, packet: Option<&Packet>) -> Result<Transcoded>;
}

/// The result of transcoding a packet.
#[derive(Default)]
pub struct Transcoded {
    /// The transcoded packets that are complete.
    pub packets: Vec<Packet>,
    /// Why the packet could not be decoded.
    pub error: Option<String>,
}

/// Transcoders in this process.
pub struct InProcess;

impl OpenTranscoders for InProcess {
    fn open(&self, wanted: &[(Stream, TranscodeTo)], _notices: &Notices) -> Result<Opened> {
        let (mut open, mut streams) = (Vec::new(), Vec::new());
        for (stream, target) in wanted {
            let opened = Transcoder::open(stream, target).and_then(|opened| Ok((opened.output(stream)?, opened)));
            let (output, transcoder) = opened
                .map_err(|error| format!("{error:#}"))
                .map_or_else(|error| (Err(error), None), |(output, transcoder)| (Ok(output), Some(transcoder)));
            streams.push(output);
            open.push(transcoder);
        }
        Ok((Box::new(open), streams))
    }
}

impl Transcoders for Vec<Option<Transcoder>> {
    fn send(&mut self, place: usize, packet: Option<&Packet>) -> Result<Transcoded> {
        let Some(transcoder) = self.get_mut(place).and_then(Option::as_mut) else { return Ok(Transcoded::default()) };
        let (packets, sent) = transcoder.send(packet);
        Ok(Transcoded { packets, error: sent.err().map(|error| error.to_string()) })
    }
}

//! The decode loop that files and live inputs share: reads packets, decodes those of one video stream, and hands on those of
//! all others. How packets are read differs, and is a [`ReadPackets`].

use crate::ffmpeg::{DecodeOn, Decoded, Decoder, Delay, Demuxer, Error, Packet, Picture, Rational, RawFormat};
use crate::frame::Pool;
use std::sync::Arc;

/// Reads the packets of an input for a [`VideoReader`].
pub(super) trait ReadPackets {
    /// What they are read from.
    fn demuxer(&mut self) -> &mut Demuxer;

    /// The next packet of any stream; `None` at the end.
    ///
    /// # Errors
    /// When reading fails before the end.
    fn read(&mut self) -> Result<Option<Packet>, Error>;

    /// What is wrong with a packet of the video, as far as that shows before it is decoded.
    fn damage(&self, _packet: &Packet) -> Option<Damage> {
        None
    }
}

/// What is wrong with a packet.
#[derive(Debug, thiserror::Error)]
pub(super) enum Damage {
    #[error("the image is cut short")]
    CutShort,
    #[error("a packet is cut short or corrupt")]
    Corrupt,
    #[error("a packet cannot be decoded: {0}")]
    Packet(Error),
    #[error("decode failed: {0}")]
    Picture(Error),
}

/// One step of the loop.
pub(super) enum Step {
    /// The next picture of the video.
    Picture(Picture),
    /// The next packet of another stream.
    Packet(Packet),
    /// Something is damaged. Decoding can go on.
    Damaged(Damage),
    /// All packets are read. The decoder may still hold pictures.
    LastPacket,
    /// The end: no more pictures.
    End,
}

/// Reads the packets of an input and decodes one of its video streams.
pub(super) struct VideoReader<P> {
    pub packets: P,
    decoder: Decoder,
    /// Index of the stream that is decoded.
    stream: usize,
    time_base: Rational,
    /// A packet of the video that was found damaged, and is decoded next all the same.
    pending: Option<Packet>,
    state: State,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Reading,
    /// All is read; the decoder has not been told yet.
    Read,
    /// The decoder gives the pictures that it still holds.
    Draining,
}

impl<P: ReadPackets> VideoReader<P> {
    /// Decodes the stream with this index.
    ///
    /// # Errors
    /// Those of [`Decoder::open`].
    pub fn open(mut packets: P, stream: usize, delay: Delay, on: DecodeOn) -> Result<Self, Error> {
        let described = &packets.demuxer().media().streams[stream];
        let (decoder, time_base) = (Decoder::open(described, delay, on)?, described.time_base);
        Ok(VideoReader { packets, decoder, stream, time_base, pending: None, state: State::Reading })
    }

    /// Unit of the times of its pictures.
    pub fn time_base(&self) -> Rational {
        self.time_base
    }

    /// Puts pictures, and the packets of a device, into this memory from now on.
    pub fn use_pool(&mut self, pool: Arc<dyn Pool>) {
        self.packets.demuxer().use_pool(pool.clone());
        self.decoder.use_pool(pool);
    }

    /// As [`Decoder::unsupported`].
    pub fn unsupported(&self) -> Option<RawFormat> {
        self.decoder.unsupported()
    }

    /// Reads no further: what the decoder still holds comes next.
    pub fn finish(&mut self) {
        if self.state == State::Reading {
            self.state = State::Read;
        }
    }

    /// What comes next.
    ///
    /// # Errors
    /// When reading fails before the end of the input.
    pub fn next(&mut self) -> Result<Step, Error> {
        loop {
            match self.decoder.receive() {
                Ok(Decoded::Picture(picture)) => return Ok(Step::Picture(picture)),
                Ok(Decoded::NeedsInput) if self.state != State::Draining => {}
                Ok(Decoded::NeedsInput | Decoded::End) => return Ok(Step::End),
                Err(error) => return Ok(Step::Damaged(Damage::Picture(error))),
            }
            let packet = match self.pending.take() {
                Some(packet) => Some(packet),
                None if self.state == State::Read => {
                    self.state = State::Draining;
                    None
                }
                None => match self.packets.read()? {
                    Some(packet) if packet.stream() != self.stream => return Ok(Step::Packet(packet)),
                    Some(packet) => match self.packets.damage(&packet) {
                        Some(damage) => {
                            self.pending = Some(packet);
                            return Ok(Step::Damaged(damage));
                        }
                        None => Some(packet),
                    },
                    None => {
                        self.finish();
                        return Ok(Step::LastPacket);
                    }
                },
            };
            // A decoder that complains while it is told of the end, of a packet from before, drains all the same.
            if let Err(error) = self.decoder.send(packet.as_ref()) {
                return Ok(Step::Damaged(Damage::Packet(error)));
            }
        }
    }
}

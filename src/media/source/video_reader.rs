//! The decode loop of files and live inputs: reads packets by a [`ReadPackets`], decodes those of one video stream, and
//! passes on those of all others.

use crate::ffmpeg::decode::{DecodeOn, Decoded, Decoder, Delay};
use crate::ffmpeg::demux::Demuxer;
use crate::ffmpeg::frame::Picture;
use crate::ffmpeg::{Error, Packet, Rational};
use histeq::internal::frame::Pool;
use std::collections::VecDeque;
use std::sync::Arc;

/// Reads the packets of an input for a [`VideoReader`].
pub(super) trait ReadPackets {
    /// The demuxer of the input.
    fn demuxer(&mut self) -> &mut Demuxer;

    /// The next packet of any stream; `None` at the end.
    ///
    /// # Errors
    /// When reading fails before the end.
    fn read(&mut self) -> Result<Option<Packet>, Error>;

    /// Damage of a video packet that is visible before decoding.
    fn damage(&self, _packet: &Packet) -> Option<Damage> {
        None
    }
}

/// Damage of a packet or of its picture.
#[derive(Debug, thiserror::Error)]
pub(super) enum Damage {
    #[error("the image is cut short")]
    CutShort,
    #[error("the image has several pages, and the first is taken (name the file alone, without numbers, to get all)")]
    Pages,
    #[error("a packet is cut short or corrupt")]
    Corrupt,
    #[error("a packet cannot be decoded: {0}")]
    Packet(Error),
    #[error("decode failed: {0}")]
    Picture(Error),
}

/// A result of [`VideoReader::next`].
pub(super) enum ReaderEvent {
    /// The next picture of the video.
    Picture(Picture),
    /// The next packet of another stream.
    Packet(Packet),
    /// A packet or picture is damaged. Decoding can go on.
    Damaged(Damage),
    /// All packets are read. The decoder may still hold pictures.
    LastPacket,
    /// The decoder is drained.
    End,
}

/// Reads the packets of an input and decodes one of its video streams.
pub(super) struct VideoReader<P> {
    pub packets: P,
    pub decoder: Decoder,
    /// Index of the stream that is decoded.
    stream: usize,
    /// Unit of the times of its pictures, in seconds.
    pub time_base: Rational,
    /// Packets that were read before, and are still to be decoded.
    returned: VecDeque<Result<Option<Packet>, Error>>,
    /// A damaged packet of the video, which is decoded next.
    pending: Option<Packet>,
    state: ReaderState,
}

#[derive(Clone, Copy, PartialEq)]
enum ReaderState {
    Reading,
    /// All packets are read; the end is not yet sent to the decoder.
    AllRead,
    /// The decoder returns its remaining pictures.
    Draining,
}

impl<P: ReadPackets> VideoReader<P> {
    /// Decodes the stream with this index.
    ///
    /// # Errors
    /// Those of [`Decoder::open`].
    pub fn open(mut packets: P, stream: usize, delay: Delay, on: DecodeOn) -> Result<Self, Error> {
        let demuxer = packets.demuxer();
        let described = &demuxer.media.streams[stream];
        let (decoder, time_base) = (Decoder::open(described, delay, on, &demuxer.limits)?, described.time_base);
        Ok(VideoReader {
            packets,
            decoder,
            stream,
            time_base,
            returned: VecDeque::new(),
            pending: None,
            state: ReaderState::Reading,
        })
    }

    /// Puts pictures, and the packets of a device, into memory of `pool` from now on.
    pub fn use_pool(&mut self, pool: Arc<dyn Pool>) {
        self.packets.demuxer().use_pool(pool.clone());
        self.decoder.use_pool(pool);
    }

    /// Puts back results of [`ReadPackets::read`], which are used before more is read.
    pub fn put_back(&mut self, read: impl IntoIterator<Item = Result<Option<Packet>, Error>>) {
        self.returned.extend(read);
    }

    /// Stops reading. The decoder's remaining pictures come next.
    pub fn finish(&mut self) {
        if self.state == ReaderState::Reading {
            self.state = ReaderState::AllRead;
        }
    }

    /// The next picture, packet, damage, or the end.
    ///
    /// # Errors
    /// When reading fails before the end of the input.
    pub fn next(&mut self) -> Result<ReaderEvent, Error> {
        loop {
            match self.decoder.receive() {
                Ok(Decoded::Picture(picture)) => return Ok(ReaderEvent::Picture(picture)),
                Ok(Decoded::NeedsInput) if self.state != ReaderState::Draining => {}
                Ok(Decoded::NeedsInput | Decoded::End) => return Ok(ReaderEvent::End),
                Err(error) => return Ok(ReaderEvent::Damaged(Damage::Picture(error))),
            }
            let packet = match self.pending.take() {
                Some(packet) => Some(packet),
                None if self.state == ReaderState::AllRead => {
                    self.state = ReaderState::Draining;
                    None
                }
                None => match self.returned.pop_front().unwrap_or_else(|| self.packets.read())? {
                    Some(packet) if packet.stream() != self.stream => return Ok(ReaderEvent::Packet(packet)),
                    Some(packet) => match self.packets.damage(&packet) {
                        Some(damage) => {
                            self.pending = Some(packet);
                            return Ok(ReaderEvent::Damaged(damage));
                        }
                        None => Some(packet),
                    },
                    None => {
                        self.finish();
                        return Ok(ReaderEvent::LastPacket);
                    }
                },
            };
            // If sending the end fails because of an earlier packet, the decoder drains nevertheless.
            if let Err(error) = self.decoder.send(packet.as_ref()) {
                return Ok(ReaderEvent::Damaged(Damage::Packet(error)));
            }
        }
    }
}

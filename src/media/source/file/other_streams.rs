//! Packets of audio, subtitles and other streams, which are copied to the output.

use crate::ffmpeg::demux::Stream;
use crate::ffmpeg::{MediaType, Packet, microseconds, rescale};
use crate::source::part::Bounds;

/// Packets are delivered with the next frame, or when they reach this many bytes, which limits memory.
const MAX_BYTES: usize = 4 << 20;

/// The packets that wait for the next frame, and the state of each stream.
pub struct OtherStreams {
    /// For each stream, whether its packets are passed on: video has to begin with a key frame.
    begun: Vec<bool>,
    /// For each stream, whether it has reached the end of the requested part.
    ended: Vec<bool>,
    /// For each stream, whether packets were dropped because it had not begun.
    missed: Vec<bool>,
    packets: Vec<Packet>,
    bytes: usize,
}

impl OtherStreams {
    pub fn new(streams: &[Stream], bounds: Bounds) -> Self {
        OtherStreams {
            begun: streams.iter().map(|stream| bounds.begin.is_none() || stream.kind != MediaType::Video).collect(),
            ended: vec![false; streams.len()],
            missed: vec![false; streams.len()],
            packets: Vec::new(),
            bytes: 0,
        }
    }

    /// Keeps a packet of `stream`, if it is within `bounds`, and shifts it so that the part begins at zero.
    pub fn keep(&mut self, mut packet: Packet, stream: &Stream, bounds: Bounds) {
        let index = packet.stream();
        let in_microseconds = |time| rescale(time, stream.time_base, microseconds());
        if let Some(time) = packet.time() {
            let (first, last) = (in_microseconds(time), in_microseconds(time + packet.duration()));
            self.begun[index] |= packet.is_key() && bounds.begin.is_none_or(|begin| first >= begin);
            if let Some(begin) = bounds.begin.filter(|&begin| first < begin) {
                // Packets before the part are dropped: in most containers, a negative time would shift all others. A
                // subtitle that is still visible at the beginning is shortened.
                if stream.kind != MediaType::Subtitle || last <= begin {
                    return;
                }
                let late = rescale(begin, microseconds(), stream.time_base) - time;
                packet.shift(late);
                packet.set_duration(packet.duration() - late);
            }
            // Shorten a subtitle that outlasts the part.
            if let Some(end) = bounds.end.filter(|&end| first < end && end < last && stream.kind == MediaType::Subtitle)
            {
                let early = packet.time().map_or(0, |time| rescale(end, microseconds(), stream.time_base) - time);
                packet.set_duration(early);
            }
            if bounds.end.is_some_and(|end| first >= end) {
                self.ended[index] = true;
                return;
            }
        }
        if !self.begun[index] && !stream.is_attached_picture() {
            self.missed[index] = true;
            return;
        }
        packet.shift(rescale(bounds.shift(), microseconds(), stream.time_base));
        self.bytes += packet.len();
        self.packets.push(packet);
    }

    /// Whether the packets have too many bytes to wait for the next frame.
    pub fn are_many(&self) -> bool {
        self.bytes > MAX_BYTES
    }

    /// Whether all audio has reached the end of the requested part.
    pub fn sound_has_ended(&self, streams: &[Stream]) -> bool {
        streams.iter().zip(&self.ended).all(|(stream, &ended)| ended || stream.kind != MediaType::Audio)
    }

    /// Takes out the packets before `until` (microseconds from the part's beginning); all of them if there is no
    /// `until`, or if they [are many](Self::are_many).
    pub fn take(&mut self, streams: &[Stream], until: Option<i64>) -> Vec<Packet> {
        let is_due = |packet: &Packet| {
            let time_base = streams[packet.stream()].time_base;
            let moment = packet.time().map(|time| rescale(time, time_base, microseconds()));
            until.is_none_or(|until| moment.is_none_or(|moment| moment < until))
        };
        let all = self.are_many();
        let (due, later): (Vec<Packet>, Vec<Packet>) =
            std::mem::take(&mut self.packets).into_iter().partition(|packet| all || is_due(packet));
        self.bytes = later.iter().map(Packet::len).sum();
        self.packets = later;
        due
    }

    /// Drops packets at or after `end` (microseconds from the part's beginning).
    pub fn cut(&mut self, streams: &[Stream], end: i64) {
        self.packets.retain(|packet| {
            let time_base = streams[packet.stream()].time_base;
            packet.time().is_none_or(|time| rescale(time, time_base, microseconds()) < end)
        });
    }

    /// The streams whose packets were all dropped.
    pub fn never_begun(&self) -> impl Iterator<Item = usize> {
        self.begun
            .iter()
            .zip(&self.missed)
            .enumerate()
            .filter(|(_, (begun, missed))| !**begun && **missed)
            .map(|(index, _)| index)
    }
}

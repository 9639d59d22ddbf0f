//! Packets of sound, subtitles and all else that is not decoded, on their way to the output.

use crate::ffmpeg::{MediaType, Packet, Stream, microseconds, rescale};
use crate::source::part::Bounds;

/// Packets go out with the next frame, or when they come to this many bytes: a long stretch without a frame must not
/// pile them up.
const MOST_BYTES: usize = 4 << 20;

/// The packets that wait for the next frame, and how far each stream has come.
pub struct OtherStreams {
    /// For each stream, whether its packets are handed on yet: video has to begin with a key frame.
    begun: Vec<bool>,
    /// For each stream, whether it has come to the end of the part that was asked for.
    ended: Vec<bool>,
    /// For each stream, whether packets were left out because it had not begun.
    missed: Vec<bool>,
    packets: Vec<Packet>,
    bytes: usize,
}

impl OtherStreams {
    /// None yet, of an input with these streams.
    pub fn new(streams: &[Stream], bounds: Bounds) -> Self {
        OtherStreams {
            begun: streams.iter().map(|stream| bounds.begin.is_none() || stream.kind != MediaType::Video).collect(),
            ended: vec![false; streams.len()],
            missed: vec![false; streams.len()],
            packets: Vec::new(),
            bytes: 0,
        }
    }

    /// Keeps a packet of `stream`, if it lies within `bounds`, which begin at zero from here on.
    pub fn keep(&mut self, mut packet: Packet, stream: &Stream, bounds: Bounds) {
        let index = packet.stream();
        let in_microseconds = |time| rescale(time, stream.time_base, microseconds());
        if let Some(time) = packet.time() {
            let (first, last) = (in_microseconds(time), in_microseconds(time + packet.duration()));
            self.begun[index] |= packet.is_key() && bounds.begin.is_none_or(|begin| first >= begin);
            if let Some(begin) = bounds.begin.filter(|&begin| first < begin) {
                // A time before zero would move all others in most containers. Of a subtitle that is still on the
                // screen, the rest is shown.
                if stream.kind != MediaType::Subtitle || last <= begin {
                    return;
                }
                let late = rescale(begin, microseconds(), stream.time_base) - time;
                packet.shift(late);
                packet.set_duration(packet.duration() - late);
            }
            // Nor does one last longer than the pictures.
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

    /// Are they too many to wait for the next frame?
    pub fn are_many(&self) -> bool {
        self.bytes > MOST_BYTES
    }

    /// Has all sound come to the end of the part that was asked for?
    pub fn sound_has_ended(&self, streams: &[Stream]) -> bool {
        streams.iter().zip(&self.ended).all(|(stream, &ended)| ended || stream.kind != MediaType::Audio)
    }

    /// The packets, which are kept no longer; of a part that ends with a number of frames, only those before `until`
    /// (microseconds, from the part's beginning) for now, unless they are many.
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

    /// Forgets what lies at or behind `end` (microseconds, from the part's beginning), which is known now.
    pub fn cut(&mut self, streams: &[Stream], end: i64) {
        self.packets.retain(|packet| {
            let time_base = streams[packet.stream()].time_base;
            packet.time().is_none_or(|time| rescale(time, time_base, microseconds()) < end)
        });
    }

    /// The streams of which packets came, but none that could be handed on.
    pub fn never_begun(&self) -> impl Iterator<Item = usize> {
        self.begun
            .iter()
            .zip(&self.missed)
            .enumerate()
            .filter(|(_, (begun, missed))| !**begun && **missed)
            .map(|(index, _)| index)
    }
}

//! Cuts a video at key frames into gops: one or more groups of pictures that a decoder can decode on its own.
//!
//! In an open group of pictures, some pictures that follow the key frame in the file are shown before it and need the
//! group before. So a gop has an overlap: the beginning of the next gop, up to the last such picture.

use super::clean_start::{KeyFrameCodec, PacketStart};
use crate::ffmpeg::Packet;
use std::ops::RangeInclusive;

/// Packets that one decoder can decode without those before them.
#[derive(Clone)]
pub struct Gop {
    /// Its packets, in the order of the file.
    pub packets: Vec<Packet>,
    /// The beginning of the next gop, as far as pictures in it are shown before the next gop's key frame.
    pub overlap: Vec<Packet>,
    /// The time of its key frame.
    pub first: i64,
    /// The number of its packets whose pictures are shown before the key frame. The previous gop outputs these
    /// pictures.
    pub leading: usize,
    /// The times of the pictures that it gives, in the order of display.
    pub times: Vec<i64>,
    /// Bytes of its packets.
    pub bytes: usize,
    /// Whether the video begins with it: then it also outputs pictures that are shown before its key frame.
    pub is_first: bool,
}

/// The error of packets that cannot be cut: one decoder has to decode them all.
pub struct CannotCut;

/// Cuts packets into gops.
pub struct Splitter {
    key_frames: KeyFrameCodec,
    /// The parameter sets in the first packet. Another decoder has the same ones if they never change.
    parameter_sets: Option<Vec<u8>>,
    /// The packets of the next gop, from a key frame on.
    current: Vec<Packet>,
    /// The packets after `current`, from the next key frame on.
    next: Vec<Packet>,
    /// The fewest packets of a part for one decoder, and the most packets between two key frames at which a part may end.
    lengths: RangeInclusive<usize>,
    /// Whether there has been a gop.
    begun: bool,
}

impl Splitter {
    pub fn new(key_frames: KeyFrameCodec) -> Self {
        Splitter {
            key_frames,
            parameter_sets: None,
            current: Vec::new(),
            next: Vec::new(),
            lengths: 0..=0,
            begun: false,
        }
    }

    /// Adds the next packet, and returns a gop if one is complete. `lengths` are the fewest packets of a gop, and the
    /// most packets between two possible cuts.
    ///
    /// # Errors
    /// When the packets from here on cannot be cut. [`rest`](Splitter::rest) has them.
    pub fn add(&mut self, packet: Packet, lengths: RangeInclusive<usize>) -> Result<Option<Gop>, CannotCut> {
        let PacketStart { is_clean, parameter_sets } = self.key_frames.start(packet.data());
        let is_key = is_clean && packet.is_key();
        let is_start = is_key && !packet.is_hidden();
        let known = self.parameter_sets.get_or_insert_with(|| parameter_sets.clone());
        let is_same = *known == parameter_sets;
        let fits = packet.pts().is_some()
            && !packet.changes_decoder()
            && (is_same || parameter_sets.is_empty())
            && (is_key || !self.current.is_empty())
            && self.current.len().max(self.next.len()) < *lengths.end();
        self.lengths = lengths;
        let mut gop = None;
        if is_start && is_same && fits && !self.current.is_empty() {
            if !self.next.is_empty() {
                gop = self.cut();
            }
            self.next.push(packet);
        } else if self.next.is_empty() {
            self.current.push(packet);
        } else {
            self.next.push(packet);
        }
        if fits { Ok(gop) } else { Err(CannotCut) }
    }

    /// After the last packet, returns the remaining gops, one per call.
    pub fn end(&mut self) -> Option<Gop> {
        // A last gop of few packets is joined to the one before: FFmpeg's H.264 decoder may hold back pictures of a
        // short gop that begins with an open group of pictures.
        if self.next.len() >= *self.lengths.start()
            && let Some(gop) = self.cut()
        {
            return Some(gop);
        }
        self.current.append(&mut self.next);
        (!self.current.is_empty()).then(|| self.gop(Vec::new(), i64::MAX))
    }

    /// The packets that are in no gop.
    pub fn rest(&mut self) -> impl Iterator<Item = Packet> {
        self.current.drain(..).chain(self.next.drain(..))
    }

    /// Cuts between `current` and `next`; joins the two if no cut is possible there.
    fn cut(&mut self) -> Option<Gop> {
        let next: Vec<i64> = self.next.iter().filter_map(Packet::pts).collect();
        let start = next[0];
        let overlap = next.iter().rposition(|&time| time < start).map_or(0, |last| last + 1);
        let is_clear = self.current.iter().all(|packet| packet.pts().is_some_and(|time| time < start))
            && next[1..].iter().all(|&time| time != start)
            && (overlap == 0 || self.key_frames.may_be_open());
        let (least, most) = self.lengths.clone().into_inner();
        let is_short = self.current.len() < least && self.current.len() + self.next.len() < most;
        if !is_clear || is_short {
            self.current.append(&mut self.next);
            return None;
        }
        let gop = self.gop(self.next[..overlap].to_vec(), start);
        self.current = std::mem::take(&mut self.next);
        Some(gop)
    }

    /// The gop of the packets in `current`, with this overlap. Its last picture is before the time `end`.
    fn gop(&mut self, overlap: Vec<Packet>, end: i64) -> Gop {
        let packets = std::mem::take(&mut self.current);
        let first = packets[0].pts().unwrap_or(i64::MIN);
        let shown = packets.iter().chain(&overlap).filter(|packet| !packet.is_hidden()).filter_map(Packet::pts);
        let mut times: Vec<i64> = shown.filter(|time| (first..end).contains(time)).collect();
        times.sort_unstable();
        let leading = packets.iter().filter(|packet| packet.pts().is_some_and(|time| time < first)).count();
        let bytes = packets.iter().map(Packet::len).sum();
        Gop { packets, overlap, bytes, first, leading, times, is_first: !std::mem::replace(&mut self.begun, true) }
    }
}

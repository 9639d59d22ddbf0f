//! The audio of a live input: its streams, and the times of their packets.

use super::clock::LiveClock;
use crate::ffmpeg::demux::Stream;
use crate::ffmpeg::{MediaType, Packet, Rational, microseconds};
use std::collections::VecDeque;

/// The most packets that wait for the first picture.
const MAX_WAITING: usize = 1024;

/// The audio streams of a live input, as it was opened first. They are the audio streams of the output, too.
#[derive(Default)]
pub struct SoundStreams {
    streams: Vec<Stream>,
    /// Packets with times of the input, in microseconds.
    waiting: VecDeque<Packet>,
}

/// The mapping of an input stream to an output stream.
pub struct SoundRoute {
    /// Index of the stream in the input.
    pub stream: usize,
    /// Index of the stream in the output.
    place: usize,
    time_base: Rational,
}

impl SoundStreams {
    /// The audio streams among `streams`.
    pub fn new(streams: &[Stream]) -> Self {
        let sounds = streams.iter().filter(|stream| stream.kind == MediaType::Audio && stream.is_known());
        SoundStreams { streams: sounds.cloned().collect(), waiting: VecDeque::new() }
    }

    /// The streams of the output, with indices from `first` on and times in microseconds.
    pub fn streams(&self, first: usize) -> Vec<Stream> {
        let numbered = self.streams.iter().cloned().enumerate();
        let output = |(index, stream): (usize, Stream)| Stream {
            index: first + index,
            time_base: microseconds(),
            start: None,
            frames: None,
            ..stream
        };
        numbered.map(output).collect()
    }

    /// Maps the streams of an input that was opened again to the first ones with the same codec, sample rate and
    /// channels. `first` is the index of the first audio stream in the output.
    pub fn found_in(&self, streams: &[Stream], first: usize) -> Vec<SoundRoute> {
        let is_same = |a: &Stream, b: &Stream| a.codec == b.codec && a.sound() == b.sound();
        let mut free: Vec<&Stream> = streams.iter().filter(|stream| stream.kind == MediaType::Audio).collect();
        let mut found = Vec::new();
        for (index, known) in self.streams.iter().enumerate() {
            if let Some(place) = free.iter().position(|stream| is_same(stream, known)) {
                let stream = free.remove(place);
                found.push(SoundRoute { stream: stream.index, place: first + index, time_base: stream.time_base });
            }
        }
        found
    }

    /// Keeps a packet until it is [taken](SoundStreams::next).
    pub fn keep(&mut self, mut packet: Packet, route: &SoundRoute) {
        if self.waiting.len() == MAX_WAITING {
            self.waiting.pop_front();
        }
        packet.rescale(route.time_base, microseconds());
        packet.set_stream(route.place);
        self.waiting.push_back(packet);
    }

    /// The next packet, with its time by `clock`; `None` when there is none, or no picture yet.
    pub fn next(&mut self, clock: &LiveClock) -> Option<Packet> {
        while let Some(packet) = self.waiting.front() {
            let stamp = packet.time();
            let time = match stamp {
                Some(stamp) => clock.by_anchor(stamp)?,
                None => -1,
            };
            let mut packet = self.waiting.pop_front()?;
            // Audio from before the first picture is left out.
            if let Some(stamp) = stamp.filter(|_| time >= 0) {
                packet.shift(time - stamp);
                return Some(packet);
            }
        }
        None
    }

    /// Drops the waiting packets after the input was lost: their times cannot be mapped any more.
    pub fn clear(&mut self) {
        self.waiting.clear();
    }
}

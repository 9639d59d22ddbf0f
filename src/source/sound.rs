//! The sound that comes with the pictures of a live input: which streams there are, and when their packets are heard.

use super::clock::LiveClock;
use crate::ffmpeg::{MediaType, Packet, Rational, Stream, microseconds};
use std::collections::VecDeque;

/// Packets that wait at most for the first picture, before which nothing is heard.
const WAITING: usize = 1024;

/// The streams of sound of a live input, as they were when it was opened first. They are the streams of the output, too,
/// behind the pictures.
#[derive(Default)]
pub struct Sounds {
    streams: Vec<Stream>,
    /// Whose times are the input's still, in microseconds.
    waiting: VecDeque<Packet>,
}

/// Where the packets of one stream of an opened input go.
pub struct Hearing {
    /// The stream in the input.
    pub stream: usize,
    /// The stream in the output.
    to: usize,
    time_base: Rational,
}

impl Sounds {
    /// Those of `streams` that are sound.
    pub fn of(streams: &[Stream]) -> Self {
        let sounds = streams.iter().filter(|stream| stream.kind == MediaType::Audio && stream.is_known());
        Sounds { streams: sounds.cloned().collect(), waiting: VecDeque::new() }
    }

    /// The streams for the output, whose numbers begin at `first`, in microseconds.
    pub fn streams(&self, first: usize) -> Vec<Stream> {
        let numbered = self.streams.iter().cloned().enumerate();
        let ours = |(index, stream): (usize, Stream)| Stream {
            index: first + index,
            time_base: microseconds(),
            start: None,
            frames: None,
            ..stream
        };
        numbered.map(ours).collect()
    }

    /// Which streams of an input that has just been opened go on where those of the first time ended: those of the same
    /// codec, rate and channels. `first` is the number of the first one in the output.
    pub fn found_in(&self, streams: &[Stream], first: usize) -> Vec<Hearing> {
        let is_same = |a: &Stream, b: &Stream| a.codec == b.codec && a.sound() == b.sound();
        let mut free: Vec<&Stream> = streams.iter().filter(|stream| stream.kind == MediaType::Audio).collect();
        let mut found = Vec::new();
        for (index, known) in self.streams.iter().enumerate() {
            if let Some(place) = free.iter().position(|stream| is_same(stream, known)) {
                let stream = free.remove(place);
                found.push(Hearing { stream: stream.index, to: first + index, time_base: stream.time_base });
            }
        }
        found
    }

    /// Keeps a packet until it is [taken](Sounds::next).
    pub fn keep(&mut self, mut packet: Packet, hearing: &Hearing) {
        if self.waiting.len() == WAITING {
            self.waiting.pop_front();
        }
        packet.rescale(hearing.time_base, microseconds());
        packet.set_stream(hearing.to);
        self.waiting.push_back(packet);
    }

    /// The next packet, at its time by `clock`; `None` when there is none, or no picture yet.
    pub fn next(&mut self, clock: &LiveClock) -> Option<Packet> {
        while let Some(packet) = self.waiting.front() {
            let stamp = packet.time();
            let time = match stamp {
                Some(stamp) => clock.by_anchor(stamp)?,
                None => -1,
            };
            let mut packet = self.waiting.pop_front()?;
            // What was heard before the first picture is left out.
            if let Some(stamp) = stamp.filter(|_| time >= 0) {
                packet.shift(time - stamp);
                return Some(packet);
            }
        }
        None
    }

    /// The input is gone, and what was not placed in time cannot be any more.
    pub fn lost(&mut self) {
        self.waiting.clear();
    }
}

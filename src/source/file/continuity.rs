//! Times that go on where the clock of a broadcast jumps.
//!
//! Transport and program streams, and Ogg files in a chain, tell the time by a clock that starts again wherever two
//! recordings were joined. A step that is too large for a gap is taken for such a jump: whatever follows is moved so that
//! the stream in which it was found goes on as if nothing had been. The rule, and its ten seconds, are those of the ffmpeg
//! program (`-dts_delta_threshold`), but for a gap in one stream beside others that have none, which stays.

use crate::ffmpeg::{MediaType, Packet, Stream, microseconds, rescale};

/// A longer step in either direction is a jump of the clock, not a gap (microseconds).
const GAP: u64 = 10_000_000;

/// A step back of more than this is one, too (microseconds).
const BACK: i64 = 100_000;

/// A packet so near to where it is due by the clock before the last jump, and only by that, is one of that clock's
/// (microseconds).
const LEFT_OVER: u64 = 500_000;

/// Where each stream is in time, in microseconds, and how far everything has been moved.
#[derive(Default)]
pub struct Continuity {
    streams: Vec<Option<Position>>,
    /// The last decoding time of any stream.
    latest: Option<i64>,
    moved: i64,
    /// How far everything had been moved before the last jump. Packets of the clock before it may come behind some of the
    /// new one's.
    before: i64,
}

/// The last decoding time of a stream, and the one that should follow.
#[derive(Clone, Copy)]
struct Position {
    last: i64,
    due: i64,
}

impl Continuity {
    /// Moves `packet`, which is the next one of `stream`, to where it belongs. Answers with how far the clock has jumped
    /// if it did so just before it, in microseconds.
    pub fn follow(&mut self, packet: &mut Packet, stream: &Stream) -> Option<i64> {
        let in_microseconds = |time| rescale(time, stream.time_base, microseconds());
        let tells = matches!(stream.kind, MediaType::Video | MediaType::Audio) && !stream.is_attached_picture();
        let mut jump = None;
        if let Some(time) = packet.dts().map(in_microseconds).filter(|_| tells) {
            self.streams.resize(self.streams.len().max(stream.index + 1), None);
            let expected = self.streams[stream.index];
            if let Some(Position { due, .. }) = expected {
                let late = |moved: i64| time.saturating_add(moved).saturating_sub(due).unsigned_abs();
                if late(self.before) < LEFT_OVER && late(self.moved) >= LEFT_OVER {
                    let time = time.saturating_add(self.before);
                    let due = time.saturating_add(in_microseconds(packet.duration()));
                    self.streams[stream.index] = Some(Position { last: time, due });
                    packet.shift(rescale(self.before, microseconds(), stream.time_base));
                    return None;
                }
            }
            let time = time.saturating_add(self.moved);
            let due = expected.map(|position| position.due).or(self.latest).unwrap_or(time);
            let far = |from: i64| time.saturating_sub(from).unsigned_abs() > GAP;
            let steps_back = expected.is_some_and(|position| time.saturating_add(BACK) < position.last);
            // A gap in one stream is none in the others: where one of them is, the clock is.
            let mut others = self.streams.iter().enumerate().filter(|&(index, _)| index != stream.index);
            let alone = others.all(|(_, other)| other.is_none_or(|position| far(position.last)));
            let jumps = steps_back || far(due) && alone;
            jump = Some(time.saturating_sub(due)).filter(|_| jumps);
            let time = if jumps { due } else { time };
            if let Some(jump) = jump {
                self.before = self.moved;
                self.moved = self.moved.saturating_sub(jump);
            }
            let due = time.saturating_add(in_microseconds(packet.duration()));
            self.streams[stream.index] = Some(Position { last: time, due });
            self.latest = Some(time);
        }
        packet.shift(rescale(self.moved, microseconds(), stream.time_base));
        jump
    }
}

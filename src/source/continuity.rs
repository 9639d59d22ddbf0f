//! Times that go on where the clock of a broadcast jumps.
//!
//! Transport and program streams, and Ogg files in a chain, tell the time by a clock that begins anew wherever two
//! recordings were joined. A step that is too large for a gap is taken for such a jump: whatever follows is moved so that
//! the stream in which it was found goes on as if nothing had been. The rule, and its ten seconds, are those of the ffmpeg
//! program (`-dts_delta_threshold`).

use crate::ffmpeg::{Kind, Packet, Stream, microseconds, rescale};

/// A longer step in either direction is a jump of the clock, not a gap (microseconds).
const GAP: i64 = 10_000_000;

/// A step back of more than this is one, too (microseconds).
const BACK: i64 = 100_000;

/// Where each stream is in time, in microseconds, and how far everything has been moved.
#[derive(Default)]
pub struct Continuity {
    streams: Vec<Option<Position>>,
    /// The last decoding time of any stream.
    latest: Option<i64>,
    moved: i64,
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
        let tells = matches!(stream.kind, Kind::Video | Kind::Audio) && !stream.is_attached_picture();
        let mut jump = None;
        if let Some(time) = packet.dts().or(packet.pts()).map(in_microseconds).filter(|_| tells) {
            self.streams.resize(self.streams.len().max(stream.index + 1), None);
            let time = time + self.moved;
            let expected = self.streams[stream.index];
            let due = expected.map(|position| position.due).or(self.latest).unwrap_or(time);
            let steps_back = expected.is_some_and(|position| time + BACK < position.last);
            jump = Some(time - due).filter(|step| step.abs() > GAP || steps_back);
            let time = time - jump.unwrap_or(0);
            self.moved -= jump.unwrap_or(0);
            self.streams[stream.index] = Some(Position { last: time, due: time + in_microseconds(packet.duration()) });
            self.latest = Some(time);
        }
        packet.shift(rescale(self.moved, microseconds(), stream.time_base));
        jump
    }
}

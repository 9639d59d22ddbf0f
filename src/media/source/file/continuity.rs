//! Continuous times across jumps of a broadcast clock.
//!
//! In transport and program streams, and in chained Ogg files, the clock starts again wherever two recordings were
//! joined. A step of the clock that is too large for a gap is taken for such a jump: all later packets are shifted, so
//! that the stream with the jump continues without a gap. The rule and its ten seconds are those of the ffmpeg program
//! (`-dts_delta_threshold`), except that a gap in one stream stays if other streams have none.

use crate::ffmpeg::demux::Stream;
use crate::ffmpeg::{MediaType, Packet, microseconds, rescale};

/// A longer step in either direction is a jump of the clock, not a gap (microseconds).
const GAP: u64 = 10_000_000;

/// A longer step back is a jump, too (microseconds).
const BACK: i64 = 100_000;

/// A packet that fits the clock before the last jump within this time, and does not fit the current clock, belongs to
/// the clock before the jump (microseconds).
const LATE: u64 = 500_000;

/// The position of each stream, in microseconds, and the current shift.
#[derive(Default)]
pub struct Continuity {
    streams: Vec<Option<Position>>,
    /// The last decoding time of any stream.
    latest: Option<i64>,
    /// Microseconds that are added to all times.
    shift: i64,
    /// The shift before the last jump. Packets from before the jump may come after some from after it.
    shift_before_jump: i64,
}

/// The last decoding time of a stream, and the expected next one.
#[derive(Clone, Copy)]
struct Position {
    last: i64,
    due: i64,
}

impl Continuity {
    /// Shifts `packet`, the next one of `stream`. Returns the jump of the clock, in microseconds, if the clock has
    /// jumped just before this packet.
    pub fn follow(&mut self, packet: &mut Packet, stream: &Stream) -> Option<i64> {
        let in_microseconds = |time| rescale(time, stream.time_base, microseconds());
        let is_timed = matches!(stream.kind, MediaType::Video | MediaType::Audio) && !stream.is_attached_picture();
        let mut jump = None;
        if let Some(time) = packet.dts().map(in_microseconds).filter(|_| is_timed) {
            self.streams.resize(self.streams.len().max(stream.index + 1), None);
            let expected = self.streams[stream.index];
            if let Some(Position { due, .. }) = expected {
                let error = |shift: i64| time.saturating_add(shift).saturating_sub(due).unsigned_abs();
                if error(self.shift_before_jump) < LATE && error(self.shift) >= LATE {
                    let time = time.saturating_add(self.shift_before_jump);
                    let due = time.saturating_add(in_microseconds(packet.duration()));
                    self.streams[stream.index] = Some(Position { last: time, due });
                    packet.shift(rescale(self.shift_before_jump, microseconds(), stream.time_base));
                    return None;
                }
            }
            let time = time.saturating_add(self.shift);
            let due = expected.map(|position| position.due).or(self.latest).unwrap_or(time);
            let far = |start: i64| time.saturating_sub(start).unsigned_abs() > GAP;
            let steps_back = expected.is_some_and(|position| time.saturating_add(BACK) < position.last);
            // If another stream is near this time, this is a gap in one stream, not a jump of the clock.
            let mut rest = self.streams.iter().enumerate().filter(|&(index, _)| index != stream.index);
            let alone = rest.all(|(_, other)| other.is_none_or(|position| far(position.last)));
            let jumps = steps_back || far(due) && alone;
            jump = Some(time.saturating_sub(due)).filter(|_| jumps);
            let time = if jumps { due } else { time };
            if let Some(jump) = jump {
                self.shift_before_jump = self.shift;
                self.shift = self.shift.saturating_sub(jump);
            }
            let due = time.saturating_add(in_microseconds(packet.duration()));
            self.streams[stream.index] = Some(Position { last: time, due });
            self.latest = Some(time);
        }
        packet.shift(rescale(self.shift, microseconds(), stream.time_base));
        jump
    }
}

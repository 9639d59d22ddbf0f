//! The queue before an output: frames, of which the oldest is dropped when there are too many, and audio packets.

use super::{LiveOutput, QueuePolicy};
use crate::ffmpeg::Packet;
use crate::pipeline::Delivery;
use crate::sys::files::Name;
use histeq::internal::frame::Frame;
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The most frames that wait for a recording: two seconds at 30 Hz.
const RECORDING_WAITING: usize = 60;

/// The most frames that wait for a server: half a second at 30 Hz.
const NETWORK_WAITING: usize = 15;

/// The most audio packets that wait. Encoders make about 50 a second, so the output has stalled when there are this
/// many.
const SOUND_WAITING: usize = 4096;

/// A queue before an output.
pub(super) struct OutputQueue {
    pub(super) name: Name,
    /// Whether the output is a recording, which the user can pause.
    pub(super) is_recording: bool,
    state: Mutex<QueueState>,
    changed: Condvar,
}

struct QueueState {
    /// Frames and audio packets in the order of arrival.
    entries: VecDeque<QueueEntry>,
    frames: usize,
    most_frames: usize,
    dropped: u64,
    closed: bool,
}

enum QueueEntry {
    Frame(Frame),
    Sound(Packet),
}

impl OutputQueue {
    /// An empty queue for `output`.
    pub(super) fn before(output: &LiveOutput) -> Self {
        let most_frames = match output.queue_policy {
            QueuePolicy::Recording => RECORDING_WAITING,
            QueuePolicy::Network => NETWORK_WAITING,
            QueuePolicy::Stream => 1,
        };
        let state = QueueState { entries: VecDeque::new(), frames: 0, most_frames, dropped: 0, closed: false };
        let is_recording = output.queue_policy == QueuePolicy::Recording;
        OutputQueue { name: output.name.clone(), is_recording, state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Adds a frame; drops the oldest one if there are too many. After [`close`](Self::close), does nothing.
    pub(super) fn push(&self, frame: Frame) {
        let mut state = self.lock();
        if state.closed {
            return;
        }
        if state.frames == state.most_frames {
            state.drop_oldest(|entry| matches!(entry, QueueEntry::Frame(_)));
            state.frames -= 1;
            state.dropped += 1;
        }
        state.frames += 1;
        state.entries.push_back(QueueEntry::Frame(frame));
        self.changed.notify_one();
    }

    /// Adds an audio packet; drops the oldest one if there are too many.
    pub(super) fn push_sound(&self, packet: Packet) {
        let mut state = self.lock();
        if state.closed {
            return;
        }
        if state.entries.len() - state.frames == SOUND_WAITING {
            state.drop_oldest(|entry| matches!(entry, QueueEntry::Sound(_)));
        }
        state.entries.push_back(QueueEntry::Sound(packet));
        self.changed.notify_one();
    }

    /// Removes the oldest entry; waits if there is none. `None` if the queue is closed and empty.
    pub(super) fn pop(&self) -> Option<Delivery> {
        let nothing = |state: &mut QueueState| state.entries.is_empty() && !state.closed;
        let mut state = self.changed.wait_while(self.lock(), nothing).unwrap_or_else(PoisonError::into_inner);
        Some(match state.entries.pop_front()? {
            QueueEntry::Frame(frame) => {
                state.frames -= 1;
                Delivery { frame: Some(frame), ..Delivery::default() }
            }
            QueueEntry::Sound(packet) => Delivery { packets: vec![packet], ..Delivery::default() },
        })
    }

    /// Closes the queue to new entries; those in it can still be read.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    /// Number of dropped frames.
    pub(super) fn dropped(&self) -> u64 {
        self.lock().dropped
    }

    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl QueueState {
    fn drop_oldest(&mut self, matches: impl Fn(&QueueEntry) -> bool) {
        if let Some(index) = self.entries.iter().position(matches) {
            self.entries.remove(index);
        }
    }
}

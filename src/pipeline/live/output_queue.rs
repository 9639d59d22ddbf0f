//! What waits for an output: frames, of which the oldest makes room when there are too many, and sound, which never has to.

use super::{Output, QueuePolicy};
use crate::ffmpeg::Packet;
use crate::frame::Frame;
use crate::pipeline::Delivery;
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Frames that wait for a recording: two seconds of 30 a second.
const RECORDING_WAITING: usize = 60;

/// Frames that wait for a server: half a second.
const NETWORK_WAITING: usize = 15;

/// Packets of sound that wait at most. Coders make some 50 a second: this many say that the output has hung.
const SOUND_WAITING: usize = 4096;

/// A queue before an output.
pub(super) struct OutputQueue {
    pub(super) name: String,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    /// In the order in which they came.
    entries: VecDeque<Entry>,
    frames: usize,
    most_frames: usize,
    dropped: u64,
    closed: bool,
}

enum Entry {
    Frame(Frame),
    Sound(Packet),
}

impl OutputQueue {
    /// An empty queue before `output`.
    pub(super) fn before(output: &Output) -> Self {
        let most_frames = match output.queue_policy {
            QueuePolicy::Recording => RECORDING_WAITING,
            QueuePolicy::Network => NETWORK_WAITING,
            QueuePolicy::Stream => 1,
        };
        let state = State { entries: VecDeque::new(), frames: 0, most_frames, dropped: 0, closed: false };
        OutputQueue { name: output.name.clone(), state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Puts a frame in, at the cost of the oldest one if there is no room. What comes after the close is dropped.
    pub(super) fn push(&self, frame: Frame) {
        let mut state = self.lock();
        if state.closed {
            return;
        }
        if state.frames == state.most_frames {
            state.drop_oldest(|entry| matches!(entry, Entry::Frame(_)));
            state.frames -= 1;
            state.dropped += 1;
        }
        state.frames += 1;
        state.entries.push_back(Entry::Frame(frame));
        self.changed.notify_one();
    }

    /// Puts sound in.
    pub(super) fn push_sound(&self, packet: Packet) {
        let mut state = self.lock();
        if state.closed {
            return;
        }
        if state.entries.len() - state.frames == SOUND_WAITING {
            state.drop_oldest(|entry| matches!(entry, Entry::Sound(_)));
        }
        state.entries.push_back(Entry::Sound(packet));
        self.changed.notify_one();
    }

    /// The oldest entry, waiting for one until the queue is closed and empty.
    pub(super) fn pop(&self) -> Option<Delivery> {
        let nothing = |state: &mut State| state.entries.is_empty() && !state.closed;
        let mut state = self.changed.wait_while(self.lock(), nothing).unwrap_or_else(PoisonError::into_inner);
        Some(match state.entries.pop_front()? {
            Entry::Frame(frame) => {
                state.frames -= 1;
                Delivery { frame: Some(frame), ..Delivery::default() }
            }
            Entry::Sound(packet) => Delivery { packets: vec![packet], ..Delivery::default() },
        })
    }

    /// Takes nothing more; what is in it can still be had.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    /// How many frames had to make room.
    pub(super) fn dropped(&self) -> u64 {
        self.lock().dropped
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn drop_oldest(&mut self, is_one: impl Fn(&Entry) -> bool) {
        if let Some(index) = self.entries.iter().position(is_one) {
            self.entries.remove(index);
        }
    }
}

/// Closes the queue when it goes, whichever way that is.
pub(super) struct CloseAfter<'a>(pub(super) &'a OutputQueue);

impl Drop for CloseAfter<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}

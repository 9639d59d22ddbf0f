//! How far a run has come: counters that the stages advance and a display reads.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A part of the way of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Reading and decoding.
    Source,
    /// Equalizing.
    Equalize,
    /// Encoding and writing.
    Sink,
}

/// Counters of one run.
#[derive(Default)]
pub struct Progress {
    decoded: AtomicU64,
    written: AtomicU64,
    damaged: AtomicU64,
    position: AtomicI64,
    busy: [AtomicU64; 3],
}

impl Progress {
    /// Frames that came out of the source.
    pub fn decoded(&self) -> u64 {
        self.decoded.load(Ordering::Relaxed)
    }

    /// Frames that the sink has taken.
    pub fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    /// Frames and packets that were damaged.
    pub fn damaged(&self) -> u64 {
        self.damaged.load(Ordering::Relaxed)
    }

    /// Time of the last frame decoded since the beginning, in microseconds.
    pub fn position(&self) -> i64 {
        self.position.load(Ordering::Relaxed)
    }

    /// How long a stage has worked, as opposed to waited for its neighbours.
    pub fn busy(&self, stage: Stage) -> Duration {
        Duration::from_nanos(self.busy[stage as usize].load(Ordering::Relaxed))
    }

    /// A frame was decoded that lies at `position` microseconds.
    pub fn count_decoded(&self, position: i64) {
        self.decoded.fetch_add(1, Ordering::Relaxed);
        self.position.store(position, Ordering::Relaxed);
    }

    /// A frame or a packet was damaged.
    pub fn count_damaged(&self) {
        self.damaged.fetch_add(1, Ordering::Relaxed);
    }

    pub(in crate::pipeline) fn count_written(&self) {
        self.written.fetch_add(1, Ordering::Relaxed);
    }

    /// Runs `work` on account of `stage`.
    pub(in crate::pipeline) fn measure<T>(&self, stage: Stage, work: impl FnOnce() -> T) -> T {
        let begin = Instant::now();
        let result = work();
        self.busy[stage as usize].fetch_add(begin.elapsed().as_nanos() as u64, Ordering::Relaxed);
        result
    }
}

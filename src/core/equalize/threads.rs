//! Threads that take jobs from one queue.

use crossbeam_channel::{Sender, unbounded};
use std::thread::Builder;

/// Starts up to `threads` threads, as many as the system allows, and returns how many run. They end when the queue is
/// dropped.
pub fn start<J: Send + 'static>(name: &str, threads: usize, run: fn(J)) -> (Sender<J>, usize) {
    let (jobs, queued) = unbounded::<J>();
    let start = |_: &usize| {
        let queued = queued.clone();
        Builder::new().name(name.to_owned()).spawn(move || queued.iter().for_each(run)).is_ok()
    };
    let started = (0..threads).filter(start).count();
    (jobs, started)
}

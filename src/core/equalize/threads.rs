//! Threads that take jobs from one queue.

use crossbeam_channel::{Sender, unbounded};
use std::thread::Builder;

/// Starts as many threads as the system gives, of this many, and says how many run. They end when the queue is dropped.
pub fn start<J: Send + 'static>(name: &str, threads: usize, run: fn(J)) -> (Sender<J>, usize) {
    let (jobs, queued) = unbounded::<J>();
    let start = |_: &usize| {
        let queued = queued.clone();
        Builder::new().name(name.to_owned()).spawn(move || queued.iter().for_each(run)).is_ok()
    };
    let started = (0..threads).filter(start).count();
    (jobs, started)
}

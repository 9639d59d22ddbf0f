//! Several live runs at the same time.

use super::engine::TICK;
use crate::pipeline::threads::start;
use anyhow::Result;
use crossbeam_channel::{RecvTimeoutError, unbounded};
use std::thread::scope;

/// Does each of `works` on a thread of its own, until all have ended: one that ends or fails leaves the others alone.
/// `ended` gets the index and the result of each as soon as it has ended. Calls `tick` every 100 ms. Both are called on
/// this thread.
pub fn run_several<T: Send>(
    works: impl IntoIterator<Item = impl FnOnce() -> Result<T> + Send>,
    mut ended: impl FnMut(usize, Result<T>),
    mut tick: impl FnMut(),
) {
    scope(|scope| {
        let (results, received) = unbounded();
        for (index, work) in works.into_iter().enumerate() {
            let results = results.clone();
            // The receiver outlives the threads.
            let work = move || results.send((index, work())).unwrap_or_default();
            if let Err(error) = start(scope, "source", &|| (), work) {
                ended(index, Err(error));
            }
        }
        drop(results);
        loop {
            match received.recv_timeout(TICK) {
                Ok((index, result)) => ended(index, result),
                Err(RecvTimeoutError::Timeout) => tick(),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
    });
}

//! Writes a growing recording to the disk every second, so that it survives a power cut except for its last seconds.

use crate::sys::files::{Name, open_regular};
use crossbeam_channel::{RecvTimeoutError, Sender, bounded};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// The time between two writes to the disk.
const SYNC_INTERVAL: Duration = Duration::from_secs(1);

/// Syncs a file to its disk at intervals, on a separate thread, until it is dropped.
pub struct PeriodicSync {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl PeriodicSync {
    /// Starts syncing the file `name`, if that is a regular file.
    pub fn begin(name: &Name) -> Option<Self> {
        let file = open_regular(name).ok()?;
        let (stop, stopped) = bounded(0);
        let sync = move || {
            while stopped.recv_timeout(SYNC_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                // If the disk fails, writing the recording fails, too, and reports the error.
                let _ = file.sync_data();
            }
        };
        let thread = Builder::new().name("disk".to_owned()).spawn(sync).ok()?;
        Some(PeriodicSync { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for PeriodicSync {
    fn drop(&mut self) {
        drop(self.stop.take());
        // The thread has no result.
        self.thread.take().map(JoinHandle::join);
    }
}

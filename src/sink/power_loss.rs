//! Sees to it that a recording which is being written outlives a power cut, but for its last seconds.

use crossbeam_channel::{RecvTimeoutError, Sender, bounded};
use std::fs::File;
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// How often what has been written goes to the disk.
const OFTEN: Duration = Duration::from_secs(1);

/// Has the system write a file to its disk again and again, on a thread of its own, until this is dropped.
pub struct PeriodicSync {
    over: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl PeriodicSync {
    /// For the regular file of this name, if there is one.
    pub fn begin(name: &str) -> Option<Self> {
        let file = File::open(name).ok().filter(|file| file.metadata().is_ok_and(|data| data.is_file()))?;
        let (over, ended) = bounded(0);
        let sync = move || {
            while ended.recv_timeout(OFTEN) == Err(RecvTimeoutError::Timeout) {
                // A disk that fails fails the recording, too, which says so.
                let _ = file.sync_data();
            }
        };
        let thread = Builder::new().name("disk".to_owned()).spawn(sync).ok()?;
        Some(PeriodicSync { over: Some(over), thread: Some(thread) })
    }
}

impl Drop for PeriodicSync {
    fn drop(&mut self) {
        drop(self.over.take());
        // It has nothing to say.
        self.thread.take().map(JoinHandle::join);
    }
}

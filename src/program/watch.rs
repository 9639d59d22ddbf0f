//! Watches the memory of the whole process: FFmpeg and its libraries take memory that is not counted as that of frames,
//! and a hostile input can make them take any amount. Ends a run that takes more than it may.

use crate::options::reading::RunLimits;
use crate::report::Console;
use crate::stdout;
use anyhow::{Error, Result};
use crossbeam_channel::{RecvTimeoutError, Sender, bounded};
use histeq::Limits;
use histeq_media::pipeline::FailureKind;
use histeq_media::sink::files::Leftover;
use histeq_media::sys::{Resident, no_thread};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// What the process may take beside the memory for frames: its code, its libraries, its threads, packets, descriptions.
const BESIDES: usize = 512 << 20;

/// No process takes memory faster than this many bytes a second.
const FASTEST: f64 = 8e9;

/// The shortest and the longest pause between two checks.
const PAUSES: [Duration; 2] = [Duration::from_millis(5), Duration::from_millis(250)];

/// How long printing the error may take.
const REPORTING: Duration = Duration::from_secs(1);

/// The memory limit of the process, and a counter of its memory.
#[derive(Clone)]
pub struct ProcessMemory {
    /// Memory in use; `None` where the system does not report it.
    resident: Option<Arc<Resident>>,
    /// The limits of the frames.
    pub limits: Limits,
    at_least: usize,
    /// How many videos are worked on at the same time.
    videos: Arc<AtomicUsize>,
}

impl ProcessMemory {
    /// Has the process keep to `limits` from now on. Call it before the process closes its sandbox.
    pub fn new(limits: &RunLimits) -> Self {
        // Without `--max-memory`, a run may take nearly all available memory.
        let (limits, available) = limits.begin();
        let at_least = available.map_or(0, |available| available - available / 16);
        ProcessMemory { resident: Resident::open().map(Arc::new), limits, at_least, videos: Arc::new(1.into()) }
    }

    /// From now on, this many videos are worked on at the same time.
    pub fn set_videos(&self, count: usize) {
        self.videos.store(count, Ordering::Relaxed);
    }

    /// The memory limit in bytes: that of frames, and a share for everything else.
    fn most(&self) -> usize {
        let share =
            self.limits.share_of_codecs().saturating_mul(self.videos.load(Ordering::Relaxed)).saturating_add(BESIDES);
        self.limits.memory().saturating_add(share).max(self.at_least)
    }

    /// Watches the memory until the result is dropped. If the process takes more than the limit, the files `temporary`
    /// are removed and the program ends.
    pub fn watch(&self, console: &Console, temporary: Vec<Leftover>) -> Result<Watch> {
        let Some(resident) = self.resident.clone() else { return Ok(Watch(None)) };
        let (memory, console) = (self.clone(), console.clone());
        let (end, ended) = bounded::<()>(0);
        let work = move || {
            let mut pause = PAUSES[0];
            while ended.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                let (Some(taken), most) = (resident.bytes(), memory.most()) else { return };
                let Some(left) = most.checked_sub(taken) else {
                    temporary.iter().for_each(Leftover::remove);
                    let error = memory.exceeded(taken, most);
                    let (reported, wait) = bounded::<()>(0);
                    // A thread prints the error: stderr may be a full pipe, and memory keeps growing meanwhile.
                    let report = move || {
                        console.error(&error);
                        console.end(FailureKind::Limit.exit_code());
                        drop(reported);
                    };
                    if Builder::new().spawn(report).is_ok() {
                        let _ = wait.recv_timeout(REPORTING);
                    }
                    stdout::leave(FailureKind::Limit.exit_code());
                };
                pause = Duration::from_secs_f64(left as f64 / FASTEST).clamp(PAUSES[0], PAUSES[1]);
            }
        };
        let thread = Builder::new().name("memory".to_owned()).spawn(work).map_err(|error| no_thread(&error))?;
        Ok(Watch(Some((end, thread))))
    }

    fn exceeded(&self, taken: usize, most: usize) -> Error {
        let mib = |bytes: usize| bytes >> 20;
        FailureKind::Limit.error(format!(
            "the process has taken {} MiB, more than the {} MiB that it may: {} of --max-memory, and the share of \
             everything else (give more with --max-memory if you know the input)",
            mib(taken),
            mib(most),
            mib(self.limits.memory())
        ))
    }
}

/// Watches the memory of the process until it is dropped.
pub struct Watch(Option<(Sender<()>, JoinHandle<()>)>);

impl Watch {
    /// Watches to the end of the process.
    pub fn go_on(mut self) {
        std::mem::forget(self.0.take());
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some((end, thread)) = self.0.take() {
            drop(end);
            // The thread ends by itself, or ends the process.
            let _ = thread.join();
        }
    }
}

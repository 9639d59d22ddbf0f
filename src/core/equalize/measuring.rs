//! Measures frames on threads of its own. The results come out in the order in which the frames went in.

use super::{Mask, Work, measure};
use crate::spec::Measure;
use crate::{Error, Result};
use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use std::collections::VecDeque;
use std::sync::Arc;
use std::thread::Builder;

/// Frames that are being measured.
#[derive(Default)]
pub(super) struct Measuring {
    /// `None` where frames are measured as they come.
    jobs: Option<Sender<Job>>,
    /// The most frames that are measured at once.
    most: usize,
    /// Oldest first.
    begun: VecDeque<(Work, Receiver<Result<Measure>>)>,
}

struct Job {
    work: Work,
    mask: Option<Arc<Mask>>,
    done: Sender<Result<Measure>>,
}

impl Measuring {
    /// On this many threads: with 0, or where the system starts none, on that of the caller.
    pub fn on_threads(threads: usize) -> Self {
        let (jobs, queued) = unbounded::<Job>();
        let start = |_: &usize| {
            let queued = queued.clone();
            let run = move || queued.iter().for_each(Job::run);
            Builder::new().name("measure".to_owned()).spawn(run).is_ok()
        };
        // The threads end when this is dropped.
        let started = (0..threads).filter(start).count();
        Measuring { jobs: (started > 0).then_some(jobs), most: 2 * started, begun: VecDeque::new() }
    }

    /// Begins to measure the frame of `work`.
    pub fn begin(&mut self, work: Work, mask: Option<Arc<Mask>>) {
        let (done, measured) = bounded(1);
        let job = Job { work: work.clone(), mask, done };
        // A frame on a GPU is measured on one thread, in the order in which the GPU works.
        let on_device = work.frame().planes().iter().any(|plane| plane.on_device().is_some());
        match self.jobs.as_ref().filter(|_| !on_device) {
            // If the threads have ended, the job is dropped, and the wait for it fails.
            Some(jobs) => drop(jobs.send(job)),
            None => job.run(),
        }
        self.begun.push_back((work, measured));
    }

    /// The number of frames that have not been taken.
    pub fn len(&self) -> usize {
        self.begun.len()
    }

    /// The oldest frame, if it is measured; waits for it if that many are begun as may be.
    ///
    /// # Errors
    /// When the frame could not be measured.
    pub fn next(&mut self) -> Result<Option<(Work, Measure)>> {
        if self.begun.len() > self.most || self.begun.front().is_some_and(|(_, measured)| !measured.is_empty()) {
            return self.wait();
        }
        Ok(None)
    }

    /// The oldest frame, when it is measured; `None` if there is none.
    ///
    /// # Errors
    /// When the frame could not be measured.
    pub fn wait(&mut self) -> Result<Option<(Work, Measure)>> {
        let Some((work, measured)) = self.begun.pop_front() else { return Ok(None) };
        let measure = measured.recv().map_err(|_| Error::Worker("a thread that measures has ended".to_owned()))?;
        Ok(Some((work, measure?)))
    }
}

impl Job {
    fn run(self) {
        let measured = measure(self.work.frame(), self.work.counted(), self.mask.as_deref());
        let measured = measured.map(|measure| measure.with_correction(self.work.settings()));
        // The receiver is gone when the run has ended.
        let _ = self.done.send(measured);
    }
}

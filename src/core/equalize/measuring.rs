//! Measures frames on several threads, and decides their guides on one more. The guides come out in the order in which
//! the frames went in.

use super::counting::measure;
use super::{Work, threads};
use crate::spec::parameters::Settings;
use crate::spec::{Guide, Guides, Measure};
use crate::{Error, Result};
use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Builder;

/// Frames that are being measured and decided on.
#[derive(Default)]
pub(super) struct Measuring {
    /// `None` if the thread of the caller measures and decides.
    threads: Option<Threads>,
    /// Decides the guides if there are no threads.
    guides: Guides,
    /// Frames, oldest first, with the guides that can be decided once the frame is measured: those of earlier frames,
    /// or its own.
    begun: VecDeque<(Work, Receiver<Result<Vec<Guide>>>)>,
}

struct Threads {
    jobs: Sender<MeasureJob>,
    cases: Sender<Case>,
    /// The most frames that are measured at once.
    most: usize,
    /// Whether the last frame that was decided on was not corrected by all of its points.
    corrects_by_part: Arc<AtomicBool>,
}

struct MeasureJob {
    work: Work,
    done: Sender<Result<Measure>>,
    /// Whether to compute the correction by all points, which takes no time in the decisions then.
    corrects: bool,
}

/// The subject of a decision: a frame, or the end of the video.
struct Case {
    frame: Option<(Receiver<Result<Measure>>, Settings)>,
    decided: Sender<Result<Vec<Guide>>>,
}

impl Measuring {
    /// Measures on this many threads and decides on one more; with 0, or if the system refuses threads, on the
    /// caller's.
    pub fn on_threads(count: usize) -> Self {
        let (jobs, started) = threads::start("measure", count, MeasureJob::run);
        let (cases, in_order) = unbounded::<Case>();
        let corrects_by_part = Arc::new(AtomicBool::new(false));
        let by_part = corrects_by_part.clone();
        let decide = move || {
            let mut guides = Guides::default();
            for case in in_order {
                case.decide(&mut guides);
                by_part.store(guides.corrects_by_part(), Ordering::Relaxed);
            }
        };
        let decides = started > 0 && Builder::new().name("guides".to_owned()).spawn(decide).is_ok();
        let threads = decides.then_some(Threads { jobs, cases, most: 2 * started, corrects_by_part });
        Measuring { threads, ..Measuring::default() }
    }

    /// Begins to measure the frame of `work`, and to decide the guides that need no later frame.
    pub fn begin(&mut self, work: Work) {
        let (done, measured) = bounded(1);
        let corrects = self.threads.as_ref().is_some_and(|threads| !threads.corrects_by_part.load(Ordering::Relaxed));
        let job = MeasureJob { work: work.clone(), done, corrects };
        // A frame on a GPU is measured on one thread, in the order in which the GPU works.
        let on_device = work.frame().planes().iter().any(|plane| plane.on_device().is_some());
        match self.threads.as_ref().filter(|_| !on_device) {
            // If the threads have ended, the job is dropped, and the wait for it fails.
            Some(threads) => drop(threads.jobs.send(job)),
            None => job.run(),
        }
        let decided = self.decide(Some((measured, *work.settings())));
        self.begun.push_back((work, decided));
    }

    /// Decides on a frame, or if `frame` is `None`, on the end of the video.
    fn decide(&mut self, frame: Option<(Receiver<Result<Measure>>, Settings)>) -> Receiver<Result<Vec<Guide>>> {
        let (decided, guides) = bounded(1);
        let case = Case { frame, decided };
        match &self.threads {
            Some(threads) => drop(threads.cases.send(case)),
            None => case.decide(&mut self.guides),
        }
        guides
    }

    /// The number of frames that [`next`](Self::next) and [`wait`](Self::wait) have not returned yet.
    pub fn len(&self) -> usize {
        self.begun.len()
    }

    /// The oldest frame with the guides that can be decided once it is measured, if they are; waits for the guides if
    /// more frames have begun than may be measured at once.
    ///
    /// # Errors
    /// When the frame could not be measured.
    pub fn next(&mut self) -> Result<Option<(Work, Vec<Guide>)>> {
        let most = self.threads.as_ref().map_or(0, |threads| threads.most);
        if self.begun.len() > most || self.begun.front().is_some_and(|(_, decided)| !decided.is_empty()) {
            return self.wait();
        }
        Ok(None)
    }

    /// Waits for the oldest frame with the guides that can be decided once it is measured; `None` if there is no frame.
    ///
    /// # Errors
    /// When the frame could not be measured.
    pub fn wait(&mut self) -> Result<Option<(Work, Vec<Guide>)>> {
        let Some((work, decided)) = self.begun.pop_front() else { return Ok(None) };
        Ok(Some((work, received(&decided)?)))
    }

    /// Ends the video, after [`wait`](Self::wait) has returned all frames. Returns the guides of frames that have none
    /// yet.
    ///
    /// # Errors
    /// When the thread that decides has ended.
    pub fn finish(&mut self) -> Result<Vec<Guide>> {
        received(&self.decide(None))
    }
}

/// Waits for the result of a thread.
fn received<T>(source: &Receiver<Result<T>>) -> Result<T> {
    source.recv().map_err(|_| Error::Worker("a thread that measures has ended".to_owned()))?
}

impl Case {
    fn decide(self, guides: &mut Guides) {
        let decided = match self.frame {
            Some((measured, settings)) => received(&measured).map(|measure| guides.push(measure, &settings)),
            None => Ok(guides.finish()),
        };
        // The receiver is gone when the run has ended.
        let _ = self.decided.send(decided);
    }
}

impl MeasureJob {
    fn run(self) {
        let measured = measure(self.work.frame(), self.work.counted(), self.work.mask().map(Arc::as_ref));
        let corrected =
            |measure: Measure| if self.corrects { measure.with_correction(self.work.settings()) } else { measure };
        let measured = measured.map(corrected);
        // The receiver is gone when the run has ended.
        let _ = self.done.send(measured);
    }
}

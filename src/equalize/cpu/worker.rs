//! The life of a thread of the CPU backend.

use super::engine::Engine;
use super::turnstile::{Closed, Turnstile};
use crate::equalize::{counted, tiles, whole};
use crate::frame::Frame;
use crate::spec::clahe::{TileCurves, Tiles};
use crate::spec::{Equalization, Settings};
use crossbeam_channel::{Receiver, Sender};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;

/// A frame to equalize, and its place in the video.
pub struct Job {
    /// Counted from 0.
    pub ticket: u64,
    /// As it came.
    pub frame: Frame,
    /// How it is equalized.
    pub settings: Settings,
}

/// What became of it.
pub struct Done {
    /// That of the job.
    pub ticket: u64,
    /// The equalized frame, or in one line why there is none.
    pub frame: Result<Frame, String>,
}

/// What a thread works with.
pub struct Worker {
    /// Its kernels and its memory.
    pub engine: Engine,
    /// Shared by all.
    pub turnstile: Arc<Turnstile<Equalization>>,
}

impl Worker {
    /// Starts a thread that takes jobs until there are no more, or until it has to give up.
    pub fn spawn(mut self, jobs: Receiver<Job>, results: Sender<Done>) -> JoinHandle<()> {
        std::thread::spawn(move || {
            for job in jobs {
                let ticket = job.ticket;
                let Some(frame) = self.equalize_or_explain(&job) else { break };
                let failed = frame.is_err();
                // Nobody listens when the backend is being dropped.
                if results.send(Done { ticket, frame }).is_err() || failed {
                    break;
                }
            }
        })
    }

    /// The equalized frame, or why there is none; `None` when somebody else has to say why.
    ///
    /// A panic, wherever it comes from, ends this thread's work, and through the turnstile that of all others, whose
    /// frames would wait for ours for ever.
    fn equalize_or_explain(&mut self, job: &Job) -> Option<Result<Frame, String>> {
        // Unwind safety: after a panic nothing of the engine is used again.
        match catch_unwind(AssertUnwindSafe(|| self.equalize(job))) {
            Ok(Ok(frame)) => Some(Ok(frame)),
            Ok(Err(Closed)) => None,
            Err(panic) => {
                self.turnstile.close();
                Some(Err(format!("the equalizer panicked at frame {}: {}", job.ticket, message(&*panic))))
            }
        }
    }

    fn equalize(&mut self, job: &Job) -> Result<Frame, Closed> {
        match tiles(&job.frame, job.settings.method) {
            None => self.equalize_whole(job),
            Some(tiles) => self.equalize_tiles(job, tiles),
        }
    }

    fn equalize_whole(&mut self, Job { ticket, frame, settings }: &Job) -> Result<Frame, Closed> {
        let histogram = self.engine.histogram(frame, counted(frame, settings.region));
        let step = self.turnstile.pass(*ticket, |equalization| {
            set(equalization, settings);
            equalization.next(&histogram)
        })?;
        Ok(self.engine.map(frame, &step.curve, settings.chroma))
    }

    fn equalize_tiles(&mut self, Job { ticket, frame, settings }: &Job, tiles: Tiles) -> Result<Frame, Closed> {
        let counts = self.engine.tile_histograms(frame, tiles, settings.bins);
        // A window of one frame holds that frame, wherever scenes are cut: nobody asks for the whole histogram.
        let alone = settings.smoothing.frames() == 1;
        let whole = (!alone).then(|| self.engine.histogram(frame, whole(frame)));
        let window = self.turnstile.pass(*ticket, |equalization| {
            set(equalization, settings);
            match &whole {
                Some(whole) => equalization.next_tiles(whole, &counts).window,
                None => counts,
            }
        })?;
        Ok(self.engine.map_tiles(frame, &TileCurves::equalizing(&window, settings), settings.chroma))
    }
}

fn set(equalization: &mut Equalization, settings: &Settings) {
    if settings != equalization.settings() {
        equalization.set(*settings);
    }
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("no message").lines().collect::<Vec<_>>().join(" ")
}

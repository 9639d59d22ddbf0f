//! The life of a thread of the CPU backend.

use super::engine::Engine;
use super::in_order::{Closed, InOrder};
use crate::equalize::{tiles, whole};
use crate::frame::Frame;
use crate::spec::clahe::{TileCurves, TileHistograms, Tiles};
use crate::spec::{Curve, Equalization, LookAhead, Rect, Settings};
use crossbeam_channel::{Receiver, Sender};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

/// Something to do, and its place among all that there is to do.
pub struct Job {
    /// Counted from 0.
    pub ticket: u64,
    /// What it is.
    pub task: Task,
}

/// What there is to do.
pub enum Task {
    /// To take a frame in, and to equalize the one that has waited long enough for it.
    Next(Box<Next>),
    /// To take a frame in, and no more.
    WarmUp(Box<Next>),
    /// To equalize the oldest frame that waits for others, of which there will be none.
    Rest,
}

/// A frame to take in.
pub struct Next {
    /// Its place in the video, counted from 0.
    pub number: u64,
    /// As it came.
    pub frame: Frame,
    /// How it is equalized.
    pub settings: Settings,
    /// The part of it that is counted.
    pub counted: Rect,
    /// The curve that it gets in place of its own.
    pub curve: Option<Arc<Curve>>,
}

/// What became of a frame.
pub struct Done {
    /// Its place in the video.
    pub number: u64,
    /// The equalized frame, or in one line why there is none.
    pub frame: Result<Frame, String>,
}

/// What all threads share: the one thing that is done frame by frame.
pub struct Shared {
    equalization: Equalization,
    look_ahead: LookAhead<Waiting, Mapping>,
}

impl Shared {
    /// Nothing seen so far.
    pub fn new(settings: Settings) -> Self {
        let look_ahead = LookAhead::new(settings.smoothing.ahead());
        Shared { equalization: Equalization::new(settings), look_ahead }
    }
}

/// A frame that may have to wait for later ones.
struct Waiting {
    number: u64,
    frame: Frame,
    settings: Settings,
}

/// What frames are sent through; several may share it.
#[derive(Clone)]
enum Mapping {
    Curve(Arc<Curve>),
    /// The curves of tiles are made of it, which needs no order.
    Tiles(Arc<TileHistograms>),
}

/// What a thread works with.
pub struct Worker {
    /// Its kernels and its memory.
    pub engine: Engine,
    /// Shared by all.
    pub in_order: Arc<InOrder<Shared>>,
}

impl Worker {
    /// Starts a thread that takes jobs until there are no more, or until it has to give up.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn spawn(mut self, jobs: Receiver<Job>, results: Sender<Done>) -> std::io::Result<JoinHandle<()>> {
        Builder::new().name("cpu".to_owned()).spawn(move || {
            for job in jobs {
                let Some(done) = self.work_or_explain(job) else { break };
                let Some(done) = done else { continue };
                let failed = done.frame.is_err();
                // Nobody listens when the backend is being dropped.
                if results.send(done).is_err() || failed {
                    break;
                }
            }
        })
    }

    /// The frame that is equalized, if one is, or why none is; `None` when somebody else has to say why.
    ///
    /// A panic, wherever it comes from, ends this thread's work, and through the ordered section that of all others, whose
    /// frames would wait for ours for ever.
    fn work_or_explain(&mut self, job: Job) -> Option<Option<Done>> {
        let number = if let Task::Next(next) = &job.task { next.number } else { job.ticket };
        // Unwind safety: after a panic nothing of the engine is used again.
        match catch_unwind(AssertUnwindSafe(|| self.work(job))) {
            Ok(Ok(done)) => Some(done),
            Ok(Err(Closed)) => None,
            Err(panic) => {
                self.in_order.close();
                let failure = format!("the equalizer panicked at frame {number}: {}", message(&*panic));
                Some(Some(Done { number, frame: Err(failure) }))
            }
        }
    }

    fn work(&mut self, Job { ticket, task }: Job) -> Result<Option<Done>, Closed> {
        let ready = match task {
            Task::Next(next) => self.take(ticket, *next, LookAhead::push)?,
            Task::WarmUp(next) => self.take(ticket, *next, |_, _, _, _| None)?,
            Task::Rest => self.in_order.pass(ticket, |shared| shared.look_ahead.pop())?,
        };
        Ok(ready.map(|(Waiting { number, frame, settings }, mapping)| {
            let frame = match mapping {
                Mapping::Curve(curve) => self.engine.map(&frame, &curve, settings.chroma),
                Mapping::Tiles(window) => {
                    self.engine.map_tiles(&frame, &TileCurves::equalizing(&window, &settings), settings.chroma)
                }
            };
            Done { number, frame: Ok(frame) }
        }))
    }

    /// Takes a frame in, in its turn; `then` says what becomes of it.
    fn take(&mut self, ticket: u64, next: Next, then: Then) -> Result<Option<Ready>, Closed> {
        let Next { number, frame, settings, counted, curve } = next;
        let waiting = Waiting { number, frame, settings };
        if let Some(curve) = curve {
            self.in_order.pass(ticket, |_| ())?;
            return Ok(Some((waiting, Mapping::Curve(curve))));
        }
        match tiles(&waiting.frame, settings.method) {
            None => self.take_whole(ticket, waiting, counted, then),
            Some(tiles) => self.take_tiles(ticket, waiting, tiles, then),
        }
    }

    fn take_whole(
        &mut self,
        ticket: u64,
        waiting: Waiting,
        counted: Rect,
        then: Then,
    ) -> Result<Option<Ready>, Closed> {
        let histogram = self.engine.histogram(&waiting.frame, counted);
        self.in_order.pass(ticket, |Shared { equalization, look_ahead }| {
            set(equalization, &waiting.settings);
            let step = equalization.next(&histogram, (waiting.frame.width(), waiting.frame.height()));
            then(look_ahead, step.turn.scene, waiting, Mapping::Curve(step.curve.into()))
        })
    }

    fn take_tiles(&mut self, ticket: u64, waiting: Waiting, tiles: Tiles, then: Then) -> Result<Option<Ready>, Closed> {
        let counts = self.engine.tile_histograms(&waiting.frame, tiles, waiting.settings.bins);
        // A window of one frame holds that frame, wherever scenes are cut: nobody asks for the whole histogram.
        let alone = waiting.settings.smoothing.frames() == 1;
        let whole = (!alone).then(|| self.engine.histogram(&waiting.frame, whole(&waiting.frame)));
        self.in_order.pass(ticket, |Shared { equalization, look_ahead }| {
            set(equalization, &waiting.settings);
            let (scene, window) = match &whole {
                Some(whole) => {
                    let step = equalization.next_tiles(whole, &counts);
                    (step.turn.scene, step.window)
                }
                None => (0, counts),
            };
            then(look_ahead, scene, waiting, Mapping::Tiles(window.into()))
        })
    }
}

/// A frame that has waited long enough, and what it is sent through.
type Ready = (Waiting, Mapping);

/// What becomes of a frame of a scene that would be sent through this, if it waited for no other.
type Then = fn(&mut LookAhead<Waiting, Mapping>, u64, Waiting, Mapping) -> Option<Ready>;

fn set(equalization: &mut Equalization, settings: &Settings) {
    if settings != equalization.settings() {
        equalization.set(*settings);
    }
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("no message").lines().collect::<Vec<_>>().join(" ")
}

//! Runs a camera until it is over or somebody asks for the end: then every frame that an output has taken is written,
//! and every output finished.

use super::{Dial, Latency, Newest, Popped};
use crate::equalize::Equalizer;
use crate::frame::{Frame, Pool};
use crate::pipeline::engine::joined;
use crate::pipeline::{Cancel, Delivery, Outcome, Progress, ReaderGone, Sink, Stage};
use anyhow::Result;
use crossbeam_channel::{RecvTimeoutError, TryRecvError, bounded};
use std::collections::VecDeque;
use std::sync::Arc;
use std::thread::{Builder, scope};
use std::time::{Duration, Instant};

/// How often the display is brought up to date where no frames do that.
const TICK: Duration = Duration::from_millis(100);

/// How long the viewer waits for a frame before it looks at keys again.
const KEYS: Duration = Duration::from_millis(10);

/// Frames that wait for the equalizer when somebody wants all of them: enough for the burst with which a camera opens.
const ALL_WAITING: usize = 8;

/// Frames that wait for a recording: two seconds of 30 a second.
const RECORDING_WAITING: usize = 60;

/// A frame and when it was read from the camera.
pub struct Captured {
    /// The frame.
    pub frame: Frame,
    /// When its last byte was read, before it was decoded.
    pub at: Instant,
}

/// Where live frames come from.
pub trait Camera: Send {
    /// The next frame, `None` when there will be no more.
    ///
    /// # Errors
    /// When the camera is lost for good.
    fn next(&mut self) -> Result<Option<Captured>>;

    /// Puts frames into this memory from now on, if it is free to choose.
    fn use_pool(&mut self, _pool: Arc<dyn Pool>) {}
}

/// A frame for the viewer.
pub struct Shown {
    /// As the camera filmed it.
    pub original: Frame,
    /// What became of it.
    pub equalized: Frame,
    /// How many frames were equalized before it.
    pub number: u64,
}

/// What the viewer wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// The next frame.
    GoOn,
    /// The end.
    End,
}

/// How the run is doing, for the viewer's status line.
#[derive(Clone, Copy, Debug, Default)]
pub struct Status {
    /// Frames shown in the last second.
    pub fps: f64,
    /// From capture to shown, 95th percentile of the last second.
    pub latency: Option<Duration>,
    /// Frames that nobody had time to equalize.
    pub dropped: u64,
    /// Frames that an output had no time for.
    pub unwritten: u64,
}

/// Shows frames, on the thread that runs the engine: windows want to be on the main thread.
pub trait Viewer {
    /// Shows the frame, if there is a new one, and looks at the keys.
    ///
    /// # Errors
    /// When it cannot be shown.
    fn show(&mut self, frame: Option<Shown>, status: &Status) -> Result<Wish>;
}

/// How many frames may wait for an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// Sixty, so that a recording has every frame.
    Recording,
    /// One: whoever looks at it wants to see now.
    Stream,
}

/// Where frames go beside the viewer.
pub struct Output {
    /// How messages name it.
    pub name: String,
    /// What writes it.
    pub sink: Box<dyn Sink>,
    /// How many frames may wait for it.
    pub patience: Patience,
}

/// What an output came to.
#[derive(Clone, Debug)]
pub struct Written {
    /// How messages name it.
    pub name: String,
    /// Frames written.
    pub frames: u64,
    /// Frames that it had no time for.
    pub dropped: u64,
}

/// What a run came to.
#[derive(Clone)]
pub struct Tally {
    /// How long it took.
    pub elapsed: Duration,
    /// What equalized, by its own name.
    pub equalizer: String,
    /// Frames that nobody had time to equalize.
    pub dropped: u64,
    /// From capture to shown, or to equalized where there is no viewer.
    pub latency: Latency,
    /// Frames shown, if there was a viewer.
    pub shown: Option<u64>,
    /// The outputs, in their order.
    pub outputs: Vec<Written>,
}

/// A queue before an output.
struct Lane {
    name: String,
    queue: Newest<Frame>,
}

/// What takes part in a run.
pub struct Cast<'a> {
    /// Where frames come from.
    pub camera: Box<dyn Camera>,
    /// What equalizes, with the settings at which the dial stands.
    pub equalizer: Box<dyn Equalizer>,
    /// What the user turns.
    pub dial: &'a Dial,
    /// Where frames go beside the viewer.
    pub outputs: Vec<Output>,
    /// What shows them.
    pub viewer: Option<&'a mut dyn Viewer>,
}

/// Runs camera, equalizer, viewer and outputs to the end, calling `tick` now and then on the calling thread.
///
/// # Errors
/// The first error of camera, equalizer, outputs, viewer, in this order; outputs that did not fail are finished all
/// the same.
pub fn run(cast: Cast<'_>, cancel: &Cancel, progress: &Progress, mut tick: impl FnMut(&Progress)) -> Result<Tally> {
    let Cast { mut camera, equalizer, dial, outputs, mut viewer } = cast;
    let begin = Instant::now();
    let captured = Newest::new(if outputs.is_empty() { 1 } else { ALL_WAITING });
    let shown = viewer.is_some().then(|| Newest::new(1));
    let (lanes, sinks): (Vec<Lane>, Vec<Box<dyn Sink>>) = outputs
        .into_iter()
        .map(|output| {
            let waiting = if output.patience == Patience::Recording { RECORDING_WAITING } else { 1 };
            (Lane { name: output.name, queue: Newest::new(waiting) }, output.sink)
        })
        .unzip();
    let (captured, shown, lanes) = (&captured, shown.as_ref(), lanes.as_slice());
    let (running, over) = bounded::<()>(0);
    scope(|scope| {
        let named = |name: &str| Builder::new().name(name.to_owned());
        let alive = running.clone();
        let capture = named("camera").spawn_scoped(scope, move || -> Result<()> {
            let _close = captured.close_after();
            let _alive = alive;
            while !cancel.is_cancelled() {
                let Some(frame) = progress.measure(Stage::Source, || camera.next())? else { break };
                captured.push(frame);
            }
            Ok(())
        })?;
        let alive = running.clone();
        let equalize = named("equalize").spawn_scoped(scope, move || {
            let _alive = alive;
            let result = Middle { equalizer, dial, captured, shown, lanes, progress, equalized: 0 }.run();
            lanes.iter().for_each(|lane| lane.queue.close());
            cancel.cancel();
            result
        })?;
        let mut writers = Vec::new();
        for (lane, sink) in lanes.iter().zip(sinks) {
            let alive = running.clone();
            writers.push(named("output").spawn_scoped(scope, move || {
                let _alive = alive;
                let _close = lane.queue.close_after();
                let written = write(lane, sink, progress);
                if written.is_err() || lanes.len() == 1 && shown.is_none() {
                    cancel.cancel();
                }
                written
            })?);
        }
        drop(running);
        let mut sight = Sight::new();
        let mut trouble = None;
        loop {
            let unwritten = lanes.iter().map(|lane| lane.queue.dropped()).sum();
            match (&mut viewer, shown) {
                (Some(viewer), Some(slot)) if !cancel.is_cancelled() => {
                    let status = Status { dropped: captured.dropped(), unwritten, ..sight.status };
                    let (frame, at) = match slot.pop_within(KEYS) {
                        Popped::Entry((frame, at)) => (Some(frame), Some(at)),
                        Popped::Empty | Popped::Closed => (None, None),
                    };
                    match viewer.show(frame, &status) {
                        Ok(Wish::GoOn) => {}
                        Ok(Wish::End) => cancel.cancel(),
                        Err(error) => {
                            trouble = Some(error);
                            cancel.cancel();
                        }
                    }
                    at.into_iter().for_each(|at| sight.seen(at.elapsed()));
                    if over.try_recv() == Err(TryRecvError::Disconnected) {
                        break;
                    }
                }
                _ if over.recv_timeout(TICK) == Err(RecvTimeoutError::Disconnected) => break,
                _ => {}
            }
            tick(progress);
        }
        let (captured_all, equalized) = (joined(capture), joined(equalize));
        let written: Vec<Result<Written>> = writers.into_iter().map(joined).collect();
        captured_all?;
        let (equalizer, to_equalized) = equalized?;
        let outputs = written.into_iter().collect::<Result<Vec<Written>>>()?;
        trouble.map_or(Ok(()), Err)?;
        let (latency, shown) = match shown {
            Some(_) => (sight.all, Some(sight.count)),
            None => (to_equalized, None),
        };
        Ok(Tally { elapsed: begin.elapsed(), equalizer, dropped: captured.dropped(), latency, shown, outputs })
    })
}

/// The middle of the way.
struct Middle<'a> {
    equalizer: Box<dyn Equalizer>,
    dial: &'a Dial,
    captured: &'a Newest<Captured>,
    shown: Option<&'a Newest<(Shown, Instant)>>,
    lanes: &'a [Lane],
    progress: &'a Progress,
    /// Frames equalized so far.
    equalized: u64,
}

impl Middle<'_> {
    /// Equalizes until the camera is over. Frames overlap only where they would otherwise wait.
    fn run(mut self) -> Result<(String, Latency)> {
        let mut settings = self.dial.get();
        let mut under_way: VecDeque<Captured> = VecDeque::new();
        let mut latency = Latency::default();
        loop {
            let next = match self.equalizer.in_flight() {
                0 => match self.captured.pop() {
                    Some(captured) => Some(captured),
                    None => return Ok((self.equalizer.name(), latency)),
                },
                busy if busy < self.equalizer.capacity() => self.captured.try_pop(),
                _ => None,
            };
            if let Some(captured) = next {
                if self.dial.get() != settings {
                    settings = self.dial.get();
                    self.equalizer.set(settings);
                }
                self.progress.measure(Stage::Equalize, || self.equalizer.submit(captured.frame.clone()))?;
                under_way.push_back(captured);
            } else {
                self.pass_on(&mut under_way, &mut latency)?;
            }
        }
    }

    /// Hands on the oldest frame under way; false when there is none.
    fn pass_on(&mut self, under_way: &mut VecDeque<Captured>, latency: &mut Latency) -> Result<bool> {
        let Some(equalized) = self.progress.measure(Stage::Equalize, || self.equalizer.collect())? else {
            return Ok(false);
        };
        let Some(Captured { frame: original, at }) = under_way.pop_front() else { return Ok(false) };
        latency.add(at.elapsed());
        self.progress.count_written();
        for lane in self.lanes {
            lane.queue.push(equalized.clone());
        }
        if let Some(slot) = self.shown {
            slot.push((Shown { original, equalized, number: self.equalized }, at));
        }
        self.equalized += 1;
        Ok(true)
    }
}

/// Writes what comes until nothing more does, and finishes the output.
fn write(lane: &Lane, mut sink: Box<dyn Sink>, progress: &Progress) -> Result<Written> {
    let mut frames = 0;
    let work = |frames: &mut u64| -> Result<()> {
        while let Some(frame) = lane.queue.pop() {
            let delivery = Delivery { frame: Some(frame), ..Delivery::default() };
            progress.measure(Stage::Sink, || sink.write(delivery))?;
            *frames += 1;
        }
        sink.finish(Outcome::Complete)?;
        Ok(())
    };
    match work(&mut frames) {
        Err(error) if !error.is::<ReaderGone>() => Err(error),
        _ => Ok(Written { name: lane.name.clone(), frames, dropped: lane.queue.dropped() }),
    }
}

/// What the viewer has shown.
struct Sight {
    all: Latency,
    count: u64,
    recent: Latency,
    recent_count: u32,
    since: Instant,
    status: Status,
}

impl Sight {
    fn new() -> Self {
        let (all, recent) = (Latency::default(), Latency::default());
        Sight { all, count: 0, recent, recent_count: 0, since: Instant::now(), status: Status::default() }
    }

    fn seen(&mut self, latency: Duration) {
        self.all.add(latency);
        self.count += 1;
        self.recent.add(latency);
        self.recent_count += 1;
        let elapsed = self.since.elapsed();
        if elapsed >= Duration::from_secs(1) {
            self.status.fps = f64::from(self.recent_count) / elapsed.as_secs_f64();
            self.status.latency = self.recent.percentile(0.95);
            self.recent.clear();
            self.recent_count = 0;
            self.since = Instant::now();
        }
    }
}

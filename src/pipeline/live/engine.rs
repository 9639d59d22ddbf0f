//! Runs a camera until it is over or somebody asks for the end: then every frame that an output has taken is written,
//! and every output finished.

use super::{DropOldestQueue, Latency, Popped, SharedSettings};
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
pub enum ViewerReply {
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
    fn show(&mut self, frame: Option<Shown>, status: &Status) -> Result<ViewerReply>;
}

/// How many frames may wait for an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueuePolicy {
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
    pub patience: QueuePolicy,
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
pub struct LiveSummary {
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
struct OutputQueue {
    name: String,
    queue: DropOldestQueue<Frame>,
}

/// What takes part in a run.
pub struct LiveParts<'a> {
    /// Where frames come from.
    pub camera: Box<dyn Camera>,
    /// What equalizes, with the settings of `shared_settings`.
    pub equalizer: Box<dyn Equalizer>,
    /// What the user turns.
    pub shared_settings: &'a SharedSettings,
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
pub fn run(
    parts: LiveParts<'_>,
    cancel: &Cancel,
    progress: &Progress,
    mut tick: impl FnMut(&Progress),
) -> Result<LiveSummary> {
    let LiveParts { mut camera, equalizer, shared_settings, outputs, mut viewer } = parts;
    let begin = Instant::now();
    let captured = DropOldestQueue::new(if outputs.is_empty() { 1 } else { ALL_WAITING });
    let shown = viewer.is_some().then(|| DropOldestQueue::new(1));
    let (output_queues, sinks): (Vec<OutputQueue>, Vec<Box<dyn Sink>>) = outputs
        .into_iter()
        .map(|output| {
            let waiting = if output.patience == QueuePolicy::Recording { RECORDING_WAITING } else { 1 };
            (OutputQueue { name: output.name, queue: DropOldestQueue::new(waiting) }, output.sink)
        })
        .unzip();
    let (captured, shown, output_queues) = (&captured, shown.as_ref(), output_queues.as_slice());
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
            let result =
                EqualizeStage { equalizer, shared_settings, captured, shown, output_queues, progress, equalized: 0 }
                    .run();
            output_queues.iter().for_each(|output| output.queue.close());
            cancel.cancel();
            result
        })?;
        let mut writers = Vec::new();
        for (output, sink) in output_queues.iter().zip(sinks) {
            let alive = running.clone();
            writers.push(named("output").spawn_scoped(scope, move || {
                let _alive = alive;
                let _close = output.queue.close_after();
                let written = write(output, sink, progress);
                if written.is_err() || output_queues.len() == 1 && shown.is_none() {
                    cancel.cancel();
                }
                written
            })?);
        }
        drop(running);
        let mut stats = ViewerStats::new();
        let mut trouble = None;
        loop {
            let unwritten = output_queues.iter().map(|output| output.queue.dropped()).sum();
            match (&mut viewer, shown) {
                (Some(viewer), Some(slot)) if !cancel.is_cancelled() => {
                    let status = Status { dropped: captured.dropped(), unwritten, ..stats.status };
                    let (frame, at) = match slot.pop_within(KEYS) {
                        Popped::Entry((frame, at)) => (Some(frame), Some(at)),
                        Popped::Empty | Popped::Closed => (None, None),
                    };
                    match viewer.show(frame, &status) {
                        Ok(ViewerReply::GoOn) => {}
                        Ok(ViewerReply::End) => cancel.cancel(),
                        Err(error) => {
                            trouble = Some(error);
                            cancel.cancel();
                        }
                    }
                    at.into_iter().for_each(|at| stats.seen(at.elapsed()));
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
            Some(_) => (stats.all, Some(stats.count)),
            None => (to_equalized, None),
        };
        Ok(LiveSummary { elapsed: begin.elapsed(), equalizer, dropped: captured.dropped(), latency, shown, outputs })
    })
}

/// The middle of the way.
struct EqualizeStage<'a> {
    equalizer: Box<dyn Equalizer>,
    shared_settings: &'a SharedSettings,
    captured: &'a DropOldestQueue<Captured>,
    shown: Option<&'a DropOldestQueue<(Shown, Instant)>>,
    output_queues: &'a [OutputQueue],
    progress: &'a Progress,
    /// Frames equalized so far.
    equalized: u64,
}

impl EqualizeStage<'_> {
    /// Equalizes until the camera is over. Frames overlap only where they would otherwise wait.
    fn run(mut self) -> Result<(String, Latency)> {
        let mut settings = self.shared_settings.get();
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
                if self.shared_settings.get() != settings {
                    settings = self.shared_settings.get();
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
        for output in self.output_queues {
            output.queue.push(equalized.clone());
        }
        if let Some(slot) = self.shown {
            slot.push((Shown { original, equalized, number: self.equalized }, at));
        }
        self.equalized += 1;
        Ok(true)
    }
}

/// Writes what comes until nothing more does, and finishes the output.
fn write(output: &OutputQueue, mut sink: Box<dyn Sink>, progress: &Progress) -> Result<Written> {
    let mut frames = 0;
    let work = |frames: &mut u64| -> Result<()> {
        while let Some(frame) = output.queue.pop() {
            let delivery = Delivery { frame: Some(frame), ..Delivery::default() };
            progress.measure(Stage::Sink, || sink.write(delivery))?;
            *frames += 1;
        }
        sink.finish(Outcome::Complete)?;
        Ok(())
    };
    match work(&mut frames) {
        Err(error) if !error.is::<ReaderGone>() => Err(error),
        _ => Ok(Written { name: output.name.clone(), frames, dropped: output.queue.dropped() }),
    }
}

/// What the viewer has shown.
struct ViewerStats {
    all: Latency,
    count: u64,
    recent: Latency,
    recent_count: u32,
    since: Instant,
    status: Status,
}

impl ViewerStats {
    fn new() -> Self {
        let (all, recent) = (Latency::default(), Latency::default());
        ViewerStats { all, count: 0, recent, recent_count: 0, since: Instant::now(), status: Status::default() }
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

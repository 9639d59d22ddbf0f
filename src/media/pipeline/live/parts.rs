//! The parts of a live run (source, equalizer, outputs, viewer), and its result.

use super::{FrameFilter, Latency, SharedSettings, WarmingUp};
use crate::pipeline::{Notices, Sink, Source};
use crate::sys::Name;
use anyhow::Result;
use histeq::equalize::{Applied, EqualizeStage};
use histeq::frame::Frame;
use std::time::{Duration, Instant};

/// A frame, and when it was read.
pub struct Captured {
    /// The frame.
    pub frame: Frame,
    /// When its last byte was read, before it was decoded.
    pub at: Instant,
}

/// A frame for the viewer.
#[derive(Clone)]
pub struct Shown {
    /// The frame of the camera.
    pub original: Frame,
    /// The equalized frame.
    pub equalized: Frame,
    /// Number of frames equalized before it.
    pub number: u64,
    /// What was applied to it.
    pub applied: Applied,
}

/// The reply of the viewer to a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewerReply {
    /// Continue.
    GoOn,
    /// End the run.
    End,
}

/// The status of the run, for the viewer's status line.
#[derive(Clone, Copy, Debug, Default)]
pub struct Status {
    /// Frames shown in the last second.
    pub fps: f64,
    /// Latency from capture to display, 95th percentile of the last second.
    pub latency: Option<Duration>,
    /// Number of frames that were dropped before the equalizer.
    pub dropped: u64,
    /// Number of frames that were dropped before an output.
    pub unwritten: u64,
    /// The time since the last frame, while no frames come.
    pub no_signal: Option<Duration>,
}

/// A viewer of frames, on the thread that runs the engine: windows need the main thread.
pub trait Viewer {
    /// Shows the frame, if there is a new one, and handles keys.
    ///
    /// # Errors
    /// When it cannot be shown.
    fn show(&mut self, frame: Option<Shown>, status: &Status) -> Result<ViewerReply>;
}

/// Gets each frame, on the thread that equalizes, so it must return at once.
pub type Onlooker = Box<dyn FnMut(&Shown) + Send>;

/// The capacity of the queue before an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueuePolicy {
    /// Sixty frames: a recording must have every frame.
    Recording,
    /// Fifteen frames: low latency, but room for the burst of frames with which a network stream opens.
    Network,
    /// One frame: lowest latency.
    Stream,
}

/// An output for frames.
pub struct LiveOutput {
    /// Its name in messages.
    pub name: Name,
    /// Its sink.
    pub sink: Box<dyn Sink>,
    /// The capacity of its queue.
    pub queue_policy: QueuePolicy,
}

/// The result of an output.
#[derive(Clone, Debug)]
pub struct Written {
    /// Its name in messages.
    pub name: Name,
    /// Number of frames written.
    pub frames: u64,
    /// Number of frames dropped from its queue.
    pub dropped: u64,
    /// Number of frames that were lost because there was no connection to the server.
    pub missed: u64,
}

/// The result of a run.
#[derive(Clone)]
pub struct LiveSummary {
    /// Duration of the run.
    pub elapsed: Duration,
    /// Name of the equalizer.
    pub equalizer: String,
    /// Number of frames that were dropped before the equalizer.
    pub dropped: u64,
    /// Latency from capture to display, or to the equalized frame if there is no viewer.
    pub latency: Latency,
    /// Number of frames shown, if there was a viewer.
    pub shown: Option<u64>,
    /// The outputs, in their order.
    pub outputs: Vec<Written>,
}

/// The parts of a run.
pub struct LiveParts<'a> {
    /// The source of frames, and of the sound of the camera. Streams and times of packets are those of the
    /// [`Input`](crate::pipeline::Input).
    pub source: Box<dyn Source>,
    /// A second source for sound, without frames.
    pub microphone: Option<Box<dyn Source>>,
    /// The equalizer, which gets the settings of `shared_settings` with each frame.
    pub stage: EqualizeStage,
    /// The settings, which can be changed before the run and during it.
    pub shared_settings: &'a SharedSettings,
    /// Whether denoising is switched off where it takes longer than the time between frames.
    pub limits_denoising: bool,
    /// The filter for equalized frames.
    pub filter: Option<FrameFilter>,
    /// Gets notes about changes of the pictures.
    pub notices: Notices,
    /// The warm-up of this run, which others on the same GPU wait for.
    pub warming_up: WarmingUp,
    /// The outputs.
    pub outputs: Vec<LiveOutput>,
    /// The viewer.
    pub viewer: Option<&'a mut dyn Viewer>,
    /// Gets each frame, too.
    pub onlooker: Option<Onlooker>,
}

//! What takes part in a live run: a source, an equalizer, outputs, a viewer; and what the run comes to.

use super::{Latency, SharedSettings};
use crate::equalize::EqualizeStage;
use crate::frame::Frame;
use crate::pipeline::{Sink, Source};
use anyhow::Result;
use std::time::{Duration, Instant};

/// A frame and when it was read.
pub struct Captured {
    /// The frame.
    pub frame: Frame,
    /// When its last byte was read, before it was decoded.
    pub at: Instant,
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
    /// Frames that were dropped before they were equalized.
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
    /// Fifteen: viewers want the newest frame, but a network stream opens with a burst of frames.
    Network,
    /// One: viewers want the newest frame.
    Stream,
}

/// Where frames go beside the viewer.
pub struct Output {
    /// How messages name it.
    pub name: String,
    /// What writes it.
    pub sink: Box<dyn Sink>,
    /// How many frames may wait for it.
    pub queue_policy: QueuePolicy,
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
    /// Frames that were lost because there was no connection to the server.
    pub missed: u64,
}

/// What a run came to.
#[derive(Clone)]
pub struct LiveSummary {
    /// How long it took.
    pub elapsed: Duration,
    /// What equalized, by its own name.
    pub equalizer: String,
    /// Frames that were dropped before they were equalized.
    pub dropped: u64,
    /// From capture to shown, or to equalized where there is no viewer.
    pub latency: Latency,
    /// Frames shown, if there was a viewer.
    pub shown: Option<u64>,
    /// The outputs, in their order.
    pub outputs: Vec<Written>,
}

/// What takes part in a run.
pub struct LiveParts<'a> {
    /// Where frames come from, and the packets of sound that come with them. Streams and times of packets are those of the
    /// [`Input`](crate::pipeline::Input).
    pub source: Box<dyn Source>,
    /// Where sound comes from beside that: a source without frames.
    pub microphone: Option<Box<dyn Source>>,
    /// What equalizes, begun with the settings of `shared_settings`.
    pub stage: EqualizeStage,
    /// What the user turns.
    pub shared_settings: &'a SharedSettings,
    /// Where frames go beside the viewer.
    pub outputs: Vec<Output>,
    /// What shows them.
    pub viewer: Option<&'a mut dyn Viewer>,
}

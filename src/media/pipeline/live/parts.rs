//! The parts of a live run (source, equalizer, outputs, viewer), and its result.

use super::{FrameFilter, Latency, WarmingUp};
use crate::pipeline::{Notices, Sink, Source};
use crate::sys::files::Name;
use anyhow::Result;
use histeq::internal::equalize::{Applied, EqualizeStage};
use histeq::internal::frame::Frame;
use histeq::internal::spec::parameters::Settings;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A frame, and the time at which it was read.
pub struct Captured {
    /// The frame from the camera.
    pub frame: Frame,
    /// When the last byte of the frame was read, before decoding.
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
    /// The processing that was applied to the frame.
    pub applied: Applied,
}

/// The reply of the viewer to a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewerReply {
    /// Continue the run.
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
    /// The time since the last frame, if the signal is lost.
    pub no_signal: Option<Duration>,
}

/// Shows frames. It is called on the thread that runs the engine, because windows need the main thread.
pub trait Viewer {
    /// Shows the frame, if there is a new one, and handles keys.
    ///
    /// # Errors
    /// When the frame cannot be shown.
    fn show(&mut self, frame: Option<Shown>, status: &Status) -> Result<ViewerReply>;
}

/// A callback for each frame. It runs on the equalizing thread, so it must return at once.
pub type Onlooker = Box<dyn FnMut(&Shown) + Send>;

/// Sets the capacity of the queue before an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueuePolicy {
    /// Sixty frames, because a recording should contain every frame.
    Recording,
    /// Fifteen frames: low latency, but room for the burst of frames at the start of a network stream.
    Network,
    /// One frame, for the lowest latency.
    Stream,
}

/// An output for frames.
pub struct LiveOutput {
    /// The name of the output in messages.
    pub name: Name,
    /// The sink that writes the frames.
    pub sink: Box<dyn Sink>,
    /// Sets the capacity of the output's queue.
    pub queue_policy: QueuePolicy,
}

/// The result of an output.
#[derive(Clone, Debug)]
pub struct Written {
    /// The name of the output in messages.
    pub name: Name,
    /// Number of frames written.
    pub frames: u64,
    /// Number of frames dropped from the output's queue.
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
    /// The results, in the order of [`LiveParts::outputs`].
    pub outputs: Vec<Written>,
}

/// The parts of a run.
pub struct LiveParts<'a> {
    /// The source of frames, and of the camera's audio. Its packets have the streams and times of the
    /// [`Input`](crate::pipeline::Input).
    pub source: Box<dyn Source>,
    /// An additional source of audio, without frames.
    pub microphone: Option<Box<dyn Source>>,
    /// The equalizer. It uses the current `shared_settings` for each frame.
    pub stage: EqualizeStage,
    /// Settings that can be changed before and during the run.
    pub shared_settings: &'a SharedSettings,
    /// Whether denoising is switched off if it takes longer than the frame interval.
    pub limits_denoising: bool,
    /// The filter for equalized frames.
    pub filter: Option<FrameFilter>,
    /// Receives notes about changes in the frames.
    pub notices: Notices,
    /// The warm-up of this run; other runs on the same GPU wait until it is over.
    pub warming_up: WarmingUp,
    /// The outputs.
    pub outputs: Vec<LiveOutput>,
    /// The viewer.
    pub viewer: Option<&'a mut dyn Viewer>,
    /// A callback that also receives each frame.
    pub onlooker: Option<Onlooker>,
}

/// The current settings, shared by its clones.
#[derive(Clone, Default)]
pub struct SharedSettings {
    settings: Arc<Mutex<Settings>>,
    recording_is_paused: Arc<AtomicBool>,
}

impl SharedSettings {
    /// The current settings.
    pub fn get(&self) -> Settings {
        *self.settings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the settings for all frames that are equalized from now on.
    pub fn set(&self, settings: Settings) {
        *self.settings.lock().unwrap_or_else(PoisonError::into_inner) = settings;
    }

    /// Whether recordings currently receive neither frames nor audio.
    pub fn is_recording_paused(&self) -> bool {
        self.recording_is_paused.load(Ordering::Relaxed)
    }

    /// Pauses or resumes recordings. Other outputs still receive all frames.
    pub fn pause_recording(&self, pause: bool) {
        self.recording_is_paused.store(pause, Ordering::Relaxed);
    }
}

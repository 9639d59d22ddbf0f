//! The live engine: it prefers low latency to complete output. After the [warm-up](WarmUp), no stage waits for the next
//! one; if that one is too slow, a new frame replaces the oldest queued frame, which is counted as dropped.
//!
//! ```text
//! camera -> DropOldestQueue -> LiveEqualizer -> DropOldestQueue -> Viewer      each but the viewer on its own thread
//!                                            -> OutputQueue -> Output          one of both for each output
//! microphone, sound of the camera            -> OutputQueue
//! ```
//!
//! [`run_several`] runs several of these engines, each with its own source and outputs.

mod drop_oldest_queue;
mod engine;
mod equalize_stage;
mod gray_watch;
mod latency;
mod noise_budget;
mod output_queue;
mod parts;
mod several;
mod signal;
mod warm_up;

pub use drop_oldest_queue::DropOldestQueue;
pub use engine::run;
pub use equalize_stage::FrameFilter;
pub use latency::Latency;
pub use parts::{
    Captured, LiveOutput, LiveParts, LiveSummary, Onlooker, QueuePolicy, SharedSettings, Shown, Status, Viewer,
    ViewerReply, Written,
};
pub use several::{Happened, Works, run_several};
pub use warm_up::{WarmUp, WarmingUp};

//! The live engine: latency before completeness. No stage waits for the one behind it; where that one is too slow,
//! the newest frame takes the place of an older one, which is counted.
//!
//! ```text
//! camera -> slot -> equalizer -> slot -> viewer         each but the viewer on a thread of its own
//!                             -> queue -> output        as many as there are
//! microphone, camera's sound  -> queue
//! ```

mod drop_oldest_queue;
mod engine;
mod equalize_stage;
mod latency;
mod output_queue;
mod parts;
mod shared_settings;
mod viewer_stats;

pub use drop_oldest_queue::DropOldestQueue;
pub use engine::run;
pub use latency::Latency;
pub use parts::{Captured, LiveParts, LiveSummary, Output, QueuePolicy, Shown, Status, Viewer, ViewerReply, Written};
pub use shared_settings::SharedSettings;

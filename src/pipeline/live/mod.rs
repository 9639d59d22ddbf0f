//! The live engine: latency before completeness. Nobody waits for anybody behind him; where a neighbour is too slow,
//! the newest frame takes the place of an older one, which is counted.
//!
//! ```text
//! camera -> slot -> equalizer -> slot -> viewer         each but the viewer on a thread of its own
//!                             -> queue -> output        as many as there are
//! ```

mod dial;
mod engine;
mod latency;
mod newest;

pub use dial::Dial;
pub use engine::{Camera, Captured, Cast, Output, Patience, Shown, Status, Tally, Viewer, Wish, Written, run};
pub use latency::Latency;
pub use newest::{Newest, Popped};

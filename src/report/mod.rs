//! What a run says on stderr: notes, progress, and one line at the end.

mod compare_summary;
mod console;
mod live_summary;
mod meter;
mod summary;

pub use compare_summary::compare_summary;
pub use console::{Console, Verbosity};
pub use live_summary::live_summary;
pub use meter::{Meter, MeterStyle};
pub use summary::summary;

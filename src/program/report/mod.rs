//! Lines on stderr: notes, progress, and a summary at the end.

mod bar_line;
mod console;
mod events;
mod meter;
mod summary;

pub use console::{Console, Verbosity};
pub use events::{Events, ResultRecord, StartRecord};
pub use meter::{Meter, MeterStyle};
pub use summary::{compare_summary, jobs_summary, live_summary, restore_summary, summary};

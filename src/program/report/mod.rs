//! What a run reports while it goes on and at its end: notes, warnings, errors, progress and a summary, as lines for
//! people on stderr and as events for programs.
//!
//! | file | what it is |
//! |---|---|
//! | `events.rs` | the events of `--progress json`, and their protocol |
//! | `destination.rs` | the file, pipe or descriptor that they are written to |
//! | `failure.rs` | the kind of failure that an error is |
//! | `console.rs` | messages as lines, and as events |
//! | `meter.rs`, `bar_line.rs` | progress as a bar, lines and events |
//! | `summary.rs` | the result at the end |
//! | `width.rs` | what fits on a line of the terminal |

mod bar_line;
mod console;
mod destination;
mod events;
mod failure;
mod meter;
pub(crate) mod summary;
mod width;

pub use console::Console;
pub use destination::{events_are_asked_for, open_events};
pub use events::{
    ErrorRecord, Event, Events, FileRecord, FoundRecord, OutputRecord, PROTOCOL, ProgressRecord, ResultRecord,
    SegmentRecord, StartRecord,
};
pub use failure::{SKIPPED, kind_of};
pub use meter::{Meter, Metered};
pub use summary::{
    compare_summary, counted, in_bytes, jobs_summary, live_summary, summary, unchanged_summary, with_name, with_size,
};
pub use width::shown;

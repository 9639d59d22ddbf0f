//! The streaming engine: a source, an equalizer and a sink side by side, each on a thread of its own, joined by bounded
//! channels. Order is kept, a slow stage slows the ones before it, and memory does not depend on the video's length.
//! [`live`] is its sibling for cameras, where a late frame is worth less than the next one.

mod cancel;
mod engine;
pub mod live;
mod notices;
mod pauses;
mod progress;
mod stages;
mod threads;

pub use cancel::Cancel;
pub use engine::{Message, Summary, run, run_with};
pub use notices::{Level, Notices};
pub use pauses::Pauses;
pub use progress::{Progress, Stage};
pub use stages::{Delivery, Input, InputKind, Outcome, PartPosition, ReaderGone, Sink, Source};

//! Which encoder, how it is set, and how pictures and times are made fit for it.
//!
//! | file | what it is |
//! |---|---|
//! | `choice.rs`, `table.rs`, `start.rs` | which encoder, how each is set, and its opening |
//! | `format.rs`, `fit.rs`, `steady.rs` | the choice of pixel format, colours and size; pictures of that format; properties of all pictures |
//! | `clock.rs` | the times of its frames |
//! | `two_pass.rs` | two passes, to meet a size |

pub(crate) mod choice;
pub(crate) mod clock;
pub(crate) mod fit;
pub(crate) mod format;
pub(crate) mod start;
mod steady;
mod table;
pub(crate) mod two_pass;

pub use choice::{EncoderChoice, Quality};
pub use format::PixelChoice;
pub use two_pass::{Measured, Pass, SizeRule, TooLarge};

//! Frames on a GPU, several at a time: slots of a ring, each with its buffers and its streams.
//!
//! | file | what it is |
//! |---|---|
//! | `task` | the parameters of one frame |
//! | `picture` | one frame's buffers on the device, and its way through the kernels |
//! | `readback` | counts and curves, downloaded with the samples |
//! | `history` | the state from frame to frame: the frames of the temporal window, and their counts on the device |
//! | `slot` | one place in the ring: its buffers and its copies |
//! | `ring` | the order of frames |
//! | `timeline` | the times at which the stages of a frame ran |

pub(crate) mod history;
pub(crate) mod picture;
mod readback;
mod readings;
pub(crate) mod ring;
pub(crate) mod slot;
pub(crate) mod task;
pub(crate) mod timeline;

pub use history::{History, words_of_modified};
pub use picture::DevicePicture;
pub use ring::Ring;
pub use slot::Collected;
pub use task::{Readback, Task};
pub use timeline::Timeline;

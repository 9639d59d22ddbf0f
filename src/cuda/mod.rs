//! Frames through an NVIDIA GPU: what a CUDA backend is made of.
//!
//! `Gpu (driver, device, kernels) -> Ring of slots (pinned memory, device buffers, a stream for each stage) -> frames`. A frame's
//! samples go up, from where the decoder wrote them if that is pinned memory ([`InputPool`]), kernels work on them, and
//! they come down into pinned memory that the encoder reads in place; while one frame is worked on the next one goes up
//! and the one before comes down. Nothing waits in between but [`Ring::collect`]. What has been decoded on this GPU is
//! there already, and only comes down.
//!
//! | file | what it is |
//! |---|---|
//! | `context` | driver and device, found or not |
//! | `layout` | what of a frame travels, and where it lies in a buffer |
//! | `pinned` | host memory that the copy engines reach, used again and again |
//! | `surface` | pictures that a decoder on this GPU has made, taken over |
//! | `rows` | copies of rows with padding between them |
//! | `task` | what is to be done with a frame |
//! | `picture` | one frame's buffers on the device |
//! | `readback` | what comes down beside the samples: counts and curves |
//! | `history` | what is remembered on the device from frame to frame |
//! | `slot` | one place in the ring: its buffers, its copies |
//! | `ring` | the order of frames |
//! | `timeline` | when each stage of a frame ran |
//! | `arguments` | the structures that kernels take, as in `kernels/arguments.cuh` |
//! | `error` | what can go wrong with a GPU |
//! | `compiled` | the files in `kernels/`, compiled, and what of that a device gets |
//! | `launch` | launches that overlap, where the GPU can |
//! | `kernels` | a launcher for each file in `kernels/` |
//! | `tuning` | launch shapes, with what they were measured at |
//! | `stage_kernels` | the hook for kernels from outside, in place of some of these |

pub(crate) mod arguments;
pub(crate) mod compiled;
mod context;
pub(crate) mod error;
mod history;
mod kernels;
pub(crate) mod launch;
pub(crate) mod layout;
mod picture;
mod pinned;
mod readback;
mod ring;
mod rows;
mod slot;
mod stage_kernels;
mod surface;
mod task;
mod timeline;
mod tuning;

#[doc(hidden)]
pub use arguments::{Field, STRUCTURES, Structure};
pub use compiled::{Code, LoadReport};
pub use context::{Gpu, find_driver};
pub use error::Error;
pub use history::History;
pub use layout::BufferLayout;
pub use picture::DevicePicture;
pub use pinned::{InputPool, PinnedBuffer, PinnedPool};
pub use ring::Ring;
pub use slot::Collected;
pub use stage_kernels::KernelChoice;
#[cfg(feature = "laboratory")]
pub(crate) use stage_kernels::{StageBuffers, StageKernels};
pub use task::{Readback, Task};
pub use timeline::Timeline;

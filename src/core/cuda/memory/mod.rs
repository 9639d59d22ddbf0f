//! Memory of a GPU and of its host, and the places of planes in it.
//!
//! | file | what it is |
//! |---|---|
//! | `layout` | the planes of a frame that are uploaded, and their places in a buffer |
//! | `pinned` | pools of pinned host memory |
//! | `device_memory` | a pool of GPU memory for planes |
//! | `samples` | the buffer of a frame's samples: on the device, or in memory that it shares with the host |
//! | `transfer` | pictures of callers that are on this GPU, in and out |
//! | `surface` | the memory of decoded frames, and pictures of a decoder on this GPU |
//! | `rows` | two-dimensional copies |

pub(crate) mod device_memory;
#[doc(hidden)]
pub mod layout;
pub(crate) mod pinned;
pub(crate) mod rows;
pub(crate) mod samples;
pub(crate) mod surface;
mod transfer;

pub use layout::BufferLayout;
pub use pinned::{PinnedBuffer, PinnedPool};
pub use surface::InputPool;

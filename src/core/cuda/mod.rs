//! The equalization of frames on an NVIDIA GPU.
//!
//! `Gpu (driver, device, kernels) -> Ring of slots (pinned memory, device buffers, a stream for each stage) -> frames`.
//! A frame's samples are uploaded, without a copy on the host if the decoder wrote them into pinned memory
//! ([`InputPool`]). Kernels equalize them, and they are downloaded into pinned memory that the encoder reads in place.
//! The upload of the next frame and the download of the previous one run at the same time. Only [`Ring::collect`]
//! waits. Luma that was decoded on this GPU is not uploaded, nor are frames that a caller has on it ([`Gpu::import`]),
//! and results can stay on the GPU. Where GPU and host share memory (Jetson), kernels change the pinned memory itself.
//! Scenes, levels and colour come with a frame ([`Guide`](crate::spec::Guide)); the GPU counts, sums up the window,
//! makes the curve, and maps.
//!
//! | file | what it is |
//! |---|---|
//! | `context` | driver and device |
//! | `layout` | the planes of a frame that are uploaded, and their places in a buffer |
//! | `pinned` | pools of pinned host memory |
//! | `device_memory` | a pool of GPU memory for planes |
//! | `transfer` | pictures of callers that are on this GPU, in and out |
//! | `denoise` | removal of noise from planes |
//! | `surface` | the memory of decoded frames, and pictures of a decoder on this GPU |
//! | `rows` | two-dimensional copies |
//! | `task` | the parameters of one frame |
//! | `samples` | the buffer of a frame's samples: on the device, or in memory that it shares with the host |
//! | `picture` | one frame's buffers on the device, and its way through the kernels |
//! | `readback` | counts and curves, downloaded with the samples |
//! | `history` | the state from frame to frame: the frames of the temporal window, and their counts on the device |
//! | `slot` | one place in the ring: its buffers and its copies |
//! | `ring` | the order of frames |
//! | `timeline` | the times at which the stages of a frame ran |
//! | `arguments` | the structures that kernels take by value, as in `kernels/arguments.cuh` |
//! | `error` | the errors of a GPU |
//! | `compiled` | the compiled files of `kernels/`, and the choice for a device |
//! | `launch` | launches, which overlap where the GPU can |
//! | `kernels` | a launcher for each file in `kernels/` |
//! | `tuning` | launch shapes, with their measurements |
//! | `stage_kernels` | the interface for other kernels in place of some of these |

// The hidden modules are public for kernels of another crate (`src/lab/publications`).
#[doc(hidden)]
pub mod arguments;
#[doc(hidden)]
pub mod compiled;
mod context;
mod denoise;
mod device_memory;
pub mod error;
mod history;
mod kernels;
#[doc(hidden)]
pub mod launch;
#[doc(hidden)]
pub mod layout;
mod picture;
mod pinned;
mod readback;
mod ring;
mod rows;
mod samples;
mod slot;
mod stage_kernels;
mod surface;
mod task;
mod timeline;
mod transfer;
mod tuning;

#[doc(hidden)]
pub use arguments::{
    ColourArguments, STRUCTURES, Structure, StructureField, words_of_detail, words_of_noise, words_of_tiles,
    words_of_veil,
};
pub use compiled::{Code, LoadReport};
pub use context::{DecoderStream, Gpu, find_driver, keeping_current};
pub use error::Error;
pub use history::{History, words_of_modified};
pub use layout::BufferLayout;
pub use picture::DevicePicture;
pub use pinned::{PinnedBuffer, PinnedPool};
pub use ring::Ring;
pub use slot::Collected;
pub use stage_kernels::KernelChoice;

pub use stage_kernels::{StageBuffers, StageKernels};
pub use surface::InputPool;
pub use task::{Readback, Task};
pub use timeline::Timeline;

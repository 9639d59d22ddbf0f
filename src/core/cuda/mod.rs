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
//! | `memory/` | memory of the device and of the host: pools, planes, samples, pictures of others |
//! | `pipeline/` | frames, several at a time, and what stays from frame to frame |
//! | `denoise` | removal of noise from planes |
//! | `arguments` | the structures that kernels take by value, as in `kernels/headers/arguments.cuh` |
//! | `error` | the errors of a GPU |
//! | `compiled` | the compiled files of `kernels/`, and the choice for a device |
//! | `launch` | launches, which overlap where the GPU can |
//! | `kernels/` | a launcher for each file in `kernels/` |
//! | `tuning` | launch shapes, with their measurements |
//! | `stage_kernels` | the interface for other kernels in place of some of these |

// The hidden modules are public for kernels of another crate (`src/lab/publications`).
#[doc(hidden)]
pub mod arguments;
#[doc(hidden)]
pub mod compiled;
mod context;
mod denoise;
pub mod error;
mod kernels;
#[doc(hidden)]
pub mod launch;
pub mod memory;
pub mod pipeline;
mod stage_kernels;
mod tuning;

#[doc(hidden)]
pub use arguments::{
    ColourArguments, STRUCTURES, Structure, StructureField, words_of_detail, words_of_noise, words_of_tiles,
    words_of_veil,
};
pub use compiled::{Code, LoadReport};
pub use context::{DecoderStream, Gpu, find_driver, keeping_current};
pub use error::Error;
pub use stage_kernels::{KernelChoice, StageBuffers, StageKernels};

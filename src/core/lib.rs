//! Histogram equalization for video: arrays in, arrays out, on the CPU or on an NVIDIA GPU, with the same bytes.
//!
//! ```
//! use histeq::{Equalizer, Look, PixelFormat};
//!
//! # fn main() -> histeq::Result<()> {
//! // A dark shot, a cut, and a bright one: 30 frames each of 64 x 48 pixels, one byte a pixel.
//! let (width, height) = (64, 48);
//! let frame = |level: usize| -> Vec<u8> { (0..width * height).map(|at| (level + at % width / 2) as u8).collect() };
//! let video = (0..60).map(|number| frame(if number < 30 { 40 } else { 180 }));
//!
//! let mut equalizer = Equalizer::builder(PixelFormat::Gray, width, height).look(Look::Natural).rate(25.0).build()?;
//! let mut output = vec![0; width * height];
//! let mut spans = Vec::new();
//! let mut span = |pixels: &[u8]| spans.push((*pixels.iter().min().unwrap(), *pixels.iter().max().unwrap()));
//! for input in video {
//!     // A frame comes out some calls after it went in: the look-ahead waits for later ones.
//!     if let Some(done) = equalizer.push(&input)? {
//!         done.copy_into(&mut output)?;
//!         span(&output);
//!     }
//! }
//! for done in equalizer.finish()? {
//!     done?.copy_into(&mut output)?;
//!     span(&output);
//! }
//! assert_eq!(spans.len(), 60);
//! // Each shot has one curve from its first frame to its last: nothing flashes at the cut, nothing flickers.
//! assert!(spans[..30].iter().all(|span| *span == spans[0]) && spans[30..].iter().all(|span| *span == spans[30]));
//! # Ok(())
//! # }
//! ```
//!
//! The bytes are those of the program `histeq-video` with the same options.
//!
//! * **What goes in**: [`Input`], borrowed bytes with any stride, in any [`PixelFormat`]: 8 to 16 bits, gray, YUV, RGB,
//!   packed or planar, with the names and layouts of FFmpeg. Also a shared [`Frame`]. A frame in GPU memory goes in by
//!   [`Equalizer::push_device`], and its result stays on the GPU with [`Builder::stay_on_gpu`].
//! * **What is done**: a [`Look`], and [`Options`] that replace its values. [`OPTIONS`] lists all options with
//!   names, ranges, defaults and help; a host builds its own options from this table. Each option is also set by name:
//!   `.set("max-gain", "1.5")?`.
//! * **Where**: [`Backend`]. Without a GPU, or after a failure of it, the CPU does the work, with a [`Note`].
//! * **In order or not**: a frame's result depends on the frames around it; [`Equalizer::reach`] returns on how many.
//!   [`Equalizer::restart`] and [`Equalizer::warm_up`] begin at any frame. With [`SceneSurvey`] a first pass finds the
//!   scenes; then each frame depends on itself alone. A [`Study`] decides in one pass what is applied to each frame,
//!   and [`Mapper`]s apply it to single frames, in any order.
//! * **Errors**: [`Error`]. Each names what failed, and the remedy where there is one; [`Error::kind`] tells whose fault
//!   it is.
//!
//! Two programs to start from: `samples/equalize_array.rs` (a gray array in, an array out) and
//! `samples/equalize_sequence.rs` (a video with a cut, on a GPU if there is one).
//!
//! Neither FFmpeg nor system headers are needed. The GPU's driver is loaded at run time, if it is installed; without
//! the feature `cuda`, which is on by default, no GPU is used.
//!
//! The items of this page are the API, which `src/core/api.txt` lists; `internal` is not.
//!
//! # Modules
//! Lowest layer first. Each module may use only the modules that its row names, which a test checks.
//!
//! | module | what it is | may use |
//! |---|---|---|
//! | `spec` | the rules in integers: histogram, temporal window, scenes, curve, tiles, chroma; the looks | |
//! | `frame` | a picture: format, planes, pool | spec |
//! | `note` | notes to the caller beside results | |
//! | `options` | what a caller asks for, and the settings that it means for a video | spec, frame, note |
//! | `denoise` | noise removed along motion, in integers | |
//! | `cuda` | a GPU: memory, streams, kernels | spec, frame, denoise |
//! | `error` | what can go wrong | frame, options, cuda |
//! | `equalize` | the backends: reference, CPU, CUDA; how one is opened | spec, frame, note, denoise, cuda, error |
//! | `front` | frames from the caller's memory and back | spec, frame, note, options, cuda, error, equalize |

#[cfg_attr(not(feature = "cuda"), path = "without_cuda.rs")]
mod cuda;
mod denoise;
mod equalize;
mod error;
mod frame;
mod front;
mod note;
mod options;
mod spec;

pub use crate::equalize::backend::Backend;
pub use crate::spec::parameters::{Chroma, Effort, Look, MethodName, Named, OutputDepth};
pub use cuda::{Error as GpuError, keeping_current};
pub use error::{CallerError, Error, Result};
pub use frame::{
    ChromaSamples, Component, Descriptor, DevicePlanes, DeviceRows, Endian, ErrorKind, Frame, FrameError, Limits,
    Luminance, Matrix, Memory, MemoryError, Model, NoRoom, OnDevice, PixelFormat, Plane, PlaneShape, Range, Sample,
};
pub use front::{
    Builder, Decided, Equalizer, Input, LazyEqualizer, Mapper, Output, PlaneInput, PlaneOutput, Reach, SceneSurvey,
    Scenes, Study,
};
pub use note::Note;
pub use options::{OPTIONS, OptionError, OptionInfo, OptionValue, Options, Section, ValueKind, in_python, python_name};
pub use spec::Transfer;

/// What the program, its crate for media and the laboratory use beyond the API. It may change in any version.
#[doc(hidden)]
pub mod internal {
    pub use crate::error::with_more_bits;
    pub use crate::note::Notes;

    pub mod cuda {
        //! A GPU: memory, streams, kernels.
        pub use crate::cuda::*;
    }
    pub mod denoise {
        //! Noise removed along motion.
        pub use crate::denoise::*;
    }
    pub mod equalize {
        //! The backends, and the stage around them.
        pub use crate::equalize::*;
    }
    pub mod frame {
        //! Frames, planes and pools.
        pub use crate::frame::*;
    }
    pub mod options {
        //! The options, and the settings that they mean for a video.
        pub use crate::options::*;
    }
    pub mod spec {
        //! The rules in integers.
        pub use crate::spec::*;
    }
}

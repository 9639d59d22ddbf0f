//! Equalization of frames: [`Executor`] is the interface of backends, and [`mod@reference`] defines their results.
//!
//! ```text
//! frame -> EqualizeStage: Depth, Guides, Denoising, Work
//!       -> Executor: Reference, Cpu, Cuda, or Failover over two of them -> Equalized -> observers
//! ```
//!
//! Since all backends give the same bytes, one can replace another: [`Failover`] begins on the CPU while a GPU opens,
//! and continues on the CPU if the GPU fails.

pub mod backend;
pub mod counting;
pub mod cpu;
mod denoising;
mod depth;
mod measuring;
mod noise_job;
mod seen;
mod stage;
mod study;
mod survey;
mod threads;
mod verify;
mod work;

pub use crate::spec::parameters::OutputDepth;
pub use depth::Depth;
pub use stage::{EqualizeStage, Given, MappingSource, Observation, Observer};
pub use study::{Decided, FrameMapper, FrameStudy, output_format};
pub use survey::{SceneMappings, Survey};
pub use verify::{Verifier, first_difference};
pub use work::{Applied, Equalized, Original, Report, Role, Work};

use crate::Result;
use crate::cuda::Gpu;
use crate::frame::Pool;
use crate::spec::parameters::Chroma;
use crate::spec::time::Remembered;
use std::sync::Arc;

/// A backend. Works go in and results come out in the same order, one for each; several may be under way.
pub trait Executor: Send {
    /// Takes a frame in. Call [`collect`](Executor::collect) first when [`capacity`](Executor::capacity) frames are
    /// under way.
    ///
    /// # Errors
    /// When the backend fails; the frames under way are lost with it.
    fn submit(&mut self, work: Work) -> Result<()>;

    /// Remembers the counts of a frame that another backend has equalized: later frames may share a window with it. To
    /// be called before the first [`submit`](Executor::submit); nothing comes out.
    ///
    /// # Errors
    /// As for [`submit`](Executor::submit).
    fn remember(&mut self, seen: &Remembered) -> Result<()>;

    /// The oldest frame under way, equalized, waiting until it is done; `None` when there is none. Frames that wait for
    /// later ones (`--look-ahead`) are not under way. When the size or the settings change, a backend may end their
    /// wait at once, or only after as many more frames; so a backend that takes over from one that failed can have
    /// fewer frames under way.
    ///
    /// # Errors
    /// As for [`submit`](Executor::submit).
    fn collect(&mut self) -> Result<Option<Equalized>>;

    /// Ends the input: frames that wait for later ones are under way now.
    ///
    /// # Errors
    /// As for [`submit`](Executor::submit).
    fn finish(&mut self) -> Result<()> {
        Ok(())
    }

    /// How many frames are under way: they can be collected without another one being submitted. With a look-ahead, the
    /// newest frames wait for later ones, and are not under way.
    fn in_flight(&self) -> usize;

    /// How many frames may be under way.
    fn capacity(&self) -> usize {
        1
    }

    /// Memory that the backend reads faster than other memory, for frames with this treatment of chroma. `None` if it
    /// reads all memory equally fast, as a CPU does.
    fn input_pool(&self, _chroma: Chroma) -> Option<Arc<dyn Pool>> {
        None
    }

    /// The GPU that the backend works on, if any: noise is removed there too.
    fn gpu(&self) -> Option<Arc<Gpu>> {
        None
    }

    /// The name of the backend, for the summary: `cpu (avx512, 2 threads)`.
    fn name(&self) -> String;
}

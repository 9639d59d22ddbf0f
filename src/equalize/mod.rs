//! Equalization of frames: [`Equalizer`] is what a backend is, and [`mod@reference`] is what it has to be equal to.
//!
//! Since all backends give the same bytes, one can do for another: [`mod@handover`] begins on the CPU while a GPU opens, and
//! [`fallback`] goes on there should the GPU fail.

mod counted_region;
pub mod cpu;
pub mod cuda;
pub mod fallback;
pub mod gray;
pub mod handover;
mod luminance;
pub mod reference;
mod relation;
pub mod verify;

pub use counted_region::CountedRegion;
pub use luminance::luminance_row;
pub use relation::relation;

use crate::frame::{Frame, Matrix, Pool, Range};
use crate::spec::chroma::Colours;
use crate::spec::clahe::Tiles;
use crate::spec::{Curve, Levels, Method, Rect, Settings, Weights};
use anyhow::Result;
use std::sync::Arc;

/// A backend. Frames go in and come out in the same order; several may be under way.
pub trait Equalizer: Send {
    /// Takes a frame in. Call [`collect`](Equalizer::collect) first when [`capacity`](Equalizer::capacity) frames are
    /// under way.
    ///
    /// # Errors
    /// When the backend fails; the frames under way are lost with it.
    fn submit(&mut self, frame: Frame) -> Result<()>;

    /// The oldest frame under way, equalized, waiting until it is done; `None` when there is none. Those that are held
    /// back are not under way.
    ///
    /// # Errors
    /// As for [`submit`](Equalizer::submit).
    fn collect(&mut self) -> Result<Option<Frame>>;

    /// Takes in a frame from before those that are wanted: it is remembered like any other, and nothing of it comes out.
    /// To be called before the first [`submit`](Equalizer::submit).
    ///
    /// # Errors
    /// As for [`submit`](Equalizer::submit).
    fn warm_up(&mut self, frame: Frame) -> Result<()>;

    /// Says that no more frames will come: those that were held back for the sake of later ones are under way now.
    ///
    /// # Errors
    /// As for [`submit`](Equalizer::submit).
    fn finish(&mut self) -> Result<()> {
        Ok(())
    }

    /// How many frames are under way: can be collected without another one being submitted. With a look-ahead the
    /// newest ones are held back, and are not.
    fn in_flight(&self) -> usize;

    /// How many frames may be under way.
    fn capacity(&self) -> usize;

    /// Memory that it reads faster than any other, if there is such a kind. To a CPU all memory is the same, and decoders
    /// keep pools of their own.
    fn input_pool(&self) -> Option<Arc<dyn Pool>> {
        None
    }

    /// Other settings for the frames that are submitted from now on. What has been seen still counts, as
    /// [`Equalization::set`](crate::spec::Equalization::set) says.
    fn set(&mut self, settings: Settings);

    /// Sends the frames that are submitted from now on through this curve, and remembers nothing of them: settings have
    /// no part in it, strength included. `None` is to equalize them. The curve has to have a code for each of theirs, and
    /// there must be no look-ahead.
    fn set_curve(&mut self, curve: Option<Arc<Curve>>);

    /// What does the work, for the summary: `cpu (avx512, 2 threads)`.
    fn name(&self) -> String;
}

/// The methods of [`Equalizer`] that whatever stands around another one (its field `backend`) has from that: how many frames
/// are under way, how many may be, and in which memory.
macro_rules! queue_of_backend {
    () => {
        fn in_flight(&self) -> usize {
            self.backend.in_flight()
        }

        fn capacity(&self) -> usize {
            self.backend.capacity()
        }

        fn input_pool(&self) -> Option<std::sync::Arc<dyn crate::frame::Pool>> {
            self.backend.input_pool()
        }
    };
}
pub(crate) use queue_of_backend;

/// The levels that the luminance of `frame` has.
pub fn levels(frame: &Frame) -> Levels {
    match frame.range() {
        Range::Limited => Levels::limited(frame.format().depth()),
        Range::Full => Levels::full(frame.format().depth()),
    }
}

/// The weights of red, green and blue in the luminance of `frame`.
pub fn weights(frame: &Frame) -> Weights {
    match frame.matrix() {
        Matrix::Bt601 => Weights::BT601,
        Matrix::Bt709 => Weights::BT709,
        Matrix::Bt2020 => Weights::BT2020,
    }
}

/// What the chroma samples of a YUV frame mean.
pub fn colours(frame: &Frame) -> Colours {
    Colours::new(levels(frame), weights(frame))
}

/// The tiles of `frame`, if `method` has any.
pub fn tiles(frame: &Frame, method: Method) -> Option<Tiles> {
    match method {
        Method::Global => None,
        Method::Clahe { columns, rows } => Some(Tiles::new(columns, rows, (frame.width(), frame.height()))),
    }
}

/// What frames share that may have a window in common: one of another kind begins everything anew, and those that wait for
/// later ones of their own kind need not wait for it.
pub fn kind(frame: &Frame) -> (Levels, (usize, usize)) {
    (levels(frame), (frame.width(), frame.height()))
}

/// All of `frame`.
pub fn whole(frame: &Frame) -> Rect {
    Rect::whole((frame.width(), frame.height()))
}

//! Equalization of frames: [`Equalizer`] is what a backend is, and [`mod@reference`] is what it has to be equal to.

pub mod cpu;
pub mod cuda;
pub mod fallback;
mod luminance;
pub mod reference;
pub mod verify;

pub use luminance::luminance_row;

use crate::frame::{Frame, Matrix, Pool, Range};
use crate::spec::chroma::Colours;
use crate::spec::clahe::Tiles;
use crate::spec::{Levels, Method, Rect, Region, Settings, Weights};
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

    /// The oldest frame under way, equalized, waiting until it is done; `None` when there is none.
    ///
    /// # Errors
    /// As for [`submit`](Equalizer::submit).
    fn collect(&mut self) -> Result<Option<Frame>>;

    /// How many frames are under way.
    fn in_flight(&self) -> usize;

    /// How many frames may be under way.
    fn capacity(&self) -> usize;

    /// Memory that it reads faster than any other, if there is such a kind.
    fn input_pool(&self) -> Option<Arc<dyn Pool>> {
        None
    }

    /// Other settings for the frames that are submitted from now on. What has been seen still counts, as
    /// [`Equalization::set`](crate::spec::Equalization::set) says.
    fn set(&mut self, settings: Settings);

    /// What does the work, for the summary: `cpu (avx512, 2 threads)`.
    fn name(&self) -> String;
}

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

/// The part of `frame` that is counted.
pub fn counted(frame: &Frame, region: Region) -> Rect {
    match region {
        Region::Whole | Region::Auto => whole(frame),
        Region::Fixed(rect) => rect.within((frame.width(), frame.height())).unwrap_or(whole(frame)),
    }
}

/// The tiles of `frame`, if `method` has any.
pub fn tiles(frame: &Frame, method: Method) -> Option<Tiles> {
    match method {
        Method::Global => None,
        Method::Clahe { columns, rows } => Some(Tiles::new(columns, rows, (frame.width(), frame.height()))),
    }
}

/// All of `frame`.
pub fn whole(frame: &Frame) -> Rect {
    Rect::whole((frame.width(), frame.height()))
}

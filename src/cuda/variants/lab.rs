//! Measurements: elements on the device, and the steps of equalization on them, each with the kernel that was chosen and
//! timed by events on the device. What a step gives comes back too, so that nobody measures what is wrong.

use super::{Formula, Shape, Variants};
use crate::cuda::Gpu;
use crate::cuda::error::Error;
use std::sync::Arc;

/// What is counted and mapped: rows of samples without padding. One above the last bin counts, and maps, as the last bin.
#[derive(Clone, Copy, Debug)]
pub enum Elements<'a> {
    /// One byte each.
    U8(&'a [u8]),
    /// Two bytes each.
    U16(&'a [u16]),
    /// Four bytes each.
    U32(&'a [u32]),
}

/// How the bytes of pixels follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PixelOrder {
    /// Four bytes: blue, green, red, and one that is not looked at.
    Bgra,
    /// Three bytes: red, green, blue.
    Rgb,
}

/// How often a step is done.
#[derive(Clone, Copy, Debug)]
pub struct Repeats {
    /// Before anything is timed.
    pub warm_up: u32,
    /// Timed: so many times come back.
    pub measured: u32,
    /// Launches between the events of one time, which is divided by them; at least 1. With 1 the time has the way of the
    /// events in it, 1 to 2 µs; with many it is what a launch takes that follows another one.
    pub launches: u32,
}

impl Default for Repeats {
    fn default() -> Self {
        Repeats { warm_up: 3, measured: 20, launches: 1 }
    }
}

/// What is to be measured. A variant that is `None` is the one that has the algorithm of our tuned kernel (replicated,
/// warp-shuffle, first-nonzero, wide); [`Lab::tuned`] has the tuned kernels themselves.
#[derive(Clone, Copy, Debug, Default)]
pub struct Experiment {
    /// Which kernels.
    pub variants: Variants,
    /// How many threads, and who gets what.
    pub shape: Shape,
    /// What bins are cut off at once they are counted, if they are.
    pub saturated_at: Option<u32>,
    /// The arithmetic, if it is not that of the specification.
    pub formula: Option<Formula>,
}

/// What a step gave, and the µs that each repetition took.
#[derive(Clone, Debug)]
pub struct Measured<T> {
    /// From a run of its own before the timed ones.
    pub result: T,
    /// In µs, one a repetition, in their order.
    pub times: Vec<f64>,
}

/// A step of equalization.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// From elements, or from pixels by way of their luminance, to counts.
    Histogram,
    /// Cutting counts off.
    Saturation,
    /// From counts to cumulative counts.
    Scan,
    /// The cumulative count of the first occupied bin.
    CdfMin,
    /// From cumulative counts to what each bin becomes. Of the tuned kernels: from counts, scan and all.
    Curve,
    /// Elements through the curve.
    Map,
}

/// What the repetitions of a step took, in µs.
#[derive(Clone, Debug)]
pub struct StepTimes {
    /// The step.
    pub step: Step,
    /// In µs, one a repetition, in their order.
    pub times: Vec<f64>,
}

/// A whole equalization.
#[derive(Clone, Debug)]
pub struct Run {
    /// What each step took, by itself, in the order of the steps.
    pub steps: Vec<StepTimes>,
    /// What all of them took, one behind the other, in µs: not the sum of the above, for launches overlap.
    pub total: Vec<f64>,
    /// How many elements each bin has, cut off if they were to be.
    pub counts: Vec<u32>,
    /// Their inclusive prefix sums; empty for the tuned kernels, which do not write them.
    pub cdf: Vec<u32>,
    /// What each bin becomes.
    pub curve: Vec<u16>,
    /// What the elements have become, as wide as they were, in this machine's byte order.
    pub picture: Vec<u8>,
}

/// Host memory that is copied from and to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// As it comes from the allocator: the driver copies it once more.
    Pageable,
    /// That the copy engines reach by themselves.
    Pinned,
}

/// What the ways up and down took.
#[derive(Clone, Debug)]
pub struct Transfer {
    /// To the device, in µs.
    pub upload: Vec<f64>,
    /// From it.
    pub download: Vec<f64>,
}

/// Elements on the device, maybe more than once: repetitions go from copy to copy, so that caches which are smaller than
/// all of them together do not help.
pub struct Plane {}

/// A GPU and the kernels of the documents.
pub struct Lab {}

impl Lab {
    /// A lab on this GPU. The kernels that are asked for are loaded then; the first time takes some tenths of a second.
    ///
    /// # Errors
    /// When a stream cannot be made.
    pub fn new(gpu: &Arc<Gpu>) -> Result<Self, Error> {
        todo!("{}", gpu.name())
    }

    /// The GPU.
    pub fn gpu(&self) -> &Arc<Gpu> {
        todo!()
    }

    /// Puts a picture of `size` (columns and rows) on the device, `copies` times (at least once). Its elements belong to
    /// `bins` bins, 2 to 65,536.
    ///
    /// # Errors
    /// [`Error::Refused`] when there are no elements, more than 2^31, or other bins; others when the GPU has no memory
    /// left.
    ///
    /// # Panics
    /// When there are more or fewer elements than pixels.
    pub fn put(&self, elements: Elements, size: (usize, usize), bins: u32, copies: usize) -> Result<Plane, Error> {
        todo!("{elements:?} {size:?} {bins} {copies}")
    }

    /// Puts colour pixels of 8 bits on the device. Their luminance belongs to 256 bins; there is no map for them.
    ///
    /// # Errors
    /// As for [`put`](Lab::put).
    ///
    /// # Panics
    /// As for [`put`](Lab::put).
    pub fn put_pixels(
        &self,
        bytes: &[u8],
        order: PixelOrder,
        size: (usize, usize),
        copies: usize,
    ) -> Result<Plane, Error> {
        todo!("{bytes:?} {order:?} {size:?} {copies}")
    }

    /// Copies the plane's bytes down and up again.
    ///
    /// # Errors
    /// When a copy fails.
    pub fn transfer(&self, plane: &Plane, memory: Memory, repeats: Repeats) -> Result<Transfer, Error> {
        let _ = plane;
        todo!("{memory:?} {repeats:?}")
    }

    /// Counts the elements of a plane, or the luminance of its pixels. Making the counts zero before is not in the times.
    ///
    /// # Errors
    /// [`Error::Refused`] when no such launch can be made; others when one fails.
    pub fn histogram(
        &self,
        plane: &Plane,
        experiment: &Experiment,
        repeats: Repeats,
    ) -> Result<Measured<Vec<u32>>, Error> {
        let _ = plane;
        todo!("{experiment:?} {repeats:?}")
    }

    /// Cuts counts off at `most`.
    ///
    /// # Errors
    /// As for [`histogram`](Lab::histogram).
    pub fn saturation(&self, counts: &[u32], most: u32, repeats: Repeats) -> Result<Measured<Vec<u32>>, Error> {
        todo!("{counts:?} {most} {repeats:?}")
    }

    /// Sums counts up.
    ///
    /// # Errors
    /// As for [`histogram`](Lab::histogram).
    pub fn scan(&self, counts: &[u32], experiment: &Experiment, repeats: Repeats) -> Result<Measured<Vec<u32>>, Error> {
        todo!("{counts:?} {experiment:?} {repeats:?}")
    }

    /// Finds the cumulative count of the first occupied bin.
    ///
    /// # Errors
    /// As for [`histogram`](Lab::histogram).
    pub fn cdf_min(&self, cdf: &[u32], experiment: &Experiment, repeats: Repeats) -> Result<Measured<u32>, Error> {
        todo!("{cdf:?} {experiment:?} {repeats:?}")
    }

    /// Makes the curve of cumulative counts, the first of which above 0 is `cdf_min`.
    ///
    /// # Errors
    /// As for [`histogram`](Lab::histogram).
    pub fn curve(
        &self,
        cdf: &[u32],
        cdf_min: u32,
        experiment: &Experiment,
        repeats: Repeats,
    ) -> Result<Measured<Vec<u16>>, Error> {
        todo!("{cdf:?} {cdf_min} {experiment:?} {repeats:?}")
    }

    /// Sends the elements of a plane through a curve; what they become has their width and this machine's byte order.
    ///
    /// # Errors
    /// As for [`histogram`](Lab::histogram). Colour pixels are refused.
    pub fn map(
        &self,
        plane: &Plane,
        curve: &[u16],
        experiment: &Experiment,
        repeats: Repeats,
    ) -> Result<Measured<Vec<u8>>, Error> {
        let _ = plane;
        todo!("{curve:?} {experiment:?} {repeats:?}")
    }

    /// Everything from elements to elements: histogram, saturation if asked for, scan, cdf-min, curve, map. Of colour
    /// pixels, which have no map, all but the map.
    ///
    /// # Errors
    /// As for [`histogram`](Lab::histogram).
    pub fn equalize(&self, plane: &Plane, experiment: &Experiment, repeats: Repeats) -> Result<Run, Error> {
        let _ = plane;
        todo!("{experiment:?} {repeats:?}")
    }

    /// The same with the tuned kernels, those of normal runs.
    ///
    /// # Errors
    /// [`Error::Refused`] unless elements have 1 or 2 bytes and 256, 512, 1,024, 4,096, 16,384 or 65,536 bins.
    pub fn tuned(&self, plane: &Plane, repeats: Repeats) -> Result<Run, Error> {
        let _ = plane;
        todo!("{repeats:?}")
    }
}

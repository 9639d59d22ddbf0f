//! What a measurement is asked for, and what it gives.

use super::{Formula, LaunchShape, Variants};

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

impl Elements<'_> {
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Elements::U8(elements) => elements,
            Elements::U16(elements) => bytemuck::cast_slice(elements),
            Elements::U32(elements) => bytemuck::cast_slice(elements),
        }
    }

    pub(super) fn element_bytes(&self) -> u8 {
        match self {
            Elements::U8(_) => 1,
            Elements::U16(_) => 2,
            Elements::U32(_) => 4,
        }
    }
}

impl PixelOrder {
    /// Bytes of a pixel.
    pub const fn bytes(self) -> usize {
        match self {
            PixelOrder::Bgra => 4,
            PixelOrder::Rgb => 3,
        }
    }
}

/// How often a step is done.
#[derive(Clone, Copy, Debug)]
pub struct KernelRepeats {
    /// Before anything is timed.
    pub warm_up: u32,
    /// Timed; as many times come back.
    pub measured: u32,
    /// Launches between the events of one time, which is divided by them; at least 1. With 1 the time has the way from
    /// event to kernel to event in it, a µs or two; with many it is what a launch takes that follows another one. Either
    /// way everything is enqueued before the device begins with it.
    pub launches: u32,
}

impl Default for KernelRepeats {
    fn default() -> Self {
        KernelRepeats { warm_up: 3, measured: 20, launches: 1 }
    }
}

/// What is to be measured. A variant that is `None` is the one that has the algorithm of our tuned kernel (replicated,
/// warp-shuffle, first-nonzero, wide); [`KernelBench::tuned`](super::KernelBench::tuned) has the tuned kernels themselves.
#[derive(Clone, Copy, Debug, Default)]
pub struct Experiment {
    /// Which kernels.
    pub variants: Variants,
    /// How many threads, and who gets what.
    pub shape: LaunchShape,
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
pub enum KernelStep {
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

impl KernelStep {
    /// All of them, in their order.
    pub const ALL: [KernelStep; 6] = [
        KernelStep::Histogram,
        KernelStep::Saturation,
        KernelStep::Scan,
        KernelStep::CdfMin,
        KernelStep::Curve,
        KernelStep::Map,
    ];

    /// As tables show it.
    pub const fn name(self) -> &'static str {
        match self {
            KernelStep::Histogram => "histogram",
            KernelStep::Saturation => "saturation",
            KernelStep::Scan => "scan",
            KernelStep::CdfMin => "cdf-min",
            KernelStep::Curve => "curve",
            KernelStep::Map => "map",
        }
    }
}

/// What the repetitions of a step took, in µs.
#[derive(Clone, Debug)]
pub struct StepTimes {
    /// The step.
    pub step: KernelStep,
    /// In µs, one a repetition, in their order.
    pub times: Vec<f64>,
}

/// A whole equalization.
#[derive(Clone, Debug)]
pub struct Run {
    /// What each step took, by itself, in the order of the steps.
    pub steps: Vec<StepTimes>,
    /// What all of them took, one behind the other, with the clearing of the counts before them, in µs: not the sum of
    /// the above, each of which has the way of its events in it.
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
pub enum HostMemory {
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

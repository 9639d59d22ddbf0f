//! The kernels of five published histogram equalizers, beside our own: the same bytes from each, so that what differs is
//! the time. `kernels/variants/README.md` says which publication each is from.
//!
//! | file | what it is |
//! |---|---|
//! | `choice` | which kernel does a step |
//! | `shape` | how many threads, and which elements each of them gets |
//! | `formula` | the publications' own arithmetic, and where it goes wrong |
//! | `setups` | the five publications, as choices |
//! | `arguments` | the structures that the kernels take, as in `kernels/variants/elements.cuh` |
//! | `kernels` | a launcher for each family of files in `kernels/variants/` |
//! | `chosen` | the same kernels in normal runs |
//! | `timing` | times by the device's own clock |
//! | `experiment` | what a measurement is asked for, and what it gives |
//! | `plane` | a picture on the device |
//! | `kernel_bench` | the steps on it, timed one by one |
//! | `tuned` | the same of our own kernels |

mod arguments;
mod choice;
mod chosen;
mod experiment;
mod formula;
mod kernel_bench;
mod kernels;
mod plane;
mod setups;
mod shape;
mod timing;
mod tuned;

pub use choice::{CdfMin, HistogramVariant, MapVariant, ScanVariant, UnknownName, Variants};
pub use experiment::{
    Elements, Experiment, HostMemory, KernelRepeats, KernelStep, Measured, PixelOrder, Run, StepTimes, Transfer,
};
pub use formula::Formula;
pub use kernel_bench::KernelBench;
pub use plane::DevicePlane;
pub use setups::{PublishedSetup, SETUPS};
pub use shape::{LaunchShape, Walk};

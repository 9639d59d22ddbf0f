//! The kernels of five published histogram equalizers, to compare with the product's. All give the same bytes, so only
//! their times differ. `kernels/variants/README.md` names the publication of each.
//!
//! | file | what it is |
//! |---|---|
//! | `choice` | the choice of a kernel for each step |
//! | `shape` | the shape of a launch: threads, and the elements of each thread |
//! | `formula` | the publications' own arithmetic, and its errors |
//! | `setups` | the choices of the five publications |
//! | `arguments` | the structures that the kernels take by value, as in `kernels/variants/elements.cuh` |
//! | `kernels` | a launcher for each family of files in `kernels/variants/` |
//! | `chosen` | the same kernels in normal runs |
//! | `experiment` | the parameters, the times from events on the device, and the results of a measurement |
//! | `managed` | managed memory, prefetched to the device |
//! | `plane` | an image in GPU memory |
//! | `kernel_bench` | the steps, timed one by one |
//! | `tuned` | the product's kernels, timed in the same way |

mod arguments;
mod choice;
mod chosen;
mod experiment;
mod formula;
mod kernel_bench;
mod kernels;
mod managed;
mod plane;
mod setups;
mod shape;
mod tuned;

pub use choice::{CdfMin, HistogramVariant, MapVariant, ScanVariant, Variants};
pub use experiment::{
    BusTimes, Elements, Experiment, HostMemory, KernelRepeats, KernelStep, Measured, PixelOrder, Run, StepTimes,
};
pub use formula::Formula;
pub use kernel_bench::KernelBench;
pub use plane::DevicePlane;
pub use setups::{PublishedSetup, SETUPS};
pub use shape::{LaunchShape, Walk};

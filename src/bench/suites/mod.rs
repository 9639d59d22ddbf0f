//! A file a suite, and what several have in common. Each gives its tables, those of the GPU without rows where there is
//! none.

pub mod bins;
pub mod cdf_min;
pub mod cpu;
pub mod kernels;
pub mod luminance;
mod on_cpu;
mod on_gpu;
pub mod scans;
pub mod stages;
pub mod stream;
pub mod transcode;

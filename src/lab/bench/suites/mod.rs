//! One file per suite, and code that several share. Each suite returns its tables; those of a missing GPU have no rows.

pub mod bins;
pub mod cdf_min;
pub mod cpu;
pub mod kernels;
pub mod luminance;
mod on_cpu;
mod on_gpu;
mod python;
pub mod scans;
pub mod stages;
pub mod stream;

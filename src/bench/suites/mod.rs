//! A file a suite. Each gives its tables, rows without figures where there is no GPU.

pub mod cpu;
pub mod kernels;
pub mod stream;
pub mod transcode;

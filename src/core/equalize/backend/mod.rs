//! The backends but for that on the CPU, how one is opened, and how one replaces another.

#[cfg_attr(not(feature = "cuda"), path = "without_cuda.rs")]
pub mod cuda;
pub(crate) mod failover;
pub(crate) mod gpu_thread;
pub(crate) mod opening;
pub mod reference;

pub use failover::{Failover, OnUnavailable, OpeningBackend};
pub use gpu_thread::gpu_may_be_opening;
pub use opening::{Backend, BackendChoice, BackendStartup, SharedBackend};

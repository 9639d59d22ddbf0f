//! Frames in shared memory, and their copies.

pub(super) mod frames;
pub(super) mod shared_memory;

//! The integration tests, one binary: a module a room, and helpers.

mod backends;
mod cuda;
mod engine;
mod fallback;
mod frame;
mod grid;
mod kernel_arithmetic;
mod pictures;
mod spec;

//! The integration tests, one binary: a module a room, and helpers.

mod backends;
mod frame;
mod grid;
mod pictures;
mod spec;

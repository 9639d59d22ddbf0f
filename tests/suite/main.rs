//! The integration tests, one binary: a module a room, and helpers.

mod backends;
mod grid;
mod pictures;
mod spec;

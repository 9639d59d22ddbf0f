//! The tests that run the program and the tests of `histeq-media`, in one binary. A test's name is its path: the file
//! of `crate::media::kept::colour::alpha` is `tests/media/kept/colour/alpha.rs`.

// The library from Rust, C and Python.
mod hosts;
// Files, pipes, cameras and streams of all kinds, in and out.
mod media;
// The command line, looks, videos in pieces, messages, harmful input.
mod program;
// Documentation pages, their figures, rules of the sources.
mod repository;
// What several of them use: clips, the program, servers, skips.
mod support;

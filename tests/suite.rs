//! The tests that run the program, and those of `histeq-media`, one binary. A test's name is its path: the file of
//! `media::kept::alpha` is `tests/media/kept/alpha.rs`.

mod hosts;
mod laboratory;
mod media;
mod program;
mod repository;
mod support;

//! The program: its command line, its messages, its looks, videos in pieces, and malicious input. `inside` tests the
//! program's private modules, as unit tests.

// A GPU that is being opened, or missing.
mod gpu_opening;
// Malicious input and a hostile system.
pub mod harm;
// The output of looks and methods.
mod looks;
// A slow GPU driver.
mod slow_driver;
// What is typed, and what is said of mistakes in it.
mod arguments;
// Curves, tables, palettes, masks, depth, statistics of levels.
mod colour;
// Commands beside the one for a file.
mod commands;
// What is told: exit codes, events, progress.
mod messages;
// Files in and out: damaged, named twice, kept, interrupted.
pub(crate) mod outputs;

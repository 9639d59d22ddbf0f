//! Malicious files.

// Small inputs that take much memory or time.
pub(crate) mod costs;
// Damaged frames.
mod damage;
// Harmful inputs that fuzzers have found.
mod fuzz_findings;
// Plans and pieces with changed numbers.
mod plans;
// Playlists and other files that refer to files.
mod playlists;
// FIFOs and devices in place of files.
mod read_by_name;

//! Malicious input and a hostile system: input cannot reach the network, other files or the terminal, costs no more
//! memory and time than allowed, and a system that is short of resources does not make the program panic.

// Processes that outlive their parent, names that look like options or URLs.
mod children;
// Small inputs that take much memory or time.
mod costs;
// Damaged frames.
mod damage;
// System calls that fail.
mod faults;
// Harmful inputs that fuzzers have found.
mod fuzz_findings;
// A decoder that crashes or hangs.
pub mod isolation;
// A decoder or encoder that sends wrong messages, or none.
mod liars;
// Few threads, readers that close a pipe.
mod limits;
// Existing entries under names that the program generates.
mod made_up_names;
// `--max-memory`.
mod memory;
// Plans and pieces with changed numbers.
mod plans;
// Playlists and other files that refer to files.
mod playlists;
// FIFOs and devices in place of files.
mod read_by_name;
// A compromised decoder.
mod sandbox;
// Passwords and tokens in URLs.
mod secrets;
// Helper: malicious servers.
pub mod servers;
// Folders in which others may write.
mod shared_folders;
// Names and messages with terminal control sequences.
mod terminal;
// Actions that the sandboxes prevent.
mod walls;

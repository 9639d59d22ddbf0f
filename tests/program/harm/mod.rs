//! Input and surroundings that mean harm: what is read does not reach the network, other files or the terminal, and a
//! system that gives little, or nothing more, does not make the program panic; and what is read costs no more memory and time than is allowed.

// Processes that outlive their parent, names that look like options or URLs.
mod children;
// Small inputs that take much memory or time.
mod costs;
// Damaged pictures.
mod damage;
// System calls that fail.
mod faults;
// What fuzzers have found.
mod fuzz_findings;
// A decoder that crashes or hangs.
pub mod isolation;
// A decoder or an encoder that lies, or says nothing.
mod liars;
// Few threads, readers that go away.
mod limits;
// Entries under names that the program makes up.
mod made_up_names;
// `--max-memory`.
mod memory;
// Plans and pieces with changed numbers.
mod plans;
// Files that name other files.
mod playlists;
// FIFOs and devices in place of files.
mod read_by_name;
// A decoder that is taken over.
mod sandbox;
// Passwords and tokens in URLs.
mod secrets;
// Helper: servers that mean harm.
pub mod servers;
// Folders that others write in.
mod shared_folders;
// Names and messages with commands for a terminal.
mod terminal;
// Each system call that a wall stops.
mod walls;

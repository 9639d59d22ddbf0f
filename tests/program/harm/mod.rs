//! Malicious input and a hostile system: input cannot reach the network, other files or the terminal, costs no more
//! memory and time than allowed, and a system that is short of resources does not make the program panic.

// Processes that outlive their parent, names that look like options or URLs.
mod children;
// System calls that fail.
mod faults;
// Few threads, readers that close a pipe.
mod limits;
// Existing entries under names that the program generates.
mod made_up_names;
// `--max-memory`.
mod memory;
// Passwords and tokens in URLs.
mod secrets;
// Helper: malicious servers.
pub mod servers;
// Folders in which others may write.
mod shared_folders;
// Names and messages with terminal control sequences.
mod terminal;
// Decoders that were taken over, crash, hang or lie.
pub(crate) mod compromised;
// Files that do harm.
mod inputs;

//! What is told: exit codes, events for programs, the progress bar and messages.

// Exit codes.
mod errors;
// `--progress json`.
mod events;
// The progress bar and messages, on terminals and in logs.
mod terminal;

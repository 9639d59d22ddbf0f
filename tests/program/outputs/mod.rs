//! Files: damaged ones, those that nothing may replace, and what stays when a run ends early.

// Damaged files, full disks, folders that cannot be written to.
mod bad_input;
// Ctrl-C and SIGTERM.
pub mod interrupt;
// `--unchanged`.
mod left_as_it_is;
// Files that an input names, which no output replaces.
mod named_inputs;
// Existing files, links, disks, several outputs.
mod safe_outputs;

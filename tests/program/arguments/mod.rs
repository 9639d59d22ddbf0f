//! What is typed: commands, options, names, shells, defaults, and mistakes.

// Help, completions, man page, overwriting, `-q`.
mod command_line;
// Configuration files, presets, the environment.
mod defaults;
// `--dry-run`, `--version --json`.
mod dry_run;
// Mistakes of people who do not know the program.
mod hints;
// Words whose meaning differs from what users expect.
mod mistaken;
// File names that are not UTF-8.
mod not_text;
// The scripts in `samples/users`.
mod sample_scripts;
// Completions in real shells.
mod shells;

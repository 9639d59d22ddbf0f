//! The command line: options as typed (`...Args`), then checked and converted (`...Job`), and the backend that they
//! choose.
//!
//! | file | what it is |
//! |---|---|
//! | `command` | the commands, and the job that each becomes |
//! | `jobs` | the options of each command |
//! | `reading` | options of the input: what it is, which part of it, within which limits and walls |
//! | `picture` | options that choose how to equalize, and where; filters; false colours |
//! | `writing` | options of the output: `--for`; stderr; the view in a browser |
//! | `habits` | options of other programs, with their translations; the short help |
//! | `elsewhere` | further options of other programs: those that depend on the command, and some of ffmpeg |
//! | `defaults` | options from presets, the environment and a configuration file |
//! | `values` | parsers of single values |
//! | `shell` | completions and man pages |

mod command;
mod defaults;
mod elsewhere;
mod habits;
mod habits_table;
pub mod jobs;
pub mod picture;
pub mod reading;
mod shell;
mod short_help;
mod values;
pub mod writing;

#[cfg(any(test, fuzzing))]
pub use command::Args;
pub use command::Job;
pub use shell::{answer_shell, completions, man_pages};
pub use short_help::examples;
pub use values::{in_one_line, is_cube, shown_command};

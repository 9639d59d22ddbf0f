//! The command line: options as typed (`...Args`), then checked and converted (`...Job`), and the backend that they
//! choose.
//!
//! | file | what it is |
//! |---|---|
//! | `command` | the commands, and the job that each becomes |
//! | `file`, `live`, `compare`, `preview`, `work` | the options of each command |
//! | `habits` | options of other programs, with their translations; the short help |
//! | `elsewhere` | further options of other programs: those that depend on the command, and some of ffmpeg |
//! | `defaults` | options from presets, the environment and a configuration file |
//! | `equalize`, `option_args` | options that choose how to equalize: the table of the core as arguments |
//! | `pieces` | the options of `plan`, `run`, `join` and `status` |
//! | `many` | options for many cores and many files |
//! | `filter` | options of the filters before equalization |
//! | `palette` | options of false colours |
//! | `input` | options that describe the input |
//! | `sequence` | sequences of images, named by their first image or their folder |
//! | `output` | options that choose how to write a file |
//! | `purpose` | `--for`, and the options that it sets |
//! | `limits` | options that limit time, memory and size |
//! | `sandbox` | the option of the sandbox around decoding |
//! | `part` | options that choose a part of the input |
//! | `web` | options of the view in a browser |
//! | `stderr` | options that choose what is printed on stderr |
//! | `backend_args` | options that choose the backend |
//! | `values` | parsers of single values |
//! | `cameras` | the file of cameras of `live --config` |
//! | `shell` | completions and man pages |

mod backend_args;
mod cameras;
mod command;
mod compare;
mod defaults;
mod elsewhere;
mod equalize;
mod file;
mod filter;
mod habits;
mod input;
mod limits;
mod live;
mod many;
mod option_args;
mod output;
mod palette;
mod part;
mod pieces;
mod preview;
mod purpose;
mod sandbox;
mod sequence;
mod shell;
mod stderr;
mod values;
mod web;
mod work;

pub use cameras::{Camera, CameraFile};
#[cfg(any(test, fuzzing))]
pub use command::Args;
pub use command::Job;
pub use compare::{CompareJob, CompareView};
pub use equalize::EqualizeOptions;
pub use file::{FileJob, StatsFormat};
pub use filter::FilterOptions;
pub use habits::examples;
pub use limits::RunLimits;
pub use live::{LiveJob, Scheduled};
pub use many::{Jobs, ManyJob, Unchanged, is_video_name};
pub use output::OutputFile;
pub use palette::PaletteOptions;
pub use pieces::{JoinJob, PlanJob, PlannedFile, RunJob, StatusArgs};
pub use preview::{LookRow, PreviewJob, ReadyCommand};
pub use purpose::Purpose;
pub use sandbox::Sandbox;
pub use sequence::images_in;
pub use shell::{answer_shell, completions, man_pages};
pub use stderr::{EventsTo, MeterStyle, StderrOptions, Verbosity};
pub use values::{in_one_line, is_cube, shown_command};
pub use web::WebOptions;
pub use work::{Chosen, WorkJob};

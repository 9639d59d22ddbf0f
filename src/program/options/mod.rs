//! The command line: options as typed (`...Args`), then checked and converted (`...Job`), and the backend that they choose.
//!
//! | file | what it is |
//! |---|---|
//! | `command` | the commands, and the job that each stands for |
//! | `file`, `live`, `compare`, `restore`, `preview`, `bench` | the options of each command |
//! | `defaults` | options from presets, the environment and a configuration file |
//! | `equalize`, `look`, `region` | options that choose how to equalize |
//! | `pieces` | the options of `plan`, `run`, `join` and `status` |
//! | `many` | options for many cores and many files |
//! | `filter` | options of the filters ahead of that |
//! | `input` | options that describe the input |
//! | `output` | options that choose how to write a file |
//! | `purpose` | the option that says what a file is for, and what it sets |
//! | `limits` | options that limit what an input may cost |
//! | `sandbox` | the option of the walls around decoding |
//! | `part` | options that choose a part of the input |
//! | `stderr` | options that choose what is printed on stderr |
//! | `backend_args`, `variant_args` | options that choose the backend and its kernels |
//! | `values` | parsers of single values |
//! | `backend`, `gpu_thread` | opening the chosen backend |
//! | `shell` | completions and man pages |

mod backend;
mod backend_args;
#[cfg(feature = "lab")]
mod bench;
mod command;
mod compare;
mod defaults;
mod equalize;
mod file;
mod filter;
mod gpu_thread;
mod input;
mod limits;
mod live;
mod look;
mod many;
mod output;
mod part;
mod pieces;
mod preview;
mod purpose;
mod region;
mod restore;
mod sandbox;
mod shell;
mod stderr;
mod values;
#[cfg(feature = "lab")]
mod variant_args;

pub use backend::{BackendStartup, SharedBackend};
#[cfg(feature = "lab")]
pub use bench::BenchJob;
#[cfg(any(test, fuzzing))]
pub use command::Args;
pub use command::Job;
pub use compare::CompareJob;
pub use equalize::EqualizeOptions;
pub use file::FileJob;
pub use filter::FilterOptions;
pub use gpu_thread::gpu_may_be_opening;
pub use limits::Limits;
pub use live::LiveJob;
pub use look::LookArg;
pub use many::{Jobs, ManyJob};
pub use output::OutputFile;
pub use pieces::{JoinJob, PiecesJob, PlanJob, RunJob, StatusJob, planned_job};
pub use preview::PreviewJob;
pub use purpose::Purpose;
pub use restore::RestoreJob;
pub use shell::{completions, man_page, man_pages};
pub use stderr::{EventsTo, StderrOptions};

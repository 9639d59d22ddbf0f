//! `histeq-video bench`: measures this machine, so that anyone can fill the tables of the five publications that this
//! project starts from, and its own, on a card of their own.
//!
//! ```text
//! Setup (what to run, how often, on which GPU) -> suites -> Report (tables) -> Markdown | CSV | JSON | SVG
//!                                                                 \-> comparison with the publications' figures
//! ```
//!
//! A figure is the median of repeated runs, with its quartiles. Results are held against the reference, and one that
//! differs fails the run: a wrong result has no speed. (`kernels` times runs that leave pictures as they are, so that they
//! can be worked on again; there it is what the same kernels make of the picture at full strength that is held against it.)
//!
//! | file | what it is |
//! |---|---|
//! | `suite` | the suites by name, and what each measures |
//! | `suites/` | a file a suite |
//! | `run` | runs a suite |
//! | `transcode_backend` | the ways in which `transcode` runs this program |
//! | `setup` | what a suite is told, and its progress |
//! | `value` | repeated runs, median, quartiles |
//! | `table` | rows with units |
//! | `report`, `machine` | the tables of a suite, and what they were measured on |
//! | `markdown`, `data`, `plot` | what a report is written as |
//! | `references` | the figures in the publications |
//! | `comparison` | ours beside them |
//! | `content` | pictures to measure with |
//! | `arithmetic` | the publications' own |
//! | `sequential` | the publications' programs for one thread of a CPU |
//! | `expected` | what timed frames have to be |
//! | `copies` | what bus and memory can do |
//! | `child` | other programs, with what they used |

mod arithmetic;
mod child;
mod comparison;
mod content;
mod copies;
mod data;
mod expected;
mod machine;
mod markdown;
mod plot;
mod references;
mod report;
mod run;
mod sequential;
mod setup;
mod suite;
mod suites;
mod table;
mod transcode_backend;
mod value;

pub use arithmetic::Arithmetic;
pub use comparison::compare;
pub use data::{csv, json};
pub use markdown::markdown;
pub use plot::svg;
pub use references::{MeasuredCell, PUBLICATIONS, Publication, PublishedFigure, figures};
pub use report::SuiteReport;
pub use run::run;
pub use setup::{Setup, Steps};
pub use suite::Suite;
pub use table::{Measure, Row, Table, Unit};
pub use transcode_backend::TranscodeBackend;
pub use value::{Repeats, Value};

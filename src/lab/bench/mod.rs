//! `histeq-lab`: measures this machine. It prints the tables of the five publications that this project starts
//! from, and further tables.
//!
//! ```text
//! Setup (what to run, how often, on which GPU) -> suites -> Report (tables) -> Markdown | CSV | JSON
//!                                                                 \-> comparison with the publications' figures
//! ```
//!
//! A figure is the median of repeated runs, with its quartiles. Results are compared with the reference, and a
//! difference fails the run. (`kernels` times runs that leave frames unchanged, so that they can be repeated; there
//! the output of the same kernels at full strength is compared.)
//!
//! | file | what it is |
//! |---|---|
//! | `suite` | the names and descriptions of the suites |
//! | `suites/` | one file per suite |
//! | `run` | runs a suite |
//! | `setup` | the parameters of a suite, and its progress |
//! | `value` | repeated runs, median, quartiles |
//! | `table` | rows with units |
//! | `report`, `machine` | the tables of a suite, and the machine that was measured |
//! | `markdown`, `data` | the output formats of a report |
//! | `references`, `publications.json` | the figures in the publications |
//! | `comparison` | the figures of this machine beside the published ones |
//! | `content` | the content of the measured frames |
//! | `arithmetic` | the publications' own arithmetic |
//! | `sequential` | the publications' programs for one thread of a CPU |
//! | `expected` | the expected content of timed frames |
//! | `copies` | the bandwidth of bus and memory |
//! | `image_file` | images of the user |

mod arithmetic;
mod comparison;
mod content;
mod copies;
mod data;
mod expected;
mod image_file;
mod machine;
pub(crate) mod markdown;
mod references;
mod report;
pub(crate) mod run;
mod sequential;
mod setup;
mod suite;
mod suites;
mod table;
mod value;

pub use arithmetic::Arithmetic;
pub use comparison::compare;
pub use data::{csv, json};
pub use markdown::markdown;
pub use references::{MeasuredCell, PUBLICATIONS, Publication, PublishedColumn, PublishedRow, PublishedTable};
pub use report::SuiteReport;
pub use run::run;
pub use setup::{Setup, Steps};
pub use suite::Suite;
pub use table::{Measure, Row, Table, Unit};
pub use value::{Repeats, Value};

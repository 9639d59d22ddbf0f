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
//! | `suite`, `suites/` | the names and descriptions of the suites; one file per suite |
//! | `run`, `setup` | runs a suite; its parameters, and its progress |
//! | `output` | repeated runs, rows with units, the tables of a suite, and their formats |
//! | `reference` | the figures in the publications beside those of this machine; what timed frames must contain |
//! | `content`, `image_file` | the content of the measured frames; images of the user |
//! | `copies` | the bandwidth of bus and memory |

mod content;
mod copies;
mod image_file;
pub mod output;
pub mod reference;
pub(crate) mod run;
mod setup;
mod suite;
mod suites;

pub use run::run;
pub use setup::{Setup, Steps};
pub use suite::Suite;

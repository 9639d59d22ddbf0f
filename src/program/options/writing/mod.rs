//! Options of what is written: the output, what it is for, lines on stderr, pages for browsers.

pub(crate) mod output;
pub(crate) mod purpose;
pub(crate) mod stderr;
pub(crate) mod web;

pub use output::OutputFile;
pub use purpose::Purpose;
pub use stderr::{EventsTo, MeterStyle, StderrOptions, Verbosity};
pub use web::WebOptions;

//! The tables of a suite, and the formats that they are written in.

pub(crate) mod data;
pub(crate) mod machine;
pub(crate) mod markdown;
pub(crate) mod report;
pub(crate) mod table;
pub(crate) mod value;

pub use data::{csv, json};
pub use markdown::markdown;
pub use report::SuiteReport;
pub use table::{Measure, Row, Table, Unit};
pub use value::{Repeats, Value};

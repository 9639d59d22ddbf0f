//! The tables of a suite, and the machine that was measured.

use super::machine::Machine;
use super::{Repeats, Table};
use crate::bench::Suite;

/// The results of a suite.
#[derive(Clone, Debug)]
pub struct SuiteReport {
    /// The suite.
    pub suite: Suite,
    /// The machine that it ran on.
    pub machine: Machine,
    /// The number of runs of each figure.
    pub repeats: Repeats,
    /// Notes on all tables.
    pub notes: Vec<String>,
    /// The tables.
    pub tables: Vec<Table>,
}

/// The name of the table of Python's times.
pub const PYTHON: &str = "python";

impl SuiteReport {
    /// The titles of tables without a figure, because there is no GPU.
    pub fn missing(&self) -> Vec<&str> {
        let lacking = self.tables.iter().filter(|table| table.rows().is_empty() && table.name != PYTHON);
        lacking.map(|table| table.title.as_str()).collect()
    }

    /// The table of this name.
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.name == name)
    }
}

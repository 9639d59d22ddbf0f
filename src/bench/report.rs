//! The tables of a suite, and the machine that they are of.

use super::machine::Machine;
use super::{Repeats, Suite, Table};

/// What a suite has found out.
#[derive(Clone, Debug)]
pub struct SuiteReport {
    /// Which suite.
    pub suite: Suite,
    /// Where it ran.
    pub machine: Machine,
    /// How often each figure was measured.
    pub repeats: Repeats,
    /// What readers of all tables have to know.
    pub notes: Vec<String>,
    /// What was measured.
    pub tables: Vec<Table>,
}

impl SuiteReport {
    /// The table of this name.
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.name == name)
    }
}

//! The figures of the five publications that this project starts from, digit for digit, with their hardware and what
//! their times include; and for each, the table cell of this program's figure. All are in `publications.json`.

use crate::bench::Suite;
use crate::bench::output::Unit;
use serde::Deserialize;
use std::sync::LazyLock;

/// The name of the rows of the plain loop on the CPU.
pub const SEQUENTIAL: &str = "sequential";
/// The name of the rows of this program on the CPU.
pub const BEST: &str = "this program";

/// All five publications, in the order of the suites.
pub static PUBLICATIONS: LazyLock<Vec<Publication>> = LazyLock::new(|| {
    let publications = serde_json::from_str(include_str!("publications.json"));
    publications.unwrap_or_else(|error| panic!("publications.json: {error}"))
});

/// A publication.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Publication {
    /// The name of the publication's file, without `.txt`.
    pub name: String,
    /// The hardware of its measurements.
    pub hardware: String,
    /// What its times include.
    pub includes: String,
    /// Its tables, with its rows and columns.
    pub tables: Vec<PublishedTable>,
}

/// A table of a publication.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedTable {
    /// Its position in the publication (number or heading).
    pub place: String,
    /// The unit of its figures.
    pub unit: Unit,
    /// The suite that measures the same.
    pub suite: Suite,
    /// The head of its first column.
    pub head: String,
    /// Its other columns.
    pub columns: Vec<PublishedColumn>,
    /// Its rows.
    pub rows: Vec<PublishedRow>,
}

/// A column of a published table, and the cells of this program's figures.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedColumn {
    /// Its head.
    pub name: String,
    /// The cell measured with the publication's kernels, or with the kernels closest to them.
    here: Option<MeasuredCell>,
    /// The cell measured with the kernels of normal runs, if it differs from `here`.
    tuned: Option<MeasuredCell>,
}

/// A row of a published table. It has separate cells if those of the columns do not apply to it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedRow {
    /// The name of the row.
    pub name: String,
    /// The text that replaces `{row}` in the keys of a cell, if that is not the name.
    key: Option<String>,
    /// A figure for each column, as written in the publication.
    pub figures: Vec<String>,
    here: Option<MeasuredCell>,
    tuned: Option<MeasuredCell>,
}

/// A cell in a report's tables.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeasuredCell {
    /// The table.
    pub table: String,
    /// The keys of the row; `{row}` is replaced by the key of the published row.
    keys: Vec<String>,
    /// The name of the measure of the kernels alone, if there is one.
    pub alone: Option<String>,
    /// The name of the measure of all that the publication's time includes, such as copies, if there is one.
    pub whole: Option<String>,
}

impl PublishedTable {
    /// The cell of this program's figure by the publication's kernels, or the closest ones.
    pub fn here<'a>(&'a self, row: &'a PublishedRow, column: usize) -> Option<&'a MeasuredCell> {
        row.here.as_ref().or(self.columns[column].here.as_ref())
    }

    /// The cell of this program's figure by the kernels of normal runs, if it differs from `here`.
    pub fn tuned<'a>(&'a self, row: &'a PublishedRow, column: usize) -> Option<&'a MeasuredCell> {
        row.tuned.as_ref().or(self.columns[column].tuned.as_ref())
    }
}

impl MeasuredCell {
    /// The keys of the cell's row in the measured table, for this row of the publication.
    pub fn keys<'a>(&'a self, row: &'a PublishedRow) -> Vec<&'a str> {
        let of_row = row.key.as_ref().unwrap_or(&row.name);
        self.keys.iter().map(|key| if key == "{row}" { of_row } else { key }.as_str()).collect()
    }
}

impl Suite {
    /// Whether a publication has figures for this suite.
    pub fn has_references(self) -> bool {
        PUBLICATIONS.iter().flat_map(|publication| &publication.tables).any(|table| table.suite == self)
    }
}

//! The figures of the five publications that this project starts from, digit for digit, with their hardware and what
//! their times include; and the place of this program's figure in a report. `publications.json` has them.

use super::{Suite, Unit};
use serde::Deserialize;
use std::sync::LazyLock;

/// The rows of the plain loop on the CPU.
pub const SEQUENTIAL: &str = "sequential";
/// The rows of this program on the CPU.
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
    /// Its name, without `.txt`.
    pub name: String,
    /// The hardware of its measurements.
    pub hardware: String,
    /// The scope of its times.
    pub includes: String,
    /// Its tables, in its own rows and columns.
    pub tables: Vec<PublishedTable>,
}

/// A table of a publication.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedTable {
    /// Its place in the publication.
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

/// A column of a published table, and the places of this program's figures.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedColumn {
    /// Its head.
    pub name: String,
    /// The cell of the figures by the publication's kernels, or the closest ones.
    here: Option<MeasuredCell>,
    /// The cell of the figures by the kernels of normal runs, if that is another one.
    tuned: Option<MeasuredCell>,
}

/// A row of a published table. It has cells of its own if those of the columns do not apply to it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedRow {
    /// Its name.
    pub name: String,
    /// The text that replaces `{row}` in the keys of a cell, if that is not the name.
    key: Option<String>,
    /// A figure for each column, as written there.
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
    /// The keys of the row; `{row}` is that of the published row.
    keys: Vec<String>,
    /// The measure of the kernels alone, if there is one.
    pub alone: Option<String>,
    /// The measure of all that the publication's time includes, such as copies, if there is one.
    pub whole: Option<String>,
}

impl PublishedTable {
    /// The cell of this program's figure by the publication's kernels, or the closest ones.
    pub fn here<'a>(&'a self, row: &'a PublishedRow, column: usize) -> Option<&'a MeasuredCell> {
        row.here.as_ref().or(self.columns[column].here.as_ref())
    }

    /// The cell of its figure by the kernels of normal runs, if that is another one.
    pub fn tuned<'a>(&'a self, row: &'a PublishedRow, column: usize) -> Option<&'a MeasuredCell> {
        row.tuned.as_ref().or(self.columns[column].tuned.as_ref())
    }
}

impl MeasuredCell {
    /// The keys of its row in the table, beside this row of the publication.
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

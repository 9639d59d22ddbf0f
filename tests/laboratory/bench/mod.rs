//! `bench`: every suite on small pictures. How long anything takes is not tested, only that it is measured, verified and
//! written down.

// Arguments.
mod command_line;
// The publications' figures beside ours.
mod figures;
// What is measured, with and without a GPU.
mod suites;
// Markdown, CSV, JSON.
mod written;

use crate::support::program::Dir;
use serde_json::Value;

/// Runs a suite once on small pictures and gives what it wrote as JSON.
#[track_caller]
fn run(dir: &Dir, options: &str) -> Value {
    dir.succeeds(&format!("{options} --quick --repeat 1 --warmup 0 --json r.json"));
    serde_json::from_slice(&dir.read("r.json")).expect("JSON")
}

#[track_caller]
fn rows<'a>(report: &'a Value, table: &str) -> &'a [Value] {
    let tables = report["tables"].as_array().expect("tables");
    let found = tables.iter().find(|found| found["name"] == table).unwrap_or_else(|| panic!("no table {table}"));
    found["rows"].as_array().expect("rows")
}

/// Requires a figure above 0 for each of these measures in every row.
#[track_caller]
fn all_have(rows: &[Value], measures: &[&str]) {
    for row in rows {
        for measure in measures {
            let median = row["figures"][measure]["median"].as_f64();
            assert!(median.is_some_and(|median| median > 0.0), "{measure} of {row}");
        }
    }
}

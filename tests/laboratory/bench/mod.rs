//! `bench`: every suite with small pictures. The tests check that everything is measured, verified and written, not how
//! long it takes.

// Arguments.
mod command_line;
// The publications' figures next to ours.
mod figures;
// What is measured, with and without a GPU.
mod suites;
// Markdown, CSV, JSON.
mod written;

use crate::support::programs::program::Dir;
use serde_json::Value;

/// Runs a suite once on small pictures. Returns its JSON output.
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

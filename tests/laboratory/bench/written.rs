//! The output formats: Markdown on stdout, CSV, JSON.

use super::{rows, run};
use crate::support::programs::program::Dir;
use std::collections::BTreeSet;

/// A suite that has figures even without a GPU, and one with several tables.
const SUITES: [&str; 2] = ["scans", "bins"];

#[test]
fn csv_and_json_have_the_same_figures() {
    let dir = Dir::new();
    for suite in SUITES {
        let report = run(&dir, &format!("{suite} --backend cpu --csv r.csv"));
        let written = dir.read("r.csv");
        let mut table = csv::Reader::from_reader(&written[..]);
        let heads = table.headers().expect("heads").clone();
        let value_of = |record: &csv::StringRecord, head: &str| {
            let place = heads.iter().position(|found| found == head).unwrap_or_else(|| panic!("no column {head}"));
            record[place].to_owned()
        };
        let mut count = 0;
        for record in table.records() {
            let record = record.expect("a record");
            assert!(suite.starts_with(&value_of(&record, "suite")));
            let fits = |row: &&serde_json::Value| {
                let keys = row["keys"].as_object().expect("keys");
                keys.iter().all(|(key, value)| value == &value_of(&record, key))
            };
            let found: Vec<_> = rows(&report, &value_of(&record, "table")).iter().filter(fits).collect();
            assert_eq!(found.len(), 1, "{record:?}");
            let figure = &found[0]["figures"][value_of(&record, "measure")];
            for column in ["median", "quartile_1", "quartile_3", "runs"] {
                assert_eq!(figure[column].as_f64(), value_of(&record, column).parse().ok(), "{column} of {record:?}");
            }
            assert_eq!(figure["unit"], value_of(&record, "unit"));
            count += 1;
        }
        let tables = report["tables"].as_array().expect("tables");
        let all = tables.iter().flat_map(|table| table["rows"].as_array().expect("rows"));
        assert_eq!(count, all.map(|row| row["figures"].as_object().map_or(0, serde_json::Map::len)).sum::<usize>());
    }
}

#[test]
fn tables_on_stdout_have_as_many_cells_in_every_row_as_in_their_head() {
    let dir = Dir::new();
    let run = dir.succeeds("scans --backend cpu --quick --repeat 3 --warmup 1");
    assert_eq!(run.stderr, "");
    let text = String::from_utf8(run.stdout).expect("text");
    let lines: Vec<&str> = text.lines().collect();
    let tables = lines.split(|line| !line.starts_with('|')).filter(|table| !table.is_empty());
    for table in tables {
        let cells: BTreeSet<usize> = table.iter().map(|line| line.matches('|').count()).collect();
        assert_eq!(cells.len(), 1, "{text}");
    }
    assert!(text.contains("medians of 3 runs after 1"), "{text}");
    assert!(text.contains("| sequential |") || text.contains("| sequential "), "{text}");
}

#[test]
fn what_cannot_be_written_is_an_error_that_names_it() {
    let dir = Dir::new();
    dir.run("scans --backend cpu --quick --repeat 1 --csv no/such/folder.csv")
        .fails()
        .says(&["no/such/folder.csv: there is no folder no/such"]);
}

//! What is written: Markdown on stdout, CSV, JSON, SVG.

use super::{rows, run};
use crate::support::program::Dir;
use quick_xml::Reader;
use quick_xml::events::Event;
use std::collections::BTreeSet;

/// What has lines, and what has several tables. Without a GPU, none has bars.
const SUITES: [&str; 2] = ["scans", "bins"];

#[test]
fn csv_and_json_have_the_same_figures() {
    let dir = Dir::new();
    for suite in SUITES {
        let report = run(&dir, &format!("{suite} --backend cpu --csv r.csv"));
        let written = dir.read("r.csv");
        let mut table = csv::Reader::from_reader(&written[..]);
        let heads = table.headers().expect("heads").clone();
        let of = |record: &csv::StringRecord, head: &str| {
            let place = heads.iter().position(|found| found == head).unwrap_or_else(|| panic!("no column {head}"));
            record[place].to_owned()
        };
        let mut count = 0;
        for record in table.records() {
            let record = record.expect("a record");
            assert!(suite.starts_with(&of(&record, "suite")));
            let fits = |row: &&serde_json::Value| {
                let keys = row["keys"].as_object().expect("keys");
                keys.iter().all(|(key, value)| value == &of(&record, key))
            };
            let found: Vec<_> = rows(&report, &of(&record, "table")).iter().filter(fits).collect();
            assert_eq!(found.len(), 1, "{record:?}");
            let figure = &found[0]["figures"][of(&record, "measure")];
            for column in ["median", "quartile_1", "quartile_3", "runs"] {
                assert_eq!(figure[column].as_f64(), of(&record, column).parse().ok(), "{column} of {record:?}");
            }
            assert_eq!(figure["unit"], of(&record, "unit"));
            count += 1;
        }
        let tables = report["tables"].as_array().expect("tables");
        let all = tables.iter().flat_map(|table| table["rows"].as_array().expect("rows"));
        assert_eq!(count, all.map(|row| row["figures"].as_object().map_or(0, serde_json::Map::len)).sum::<usize>());
    }
}

#[test]
fn plots_are_well_formed_and_need_no_other_file() {
    let dir = Dir::new();
    for suite in SUITES {
        run(&dir, &format!("{suite} --backend cpu --plot p.svg"));
        let text = String::from_utf8(dir.read("p.svg")).expect("text");
        let mut reader = Reader::from_str(&text);
        let (mut lines, mut open) = (0, 0);
        loop {
            let event = reader.read_event().unwrap_or_else(|error| panic!("{suite}: {error} in {text}"));
            match &event {
                Event::Eof => break,
                Event::Start(_) => open += 1,
                Event::End(_) => open -= 1,
                _ => {}
            }
            let (Event::Start(tag) | Event::Empty(tag)) = event else { continue };
            lines += usize::from(tag.name().as_ref() == b"path");
            for attribute in tag.attributes() {
                let attribute = attribute.expect("an attribute");
                assert!(!attribute.key.as_ref().ends_with(b"href"), "{suite} has a reference");
                assert!(!String::from_utf8_lossy(&attribute.value).contains("url("), "{suite} has a reference");
            }
        }
        assert_eq!(open, 0);
        assert!(lines >= 3, "{suite} draws {lines} lines");
        assert!(!text.contains("@import") && !text.contains("url("), "{suite}");
        assert!(!text.contains("NaN") && !text.contains("inf"), "{suite}");
    }
}

#[test]
fn plots_say_what_their_axes_are_and_what_was_measured() {
    let dir = Dir::new();
    run(&dir, "scans --backend cpu --plot p.svg");
    let text = String::from_utf8(dir.read("p.svg")).expect("text");
    let today = dir.other_command("date", "-u +%F").output().expect("a date").stdout;
    let today = String::from_utf8_lossy(&today).trim().to_owned();
    for part in
        ["rotate(-90)", ">time (µs, logarithmic)<", ">size (logarithmic)<", &today, " thread", "one run of each"]
    {
        assert!(text.contains(part), "{part}: {text}");
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

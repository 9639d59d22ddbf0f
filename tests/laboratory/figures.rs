//! The publications' figures in the tables of `bench`.

use histeq_lab::bench::reference::{PUBLICATIONS, PublishedTable};

/// The published figure in this row and column.
fn stated<'a>(table: &'a PublishedTable, row: &str, column: &str) -> Option<&'a str> {
    let place = table.columns.iter().position(|known| known.name == column)?;
    let row = table.rows.iter().find(|known| known.name == row)?;
    Some(&row.figures[place])
}

fn table(publication: &str, place: &str) -> &'static PublishedTable {
    let found = PUBLICATIONS.iter().find(|known| known.name == publication);
    let found = found.and_then(|found| found.tables.iter().find(|table| table.place == place));
    found.unwrap_or_else(|| panic!("{publication}: no {place}"))
}

/// A selection of figures from all publications.
#[test]
fn figures_are_those_of_the_documents() {
    for (publication, place, row, column, expected) in [
        ("cuda-naive-vs-optimized", "table, config 1", "910x682", "CPU total", "7946"),
        ("cuda-naive-vs-optimized", "table, config 1", "5120x2880", "equalize on the GPU", "11958"),
        ("cuda-naive-vs-optimized", "table, config 1", "512x384", "GPU total", "771"),
        ("cuda-naive-vs-optimized", "screenshots, 5120x2880, config 2", "naive", "total", "108304"),
        ("cuda-naive-vs-optimized", "screenshots, 5120x2880, config 2", "optimized", "histogram", "5083"),
        ("opencl-blelloch-scan", "table of large images", "big.png 3072x2048", "CPU", "1.2848"),
        ("opencl-blelloch-scan", "table of small images", "bog.png 874x544", "GPU (reduction)", "0.0890"),
        ("opencl-blelloch-scan", "table of small images", "car.png 600x338", "GPU (min)", "0.0260"),
        ("opencl-blelloch-scan", "text", "large images", "min", "1.7"),
        ("cuda-three-scans", "table 1", "2048x2048", "sequential", "8.67020"),
        ("cuda-three-scans", "table 1", "8192x8192", "kogge-stone-double 512", "14.1004"),
        ("cuda-three-scans", "table 3", "8192x8192", "brent-kung 256", "19.3966"),
        ("cuda-three-scans", "table 3", "8192x8192", "sequential", "10082.3"),
        ("cuda-three-scans", "table 2", "4096x4096", "brent-kung 512", "10.5208"),
        ("cuda-three-scans", "table 4", "1024x1024", "kogge-stone 256", "267.563"),
        ("cuda-three-scans", "table 5", "2048x2048", "Python", "1.32701"),
    ] {
        assert_eq!(stated(table(publication, place), row, column), Some(expected), "{place}: {row}, {column}");
    }
}

#[test]
fn every_table_is_of_a_document_that_is_described_and_full_of_numbers() {
    let tables = || PUBLICATIONS.iter().flat_map(|publication| &publication.tables);
    let figures = |table: &PublishedTable| table.rows.iter().map(|row| row.figures.len()).sum::<usize>();
    // The figures of each table, as rows x columns: 5x5, 2x5, 1x5; 4x3 and 6x3, 2x2; two of 4x7, two of 4x6, 4x2; 2; 3.
    assert_eq!(tables().map(figures).sum::<usize>(), 25 + 10 + 5 + 30 + 4 + 56 + 48 + 8 + 2 + 3);
    for table in tables() {
        for row in &table.rows {
            assert_eq!(row.figures.len(), table.columns.len(), "{row:?}");
            for (column, figure) in row.figures.iter().enumerate() {
                let first = figure.split(" to ").next().expect("a part");
                assert!(first.parse::<f64>().is_ok_and(|stated| stated > 0.0), "{row:?}");
                let here = table.here(row, column).unwrap_or_else(|| panic!("{row:?} has no place"));
                assert!(here.alone.is_some() || here.whole.is_some(), "{row:?}");
            }
        }
    }
}

/// Speed-ups are quotients of the tables of times, and table 5 repeats their columns: a wrong digit shows.
#[test]
fn the_scans_tables_follow_from_each_other() {
    let number = |table: &PublishedTable, row: &str, column: &str| -> f64 {
        stated(table, row, column).and_then(|stated| stated.parse().ok()).unwrap_or_else(|| panic!("{row}, {column}"))
    };
    let value_of = |place| table("cuda-three-scans", place);
    for (times, quotients, language) in [("table 1", "table 2", "C++"), ("table 3", "table 4", "Python")] {
        let (times, quotients) = (value_of(times), value_of(quotients));
        for row in quotients.rows.iter().map(|row| &row.name) {
            for column in quotients.columns.iter().map(|column| &column.name) {
                let quotient = number(times, row, "sequential") / number(times, row, column);
                let there = number(quotients, row, column);
                assert!((quotient / there - 1.0).abs() < 2e-3, "{row}, {column}: {there}, not {quotient}");
            }
            assert_eq!(stated(value_of("table 5"), row, language), stated(times, row, "kogge-stone 512"), "{row}");
        }
    }
}

//! Prints the publications' tables with the same tables measured on this machine (`--compare references`).

use super::published::{MeasuredCell, PUBLICATIONS, Publication, PublishedRow, PublishedTable};
use crate::bench::output::markdown::{grid, significant};
use crate::bench::output::{SuiteReport, Unit};
use histeq::Named;

/// The tables of every publication that has figures for this report's suite, each followed by tables of this machine
/// with the same rows and columns.
pub fn compare(report: &SuiteReport) -> String {
    let mut parts = vec![
        format!("# histeq-lab {} beside the publications", report.suite.name()),
        format!("Here: {}; {}.", report.machine.line(), report.repeats),
        "The same way is by the publication's own kernels, or on the CPU by its loop, with all that its times include: \
         copies are from and to memory as the allocator gives it. Our way is by the kernels of normal runs, with \
         copies from and to pinned memory. A table of ours has the rows and columns of the publication's table \
         above it."
            .to_owned(),
    ];
    parts.extend(report.notes.iter().cloned());
    for publication in PUBLICATIONS.iter() {
        let mut tables = publication.tables.iter().filter(|table| table.suite == report.suite).peekable();
        if tables.peek().is_some() {
            parts.extend(heading(publication));
            tables.for_each(|table| parts.extend(section(table, report)));
        }
    }
    parts.join("\n\n") + "\n"
}

fn heading(publication: &Publication) -> [String; 3] {
    let Publication { name, hardware, includes, .. } = publication;
    [format!("## {name}"), format!("There: {hardware}."), includes.clone()]
}

/// A table of a publication, and the tables of this machine that have any figure.
fn section(table: &PublishedTable, report: &SuiteReport) -> Vec<String> {
    let unit = table.unit.symbol();
    let stated = filled(table, |row, column| Some(row.figures[column].clone()));
    let mut parts = vec![format!("### {} ({unit})", table.place), stated.unwrap_or_default()];
    type Place = for<'a> fn(&'a PublishedTable, &'a PublishedRow, usize) -> Option<&'a MeasuredCell>;
    type Scope = fn(&MeasuredCell) -> Option<&String>;
    let (alone, whole): (Scope, Scope) = (|cell| cell.alone.as_ref(), |cell| cell.whole.as_ref());
    let ways: [(&str, Place, Scope); 4] = [
        ("Here, the same way", PublishedTable::here, whole),
        ("Here, the same way, kernels alone", PublishedTable::here, alone),
        ("Here, our way", PublishedTable::tuned, whole),
        ("Here, our way, kernels alone", PublishedTable::tuned, alone),
    ];
    for (title, place, scope) in ways {
        let figure = |row: &PublishedRow, column| {
            let cell = place(table, row, column)?;
            ours(table.unit, report, cell, (row, scope(cell)?)).map(significant)
        };
        if let Some(grid) = filled(table, figure) {
            parts.extend([format!("{title} ({unit}):"), grid]);
        }
    }
    parts
}

/// A table with the rows and columns of `table` and these cells; `None` if all cells are empty.
fn filled(table: &PublishedTable, cell: impl Fn(&PublishedRow, usize) -> Option<String>) -> Option<String> {
    let heads = std::iter::once(&table.head).chain(table.columns.iter().map(|column| &column.name));
    let mut rows = vec![heads.cloned().collect::<Vec<_>>()];
    let mut has_any = false;
    for row in &table.rows {
        let cells = (0..table.columns.len()).map(|column| cell(row, column)).inspect(|cell| has_any |= cell.is_some());
        rows.push(std::iter::once(row.name.clone()).chain(cells.map(Option::unwrap_or_default)).collect());
    }
    has_any.then(|| grid(&rows, 1))
}

/// The figure measured on this machine, in the publication's unit.
fn ours(
    unit: Unit,
    report: &SuiteReport,
    cell: &MeasuredCell,
    (row, measure): (&PublishedRow, &String),
) -> Option<f64> {
    let table = report.table(&cell.table)?;
    let median = table.row(&cell.keys(row))?.get(measure)?.median;
    let factor = match (table.unit(measure)?.in_microseconds(), unit.in_microseconds()) {
        (Some(ours), Some(theirs)) => ours / theirs,
        _ => 1.0,
    };
    Some(median * factor)
}

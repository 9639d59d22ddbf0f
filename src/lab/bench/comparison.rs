//! Puts the publications' tables beside the same tables of this machine (`--compare references`).

use super::markdown::{grid, significant};
use super::references::{MeasuredCell, PUBLICATIONS, Publication, PublishedFigure, PublishedTable, tables};
use super::{SuiteReport, Unit};

/// The tables of every publication that has any of this report's suite, each with the same rows and columns from here.
pub fn compare(report: &SuiteReport) -> String {
    let tables: Vec<PublishedTable> = tables().into_iter().filter(|table| table.suite == report.suite).collect();
    let mut parts = vec![
        format!("# histeq-video bench {} beside the publications", report.suite.name()),
        format!("Here: {}; {}.", report.machine.line(), report.repeats),
        "The same way is by the publication's own kernels, or on the CPU by its loop, with all that its times include: copies \
         are from and to memory as the allocator gives it. Our way is by the kernels of normal runs, with copies from and \
         to pinned memory. A table of ours has the rows and columns of the publication's table above it."
            .to_owned(),
    ];
    parts.extend(report.notes.iter().cloned());
    for publication in &PUBLICATIONS {
        let of_publication: Vec<&PublishedTable> =
            tables.iter().filter(|table| table.publication == publication.name).collect();
        if !of_publication.is_empty() {
            parts.extend(heading(publication));
            of_publication.into_iter().for_each(|table| parts.extend(section(table, report)));
        }
    }
    parts.join("\n\n") + "\n"
}

fn heading(publication: &Publication) -> [String; 3] {
    [format!("## {}", publication.name), format!("There: {}.", publication.hardware), publication.includes.to_owned()]
}

/// A table of a publication, and those of this machine that have any figure.
fn section(table: &PublishedTable, report: &SuiteReport) -> Vec<String> {
    let unit = table.unit.symbol();
    let mut parts = vec![format!("### {} ({unit})", table.place), filled(table, |figure| figure.stated.to_owned())];
    let cell = |cell: &MeasuredCell, measure: Option<&'static str>| {
        measure.and_then(|measure| ours(table.unit, report, cell, measure)).map(significant)
    };
    type Way<'a> = (&'a str, &'a dyn Fn(&PublishedFigure) -> Option<String>);
    let ways: [Way; 4] = [
        ("Here, the same way", &|figure| cell(&figure.here, figure.here.whole)),
        ("Here, the same way, kernels alone", &|figure| cell(&figure.here, figure.here.alone)),
        ("Here, our way", &|figure| cell(figure.tuned.as_ref()?, figure.tuned.as_ref()?.whole)),
        ("Here, our way, kernels alone", &|figure| cell(figure.tuned.as_ref()?, figure.tuned.as_ref()?.alone)),
    ];
    for (title, figure_of) in ways {
        if table.rows.iter().flat_map(|(_, figures)| figures).any(|figure| figure_of(figure).is_some()) {
            parts.push(format!("{title} ({unit}):"));
            parts.push(filled(table, |figure| figure_of(figure).unwrap_or_default()));
        }
    }
    parts
}

/// The rows and columns of `table` with these cells.
fn filled(table: &PublishedTable, cell: impl Fn(&PublishedFigure) -> String) -> String {
    let mut rows =
        vec![std::iter::once(table.head.to_owned()).chain(table.columns.iter().cloned()).collect::<Vec<_>>()];
    rows.extend(
        table
            .rows
            .iter()
            .map(|(name, figures)| std::iter::once(name.clone()).chain(figures.iter().map(&cell)).collect()),
    );
    grid(&rows, 1)
}

/// The figure of this machine, in the publication's unit.
fn ours(unit: Unit, report: &SuiteReport, cell: &MeasuredCell, measure: &str) -> Option<f64> {
    let table = report.table(cell.table)?;
    let keys: Vec<&str> = cell.keys.iter().map(String::as_str).collect();
    let median = table.row(&keys)?.get(measure)?.median;
    let factor = match (table.unit(measure)?.in_microseconds(), unit.in_microseconds()) {
        (Some(ours), Some(theirs)) => ours / theirs,
        _ => 1.0,
    };
    Some(median * factor)
}

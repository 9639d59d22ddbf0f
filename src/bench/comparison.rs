//! The documents' figures beside ours (`--compare references`).

use super::markdown::{grid, significant};
use super::references::{DOCUMENTS, Document, Figure, figures};
use super::{Report, Unit};

/// The figures of every document that has any of what this report is of.
pub fn compare(report: &Report) -> String {
    let figures: Vec<Figure> = figures().into_iter().filter(|figure| figure.suite == report.suite).collect();
    let mut parts = vec![
        format!("# histeq-video bench {} beside the documents", report.suite.name()),
        format!("Here: {}; medians of {} runs.", report.machine.line(), report.repeats.counted),
    ];
    parts.extend(report.notes.iter().cloned());
    for document in &DOCUMENTS {
        let of_document: Vec<&Figure> = figures.iter().filter(|figure| figure.document == document.name).collect();
        if !of_document.is_empty() {
            parts.extend(section(document, &of_document, report));
        }
    }
    parts.join("\n\n") + "\n"
}

fn section(document: &Document, figures: &[&Figure], report: &Report) -> [String; 4] {
    let heads = ["where", "what", "there", "here, computing alone", "here, with copies", "there / here"];
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    rows.extend(figures.iter().map(|figure| row(figure, report)));
    [
        format!("## {}", document.name),
        format!("There: {}.", document.hardware),
        document.includes.to_owned(),
        grid(&rows, 2),
    ]
}

fn row(figure: &Figure, report: &Report) -> Vec<String> {
    let here = |measure: Option<&str>| ours(figure, report, measure?);
    let (alone, with_copies) = (here(figure.alone), here(figure.with_copies));
    let shown = |ours: Option<f64>| {
        ours.map_or(String::new(), |ours| format!("{} {}", significant(ours), figure.unit.symbol()))
    };
    let stated: f64 = figure.stated.parse().unwrap_or(f64::NAN);
    // Copies belong to it, unless only computing is measured; a speed-up is better the larger it is.
    let ratio =
        with_copies.or(alone).map(|ours| if figure.unit == Unit::Times { ours / stated } else { stated / ours });
    vec![
        figure.place.to_owned(),
        figure.case.clone(),
        format!("{} {}", figure.stated, figure.unit.symbol()),
        shown(alone),
        shown(with_copies),
        ratio.map_or(String::new(), |ratio| format!("{}x", significant(ratio))),
    ]
}

/// Our figure, in the document's unit.
fn ours(figure: &Figure, report: &Report, measure: &str) -> Option<f64> {
    let table = report.table(figure.table)?;
    let keys: Vec<&str> = figure.keys.iter().map(String::as_str).collect();
    let median = table.row(&keys)?.get(measure)?.median;
    let factor = match (table.unit(measure)?.in_microseconds(), figure.unit.in_microseconds()) {
        (Some(ours), Some(theirs)) => ours / theirs,
        _ => 1.0,
    };
    Some(median * factor)
}

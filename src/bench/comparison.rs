//! Compares the publications' figures with those of this machine (`--compare references`).

use super::markdown::{grid, significant};
use super::references::{MeasuredCell, PUBLICATIONS, Publication, PublishedFigure, figures};
use super::{SuiteReport, Unit};

/// The figures of every publication that has any of this report's suite.
pub fn compare(report: &SuiteReport) -> String {
    let figures: Vec<PublishedFigure> = figures().into_iter().filter(|figure| figure.suite == report.suite).collect();
    let mut parts = vec![
        format!("# histeq-video bench {} beside the publications", report.suite.name()),
        format!("Here: {}; {}.", report.machine.line(), report.repeats),
        "The same way is by the publication's own kernels, or on the CPU by its loop; our way is by those of normal runs. With \
         copies is from and to memory as the allocator gives it, as in the publications; our way with copies is from and to \
         pinned memory, as in normal runs."
            .to_owned(),
    ];
    parts.extend(report.notes.iter().cloned());
    for publication in &PUBLICATIONS {
        let of_publication: Vec<&PublishedFigure> =
            figures.iter().filter(|figure| figure.publication == publication.name).collect();
        if !of_publication.is_empty() {
            parts.extend(section(publication, &of_publication, report));
        }
    }
    parts.join("\n\n") + "\n"
}

/// The columns of a section.
const HEADS: [&str; 9] = [
    "where",
    "what",
    "there",
    "same way here",
    "with copies",
    "our way",
    "with pinned copies",
    "there / same way",
    "there / our way",
];

fn section(publication: &Publication, figures: &[&PublishedFigure], report: &SuiteReport) -> [String; 4] {
    let mut rows = vec![HEADS.map(str::to_owned).to_vec()];
    rows.extend(figures.iter().map(|figure| row(figure, report)));
    [
        format!("## {}", publication.name),
        format!("There: {}.", publication.hardware),
        publication.includes.to_owned(),
        grid(&rows, 2),
    ]
}

fn row(figure: &PublishedFigure, report: &SuiteReport) -> Vec<String> {
    let both = |here: Option<&MeasuredCell>| {
        let here = |measure: fn(&MeasuredCell) -> Option<&'static str>| ours(figure, report, here?, measure(here?)?);
        [here(|here| here.alone), here(|here| here.with_copies)]
    };
    let (same, tuned) = (both(Some(&figure.here)), both(figure.tuned.as_ref()));
    let unit = figure.unit.symbol();
    let shown = |ours: Option<f64>| ours.map_or(String::new(), |ours| format!("{} {unit}", significant(ours)));
    let ratio = |[alone, with_copies]: [Option<f64>; 2]| {
        // The publication's time includes copies, unless there is a measure for the kernels alone.
        let ours = with_copies.or(alone);
        ours.map_or(String::new(), |ours| format!("{}x", significant(times_better(figure, ours))))
    };
    vec![
        figure.place.to_owned(),
        figure.case.clone(),
        format!("{} {unit}", figure.stated),
        shown(same[0]),
        shown(same[1]),
        shown(tuned[0]),
        shown(tuned[1]),
        ratio(same),
        ratio(tuned),
    ]
}

/// How many times as fast, or for a speed-up how many times as large.
fn times_better(figure: &PublishedFigure, ours: f64) -> f64 {
    let stated: f64 = figure.stated.parse().unwrap_or(f64::NAN);
    if figure.unit == Unit::Times { ours / stated } else { stated / ours }
}

/// The figure of this machine, in the publication's unit.
fn ours(figure: &PublishedFigure, report: &SuiteReport, here: &MeasuredCell, measure: &str) -> Option<f64> {
    let table = report.table(here.table)?;
    let keys: Vec<&str> = here.keys.iter().map(String::as_str).collect();
    let median = table.row(&keys)?.get(measure)?.median;
    let factor = match (table.unit(measure)?.in_microseconds(), figure.unit.in_microseconds()) {
        (Some(ours), Some(theirs)) => ours / theirs,
        _ => 1.0,
    };
    Some(median * factor)
}

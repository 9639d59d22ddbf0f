//! Every figure in the README and docs matches the cell of the results to which it is bound.
//!
//! For each line of a page that contains figures, `bindings.txt` has the line's pattern, and the cell of
//! `benches/results` from which each figure is derived. A pattern covers the whole line: `#` is a bound figure, `…` is
//! text without digits, and everything else, including numbers that are conditions, has to be equal. So a wrong figure
//! does not match its cell, and any other changed number does not match the pattern.

// Which figure comes from which result.
mod bindings;
// The tables of results.
mod cells;
// Patterns of lines.
mod pattern;

use bindings::{Binding, bindings};
use cells::Results;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Pages besides docs whose lines need a binding if they name results.
const MORE_PAGES: [&str; 4] = ["README.md", "kernels/README.md", "kernels/variants/README.md", "src/lab/README.md"];

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    std::fs::read_to_string(repository().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn pages() -> Vec<String> {
    let docs = std::fs::read_dir(repository().join("docs")).expect("docs");
    let names = docs.map(|entry| entry.expect("a page").file_name().into_string().expect("a name"));
    let docs = names.filter(|name| name.ends_with(".md")).map(|name| format!("docs/{name}"));
    MORE_PAGES.into_iter().map(str::to_owned).chain(docs).collect()
}

/// A line of a page: its text without link targets, and the result files to which it links.
struct Line {
    page: String,
    number: usize,
    text: String,
    results: Vec<String>,
    in_table_with_sources: bool,
}

impl Line {
    /// Does this line need a binding? It does if it names results and has a number that is no part of a name.
    fn needs_binding(&self) -> bool {
        let without_code: String = self.text.split('`').step_by(2).collect();
        let words = without_code.split(|c: char| c.is_whitespace() || "()[]".contains(c));
        let mut words = words.map(|word| word.trim_matches([',', '.', ':', ';', '*']));
        let names_results = self.in_table_with_sources || !self.results.is_empty();
        names_results && words.any(|word| word.replace(',', "").parse::<f64>().is_ok())
    }

    fn place(&self) -> String {
        format!("{}:{}: {}", self.page, self.number, self.text)
    }
}

/// The lines of a page outside of code blocks. If the last column of a table is called source, the text of its rows
/// lacks that column.
fn lines(page: &str) -> Vec<Line> {
    let mut found = Vec::new();
    let (mut in_table_with_sources, mut in_code) = (false, false);
    for (number, line) in read(page).lines().enumerate() {
        in_code ^= line.starts_with("```");
        let is_row = line.starts_with('|');
        let is_head = is_row && line.ends_with("| source |");
        in_table_with_sources &= is_row;
        if !in_code && !line.starts_with("|-") {
            let (text, results) = without_targets(page, line);
            let text = text.trim_matches('|');
            let text = if in_table_with_sources { text.rsplit_once('|').expect("cells").0 } else { text };
            let text = text.trim().to_owned();
            found.push(Line { page: page.to_owned(), number: number + 1, text, results, in_table_with_sources });
        }
        in_table_with_sources |= is_head;
    }
    found
}

/// A line without its link targets, and the names of the result files among these targets, without folder and suffix.
fn without_targets(page: &str, line: &str) -> (String, Vec<String>) {
    let mut parts = line.split("](");
    let mut text = parts.next().unwrap_or_default().to_owned();
    let mut results = Vec::new();
    for part in parts {
        let (target, rest) = part.split_once(')').unwrap_or_else(|| panic!("{page}: a link without an end: {line}"));
        if let Some((_, name)) = target.split_once("benches/results/") {
            let (file, _) = name.split_once('#').unwrap_or((name, ""));
            results.push(file.trim_end_matches(".md").to_owned());
        }
        text += "]";
        text += rest;
    }
    (text, results)
}

/// Checks that the figures in `text` are those that `binding` derives from the results.
fn check(binding: &Binding, text: &str, results: &Results) -> Result<(), String> {
    let figures = pattern::figures(&binding.pattern, text).ok_or("it does not match its pattern")?;
    for (figure, source) in figures.iter().zip(&binding.sources) {
        let value = source.value(results)?;
        if !is_rounded(figure, value) {
            return Err(format!("{figure} is not {value}, which is {source}"));
        }
    }
    Ok(())
}

/// Does `value`, rounded to the decimals of `figure`, equal the figure?
fn is_rounded(figure: &str, value: f64) -> bool {
    let half = 0.500_001 * 10f64.powi(-decimals(figure));
    (cells::number(figure) - value).abs() <= half
}

fn decimals(figure: &str) -> i32 {
    figure.split_once('.').map_or(0, |(_, fraction)| fraction.len() as i32)
}

/// Each bound line with its binding.
fn bound() -> Vec<(Line, Binding)> {
    let mut all: Vec<Line> = pages().iter().flat_map(|page| lines(page)).collect();
    let (mut found, mut lost) = (Vec::new(), Vec::new());
    for binding in bindings() {
        let matches =
            |line: &Line| line.page == binding.page && pattern::figures(&binding.pattern, &line.text).is_some();
        let Some(place) = all.iter().position(matches) else {
            lost.push(format!("{}: {}", binding.page, binding.pattern));
            continue;
        };
        let line = all.remove(place);
        assert!(!all.iter().any(matches), "{}: several lines are {}", binding.page, binding.pattern);
        found.push((line, binding));
    }
    let unbound: Vec<String> = all.iter().filter(|line| line.needs_binding()).map(Line::place).collect();
    assert!(unbound.is_empty(), "bindings.txt lacks\n{}", unbound.join("\n"));
    assert!(lost.is_empty(), "no line is\n{}", lost.join("\n"));
    found
}

#[test]
fn every_figure_follows_from_the_cell_that_it_is_bound_to() {
    let results = Results::new(repository().join("benches/results"));
    let mut wrong = Vec::new();
    let mut checked = 0;
    for (line, binding) in bound() {
        if let Err(error) = check(&binding, &line.text, &results) {
            wrong.push(format!("{}: {error}", line.place()));
        }
        let files: BTreeSet<&str> = binding.sources.iter().flat_map(bindings::Source::files).collect();
        if line.needs_binding() {
            let unnamed = files.into_iter().filter(|file| !line.results.iter().any(|named| named == file));
            wrong.extend(unnamed.map(|file| format!("{}: it does not link to {file}", line.place())));
        }
        checked += binding.sources.len();
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(checked > 250, "{checked} figures");
}

/// Wrong versions of a number: other values with the same number of decimals, and with one more.
fn made_wrong(number: &str) -> BTreeSet<String> {
    let (value, decimals) = (cells::number(number), decimals(number) as usize);
    let factors = [1.1, 0.9, 1.25, 0.75];
    let wrong =
        factors.into_iter().flat_map(|factor| [decimals, decimals + 1].map(|d| format!("{:.d$}", value * factor)));
    wrong.filter(|wrong| cells::number(wrong) != value).collect()
}

#[test]
fn a_number_made_wrong_by_a_tenth_or_a_quarter_is_found() {
    let results = Results::new(repository().join("benches/results"));
    let (mut figures, mut missed) = (0, Vec::new());
    for (line, binding) in bound() {
        for (start, number) in pattern::numbers(&line.text) {
            for wrong in made_wrong(number) {
                let mut text = line.text.clone();
                text.replace_range(start..start + number.len(), &wrong);
                figures += 1;
                if check(&binding, &text, &results).is_ok() {
                    missed.push(format!("{}: {number} as {wrong}", line.place()));
                }
            }
        }
    }
    println!("{} of {figures} wrong numbers were not found", missed.len());
    assert!(figures > 2000, "{figures}");
    assert!(missed.len() * 100 <= figures, "{} of {figures}:\n{}", missed.len(), missed.join("\n"));
}

#[test]
fn a_figure_is_compared_with_the_digits_that_it_has() {
    assert!(is_rounded("1,729", 1728.6) && is_rounded("0.55", 0.5519) && is_rounded("4.9", 4.91));
    assert!(!is_rounded("4.9", 4.96) && !is_rounded("5.0", 4.91) && !is_rounded("0.55", 551.9));
    assert_eq!(made_wrong("0.00"), BTreeSet::new());
    assert_eq!(
        made_wrong("20").into_iter().collect::<Vec<_>>(),
        ["15", "15.0", "18", "18.0", "22", "22.0", "25", "25.0"]
    );
}

#[test]
fn results_that_pages_name_exist() {
    for line in pages().iter().flat_map(|page| lines(page)) {
        for file in &line.results {
            let folder = repository().join("benches/results");
            let there: [PathBuf; 2] = [folder.join(file), folder.join(format!("{file}.md"))];
            assert!(there.iter().any(|path| path.exists()), "{}: {file}", line.place());
        }
    }
}

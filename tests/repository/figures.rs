//! Every figure of README and docs stands in the table that it names.

use std::path::{Path, PathBuf};

const PAGES: [&str; 4] = ["README.md", "docs/figures.md", "docs/publications.md", "kernels/variants/README.md"];

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The numbers in a text, as written: digits with commas between thousands, and a fraction.
fn numbers(text: &str) -> Vec<&str> {
    let is_part = |c: char| c.is_ascii_digit() || c == ',' || c == '.';
    text.split(|c| !is_part(c))
        .map(|word| word.trim_matches([',', '.']))
        .filter(|word| word.starts_with(|c: char| c.is_ascii_digit()))
        .collect()
}

fn value(number: &str) -> f64 {
    number.replace(',', "").parse().unwrap_or_else(|_| panic!("{number} is no number"))
}

/// Whether one of `values` is `number` when it is rounded as that one, or given in another unit of time.
fn is_among(number: &str, values: &[f64]) -> bool {
    let decimals = number.split_once('.').map_or(0, |(_, fraction)| fraction.len() as i32);
    let (wanted, half) = (value(number), 0.500_05 * 10f64.powi(-decimals));
    let scales = [1.0, 1e-3, 1e3, 1e-6, 1e6];
    values.iter().any(|value| scales.iter().any(|scale| (value * scale - wanted).abs() <= half))
}

/// The files of results that a line of this page links to.
fn sources(page: &Path, line: &str) -> Vec<PathBuf> {
    let targets = line.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target);
    targets
        .filter(|target| target.contains("benches/results/"))
        .map(|target| page.with_file_name("").join(target))
        .collect()
}

/// The rows of a page's tables whose last column is called source: cells.
fn rows(text: &str) -> Vec<Vec<&str>> {
    let cells = |line: &'static str| line.trim_matches('|').split('|').map(str::trim).collect::<Vec<_>>();
    let mut found = Vec::new();
    let mut has_sources = false;
    for line in text.to_owned().leak().lines() {
        if !line.starts_with('|') {
            has_sources = false;
        } else if line.ends_with("| source |") {
            has_sources = true;
        } else if has_sources && !line.starts_with("|-") {
            found.push(cells(line));
        }
    }
    found
}

#[test]
fn every_figure_stands_in_the_table_that_it_names() {
    let mut checked = 0;
    for page in PAGES {
        let page = repository().join(page);
        for row in rows(&read(&page)) {
            let (source, figures) = (row[row.len() - 1], &row[1..row.len() - 1]);
            let files = sources(&page, source);
            assert!(!files.is_empty(), "{}: {} names no table", page.display(), row[0]);
            let text: String = files.iter().map(|file| read(file)).collect();
            let values: Vec<f64> =
                numbers(&text).into_iter().filter_map(|number| number.replace(',', "").parse().ok()).collect();
            for number in figures.iter().flat_map(|cell| numbers(cell)) {
                assert!(is_among(number, &values), "{}: {}: {number} is not in {files:?}", page.display(), row[0]);
                checked += 1;
            }
        }
    }
    assert!(checked > 100, "{checked} figures");
}

#[test]
fn a_figure_that_is_not_in_its_table_is_found() {
    assert_eq!(numbers("4.5 to 4.9 µs, 1,729 MB/s."), ["4.5", "4.9", "1,729"]);
    assert!(is_among("1,729", &[1728.6]) && is_among("0.55", &[551.9]) && is_among("4.9", &[4.91]));
    assert!(!is_among("4.9", &[4.96]) && !is_among("3.4", &[1.89, 2.6]));
}

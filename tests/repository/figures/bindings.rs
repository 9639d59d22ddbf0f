//! Parses `bindings.txt`, whose head describes the format.

use super::cells::{self, Results, Table};
use super::pattern;
use std::fmt;

pub struct Binding {
    pub page: String,
    pub pattern: String,
    /// The sources of the figures: one for each `#` of the pattern.
    pub sources: Vec<Source>,
}

/// How a figure is derived: a first term, and others by which it is divided, multiplied and so on.
pub struct Source {
    line: String,
    first: Term,
    others: Vec<(char, Term)>,
}

enum Term {
    Number(f64),
    /// The single matching cell or text.
    Only(Place),
    Least(Place),
    Most(Place),
}

enum Place {
    Cell { file: String, intro: String, keys: Vec<String>, column: String, which: usize },
    Text { file: String, pattern: String },
}

pub fn bindings() -> Vec<Binding> {
    let mut found: Vec<Binding> = Vec::new();
    let mut page = "";
    for line in include_str!("bindings.txt").lines().filter(|line| !line.is_empty() && !line.starts_with("//")) {
        if let Some(name) = line.strip_prefix("# ") {
            page = name;
        } else if let Some(pattern) = line.strip_prefix("> ") {
            found.push(Binding { page: page.to_owned(), pattern: pattern.to_owned(), sources: Vec::new() });
        } else {
            found.last_mut().expect("a pattern").sources.push(Source::parse(line.trim()));
        }
    }
    for binding in &found {
        let figures = binding.pattern.matches('#').count();
        assert_eq!(binding.sources.len(), figures, "{}: sources of {}", binding.page, binding.pattern);
    }
    found
}

impl Source {
    fn parse(line: &str) -> Self {
        let mut rest = line;
        let first = Term::parse(&mut rest);
        let mut remaining = Vec::new();
        while let Some(operator) = rest.chars().next() {
            rest = rest[1..].trim_start();
            remaining.push((operator, Term::parse(&mut rest)));
        }
        Self { line: line.to_owned(), first, others: remaining }
    }

    pub fn value(&self, results: &Results) -> Result<f64, String> {
        let mut value = self.first.value(results)?;
        for (operator, term) in &self.others {
            let other = term.value(results)?;
            value = match operator {
                '/' => value / other,
                '*' => value * other,
                '+' => value + other,
                '-' => value - other,
                _ => return Err(format!("{operator} is no operator: {self}")),
            };
        }
        Ok(value)
    }

    pub fn files(&self) -> Vec<&str> {
        let terms = [&self.first].into_iter().chain(self.others.iter().map(|(_, term)| term));
        terms.filter_map(Term::file).collect()
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.line)
    }
}

impl Term {
    /// Parses a term at the start of `rest`, and removes it and the space after it.
    fn parse(rest: &mut &str) -> Self {
        let line = *rest;
        if line.starts_with(|c: char| c.is_ascii_digit()) {
            let (number, behind) = line.split_once(' ').unwrap_or((line, ""));
            *rest = behind.trim_start();
            return Self::Number(cells::number(number));
        }
        let (word, behind) = line.split_once('[').unwrap_or_else(|| panic!("no cell in {line}"));
        let (place, behind) = behind.split_once(']').unwrap_or_else(|| panic!("no end of a cell in {line}"));
        *rest = behind.trim_start();
        let place = Place::parse(place);
        match word.trim() {
            "" => Self::Only(place),
            "min" => Self::Least(place),
            "max" => Self::Most(place),
            word => panic!("{word} in {line}"),
        }
    }

    fn value(&self, results: &Results) -> Result<f64, String> {
        match self {
            Self::Number(number) => Ok(*number),
            Self::Least(place) => Ok(place.values(results)?.into_iter().fold(f64::INFINITY, f64::min)),
            Self::Most(place) => Ok(place.values(results)?.into_iter().fold(f64::NEG_INFINITY, f64::max)),
            Self::Only(place) => match place.values(results)?[..] {
                [value] => Ok(value),
                ref values => Err(format!("{} cells of {} are bound to one figure", values.len(), place.file())),
            },
        }
    }

    fn file(&self) -> Option<&str> {
        match self {
            Self::Number(_) => None,
            Self::Only(place) | Self::Least(place) | Self::Most(place) => Some(place.file()),
        }
    }
}

impl Place {
    fn parse(text: &str) -> Self {
        let parts: Vec<&str> = text.split(" | ").map(str::trim).collect();
        let (file, intro) = parts[0].split_once(" § ").unwrap_or((parts[0], ""));
        let (file, intro) = (file.to_owned(), intro.to_owned());
        match parts[1..] {
            [quoted] => {
                let pattern = quoted.trim_matches('"').to_owned();
                assert_eq!(pattern.matches('#').count(), 1, "one figure of {text}");
                Self::Text { file, pattern }
            }
            [keys, column] | [keys, column, _] => {
                let which = parts.get(3).map_or(1, |which| which.parse().expect("which number of a cell"));
                let keys = keys.split(" & ").map(str::to_owned).collect();
                Self::Cell { file, intro, keys, column: column.to_owned(), which }
            }
            _ => panic!("[{text}] is neither file, row and column, nor file and text"),
        }
    }

    fn file(&self) -> &str {
        match self {
            Self::Cell { file, .. } | Self::Text { file, .. } => file,
        }
    }

    /// The values of the term, at least one.
    fn values(&self, results: &Results) -> Result<Vec<f64>, String> {
        let found = match self {
            Self::Cell { file, intro, keys, column, which } => {
                let page = results.page(file)?;
                let tables = page.tables.iter().filter(|table| table.intro.contains(intro));
                let cells = tables.flat_map(|table| {
                    let place = place_of(table, column);
                    let rows = table.rows.iter().filter(|row| keys.iter().all(|key| has_key(table, row, key)));
                    rows.filter_map(move |row| row.get(place?))
                });
                cells.filter_map(|cell| cells::values(cell).get(which - 1).copied()).collect()
            }
            Self::Text { file, pattern } => {
                let page = results.page(file)?;
                let (before, behind) = pattern.split_once('#').expect("a figure");
                let starts = page.text.match_indices(before).map(|(index, _)| &page.text[index + before.len()..]);
                let numbers = starts.filter_map(|text| match pattern::numbers(text).next() {
                    Some((0, number)) if text[number.len()..].starts_with(behind) => Some(cells::number(number)),
                    _ => None,
                });
                numbers.collect::<Vec<f64>>()
            }
        };
        if found.is_empty() {
            return Err(format!("nothing is at {}", self.name()));
        }
        Ok(found)
    }

    fn name(&self) -> String {
        match self {
            Self::Cell { file, intro, keys, column, which } => {
                format!("{file} § {intro} | {} | {column} | {which}", keys.join(" & "))
            }
            Self::Text { file, pattern } => format!("{file} | \"{pattern}\""),
        }
    }
}

fn place_of(table: &Table, column: &str) -> Option<usize> {
    match column.strip_prefix("column ").and_then(|number| number.parse::<usize>().ok()) {
        Some(number) => Some(number - 1),
        None => table.columns.iter().position(|name| name == column),
    }
}

fn has_key(table: &Table, row: &[String], key: &str) -> bool {
    let in_its_column = key.split_once('=').is_some_and(|(column, value)| {
        place_of(table, column).and_then(|place| row.get(place)).is_some_and(|cell| cell == value)
    });
    key == "*" || in_its_column || row.iter().any(|cell| cell == key)
}

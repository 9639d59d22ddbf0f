//! A table: rows with distinct keys, and measures with units.

use super::Value;
use serde::Deserialize;

/// The unit of a figure.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Millionths of a second.
    Microseconds,
    /// Thousandths of a second.
    Milliseconds,
    /// Seconds.
    Seconds,
    /// 10^9 bytes a second.
    GigabytesASecond,
    /// Frames a second.
    FramesASecond,
    /// Percent.
    Percent,
    /// A ratio of two figures.
    Times,
}

impl Unit {
    /// The symbol in tables.
    pub fn symbol(self) -> &'static str {
        match self {
            Unit::Microseconds => "µs",
            Unit::Milliseconds => "ms",
            Unit::Seconds => "s",
            Unit::GigabytesASecond => "GB/s",
            Unit::FramesASecond => "fps",
            Unit::Percent => "%",
            Unit::Times => "x",
        }
    }

    /// The unit in microseconds, if it is a unit of time.
    pub fn in_microseconds(self) -> Option<f64> {
        match self {
            Unit::Microseconds => Some(1.0),
            Unit::Milliseconds => Some(1e3),
            Unit::Seconds => Some(1e6),
            _ => None,
        }
    }
}

/// A column of figures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measure {
    /// The name of the measure.
    pub name: String,
    /// Its unit.
    pub unit: Unit,
}

/// A row of a table.
#[derive(Clone, Debug)]
pub struct Row {
    /// Its keys; one for each key of its table.
    pub keys: Vec<String>,
    values: Vec<(String, Value)>,
}

impl Row {
    /// A row without figures.
    pub fn new<K: Into<String>>(keys: impl IntoIterator<Item = K>) -> Self {
        Row { keys: keys.into_iter().map(Into::into).collect(), values: Vec::new() }
    }

    /// Adds a figure, if there is one.
    #[must_use]
    pub fn with(mut self, measure: &str, value: impl Into<Option<Value>>) -> Self {
        self.set(measure, value);
        self
    }

    /// Adds a figure, if there is one.
    pub fn set(&mut self, measure: &str, value: impl Into<Option<Value>>) {
        self.values.extend(value.into().map(|value| (measure.to_owned(), value)));
    }

    /// The figure of this measure, if there is one.
    pub fn get(&self, measure: &str) -> Option<Value> {
        self.values.iter().find(|(name, _)| name == measure).map(|(_, value)| *value)
    }
}

/// A table of a report.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its name in CSV and JSON, one word.
    pub name: &'static str,
    /// Its title.
    pub title: String,
    /// Notes for its readers.
    pub notes: Vec<String>,
    /// The names of the keys of rows.
    pub keys: Vec<&'static str>,
    /// The measures of rows.
    pub measures: Vec<Measure>,
    rows: Vec<Row>,
}

impl Table {
    /// A table without rows.
    pub fn new(name: &'static str, title: impl Into<String>, keys: &[&'static str]) -> Self {
        Table {
            name,
            title: title.into(),
            notes: Vec::new(),
            keys: keys.to_vec(),
            measures: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// Adds measures of this unit.
    #[must_use]
    pub fn measures<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>, unit: Unit) -> Self {
        self.measures.extend(names.into_iter().map(|name| Measure { name: name.into(), unit }));
        self
    }

    /// Adds a note for its readers.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Adds a row.
    ///
    /// # Panics
    /// When its keys do not match the table's, or a figure has no measure there: a bug of a suite.
    pub fn push(&mut self, row: Row) {
        assert_eq!(row.keys.len(), self.keys.len(), "{}", self.name);
        for (name, _) in &row.values {
            assert!(self.measures.iter().any(|measure| measure.name == *name), "{} has no measure {name}", self.name);
        }
        self.rows.push(row);
    }

    /// Its rows.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The row with these keys.
    pub fn row(&self, keys: &[&str]) -> Option<&Row> {
        self.rows.iter().find(|row| row.keys.iter().map(String::as_str).eq(keys.iter().copied()))
    }

    /// The unit of a measure.
    pub fn unit(&self, measure: &str) -> Option<Unit> {
        self.measures.iter().find(|found| found.name == measure).map(|found| found.unit)
    }

    /// The measures for which any row has a figure.
    pub fn measured(&self) -> impl Iterator<Item = &Measure> {
        self.measures.iter().filter(|measure| self.rows.iter().any(|row| row.get(&measure.name).is_some()))
    }
}

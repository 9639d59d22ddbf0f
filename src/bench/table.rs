//! A table: rows that are told apart by their keys, and measured in several ways, each with a unit.

use super::Value;

/// What a figure is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// 2^20 bytes.
    Mebibytes,
    /// Hundredths.
    Percent,
    /// How many times one figure is another.
    Times,
}

impl Unit {
    /// As it is written behind a name.
    pub fn symbol(self) -> &'static str {
        match self {
            Unit::Microseconds => "µs",
            Unit::Milliseconds => "ms",
            Unit::Seconds => "s",
            Unit::GigabytesASecond => "GB/s",
            Unit::FramesASecond => "fps",
            Unit::Mebibytes => "MiB",
            Unit::Percent => "%",
            Unit::Times => "x",
        }
    }

    /// What one of it is in microseconds, if it is a time.
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
    /// What is measured.
    pub name: String,
    /// In which unit.
    pub unit: Unit,
    /// Whether it is drawn.
    pub drawn: bool,
}

/// One row.
#[derive(Clone, Debug)]
pub struct Row {
    /// What tells it from other rows; one for each key of its table.
    pub keys: Vec<String>,
    /// Where it lies on the axis of a plot; rows without a place are not drawn.
    pub at: Option<f64>,
    values: Vec<(String, Value)>,
}

impl Row {
    /// A row that nothing has been measured of.
    pub fn new<K: Into<String>>(keys: impl IntoIterator<Item = K>) -> Self {
        Row { keys: keys.into_iter().map(Into::into).collect(), at: None, values: Vec::new() }
    }

    /// The same with a place on the axis, above 0.
    #[must_use]
    pub fn at(self, place: f64) -> Self {
        Row { at: Some(place), ..self }
    }

    /// The same with this figure.
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
    /// One word, by which programs know it.
    pub name: &'static str,
    /// What it shows.
    pub title: String,
    /// What its readers have to know.
    pub notes: Vec<String>,
    /// What tells rows apart.
    pub keys: Vec<&'static str>,
    /// What is measured of each.
    pub measures: Vec<Measure>,
    /// Which of the keys is the axis of its plot; without one, figures are drawn as bars.
    pub axis: Option<usize>,
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
            axis: None,
            rows: Vec::new(),
        }
    }

    /// The same with a column, which is drawn.
    #[must_use]
    pub fn measure(self, name: impl Into<String>, unit: Unit) -> Self {
        self.column(name, unit, true)
    }

    /// The same with a column that plots leave out.
    #[must_use]
    pub fn undrawn(self, name: impl Into<String>, unit: Unit) -> Self {
        self.column(name, unit, false)
    }

    fn column(mut self, name: impl Into<String>, unit: Unit, drawn: bool) -> Self {
        self.measures.push(Measure { name: name.into(), unit, drawn });
        self
    }

    /// The same with the key that rows are placed by.
    #[must_use]
    pub fn over(self, key: &str) -> Self {
        let axis = self.keys.iter().position(|name| *name == key);
        Table { axis, ..self }
    }

    /// The same with something that its readers have to know.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Adds a row.
    ///
    /// # Panics
    /// When it has other keys than the table, or a figure that is none of its measures: a bug of a suite.
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

    /// The measures of which there is any figure.
    pub fn measured(&self) -> impl Iterator<Item = &Measure> {
        self.measures.iter().filter(|measure| self.rows.iter().any(|row| row.get(&measure.name).is_some()))
    }
}

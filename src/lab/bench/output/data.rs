//! A report for programs: CSV with one line per figure, and JSON.

use super::{Row, SuiteReport, Table};
use anyhow::Result;
use histeq::Named;
use serde_json::{Value as Json, json};

/// One line per figure: suite, table, every key of any table (empty where a table has no such key), measure, unit,
/// median, quartiles, runs.
///
/// # Errors
/// When there is no memory left for the text.
pub fn csv(report: &SuiteReport) -> Result<String> {
    let mut keys: Vec<&str> = Vec::new();
    for key in report.tables.iter().flat_map(|table| &table.keys) {
        if !keys.contains(key) {
            keys.push(key);
        }
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    let ends = ["measure", "unit", "median", "quartile_1", "quartile_3", "runs"];
    writer.write_record(["suite", "table"].iter().chain(&keys).chain(&ends))?;
    for table in &report.tables {
        for row in table.rows() {
            for measure in &table.measures {
                let Some(value) = row.get(&measure.name) else { continue };
                let mut record = vec![report.suite.name().to_owned(), table.name.to_owned()];
                record.extend(keys.iter().map(|key| key_of(table, row, key)));
                record.extend([measure.name.clone(), measure.unit.symbol().to_owned()]);
                record.extend([value.median, value.low, value.high].map(|figure| rounded(figure).to_string()));
                record.push(value.runs.to_string());
                writer.write_record(&record)?;
            }
        }
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}

fn key_of(table: &Table, row: &Row, key: &str) -> String {
    let place = table.keys.iter().position(|name| *name == key);
    place.map_or(String::new(), |place| row.keys[place].clone())
}

/// The whole report as one JSON object.
///
/// # Errors
/// Never, in practice: text and finite numbers can all be written.
pub fn json(report: &SuiteReport) -> Result<String> {
    let tables: Vec<Json> = report.tables.iter().map(table_json).collect();
    let whole = json!({
        "suite": report.suite.name(),
        "version": env!("CARGO_PKG_VERSION"),
        "machine": { "cpu": report.machine.cpu, "threads": report.machine.threads, "gpu": report.machine.gpu },
        "repeat": report.repeats.counted,
        "warmup": report.repeats.warm_up,
        "notes": report.notes,
        "tables": tables,
    });
    Ok(serde_json::to_string_pretty(&whole)? + "\n")
}

fn table_json(table: &Table) -> Json {
    let rows: Vec<Json> = table.rows().iter().map(|row| row_json(table, row)).collect();
    json!({ "name": table.name, "title": table.title, "notes": table.notes, "rows": rows })
}

fn row_json(table: &Table, row: &Row) -> Json {
    let keys: serde_json::Map<String, Json> =
        table.keys.iter().zip(&row.keys).map(|(key, value)| ((*key).to_owned(), json!(value))).collect();
    let figures = table.measures.iter().filter_map(|measure| {
        let value = row.get(&measure.name)?;
        let figure = json!({
            "unit": measure.unit.symbol(),
            "median": rounded(value.median),
            "quartile_1": rounded(value.low),
            "quartile_3": rounded(value.high),
            "runs": value.runs,
        });
        Some((measure.name.clone(), figure))
    });
    json!({ "keys": keys, "figures": figures.collect::<serde_json::Map<String, Json>>() })
}

/// The figure rounded to seven digits, more than the resolution of any clock here.
fn rounded(figure: f64) -> f64 {
    format!("{figure:.6e}").parse().unwrap_or(figure)
}

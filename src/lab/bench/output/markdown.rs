//! A report as Markdown, with columns aligned for a terminal.

use super::report::PYTHON;
use super::{SuiteReport, Table, Value};
use histeq::Named;

/// All tables of a report as Markdown.
pub fn markdown(report: &SuiteReport) -> String {
    let mut parts = vec![
        format!("# histeq-lab {}", report.suite.name()),
        format!("{}; histeq-video {}", report.machine.line(), env!("CARGO_PKG_VERSION")),
    ];
    let spread = "± is half the distance between the quartiles, where it is 1 % or more";
    parts.push(match report.repeats.counted {
        0 | 1 => format!("Figures are of {}.", report.repeats),
        _ => format!("Figures are {}; {spread}.", report.repeats),
    });
    parts.extend(report.notes.iter().cloned());
    let missing = report.missing();
    if !missing.is_empty() {
        parts.push(format!("Without figures, because they need a GPU: {}.", missing.join("; ")));
    }
    if report.table(PYTHON).is_some_and(|table| table.rows().is_empty()) {
        parts.push("Without figures in Python: they need python3 in PATH, and arithmetic that it has.".to_owned());
    }
    parts.extend(report.tables.iter().filter(|table| !table.rows().is_empty()).map(table_markdown));
    parts.join("\n\n") + "\n"
}

fn table_markdown(table: &Table) -> String {
    let mut parts = vec![format!("## {}", table.title)];
    parts.extend(table.notes.iter().cloned());
    let measures: Vec<_> = table.measured().collect();
    let heads = table.keys.iter().map(|key| (*key).to_owned());
    let heads = heads.chain(measures.iter().map(|measure| format!("{} ({})", measure.name, measure.unit.symbol())));
    let mut rows = vec![heads.collect::<Vec<_>>()];
    rows.extend(table.rows().iter().map(|row| {
        let figures = measures.iter().map(|measure| row.get(&measure.name).map_or(String::new(), figure));
        row.keys.iter().cloned().chain(figures).collect()
    }));
    parts.push(grid(&rows, table.keys.len()));
    parts.join("\n\n")
}

/// A Markdown table whose first row is its head. The first `left` columns are aligned left, the others right.
pub fn grid(rows: &[Vec<String>], left: usize) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0).max(3);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| {
            if column < left { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        });
        format!("| {} |", cells.collect::<Vec<_>>().join(" | "))
    };
    let rule = widths.iter().enumerate().map(|(column, &width)| {
        if column < left { "-".repeat(width + 2) } else { format!("{}:", "-".repeat(width + 1)) }
    });
    let rule = format!("|{}|", rule.collect::<Vec<_>>().join("|"));
    let mut lines: Vec<String> = rows.iter().map(line).collect();
    lines.insert(1.min(lines.len()), rule);
    lines.join("\n")
}

fn figure(value: Value) -> String {
    let spread = value.spread() * 100.0;
    let number = significant(value.median);
    if value.runs > 1 && spread >= 0.995 { format!("{number} ±{spread:.0} %") } else { number }
}

/// A figure with three significant digits, or all digits before the point if these are more.
pub fn significant(figure: f64) -> String {
    if figure == 0.0 {
        return "0".to_owned();
    }
    let decimals = (2.0 - figure.abs().log10().floor()).clamp(0.0, 6.0) as usize;
    format!("{figure:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits_or_all_before_the_point() {
        let shown = [0.012_345, 1.234_56, 12.345, 123.45, 12345.6, 0.0].map(significant);
        assert_eq!(shown, ["0.0123", "1.23", "12.3", "123", "12346", "0"]);
    }

    #[test]
    fn columns_are_aligned() {
        let rows = [vec!["size".to_owned(), "µs".to_owned()], vec!["1x1".to_owned(), "12345".to_owned()]];
        assert_eq!(grid(&rows, 1), "| size |    µs |\n|------|------:|\n| 1x1  | 12345 |");
    }
}

//! Runs a suite on the CPU and the GPU of this machine.

use super::output::machine::Machine;
use super::output::{Row, SuiteReport, Table};
use super::{Setup, Suite, suites};
use anyhow::Result;

/// Runs a suite.
///
/// # Errors
/// When a measurement fails, or a result differs from the reference. Measurements whose hardware or program is missing
/// are omitted, with a note.
pub fn run(suite: Suite, setup: &Setup) -> Result<SuiteReport> {
    let mut notes = Vec::new();
    if suite != Suite::Cpu
        && let Err(reason) = setup.gpu()
    {
        notes.push(format!("No GPU is measured: {reason}."));
    }
    let tables = match suite {
        Suite::Stages => suites::stages::run(setup),
        Suite::CdfMin => suites::cdf_min::run(setup),
        Suite::Scans => suites::scans::run(setup),
        Suite::Bins => suites::bins::run(setup),
        Suite::Luminance => suites::luminance::run(setup),
        Suite::Kernels => suites::kernels::run(setup),
        Suite::Stream => suites::stream::run(setup),
        Suite::Cpu => suites::cpu::run(setup),
    }?;
    let gpu = setup.opened.get().and_then(|gpu| gpu.as_deref().ok());
    notes.extend(unsteady(&tables));
    let report = SuiteReport { suite, machine: Machine::here(gpu), repeats: setup.repeats, notes, tables };
    setup.steps.finish();
    Ok(report)
}

/// The spread (half the distance between the quartiles, as a share of the median) above which a figure is unreliable.
const WIDE: f64 = 0.25;

/// A warning, if many figures are unreliable.
fn unsteady(tables: &[Table]) -> Option<String> {
    let values = tables.iter().flat_map(|table| {
        let of_row = |row| table.measures.iter().filter_map(move |measure| Row::get(row, &measure.name));
        table.rows().iter().flat_map(of_row)
    });
    let spreads: Vec<f64> = values.filter(|value| value.runs > 1).map(|value| value.spread()).collect();
    let wide = spreads.iter().filter(|&&spread| spread > WIDE).count();
    (wide * 10 > spreads.len()).then(|| {
        format!(
            "Warning: the runs of {wide} of {} figures differ by more than ±{:.0} %: these say little, because \
             something else kept the machine busy (measure again while nothing else runs, or with more --repeat).",
            spreads.len(),
            WIDE * 100.0
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::output::{Unit, Value};

    #[test]
    fn unreliable_figures_cause_a_warning() {
        let table = |samples: &[f64]| {
            let mut table = Table::new("t", "T", &["size"]).measures(["time"], Unit::Microseconds);
            table.push(Row::new(["1x1"]).with("time", Value::from_samples(samples)));
            [table]
        };
        assert_eq!(unsteady(&table(&[10.0, 10.1, 10.2])), None);
        assert_eq!(unsteady(&table(&[10.0])), None);
        let warning = unsteady(&table(&[10.0, 50.0, 90.0])).expect("a warning");
        assert!(warning.contains("the runs of 1 of 1 figures differ by more than ±25 %"), "{warning}");
    }
}

//! Runs a suite on the CPU and the GPU of this machine.

use super::machine::Machine;
use super::{Setup, Suite, SuiteReport, Table, suites};
use anyhow::Result;

/// Runs a suite.
///
/// # Errors
/// When a measurement fails, or a result differs from the reference. Measurements without their hardware or program are
/// left out, with a note.
pub fn run(suite: Suite, setup: &Setup) -> Result<SuiteReport> {
    let mut notes = Vec::new();
    let tables = match suite {
        Suite::Cpu => suites::cpu::run(setup)?,
        Suite::Transcode => suites::transcode::run(setup, &mut notes)?,
        other => {
            if let Err(reason) = setup.gpu() {
                notes.push(format!("No GPU is measured: {reason}."));
            }
            on_gpu(other, setup)?
        }
    };
    let gpu = setup.opened.get().and_then(|gpu| gpu.as_deref().ok());
    let report = SuiteReport { suite, machine: Machine::here(gpu), repeats: setup.repeats, notes, tables };
    setup.steps.finish();
    Ok(report)
}

fn on_gpu(suite: Suite, setup: &Setup) -> Result<Vec<Table>> {
    match suite {
        Suite::Stages => suites::stages::run(setup),
        Suite::CdfMin => suites::cdf_min::run(setup),
        Suite::Scans => suites::scans::run(setup),
        Suite::Bins => suites::bins::run(setup),
        Suite::Luminance => suites::luminance::run(setup),
        Suite::Kernels => suites::kernels::run(setup),
        Suite::Stream => suites::stream::run(setup),
        Suite::Transcode | Suite::Cpu => unreachable!("{} is run by itself", suite.name()),
    }
}

//! `histeq-video restore`: original samples from an equalized video and its curves.

use crate::options::RestoreJob;
use crate::report::{Console, restore_summary};
use crate::session::{Outputs, Session};
use crate::sidecar::curves::{CurveFile, InverseCurves, check_undone};
use crate::signals;
use anyhow::Result;
use histeq::equalize::cpu::Cpu;
use histeq::equalize::{EqualizeStage, OutputDepth};
use histeq::frame::limits;
use histeq::spec::Settings;
use histeq_media::pipeline::{self, Outcome};
use histeq_media::sink::{self, Target};
use serde_json::Map;
use std::sync::atomic::Ordering;

/// Undoes the curve of each frame, on the CPU.
pub fn run(job: RestoreJob, console: &Console) -> Result<Outcome> {
    let session = Session::new(job.stderr, job.limits, console);
    let Session { cancel, notices, progress, .. } = &session;

    Target::differs(&job.output.name, &job.curves)?;
    job.input.check_there()?;
    let outputs = Outputs::from(session.target(&job.output, &job.input.url)?);
    let file = session.watching(|| CurveFile::read(&job.curves))?;
    check_undone(&file)?;
    session.guard(job.sandbox, &[&job.input], &outputs, signals::FINISHING)?;

    let (source, input) = session.open(&job.input, notices)?;
    let sink = sink::open(input.clone(), outputs.target, job.output.options, &mut || false, notices.clone())?;
    session.start(&input, [&job.output.name].into_iter(), sink.encoding(), Map::new());
    let inverse = InverseCurves::new(file, job.output_depth == OutputDepth::EightAgain, notices.clone());
    let merged = inverse.merged.clone();
    let stage = EqualizeStage::new(Box::new(Cpu::new(limits::threads())), Settings::default())
        .with_output_depth(job.output_depth)
        .with_mappings(Some(Box::new(inverse)));
    let result = session.to_output(&input, |tick| pipeline::run(source, stage, None, sink, cancel, progress, tick))?;
    let merged = merged.load(Ordering::Relaxed);
    result.iter().for_each(|result| console.summary(restore_summary(result, progress, merged)));
    Ok(result.map_or(Outcome::Complete, |result| result.outcome))
}

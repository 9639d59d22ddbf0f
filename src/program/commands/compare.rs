//! `histeq-video compare`: draws two videos as one.

use crate::draw::comparison::{Comparer, Partners, draw_pairs};
use crate::options::jobs::CompareJob;
use crate::report::{Console, compare_summary};
use crate::session::{Outputs, Session};
use crate::signals;
use anyhow::{Result, bail};
use histeq_media::pipeline::{self, Outcome, Progress};
use histeq_media::sink::files::Target;
use histeq_media::sink::{self, OutputKind};
use histeq_media::source::{self, InputOptions};
use histeq_media::sys::files::Name;
use serde_json::Map;
use std::sync::Arc;

/// Draws the pairs of frames of both videos.
pub fn run(job: CompareJob, console: &Console) -> Result<Outcome> {
    let session = Session::new(job.stderr, job.limits, console);
    let Session { cancel, notices, progress, .. } = &session;

    let [a, b] = &job.inputs;
    [a, b].into_iter().try_for_each(InputOptions::check_there)?;
    Target::differs(&job.output.name, &b.url)?;
    let outputs = Outputs::from(session.target(&job.output, &a.url)?);
    session.guard(job.sandbox, &[a, b], &outputs, signals::FINISHING)?;

    let a = session.open(a, notices)?;
    let b = &InputOptions { limits: session.limits().clone(), ..b.clone() };
    let b = source::open(b, cancel, notices.clone(), Arc::new(Progress::default()))?;
    let file_name = |name: &Name| name.path().file_name().map_or_else(|| name.clone(), Name::from).to_string();
    let names = [&a.1, &b.1].map(|input| file_name(&input.name));
    let (source, of_a) = a;
    let [a_name, b_name] = [&of_a.name, &b.1.name].map(Clone::clone);
    let (partners, input) = Partners::new(of_a, b);
    let images = OutputKind::for_name(&job.output.name, job.output.options.format.as_deref()) == OutputKind::Images;
    let comparer = Comparer::new(job.view, (!job.plain).then_some(names), images, session.limits());
    let sink = sink::open(input.clone(), outputs.target, job.output.options, &mut || false, notices.clone())?;
    session.start(&input, [&job.output.name].into_iter(), sink.encoding(), Map::new());

    let draw = |before: &_, next: &_| draw_pairs(partners, comparer, before, next);
    let result = session
        .to_output(&input, |tick| pipeline::run_with((source, session.limits()), draw, sink, cancel, progress, tick))?;
    if result.as_ref().is_some_and(|result| result.outcome == Outcome::Complete && result.output.is_none()) {
        bail!("{a_name} and {b_name}: no two frames are shown at the same time, so nothing was written");
    }
    result.iter().for_each(|result| console.summary(compare_summary(result, progress)));
    Ok(result.map_or(Outcome::Complete, |result| result.outcome))
}

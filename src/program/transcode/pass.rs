//! Equalizing a file once, from its source to its outputs.

use crate::look;
use crate::options::FileJob;
use crate::pieces::processes;
use crate::session::Run;
use crate::sidecar::records::RecordTargets;
use crate::stage_builder::{StageBuilder, measuring_threads};
use anyhow::Result;
use histeq::equalize::BackendStartup;
use histeq::equalize::{SceneMappings, Verifier};
use histeq::spec::MappedScenes;
use histeq_media::pipeline::{self, Filtering, Notices, Outcome, Progress, Summary};
use histeq_media::sink::{self, OutputOptions, Target};
use histeq_media::source;
use std::sync::Arc;

/// What a run writes.
pub struct Outputs {
    /// The video.
    pub target: Target,
    /// What is written beside it.
    pub records: RecordTargets,
    /// How to write the video.
    pub options: OutputOptions,
}

/// Equalizes the input of `job` with these curves, if its scenes have been found already. `None` when the reader of the output
/// went away.
pub fn pass(
    run: &Run<'_>,
    job: &mut FileJob,
    builder: &StageBuilder,
    scenes: Option<Arc<MappedScenes>>,
    mut backend: BackendStartup,
    Outputs { target, records, options }: Outputs,
) -> Result<Option<Summary>> {
    let Run { cancel, notices, progress, .. } = run;
    // The first pass has said what there is to say of the input.
    let of_input = if scenes.is_some() { Notices::silent() } else { notices.clone() };
    let opened = source::open(&job.input, cancel, of_input.clone(), progress.clone())?;
    let opened = look::choose(&mut job.equalize, opened, builder.mask.as_ref(), &of_input)?;
    let (mut source, input) = source::filtered(opened, &job.filters.of_look(job.equalize.denoiser()), &of_input)?;
    let settings = job.equalize.resolve(&input, &of_input)?;
    builder.check(&input, &settings)?;
    match scenes {
        Some(_) => source.look_around(0, 0),
        None => source.look_around(settings.warm_up(), settings.look_ahead()),
    }
    backend.check()?;
    let records = records.open(&input.name)?;
    let told = job.equalize.report(&settings);
    records.tell(std::env::args_os().map(|word| word.to_string_lossy().into_owned()), told.clone());
    run.start(&input, job.written_files(), told);
    let (filtering, filtered) = match &job.filter_after {
        Some(chain) => {
            let behind = |equalized| source::filtered_after((equalized, input.clone()), chain, notices);
            let (filtering, filtered) = Filtering::new(behind)?;
            (Some(filtering), filtered)
        }
        None => (None, input.clone()),
    };
    let sink = sink::open(filtered.clone(), target, options, &mut || backend.has_gpu(), notices.clone())?;
    let mut stage = builder.stage(backend.finish(&notices.for_core())?, settings);
    if let Some(scenes) = scenes {
        stage = stage.with_mappings(Some(Box::new(SceneMappings(scenes))));
    }
    let mut stage = records.observe(stage.measuring_on(measuring_threads()), &input, progress);
    if job.verify {
        stage = stage.observed_by(Box::new(Verifier::default()));
    }
    stage.input_pool().into_iter().for_each(|pool| source.use_pool(pool));

    let equalize = |tick: &mut dyn FnMut(&Progress)| {
        let tell = |progress: &Progress| {
            tick(progress);
            if job.is_child {
                processes::tell(progress);
            }
        };
        pipeline::run(source, stage, filtering, sink, cancel, progress, tell)
    };
    let result = run.to_output(&filtered, equalize)?;
    // Without a frame there is nothing to record.
    if result.as_ref().is_none_or(|result| result.output.is_some()) {
        records.finish(result.as_ref().map_or(Outcome::Complete, |result| result.outcome))?;
    }
    Ok(result)
}

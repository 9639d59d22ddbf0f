//! `histeq-video INPUT OUTPUT`: equalizes a file.
//!
//! | file | what it is |
//! |---|---|
//! | `mod.rs` | the run of a file, and one pass over it |
//! | `scene_survey.rs` | `--smooth scene`: finds the scenes first |
//! | `target_size.rs` | `--target-size`: measures first, and then meets the size |
//! | `dry_run.rs` | `--dry-run`: prints what would be done |
//! | `size_note.rs` | the note about an output that is much larger than its input |

mod dry_run;
mod scene_survey;
mod size_note;
mod target_size;

pub use dry_run::run_many as dry_run_many;

use crate::colouring::Colouring;
use crate::options::jobs::{FileJob, Unchanged};
use crate::options::picture::EqualizeOptions;
use crate::report::{Console, summary, unchanged_summary};
use crate::samples::SampleScale;
use crate::session::{Around, Outputs, Session, prepare};
use crate::stage_builder::{StageBuilder, check_files_differ, measuring_threads};
use crate::{pieces, signals};
use anyhow::{Context, Result};
use histeq::internal::equalize::SceneMappings;
use histeq::internal::equalize::backend::BackendStartup;
use histeq::internal::spec::time::MappedScenes;
use histeq_media::pipeline::{self, Filtering, Notices, Outcome, Progress, Summary};
use histeq_media::sink::files::{Files, Overwrite, Target};
use histeq_media::sink::{self, OutputKind, OutputOptions};
use histeq_media::source::{self, LogChoice};
use histeq_media::sys::files::{Name, open_regular};
use std::sync::Arc;
use std::time::Instant;

/// The note about footage that looks like log, but whose curve neither the file nor an option names.
const LOOKS_LOG: &str = "this looks like log footage, but nothing names its curve (--log s-log3, v-log, ... brings it \
                         to BT.709 first; --log off says that it is none)";

/// Equalizes a file, in pieces with `--jobs`.
pub fn run(mut job: FileJob, console: &Console) -> Result<Outcome> {
    job.input.check_there()?;
    if let Some(as_json) = job.dry_run {
        return dry_run::run(&job, as_json, console);
    }
    if job.output.makes_folder {
        pieces::make_folder_of(&job.output.name)?;
    }
    if let Some(jobs) = job.jobs
        && let Some(outcome) = pieces::run_jobs(&mut job, jobs, console)?
    {
        return Ok(outcome);
    }
    let mut session = Session::new(job.stderr.clone(), job.limits, console);
    check_files_differ(job.read_files(), job.written_files())?;
    let outputs = outputs(&session, &job)?;
    let builder = session.watching(|| StageBuilder::new(&job.equalize, session.limits()))?;
    session.guard(job.sandbox, &[&job.input], &outputs, signals::FINISHING)?;

    let begin = Instant::now();
    let has_two_passes = job.equalize.options.has_whole_scenes() || job.output.most_bytes.is_some();
    let mut backend = session.begin_backend(&job.backend);
    let mut scenes = None;
    if job.equalize.options.has_whole_scenes() {
        backend.check()?;
        let first = session.first_pass();
        scenes = scene_survey::find_scenes(&first, &job, &builder)?;
        session.progress.add_work(&first.progress);
        if scenes.is_none() {
            console.info("interrupted in the first pass: nothing was written");
            return Ok(Outcome::Interrupted);
        }
    }
    if !OutputKind::for_name(&job.output.name, job.output.options.format.as_deref()).takes_only_pictures() {
        job.input.decoders = 1;
    }
    let may_be_smaller = size_note::may_be_smaller(&job);
    let options = job.output.options.clone();
    let (result, session) = match job.output.most_bytes {
        None => (transcode(&session, &job, &builder, scenes, backend, (outputs, options))?, session),
        Some(most) => target_size::transcode_to_size(session, &job, &builder, backend, outputs, most)?,
    };
    let Some(mut result) = result else { return Ok(Outcome::Complete) };
    if has_two_passes {
        result.elapsed = begin.elapsed();
    }
    let unchanged = unchanged(&job, &result, &session.progress);
    console.summary(match unchanged {
        Unchanged::Encode => summary(&result, &session.progress),
        Unchanged::Copy | Unchanged::Skip => unchanged_summary(&result, &session.progress, unchanged),
    });
    if result.outcome == Outcome::Complete
        && unchanged == Unchanged::Encode
        && may_be_smaller
        && let Some(written) = &result.output
    {
        size_note::compare(&job.input.url, written, &session.notices);
        size_note::propose_gpu(&result.equalizer, &session.progress, result.elapsed, &session.notices);
    }
    Ok(result.outcome)
}

/// The outputs of `job`.
///
/// # Errors
/// When an output must not or cannot be written, or the input cannot be opened.
fn outputs(session: &Session<'_>, job: &FileJob) -> Result<Outputs> {
    session.outputs(job).or_else(|error| Err(fault_of_input(session, job)?.unwrap_or(error)))
}

/// The error of opening the input of `job`, to be reported in place of the error that its output cannot be written.
/// `None` if the input can be opened, is not a file, or if existing outputs are skipped.
fn fault_of_input(session: &Session<'_>, job: &FileJob) -> Result<Option<anyhow::Error>> {
    if job.output.overwrite == Overwrite::Skip || !job.input.url.path().is_file() {
        return Ok(None);
    }
    let nowhere = Target::new(&"/dev/null".into(), &Name::default(), Files::One, Overwrite::Yes)?;
    session.guard(job.sandbox, &[&job.input], &nowhere.into(), signals::GIVING_UP)?;
    Ok(session.open(&job.input, &Notices::silent()).err())
}

/// What to do with the output: `Encode` keeps it, the others replace it if equalization has corrected nothing.
fn unchanged(job: &FileJob, result: &Summary, progress: &Progress) -> Unchanged {
    let is_whole = result.outcome == Outcome::Complete && result.output.is_some();
    if is_whole && progress.corrected_nothing() { job.unchanged } else { Unchanged::Encode }
}

/// Equalizes the input of `job` once, from its source to its outputs; with the mappings of `scenes`, if a first pass
/// has made them. `None` when the reader of the output closed its pipe.
fn transcode(
    session: &Session<'_>,
    job: &FileJob,
    builder: &StageBuilder,
    scenes: Option<Arc<MappedScenes>>,
    mut backend: BackendStartup,
    (Outputs { target, records, together, .. }, mut options): (Outputs, OutputOptions),
) -> Result<Option<Summary>> {
    let Session { cancel, notices, progress, .. } = session;
    // The second pass repeats no messages of the first.
    let (of_input, around) = match scenes {
        Some(_) => (&Notices::silent(), Around::Nothing),
        None => (notices, Around::AsSettings),
    };
    let copy = (job.unchanged == Unchanged::Copy).then(|| target.beside(&job.output.name)).transpose()?;
    let opened = session.open(&job.input, of_input)?;
    let mut prepared = prepare(opened, &job.equalize, &job.filters, Some(builder), around, [of_input; 2])?;
    backend.check()?;
    let (input, settings) = (prepared.input.clone(), prepared.settings);
    // If records are the only output, the run ends when they cannot be written.
    let kind = OutputKind::for_name(&job.output.name, options.format.as_deref());
    let records = records.open(&input.name, (kind != OutputKind::Nowhere).then_some(notices))?;
    let mut named_settings = job.equalize.report(&settings, &input);
    named_settings.extend(job.palette.report());
    options.provenance = job.has_provenance.then(|| EqualizeOptions::provenance(&named_settings));
    let command_line = std::env::args_os().map(Name::from);
    records.describe(command_line, named_settings.clone());
    let colouring = Colouring::new(job.palette, job.output.options.pixels, (&job.equalize, &settings), &input)?;
    let after = job.filter_after.as_ref();
    let after = after.map(|chain| |coloured| source::filter::filtered(coloured, "--filter-after", chain, notices));
    let (filtering, filtered) =
        Colouring::filters(colouring.as_ref(), &input, after, |build| Filtering::new(session.limits(), build))?;
    let sink = sink::open(filtered.clone(), target, options, &mut || backend.has_gpu(), notices.clone())?;
    session.start(&input, job.written_files(), sink.encoding(), named_settings);
    let stage = builder.stage(backend.finish(&notices.for_core())?, settings, SampleScale::for_input(&input));
    let mut stage = Colouring::observe(colouring.as_ref(), stage);
    if let Some(scenes) = scenes {
        stage = stage.with_mappings(Some(Box::new(SceneMappings(scenes))));
    }
    let stage =
        prepared.observe(stage.measuring_on(measuring_threads(session.limits())), &records, progress, job.verify);
    let (source, prepared_log) = (prepared.source, prepared.log);
    let result =
        session.to_output(&filtered, |tick| pipeline::run(source, stage, filtering, sink, cancel, progress, tick))?;
    let is_deep = input.picture.is_some_and(|(format, _)| format.depth() >= 10);
    let is_asked = job.filters.log == LogChoice::Auto && prepared_log.is_none();
    if is_deep && is_asked && progress.found().is_some_and(|found| found.looks_log()) {
        notices.note(LOOKS_LOG);
    }
    // Without a frame there are no records.
    if result.as_ref().is_none_or(|result| result.output.is_some()) {
        let outcome = result.as_ref().map_or(Outcome::Complete, |result| result.outcome);
        records.finish(outcome, notices).map_err(|error| match together.keep().iter().map(Name::to_string) {
            kept if kept.len() > 0 => {
                error.context(format!("what is whole is {}", kept.collect::<Vec<_>>().join(", ")))
            }
            _ => error,
        })?;
        if result.as_ref().is_some_and(|result| unchanged(job, result, progress) != Unchanged::Encode) {
            together.forget(&job.output.name);
            copy.map_or(Ok(()), |copy| copy_into(copy, &job.input.url))?;
        }
        together.name()?;
    }
    Ok(result)
}

/// Copies the bytes of the input to `target`.
fn copy_into(mut target: Target, input: &Name) -> Result<()> {
    let mut read = open_regular(input).with_context(|| input.clone())?;
    std::io::copy(&mut read, &mut target.patient_writer()?)
        .with_context(|| format!("{}: cannot be written", target.name()))?;
    target.end(Outcome::Complete)?;
    Ok(())
}

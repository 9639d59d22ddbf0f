//! `histeq-video plan`: reads the packets of files, divides their videos into pieces, and prints the plan.

use crate::options::jobs::{FileJob, Jobs, ManyJob, PlanJob, StatsFormat, Unchanged};
use crate::options::{Job, is_cube};
use crate::pieces::{FilePlan, PieceLength, Plan, Planning, ProcessPool, Times, hash_of, make_folder_of, most_jobs};
use crate::report::Console;
use crate::session::{Around, Prepared, Session, prepare};
use crate::stage_builder::{StageBuilder, check_files_differ};
use crate::{signals, stdout};
use anyhow::{Context, Result};
use histeq_media::pipeline::{ErrorWithRemedy, Outcome};
use histeq_media::sink::pieces::{PieceEncoder, check_joined, piece_encoder};
use histeq_media::source::{PacketSurvey, Reading};
use histeq_media::sys::files::{Name, open_regular};
use histeq_media::sys::io::is_pipe;
use std::path::absolute;
use std::sync::{Arc, Mutex, PoisonError};

/// Plans one file, or many.
pub fn run(PlanJob { many, file, piece, jobs }: PlanJob, console: &Console) -> Result<Outcome> {
    match many {
        None => plan_file(*file, piece, jobs, console),
        Some(many) => plan_all(&many, &file, console),
    }
}

fn not_in_pieces(name: &Name, why: &str) -> anyhow::Error {
    ErrorWithRemedy::not_in_pieces(format!("{name}: {why}")).into()
}

/// Checks that the input is a file, and that no option needs the whole video at once.
fn check_options(job: &FileJob) -> Result<()> {
    let name = &job.input.url;
    let obstacle = if is_pipe(name) || !name.path().is_file() {
        "only files can be cut into pieces"
    } else if job.filters.filter.is_some() {
        "--filter: filters can reach across pieces"
    } else if job.filter_after.is_some() {
        "--filter-after: filters can reach across pieces"
    } else if job.palette.palette.is_some() {
        "--palette colours pictures behind equalization, which pieces leave out"
    } else if job.equalize.save_curves.as_ref().is_some_and(is_cube) {
        "--save-curves NAME.cube: a scene can lie in several pieces"
    } else if job.unchanged != Unchanged::Encode {
        "--unchanged looks at the whole video"
    } else if job.output.most_bytes.is_some() {
        "--target-size is shared out over the whole video"
    } else if job.equalize.options.has_whole_scenes() {
        "--smooth scene looks at whole scenes, which pieces have not"
    } else {
        return Ok(());
    };
    Err(not_in_pieces(name, obstacle))
}

/// The most threads of each encoder if several run.
const MAX_THREADS: usize = 12;

/// Plans a file, for pieces of this length or for this many processes, and prints the plan.
fn plan_file(mut job: FileJob, piece: Option<f64>, jobs: Option<Jobs>, console: &Console) -> Result<Outcome> {
    let session = Session::new(job.stderr.clone(), job.limits, console);
    job.input.check_there()?;
    check_options(&job)?;
    let name = job.input.url.clone();
    check_files_differ(job.read_files(), job.written_files())?;
    let outputs = session.outputs(&job)?;
    let hash = |name: &Name| open_regular(name).map_err(Into::into).and_then(|file| hash_of(file, &session.cancel));
    let read = job.read_files().map(|name| Ok((rooted(name)?, hash(name).with_context(|| name.clone())?)));
    let read = read.collect::<Result<_>>()?;
    let builder = session.watching(|| StageBuilder::new(&job.equalize, session.limits()))?;
    session.guard(job.sandbox, &[&job.input], &outputs, signals::GIVING_UP)?;

    let Session { cancel, notices, .. } = &session;
    job.input.decoders = 1;
    let found: Arc<Mutex<PacketSurvey>> = Arc::default();
    job.input.reading = Reading::Packets(None, found.clone());
    let opened = session.open(&job.input, notices)?;
    if opened.1.media.is_raw() || opened.1.media.is_images() {
        return Err(not_in_pieces(&name, "pictures without packets that tell their times cannot be cut"));
    }
    let Prepared { mut source, input, settings, .. } =
        prepare(opened, &job.equalize, &job.filters, Some(&builder), Around::AsSettings, [notices; 2])?;
    let PieceEncoder { name: encoder, options: encoder_options, multiple } =
        piece_encoder(&input, &job.output.name, job.output.options.clone())?;
    check_joined(input.clone(), &job.output.name, job.output.options.clone(), notices.clone())?;
    while source.next()?.is_some() {
        if cancel.is_cancelled() {
            return Ok(Outcome::Interrupted);
        }
    }
    let survey = std::mem::take(&mut *found.lock().unwrap_or_else(PoisonError::into_inner));
    let bounds = job.input.part.bounds(input.media.start.unwrap_or(0));
    let (stream, output) = (input.video_stream(), rooted(&job.output.name)?);
    let file = FilePlan {
        input: rooted(&name)?,
        folder: pieces_folder(&output),
        output,
        bytes: std::fs::metadata(&name).with_context(|| name.clone())?.len(),
        settings: format!("{settings:?}"),
        encoder,
        encoder_options,
        read,
        stream: input.video,
        size: input.picture.map_or((0, 0), |(_, size)| size),
        time_base: [stream.time_base.numerator(), stream.time_base.denominator()],
        times: Times::default(),
        chunks: Vec::new(),
        others: survey.others,
        can_seek: false,
        around: (0, 0),
        measures_change: !job.stats.is_empty(),
        draws_page: job.stats.iter().any(|(_, format)| *format == StatsFormat::Page),
        saves_curves: job.equalize.save_curves.is_some(),
        pieces: Vec::new(),
    };
    let has_own_threads = job.output.options.encoder.options.iter().any(|(key, _)| key == "threads");
    let (begin, end, most) = (bounds.begin, bounds.end, job.input.part.frames);
    let length = match (piece, jobs) {
        (Some(seconds), _) => PieceLength::Seconds(seconds),
        (None, Some(Jobs::Exactly(jobs))) => PieceLength::Shares(jobs, 1),
        (None, Some(Jobs::Auto)) => {
            PieceLength::Shares(most_jobs(session.limits().threads(), file.size.0 * file.size.1), 3)
        }
        (None, None) => PieceLength::ByVideo,
    };
    let mut file = Planning { file, survey, begin, end, most, length, multiple }.divide(&input)?;
    if let Some((_, threads)) = file.encoder_options.iter_mut().find(|(key, _)| key == "threads")
        && jobs.is_some()
        && !has_own_threads
    {
        *threads = encoder_threads(session.limits().threads(), file.pieces.len(), threads);
    }
    let mut plan = Plan::new(std::env::current_dir()?.into(), options_of_plan()?);
    plan.files.push(file);
    print_plan(&plan)
}

/// How many threads each of `encoders` that work at once gets, so that all `cores` are busy: at least `usual`.
fn encoder_threads(cores: usize, encoders: usize, usual: &str) -> String {
    let wanted = (2 * cores).div_ceil(encoders).min(MAX_THREADS);
    match usual.parse() {
        Ok(usual) if wanted > usual => wanted.to_string(),
        _ => usual.to_owned(),
    }
}

/// Plans many files, each in a process of its own, and prints one plan.
fn plan_all(many: &ManyJob, like: &FileJob, console: &Console) -> Result<Outcome> {
    let pool = ProcessPool::new(&like.stderr, console);
    pool.listen_for_signals(signals::GIVING_UP)?;
    let mut all: Option<Plan> = None;
    for (input, output) in &many.files {
        if output.path().is_file() && !many.overwrites {
            continue;
        }
        make_folder_of(output)?;
        let mut arguments = Job::options()?;
        arguments.extend(["--one-of".into(), input.clone().into(), output.clone().into(), "--made-up".into()]);
        let answer = pool.run_one(&arguments, &input.to_string(), |message| pool.pass_on(message))?;
        if pool.cancel.is_cancelled() || answer.outcome == Outcome::Interrupted {
            return Ok(Outcome::Interrupted);
        }
        let plan = Plan::parse(&answer.stdout)?;
        match &mut all {
            Some(all) => all.files.extend(plan.files),
            None => all = Some(plan),
        }
    }
    let mut plan = all.context("all files are there: there is nothing to plan")?;
    plan.arguments = options_of_plan()?;
    print_plan(&plan)
}

/// The arguments after `plan`, including those that come from defaults.
fn options_of_plan() -> Result<Vec<Name>> {
    Ok(Job::words()?.into_iter().skip(2).map(Name::from).collect())
}

fn print_plan(plan: &Plan) -> Result<Outcome> {
    let mut text = serde_json::to_vec(plan)?;
    text.push(b'\n');
    stdout::print(&text)?;
    Ok(Outcome::Complete)
}

/// The absolute path of a file.
fn rooted(name: &Name) -> Result<Name> {
    Ok(absolute(name).with_context(|| name.clone())?.into())
}

/// The folder of the pieces of the file `output`.
fn pieces_folder(output: &Name) -> Name {
    let file = output.path().file_name().unwrap_or_default();
    output.path().with_file_name(Name::from_parts([&".", &file, &".pieces"])).into()
}

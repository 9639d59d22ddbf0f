//! `plan`, `run`, `join` and `status`: files in pieces.

use crate::look;
use crate::options::{FileJob, Job, Jobs, JoinJob, ManyJob, PiecesJob, PlanJob, RunJob, StatusJob, planned_job};
use crate::pieces::jobs::{most_jobs, piece_task};
use crate::pieces::processes::{self, Failed, Task, Workers, end_with_parent, said_as};
use crate::pieces::{
    FilePlan, Joining, PieceLength, PieceState, Plan, Planning, Times, hash_of_file, hashes_of_records, state_of,
};
use crate::report::{Console, jobs_summary, summary};
use crate::session::Run;
use crate::sidecar::records::{RecordTargets, Records};
use crate::sidecar::statistics::StatsFormat;
use crate::signals;
use crate::stage_builder::{StageBuilder, measuring_threads};
use crate::stdout;
use anyhow::{Context, Result, anyhow, bail, ensure};
use histeq::cuda;
use histeq::equalize::BackendStartup;
use histeq::equalize::Verifier;
use histeq::frame::limits;
use histeq::spec::Named;
use histeq_media::ffmpeg::{DecodeOn, microseconds, rescale};
use histeq_media::pipeline::{self, Cancel, Delivery, Input, Notices, Outcome, Sink};
use histeq_media::sink::{
    Files, JoinedFile, Leftover, Overwrite, PieceEncoder, PieceOf, PieceSink, Target, TargetError, check_joined,
    piece_encoder,
};
use histeq_media::source::{self, InputChanged, PacketSurvey, Reading};
use histeq_media::sys::is_pipe;
use serde::Serialize;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, absolute};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// The input is not the one that was planned.
const CHANGED: u8 = 65;

/// The run may succeed if it is tried again.
pub const TRY_AGAIN: u8 = 75;

/// Does the job.
///
/// # Errors
/// [`code_of`] has their exit codes.
pub fn run(job: PiecesJob, console: &Console) -> Result<Outcome> {
    match job {
        PiecesJob::Plan(PlanJob { many: None, file, piece, jobs }) => plan(*file, piece, jobs, console),
        PiecesJob::Plan(PlanJob { many: Some(many), file, .. }) => plan_all(&many, &file, console),
        PiecesJob::Run(job) => run_pieces(&job, console),
        PiecesJob::Join(job) => join(&job, console),
        PiecesJob::Status(job) => status(&job),
    }
}

/// The exit code for this error of any job; `is_run` if that was to work on pieces.
pub fn code_of(error: &anyhow::Error, is_run: bool) -> u8 {
    let is_passing = |error: &(dyn std::error::Error + 'static)| {
        let full = [ErrorKind::StorageFull, ErrorKind::QuotaExceeded, ErrorKind::FileTooLarge, ErrorKind::Interrupted];
        error.is::<cuda::Error>()
            || error.downcast_ref::<histeq::Error>().is_some_and(|error| error.gpu().is_some())
            || error.downcast_ref::<std::io::Error>().is_some_and(|error| full.contains(&error.kind()))
            || error.downcast_ref::<TargetError>().is_some_and(|error| matches!(error, TargetError::NotWritten(..)))
    };
    match error.downcast_ref::<Failed>() {
        Some(Failed { code, .. }) => *code,
        None if error.chain().any(|cause| cause.is::<InputChanged>()) => CHANGED,
        None if is_run && (error.chain().any(is_passing) || signals::was_interrupted()) => TRY_AGAIN,
        // Also when the error is not due to the interruption: the shell needs to know of it.
        None if signals::was_interrupted() => signals::INTERRUPTED,
        None => 1,
    }
}

/// Prints the plan for a file: for pieces of this length, or for this many processes.
fn plan(mut job: FileJob, piece: Option<f64>, jobs: Option<Jobs>, console: &Console) -> Result<Outcome> {
    let run = Run::new(job.stderr.clone(), job.limits, console);
    let name = job.input.url.clone();
    let refuse = |what: &str| Err(anyhow!("{name}: {what} (leave --jobs out)"));
    if is_pipe(&name) || !Path::new(&name).is_file() {
        return refuse("only files can be cut into pieces");
    }
    if job.filters.has_chain() {
        return refuse("--filter: filters can reach across pieces");
    }
    if job.filter_after.is_some() {
        return refuse("--filter-after: filters can reach across pieces");
    }
    if job.output.most_bytes.is_some() {
        return refuse("--target-size is shared out over the whole video");
    }
    if job.equalize.options.has_whole_scenes() {
        return refuse("--smooth scene looks at whole scenes, which pieces have not");
    }
    let target = run.target(&job.output, &name)?;
    let records = RecordTargets::of_file(&job)?;
    let builder = StageBuilder::new(&job.equalize)?;
    let read = job.equalize.load_curves.iter().chain(&job.equalize.mask);
    let read = read.map(|name| Ok((rooted(name)?, hash_of_file(Path::new(name))?))).collect::<Result<_>>()?;
    let written = target.place().into_iter().chain(records.places());
    run.close(job.sandbox.around_process(&[&job.input], &job.output.name, written), &[&job.input])?;
    let temporary = target.leftover().into_iter().chain(records.leftovers()).collect();
    listen(&run, temporary, job.is_child)?;

    let Run { cancel, notices, progress, .. } = &run;
    job.input.decoders = 1;
    let mut look = None;
    if job.equalize.options.look_is_open() {
        let opened = source::open(&job.input, cancel, notices.clone(), progress.clone())?;
        look::choose(&mut job.equalize, opened, builder.mask.as_ref(), notices)?;
        look = Some(job.equalize.options.look.name().to_owned());
    }
    let found: Arc<Mutex<PacketSurvey>> = Arc::default();
    job.input.reading = Reading::Packets(None, found.clone());
    let opened = source::open(&job.input, cancel, notices.clone(), progress.clone())?;
    let (mut source, input) = source::filtered(opened, &job.filters.of_look(job.equalize.denoiser()), notices)?;
    if input.media.is_raw() || input.media.is_images() {
        return refuse("pictures without packets that tell their times cannot be cut");
    }
    let settings = job.equalize.resolve(&input, notices)?;
    builder.check(&input, &settings)?;
    let PieceEncoder { name: encoder, options: encoder_options, multiple } =
        piece_encoder(&input, &job.output.name, job.output.options.clone())?;
    check_joined(input.clone(), &job.output.name, job.output.options.clone(), notices.clone())?;
    source.look_around(settings.warm_up(), settings.look_ahead());
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
        look,
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
        measures_change: job.stats.is_some(),
        draws_page: matches!(job.stats, Some((_, StatsFormat::Page))),
        saves_curves: job.equalize.save_curves.is_some(),
        pieces: Vec::new(),
    };
    let (begin, end, most) = (bounds.begin, bounds.end, job.input.part.frames);
    let length = match (piece, jobs) {
        (Some(seconds), _) => PieceLength::Seconds(seconds),
        (None, Some(Jobs::Exactly(jobs))) => PieceLength::Shares(jobs, 1),
        (None, Some(Jobs::Auto)) => PieceLength::Shares(most_jobs(limits::threads(), file.size.0 * file.size.1), 4),
        (None, None) => PieceLength::ByVideo,
    };
    let file = Planning { file, survey, begin, end, most, length, multiple }.divide(&input)?;
    let mut plan = Plan::new(std::env::current_dir()?, options_of_plan()?);
    plan.files.push(file);
    print_plan(&plan)
}

/// Has signals, or the end of its parent, cancel the run.
fn listen(run: &Run, temporary: Vec<Leftover>, is_child: bool) -> Result<()> {
    run.listen_for_signals(temporary, if is_child { signals::NOTHING } else { signals::GIVING_UP })?;
    if is_child { end_with_parent(run.cancel.clone()) } else { Ok(()) }
}

/// Prints the plan for many files, each of which is planned by a process of its own.
fn plan_all(many: &ManyJob, like: &FileJob, console: &Console) -> Result<Outcome> {
    let cancel = Cancel::default();
    signals::listen(cancel.clone(), console.clone(), Vec::new(), signals::GIVING_UP)?;
    let workers = Workers {
        jobs: 1,
        goes_on: false,
        done: (0, 0),
        unit: "files",
        stderr: &like.stderr,
        console,
        cancel: &cancel,
    };
    let mut all: Option<Plan> = None;
    for (input, output) in &many.files {
        if Path::new(output).exists() && !many.overwrites {
            continue;
        }
        if let Some(folder) = Path::new(output).parent() {
            std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        }
        let mut arguments = Job::options()?;
        arguments.extend(["--one-of".into(), input.into(), output.into()]);
        let (outcome, text) = workers.ask(&arguments, input)?;
        if cancel.is_cancelled() || outcome == Outcome::Interrupted {
            return Ok(Outcome::Interrupted);
        }
        let plan = Plan::parse(&text)?;
        match &mut all {
            Some(all) => all.files.extend(plan.files),
            None => all = Some(plan),
        }
    }
    let mut plan = all.context("all files are there: there is nothing to plan")?;
    plan.arguments = options_of_plan()?;
    print_plan(&plan)
}

/// The words behind `plan`, with defaults.
fn options_of_plan() -> Result<Vec<String>> {
    let words = Job::words()?.into_iter().skip(2).map(|word| word.into_string());
    words.collect::<Result<_, _>>().map_err(|word| anyhow!("{}: not text", word.display()))
}

fn print_plan(plan: &Plan) -> Result<Outcome> {
    let mut text = serde_json::to_vec(plan)?;
    text.push(b'\n');
    stdout::print(&text)?;
    Ok(Outcome::Complete)
}

/// The name of a file from the root on.
fn rooted(name: &str) -> Result<String> {
    let path = absolute(name).with_context(|| name.to_owned())?;
    path.into_os_string().into_string().map_err(|_| anyhow!("{name}: the names of its folders are not text"))
}

/// The folder of the pieces of the file `output`.
fn pieces_folder(output: &str) -> std::path::PathBuf {
    let path = Path::new(output);
    path.with_file_name(format!(".{}.pieces", path.file_name().unwrap_or_default().to_string_lossy()))
}

/// Works on pieces of a plan.
fn run_pieces(job: &RunJob, console: &Console) -> Result<Outcome> {
    let plan = Plan::read(&job.plan)?;
    let all = 0..=plan.pieces().saturating_sub(1);
    let pieces = job.pieces.clone().unwrap_or(all);
    plan.piece(*pieces.end())?;
    if pieces.start() == pieces.end() {
        return run_piece(job, &plan, *pieces.start(), console);
    }
    let (mut tasks, mut done) = (Vec::new(), (0, 0));
    for number in pieces {
        let (file, piece) = plan.piece(number)?;
        let frames = file.pieces[piece].1 as u64;
        match state_of(file, piece).0 {
            PieceState::Done => done = (done.0 + frames, done.1 + 1),
            _ => tasks.push(piece_task(&job.plan, number, frames, &job.stderr)),
        }
    }
    let cancel = Cancel::default();
    signals::listen(cancel.clone(), console.clone(), Vec::new(), signals::GIVING_UP)?;
    let workers =
        Workers { jobs: job.jobs, goes_on: true, done, unit: "pieces", stderr: &job.stderr, console, cancel: &cancel };
    let done = workers.run(&tasks)?;
    let failed = done.failed.len();
    match done.failed.into_iter().next() {
        None => Ok(done.outcome),
        Some(first) if failed > 1 => {
            let why = format!("{} (and {} more pieces failed)", first.why, failed - 1);
            Err(Failed { why, ..first }.into())
        }
        Some(first) => Err(first.into()),
    }
}

/// Works on one piece.
fn run_piece(job: &RunJob, plan: &Plan, number: usize, console: &Console) -> Result<Outcome> {
    let (file, piece) = plan.piece(number)?;
    if state_of(file, piece).0 == PieceState::Done {
        console.info(&format!("piece {number} is done"));
        return Ok(Outcome::Complete);
    }
    file.check_inputs()?;
    let mut whole = planned_job(plan, file)?;
    prepare(&mut whole, job, file, piece)?;
    std::fs::create_dir_all(&file.folder).with_context(|| file.folder.display().to_string())?;
    let path = file.piece_file(piece).to_string_lossy().into_owned();

    let run = Run::new(job.stderr.clone(), whole.limits, console);
    let target = Target::new(&path, &file.input, Files::One, Overwrite::Yes)?;
    let records = RecordTargets::of_file(&whole)?;
    let builder = StageBuilder::new(&whole.equalize)?;
    let wall = whole.sandbox.around_process(&[&whole.input], &path, [file.folder.clone()]);
    run.close(wall, &[&whole.input])?;
    let temporary = target.leftover().into_iter().chain(records.leftovers()).collect();
    listen(&run, temporary, job.is_child)?;

    let Run { cancel, notices, progress, .. } = &run;
    let mut backend = BackendStartup::begin(whole.backend.clone());
    let opened = source::open(&whole.input, cancel, notices.clone(), progress.clone())?;
    let (mut source, input) = source::filtered(opened, &whole.filters.of_look(whole.equalize.denoiser()), notices)?;
    // What there is to say of them was said when they were planned.
    let settings = whole.equalize.resolve(&input, &Notices::silent())?;
    builder.check(&input, &settings)?;
    check_resolved(file, &input, &format!("{settings:?}"), &whole)?;
    source.look_around(settings.warm_up(), settings.look_ahead());
    backend.check()?;
    let records = records.open(&input.name)?;
    let of = PieceOf { plan: file.id(), piece, left_out: file.left_out(piece) as u64 };
    let options = whole.output.options.clone();
    let sink = PieceSink::create(input.clone(), target, &file.output, options, of, notices.clone())?;
    let first = file.pieces[piece].0 - file.left_out(piece) - file.first();
    let stage = builder.stage(backend.finish(&notices.for_core())?, settings).from_frame(first as u64);
    let mut stage = records.observe(stage.measuring_on(measuring_threads()), &input, progress);
    if whole.verify {
        stage = stage.observed_by(Box::new(Verifier::default()));
    }
    stage.input_pool().into_iter().for_each(|pool| source.use_pool(pool));
    let result = run.to_output(&input, |tick| {
        let tell = |progress: &_| {
            tick(progress);
            if job.is_child {
                processes::tell(progress);
            }
        };
        pipeline::run(
            source,
            stage,
            None,
            Box::new(Recorded { sink, records, of: (file.clone(), piece) }),
            cancel,
            progress,
            tell,
        )
    })?;
    let result = result.context("the piece has no reader")?;
    if !job.is_child && result.outcome == Outcome::Complete {
        console.summary(summary(&result, progress));
    }
    Ok(result.outcome)
}

/// Sets up the job of a whole file for one of its pieces.
fn prepare(whole: &mut FileJob, job: &RunJob, file: &FilePlan, piece: usize) -> Result<()> {
    whole.stderr = job.stderr.clone();
    whole.output.overwrite = Overwrite::Yes;
    whole.input.decoders = 1;
    whole.input.reading = Reading::Planned(Arc::new(file.part(piece)?));
    if let Some(gpu) = job.gpu {
        whole.backend.gpu = gpu;
        if let DecodeOn::Nvdec(own) = &mut whole.input.decode_on {
            *own = gpu;
        }
    }
    let [stats, curves] = file.record_files(piece).map(|path| path.to_string_lossy().into_owned());
    whole.stats = whole.stats.take().map(|(_, format)| match format {
        StatsFormat::Page => (stats, StatsFormat::PieceOfPage),
        _ => (stats, StatsFormat::JsonLines),
    });
    whole.equalize.save_curves = whole.equalize.save_curves.take().map(|_| curves);
    Ok(())
}

/// Checks that the options come to what was planned.
fn check_resolved(file: &FilePlan, input: &Input, settings: &str, whole: &FileJob) -> Result<()> {
    let stream = input.video_stream();
    let time_base = [stream.time_base.numerator(), stream.time_base.denominator()];
    if (input.video, time_base) != (file.stream, file.time_base) {
        return Err(InputChanged(file.input.clone(), "its video is another one").into());
    }
    ensure!(settings == file.settings, "{}: its options come to other settings here (plan again)", file.input);
    let PieceEncoder { name: encoder, options, .. } = piece_encoder(input, &file.output, whole.output.options.clone())?;
    let is_same = (&encoder, &options) == (&file.encoder, &file.encoder_options);
    ensure!(is_same, "{}: planned for encoder {}, not for {encoder} as here (plan again)", file.output, file.encoder);
    Ok(())
}

/// The sink of a piece. Its records get their names first: where the piece is, they are.
struct Recorded {
    sink: PieceSink,
    records: Records,
    /// The file, and the number of the piece.
    of: (FilePlan, usize),
}

impl Sink for Recorded {
    fn write(&mut self, delivery: Delivery) -> Result<()> {
        self.sink.write(delivery)
    }

    fn finish(self: Box<Self>, outcome: Outcome) -> Result<Option<String>> {
        let Recorded { mut sink, records, of: (file, piece) } = *self;
        if outcome == Outcome::Complete {
            records.finish(outcome)?;
            sink.set_records(hashes_of_records(&file, piece)?);
        }
        Box::new(sink).finish(outcome)
    }
}

/// Joins the pieces of all files of a plan, or of one.
fn join(job: &JoinJob, console: &Console) -> Result<Outcome> {
    let plan = Plan::read(&job.plan)?;
    match (job.file, &plan.files[..]) {
        (None, [file]) => join_file(job, &plan, file, console),
        (Some(number), files) => {
            let file = files.get(number).with_context(|| format!("there is no file {number} in the plan"))?;
            join_file(job, &plan, file, console)
        }
        (None, files) => join_all(job, files.len(), console),
    }
}

/// Joins each file of a plan, in a process of its own.
fn join_all(job: &JoinJob, files: usize, console: &Console) -> Result<Outcome> {
    let cancel = Cancel::default();
    signals::listen(cancel.clone(), console.clone(), Vec::new(), signals::GIVING_UP)?;
    let given = [(job.overwrites, "-y"), (job.keeps, "--keep"), (job.is_partial, "--partial")];
    let given: Vec<OsString> = given.iter().filter(|(given, _)| *given).map(|(_, option)| option.into()).collect();
    let task = |file: usize| {
        let mut arguments = vec!["join".into(), job.plan.clone().into(), "--file".into(), file.to_string().into()];
        arguments.extend(given.iter().cloned().chain(said_as(&job.stderr)));
        Task { name: format!("file {file}"), arguments, frames: None, takes_gpu: false }
    };
    let tasks: Vec<Task> = (0..files).map(task).collect();
    let workers =
        Workers { jobs: 1, goes_on: true, done: (0, 0), unit: "files", stderr: &job.stderr, console, cancel: &cancel };
    let done = workers.run(&tasks)?;
    if done.failed.is_empty() {
        return Ok(done.outcome);
    }
    let list: Vec<String> = done.failed.iter().map(ToString::to_string).collect();
    Err(anyhow!("{} of {files} files are not joined: {}", list.len(), list.join("; ")))
}

fn join_file(job: &JoinJob, plan: &Plan, file: &FilePlan, console: &Console) -> Result<Outcome> {
    file.check_inputs()?;
    let begun = Instant::now();
    let mut whole = planned_job(plan, file)?;
    whole.stderr = job.stderr.clone();
    if job.overwrites {
        whole.output.overwrite = Overwrite::Yes;
    }
    let run = Run::new(job.stderr.clone(), whole.limits, console);
    let target = run.target(&whole.output, &file.input)?;
    let records = RecordTargets::of_file(&whole)?;
    let mut joining = Joining::new(file, job.is_partial)?;
    let pieces = joining.pieces();
    let is_whole = pieces == file.pieces.len();
    let outcome = if is_whole { Outcome::Complete } else { Outcome::Interrupted };
    let (first, frames) = file.pieces[pieces - 1];
    let is_counted = whole.input.part.frames.is_some();
    let end = file.moment(first + frames).filter(|_| is_counted || !is_whole);
    let written = target.place().into_iter().chain(records.places()).chain([file.folder.clone()]);
    run.close(whole.sandbox.around_process(&[&whole.input], &whole.output.name, written), &[&whole.input])?;
    let temporary = target.leftover().into_iter().chain(records.leftovers()).collect();
    listen(&run, temporary, job.is_child)?;

    let Run { cancel, notices, progress, .. } = &run;
    let found: Arc<Mutex<PacketSurvey>> = Arc::default();
    whole.input.reading = Reading::Packets(end, found.clone());
    let opened = source::open(&whole.input, cancel, notices.clone(), progress.clone())?;
    let (mut source, input) = source::filtered(opened, &whole.filters.of_look(whole.equalize.denoiser()), notices)?;
    let begin = rescale(joining.begin(), joining.video.time_base(), microseconds());
    let (video, options) = (joining.video.clone(), whole.output.options.clone());
    joining.check_records()?;
    let records = records.open(&input.name)?;
    let settings = whole.equalize.resolve(&input, &Notices::silent())?;
    // With `--jobs`, they are those of the whole command.
    let is_whole_command = plan.arguments.iter().any(|word| word == "--one-of");
    let program = ["histeq-video", "plan"].into_iter().take(if is_whole_command { 1 } else { 2 });
    let words = program.map(str::to_owned).chain(plan.arguments.iter().cloned());
    records.tell(words, whole.equalize.report(&settings));
    let mut joined = JoinedFile::create(input, target, options, &video, begin, notices.clone())?;
    // About a second of both in turns, so that few of them wait.
    let mut written = 0;
    while let Some(delivery) = source.next()? {
        if cancel.is_cancelled() {
            bail!("interrupted while joining: nothing was written, and all pieces are there");
        }
        delivery.packets.into_iter().try_for_each(|packet| joined.write_other(packet))?;
        while written < progress.decoded()
            && let Some(packet) = joining.next_packet()?
        {
            joined.write_video(packet)?;
            written += 1;
        }
    }
    while let Some(packet) = joining.next_packet()? {
        joined.write_video(packet)?;
    }
    let found = std::mem::take(&mut *found.lock().unwrap_or_else(PoisonError::into_inner));
    if (&found.chunks, found.others) != (&file.chunks, file.others) {
        return Err(InputChanged(file.input.clone(), "its packets are others").into());
    }
    records.join(file, pieces)?;
    let name = joined.finish(outcome)?;
    records.finish(outcome)?;
    let s = if pieces == 1 { "" } else { "s" };
    if job.is_child {
        stdout::print(format!("{name}\n").as_bytes())?;
    } else {
        let frames = first + frames - file.first();
        let line = format!("{frames} frames of {pieces} piece{s} -> {name}");
        console.summary(jobs_summary(frames as u64, 0, Some(&name), begun.elapsed(), line));
    }
    if is_whole && !job.keeps {
        file.remove_pieces();
    }
    Ok(outcome)
}

/// What there is of a plan.
#[derive(Serialize)]
struct Status {
    /// How many pieces there are, and how many are done.
    pieces: usize,
    done: usize,
    /// The numbers of those of which there is nothing, and of those that are damaged or of another plan.
    missing: Vec<usize>,
    wrong: Vec<usize>,
    files: Vec<FileStatus>,
}

#[derive(Serialize)]
struct FileStatus {
    output: String,
    /// Whether it is there.
    joined: bool,
    pieces: usize,
    done: usize,
    frames: usize,
}

/// Prints what there is of a plan.
fn status(job: &StatusJob) -> Result<Outcome> {
    let plan = Plan::read(&job.plan)?;
    let mut status =
        Status { pieces: plan.pieces(), done: 0, missing: Vec::new(), wrong: Vec::new(), files: Vec::new() };
    let mut number = 0;
    for file in &plan.files {
        let before = status.done;
        for piece in 0..file.pieces.len() {
            match state_of(file, piece).0 {
                PieceState::Done => status.done += 1,
                PieceState::Missing => status.missing.push(number),
                PieceState::Wrong => status.wrong.push(number),
            }
            number += 1;
        }
        let (output, frames) = (file.output.clone(), file.frames());
        let (joined, pieces, done) = (Path::new(&output).exists(), file.pieces.len(), status.done - before);
        status.files.push(FileStatus { output, joined, pieces, done, frames });
    }
    if job.json {
        stdout::print(format!("{}\n", serde_json::to_string(&status)?).as_bytes())?;
        return Ok(Outcome::Complete);
    }
    let list = |numbers: &[usize]| numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(" ");
    let mut text = format!("{} of {} pieces are done\n", status.done, status.pieces);
    for (what, numbers) in [("missing", &status.missing), ("wrong", &status.wrong)] {
        if !numbers.is_empty() {
            text += &format!("{what}: {}\n", list(numbers));
        }
    }
    for file in &status.files {
        let state = if file.joined { "there" } else { "not there" };
        text += &format!("{}: {state}, {} of {} pieces, {} frames\n", file.output, file.done, file.pieces, file.frames);
    }
    stdout::print(histeq_media::sys::printable(&text).as_bytes())?;
    Ok(Outcome::Complete)
}

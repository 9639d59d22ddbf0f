//! `histeq-video run`: works on pieces of a plan, one in this process or several in child processes.

use crate::options::jobs::{FileJob, RunJob, StatsFormat};
use crate::pieces::{
    ChildRun, FilePlan, PieceFolder, PieceState, Plan, ProcessPool, file_of_piece, files_of_records, hashes_of_records,
    make_folder,
};
use crate::report::{Console, summary};
use crate::samples::SampleScale;
use crate::session::{Around, Outputs, Session, prepare};
use crate::sidecar::records::{RecordTargets, Records};
use crate::signals;
use crate::stage_builder::{StageBuilder, measuring_threads};
use anyhow::{Context, Result, ensure};
use histeq_media::ffmpeg::decode::DecodeOn;
use histeq_media::pipeline::{self, Cancel, Delivery, Input, Notices, Outcome, Sink};
use histeq_media::sink::files::{Overwrite, Target};
use histeq_media::sink::pieces::{PieceEncoder, PieceOf, PieceSink, piece_encoder};
use histeq_media::source::{InputChanged, Reading};
use histeq_media::sys::files::{Name, PrivateFolder};
use std::sync::Arc;

/// The least bytes of frames in a piece for which a process opens a GPU: each process opens it for itself, and takes
/// CPU time for that from the encoders.
const WORTH_OPENING: usize = 4 << 30;

/// Works on pieces of a plan.
pub fn run(job: &RunJob, console: &Console) -> Result<Outcome> {
    let plan = Plan::read(&job.plan)?;
    let all = 0..=plan.pieces().saturating_sub(1);
    let pieces = job.pieces.clone().unwrap_or(all);
    plan.piece(*pieces.end())?;
    if pieces.start() == pieces.end() {
        return run_piece(job, &plan, *pieces.start(), console);
    }
    let mut pool = ProcessPool::new(&job.stderr, console);
    pool.listen_for_signals(signals::GIVING_UP)?;
    (pool.jobs, pool.goes_on, pool.unit) = (job.jobs, true, "pieces");
    let mut runs = Vec::new();
    let mut folder: Option<PieceFolder<'_>> = None;
    for number in pieces {
        if pool.cancel.is_cancelled() {
            return Ok(Outcome::Interrupted);
        }
        let (file, piece) = plan.piece(number)?;
        let frames = file.pieces[piece].1 as u64;
        let folder = match folder.take_if(|folder| std::ptr::eq(folder.plan, file)) {
            Some(same) => folder.insert(same),
            None => folder.insert(PieceFolder::open(file)?),
        };
        match folder.state_of(piece).0 {
            _ if folder.is_joined(&job.plan) => pool.done = (pool.done.0 + frames, pool.done.1 + 1),
            PieceState::Done => pool.done = (pool.done.0 + frames, pool.done.1 + 1),
            _ => runs.push(ChildRun::for_piece(&job.plan, number, &file.input, frames, &job.stderr)),
        }
    }
    let mut done = pool.run(&runs)?;
    let failed = done.failed.len();
    if failed == 0 {
        return Ok(done.outcome);
    }
    let mut first = done.failed.swap_remove(0);
    if failed > 1 {
        first.error.message += &format!(" (and {} more pieces failed)", failed - 1);
    }
    Err(first.into())
}

fn run_piece(job: &RunJob, plan: &Plan, number: usize, console: &Console) -> Result<Outcome> {
    let (file, piece) = plan.piece(number)?;
    let there = PieceFolder::open(file)?;
    let is_joined = there.is_joined(&job.plan);
    if is_joined || there.state_of(piece).0 == PieceState::Done {
        let joined = if is_joined { format!(": {} is joined", file.output) } else { String::new() };
        console.info(&format!("piece {number} is done{joined}"));
        return Ok(Outcome::Complete);
    }
    let mut whole = plan.job(file)?;
    let session = Session::new(job.stderr.clone(), whole.limits.with_threads(job.threads), console);
    file.check_inputs(&session.cancel)?;
    limit_to_piece(&mut whole, job, file, piece)?;
    let folder = make_folder(file.folder.path())?;
    let target = Target::in_folder(&folder, &file_of_piece(piece))?;
    let records = RecordTargets::for_piece(&whole, &folder, &files_of_records(piece))?;
    let outputs = Outputs { records, folder: Some(folder.opened().place()), ..target.into() };
    let builder = session.watching(|| StageBuilder::new(&whole.equalize, session.limits()))?;
    session.guard(whole.sandbox, &[&whole.input], &outputs, signals::GIVING_UP)?;

    let Session { cancel, notices, progress, .. } = &session;
    let mut backend = session.begin_backend(&whole.backend);
    let opened = session.open(&whole.input, notices)?;
    let mut prepared = prepare(
        opened,
        &whole.equalize,
        &whole.filters,
        Some(&builder),
        Around::AsSettings,
        [notices, &Notices::silent()],
    )?;
    let (input, settings) = (prepared.input.clone(), prepared.settings);
    check_resolved(file, &input, &format!("{settings:?}"), &whole)?;
    backend.check()?;
    let records = outputs.records.open(&input.name, None)?;
    let piece_of = PieceOf { plan: there.id, piece, left_out: file.left_out(piece) as u64 };
    let options = whole.output.options.clone();
    let sink = PieceSink::create(input.clone(), outputs.target, &file.output, options, piece_of, notices.clone())?;
    let first = file.pieces[piece].0 - file.left_out(piece) - file.first();
    let stage = builder
        .stage(backend.finish(&notices.for_core())?, settings, SampleScale::for_input(&input))
        .from_frame(first as u64);
    let stage =
        prepared.observe(stage.measuring_on(measuring_threads(session.limits())), &records, progress, whole.verify);
    let sink = Box::new(RecordedPiece { sink, records, place: (folder, piece), cancel: cancel.clone() });
    let source = prepared.source;
    let result = session.to_output(&input, |tick| pipeline::run(source, stage, None, sink, cancel, progress, tick))?;
    let result = result.context("the piece has no reader")?;
    if result.outcome == Outcome::Complete {
        console.summary(summary(&result, progress));
    }
    Ok(result.outcome)
}

/// Sets up the job of a whole file for one of its pieces.
fn limit_to_piece(whole: &mut FileJob, job: &RunJob, file: &FilePlan, piece: usize) -> Result<()> {
    whole.stderr = job.stderr.clone();
    whole.output.overwrite = Overwrite::Yes;
    whole.input.decoders = 1;
    whole.backend.worth_opening = WORTH_OPENING;
    whole.input.reading = Reading::Planned(Arc::new(file.part(piece)?));
    if let Some(gpu) = job.gpu {
        whole.backend.gpu = gpu;
        if let DecodeOn::Nvdec(nvdec) = &mut whole.input.decode_on {
            *nvdec = gpu;
        }
    }
    // Uses the plan's number of encoder threads, not one that suits this machine.
    let threads = |(key, _): &&(String, String)| key == "threads";
    let options = &mut whole.output.options.encoder.options;
    if options.iter().find(threads).is_none() {
        options.extend(file.encoder_options.iter().find(threads).cloned());
    }
    let [stats, curves] = files_of_records(piece).map(Name::from);
    if !whole.stats.is_empty() {
        let of_page = whole.stats.iter().any(|(_, format)| *format == StatsFormat::Page);
        whole.stats = vec![(stats, if of_page { StatsFormat::PieceOfPage } else { StatsFormat::JsonLines })];
    }
    whole.equalize.save_curves = whole.equalize.save_curves.take().map(|_| curves);
    Ok(())
}

/// Checks that the options resolve to the stream, settings and encoder of the plan on this machine, too.
fn check_resolved(file: &FilePlan, input: &Input, settings: &str, whole: &FileJob) -> Result<()> {
    let stream = input.video_stream();
    let time_base = [stream.time_base.numerator(), stream.time_base.denominator()];
    if (input.video, time_base) != (file.stream, file.time_base) {
        return Err(InputChanged(file.input.clone(), "its video is another one".into()).into());
    }
    ensure!(settings == file.settings, "{}: its options come to other settings here (plan again)", file.input);
    let PieceEncoder { name: encoder, options, .. } = piece_encoder(input, &file.output, whole.output.options.clone())?;
    let sorted = |options: &[(String, String)]| {
        let mut options = options.to_vec();
        options.sort();
        options
    };
    let is_same = encoder == file.encoder && sorted(&options) == sorted(&file.encoder_options);
    ensure!(is_same, "{}: planned for encoder {}, not for {encoder} as here (plan again)", file.output, file.encoder);
    Ok(())
}

/// The sink of a piece. The records get their final names before the piece does, so that an existing piece always has
/// its records.
struct RecordedPiece {
    sink: PieceSink,
    records: Records,
    /// The folder of the pieces, and the number of this piece.
    place: (PrivateFolder, usize),
    cancel: Cancel,
}

impl Sink for RecordedPiece {
    fn write(&mut self, delivery: Delivery) -> Result<()> {
        self.sink.write(delivery)
    }

    fn finish(self: Box<Self>, outcome: Outcome) -> Result<Option<Name>> {
        let RecordedPiece { mut sink, records, place: (folder, piece), cancel } = *self;
        if outcome == Outcome::Complete {
            records.finish(outcome, &Notices::silent())?;
            sink.set_records(hashes_of_records(&folder, piece, &cancel)?);
        }
        Box::new(sink).finish(outcome)
    }
}

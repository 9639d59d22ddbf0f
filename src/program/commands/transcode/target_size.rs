//! `--target-size`: a first pass that measures, and a second one that meets the size.

use super::transcode;
use crate::options::jobs::FileJob;
use crate::session::{Outputs, Session};
use crate::signals::clean_up_by;
use crate::stage_builder::StageBuilder;
use anyhow::{Context, Result, ensure};
use histeq::internal::equalize::backend::BackendStartup;
use histeq_media::ffmpeg::mux::Container;
use histeq_media::pipeline::{Notices, Outcome, Summary};
use histeq_media::sink::OutputOptions;
use histeq_media::sink::encoder::{Measured, Pass, SizeRule, TooLarge};
use histeq_media::sink::files::{Files, Overwrite, Target};
use histeq_media::sys::files::{Name, folder_of};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::sync::Arc;
use tempfile::TempDir;

/// The share of the size that is aimed at: in long videos, encoders exceed the requested bit rate by up to 2 %.
const AIM: f64 = 0.98;

/// The most second passes: one whose output is too large is repeated with fewer bits.
const ATTEMPTS: u32 = 4;

/// The least bits a second that a video may have.
const MIN_RATE: f64 = 10_000.0;

/// Below this share of the bits of the usual quality, the picture is coarse.
const COARSE: f64 = 0.15;

/// Equalizes the input of `job` into no more than `most` bytes. Returns the result, and the session of the last pass.
pub fn transcode_to_size<'a>(
    mut session: Session<'a>,
    job: &FileJob,
    builder: &StageBuilder,
    backend: BackendStartup,
    outputs: Outputs,
    most: u64,
) -> Result<(Option<Summary>, Session<'a>)> {
    let name = job.output.name.clone();
    let folder = stats_folder(&name)?;
    // A path without characters that libx265 cannot parse.
    let opened = File::open(folder.path())?;
    let stats = PathBuf::from(format!("/dev/fd/{}/stats", opened.as_raw_fd()));
    let container = Container::guess(job.output.options.format.as_deref(), &name).map(Container::name);
    let usual = OutputOptions { format: container, ..job.output.options.clone() };
    let measured = Arc::default();
    let mut first = usual.clone();
    first.size = Some(SizeRule::Measure(Arc::clone(&measured)));
    first.encoder.pass = Some(Pass { stats: stats.clone(), bit_rate: None });
    let nowhere =
        Target::new(&"/dev/null".into(), &Name::default(), Files::One, Overwrite::Yes)?.interruptible(&session.cancel);
    let first_session = session.first_pass();
    let result = transcode(&first_session, job, builder, None, backend, (nowhere.into(), first))?;
    if result.as_ref().is_none_or(|result| result.outcome == Outcome::Interrupted) {
        session.notices.note("interrupted in the first pass: nothing was written");
        return Ok((result.map(|result| Summary { output: None, ..result }), first_session));
    }
    // The second pass repeats no messages of the first.
    let notices = std::mem::replace(&mut session.notices, Notices::silent());
    session.progress.add_work(&first_session.progress);
    let mut outputs = outputs;
    let measured = measured.get().context("the first pass has measured nothing")?;
    notices.detail(&format!(
        "first pass: {} bytes at the usual quality ({:.2} s)",
        measured.all,
        result.map_or(0.0, |result| result.elapsed.as_secs_f64())
    ));
    // Keeps the usual quality if its output fits.
    let mut bit_rate = if measured.all <= (most as f64 * AIM) as u64 { None } else { Some(rate(measured, most)?) };
    for attempt in 1.. {
        let mut options = usual.clone();
        options.size = Some(SizeRule::AtMost(most));
        if let Some(rate) = bit_rate {
            notices.detail(&format!("{name}: {:.0} kbit/s of video for {most} bytes", rate / 1e3));
            if rate / 8.0 * measured.seconds < COARSE * measured.video as f64 && attempt == 1 {
                let share = 100.0 * rate / 8.0 * measured.seconds / measured.video as f64;
                notices.note(&format!(
                    "{name}: {share:.0} % of the bits that the usual quality takes: a coarse picture (--fit 1280x720 \
                     or a shorter part helps)"
                ));
            }
            options.encoder.pass = Some(Pass { stats: stats.clone(), bit_rate: Some(rate as u64) });
        }
        // The previous pass has stopped waiting for input: allows it again.
        session.cancel.begin_again();
        let backend = session.begin_backend(&job.backend);
        let second = transcode(&session, job, builder, None, backend, (outputs, options));
        match second {
            Err(error) if attempt < ATTEMPTS && error.is::<TooLarge>() => {
                let bytes = error.downcast_ref().map_or(most, |TooLarge(bytes)| *bytes);
                let lower = |rate: f64| rate * most as f64 / bytes as f64 * AIM;
                bit_rate = Some(bit_rate.map_or_else(|| rate(measured, most), |rate| Ok(lower(rate)))?);
                let work = session.progress.clone();
                session = session.again();
                session.progress.add_work(&work);
                outputs = session.outputs(job)?;
            }
            result => return Ok((result?, session)),
        }
    }
    unreachable!("the last attempt returns")
}

/// Bits a second of video with which the output has `most` bytes.
pub(super) fn rate(measured: &Measured, most: u64) -> Result<f64> {
    let rest = measured.all.saturating_sub(measured.video);
    let rate = (most as f64 * AIM - rest as f64) * 8.0 / measured.seconds.max(1e-3);
    ensure!(
        rate >= MIN_RATE,
        "--target-size {most}: too small for {:.1} s, of which sound and container take {rest} bytes alone (give it \
         more, or a shorter part)",
        measured.seconds
    );
    Ok(rate)
}

/// A temporary folder beside the output, removed on drop, for the statistics of the first pass.
fn stats_folder(output: &Name) -> Result<TempDir> {
    let folder = folder_of(output.path());
    let made = tempfile::Builder::new().prefix(".histeq-video-").tempdir_in(folder);
    let made =
        made.with_context(|| format!("{}: no folder can be made there for the first pass", Name::from(folder)))?;
    let place = made.path().to_owned();
    clean_up_by(move || {
        // Nothing more can be done about a folder that stays.
        let _ = std::fs::remove_dir_all(place);
    });
    Ok(made)
}

//! Several cameras at the same time, on one GPU. One that fails or ends leaves the others alone.

use super::super::exit_code::is_interrupted;
use super::{PlannedCamera, ShownBy, film, start_web};
use crate::options::LiveJob;
use crate::report::{Console, Metered, ResultRecord};
use crate::service::Service;
use crate::session::Session;
use anyhow::{Result, bail};
use histeq::equalize::BackendStartup;
use histeq_media::pipeline::live::{Happened, SharedSettings, WarmUp, run_several};
use histeq_media::pipeline::{Outcome, Progress};
use histeq_media::sys::{one_line, without_password};
use std::sync::Arc;

/// Equalizes them until all have ended.
///
/// # Errors
/// When an output cannot be written, or the backend is missing: then none has begun. When a camera has failed, after
/// all have ended.
pub(super) fn run(jobs: &[Arc<LiveJob>], session: &mut Session<'_>, console: &Console) -> Result<Outcome> {
    session.begin_several(jobs.len());
    let session = &*session;
    let sessions: Vec<_> = (1..=jobs.len()).map(|number| session.of_source(number, &source(number))).collect();
    let all: Vec<&LiveJob> = jobs.iter().map(|job| &**job).collect();
    LiveJob::check_apart(&all).map_err(|(_, error)| error)?;
    let planned = session.watching(|| {
        let all = jobs.iter().zip(&sessions).map(|(job, session)| PlannedCamera::check(job.clone(), session));
        all.collect::<Result<Vec<_>>>()
    })?;
    session.listen_for_signals(Vec::new(), "finishing")?;
    let web = start_web(jobs[0].web, &session.notices)?;
    let web = web.as_ref();
    let backend = BackendStartup::begin(jobs[0].backend.clone()).open(&session.notices.for_core())?;
    let warm_up = WarmUp::default();
    // All warm-ups begin before the first source is opened.
    let warming_up: Vec<_> = jobs.iter().map(|_| warm_up.begin()).collect();
    let mut waiting = Some((planned, warming_up));
    let (mut failed, mut filmed) = (Vec::new(), false);
    let mut service = Service::ready();
    session.metered(
        Metered { is_live: true, ..Metered::default() },
        |tick| {
            run_several(|happened, works| {
                service.alive();
                web.iter().for_each(|web| web.tick());
                match happened {
                    Happened::Ended(number, result) => {
                        let name = jobs[number - 1].camera.camera.as_ref().map(without_password).unwrap_or_default();
                        filmed |= result.is_ok();
                        if !report(&source(number), &name.to_string(), result, console) {
                            failed.push(source(number));
                        }
                    }
                    Happened::Nothing => tick(&Progress::sum(sessions.iter().map(|session| &*session.progress))),
                }
                let begin =
                    waiting.take().into_iter().flat_map(|(planned, warming_up)| planned.into_iter().zip(warming_up));
                for ((camera, warming_up), session) in begin.zip(&sessions) {
                    let backend = backend.clone();
                    let work = move || {
                        let shown_by = ShownBy { web, ..ShownBy::default() };
                        film(camera, session, || Ok(backend), (&SharedSettings::default(), warming_up), shown_by)
                    };
                    works.begin(session.source.unwrap_or_default(), work);
                }
                false
            });
            Ok(())
        },
        |()| true,
    )?;
    if !failed.is_empty() {
        bail!("{} of {} sources failed: {}", failed.len(), jobs.len(), failed.join(", "));
    }
    // Ctrl-C is a normal end.
    if filmed { Ok(Outcome::Complete) } else { Ok(Outcome::Interrupted) }
}

/// Prints how a source has ended, whose lines begin with `source`. Returns whether it did so well, or was interrupted
/// before its first frame.
pub(super) fn report(source: &str, name: &str, result: Result<ResultRecord>, console: &Console) -> bool {
    match result {
        Ok(mut result) => {
            result.summary = format!("{source}, {}: {}", one_line(name), result.summary);
            console.summary(result);
            true
        }
        Err(error) if is_interrupted(&error) => {
            console.info(&format!("{source}: {error:#}"));
            true
        }
        Err(error) => {
            console.error(&error.context(source.to_owned()));
            false
        }
    }
}

/// What a source without a name is called.
pub(super) fn source(number: usize) -> String {
    format!("source {number}")
}

//! Several cameras at the same time, on one GPU: sources of the command line, or cameras of a file (`live --config
//! FILE`). The failure or end of a camera does not affect the others. A file is read again on SIGHUP, and its cameras
//! are restarted when they fail.

use super::super::exit_code::is_interrupted;
use super::{PlannedCamera, ShownBy, dry_run, film, place};
use crate::options::in_one_line;
use crate::options::jobs::{Camera, CameraFile};
use crate::report::{Console, Event, Metered, ResultRecord};
use crate::service::Service;
use crate::session::Session;
use crate::signals;
use crate::web::Web;
use anyhow::{Context, Result, bail};
use histeq::internal::equalize::backend::SharedBackend;
use histeq_media::pipeline::live::{Happened, SharedSettings, WarmUp, Works, run_several};
use histeq_media::pipeline::{Outcome, Progress, said};
use histeq_media::sys::files::Name;
use histeq_media::sys::{one_line, print_without_waiting, without_password};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The pause before a failed camera is started again.
const AGAIN: Duration = Duration::from_secs(60);

/// A camera of the command line or the file; also one that was removed from the file and has not ended yet.
struct Slot<'a> {
    camera: Camera,
    session: Session<'a>,
    state: CameraState,
    /// The result of the check before any camera started; the camera's first start consumes it.
    planned: Option<PlannedCamera>,
    /// Whether its last run failed.
    has_failed: bool,
}

enum CameraState {
    Running,
    /// The camera is being stopped: the file lacks it now, or replaces it with this one.
    Ending(Option<Box<Camera>>),
    /// The camera starts at this time.
    Due(Instant),
    /// The camera has ended, and is not started again.
    Over,
}

struct Cameras<'a> {
    /// The file that lists the cameras; `None` for sources of the command line.
    file: Option<&'a CameraFile>,
    session: &'a Session<'a>,
    console: &'a Console,
    backend: SharedBackend,
    warm_up: WarmUp,
    web: Option<Web>,
    /// The output files of all cameras that were started: a camera that starts later must not replace them.
    written: BTreeSet<Name>,
    /// The number of a camera is its index here plus 1. A removed camera leaves `None`, so that numbers do not change.
    slots: Vec<Option<Slot<'a>>>,
    /// Whether the run of any camera has ended without an error.
    has_filmed: bool,
}

/// Equalizes the cameras of a file until all have ended, or the user ends them.
///
/// # Errors
/// As for [`run`].
pub fn run_file(file: &CameraFile, cameras: Vec<Camera>, console: &Console) -> Result<Outcome> {
    let first = &cameras[0].job;
    let session = Session::new(first.stderr.clone(), first.limits, console);
    if first.dry_run {
        return dry_run::run_cameras(file, &cameras, &session);
    }
    print_without_waiting()?;
    run(Some(file), cameras, session, console)
}

/// Equalizes cameras until all have ended, or the user ends them: those of `file`, or of the command line.
///
/// # Errors
/// Before any camera starts, when an output cannot be written or the backend is missing. After all have ended, when the
/// last run of a camera has failed.
pub(super) fn run(
    file: Option<&CameraFile>,
    cameras: Vec<Camera>,
    mut session: Session<'_>,
    console: &Console,
) -> Result<Outcome> {
    session.begin_several(cameras.len());
    let session = &session;
    let (backend, web) = (cameras[0].job.backend.clone(), cameras[0].job.web.clone());
    let slot = |(number, camera)| Some(Slot::new(number, camera, session));
    let mut slots: Vec<Option<Slot<'_>>> = (1..).zip(cameras).map(slot).collect();
    session.watching(|| {
        for Slot { camera, session, planned, .. } in slots.iter_mut().flatten() {
            let checked = PlannedCamera::check(Arc::new(camera.job.clone()), session);
            *planned = Some(match file {
                Some(file) => checked.with_context(|| format!("{}: camera {}", Name::from(&file.path), camera.name))?,
                None => checked?,
            });
        }
        Ok(())
    })?;
    session.listen_for_signals(Vec::new(), "finishing")?;
    if file.is_some() {
        signals::keep_hangups();
    }
    let web = web.as_ref().map(Web::start).transpose()?;
    web.iter().for_each(|web| web.announce(&session.notices));
    let backend = session.begin_backend(&backend).open(&session.notices.for_core())?;
    let (warm_up, written) = (WarmUp::default(), BTreeSet::new());
    let mut all = Cameras { file, session, console, backend, warm_up, web, written, slots, has_filmed: false };
    all.take_stock();
    let mut service = Service::ready();
    session.metered(
        Metered { is_live: true, ..Metered::default() },
        |tick| {
            run_several(|happened, works| {
                service.alive();
                all.web.iter().for_each(Web::tick);
                session.look_at_recordings();
                match happened {
                    Happened::Ended(number, result) => all.ended(number, result),
                    Happened::Nothing => tick(&Progress::sum(all.slots().map(|slot| &*slot.session.progress))),
                }
                if signals::hung_up() && !session.cancel.is_cancelled() {
                    service.reload(|| all.read_again());
                }
                all.begin(works)
            });
            Ok(())
        },
        |()| true,
    )?;
    let failed: Vec<&str> = all.slots().filter(|slot| slot.has_failed).map(|slot| slot.camera.name.as_str()).collect();
    if !failed.is_empty() {
        let cameras = if file.is_some() { "cameras" } else { "sources" };
        bail!("{} of {} {cameras} failed: {}", failed.len(), all.slots().count(), failed.join(", "));
    }
    // Ctrl-C is a normal end.
    if file.is_some() || all.has_filmed { Ok(Outcome::Complete) } else { Ok(Outcome::Interrupted) }
}

impl<'a> Slot<'a> {
    /// A camera that starts at once.
    fn new(number: usize, camera: Camera, session: &Session<'a>) -> Self {
        let session = session.for_source(number, &camera.name);
        Slot { camera, session, state: CameraState::Due(Instant::now()), planned: None, has_failed: false }
    }
}

impl<'a> Cameras<'a> {
    fn slots(&self) -> impl Iterator<Item = &Slot<'a>> {
        self.slots.iter().flatten()
    }

    /// Updates the rules for how long recordings are kept, and the list of cameras in the browser, which includes those
    /// that do not run.
    fn take_stock(&self) {
        let jobs = self.slots().map(|slot| match &slot.state {
            CameraState::Ending(Some(next)) => &next.job,
            _ => &slot.camera.job,
        });
        let rules = jobs.filter_map(|job| Some((job.record.as_ref()?, job.segments?.1)));
        self.session.shelf.hold(rules);
        let name = |slot: &Slot<'_>| match self.file {
            Some(_) => slot.camera.name.clone(),
            None => place(&source_of(&slot.camera)),
        };
        if let Some(web) = &self.web {
            let numbered = (1..).zip(&self.slots);
            web.list(numbered.filter_map(|(number, slot)| Some((number, name(slot.as_ref()?)))).collect());
        }
    }

    /// Starts the cameras that are due. Returns whether any camera is to start later.
    fn begin<'env>(&mut self, works: &mut Works<'_, 'env, ResultRecord>) -> bool
    where
        'a: 'env,
    {
        // After an interruption, only sources of the command line start: their runs report it.
        let (now, is_over) = (Instant::now(), self.file.is_some() && self.session.cancel.is_cancelled());
        let (mut due, mut goes_on) = (Vec::new(), false);
        for (number, slot) in (1..).zip(&mut self.slots) {
            let Some(Slot { camera, session, state, planned, .. }) = slot else { continue };
            match state {
                CameraState::Due(_) if is_over => {}
                CameraState::Due(index) if *index <= now => {
                    *state = CameraState::Running;
                    let planned = planned.take();
                    if planned.is_none() {
                        *session = self.session.for_source(number, &camera.name);
                    }
                    let job = camera.job.with_new_names(&self.written);
                    for (old, new) in
                        camera.job.written_files().zip(job.written_files()).filter(|(old, new)| old != new)
                    {
                        session.notices.note(&format!("{old} is of this run, too: it goes on in {new}"));
                    }
                    self.written.extend(camera.job.written_files().cloned());
                    // All warm-ups begin before the first source is opened.
                    due.push((number, planned, Arc::new(job), session.clone(), self.warm_up.begin()));
                }
                CameraState::Due(_) => goes_on = true,
                CameraState::Running | CameraState::Ending(_) | CameraState::Over => {}
            }
        }
        for (number, planned, job, session, warming_up) in due {
            let (backend, web) = (self.backend.clone(), self.web.clone());
            works.begin(number, move || {
                // Before a restart, the check is repeated: it may be days old.
                let planned = planned.map_or_else(|| PlannedCamera::check(job, &session), Ok)?;
                let shown_by = ShownBy { web: web.as_ref(), ..ShownBy::default() };
                film(planned, &session, || Ok(backend), (&SharedSettings::default(), warming_up), shown_by)
            });
        }
        goes_on
    }

    /// Reports how a camera has ended, and decides whether it starts again.
    fn ended(&mut self, number: usize, result: Result<ResultRecord>) {
        let Some(slot) = &mut self.slots[number - 1] else { return };
        self.has_filmed |= result.is_ok();
        let is_well = report(&slot.camera.name, &source_of(&slot.camera), result, self.console);
        slot.has_failed = !is_well;
        let now = Instant::now();
        match std::mem::replace(&mut slot.state, CameraState::Over) {
            CameraState::Ending(Some(camera)) => (slot.camera, slot.state) = (*camera, CameraState::Due(now)),
            CameraState::Ending(None) => self.slots[number - 1] = None,
            _ if is_well || self.file.is_none() || self.session.cancel.is_cancelled() => {}
            _ => {
                slot.state = CameraState::Due(now + AGAIN);
                self.session.notices.note(&format!("{}: begins again in {} s", slot.camera.name, AGAIN.as_secs()));
            }
        }
        self.take_stock();
    }

    /// Checks the new and changed ones of `cameras`, and that no option of the whole process has changed.
    fn check(&self, cameras: &[Camera]) -> Result<()> {
        let old = self.slots().next().map(|slot| slot.camera.process_words()).unwrap_or_default();
        let new = cameras.first().map(Camera::process_words).unwrap_or_default();
        if let Some(word) = old.symmetric_difference(&new).next() {
            let option = word.to_string_lossy().split('=').next().unwrap_or_default().to_owned();
            bail!("{option} is one for the whole program (start it again to change that)");
        }
        let is_new = |camera: &&Camera| !self.slots().any(|slot| slot.camera.words == camera.words);
        for camera in cameras.iter().filter(is_new) {
            let job = Arc::new(camera.job.with_new_names(&self.written));
            PlannedCamera::check(job, self.session).with_context(|| format!("camera {}", camera.name))?;
        }
        Ok(())
    }

    /// Reads the file again: starts new cameras, stops removed ones, restarts changed ones, and leaves the others
    /// alone. If the file has an error, nothing changes.
    fn read_again(&mut self) {
        let Some(file) = self.file else { return };
        let name = Name::from(&file.path);
        let cameras = file.read().map_err(|error| in_one_line(&error));
        let cameras = cameras.and_then(|cameras| match self.check(&cameras) {
            Ok(()) => Ok(cameras),
            Err(error) => Err(format!("{name}: {}", said(&error))),
        });
        let mut new = match cameras {
            Ok(cameras) => cameras,
            Err(error) => {
                let message = format!("{error} (all goes on as it was before)");
                return self.console.report(Event::Warning { message, kind: None });
            }
        };
        let count = new.len();
        let (mut kept, mut changed, mut gone) = (0, 0, 0);
        for slot in &mut self.slots {
            let Some(Slot { camera, session, state, planned, .. }) = slot else { continue };
            let place = new.iter().position(|new| new.name == camera.name);
            let new = place.map(|place| new.remove(place));
            match new {
                Some(new) if new.words == camera.words && !matches!(state, CameraState::Ending(_)) => {
                    kept += 1;
                    continue;
                }
                Some(_) => changed += 1,
                None => gone += 1,
            }
            match (state, new) {
                (CameraState::Ending(next), new) => *next = new.map(Box::new),
                (state @ CameraState::Running, new) => {
                    *state = CameraState::Ending(new.map(Box::new));
                    session.cancel.cancel();
                }
                (state, Some(new)) => (*camera, *state, *planned) = (new, CameraState::Due(Instant::now()), None),
                (_, None) => *slot = None,
            }
        }
        let added = new.len();
        let numbered = (self.slots.len() + 1..).zip(new);
        self.slots.extend(numbered.map(|(number, camera)| Some(Slot::new(number, camera, self.session))));
        self.take_stock();
        self.session.memory.set_videos(count);
        self.session.notices.note(&format!(
            "{name}: read again; cameras: {kept} as before, {changed} changed, {added} new, {gone} gone"
        ));
    }
}

/// Prints how a camera has ended, in lines that begin with `source`. Returns false for a failure, which an interruption
/// before the first frame is not.
fn report(source: &str, name: &str, result: Result<ResultRecord>, console: &Console) -> bool {
    match result {
        Ok(mut result) => {
            // In a log, lines of other cameras may come between, so each line names the camera.
            let lines = result.summary.lines().map(|line| format!("{source}, {}: {line}", one_line(name)));
            result.summary = lines.collect::<Vec<_>>().join("\n");
            console.summary(result);
            true
        }
        Err(error) if is_interrupted(&error) => {
            console.info(&format!("{source}: {}", said(&error)));
            true
        }
        Err(error) => {
            console.error(&error.context(source.to_owned()));
            false
        }
    }
}

/// The URL or device of a camera, without its password.
fn source_of(camera: &Camera) -> String {
    camera.job.camera.camera.as_ref().map(without_password).unwrap_or_default().to_string()
}

/// The name of a source that has no name of its own.
pub(super) fn source(number: usize) -> String {
    format!("source {number}")
}

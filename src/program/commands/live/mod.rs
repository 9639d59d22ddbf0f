//! `histeq-video live`: equalizes one camera or several, and shows, records and streams the frames.
//!
//! | file | what it is |
//! |---|---|
//! | `mod.rs` | one camera |
//! | `cameras.rs` | several at the same time; those of a file may change while they run |
//! | `dry_run.rs` | `--dry-run`: checks what can be checked without a camera |
//! | `timetable.rs` | settings that apply only at some times of the day |

mod cameras;
mod dry_run;
mod timetable;

pub use cameras::run_file;

use self::timetable::Timetable;
use crate::colouring::{self, Colouring};
use crate::options::jobs::{Camera, LiveJob};
use crate::options::picture::EqualizeOptions;
use crate::report::{Console, Metered, ResultRecord, live_summary};
use crate::samples::SampleScale;
use crate::service::Service;
use crate::session::{Around, Session, prepare};
use crate::sidecar::records::RecordTargets;
use crate::stage_builder::{StageBuilder, check_files_differ};
use crate::stdout;
use crate::web::Web;
use crate::web::view::Viewed;
use crate::window::PreviewWindow;
use anyhow::{Result, bail, ensure};
use histeq::internal::equalize::backend::SharedBackend;
use histeq_media::camera::Microphone;
use histeq_media::ffmpeg::frame::RawFormat;
use histeq_media::pipeline::live::{
    self, FrameFilter, LiveOutput, LiveParts, Onlooker, QueuePolicy, SharedSettings, Shown, Viewer, WarmUp, WarmingUp,
};
use histeq_media::pipeline::{FailureKind, Input, Interrupted, Notices, Outcome, Source};
use histeq_media::sink::Segmentation;
use histeq_media::sink::encoder::PixelChoice;
use histeq_media::sink::files::{Files, Overwrite, Target};
use histeq_media::sink::{self, OutputKind, OutputOptions, VIRTUAL_CAMERA, check_segment_names};
use histeq_media::source::filter::with_text;
use histeq_media::source::live::{CameraOptions, MicrophoneSource, StartTime, open_live};
use histeq_media::sys::files::number_pattern;
use histeq_media::sys::{host, print_without_waiting};
use std::sync::Arc;

/// Equalizes cameras until they end, or the user ends them: one, or several at the same time.
pub fn run(mut jobs: Vec<LiveJob>, console: &Console) -> Result<Outcome> {
    let session = Session::new(jobs[0].stderr.clone(), jobs[0].limits, console);
    check_number(&jobs, &session.notices)?;
    if jobs[0].dry_run {
        return dry_run::run(&jobs, &session);
    }
    // A thread writes to stderr from here on, so that a stalled reader does not stop a recording. `live` has no
    // sandbox, which would have to be closed before threads start.
    print_without_waiting()?;
    if jobs.len() > 1 {
        LiveJob::check_apart(&jobs.iter().collect::<Vec<_>>()).map_err(|(_, error)| error)?;
        let camera = |(number, job)| Camera::from_command_line(cameras::source(number), job);
        return cameras::run(None, (1..).zip(jobs).map(camera).collect(), session, console);
    }
    let job = Arc::new(jobs.remove(0));
    let planned = session.watching(|| PlannedCamera::check(job.clone(), &session))?;
    let shared_settings = SharedSettings::default();
    let mut window = window(&job, &shared_settings, &session.notices, &planned.builder)?;
    session.listen_for_signals(Vec::new(), "finishing")?;
    let web = job.web.as_ref().map(Web::start).transpose()?;
    web.iter().for_each(|web| web.announce(&session.notices));
    let backend = session.begin_backend(&job.backend);
    let viewer = window.as_mut().map(|window| window as &mut dyn Viewer);
    let open = || Ok(backend.open(&session.notices.for_core())?);
    let shown_by = ShownBy { viewer, web: web.as_ref() };
    console.summary(film(planned, &session, open, (&shared_settings, WarmUp::default().begin()), shown_by)?);
    // Ctrl-C is a normal end.
    Ok(Outcome::Complete)
}

/// Warns if the name of the only recording contains `%d`.
///
/// # Errors
/// The warning, with `--strict`.
fn check_number(jobs: &[LiveJob], notices: &Notices) -> Result<()> {
    let [LiveJob { record: Some(name), segments: None, .. }] = jobs else { return Ok(()) };
    if number_pattern(name).is_none() || OutputKind::for_name(name, None) != OutputKind::File {
        return Ok(());
    }
    notices.warn(&format!(
        "{name}: %d is no counter and stays in the name (it is the number of one of several sources; --segment 1h with \
         cam-%Y%m%d-%H%M%S.mkv has the time in names)"
    ))
}

/// Where the frames of a camera are shown.
#[derive(Default)]
struct ShownBy<'a> {
    viewer: Option<&'a mut dyn Viewer>,
    web: Option<&'a Web>,
}

/// A camera and its outputs, checked before the camera is opened.
struct PlannedCamera {
    job: Arc<LiveJob>,
    outputs: Vec<PlannedOutput>,
    records: RecordTargets,
    builder: StageBuilder,
}

impl PlannedCamera {
    /// Checks the outputs of `job`, and reads its mask and curves.
    fn check(job: Arc<LiveJob>, session: &Session<'_>) -> Result<Self> {
        let builder = StageBuilder::new(&job.equalize, session.limits())?;
        let records = RecordTargets::for_live(&job, &session.cancel)?;
        Ok(PlannedCamera { outputs: plan_outputs(&job, session)?, records, builder, job })
    }
}

/// Equalizes a camera until it ends, or the run is cancelled. `open` waits for the backend. Returns the result.
fn film<'a>(
    PlannedCamera { job, outputs, records, builder }: PlannedCamera,
    session: &Session<'_>,
    open: impl FnOnce() -> Result<SharedBackend>,
    (shared_settings, warming_up): (&'a SharedSettings, WarmingUp),
    ShownBy { viewer, web }: ShownBy<'a>,
) -> Result<ResultRecord> {
    let Session { cancel, notices, progress, .. } = session;
    // The microphone opens first: meanwhile, the buffers of a camera would overflow.
    let begin = StartTime::default();
    let microphone = job.microphone.as_deref().map(Microphone::find);
    let microphone = microphone.map(|device| MicrophoneSource::open(device, begin.clone(), cancel, notices.clone()));
    let mut microphone = microphone.transpose()?;
    let camera = CameraOptions { limits: session.limits().clone(), ..job.camera.clone() };
    let (source, input) = open_live(camera, begin, cancel, notices.clone(), progress.clone())?;
    let mut prepared =
        prepare((source, input), &job.equalize, &job.filters, Some(&builder), Around::BySource, [notices; 2])?;
    microphone.iter_mut().for_each(|microphone| microphone.join(&mut prepared.input.media.streams));
    let (input, settings) = (prepared.input.clone(), builder.sparing(prepared.settings));
    shared_settings.set(settings);
    let mut timetable = Timetable::new(&job, (&input, &builder), settings, notices)?;
    let shared_backend = open()?;
    let backend = shared_backend.backend(&notices.for_core())?;
    let scale = SampleScale::for_input(&input);
    let colouring = Colouring::new(job.palette, job.pixels, (&job.equalize, &settings), &input)?;
    let osd = job.osd.as_ref().map(|text| |coloured| with_text(coloured, text, notices));
    let (filter, coloured) = Colouring::filters(colouring.as_ref(), &input, osd, |build| FrameFilter::new(build))?;
    timetable.apply(shared_settings, notices);
    let (equalize, settings) = timetable.holding();
    let named_settings = equalize.report(&settings, &input);
    let mut outputs = outputs;
    for output in
        outputs.iter_mut().filter(|output| job.has_provenance && output.queue_policy == QueuePolicy::Recording)
    {
        output.options.provenance = Some(EqualizeOptions::provenance(&named_settings));
    }
    let outputs = open_outputs(&job, outputs, &coloured, shared_backend.has_gpu(), notices)?;
    let encoding = outputs.first().and_then(|output| output.sink.encoding());
    session.start(&coloured, job.written_files().chain(&job.loopback), encoding, named_settings);
    let records = records.open(&input.name, Some(notices))?;
    let stage = Colouring::observe(colouring.as_ref(), builder.stage(backend, settings, scale));
    let stage = prepared.observe(stage, &records, progress, false);

    // With several sources, `cameras::run` notifies the service manager for all of them.
    let mut service = session.source.is_none().then(Service::ready);
    let view = web.map(|web| {
        let record = job.record.clone().map(|name| (name, job.segments.is_some()));
        let number = session.source.unwrap_or(1);
        let of_file = session.name.clone().filter(|name| *name != cameras::source(number));
        let named = (number, of_file.unwrap_or_else(|| place(&input.name.to_string())));
        web.show(Viewed::new(named, &input, equalize, (shared_settings, notices, progress), record))
    });
    let view = view.transpose()?;
    let apply = |timetable: &mut Timetable<'_>| {
        let changed = timetable.apply(shared_settings, notices);
        view.iter().zip(changed).for_each(|(view, equalize)| view.viewed.set(equalize));
    };
    let onlooker = view.as_ref().map(|view| {
        let viewed = view.viewed.clone();
        Box::new(move |shown: &Shown| viewed.show(shown)) as Onlooker
    });
    let parts = LiveParts {
        source: prepared.source,
        microphone: microphone.map(|microphone| Box::new(microphone) as Box<dyn Source>),
        stage,
        shared_settings,
        limits_denoising: job.equalize.options.denoise.is_none(),
        filter,
        notices: notices.clone(),
        warming_up,
        outputs,
        viewer,
        onlooker,
    };
    let summary = session.metered(
        Metered { is_live: true, ..Metered::for_input(&input) },
        |tick| {
            live::run(parts, cancel, progress, |progress| {
                service.iter_mut().for_each(Service::alive);
                web.iter().filter(|_| session.source.is_none()).for_each(|web| web.tick());
                apply(&mut timetable);
                session.look_at_recordings();
                tick(progress);
            })
        },
        |_| true,
    )?;
    if progress.written() == 0 && !summary.outputs.is_empty() {
        ensure!(!cancel.is_cancelled(), Interrupted(input.name));
        bail!("{}: not a single frame came, so nothing was written (is the camera in use?)", input.name);
    }
    records.finish(Outcome::Complete, notices)?;
    Ok(live_summary(&summary, progress, session.source))
}

/// What the view in a browser calls a source without a name: its host, or the last part of its path.
fn place(name: &str) -> String {
    let last = || name.rsplit('/').next().unwrap_or(name);
    host(name).unwrap_or_else(last).to_owned()
}

/// The window, unless `--no-preview` is given. Without a display, the run goes on if it has an output.
fn window(
    job: &LiveJob,
    shared_settings: &SharedSettings,
    notices: &Notices,
    builder: &StageBuilder,
) -> Result<Option<PreviewWindow>> {
    let (builder, palette) = (builder.clone(), job.palette.palette);
    let equalize =
        Box::new(move |shown: &Shown, settings| colouring::still(palette, builder.equalize_shown(shown, settings)?));
    let reason = match job.preview {
        true => match PreviewWindow::open(shared_settings.clone(), notices.clone(), equalize) {
            Ok(window) => return Ok(Some(window)),
            Err(error) => format!("no window: {error:#}"),
        },
        false => "nothing to do".to_owned(),
    };
    if job.has_no_output() {
        bail!(
            "{reason} (say where the picture goes: --web for a browser, --record out.mkv, --output - or --loopback \
             /dev/video10)"
        );
    }
    notices.detail(&reason);
    Ok(None)
}

/// An output that is not open yet.
struct PlannedOutput {
    target: Target,
    options: OutputOptions,
    queue_policy: QueuePolicy,
}

/// The outputs beside the window, checked before the camera is opened.
fn plan_outputs(job: &LiveJob, session: &Session<'_>) -> Result<Vec<PlannedOutput>> {
    let (cancel, mut planned) = (&session.cancel, Vec::new());
    let options = |format| OutputOptions {
        format,
        encoder: job.encoder.clone(),
        container: job.container.clone(),
        live: true,
        pixels: job.pixels,
        ..OutputOptions::default()
    };
    job.encoded_files().try_for_each(stdout::check)?;
    check_files_differ(job.read_files(), job.written_files())?;
    // The input may be a file, too.
    if let Some(camera) = &job.camera.camera {
        job.written_files().try_for_each(|name| Target::differs(name, camera))?;
    }
    if let Some(file) = &job.record {
        let segments = job.segments.map(|(length, retention)| {
            let ended = Arc::new(session.segment_ended());
            Segmentation { length, retention, shelf: session.shelf.clone(), ended }
        });
        let target = match &segments {
            Some(_) => {
                check_segment_names(file)?;
                Target::nowhere(file)
            }
            None => sink::live_target(file, None, job.overwrite)?,
        };
        let (target, options) = (target.interruptible(cancel), OutputOptions { segments, ..options(None) });
        planned.push(PlannedOutput { target, options, queue_policy: QueuePolicy::Recording });
    }
    if let Some(device) = &job.loopback {
        if !device.path().exists() {
            return Err(FailureKind::Device.error(format!(
                "{device}: no virtual camera there (sudo modprobe v4l2loopback video_nr=10 exclusive_caps=1 makes one)"
            )));
        }
        let options = OutputOptions {
            format: Some(VIRTUAL_CAMERA.to_owned()),
            live: true,
            // The format of virtual cameras that browsers support.
            pixels: RawFormat::from_name("yuyv422").map_or(PixelChoice::NearInput, PixelChoice::Exactly),
            ..OutputOptions::default()
        };
        let target = Target::direct(device, Files::One, Overwrite::Yes)?;
        planned.push(PlannedOutput { target, options, queue_policy: QueuePolicy::Stream });
    }
    if let Some((url, format)) = &job.output {
        let options = options(format.clone());
        let target = sink::live_target(url, format.as_deref(), job.overwrite)?.interruptible(cancel);
        let queue_policy = if target.is_network() { QueuePolicy::Network } else { QueuePolicy::Stream };
        planned.push(PlannedOutput { target, options, queue_policy });
    }
    Ok(planned)
}

fn open_outputs(
    job: &LiveJob,
    planned: Vec<PlannedOutput>,
    input: &Input,
    on_gpu: bool,
    notices: &Notices,
) -> Result<Vec<LiveOutput>> {
    let open = |PlannedOutput { target, options, queue_policy }: PlannedOutput| {
        let name = if *target.name() == "-" { "stdout".into() } else { target.name().clone() };
        let on_gpu = on_gpu && job.encoder.encoder.is_none();
        let mut input = input.clone();
        if !OutputKind::for_name(target.name(), options.format.as_deref()).takes_other_streams() {
            input.media.streams.truncate(1);
        }
        let sink = sink::open(input, target, options, &mut || on_gpu, notices.clone())?;
        Ok(LiveOutput { name, sink, queue_policy })
    };
    planned.into_iter().map(open).collect()
}

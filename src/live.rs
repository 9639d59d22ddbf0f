//! `histeq-video live`: from a camera to a window, a recording and other outputs.

use crate::look;
use crate::records::RecordTargets;
use crate::run::Run;
use crate::stage_builder::{StageBuilder, check_files_differ};
use crate::stdout;
use anyhow::{Result, bail};
use histeq_video::camera::Microphone;
use histeq_video::cli::{BackendStartup, Limits, LiveJob};
use histeq_video::ffmpeg::RawFormat;
use histeq_video::pipeline::live::{self, LiveParts, Output, QueuePolicy, SharedSettings, Shown, Viewer};
use histeq_video::pipeline::{Cancel, Input, Notices, Outcome, Source};
use histeq_video::report::{Console, live_summary};
use histeq_video::sink::{self, Files, OutputOptions, Overwrite, PixelChoice, Target, network_format};
use histeq_video::source::{LiveSource, MicrophoneSource, StartTime, filtered};
use histeq_video::window::PreviewWindow;
use std::path::Path;

/// Equalizes a camera until it ends, or the user ends it.
pub fn run(job: &LiveJob, console: &Console) -> Result<Outcome> {
    let run = Run::new(job.stderr, Limits::default(), console);
    let Run { cancel, notices, progress, .. } = &run;
    let shared_settings = SharedSettings::default();

    let builder = StageBuilder::new(&job.equalize)?;
    let mut window = window(job, &shared_settings, notices, &builder)?;
    let planned = plan_outputs(job, cancel)?;
    let records = RecordTargets::of_live(job)?;
    run.listen_for_signals(Vec::new(), "finishing")?;

    let mut backend = BackendStartup::begin(job.backend.clone());
    // Opened before the camera: a microphone takes longer to open than the camera's buffers last.
    let begin = StartTime::default();
    let microphone = job.microphone.as_deref().map(Microphone::find);
    let microphone = microphone.map(|device| MicrophoneSource::open(device, begin.clone(), cancel, notices.clone()));
    let mut microphone = microphone.transpose()?;
    let (source, input) = LiveSource::open(job.camera.clone(), begin, cancel, notices.clone(), progress.clone())?;
    let mut equalize = job.equalize.clone();
    let opened = look::choose(&mut equalize, (Box::new(source), input), builder.mask.as_ref(), notices)?;
    let (mut source, mut input) = filtered(opened, &job.filters.of_look(equalize.denoiser()), notices)?;
    microphone.iter_mut().for_each(|microphone| microphone.join(&mut input.media.streams));
    let settings = equalize.resolve(&input, notices)?;
    builder.check(&input, &settings)?;
    shared_settings.set(settings);
    let on_gpu = backend.has_gpu();
    let backend = backend.finish(notices)?;
    let outputs = open_outputs(job, planned, &input, on_gpu, notices)?;
    let records = records.open(&input.name)?;
    let stage = records.observe(builder.stage(backend, settings), &input, progress);
    stage.input_pool().into_iter().for_each(|pool| source.use_pool(pool));

    let parts = LiveParts {
        source,
        microphone: microphone.map(|microphone| Box::new(microphone) as Box<dyn Source>),
        stage,
        shared_settings: &shared_settings,
        outputs,
        viewer: window.as_mut().map(|window| window as &mut dyn Viewer),
    };
    let summary = run.metered(&input, |tick| live::run(parts, cancel, progress, tick), |_| true)?;
    if progress.written() == 0 && !summary.outputs.is_empty() {
        bail!(
            "{}: not a single frame came, so nothing was written (is the camera in use, the file cut short?)",
            input.name
        );
    }
    records.finish(Outcome::Complete)?;
    console.info(&live_summary(&summary, progress));
    // Ctrl-C is a normal end.
    Ok(Outcome::Complete)
}

/// The window, unless `--no-preview` is given. Without a display, the run goes on if it has an output.
fn window(
    job: &LiveJob,
    shared_settings: &SharedSettings,
    notices: &Notices,
    builder: &StageBuilder,
) -> Result<Option<PreviewWindow>> {
    let builder = builder.clone();
    let equalize = Box::new(move |shown: &Shown, settings| builder.equalize_shown(shown, settings));
    let has_no_output = job.record.is_none() && job.loopback.is_none() && job.output.is_none();
    let reason = match job.preview {
        true => match PreviewWindow::open(shared_settings.clone(), notices.clone(), equalize) {
            Ok(window) => return Ok(Some(window)),
            Err(error) => format!("no window: {error:#}"),
        },
        false => "nothing to do".to_owned(),
    };
    if has_no_output {
        bail!("{reason} (say where the picture goes: --record out.mkv, --output - or --loopback /dev/video10)");
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
fn plan_outputs(job: &LiveJob, cancel: &Cancel) -> Result<Vec<PlannedOutput>> {
    let mut planned = Vec::new();
    let encoder = job.encoder.clone();
    let output = job.output.as_ref().map(|(url, _)| url);
    job.encoded_files().try_for_each(|name| stdout::check(name))?;
    check_files_differ(&job.equalize, job.written_files())?;
    // The input may itself be a file.
    if let Some(camera) = &job.camera.camera {
        job.written_files().try_for_each(|name| Target::differs(name, camera))?;
    }
    if let Some(name) = job.record.as_ref().filter(|&name| Some(name) == output) {
        bail!("{name} is both the recording and the output (give them two names)");
    }
    if let Some(file) = &job.record {
        let options = OutputOptions { format: None, encoder: encoder.clone(), live: true, pixels: job.pixels };
        let target = sink::live_target(file, None, job.overwrite)?.interruptible(cancel);
        planned.push(PlannedOutput { target, options, queue_policy: QueuePolicy::Recording });
    }
    if let Some(device) = &job.loopback {
        if !Path::new(device).exists() {
            bail!(
                "{device}: no virtual camera there (sudo modprobe v4l2loopback video_nr=10 exclusive_caps=1 makes one)"
            );
        }
        let options = OutputOptions {
            format: Some("v4l2".to_owned()),
            live: true,
            // The format that browsers support.
            pixels: RawFormat::from_name("yuyv422").map_or(PixelChoice::NearInput, PixelChoice::Exactly),
            ..OutputOptions::default()
        };
        let target = Target::direct(device, Files::One, Overwrite::Yes)?;
        planned.push(PlannedOutput { target, options, queue_policy: QueuePolicy::Stream });
    }
    if let Some((url, format)) = &job.output {
        let options = OutputOptions { format: format.clone(), encoder, live: true, pixels: job.pixels };
        let target = sink::live_target(url, format.as_deref(), job.overwrite)?.interruptible(cancel);
        let queue_policy = if network_format(url).is_some() { QueuePolicy::Network } else { QueuePolicy::Stream };
        planned.push(PlannedOutput { target, options, queue_policy });
    }
    Ok(planned)
}

/// Opens the outputs.
fn open_outputs(
    job: &LiveJob,
    planned: Vec<PlannedOutput>,
    input: &Input,
    on_gpu: bool,
    notices: &Notices,
) -> Result<Vec<Output>> {
    let open = |PlannedOutput { target, options, queue_policy }: PlannedOutput| {
        let name = if target.name() == "-" { "stdout".to_owned() } else { target.name().to_owned() };
        let on_gpu = on_gpu && job.encoder.encoder.is_none();
        let mut input = input.clone();
        if options.format.as_deref() == Some("v4l2") {
            // A virtual camera has no sound.
            input.media.streams.truncate(1);
        }
        let sink = sink::open(input, target, options, &mut || on_gpu, notices.clone())?;
        Ok(Output { name, sink, queue_policy })
    };
    planned.into_iter().map(open).collect()
}

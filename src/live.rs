//! `histeq-video live`: a camera, a window, a recording.

use crate::frame_options::{FrameOptions, differ};
use crate::{signals, stdout};
use anyhow::{Result, bail};
use histeq_video::camera::Microphone;
use histeq_video::cli::{BackendStartup, LiveJob, check_region};
use histeq_video::curves::CurveWriter;
use histeq_video::ffmpeg::{self, RawFormat};
use histeq_video::pipeline::live::{self, LiveParts, Output, QueuePolicy, SharedSettings, Shown, Viewer};
use histeq_video::pipeline::{Cancel, Input, Notices, Outcome, Progress, Source};
use histeq_video::report::{Console, Meter, live_summary};
use histeq_video::sink::{self, Files, OutputOptions, Overwrite, PixelChoice, Target, network_format};
use histeq_video::source::{LiveSource, MicrophoneSource, StartTime};
use histeq_video::stats::CurveSaver;
use histeq_video::window::Window;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

/// Films until the camera or the user has had enough.
pub fn main(job: LiveJob) -> ExitCode {
    let (console, cancel) = (Console::new(job.talk.verbosity), Cancel::default());
    match run(&job, &console, &cancel) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            console.error(&error);
            // Ctrl-C is how filming ends; an error after it means that it had not begun.
            if signals::was_interrupted() { ExitCode::from(signals::INTERRUPTED) } else { ExitCode::FAILURE }
        }
    }
}

fn run(job: &LiveJob, console: &Console, cancel: &Cancel) -> Result<()> {
    ffmpeg::silence_encoders();
    ffmpeg::set_verbose(job.talk.is_verbose());
    let notices = console.notices(job.talk.strict);
    let progress = Arc::new(Progress::default());
    let shared_settings = SharedSettings::default();

    let options = FrameOptions::read(job.load_curves.as_deref(), job.requested.gray)?;
    let mut window = window(job, &shared_settings, &notices, &options)?;
    let targets = targets(job, cancel)?;
    let saving = job.save_curves.as_deref().map(|name| saving(name, job.overwrite)).transpose()?;
    signals::listen(cancel.clone(), console.clone(), Vec::new(), "finishing")?;
    let mut backend = BackendStartup::begin(job.backend.clone());
    // First: opening it takes longer than a camera lends its frames.
    let begin = StartTime::default();
    let microphone = job.microphone.as_deref().map(Microphone::find);
    let microphone =
        microphone.map(|device| MicrophoneSource::open(device, begin.clone(), cancel, notices.clone())).transpose();
    let mut microphone = microphone?;
    let (mut source, mut input) =
        LiveSource::open(job.camera.clone(), begin, cancel, notices.clone(), progress.clone())?;
    microphone.iter_mut().for_each(|microphone| microphone.join(&mut input.media.streams));
    let settings = job.requested.resolve(&input);
    check_region(&settings, &input, &notices)?;
    shared_settings.set(settings);
    let on_gpu = backend.has_gpu();
    let backend = backend.finish(&notices)?;
    backend.remark.iter().for_each(|remark| notices.note(remark));
    let outputs = outputs(job, targets, &input, on_gpu, &notices)?;
    let mut stage = options.stage(backend.equalizer, settings);
    if let Some(saving) = saving.clone() {
        stage = stage.observed_by(Box::new(CurveSaver(saving)));
    }
    stage.input_pool().into_iter().for_each(|pool| source.use_pool(pool));

    let mut meter = Meter::start(job.talk.meter, &input);
    console.share_with(meter.bar());
    let parts = LiveParts {
        source: Box::new(source),
        microphone: microphone.map(|microphone| Box::new(microphone) as Box<dyn Source>),
        stage,
        shared_settings: &shared_settings,
        outputs,
        viewer: window.as_mut().map(|window| window as &mut dyn Viewer),
    };
    let summary = live::run(parts, cancel, &progress, |progress| meter.update(progress));
    meter.finish(&progress, summary.is_ok());
    let summary = summary?;
    if progress.written() == 0 && !summary.outputs.is_empty() {
        bail!(
            "{}: not a single frame came, so nothing was written (is the camera in use, the file cut short?)",
            input.name
        );
    }
    saving.map_or(Ok(()), |saving| saving.finish(Outcome::Complete))?;
    console.say(&live_summary(&summary, &progress));
    Ok(())
}

/// Where `--save-curves` goes: directly, like a recording.
fn saving(name: &str, overwrite: Overwrite) -> Result<CurveWriter> {
    Ok(CurveWriter::new(Target::direct(name, Files::One, overwrite)?))
}

/// The window, where one is wanted and can be had.
fn window(
    job: &LiveJob,
    shared_settings: &SharedSettings,
    notices: &Notices,
    options: &FrameOptions,
) -> Result<Option<Window>> {
    let options = options.clone();
    let again = Box::new(move |shown: &Shown, settings| options.again(shown, settings));
    let alone = job.record.is_none() && job.loopback.is_none() && job.output.is_none();
    let why = match job.preview {
        true => match Window::open(shared_settings.clone(), notices.clone(), again) {
            Ok(window) => return Ok(Some(window)),
            Err(error) => format!("no window: {error:#}"),
        },
        false => "nothing to do".to_owned(),
    };
    if alone {
        bail!("{why} (say where the picture goes: --record out.mkv, --output - or --loopback /dev/video10)");
    }
    notices.detail(&why);
    Ok(None)
}

/// A place to write to, and what writes there.
struct Planned {
    target: Target,
    options: OutputOptions,
    queue_policy: QueuePolicy,
}

/// Where the picture goes beside the window. Looks at files before the camera is opened.
fn targets(job: &LiveJob, cancel: &Cancel) -> Result<Vec<Planned>> {
    let mut planned = Vec::new();
    let encoder = job.encoder.clone();
    let output = job.output.as_ref().map(|(url, _)| url);
    job.record.iter().chain(output).try_for_each(|name| stdout::check(name))?;
    differ(job.load_curves.as_deref(), job.record.iter().chain(output).chain(&job.save_curves))?;
    // The input may itself be a file.
    if let Some(camera) = &job.camera.camera {
        job.record.iter().chain(output).chain(&job.save_curves).try_for_each(|name| Target::differs(name, camera))?;
    }
    if let Some(name) = job.record.as_ref().filter(|&name| Some(name) == output) {
        bail!("{name} is both the recording and the output (give them two names)");
    }
    if let Some(file) = &job.record {
        let options = OutputOptions { format: None, encoder: encoder.clone(), live: true, pixels: job.pixels };
        let target = sink::live_target(file, None, job.overwrite)?.interruptible(cancel);
        planned.push(Planned { target, options, queue_policy: QueuePolicy::Recording });
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
            // What browsers take.
            pixels: RawFormat::from_name("yuyv422").map_or(PixelChoice::NearInput, PixelChoice::Exactly),
            ..OutputOptions::default()
        };
        let target = Target::direct(device, Files::One, Overwrite::Yes)?;
        planned.push(Planned { target, options, queue_policy: QueuePolicy::Stream });
    }
    if let Some((url, format)) = &job.output {
        let options = OutputOptions { format: format.clone(), encoder, live: true, pixels: job.pixels };
        let target = sink::live_target(url, format.as_deref(), job.overwrite)?.interruptible(cancel);
        let queue_policy = if network_format(url).is_some() { QueuePolicy::Network } else { QueuePolicy::Stream };
        planned.push(Planned { target, options, queue_policy });
    }
    Ok(planned)
}

fn outputs(
    job: &LiveJob,
    planned: Vec<Planned>,
    input: &Input,
    on_gpu: bool,
    notices: &Notices,
) -> Result<Vec<Output>> {
    let open = |Planned { target, options, queue_policy }: Planned| {
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

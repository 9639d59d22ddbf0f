//! `--dry-run`: what would be read, done and written, estimated from a few frames that are encoded and discarded.

use super::{outputs, scene_survey, target_size, transcode};
use crate::options::jobs::{FileJob, ManyJob, Unchanged};
use crate::options::writing::{MeterStyle, StderrOptions};
use crate::options::{Job, shown_command};
use crate::pieces::{ChildError, ProcessPool, failure_of};
use crate::report::{Console, FoundRecord, PROTOCOL, counted, in_bytes};
use crate::session::{Around, Prepared, Session, prepare};
use crate::stage_builder::{StageBuilder, check_files_differ};
use crate::{signals, stdout};
use anyhow::{Result, ensure};
use histeq_media::ffmpeg::mux::Container;
use histeq_media::ffmpeg::parse_number;
use histeq_media::pipeline::{Failure, FailureKind, Notices, Outcome};
use histeq_media::sink::encoder::{Measured, Quality, SizeRule};
use histeq_media::sink::files::{Files, Overwrite, Target};
use histeq_media::sink::{OutputKind, OutputOptions, check_two_passes, free_bytes};
use histeq_media::source::Part;
use histeq_media::sys::files::Name;
use histeq_media::sys::io::is_pipe;
use histeq_media::sys::{one_line, printable, printable_json};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The number of frames that are encoded at each position, and the positions, as fractions of the part's length.
const FRAMES: u64 = 16;
const PLACES: [f64; 3] = [1.0 / 6.0, 0.5, 5.0 / 6.0];

/// What a run would do: the JSON of `--dry-run --json`.
#[derive(Deserialize, Serialize)]
struct DryRun {
    /// The version of the format, which is that of a run's events.
    protocol: u32,
    version: String,
    command: String,
    input: InputRecord,
    output: DryOutput,
    /// The settings that a run would use, by the names of their options.
    settings: Map<String, Value>,
    found: Vec<PlaceRecord>,
}

#[derive(Deserialize, Serialize)]
struct InputRecord {
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name_bytes: Option<String>,
    /// `container` and `codec` are FFmpeg's names.
    container: String,
    codec: String,
    pixel_format: Option<String>,
    size: Option<(usize, usize)>,
    fps: Option<f64>,
    seconds: Option<f64>,
    frames: Option<u64>,
}

#[derive(Deserialize, Serialize)]
struct DryOutput {
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name_bytes: Option<String>,
    exists: bool,
    container: Option<String>,
    encoder: Option<String>,
    pixel_format: Option<String>,
    size: Option<(usize, usize)>,
    fps: Option<f64>,
    /// The estimated size of the output.
    bytes: Option<u64>,
    /// The free space where the output would be written.
    free_bytes: Option<u64>,
}

/// What the look measured in the frames at one position.
#[derive(Deserialize, Serialize)]
struct PlaceRecord {
    seconds: f64,
    frames: u64,
    /// Null with other methods than natural.
    found: Option<FoundRecord>,
    /// `found` in words.
    found_text: Option<String>,
}

/// Looks at the input of `job`, and prints what a run would do, on stdout.
pub fn run(job: &FileJob, as_json: bool, console: &Console) -> Result<Outcome> {
    let name = &job.input.url;
    ensure!(!is_pipe(name), "{name}: --dry-run reads the input several times, which a pipe does not allow");
    let stderr = StderrOptions { meter: MeterStyle::Silent, ..job.stderr.clone() };
    // `--dry-run` sends no progress events.
    let quiet = Console::new(job.stderr.verbosity, None);
    let mut session = Session::new(stderr, job.limits, &quiet);
    // Messages would repeat: the input is opened several times.
    session.notices = console.notices(job.stderr.strict).without_repeats();
    check_files_differ(job.read_files(), job.written_files())?;
    let mut changed = job.clone();
    if changed.output.overwrite.asks() {
        // Only the real run asks whether to overwrite.
        changed.output.overwrite = Overwrite::Yes;
    }
    // The real run makes the output's folder with `--output-dir`, and for the images of a folder: it may not exist yet.
    if !(job.stderr.is_child || job.output.makes_folder) {
        drop(outputs(&session, &changed)?);
    }
    let free_bytes = free_bytes(&job.output.name);
    let nowhere = || Target::new(&"/dev/null".into(), &Name::default(), Files::One, Overwrite::Yes);
    let builder = session.watching(|| StageBuilder::new(&job.equalize, session.limits()))?;
    session.guard(job.sandbox, &[&job.input], &nowhere()?.into(), signals::GIVING_UP)?;

    let opened = session.open(&job.input, &session.notices)?;
    let around = [&session.notices; 2];
    let Prepared { input, settings, source, .. } =
        prepare(opened, &job.equalize, &job.filters, Some(&builder), Around::Nothing, around)?;
    drop(source);
    let kind = OutputKind::for_name(&job.output.name, job.output.options.format.as_deref());
    let container = Container::guess(job.output.options.format.as_deref(), &job.output.name).map(Container::name);
    let is_measured = !kind.takes_only_pictures();
    if job.output.most_bytes.is_some() {
        check_two_passes(&input, &job.output.name, &job.output.options)?;
    }

    let notices = std::mem::replace(&mut session.notices, Notices::silent());
    let length = input.duration.unwrap_or(0);
    let is_short = input.is_image() || input.frames.is_none_or(|frames| frames <= FRAMES * PLACES.len() as u64);
    let places = if is_short || length == 0 { &[0.0][..] } else { &PLACES };
    let frames = if is_short { FRAMES * PLACES.len() as u64 } else { FRAMES };
    let (mut found, mut sizes) = (Vec::new(), Vec::new());
    for (index, place) in places.iter().enumerate() {
        let before = (length as f64 * place) as i64;
        let mut part_job = job.clone();
        part_job.unchanged = Unchanged::Encode;
        let start = job.input.part.start.unwrap_or(0) + before;
        let is_part = start > 0;
        part_job.input.part = Part {
            start: is_part.then_some(start),
            duration: job.input.part.duration.map(|duration| (duration - before).max(1)),
            frames: match input.is_image() {
                true => job.input.part.frames,
                false => Some(job.input.part.frames.unwrap_or(u64::MAX).min(frames)),
            },
        };
        let measured = Arc::default();
        let size = is_measured.then(|| SizeRule::Measure(Arc::clone(&measured)));
        let options = OutputOptions { size, ..job.output.options.clone() };
        let mut run = session.first_pass();
        // Messages are printed for the first position only.
        run.notices = if index == 0 { notices.clone() } else { Notices::silent() };
        let scenes = match job.equalize.options.has_whole_scenes() {
            true => scene_survey::find_scenes(&session.first_pass(), &part_job, &builder)?,
            false => None,
        };
        session.cancel.begin_again();
        let backend = session.begin_backend(&job.backend);
        let result = match transcode(&run, &part_job, &builder, scenes, backend, (discarding(job)?.into(), options)) {
            // A position can lie after the last frame: the video may end before the file.
            Err(error)
                if index > 0
                    && error.downcast_ref().is_some_and(|failure: &Failure| failure.kind == FailureKind::Usage) =>
            {
                break;
            }
            result => result?,
        };
        if result.is_some_and(|result| result.outcome == Outcome::Interrupted) {
            return Ok(Outcome::Interrupted);
        }
        let taken = run.progress.written();
        let seconds = start as f64 / 1e6;
        let (numbers, found_text) = (run.progress.found().map(Into::into), run.progress.found_in_words());
        found.push(PlaceRecord { seconds, frames: taken, found: numbers, found_text });
        if let Some(measured) = measured.get() {
            sizes.push((measured.clone(), taken));
        }
    }
    let stream = input.video_stream();
    let measured = sizes.first().map(|(measured, _)| measured);
    let aim = match &job.output.options.encoder.quality {
        Quality::BitRate(rate) => {
            parse_number(rate).zip(input.duration).map(|(rate, time)| rate / 8.0 * time as f64 / 1e6)
        }
        _ => None,
    };
    let estimate = input.frames.and_then(|all| estimated(&sizes, all, aim));
    let bytes = estimate.map(|(video, beside)| video + beside);
    if let (Some((video, beside)), Some(most), Some(length)) = (estimate, job.output.most_bytes, input.duration)
        && let Some(measured) = measured
        && video + beside > most
    {
        let (all, seconds) = (video + beside, length as f64 / 1e6);
        target_size::rate(&Measured { all, video, seconds, ..measured.clone() }, most)?;
    }
    let dry_run = DryRun {
        protocol: PROTOCOL,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        command: shown_command(std::env::args_os().map(Name::from)),
        input: InputRecord {
            name: input.name.to_string(),
            name_bytes: input.name.encoded_bytes(),
            container: input.media.demuxer.clone(),
            codec: stream.codec.clone(),
            pixel_format: input.picture.map(|(format, _)| format.to_string()),
            size: input.picture.map(|(_, size)| size),
            fps: input.rate(),
            seconds: input.duration.map(|duration| duration as f64 / 1e6),
            frames: input.frames,
        },
        output: DryOutput {
            name: job.output.name.to_string(),
            name_bytes: job.output.name.encoded_bytes(),
            exists: job.output.name.path().exists(),
            container,
            encoder: measured.map(|measured| measured.encoder.clone()),
            pixel_format: measured.map(|measured| measured.format.clone()),
            size: measured.map(|measured| measured.size),
            fps: measured.and_then(|measured| measured.rate),
            bytes: job.output.most_bytes.map(|most| bytes.unwrap_or(most).min(most)).or(bytes),
            free_bytes,
        },
        settings: job.equalize.report(&settings, &input),
        found,
    };
    let text = if as_json { serde_json::to_string(&dry_run)? + "\n" } else { in_words(&dry_run) + NOTHING_WRITTEN };
    print(&text, as_json)?;
    check_room(&job.output.name, dry_run.output.bytes.unwrap_or(0), free_bytes)?;
    Ok(Outcome::Complete)
}

fn print(text: &str, is_json: bool) -> Result<()> {
    stdout::print(if is_json { printable_json(text) } else { printable(text) }.as_bytes())
}

/// An output like that of `job`, which discards everything.
fn discarding(job: &FileJob) -> Result<Target> {
    Ok(Target::discarding(&job.output.name)?)
}

/// Checks that `bytes` fit into the space that is `free` where `name` is written.
fn check_room(name: &Name, bytes: u64, free: Option<u64>) -> Result<()> {
    let free = free.unwrap_or(u64::MAX);
    let message = || {
        let (bytes, free) = (in_bytes(bytes), in_bytes(free));
        format!("{name}: about {bytes} do not fit there: {free} are free (another output, or --target-size)")
    };
    ensure!(bytes <= free, FailureKind::Disk.error(message()));
    Ok(())
}

/// Looks at many files, each in a process of its own, and prints what a run would do: a line of JSON for each, or
/// words.
pub fn run_many(many: &ManyJob, as_json: bool, console: &Console) -> Result<Outcome> {
    let pool = ProcessPool::new(&many.stderr, console);
    pool.listen_for_signals(signals::GIVING_UP)?;
    let (mut failed, mut bytes) = (Vec::new(), 0);
    for (input, output) in &many.files {
        let exists = output.path().is_file();
        let entry = |key: &str, value: Value| {
            let [input, mut output] = [input, output].map(|name| match name.encoded_bytes() {
                Some(bytes) => json!({ "name": name.to_string(), "name_bytes": bytes }),
                None => json!({ "name": name }),
            });
            output["exists"] = exists.into();
            format!("{}\n", json!({ "input": input, "output": output, key: value }))
        };
        let text = if exists && !many.overwrites {
            match as_json {
                true => entry("skipped", true.into()),
                false => format!("leaves  {}, which is there (-y makes it again)\n", one_line(&output.to_string())),
            }
        } else {
            let mut arguments = Job::options()?;
            arguments.extend((!as_json).then(|| "--json".into()));
            arguments.extend(["--one-of".into(), input.clone().into(), output.clone().into(), "--made-up".into()]);
            let answer = pool.run_one(&arguments, &input.to_string(), |message| pool.pass_on(message));
            if pool.cancel.is_cancelled() {
                return Ok(Outcome::Interrupted);
            }
            match answer.map_err(|error| error.downcast::<ChildError>()) {
                Ok(answer) => {
                    let dry_run: DryRun = serde_json::from_slice(&answer.stdout)?;
                    bytes += dry_run.output.bytes.unwrap_or(0);
                    if as_json { String::from_utf8(answer.stdout)? } else { in_words(&dry_run) }
                }
                Err(Ok(child)) => {
                    let text = match as_json {
                        true => entry("error", serde_json::to_value(&child.error)?),
                        false => format!("fails   {}\n", one_line(&child.to_string())),
                    };
                    failed.push(child);
                    text
                }
                Err(Err(error)) => return Err(error),
            }
        };
        print(&text, as_json)?;
    }
    if !as_json {
        let (files, bytes) = (counted(many.files.len() as u64, "file"), in_bytes(bytes));
        let left_out = many.left_out_in_words();
        stdout::print(format!("{files}, about {bytes} in all{left_out}. {NOTHING_WRITTEN}").as_bytes())?;
    }
    if !failed.is_empty() {
        return Err(failure_of(&failed));
    }
    if let Some((_, place)) = many.files.first() {
        check_room(place, bytes, free_bytes(place))?;
    }
    Ok(Outcome::Complete)
}

const NOTHING_WRITTEN: &str = "Nothing was written.\n";

/// The assumed frames from one keyframe to the next, unless the sample has shown more: the default of x264 and x265.
const KEY_DISTANCE: f64 = 250.0;

/// The estimated bytes of the video of `all` frames, and of everything beside it, from the measured `places` with their
/// numbers of frames. Each place begins with a keyframe; in the whole video, keyframes are rarer. `aim`: the bytes of
/// video that a bit rate asks for, which an encoder meets in long videos only.
fn estimated(places: &[(Measured, u64)], all: u64, aim: Option<f64>) -> Option<(u64, u64)> {
    let sum = |part: fn(&Measured) -> u64| places.iter().map(|(place, _)| part(place)).sum::<u64>() as f64;
    let seen = places.iter().map(|(_, frames)| frames).sum::<u64>() as f64;
    let (all, keys, count) = (all as f64, sum(|place| place.key_frames), places.len() as f64);
    if seen == 0.0 || keys == 0.0 {
        return None;
    }
    // Some encoders write more keyframes than the first of each place, or only keyframes.
    let keys_of_all = if keys > count { all * keys / seen } else { (all / KEY_DISTANCE).ceil() };
    let rest = seen - keys;
    let of_key = sum(|place| place.key_bytes) / keys;
    let of_other = if rest > 0.0 { sum(|place| place.video - place.key_bytes) / rest } else { 0.0 };
    // Bytes beside the video: headers and audio.
    let beside = sum(|place| place.all.saturating_sub(place.video));
    let beside = if all > seen { beside / seen * all } else { beside };
    let of_video = keys_of_all * of_key + (all - keys_of_all).max(0.0) * of_other;
    let of_video = aim.filter(|_| all > seen).unwrap_or(of_video);
    Some((of_video as u64, beside as u64))
}

fn in_words(DryRun { input, output, settings, found, .. }: &DryRun) -> String {
    let known = |text: Option<String>| text.unwrap_or_else(|| "?".to_owned());
    let mut text = format!(
        "reads   {}: {}, {}, {}, {} fps, {} s, {}\n",
        one_line(&input.name),
        input.codec,
        known(input.size.map(|(width, height)| format!("{width}x{height}"))),
        known(input.pixel_format.clone()),
        known(input.fps.map(|fps| format!("{fps:.2}"))),
        known(input.seconds.map(|seconds| format!("{seconds:.1}"))),
        input.frames.map_or_else(|| "? frames".to_owned(), |frames| counted(frames, "frame")),
    );
    let text_of = |name: &str| settings.get(name).and_then(Value::as_str);
    let given = text_of("range").map_or("curves of a file".to_owned(), |range| format!("samples from {range}"));
    let named = |name: &str| text_of(name).map_or(given.clone(), str::to_owned);
    let strength = settings.get("strength").and_then(Value::as_f64).filter(|strength| *strength < 1.0);
    let strength = strength.map(|strength| format!(", strength {strength:.2}")).unwrap_or_default();
    text += &format!("look    {}, method {}{strength}\n", named("look"), named("method"));
    for place in found {
        let words = place.found_text.as_deref().unwrap_or("the method is applied as it is");
        text += &format!("        at {:.1} s, {}: {words}\n", place.seconds, counted(place.frames, "frame"));
    }
    let how = [output.encoder.clone(), output.container.clone()];
    let how = how.into_iter().flatten().collect::<Vec<_>>().join(" in ");
    let size = output.bytes.map(|bytes| format!(", about {}", in_bytes(bytes))).unwrap_or_default();
    let exists = if output.exists { ", which exists" } else { "" };
    let picture = output.size.zip(output.pixel_format.as_ref()).map(|((width, height), format)| {
        let rate = output.fps.map(|fps| format!(", {fps:.2} fps")).unwrap_or_default();
        format!(", {width}x{height}, {format}{rate}")
    });
    let (name, picture) = (one_line(&output.name), picture.unwrap_or_default());
    text + &format!("writes  {name}{exists}: {how}{size}{picture}\n")
}

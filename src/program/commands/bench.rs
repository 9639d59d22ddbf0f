//! `histeq-video bench`: measures how fast this machine equalizes and transcodes, in at most a minute. `histeq-lab`
//! measures the parts of the program.

use crate::report::Console;
use crate::signals;
use crate::stdout::print;
use anyhow::{Context, Result, bail, ensure};
use histeq::internal::cuda::Gpu;
use histeq::internal::equalize::backend::Backend;
use histeq::internal::spec::parameters::Look;
use histeq::{Builder, Equalizer, Limits, PixelFormat};
use histeq_media::pipeline::{Cancel, Outcome, said, said_of_gpu};
use std::ffi::OsStr;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const SIZES: [(usize, usize); 2] = [(1920, 1080), (3840, 2160)];

/// How long each size and look is measured after its first frame has come out.
const LONG_ENOUGH: Duration = Duration::from_millis(1500);

/// How long the first frame of each size and look may take.
const MAX_WAIT: Duration = Duration::from_secs(6);

/// How long one program may take to transcode the file.
const MAX_RUN: Duration = Duration::from_secs(12);

/// How long the whole benchmark may take.
const A_MINUTE: Duration = Duration::from_secs(55);

/// The encoder, preset and CRF of both programs.
const ENCODING: [&str; 3] = ["libx264", "veryfast", "18"];

/// Measures, and prints each result as soon as it is known.
pub fn run(console: &Console) -> Result<Outcome> {
    let cancel = Cancel::default();
    signals::listen(cancel.clone(), console.clone(), Vec::new(), signals::GIVING_UP)?;
    match measure(&cancel) {
        Err(_) if cancel.is_cancelled() => Ok(Outcome::Interrupted),
        result => result.map(|()| Outcome::Complete),
    }
}

fn measure(cancel: &Cancel) -> Result<()> {
    let end = Instant::now() + A_MINUTE;
    let threads = Limits::default().threads();
    say(&format!("Frames a second in 8 bits, by default and with --exact, on {} ({threads} threads):", processor()))?;
    let mut rate = on_frames("CPU", Backend::Cpu, cancel)?;
    match Gpu::open(0) {
        Ok(gpu) => rate = rate.max(on_frames(&format!("GPU ({})", gpu.name), Backend::Cuda, cancel)?),
        Err(error) => say(&format!("  GPU: none that can be used: {}", said_of_gpu(&error)))?,
    }
    // Frames for about three seconds.
    let frames = (rate * 3.0).clamp(25.0, 500.0) as u32;
    on_file(frames, end, cancel)
}

fn say(line: &str) -> Result<()> {
    print(format!("{line}\n").as_bytes())
}

fn processor() -> String {
    let facts = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let named = facts.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    named.map_or("this processor", |(_, name)| name.trim()).to_owned()
}

/// Prints how many frames a second `backend` equalizes. Returns the rate of the smaller size with the default look.
fn on_frames(name: &str, backend: Backend, cancel: &Cancel) -> Result<f64> {
    let mut smaller = None;
    for (width, height) in SIZES {
        let pictures: Vec<Vec<u8>> = (0..2).map(|turn| picture(width, height, turn)).collect();
        let [default, exact] = [Look::Natural, Look::Exact].map(|look| {
            let builder = Equalizer::builder(PixelFormat::Yuv420p, width, height).backend(backend).look(look);
            frame_rate(builder, &pictures, cancel)
        });
        let (default, exact) = (default?, exact?);
        say(&format!("  {name}, {width}x{height}: {default:.1} and {exact:.1}"))?;
        smaller.get_or_insert(default);
    }
    Ok(smaller.unwrap_or_default())
}

/// Measures frames per second; 0 if the first frame takes too long.
fn frame_rate(builder: Builder, pictures: &[Vec<u8>], cancel: &Cancel) -> Result<f64> {
    // With look-ahead, the first frame would come out only after a second of video.
    let mut equalizer = builder.set("look-ahead", "0")?.build()?;
    let (start, mut first, mut frames) = (Instant::now(), None, 0);
    for picture in pictures.iter().cycle() {
        ensure!(!cancel.is_cancelled(), "interrupted");
        if equalizer.push(&picture[..])?.is_some() {
            // Counting starts after the first frame, which includes opening and allocating.
            frames += u32::from(first.is_some());
            first.get_or_insert_with(Instant::now);
        }
        if first.is_some_and(|first| first.elapsed() > LONG_ENOUGH) || start.elapsed() > MAX_WAIT + LONG_ENOUGH {
            break;
        }
    }
    Ok(first.map_or(0.0, |first| f64::from(frames) / first.elapsed().as_secs_f64()))
}

/// A `yuv420p` frame: luma of dark waves that move with `turn`, with little noise, and gray chroma.
fn picture(width: usize, height: usize, turn: usize) -> Vec<u8> {
    let wave = |length: f64, index: usize| (25.0 * ((index + 3 * turn) as f64 / length).sin()) as i32;
    let across: Vec<i32> = (0..width).map(|x| wave(97.0, x)).collect();
    let mut noise = turn as u32 + 1;
    let mut picture = Vec::with_capacity(width * height * 3 / 2);
    for y in 0..height {
        let base = 66 + wave(61.0, y);
        picture.extend(across.iter().map(|along| {
            noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (base + along + (noise >> 31) as i32) as u8
        }));
    }
    picture.resize(width * height * 3 / 2, 128);
    picture
}

/// Prints how long this program and ffmpeg take to transcode a file.
fn on_file(frames: u32, end: Instant, cancel: &Cancel) -> Result<()> {
    let folder = tempfile::tempdir().context("making a folder for videos")?;
    let (clip, out) = (folder.path().join("clip.mp4"), folder.path().join("out.mp4"));
    let ours = std::env::current_exe().context("asking for the path of this program")?;
    let (clip, out, count) = (clip.as_os_str(), out.as_os_str(), frames.to_string());
    let [encoder, preset, crf] = ENCODING;
    let encoding = ["-y", "-q", "--encoder", encoder, "--crf", crf].map(OsStr::new);
    let timed = |program: &Path, words: &[&OsStr]| seconds(Command::new(program).args(words), end, cancel);
    let made = ["--preset", "ultrafast", "--exact", "--frames", &count, "-f", "lavfi"].map(OsStr::new);
    let source = OsStr::new("testsrc2=size=1920x1080:rate=25,format=yuv420p");
    if let Err(error) = timed(&ours, &[&encoding[..], &made, &[source, clip]].concat()) {
        ensure!(!cancel.is_cancelled(), "interrupted");
        return say(&format!("From file to file: not measured, {}", said(&error)));
    }
    say(&format!("From file to file, {frames} frames of 1920x1080, by {encoder} {preset}:"))?;
    let both = ["--preset", preset].map(OsStr::new);
    let ours_default = [&encoding[..], &both, &[clip, out]].concat();
    let ours_exact = [&encoding[..], &both, &[OsStr::new("--exact"), clip, out]].concat();
    let read = ["-nostdin", "-v", "error", "-y", "-i"].map(OsStr::new);
    let encode = ["-c:v", encoder, "-preset", preset, "-crf", crf].map(OsStr::new);
    let theirs = [&read[..], &[clip], &encode, &[out]].concat();
    let runs = [
        ("histeq-video", &*ours, ours_default),
        ("histeq-video --exact", &*ours, ours_exact),
        ("ffmpeg, which equalizes nothing", Path::new("ffmpeg"), theirs),
    ];
    for (name, program, words) in runs {
        match timed(program, &words) {
            Ok(seconds) => {
                say(&format!("  {name}: {seconds:.1} s, {:.0} frames a second", f64::from(frames) / seconds))?
            }
            Err(_) if cancel.is_cancelled() => bail!("interrupted"),
            Err(error) => say(&format!("  {name}: not measured, {}", said(&error)))?,
        }
    }
    Ok(())
}

/// Runs a program, and returns its time in seconds. Kills it when it takes too long, and when this run is cancelled.
fn seconds(command: &mut Command, end: Instant, cancel: &Cancel) -> Result<f64> {
    let begin = Instant::now();
    let most = MAX_RUN.min(end.saturating_duration_since(begin));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().context("it cannot be run")?;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if cancel.is_cancelled() || begin.elapsed() > most {
            // `kill` fails if the program has ended meanwhile.
            let _ = child.kill();
            child.wait()?;
            bail!("it takes more than {} s", most.as_secs());
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let time = begin.elapsed().as_secs_f64();
    let mut said = String::new();
    child.stderr.take().map_or(Ok(0), |mut stderr| stderr.read_to_string(&mut said))?;
    ensure!(status.success(), "it fails: {}", said.lines().last().unwrap_or("it says nothing"));
    Ok(time)
}

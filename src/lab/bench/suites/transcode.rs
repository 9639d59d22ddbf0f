//! `histeq-lab transcode FILE`: the whole program on a file, beside the `ffmpeg` program, in turns.
//!
//! Both encode the same picture: `--strength 0.004` does all the work of equalization and changes no sample by more
//! than a level. At full strength the encoder would take longer, and its time would be part of the difference.

use crate::bench::child::{self, ResourceUsage};
use crate::bench::{Row, Setup, Table, TranscodeBackend, Unit, Value};
use anyhow::{Context, Result, anyhow, ensure};
use histeq_media::ffmpeg::{Demuxer, ReadFrom};
use histeq_media::pipeline::FailureKind;
use histeq_media::sys::Name;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The constant quality at which both encode.
const CRF: &str = "18";

/// A program that transcodes, with its arguments and its runs.
struct Contender {
    name: String,
    /// The command line without the output file.
    program: PathBuf,
    arguments: Vec<OsString>,
    /// Whether it runs in every round; else only in the first counted one.
    every_round: bool,
    runs: Vec<ResourceUsage>,
}

/// Runs all programs in turn, round by round.
pub fn run(setup: &Setup, notes: &mut Vec<String>) -> Result<Vec<Table>> {
    let file = setup.file.as_deref().ok_or_else(|| anyhow!("transcode takes a file: histeq-lab transcode FILE"))?;
    std::fs::metadata(file).with_context(|| file.display().to_string())?;
    let folder = tempfile::tempdir().context("making a folder for outputs")?;
    let mut contenders = contenders(setup, file, folder.path(), notes)?;
    let rounds = setup.repeats.warm_up + setup.repeats.counted;
    setup.steps.expect(rounds * contenders.len());
    let mut pictures = None;
    for round in 0..rounds {
        for contender in &mut contenders {
            setup.steps.next(&contender.name)?;
            if !contender.every_round && round != setup.repeats.warm_up {
                continue;
            }
            let out = folder.path().join("out.mp4");
            let used = contender.run(&out)?;
            let found = count_pictures(&out)?;
            let expected = *pictures.get_or_insert(found);
            ensure!(found == expected, "{} wrote {found} pictures, not {expected}", contender.name);
            if round >= setup.repeats.warm_up {
                contender.runs.push(used);
            }
        }
    }
    let pictures = pictures.unwrap_or(0);
    let name = Name::from(file.file_name().unwrap_or(file.as_os_str()));
    Ok(vec![table(&contenders, format!("{name}, {pictures} pictures, to H.264 (x264 {}, CRF {CRF})", setup.preset))])
}

fn table(contenders: &[Contender], title: String) -> Table {
    let mut table = Table::new("programs", title, &["program"])
        .note(
            "In turns. CPU is of all threads, memory the most at any time. Stages run side by side: what each has \
             worked. histeq-video runs with --strength 0.004, so that it encodes the same picture.",
        )
        .measures(["wall"], Unit::Seconds)
        .undrawn(["over ffmpeg"], Unit::Times)
        .undrawn(["CPU"], Unit::Seconds)
        .undrawn(["CPU over ffmpeg"], Unit::Times)
        .undrawn(["memory"], Unit::Mebibytes)
        .undrawn(["decode", "equalize", "encode"], Unit::Seconds);
    if contenders.iter().any(|one| !one.every_round) {
        table.notes.push("The histeq filter encodes another picture, and runs once.".to_owned());
    }
    let median =
        |runs: &[ResourceUsage], of: fn(&ResourceUsage) -> f64| Value::of(&runs.iter().map(of).collect::<Vec<_>>());
    let plain = contenders.iter().find(|one| one.name == PLAIN);
    let times = |value: Value, of: fn(&ResourceUsage) -> f64| {
        plain.map(|plain| Value::derived(value.median / median(&plain.runs, of).median))
    };
    for Contender { name, runs, .. } in contenders {
        let (wall, cpu) = (median(runs, |used| used.wall), median(runs, |used| used.cpu));
        let mut row = Row::new([name.clone()])
            .with("wall", wall)
            .with("CPU", cpu)
            .with("memory", median(runs, |used| used.memory));
        row.set("over ffmpeg", times(wall, |used| used.wall));
        row.set("CPU over ffmpeg", times(cpu, |used| used.cpu));
        for stage in ["decode", "equalize", "encode"] {
            let seconds: Option<Vec<f64>> = runs.iter().map(|used| stage_seconds(&used.stderr, stage)).collect();
            row.set(stage, seconds.map(|seconds| Value::of(&seconds)));
        }
        table.push(row);
    }
    table
}

/// The time of a stage in the line at the end of a run: `decode 1.25 s, ...`.
fn stage_seconds(stderr: &str, stage: &str) -> Option<f64> {
    stderr.rsplit_once(&format!("{stage} "))?.1.split_once(" s")?.0.parse().ok()
}

const PLAIN: &str = "ffmpeg, no filter";

/// The program that is measured: the one beside this one, else the one in PATH.
fn histeq_video() -> PathBuf {
    let beside = std::env::current_exe().map(|lab| lab.with_file_name("histeq-video"));
    beside.ok().filter(|program| program.is_file()).unwrap_or_else(|| "histeq-video".into())
}

/// The programs that are available.
fn contenders(setup: &Setup, file: &Path, folder: &Path, notes: &mut Vec<String>) -> Result<Vec<Contender>> {
    let ours = histeq_video();
    let tried = Command::new(&ours).arg("--version").output();
    tried.context("transcode runs histeq-video, which is neither beside histeq-lab nor in PATH")?;
    let preset = setup.preset.as_str();
    let mut found = Vec::new();
    if setup.backends.contains(&TranscodeBackend::Cpu) {
        found.push(Contender::ours(&ours, file, preset, "cpu", &[]));
    }
    let on_gpu = [(TranscodeBackend::Cuda, &[][..]), (TranscodeBackend::Nvdec, &["--decoder", "nvdec"])];
    match setup.gpu_index.map(|gpu| gpu.to_string()) {
        None => notes.push("No GPU is measured: --backend cpu asks for the CPU alone.".to_owned()),
        Some(gpu) => {
            for (_, more) in on_gpu.into_iter().filter(|(backend, _)| setup.backends.contains(backend)) {
                let cuda = Contender::ours(&ours, file, preset, "cuda", &[&["--gpu", &gpu], more].concat());
                // Opening a GPU in this process would add to the memory of every child.
                match cuda.trial(folder) {
                    Ok(()) => found.push(cuda),
                    Err(error) => notes.push(format!("{} is left out: {error:#}.", cuda.name)),
                }
            }
        }
    }
    if found.is_empty() {
        let why = notes.join(" ");
        return Err(FailureKind::Device.error(format!("transcode: none of --ways can be run here: {why}")));
    }
    match Command::new("ffmpeg").arg("-version").output() {
        Ok(output) if output.status.success() => {
            found.push(Contender::theirs(PLAIN, file, preset, &[]));
            if setup.filter {
                let filter = Contender::theirs("ffmpeg -vf histeq", file, preset, &["-vf", "histeq"]);
                found.push(Contender { every_round: false, ..filter });
            }
        }
        _ => notes.push("The ffmpeg program is not here, so there is nothing beside histeq-video.".to_owned()),
    }
    Ok(found)
}

impl Contender {
    fn ours(program: &Path, file: &Path, preset: &str, backend: &str, more: &[&str]) -> Self {
        let given = ["-y", "--progress", "none", "--strength", "0.004", "--backend", backend];
        let encoding = ["--encoder", "libx264", "--preset", preset, "--crf", CRF];
        let arguments = given.iter().chain(more).chain(&encoding).map(OsString::from);
        Contender {
            name: ["histeq-video --backend", backend].iter().chain(more).copied().collect::<Vec<_>>().join(" "),
            program: program.to_owned(),
            arguments: arguments.chain([file.into()]).collect(),
            every_round: true,
            runs: Vec::new(),
        }
    }

    fn theirs(name: &str, file: &Path, preset: &str, filter: &[&str]) -> Self {
        let read = ["-nostdin", "-v", "error", "-y", "-i"].map(OsString::from).into_iter().chain([file.into()]);
        let encoding = ["-c:v", "libx264", "-preset", preset, "-crf", CRF, "-c:a", "copy"];
        let arguments = read.chain(filter.iter().chain(&encoding).map(OsString::from));
        Contender {
            name: name.to_owned(),
            program: "ffmpeg".into(),
            arguments: arguments.collect(),
            every_round: true,
            runs: Vec::new(),
        }
    }

    fn run(&self, out: &Path) -> Result<ResourceUsage> {
        child::run(Command::new(&self.program).args(&self.arguments).arg(out))
    }

    /// Whether it can transcode one frame.
    fn trial(&self, folder: &Path) -> Result<()> {
        let mut command = Command::new(&self.program);
        child::run(command.args(["--frames", "1"]).args(&self.arguments).arg(folder.join("trial.mp4"))).map(drop)
    }
}

/// The number of pictures in the video of a file.
fn count_pictures(file: &Path) -> Result<u64> {
    let name = Name::from(file);
    let mut demuxer = Demuxer::open(&name, ReadFrom::Url, None, &[], Arc::new(AtomicBool::new(false)))
        .with_context(|| name.clone())?;
    let video = demuxer.best_video();
    let mut pictures = 0;
    while let Some(packet) = demuxer.read()? {
        pictures += u64::from(Some(packet.stream()) == video);
    }
    Ok(pictures)
}

//! One system or library call fails: a file cannot be opened, the disk is full, no thread or no memory is available.
//! Whichever call fails, the run succeeds or says why not, and leaves no incomplete output under the output's name.
//!
//! `faults.c` counts the calls of a kind and fails one of them. By default the tests try some of each kind, from a seed that
//! they print (`HISTEQ_SEED` repeats it); with `HISTEQ_LONG=1` they try every call.

use crate::support::kept_files::kept;
use crate::support::pictures::{Random, seed};
use crate::support::programs::program::Dir;
use crate::support::programs::running::Running;
use crate::support::skip::skip;
use rustix::process::Signal;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Read;
use std::num::NonZero;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);

/// The kinds of calls that can fail. With `true`, FFmpeg, the C library or Rust's runtime may abort the program, or
/// report the failure as damage of the input.
const KINDS: [(&str, bool); 9] = [
    ("open", false),
    ("read", false),
    ("write", false),
    ("rename", false),
    ("fsync", false),
    ("close", false),
    ("thread", false),
    ("map", true),
    ("memory", true),
];

/// How many calls of a kind are tried in each job by default.
const TRIED: usize = 8;

/// `TRIED` more calls are drawn from this many last calls of a kind.
const LAST: u64 = 150;

struct Job {
    /// The command line, in which IN is replaced by the input.
    line: &'static str,
    /// The output file; `None` is stdout.
    output: Option<&'static str>,
    input: &'static str,
}

const X264: Job =
    Job { line: "--backend cpu -y --encoder libx264 IN out.mp4", output: Some("out.mp4"), input: "in.mkv" };
const FFV1: Job = Job { line: "--backend cpu -y --encoder ffv1 IN out.mkv", output: Some("out.mkv"), input: "in.mkv" };
const PIPE: Job = Job {
    line: "--backend cpu -f rawvideo -s 64x48 --pixel-format yuv420p --output-format rawvideo - -",
    output: None,
    input: "in.raw",
};
const LIVE: Job = Job {
    line: "live --backend cpu --no-preview --encoder mpeg4 -y --record out.mkv IN",
    output: Some("out.mkv"),
    input: "in.y4m",
};

/// Builds the library from `faults.c`.
fn library() -> Option<PathBuf> {
    const SOURCE: &str = include_str!("faults.c");
    let supported = cfg!(all(target_arch = "x86_64", target_env = "gnu"));
    let compiler = std::process::Command::new("cc").arg("--version").output();
    if !supported || compiler.is_err() {
        skip("calls that fail", "this takes Linux on x86-64, and a C compiler");
        return None;
    }
    let folder = kept("faults", &SOURCE, |folder| {
        std::fs::write(folder.join("faults.c"), SOURCE).expect("a file that can be written");
        let mut compiler = std::process::Command::new("cc");
        let line = ["-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", "faults.so", "faults.c"];
        assert!(compiler.args(line).current_dir(folder).status().is_ok_and(|status| status.success()));
    });
    Some(folder.join("faults.so"))
}

struct Ended {
    code: Option<i32>,
    signal: Option<i32>,
    stdout: Vec<u8>,
    stderr: String,
    /// How many calls of the kind there were.
    calls: u64,
    dir: Dir,
    files: BTreeMap<PathBuf, Vec<u8>>,
}

const PRECIOUS: &[u8] = b"precious";

struct Tester<'a> {
    job: &'a Job,
    library: PathBuf,
    inputs: Dir,
}

impl Tester<'_> {
    /// A run in which call `number` of this kind fails; if it `lasts`, all later calls fail, too. With `old`, the
    /// output's name is taken by an older file.
    fn run(&self, kind: &str, number: u64, lasts: bool, old: bool) -> Ended {
        let (dir, counts) = (Dir::new(), Dir::new());
        if let Some(output) = self.job.output.filter(|_| old) {
            dir.write(output, PRECIOUS);
        }
        counts.write("counts", &[0; 16]);
        let input = self.inputs.path(self.job.input);
        let mut command = dir.command(&self.job.line.replace("IN", &input.display().to_string()));
        let libraries = command.get_envs().find(|(name, _)| *name == "LD_PRELOAD").and_then(|(_, value)| value);
        let mut preload = OsString::from(&self.library);
        preload.push(" ");
        preload.push(libraries.unwrap_or_default());
        command.env("LD_PRELOAD", preload).env("FAULT_KIND", kind).env("FAULT_AT", number.to_string());
        command.env("FAULT_COUNT", counts.path("counts")).env("RUST_BACKTRACE", "0");
        if lasts {
            command.env("FAULT_LASTS", "1");
        }
        if self.job.output.is_none() {
            command.stdin(std::fs::File::open(input).expect("the input"));
        }
        // The outputs fit into the buffers of the pipes.
        let mut running = Running::start(command.stdout(Stdio::piped()).stderr(Stdio::piped()));
        let code = running.ends_within(LIMIT);
        let child = running.child();
        let signal = child.wait().expect("a process that has ended").signal();
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        child.stdout.take().expect("a pipe").read_to_end(&mut stdout).expect("what was written");
        child.stderr.take().expect("a pipe").read_to_end(&mut stderr).expect("what was said");
        let calls = u64::from_ne_bytes(counts.read("counts")[..8].try_into().expect("eight bytes"));
        let (stderr, files) = (String::from_utf8_lossy(&stderr).into_owned(), dir.files());
        Ended { code, signal, stdout, stderr, calls, dir, files }
    }

    /// Is the output equal to that of the undisturbed run? If bytes differ, frames are compared: some containers hold
    /// random numbers.
    fn is_right(&self, ended: &Ended, whole: &Ended) -> bool {
        let Some(output) = self.job.output else { return ended.stdout == whole.stdout };
        let bytes = |ended: &Ended| ended.files.get(Path::new(output)).cloned();
        let frames = |ended: &Ended| ended.dir.raw(output, "yuv420p");
        bytes(ended) == bytes(whole) || bytes(ended).is_some() && frames(ended) == frames(whole)
    }

    /// The errors of a run in which a call of this kind has failed.
    fn faults(&self, ended: &Ended, whole: &Ended, may_abort: bool, old: bool) -> Vec<String> {
        let mut found = Vec::new();
        let is_live = self.job.line.starts_with("live");
        match (ended.code, ended.signal) {
            // `live` may drop frames; its recording is kept.
            (Some(0), _) if is_live => {
                if ended.dir.frames("out.mkv").is_empty() {
                    found.push("it succeeded without a frame".to_owned());
                }
            }
            // FFmpeg's demuxers and decoders sometimes report a failed allocation as damage.
            (Some(0), _) if may_abort && self.job.output.is_some_and(|output| !ended.dir.frames(output).is_empty()) => {
            }
            (Some(0), _) if !self.is_right(ended, whole) => found.push("it succeeded with a wrong output".to_owned()),
            (Some(0), _) => {}
            (code, _) if crate::support::programs::program::failed(code) => {
                // When it runs out of memory, x264 prints part of a line first.
                let errors = ended.stderr.matches("histeq-video: error: ").count();
                if errors != 1 {
                    found.push(format!("{errors} lines say why it failed"));
                }
            }
            (None, Some(signal)) if may_abort && signal == Signal::ABORT.as_raw() => {}
            (code, signal) => found.push(format!("exit code {code:?}, signal {signal:?}")),
        }
        if ended.stderr.contains("panicked at src") {
            found.push("a panic".to_owned());
        }
        let output = self.job.output.map(Path::new);
        // If an output cannot be renamed, it is kept under another name, which the error contains.
        let is_kept = |name: &Path| name.to_string_lossy().contains(".new.");
        if ended.files.keys().any(|name| Some(name.as_path()) != output && !is_kept(name)) {
            found.push(format!("{:?} are left behind", ended.dir.names()));
        }
        if let Some(output) = output.filter(|_| ended.code != Some(0) && !is_live) {
            let there = ended.files.get(output);
            let is_as_before = there.map(Vec::as_slice) == Some(PRECIOUS).filter(|_| old);
            if !is_as_before && !self.is_right(ended, whole) {
                found.push("the output is neither as it was nor whole".to_owned());
            }
        }
        found
    }
}

fn survives(job: &Job) {
    let Some(library) = library() else { return };
    let inputs = Dir::new();
    let clip = "-f lavfi -i testsrc2=size=64x48:rate=25 -f lavfi -i sine -frames:v 6 -shortest";
    inputs.ffmpeg(&format!("{clip} -c:v ffv1 -threads 1 -c:a aac in.mkv"));
    inputs.ffmpeg("-i in.mkv -an -pix_fmt yuv420p in.y4m");
    inputs.ffmpeg("-i in.mkv -an -pix_fmt yuv420p -f rawvideo in.raw");
    let tester = Tester { job, library, inputs };
    let seed = seed();
    println!("HISTEQ_SEED={seed}");
    let mut random = Random::new(seed);
    let is_long = std::env::var_os("HISTEQ_LONG").is_some();
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    let mut wrong = Vec::new();
    for (kind, may_abort) in KINDS {
        let whole = tester.run(kind, 0, false, false);
        if whole.stderr.contains("no system calls can be caught") {
            return skip("calls that fail", "seccomp is not to be had here");
        }
        assert_eq!(whole.code, Some(0), "{kind}, nothing fails: {}", whole.stderr);
        let tried: Vec<u64> = match whole.calls {
            calls if is_long || calls <= TRIED as u64 => (1..=calls).collect(),
            calls => {
                let anywhere: Vec<u64> = (0..TRIED).map(|_| 1 + random.below(calls)).collect();
                // The last allocations are those of the muxer for the file's index.
                let last = (0..TRIED).map(|_| calls - random.below(calls.min(LAST)));
                anywhere.into_iter().chain(last).collect()
            }
        };
        println!("{kind}: {} of {} calls", tried.len(), whole.calls);
        let tried: Vec<_> =
            tried.into_iter().map(|number| (number, random.below(3) == 0, random.below(2) == 0)).collect();
        let try_one = |&(number, lasts, old): &(u64, bool, bool)| {
            let ended = tester.run(kind, number, lasts, old);
            let found = tester.faults(&ended, &whole, may_abort, old);
            (!found.is_empty())
                .then(|| format!("{kind} {number}, lasts {lasts}, old {old}: {found:?}: {}", ended.stderr))
        };
        let share = tried.len().div_ceil(if is_long { threads } else { 1 }).max(1);
        std::thread::scope(|scope| {
            let shares: Vec<_> = tried
                .chunks(share)
                .map(|share| scope.spawn(|| share.iter().filter_map(try_one).collect::<Vec<_>>()))
                .collect();
            wrong.extend(shares.into_iter().flat_map(|share| share.join().expect("no panic")));
        });
    }
    assert!(wrong.is_empty(), "{}: {} faults do harm:\n{}", job.line, wrong.len(), wrong.join("\n"));
}

#[test]
#[ignore = "tries many faults at random: tests/program/faults.sh runs it"]
fn a_file_into_mp4_survives_calls_that_fail() {
    if crate::support::media::reader::encoder_is_here("calls that fail", "libx264") {
        survives(&X264);
    }
}

#[test]
#[ignore = "tries many faults at random: tests/program/faults.sh runs it"]
fn a_file_into_matroska_survives_calls_that_fail() {
    survives(&FFV1);
}

#[test]
#[ignore = "tries many faults at random: tests/program/faults.sh runs it"]
fn a_pipe_survives_calls_that_fail() {
    survives(&PIPE);
}

#[test]
#[ignore = "tries many faults at random: tests/program/faults.sh runs it"]
fn a_recording_survives_calls_that_fail() {
    survives(&LIVE);
}

//! A driver that needs a while to find no GPU: the CPU has begun by then, and the options decide whether its frames are
//! kept.

use crate::support::kept_files::kept;
use crate::support::programs::program::{Dir, Run};
use crate::support::programs::running::Running;
use crate::support::skip::skip;
use std::io::{BufReader, Read};
use std::process::{Command, Stdio};
use std::time::Duration;

/// A driver with only the functions that are called before it reports that there is no GPU.
const DRIVER: &str = r#"
#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>
extern "C" {
int cuDriverGetVersion(int *version) { *version = std::atoi(std::getenv("DRIVER_VERSION")); return 0; }
static volatile bool starting = false;
int cuInit(unsigned) {
    starting = true;
    if (const char *name = std::getenv("DRIVER_STARTED")) close(open(name, O_CREAT | O_WRONLY, 0600));
    const char *seconds = std::getenv("DRIVER_STARTS");
    usleep(30000);
    if (seconds) sleep(std::atoi(seconds));
    starting = false;
    return 100;
}
// As a driver's own handlers may, these fail while it starts.
static void at_exit() { if (starting) std::abort(); }
__attribute__((constructor)) static void loaded() { std::atexit(at_exit); }
int cuGetErrorString(int, const char **text) { *text = "an error"; return 0; }
}
"#;

/// Builds the driver in the folder. Without a C++ compiler: `false`, and a note.
fn driver(dir: &Dir) -> bool {
    dir.write("driver.cpp", DRIVER.as_bytes());
    let compiler = std::env::var("CXX").unwrap_or_else(|_| "g++".to_owned());
    let mut command = Command::new(&compiler);
    command.args(["-shared", "-fPIC", "-o"]).arg(dir.path("libcuda.so.1")).arg(dir.path("driver.cpp"));
    match command.output() {
        Ok(compiled) => {
            assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
            std::fs::copy(dir.path("libcuda.so.1"), dir.path("libcuda.so")).unwrap();
            true
        }
        Err(error) => {
            skip("c++", &format!("{compiler}: {error}"));
            false
        }
    }
}

/// The program with a driver of this version.
fn command(dir: &Dir, version: u32, line: &str) -> Command {
    let mut command = dir.command(line);
    let rest = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let paths = std::iter::once(dir.path("")).chain(std::env::split_paths(&rest));
    let paths = std::env::join_paths(paths).expect("paths without colons");
    command.env("LD_LIBRARY_PATH", paths).env("DRIVER_VERSION", version.to_string());
    command
}

fn run(dir: &Dir, version: u32, line: &str) -> Run {
    Run::from_command(&mut command(dir, version, line), line)
}

/// A folder with the driver and three videos: a short one, a longer one, and one that is long enough to open a GPU.
fn folder() -> Option<Dir> {
    const CLIPS: [(&str, &str); 3] = [
        ("short.mkv", "-f lavfi -i testsrc2=size=64x48:rate=25:duration=0.2 -c:v ffv1"),
        ("long.mkv", "-f lavfi -i testsrc2=size=640x360:rate=50:duration=2 -c:v mpeg4 -q:v 5"),
        ("worth.mkv", "-f lavfi -i testsrc=size=1920x1080:rate=50:duration=4 -pix_fmt yuv420p -c:v mpeg4 -q:v 5"),
    ];
    let dir = Dir::new();
    let has_driver = driver(&dir);
    let clips = kept("slow-driver", &CLIPS, |folder| {
        for (name, options) in CLIPS {
            dir.ffmpeg(&format!("{options} {name}"));
            std::fs::copy(dir.path(name), folder.join(name)).expect("a copy");
        }
    });
    for (name, _) in CLIPS {
        std::fs::copy(clips.join(name), dir.path(name)).expect("a copy");
    }
    has_driver.then_some(dir)
}

#[test]
fn without_a_gpu_the_cpu_goes_on_and_that_is_said_once() {
    let Some(dir) = folder() else { return };
    let here = run(&dir, 12_040, "--output-format framemd5 --backend cpu -y worth.mkv cpu.txt").exits_with(0);
    here.never_says("GPU");
    let there = run(&dir, 12_040, "--output-format framemd5 -y worth.mkv auto.txt").exits_with(0);
    assert_eq!(there.stderr.matches("no NVIDIA GPU found: equalizing on the CPU").count(), 1, "{}", there.stderr);
    assert!(there.stderr.contains("by cpu ("), "{}", there.stderr);
    assert!(dir.read("auto.txt") == dir.read("cpu.txt"), "the frames differ");
}

#[test]
fn a_job_that_is_done_before_the_gpu_is_open_ends_at_once_with_all_that_it_wrote() {
    let Some(dir) = folder() else { return };
    let line = "--output-format framemd5 --stats stats.jsonl -y worth.mkv auto.txt";
    let mut running = Running::start(command(&dir, 12_040, line).env("DRIVER_STARTS", "3600").stderr(Stdio::piped()));
    let mut said = String::new();
    let stderr = running.child().stderr.take().expect("a pipe");
    assert_eq!(running.ends_within(Duration::from_secs(60)), Some(0));
    BufReader::new(stderr).read_to_string(&mut said).expect("stderr can be read");
    assert!(said.contains(" before the GPU was open\n") && said.ends_with(" -> auto.txt\n"), "{said}");
    run(&dir, 12_040, "--output-format framemd5 --backend cpu -y worth.mkv cpu.txt").exits_with(0);
    assert!(dir.read("auto.txt") == dir.read("cpu.txt"), "the frames differ");
    assert_eq!(dir.read("stats.jsonl").iter().filter(|&&byte| byte == b'\n').count(), 200, "a line for each frame");
    let mut failing = command(&dir, 12_040, "none.mkv out.mkv");
    let mut failing = Running::start(failing.env("DRIVER_STARTS", "3600").stderr(Stdio::null()));
    assert!(crate::support::programs::program::failed(failing.ends_within(Duration::from_secs(60))));
}

#[test]
fn a_piece_that_is_done_before_the_gpu_is_open_is_done() {
    let Some(dir) = folder() else { return };
    let plan = run(&dir, 12_040, "plan --encoder ffv1 --piece 1 long.mkv joined.mkv").exits_with(0).stdout;
    dir.write("plan.json", &plan);
    let line = "run plan.json --piece 1";
    let mut running = Running::start(command(&dir, 12_040, line).env("DRIVER_STARTS", "3600").stderr(Stdio::null()));
    assert_eq!(running.ends_within(Duration::from_secs(60)), Some(0));
}

#[test]
fn only_a_job_that_is_worth_it_starts_the_driver() {
    let Some(dir) = folder() else { return };
    let starts = |line: &str, input: &str| {
        let started = dir.path("started");
        let _ = std::fs::remove_file(&started);
        let line = format!("-y --output-format null {line} {input} -");
        let run = Run::from_command(command(&dir, 12_040, &line).env("DRIVER_STARTED", &started), &line);
        (run.code, started.exists())
    };
    assert_eq!(starts("", "short.mkv"), (Some(0), false));
    assert_eq!(starts("", "long.mkv"), (Some(0), false));
    assert_eq!(starts("", "worth.mkv"), (Some(0), true));
    let (code, is_started) = starts("--backend cuda", "short.mkv");
    assert!(code != Some(0) && is_started, "a GPU that is asked for is looked for at once");
}

#[test]
fn a_gpu_that_was_asked_for_and_is_not_found_is_an_error_and_leaves_nothing() {
    let Some(dir) = folder() else { return };
    let before = dir.names();
    for input in ["short.mkv", "long.mkv"] {
        for options in ["", "--verify", "--decoder cpu --save-curves curves.jsonl --stats stats.jsonl"] {
            let line = format!("--encoder ffv1 --backend cuda {options} {input} out.mkv");
            let run = run(&dir, 12_040, &line).fails();
            assert_eq!(run.stderr, "histeq-video: error: no NVIDIA GPU found (use --backend cpu)\n", "{line}");
            assert_eq!(dir.names(), before, "{line}");
        }
    }
}

#[test]
fn a_driver_that_is_too_old_is_known_before_anything_is_written() {
    let Some(dir) = folder() else { return };
    let run = run(&dir, 11_080, "--backend cuda long.mkv -").fails();
    assert!(run.stdout.is_empty(), "{} bytes", run.stdout.len());
    run.says(&["the NVIDIA driver is for CUDA 11.8; 12.0 is needed"]);
}

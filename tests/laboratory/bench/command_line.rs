//! The command line of `bench`.

use crate::support::program::{Dir, usage_error};
use crate::support::running::{Running, under_load};
use rustix::process::Signal;
use std::process::Stdio;
use std::time::{Duration, Instant};

#[test]
fn without_a_suite_they_are_listed() {
    let run = Dir::new().succeeds("");
    let text = String::from_utf8(run.stdout).expect("text");
    for suite in ["stages", "cdf-min", "scans", "bins", "luminance", "kernels", "stream", "transcode", "cpu"] {
        assert!(text.lines().any(|line| line.trim_start().starts_with(suite)), "{suite} in {text}");
    }
}

#[test]
fn what_makes_no_sense_is_a_usage_error() {
    for (line, says) in [
        ("abacus", "abacus"),
        ("transcode", "transcode takes a file"),
        ("transcode in.mp4 --backend cpu --ways cuda,nvdec", "--ways the one on the CPU"),
        ("transcode in.mp4 --ways abacus", "abacus"),
        ("cpu in.mp4", "cpu takes no file"),
        ("luminance photo.png --compare references", "leave out the file"),
        ("--csv a.csv", "name it"),
        ("--compare references --plot a.svg", "name it"),
        ("cpu --compare references", "no publication has figures for cpu"),
        ("cpu --compare guesses", "guesses"),
        ("cpu --repeat 0", "--repeat"),
        ("bins --saturate 0", "--saturate"),
        ("scans --formula none", "none"),
        ("scans --scan sideways", "sideways"),
        ("scans --block-size 100", "64, 128, 256, 512, 1024"),
        ("stages --pixels-per-thread 257", "257"),
        ("scans --plot k.png", "--plot draws SVG"),
        ("scans --csv -", "the tables are on stdout"),
        ("scans --saturate 5", "--saturate is for the suite bins"),
        ("cpu --scan blelloch", "--scan is for the suites"),
        ("kernels --formula own", "--formula is for the suites"),
        ("scans --backend cpu --scan blelloch", "does not go with --backend cpu"),
        ("luminance --backend cpu --formula own", "does not go with --backend cpu"),
        ("stages --backend cpu --block-size 256", "does not go with --backend cpu"),
        ("kernels --backend cpu --csv k.csv", "measures a GPU"),
    ] {
        usage_error(line).says(&[says]);
    }
}

#[test]
fn an_interrupted_suite_leaves_nothing_behind() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=320x240:rate=25 -frames:v 50 -c:v ffv1 in.mkv");
    let mut command = dir.command("transcode in.mkv --backend cpu --repeat 1000");
    let mut running = Running::start(command.env("TMPDIR", dir.path("")).stdout(Stdio::null()).stderr(Stdio::null()));
    running.wait_until_it_listens();
    let begin = Instant::now();
    while dir.names().len() < 2 {
        assert!(begin.elapsed() < under_load(Duration::from_secs(60)), "it writes nothing");
        std::thread::sleep(Duration::from_millis(5));
    }
    running.signal(Signal::INT);
    assert_eq!(running.ends_within(Duration::from_secs(60)), Some(130));
    assert_eq!(dir.names(), ["in.mkv"]);
}

#[test]
fn a_gpu_that_has_to_be_there_and_is_not_is_an_error() {
    Dir::new().run("scans --quick --backend cuda --gpu 99").exits_with(6).says(&["histeq-lab: error:"]);
}

#[test]
fn a_suite_without_a_figure_writes_nothing_and_fails() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 5 -c:v ffv1 in.mkv");
    let run = dir.run("transcode in.mkv --quick --ways cuda --gpu 99 --csv k.csv --plot k.svg").exits_with(6);
    run.says(&["none of --ways can be run here"]);
    assert_eq!(dir.names(), ["in.mkv"]);
}

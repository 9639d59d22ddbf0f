//! The command line of `bench`.

use crate::support::programs::program::{Dir, Run, usage_error};
use crate::support::programs::running::{Running, under_load};
use rustix::fs::{Mode, OFlags};
use rustix::process::Signal;
use std::process::Stdio;
use std::time::{Duration, Instant};

#[test]
fn without_a_suite_they_are_listed() {
    let run = Dir::new().succeeds("");
    let text = String::from_utf8(run.stdout).expect("text");
    for suite in ["stages", "cdf-min", "scans", "bins", "luminance", "kernels", "stream", "cpu"] {
        assert!(text.lines().any(|line| line.trim_start().starts_with(suite)), "{suite} in {text}");
    }
}

#[test]
fn what_makes_no_sense_is_a_usage_error() {
    for (line, says) in [
        ("abacus", "abacus"),
        ("cpu in.mp4", "cpu takes no file"),
        ("luminance photo.png --compare references", "leave out the file"),
        ("--csv a.csv", "name it"),
        ("--compare references --json a.json", "name it"),
        ("cpu --compare references", "no publication has figures for cpu"),
        ("cpu --compare guesses", "guesses"),
        ("cpu --repeat 0", "--repeat"),
        ("bins --saturate 0", "--saturate"),
        ("scans --formula none", "none"),
        ("scans --scan sideways", "sideways"),
        ("scans --block-size 100", "64, 128, 256, 512, 1024"),
        ("stages --pixels-per-thread 257", "257"),
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
    let mut command = dir.command("cdf-min --quick --backend cpu --repeat 2000");
    let mut running = Running::start(command.env("TMPDIR", dir.path("")).stdout(Stdio::null()).stderr(Stdio::null()));
    running.wait_until_it_listens();
    let begin = Instant::now();
    while dir.names().is_empty() {
        assert!(begin.elapsed() < under_load(Duration::from_secs(60)), "it writes nothing");
        std::thread::sleep(Duration::from_millis(5));
    }
    running.signal(Signal::INT);
    assert_eq!(running.ends_within(Duration::from_secs(60)), Some(130));
    assert!(dir.names().is_empty(), "{:?}", dir.names());
}

#[test]
fn a_gpu_that_has_to_be_there_and_is_not_is_an_error() {
    Dir::new().run("scans --quick --backend cuda --gpu 99").exits_with(6).says(&["histeq-lab: error:"]);
}

#[test]
fn a_suite_without_a_figure_writes_nothing_and_fails() {
    let dir = Dir::new();
    dir.run("kernels --quick --gpu 99 --csv k.csv --json k.json").exits_with(6).says(&["kernels needs a GPU"]);
    assert!(dir.names().is_empty(), "{:?}", dir.names());
}

#[test]
fn a_fifo_that_nobody_writes_is_not_waited_for_after_an_interruption() {
    let dir = Dir::new();
    Run::from_command(&mut dir.other_command("mkfifo", "fifo"), "mkfifo").exits_with(0);
    let mut command = dir.command("stages fifo --backend cpu --quick");
    let mut running = Running::start(command.stdout(Stdio::null()).stderr(Stdio::null()));
    running.wait_until_it_listens();
    let begin = Instant::now();
    // The FIFO can be opened for writing once `bench` reads it.
    let writer = loop {
        match rustix::fs::open(dir.path("fifo"), OFlags::WRONLY | OFlags::NONBLOCK, Mode::empty()) {
            Ok(writer) => break writer,
            Err(_) => assert!(begin.elapsed() < under_load(Duration::from_secs(60)), "it is never read"),
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    running.signal(Signal::TERM);
    assert_eq!(running.ends_within(under_load(Duration::from_secs(20))), Some(130));
    drop(writer);
}

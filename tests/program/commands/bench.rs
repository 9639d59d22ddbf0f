//! `bench` says in plain words how fast this machine is. The rates themselves are not tested.

use crate::support::programs::program::Dir;
use crate::support::programs::running::{Running, under_load};
use rustix::process::Signal;
use std::process::Stdio;
use std::time::{Duration, Instant};

fn numbers(text: &str) -> Vec<f64> {
    text.split([' ', ',']).filter_map(|word| word.parse().ok()).collect()
}

#[test]
fn it_tells_within_a_minute_what_this_machine_does() {
    let dir = Dir::new();
    let begin = Instant::now();
    let run = dir.succeeds("bench");
    assert!(begin.elapsed() < under_load(Duration::from_secs(60)), "{:?}", begin.elapsed());
    let text = String::from_utf8(run.stdout).expect("text");
    let row = |name: &str| {
        text.lines().find_map(|line| line.trim().strip_prefix(name)).unwrap_or_else(|| panic!("{name} in {text}"))
    };
    for size in ["CPU, 1920x1080: ", "CPU, 3840x2160: "] {
        let rates = numbers(row(size));
        assert!(rates.len() == 2 && rates[1] > 0.0, "{text}");
    }
    // The GPU's name, or the reason why there is none.
    assert!(row("GPU").len() > 10, "{text}");
    // A machine that is too slow does not measure a whole file.
    if text.contains("From file to file: not measured, it takes more than ") {
        return;
    }
    for program in ["histeq-video: ", "histeq-video --exact: ", "ffmpeg, which equalizes nothing: "] {
        let figures = numbers(row(program));
        let is_slow = row(program).contains("it takes more than ");
        assert!(is_slow || figures.len() == 2 && figures.iter().all(|figure| *figure > 0.0), "{text}");
    }
    assert!(dir.names().is_empty(), "{:?}", dir.names());
}

#[test]
fn what_is_interrupted_leaves_nothing_behind() {
    let dir = Dir::new();
    let mut command = dir.command("bench");
    let mut running = Running::start(command.env("TMPDIR", dir.path("")).stdout(Stdio::null()).stderr(Stdio::null()));
    running.wait_until_it_listens();
    running.signal(Signal::INT);
    assert_eq!(running.ends_within(under_load(Duration::from_secs(30))), Some(130));
    assert!(dir.names().is_empty(), "{:?}", dir.names());
}

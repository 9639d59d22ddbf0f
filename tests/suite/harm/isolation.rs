//! A decoder that crashes, hangs or swells: what it decoded before is kept, one line says what happened, and others go on.

use super::sandbox::built;
use crate::program::{Dir, Run, program};
use std::process::Command;
use std::time::{Duration, Instant};

const DECODER: &str = include_str!("decoder.c");

/// A folder with a clip of 100 pictures, and the decoder; `None`, and said so, without a C compiler.
pub fn with_decoder() -> Option<Dir> {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 100 -c:v mpeg4 -q:v 3 in.mkv");
    built(&dir, "decoder.so", "-shared -fPIC", DECODER).then_some(dir)
}

/// Has the decoder do this at that picture of those that are 64 pixels wide.
pub fn doing<'a>(dir: &Dir, command: &'a mut Command, what: &str, at: usize) -> &'a mut Command {
    let preload = command.env("LD_PRELOAD", dir.path("decoder.so"));
    preload.env("DECODER_DOES", what).env("DECODER_AT", at.to_string()).env("DECODER_WIDTH", "64")
}

fn run(dir: &Dir, line: &str, what: &str, at: usize) -> Run {
    Run::of(doing(dir, &mut dir.command(line), what, at), line)
}

/// Whether processes of the program work in this folder.
fn are_left(dir: &Dir) -> bool {
    let works_there = |process: std::fs::DirEntry| {
        let place = std::fs::read_link(process.path().join("cwd")).ok();
        let name = std::fs::read_link(process.path().join("exe")).ok();
        place.is_some_and(|place| place == dir.path("")) && name.is_some_and(|name| name == program())
    };
    std::fs::read_dir("/proc").into_iter().flatten().flatten().any(works_there)
}

#[test]
fn what_was_decoded_before_a_decoder_crashes_is_kept() {
    let Some(dir) = with_decoder() else { return };
    let whole = run(&dir, "--backend cpu --encoder ffv1 -y in.mkv whole.mkv", "nothing", 0).exits_with(0);
    whole.never_says("decoder");
    let all = dir.frames("whole.mkv");
    assert_eq!(all.len(), 100);
    for at in (10..100).step_by(10) {
        for (what, says) in [("abort", "has crashed"), ("crash", "has crashed (signal 11)"), ("exit", "has ended")] {
            let line = "--backend cpu --encoder ffv1 --smooth 0 --method global -y in.mkv out.mkv";
            let done = run(&dir, line, what, at).exits_with(0);
            let seconds = format!("behind {:.3} s", (at - 2) as f64 / 25.0);
            done.says(&["in.mkv: stream #0 (video, mpeg4", says, &seconds, "what was decoded before is kept"]);
            assert_eq!(dir.frames("out.mkv").len(), at - 1, "{what} at {at}");
        }
    }
    let strict = run(&dir, "--backend cpu --strict -y in.mkv none.mkv", "abort", 50).exits_with(7);
    strict.says(&["has crashed", "--strict"]);
    let first = run(&dir, "--backend cpu -y in.mkv none.mkv", "abort", 1).exits_with(7);
    assert_eq!(first.says(&["has crashed"]).stderr.lines().count(), 1);
    assert!(!dir.path("none.mkv").exists() && !are_left(&dir));
}

#[test]
fn a_decoder_that_swells_is_ended_and_what_it_decoded_is_kept() {
    let Some(dir) = with_decoder() else { return };
    let line = "--backend cpu --max-memory 100M --encoder ffv1 -y in.mkv out.mkv";
    for at in [10, 50, 90] {
        let done = run(&dir, line, "swell", at);
        let lines = done.stderr.lines().filter(|line| line.contains("memory")).count();
        assert_eq!(lines, 1, "{}", done.stderr);
        // Who is told that there is no more memory may also fail.
        if done.code == Some(0) {
            assert_eq!(dir.frames("out.mkv").len(), at - 1);
        }
    }
    assert!(!are_left(&dir));
}

#[test]
fn a_decoder_that_hangs_is_ended_and_what_it_decoded_is_kept() {
    let Some(dir) = with_decoder() else { return };
    let begin = Instant::now();
    let line = "--backend cpu --threads 1 --encoder ffv1 -y in.mkv out.mkv";
    run(&dir, line, "loop", 50).exits_with(0).says(&["the decoder hangs", "what was decoded before is kept"]);
    assert_eq!(dir.frames("out.mkv").len(), 49);
    assert!(begin.elapsed() < Duration::from_secs(120) && !are_left(&dir));
}

#[test]
fn a_batch_goes_on_behind_a_file_whose_decoder_crashes() {
    let Some(dir) = with_decoder() else { return };
    dir.ffmpeg("-f lavfi -i testsrc2=size=96x48:rate=25 -frames:v 20 -c:v mpeg4 -q:v 3 z.mkv");
    let line = "--backend cpu --output-dir out in.mkv z.mkv";
    let done = run(&dir, line, "abort", 1);
    assert_eq!(done.code, Some(7), "{}", done.stderr);
    done.says(&["in.mkv: ", "has crashed"]);
    assert_eq!(dir.frames("out/z.mkv").len(), 20);
    assert!(!dir.path("out/in.mkv").exists());
}

//! A decoder that crashes, hangs or allocates without end: the frames that it decoded before are kept, one line says
//! what happened, and the other streams and files are processed.

use super::sandbox::built;
use crate::support::programs::program::{Dir, Run, program};
use std::process::Command;
use std::time::{Duration, Instant};

const DECODER: &str = include_str!("decoder.c");

/// A folder with a clip of 100 frames, and the faulty decoder. Without a C compiler: `None`, and a note.
pub fn with_decoder() -> Option<Dir> {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 100 -c:v mpeg4 -q:v 3 in.mkv");
    built(&dir, "decoder.so", "-shared -fPIC", DECODER).then_some(dir)
}

/// Makes the decoder do `what` at frame `frame`. Only frames of 64 pixels in width count.
pub fn doing<'a>(dir: &Dir, command: &'a mut Command, what: &str, frame: usize) -> &'a mut Command {
    let preload = command.env("LD_PRELOAD", dir.path("decoder.so"));
    preload.env("DECODER_DOES", what).env("DECODER_AT", frame.to_string()).env("DECODER_WIDTH", "64")
}

fn run(dir: &Dir, line: &str, what: &str, frame: usize) -> Run {
    Run::from_command(doing(dir, &mut dir.command(line), what, frame), line)
}

/// Whether processes of the program work in this folder.
fn are_left(dir: &Dir) -> bool {
    // A killed process takes a while to end.
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(30) {
        if !are_there(dir) {
            return false;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    true
}

fn are_there(dir: &Dir) -> bool {
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
    for frame in (10..100).step_by(10) {
        for (what, says) in [("abort", "has crashed"), ("crash", "has crashed (signal 11)"), ("exit", "has ended")] {
            let line = "--backend cpu --encoder ffv1 --smooth 0 --method global -y in.mkv out.mkv";
            let done = run(&dir, line, what, frame).exits_with(0);
            let seconds = format!("behind {:.3} s", (frame - 2) as f64 / 25.0);
            done.says(&["in.mkv: stream #0 (video, mpeg4", says, &seconds, "what was decoded before is kept"]);
            assert_eq!(dir.frames("out.mkv").len(), frame - 1, "{what} at {frame}");
        }
    }
    let strict = run(&dir, "--backend cpu --strict -y in.mkv none.mkv", "abort", 50).exits_with(7);
    strict.says(&["has crashed", "--strict"]);
    let first = run(&dir, "--backend cpu -y in.mkv none.mkv", "abort", 1).exits_with(7);
    assert_eq!(first.says(&["has crashed"]).stderr.lines().count(), 1);
    assert!(!dir.path("none.mkv").exists() && !are_left(&dir));
}

/// These frames at which the decoder fails; with `HISTEQ_LONG=1`, every tenth frame instead.
fn some_of(pictures: &[usize]) -> Vec<usize> {
    let is_long = std::env::var_os("HISTEQ_LONG").is_some();
    if is_long { (10..100).step_by(10).collect() } else { pictures.to_vec() }
}

#[test]
fn a_decoder_that_swells_is_ended_and_what_it_decoded_is_kept() {
    let Some(dir) = with_decoder() else { return };
    let line = "--backend cpu --max-memory 100M --encoder ffv1 -y in.mkv out.mkv";
    for frame in some_of(&[10, 50, 90]) {
        let done = run(&dir, line, "swell", frame);
        let lines = done.stderr.lines().filter(|line| line.contains("memory")).count();
        assert_eq!(lines, 1, "{}", done.stderr);
        // A run may also fail when an allocation fails.
        if done.code == Some(0) {
            assert_eq!(dir.frames("out.mkv").len(), frame - 1);
        }
    }
    assert!(!are_left(&dir));
}

#[test]
fn a_decoder_that_hangs_is_ended_and_what_it_decoded_is_kept() {
    let Some(dir) = with_decoder() else { return };
    for frame in some_of(&[50]) {
        let line = "--backend cpu --threads 1 --encoder ffv1 -y in.mkv out.mkv";
        run(&dir, line, "loop", frame).exits_with(0).says(&["the decoder hangs", "what was decoded before is kept"]);
        assert_eq!(dir.frames("out.mkv").len(), frame - 1);
        assert!(!are_left(&dir));
    }
}

#[test]
fn where_the_decoder_of_converted_sound_fails_the_picture_and_the_rest_of_the_sound_go_on() {
    let Some(dir) = with_decoder() else { return };
    dir.write("text.srt", b"1\n00:00:00,500 --> 00:00:01,500\nHello\n\n2\n00:00:02,000 --> 00:00:03,000\nWorld\n");
    let streams = "-f lavfi -i testsrc2=size=96x48:rate=25 -f lavfi -i sine=sample_rate=44100 -i text.srt -t 4";
    dir.ffmpeg(&format!("{streams} -c:v mpeg4 -c:a wmav2 -c:s srt sound.mkv"));
    let seconds = |name: &str| -> f64 {
        let packets = dir.probe("-select_streams a -show_entries packet=duration_time", name)["packets"].take();
        let all = packets.as_array().expect("packets").iter();
        all.map(|packet| packet["duration_time"].as_str().and_then(|text| text.parse::<f64>().ok()).expect("seconds"))
            .sum()
    };
    // Frames of sound have a width of 0.
    let sound = |what: &str, strict: &str, out: &str| {
        let line = format!("--backend cpu {strict}-y sound.mkv {out}");
        let mut command = dir.command(&line);
        Run::from_command(doing(&dir, &mut command, what, 20).env("DECODER_WIDTH", "0"), &line)
    };
    sound("nothing", "", "whole.mp4").exits_with(0).never_says("decoder");
    dir.succeeds("--backend cpu --sandbox off -y sound.mkv off.mp4");
    assert!(dir.read("whole.mp4") == dir.read("off.mp4"), "the same where nothing fails");
    let whole = seconds("whole.mp4");
    for what in ["abort", "crash", "exit"] {
        let done = sound(what, "", "out.mp4").exits_with(0);
        let done = done.says(&["sound.mkv: stream #1 (audio, wmav2)", " at 0.", "a part of it is missing"]);
        assert_eq!(done.stderr.lines().filter(|line| line.contains("is missing")).count(), 1, "{}", done.stderr);
        assert_eq!(dir.frames("out.mp4").len(), 100);
        let left = seconds("out.mp4");
        // The decoder fails at each twentieth frame, so five or six of the 186 packets are lost.
        assert!(left > 0.9 * whole - 1.0 && left <= whole, "{what}: {left} of {whole} s");
    }
    sound("abort", "--strict --for web ", "none.mp4").exits_with(7).says(&["has crashed"]);
    let hangs = sound("loop", "", "out.mp4").exits_with(0);
    hangs.says(&["the decoder hangs", "nothing of what is converted comes after it"]);
    assert!(dir.frames("out.mp4").len() == 100 && !are_left(&dir));
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

/// A limit that was lowered before cannot be raised, not even by root in its own user namespace.
#[test]
fn decoders_keep_to_limits_that_are_lower_than_their_own() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 10 -c:v mpeg4 in.mkv");
    for limit in ["-d 200000", "-u 100"] {
        let mut command = dir.other_command("sh", "-c");
        let program = program();
        command.arg(format!("ulimit {limit}; exec {} --backend cpu --threads 1 -y in.mkv out.mkv", program.display()));
        Run::from_command(&mut command, limit).exits_with(0);
        assert_eq!(dir.frames("out.mkv").len(), 10, "{limit}");
    }
}

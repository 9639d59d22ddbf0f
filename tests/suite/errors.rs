//! What kind of failure an error is: the exit code, and `kind` in JSON. docs/reliability.md lists both.

use crate::program::{Dir, Run};
use crate::reader::encoder_is_here;
use crate::skip::skip;
use serde_json::Value;

fn with_clip() -> Dir {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 10 -c:v ffv1 in.mkv");
    dir
}

/// The kind of the only error of this run, whose last event has its exit code.
#[track_caller]
fn kind(run: &Run) -> String {
    let events: Vec<Value> = run.stderr.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let errors: Vec<&Value> = events.iter().filter(|event| event["event"] == "error").collect();
    assert_eq!(errors.len(), 1, "{}", run.stderr);
    let message = errors[0]["message"].as_str().expect("a message");
    assert!(!message.is_empty() && !message.contains('\n'), "{message}");
    assert_eq!(events.last().expect("an event")["exit_code"].as_i64(), run.code.map(Into::into), "{}", run.stderr);
    errors[0]["kind"].as_str().expect("a kind").to_owned()
}

#[test]
fn each_kind_of_failure_has_a_name_and_an_exit_code_of_its_own() {
    let dir = with_clip();
    dir.write("noise.mkv", &[7; 3000]);
    dir.write("text.mkv", b"no video");
    dir.write("old.mkv", b"precious");
    let page = std::fs::read_to_string("docs/reliability.md").expect("a page");
    for (expected, code, line) in [
        ("usage", 2, "--no-such-option in.mkv out.mkv"),
        ("usage", 2, "--strength 5 in.mkv out.mkv"),
        ("usage", 2, "."),
        ("missing", 4, "missing.mkv out.mkv"),
        ("missing", 4, "missing%03d.png out.mkv"),
        ("missing", 4, "in.mkv nowhere/out.mkv"),
        ("refused", 5, "live --no-preview --record live.mkv rtsp://127.0.0.1:9/cam"),
        ("damage", 7, "noise.mkv out.mkv"),
        ("damage", 7, "text.mkv out.mkv"),
        ("limit", 8, "--max-pixels 1000 in.mkv out.mkv"),
        ("limit", 8, "--max-duration 0.2 in.mkv out.mkv"),
        ("disk", 9, "--encoder ffv1 -y --output-format matroska in.mkv /dev/full"),
        ("exists", 10, "in.mkv old.mkv"),
        ("failed", 1, "--encoder abacus in.mkv out.mkv"),
        ("failed", 1, "--encoder ffv1 --encoder-option abacus=1 in.mkv out.mkv"),
    ] {
        let run = dir.run(&format!("{line} --progress json")).exits_with(code);
        assert_eq!(kind(&run), expected, "{line}: {}", run.stderr);
        assert!(page.contains(&format!("| {code} | `{expected}` |")), "{expected} is not in docs/reliability.md");
        // People get the same in one line.
        let run = dir.run(line).exits_with(code);
        let last = run.stderr.lines().last().unwrap_or_default().to_owned();
        assert!(last.starts_with("histeq-video: error: "), "{line}: {}", run.stderr);
    }
    if std::env::var_os("HISTEQ_GPU").is_none() && dir.run("--backend cuda in.mkv gpu.mkv").code != Some(0) {
        let run = dir.run("--backend cuda --progress json in.mkv gpu.mkv").exits_with(6);
        assert_eq!(kind(&run), "device");
        assert!(page.contains("| 6 | `device` |"));
    } else {
        skip("a device that is missing", "there is a GPU");
    }
    // Of a batch, it is that of all files that have failed.
    let run = dir.run("--output-dir out noise.mkv text.mkv --progress json").exits_with(7);
    assert_eq!(kind(&run), "damage");
    assert!(!run.stderr.contains("noise.mkv: noise.mkv"), "{}", run.stderr);
}

#[test]
fn damage_under_strict_is_of_that_kind() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=320x240:rate=25 -frames:v 50 -c:v ffv1 whole.mkv");
    let whole = dir.read("whole.mkv");
    dir.write("in.mkv", &whole[..whole.len() / 2]);
    let run = dir.run("--strict --progress json in.mkv out.mkv").exits_with(7);
    assert_eq!(kind(&run), "damage");
}

#[test]
fn a_wait_that_is_over_says_what_was_refused() {
    let dir = Dir::new();
    let line = "live --no-preview --wait=2 --record live.mkv rtsp://127.0.0.1:9/cam";
    let run = dir.run(line).exits_with(5);
    let last = run.stderr.lines().last().expect("a line");
    assert!(last.contains("waited for 2 s") && last.contains("the connection is refused"), "{}", run.stderr);
    assert_eq!(dir.names(), [""; 0]);
}

#[test]
fn a_recording_that_fails_before_its_first_frame_leaves_nothing_in_the_way() {
    if !encoder_is_here("a recording that fails", "libx264") {
        return;
    }
    let dir = with_clip();
    let live = "live --backend cpu --no-preview --record seg.mkv";
    dir.run(&format!("{live} --output-option segment_time=3 in.mkv")).fails().says(&["no option segment_time"]);
    assert_eq!(dir.names(), ["in.mkv"]);
    dir.succeeds(&format!("{live} in.mkv"));
    assert_eq!(dir.frames("seg.mkv").len(), 10);
}

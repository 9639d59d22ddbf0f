//! The scripts in `samples/users`: each does its job from beginning to end, with a short clip.

use crate::support::program::{Dir, program};
use crate::support::reader::encoder_is_here;
use crate::support::skip::skip;
use std::path::Path;
use std::process::Command;

/// A folder with a clip of half a second.
fn with_clip() -> Dir {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=160x90:rate=25 -frames:v 12 -c:v ffv1 clip.mkv");
    dir
}

/// Runs a script there, with the program on its path. Its exit code, and what it printed.
fn run(dir: &Dir, script: &str, arguments: &str) -> (Option<i32>, String) {
    let script = Path::new("samples/users").join(script).canonicalize().expect("a script");
    let mut command: Command = dir.other_command(script, arguments);
    let program = program();
    let folder = program.parent().expect("a folder").display();
    command.env("PATH", format!("{folder}:{}", std::env::var("PATH").expect("a path")));
    let output = command.output().expect("a shell");
    let said = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&said).into_owned())
}

#[track_caller]
fn comes_out(script: &str, arguments: &str, files: &[(&str, usize)]) {
    let dir = with_clip();
    let (code, said) = run(&dir, script, arguments);
    assert_eq!(code, Some(0), "{said}");
    for (file, frames) in files {
        assert_eq!(dir.frames(file).len(), *frames, "{file}: {said}");
    }
}

#[test]
fn a_diver_gets_clips_to_post() {
    if encoder_is_here("a diver", "libx264") {
        comes_out("diver.sh", "clip.mkv", &[("looks.png", 1), ("clip-clear.mp4", 12), ("before-after.mp4", 12)]);
    }
}

#[test]
fn a_night_operator_gets_a_recording_and_a_picture() {
    if encoder_is_here("a night operator", "libx264") {
        comes_out("night-operator.sh", "clip.mkv", &[("night.mkv", 12), ("night.png", 1)]);
    }
}

#[test]
fn a_thermographer_gets_frames_to_look_at_and_the_original_samples_back() {
    if !encoder_is_here("a thermographer", "libx264") {
        return;
    }
    let dir = with_clip();
    let noise = "geq=lum=20000+lum(X\\,Y)/50+8*random(0)";
    dir.ffmpeg(&format!("-i clip.mkv -vf format=gray16le,{noise} -frames:v 5 raw%02d.png"));
    let (code, said) = run(&dir, "thermographer.sh", "raw%02d.png");
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(dir.frames("seen.mp4").len(), 5);
    let samples = |name: &str| -> Vec<u16> {
        dir.raw(name, "gray16le").chunks_exact(2).map(|bytes| u16::from_le_bytes([bytes[0], bytes[1]])).collect()
    };
    let (raw, restored) = (samples("raw%02d.png"), samples("restored%03d.png"));
    let apart = raw.iter().zip(&restored).filter(|(before, after)| before != after).count();
    assert!(raw.len() == 5 * 160 * 90 && apart * 100 < raw.len(), "{apart} of {} differ: {said}", raw.len());
}

#[test]
fn a_pipeline_does_each_video_once_and_tells_what_failed() {
    if !encoder_is_here("a pipeline", "libx264") {
        return;
    }
    let dir = with_clip();
    dir.write("broken.mkv", b"no video");
    let (code, said) = run(&dir, "pipeline.sh", "done clip.mkv");
    assert_eq!((code, said.contains("clip.mkv: done")), (Some(0), true), "{said}");
    let (code, said) = run(&dir, "pipeline.sh", "done clip.mkv broken.mkv");
    assert_eq!((code, said.contains("clip.mkv: was there")), (Some(1), true), "{said}");
    assert!(said.contains("broken.mkv: failed: {\"event\":\"error\""), "{said}");
    assert_eq!(dir.frames("done/clip.mp4").len(), 12);
    assert_eq!(String::from_utf8_lossy(&dir.read("done/clip.csv")).lines().count(), 13);
}

#[test]
fn a_student_gets_both_methods_side_by_side_and_a_curve_as_numbers() {
    if Command::new("python3").arg("--version").output().is_err() {
        return skip("a student", "no python3");
    }
    comes_out("student.sh", "clip.mkv", &[("textbook.mkv", 12), ("clahe.mkv", 12), ("side-by-side.mkv", 12)]);
}

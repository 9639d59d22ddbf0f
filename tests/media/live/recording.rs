//! Recordings of a camera that is emulated by a filter in real time.

use super::{Beside, frames_counted, pause, without_display};
use crate::support::media::clips::phone;
use crate::support::media::reader::encoder_is_here;
use crate::support::programs::program::{Dir, Run};
use crate::support::programs::tiny_disk::TinyDisk;
use crate::support::skip::skip;
use std::io::Write;
use std::process::Stdio;

const CAMERA: &str = "-f lavfi 'testsrc2=s=160x96:r=30,realtime'";

/// The duration of the run in seconds, from the summary.
fn elapsed(said: &str) -> f64 {
    let after = said.split("frames in ").nth(1).expect("a summary");
    after.split(' ').next().and_then(|seconds| seconds.parse().ok()).expect("seconds")
}

#[test]
fn ctrl_c_finishes_a_recording_with_every_frame_in_it() {
    for file in ["out.mkv", "out.mp4"] {
        let dir = Dir::new();
        let live = Beside::live(&dir, &format!("--encoder mpeg4 {CAMERA} --record {file}"));
        live.until_more_frames(40);
        live.interrupt();
        let (code, said) = live.end();
        assert_eq!(code, Some(0), "{said}");
        let times = dir.frame_times(file);
        assert!(times.len() > 30, "{} frames", times.len());
        assert_eq!(frames_counted(&said, file), times.len(), "{said}");
        // A busy machine may drop frames. No more are missing than it tells of.
        let dropped: f64 =
            said.split(" dropped").next().and_then(|said| said.split(' ').next_back()?.parse().ok()).expect("a number");
        let mut missing = 0.0;
        for pair in times.windows(2) {
            let distance = (pair[1] - pair[0]) * 30.0;
            assert!((distance - distance.round()).abs() < 0.06 && distance > 0.5, "{pair:?}");
            missing += distance.round() - 1.0;
        }
        assert!(missing <= dropped, "{missing} are missing: {said}");
        let length = (times.len() as f64 + dropped) / 30.0;
        // On a busy machine, opening and finishing take time, but recording does not. The first frames of a camera may
        // arrive at once, so that its time begins late.
        assert!(elapsed(&said) > length / 2.0 && elapsed(&said) - length < 10.0, "{length}: {said}");
    }
}

#[test]
fn a_recording_that_is_killed_is_playable() {
    for file in ["out.mkv", "out.mp4"] {
        let dir = Dir::new();
        let live = Beside::live(&dir, &format!("--encoder mpeg4 {CAMERA} --record {file}"));
        live.until_more_frames(90);
        drop(live);
        let frames = dir.frame_times(file).len();
        assert!(frames >= 30, "{frames} frames in what is left of {file}");
    }
}

#[test]
fn a_file_plays_as_it_was_filmed() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=s=64x48:r=20:d=1.5 -c:v ffv1 in.mkv");
    let run = dir.succeeds("live --backend cpu --no-preview --encoder ffv1 --record out.mkv in.mkv");
    assert!(run.stderr.contains(", 0 dropped"), "{run:?}");
    let times = dir.frame_times("out.mkv");
    assert_eq!(times.len(), 30);
    for (number, time) in times.iter().enumerate() {
        assert!((time - times[0] - number as f64 / 20.0).abs() < 0.002, "{times:?}");
    }
    assert!(elapsed(&run.stderr) >= 1.4, "{run:?}");
}

#[test]
fn frames_come_in_the_order_in_which_they_are_shown() {
    let dir = Dir::new();
    for codec in ["mpeg2video", "mpeg4"] {
        dir.ffmpeg(&format!("-f lavfi -i testsrc2=s=64x48:r=25:d=0.6 -c:v {codec} -bf 2 -q:v 3 in.mkv"));
        dir.succeeds("live -y --backend cpu --no-preview --encoder ffv1 --record out.mkv in.mkv");
        let times = dir.frame_times("out.mkv");
        assert!(times.len() > 10, "{codec}: {times:?}");
        for pair in times.windows(2) {
            assert!((pair[1] - pair[0] - 0.04).abs() < 0.003, "{codec}: {times:?}");
        }
    }
}

#[test]
fn what_a_phone_has_filmed_is_recorded_upright() {
    if !encoder_is_here("a phone's video", "libx264") {
        return;
    }
    let dir = Dir::new();
    phone(&dir, "in.mp4", "-f lavfi -i testsrc2=s=128x96:r=25:d=0.4", 90);
    dir.succeeds("live --backend cpu --no-preview --encoder ffv1 --record out.mkv in.mp4");
    let stream = &dir.streams("out.mkv")[0];
    assert_eq!((&stream["width"], &stream["height"]), (&96.into(), &128.into()));
}

#[test]
fn what_is_recorded_is_equalized() {
    let dir = Dir::new();
    let source = "testsrc2=s=64x48:r=30:d=0.5";
    dir.succeeds(&format!(
        "live --backend cpu --no-preview -f lavfi {source},realtime --encoder ffv1 --record live.mkv"
    ));
    dir.ffmpeg(&format!("-f lavfi -i {source} -c:v ffv1 in.mkv"));
    dir.succeeds("--backend cpu --set look-ahead=0 in.mkv file.mkv");
    assert_eq!(dir.raw("live.mkv", "yuv420p"), dir.raw("file.mkv", "yuv420p"));
}

#[test]
fn a_camera_may_come_through_a_pipe_and_take_its_time() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=s=64x48:r=25:d=1 -f yuv4mpegpipe in.y4m");
    let bytes = dir.read("in.y4m");
    let mut command = dir.command("live --exact --backend cpu --no-preview --encoder ffv1 --record live.mkv -");
    let mut live = command.stdin(Stdio::piped()).spawn().expect("the program runs");
    let mut stdin = live.stdin.take().expect("a pipe");
    let header = bytes.iter().position(|&byte| byte == b'\n').expect("a header") + 1;
    stdin.write_all(&bytes[..header]).expect("a reader");
    let frame = 64 * 48 * 3 / 2;
    for (index, frame) in bytes[header..].chunks("FRAME\n".len() + frame).enumerate() {
        // One pause is longer than the timeout of a network camera.
        pause(if index == 15 { 3.5 } else { 0.1 });
        stdin.write_all(frame).expect("a reader");
    }
    drop(stdin);
    assert_eq!(live.wait().expect("it ends").code(), Some(0));
    dir.succeeds("--exact --backend cpu --encoder ffv1 in.y4m file.mkv");
    let (found, expected) = (dir.raw("live.mkv", "yuv420p"), dir.raw("file.mkv", "yuv420p"));
    // Of the frames that arrive while the pipe is being opened, only the newest is used.
    assert!(found.len() >= 12 * frame, "{} frames", found.len() / frame);
    assert!(expected.ends_with(&found[found.len() - 10 * frame..]), "other pictures");
}

#[test]
fn frames_go_to_a_pipe_beside_the_recording() {
    let dir = Dir::new();
    let run = dir.succeeds(&format!(
        "live --backend cpu --no-preview {CAMERA} --frames 20 --encoder mpeg4 --record out.mkv --output -"
    ));
    assert!(run.stdout.starts_with(b"YUV4MPEG2 W160 H96"));
    assert_eq!(dir.frame_times("out.mkv").len(), 20);
}

#[test]
fn what_is_missing_is_said_in_a_line_with_the_way_out() {
    let dir = Dir::new();
    dir.write("there.mkv", b"precious");
    for (line, says) in [
        ("live --no-preview -f lavfi testsrc2", "--record"),
        ("live --record out.mkv /dev/no-such-camera", "histeq-video devices"),
        ("live --record out.mkv --loopback /dev/no-such-loopback -f lavfi testsrc2", "v4l2loopback"),
        ("live -n --record there.mkv -f lavfi testsrc2", "there.mkv exists"),
        ("live -y --record there.mkv there.mkv", "there.mkv is the input itself"),
        ("live -y --output there.mkv there.mkv", "there.mkv is the input itself"),
        ("live -y --record two.mkv --output two.mkv -f lavfi testsrc2", "are one file"),
        ("live --record out.mkv -f no-such-input camera", "no input format no-such-input"),
        ("live --record out.mkv rtsp://127.0.0.1:1/", "is the camera on?"),
    ] {
        let code = if line.contains(" -n ") { 3 } else { 1 };
        let run = Run::from_command(&mut without_display(dir.command(line)), line).ends_as(code).says(&[says]);
        assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    }
    for name in ["", ":4711"] {
        let mut command = without_display(dir.command("live -f lavfi testsrc2"));
        let run = Run::from_command(command.env("DISPLAY", name), "live without a display").fails();
        let run = run.says(&["no display", "--record"]);
        assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    }
    assert_eq!(dir.read("there.mkv"), b"precious");
    dir.run("live --size wide").exits_with(2).says(&["--size"]);
}

#[test]
fn a_recording_that_cannot_be_written_has_failed() {
    let dir = Dir::new();
    std::os::unix::fs::symlink("/dev/full", dir.path("full.mkv")).expect("a link");
    let run =
        dir.run("live --backend cpu -y --no-preview --record full.mkv --duration 5 -f lavfi testsrc2=s=64x48:r=25");
    run.fails().says(&["full.mkv"]);
}

#[test]
fn a_recording_goes_on_where_its_curves_fill_their_disk() {
    let dir = Dir::new();
    let Some(_disk) = TinyDisk::mount(dir.path("disk"), "8k") else {
        return skip("a full disk", "a small file system cannot be mounted");
    };
    let source = "-f lavfi testsrc2=s=64x48:r=25,fade=in:0:50,realtime --frames 50";
    let line = format!("--exact --encoder ffv1 --record out.mkv --save-curves disk/c.jsonl {source}");
    let full = "disk/c.jsonl: cannot be written: No space left on device";
    dir.run(&format!("live --backend cpu --no-preview {line}")).exits_with(9).says(&[
        &format!("warning: {full}; it ends here, and the video goes on"),
        &format!("error: {full} (what there is of it: disk/c.jsonl; name an output on another disk)"),
    ]);
    let kept = String::from_utf8(dir.read("disk/c.jsonl")).expect("text");
    assert!(dir.frames("out.mkv").len() > kept.lines().count() + 10);
    let is_whole = |line: &str| serde_json::from_str::<serde_json::Value>(line).is_ok();
    assert!((2..50).contains(&kept.lines().count()) && kept.lines().all(is_whole), "{kept}");
}

#[test]
fn an_encoder_that_refuses_its_settings_harms_nothing_that_was_there() {
    let dir = Dir::new();
    dir.write("there.mkv", b"precious");
    let settings = "--encoder mpeg4 --encoder-option nonsense=1";
    for file in ["there.mkv", "new.mkv"] {
        let run = dir.run(&format!("live -y --backend cpu --no-preview {settings} --record {file} {CAMERA}"));
        run.fails().says(&["mpeg4", "nonsense"]);
    }
    assert_eq!(dir.read("there.mkv"), b"precious");
    assert_eq!(dir.names(), ["there.mkv"]);
}

#[test]
fn devices_lists_what_is_here() {
    let run = Dir::new().succeeds("devices");
    let list = String::from_utf8_lossy(&run.stdout).into_owned();
    for heading in ["GPUs:", "Cameras:", "Video encoders:", "ffv1"] {
        assert!(list.contains(heading), "{list}");
    }
}

#[test]
fn a_file_that_a_run_records_into_is_left_alone_by_another_and_missed_when_it_goes() {
    let dir = Dir::new();
    let live = Beside::live(&dir, &format!("-y --encoder mpeg4 --record one.mkv {CAMERA}"));
    live.until_more_frames(5);
    let second = format!("live --backend cpu --no-preview -y --encoder mpeg4 --frames 3 --record one.mkv {CAMERA}");
    dir.run(&second).exits_with(10).says(&["one.mkv: another run records into it"]);
    live.interrupt();
    let (code, said) = live.end();
    assert_eq!(code, Some(0), "{said}");
    assert!(dir.frame_times("one.mkv").len() >= 5, "{said}");
    dir.succeeds(&second);
    assert_eq!(dir.frame_times("one.mkv").len(), 3);

    let live = Beside::live(&dir, &format!("--encoder mpeg4 --record gone.mkv {CAMERA}"));
    live.until_more_frames(5);
    std::fs::remove_file(dir.path("gone.mkv")).expect("the recording");
    live.interrupt();
    let (code, said) = live.end();
    assert!(
        code != Some(0) && said.contains("gone.mkv: cannot be written: it was removed meanwhile"),
        "{code:?}: {said}"
    );
}

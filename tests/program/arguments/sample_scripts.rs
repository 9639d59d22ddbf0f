//! The scripts in `samples/users`: each does its job from beginning to end, with a short clip.

use crate::support::media::reader::encoder_is_here;
use crate::support::programs::http::exchange;
use crate::support::programs::program::{Dir, program};
use crate::support::skip::skip;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A folder with a clip of half a second.
fn with_clip() -> Dir {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=160x90:rate=25 -frames:v 12 -c:v ffv1 clip.mkv");
    dir
}

/// The command for a script in that folder, with the program in its PATH.
fn script_command(dir: &Dir, script: &str, arguments: &str) -> Command {
    let script = Path::new("samples/users").join(script).canonicalize().expect("a script");
    let mut command: Command = dir.other_command(script, arguments);
    let program = program();
    let folder = program.parent().expect("a folder").display();
    command.env("PATH", format!("{folder}:{}", std::env::var("PATH").expect("a path")));
    command
}

/// Runs a script of that folder. Returns its exit code and its output.
fn run(dir: &Dir, script: &str, arguments: &str) -> (Option<i32>, String) {
    let output = script_command(dir, script, arguments).output().expect("a shell");
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
fn a_thermographer_gets_frames_to_look_at() {
    if !encoder_is_here("a thermographer", "libx264") {
        return;
    }
    let dir = with_clip();
    let noise = "geq=lum=20000+lum(X\\,Y)/50+8*random(0)";
    dir.ffmpeg(&format!("-i clip.mkv -vf format=gray16le,{noise} -frames:v 5 raw%02d.png"));
    let (code, said) = run(&dir, "thermographer.sh", "raw%02d.png");
    assert_eq!(code, Some(0), "{said}");
    let made = ["seen.mp4", "detail%03d.png", "colours%03d.png", "scale%03d.png"];
    assert_eq!(made.map(|file| dir.frames(file).len()), [5; 4]);
    assert_eq!(["colours001.png", "scale001.png"].map(|file| dir.pixel_format(file)), ["rgb24"; 2]);
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

#[test]
fn an_editor_gets_a_table_that_gives_the_picture() {
    let dir = with_clip();
    let (code, said) = run(&dir, "editor.sh", "clip.mkv");
    assert_eq!(code, Some(0), "{said}");
    for (file, frames) in [("corrected.mov", 12), ("graded.png", 1), ("looked-up.mkv", 12)] {
        assert_eq!(dir.frames(file).len(), frames, "{file}: {said}");
    }
    // ProRes and chroma subsampling cause differences.
    let (ours, graded) = (dir.raw("corrected.mov", "rgb24"), dir.raw("graded.png", "rgb24"));
    let apart: u64 = ours.iter().zip(&graded).map(|(a, b)| u64::from(a.abs_diff(*b))).sum();
    assert!(apart < 6 * graded.len() as u64, "{} on average", apart as f64 / graded.len() as f64);
}

#[test]
fn an_astronomer_gets_frames_on_which_the_sky_is_a_quarter() {
    let dir = with_clip();
    let faint = "geq=lum=300+lum(X\\,Y)/900+16*random(0)";
    dir.ffmpeg(&format!("-i clip.mkv -vf format=gray16le,{faint} -frames:v 3 raw%03d.png"));
    let (code, said) = run(&dir, "astronomer.sh", "raw%03d.png");
    assert_eq!(code, Some(0), "{said}");
    for method in ["asinh", "midtones"] {
        let frame = dir.raw(&format!("{method}001.png"), "gray16le");
        let mut samples: Vec<u16> =
            frame.chunks_exact(2).map(|bytes| u16::from_le_bytes([bytes[0], bytes[1]])).collect();
        samples.sort_unstable();
        let middle = f64::from(samples[samples.len() / 2]) / 65_535.0;
        assert!((middle - 0.25).abs() < 0.03, "{method}: {middle}");
    }
    assert_eq!(String::from_utf8_lossy(&dir.read("stretch.csv")).lines().count(), 4);
}

#[test]
fn an_archivist_gets_steady_scans_with_their_numbers() {
    if !encoder_is_here("an archivist", "libx264") {
        return;
    }
    let dir = Dir::new();
    // One real frame, repeated; its red channel flickers.
    let clip = Path::new("samples/parking-lot.mp4").canonicalize().expect("a sample");
    dir.tool("ffmpeg", &format!("-v error -i {} -frames:v 1 -vf scale=160:90 still.png", clip.display()), None);
    let wavers = "geq=r=r(X\\,Y)*(0.8+0.15*sin(N*2)):g=g(X\\,Y)*0.8:b=b(X\\,Y)*0.8";
    let scans = "-frames:v 25 -start_number 86400 scan%05d.tif";
    dir.tool(
        "ffmpeg",
        &format!("-v error -loop 1 -framerate 25 -i still.png -vf format=rgb48le,{wavers} {scans}"),
        None,
    );
    let (code, said) = run(&dir, "archivist.sh", "scan%05d.tif");
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(dir.frames("steady.mp4").len(), 25);
    assert_eq!(String::from_utf8_lossy(&dir.read("flicker.csv")).lines().count(), 26);
    let red = |name: String| -> f64 {
        let samples = dir.raw(&name, "rgb48le");
        let red = samples.chunks_exact(6).map(|pixel| f64::from(u16::from_le_bytes([pixel[0], pixel[1]])));
        red.sum::<f64>() / (samples.len() / 6) as f64
    };
    let wavers = |name: &str| {
        let reds: Vec<f64> = (86_400..86_425).map(|number| red(format!("{name}{number}.tif"))).collect();
        reds.windows(2).map(|pair| (pair[1] / pair[0] - 1.0).abs()).sum::<f64>() / 24.0
    };
    let (before, after) = (wavers("scan"), wavers("steady-scan"));
    assert!(20.0 * after < before, "red wavers by {after}, by {before} before: {said}");
}

struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_service_gives_videos_back_and_tells_who_sent_something_else_what_is_wrong() {
    if Command::new("python3").arg("--version").output().is_err() {
        return skip("a service", "no python3");
    }
    if !encoder_is_here("a service", "libx264") {
        return;
    }
    let dir = with_clip();
    let mut command = script_command(&dir, "service.py", "jobs");
    command.env("PORT", "0").env("MOST_BYTES", "1000000").stdout(Stdio::piped());
    let mut server = Server(command.spawn().expect("a server"));
    let mut address = String::new();
    BufReader::new(server.0.stdout.take().expect("a pipe")).read_line(&mut address).expect("its address");
    let address = address.trim().strip_prefix("http://").and_then(|url| url.strip_suffix("/jobs")).expect("an address");
    let ask = |method: &str, path: &str, body: &[u8], length: usize| {
        let head = format!("{method} {path} HTTP/1.0\r\nHost: {address}\r\nContent-Length: {length}\r\n\r\n");
        exchange(address, &[head.as_bytes(), body].concat())
    };
    let send = |body: &[u8]| ask("PUT", "/jobs", body, body.len()).json()["job"].as_str().expect("a job").to_owned();
    let ended = |job: &str| loop {
        let state = ask("GET", &format!("/jobs/{job}"), b"", 0).json();
        if !["waiting", "running"].contains(&state["state"].as_str().expect("a state")) {
            return state;
        }
        std::thread::sleep(Duration::from_millis(50));
    };

    let job = send(&dir.read("clip.mkv"));
    let state = ended(&job);
    assert_eq!((&state["state"], &state["frames"]), (&"done".into(), &12.into()), "{state}");
    dir.write("back.mp4", &ask("GET", &format!("/jobs/{job}/video"), b"", 0).body);
    assert_eq!(dir.frames("back.mp4").len(), 12);

    // A wrong upload is answered with an error and leaves no file, and the next upload works.
    for (upload, kind, status) in [
        (&b"no video"[..], "damage", 422),
        (b"YUV4MPEG2 W30000 H30000 F25:1\nFRAME\n", "limit", 413),
        (b"ffconcat version 1.0\nfile /etc/passwd\n", "damage", 422),
    ] {
        let job = send(upload);
        let state = ended(&job);
        assert_eq!((&state["state"], &state["kind"]), (&"failed".into(), &kind.into()), "{state}");
        assert_eq!(ask("GET", &format!("/jobs/{job}/video"), b"", 0).status, status, "{state}");
        assert_eq!(std::fs::read_dir(dir.path("jobs").join(&job)).expect("a folder").count(), 0);
    }
    assert_eq!(ask("PUT", "/jobs", b"", 2_000_000).status, 413);
    for path in ["/", "/jobs", "/jobs/../clip.mkv", "/jobs/%2e%2e", &format!("/jobs/{}", "0".repeat(32))] {
        assert_eq!(ask("GET", path, b"", 0).status, 404, "{path}");
    }
    assert_eq!(ended(&send(&dir.read("clip.mkv")))["state"], "done");
}

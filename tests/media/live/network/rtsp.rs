//! An RTSP camera that works, disappears and comes back, falls silent, or refuses.

use super::rtsp_server::{Answer, RtspServer};
use crate::media::live::{Beside, pause, without_display};
use crate::program::harm::compromised::isolation::{doing, with_decoder};
use crate::support::media::reader::encoder_is_here;
use crate::support::programs::program::Dir;
use crate::support::programs::running::under_load;
use std::process::Stdio;
use std::time::{Duration, Instant};

const MPEG4: &str = "-c:v mpeg4 -g 10";
const H264: &str = "-c:v libx264 -preset ultrafast -tune zerolatency -g 10";

fn record(dir: &Dir, server: &RtspServer, options: &str) -> Beside {
    Beside::live(dir, &format!("--encoder mpeg4 --record out.mkv {options} {}", server.url()))
}

/// The gaps of more than 1.5 s between frames, and the number of frames before the first gap and after it.
#[track_caller]
fn gaps(dir: &Dir) -> (Vec<f64>, usize, usize) {
    let times = dir.frame_times("out.mkv");
    assert!(times.windows(2).all(|pair| pair[1] > pair[0]), "{times:?}");
    let steps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let first = steps.iter().position(|&step| step > 1.5).map_or(times.len(), |index| index + 1);
    (steps.into_iter().filter(|&step| step > 1.5).collect(), first, times.len() - first)
}

#[test]
fn an_rtsp_camera_is_recorded_as_it_films() {
    for encoder in [MPEG4, H264] {
        if encoder == H264 && !encoder_is_here("RTSP with H.264", "libx264") {
            continue;
        }
        let dir = Dir::new();
        let server = RtspServer::start(&dir, 0, Answer::Pictures, encoder);
        let run = dir.succeeds(&format!(
            "live --backend cpu --no-preview --frames 50 --encoder mpeg4 --record out.mkv {}",
            server.url()
        ));
        assert!(run.stderr.contains(", 0 dropped"), "{}", run.stderr);
        let times = dir.frame_times("out.mkv");
        assert_eq!(times.len(), 50);
        for pair in times.windows(2) {
            assert!((pair[1] - pair[0] - 0.04).abs() < 0.002, "{pair:?} with {encoder}");
        }
    }
}

#[test]
fn an_rtsp_camera_that_is_killed_and_started_again_goes_on_in_the_same_recording() {
    let dir = Dir::new();
    let server = RtspServer::start(&dir, 0, Answer::Pictures, MPEG4);
    let port = server.port();
    let live = record(&dir, &server, "");
    live.until_more_frames(40);
    drop(server);
    live.until_it_says("waiting for it to come back");
    pause(2.0);
    let server = RtspServer::start(&dir, port, Answer::Pictures, MPEG4);
    live.until_it_says("back after");
    live.until_more_frames(40);
    live.interrupt();
    let (code, said) = live.end();
    drop(server);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("waiting for it to come back") && said.contains("back after"), "{said}");
    let (gaps, before, after) = gaps(&dir);
    assert!(gaps.len() == 1 && before > 25 && after > 25, "{gaps:?}, {before} before, {after} after: {said}");
}

#[test]
fn an_rtsp_camera_whose_decoder_crashes_is_opened_again_in_the_same_recording() {
    let Some(dir) = with_decoder() else { return };
    let server = RtspServer::start(&dir, 0, Answer::Pictures, MPEG4);
    let line = format!("live --backend cpu --progress json --encoder mpeg4 --record out.mkv {}", server.url());
    let mut command = without_display(dir.command(&line));
    doing(&dir, &mut command, "crash", 30).env("DECODER_WIDTH", "320");
    let live = Beside::start(command.stderr(Stdio::piped())).expect("the program runs");
    live.until_it_says("crashed (signal 11)");
    live.until_it_says("back after");
    live.until_more_frames(40);
    live.interrupt();
    let (code, said) = live.end();
    drop(server);
    assert_eq!(code, Some(0), "{said}");
    let times = dir.frame_times("out.mkv");
    // The number of frames before the crash depends on how far the decoder was ahead.
    assert!(times.len() > 40 && times.windows(2).all(|pair| pair[1] > pair[0]), "{times:?}: {said}");
}

#[test]
fn an_rtsp_camera_that_falls_silent_is_opened_again() {
    let dir = Dir::new();
    let server = RtspServer::start(&dir, 0, Answer::Pictures, MPEG4);
    let live = record(&dir, &server, "");
    live.until_more_frames(40);
    server.freeze(true);
    // The connection stays open, so only a timeout can notice the silence.
    live.until_it_says("waiting for it to come back");
    // The program connects again during the silence.
    server.until_connected();
    server.freeze(false);
    live.until_it_says("back after");
    live.until_more_frames(40);
    live.interrupt();
    let (code, said) = live.end();
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("no data for 3 s; waiting for it to come back") && said.contains("back after"), "{said}");
    let (gaps, before, after) = gaps(&dir);
    assert!(gaps.len() == 1 && before > 25 && after > 25, "{gaps:?}, {before} before, {after} after: {said}");
}

#[test]
fn ctrl_c_ends_a_recording_at_once_whose_rtsp_camera_is_silent() {
    let dir = Dir::new();
    let server = RtspServer::start(&dir, 0, Answer::Pictures, MPEG4);
    let live = record(&dir, &server, "");
    live.until_more_frames(40);
    server.freeze(true);
    // The program closes the connection, and waits for an answer on a new one.
    live.until_it_says("waiting for it to come back");
    server.until_connected();
    let begin = Instant::now();
    live.interrupt();
    let (code, said) = live.end();
    assert!(begin.elapsed() < under_load(Duration::from_secs(4)), "{:?}", begin.elapsed());
    assert_eq!(code, Some(0), "{said}");
    assert!(dir.frame_times("out.mkv").len() > 25, "{said}");
}

#[test]
fn a_server_that_never_answers_is_given_up_and_ctrl_c_need_not_wait_for_that() {
    let dir = Dir::new();
    let server = RtspServer::start(&dir, 0, Answer::Nothing, "");
    let patient = record(&dir, &server, "");
    server.until_connected();
    let live = record(&dir, &server, "");
    server.until_connected();
    let begin = Instant::now();
    live.interrupt();
    let (code, said) = live.end();
    assert!(begin.elapsed() < under_load(Duration::from_secs(4)), "{:?}", begin.elapsed());
    assert_eq!(code, Some(130), "{said}");
    assert!(said.contains("interrupted before the first frame"), "{said}");
    let (code, said) = patient.end();
    assert_eq!((crate::support::programs::program::failed(code), said.lines().count()), (true, 1), "{said}");
    assert!(said.contains("no RTSP server answers there (is the camera on?)"), "{said}");
    assert!(dir.names().is_empty(), "{:?}", dir.names());
}

#[test]
fn a_server_that_refuses_is_quoted_without_the_password() {
    let dir = Dir::new();
    for (status, says) in [("401 Unauthorized", "name and a password"), ("404 Not Found", "is the path right?")] {
        let server = RtspServer::start(&dir, 0, Answer::Status(status), "");
        let url = server.url().replace("//", "//admin:hush@");
        let run = dir.run(&format!("live --no-preview --record out.mkv {url}")).fails();
        let run = run.says(&[says, "rtsp://admin@127.0.0.1"]).never_says("hush");
        assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    }
}

//! Recordings of a raw camera, whose frames are in the driver's memory: however a recording ends, it contains all
//! frames that the summary counts.

use super::film::Film;
use super::{Live, SMALL, Vivid, frames_counted};
use crate::support::programs::program::Dir;
use crate::support::skip::skip;
use rustix::process::Signal;
use std::path::Path;

/// Requires exit code 0 and a complete recording.
#[track_caller]
fn is_whole(dir: &Dir, (code, said): (Option<i32>, String)) -> Film {
    assert_eq!(code, Some(0), "{said}");
    let film = Film::read(&dir.path("out.mkv"));
    assert_eq!(film.len(), frames_counted(&said, "out.mkv"), "{said}");
    film.is_in_order();
    film
}

#[test]
fn a_signal_at_any_moment_leaves_every_frame_that_was_counted() {
    let Some(camera) = Vivid::take() else { return };
    for (frames, signal) in [(1, Signal::INT), (13, Signal::TERM), (40, Signal::INT)] {
        let dir = Dir::new();
        let mut live = Live::start(&dir, &format!("{SMALL} --record out.mkv {}", camera.0));
        live.wait_for_frames(frames);
        let film = is_whole(&dir, live.end_by(signal));
        assert!(film.len() as u64 >= frames, "{} frames", film.len());
    }
}

#[test]
fn a_recording_has_as_many_frames_or_seconds_as_were_asked_for() {
    let Some(camera) = Vivid::take() else { return };
    let dir = Dir::new();
    let run = Live::start(&dir, &format!("{SMALL} --frames 20 --record out.mkv {}", camera.0)).end();
    let dropped = !run.1.contains(", 0 dropped");
    let film = is_whole(&dir, run);
    assert!(dropped || film.len() == 20, "{} frames", film.len());

    let run = Live::start(&dir, &format!("{SMALL} --duration 2 -y --record out.mkv {}", camera.0)).end();
    let film = is_whole(&dir, run);
    // The last frame comes less than 2 s after the first; the file's times are rounded to milliseconds.
    let length = film.times[film.len() - 1] - film.times[0];
    assert!((1.5..=2.0).contains(&length), "{length} s");
}

#[test]
fn an_encoder_that_is_far_behind_still_gets_every_frame() {
    let Some(camera) = Vivid::take() else { return };
    let dir = Dir::new();
    let options = "--backend cpu --no-preview --size 320x180 --rate 30 --encoder libx264 --preset veryslow";
    let mut live = Live::start(&dir, &format!("{options} --record out.mkv {}", camera.0));
    live.wait_for_frames(40);
    let (code, said) = live.end_by(Signal::INT);
    assert_eq!(code, Some(0), "{said}");
    let film = Film::read(&dir.path("out.mkv"));
    assert_eq!(film.len(), frames_counted(&said, "out.mkv"), "{said}");
    assert!(film.len() >= 40, "{} frames", film.len());
}

#[test]
fn a_recording_holds_on_to_nothing_when_its_disk_is_full() {
    let Some(camera) = Vivid::take() else { return };
    let small = Path::new("/small");
    if !small.exists() {
        return skip("rig", "no small disk at /small (tests/media/cameras.sh makes one)");
    }
    let dir = Dir::new();
    let line = format!("{SMALL} --record /small/out.mkv {}", camera.0);
    let (code, said) = Live::start(&dir, &line).end();
    assert!(crate::support::programs::program::failed(code), "{code:?}: {said}");
    assert!(said.contains("/small/out.mkv") && said.contains("No space left"), "{said}");
}

#[test]
fn a_camera_that_is_lost_leaves_a_whole_recording_when_the_run_is_ended_before_it_is_back() {
    let Some(camera) = Vivid::take() else { return };
    let dir = Dir::new();
    let mut live = Live::start(&dir, &format!("{SMALL} --record out.mkv {}", camera.0));
    live.wait_for_frames(10);
    camera.set("disconnect=1");
    live.wait_for("waiting for it to come back");
    is_whole(&dir, live.end_by(Signal::INT));
}

#[test]
fn noise_is_removed_from_what_a_camera_gives_and_no_frame_is_lost_or_twice() {
    let Some(camera) = Vivid::take() else { return };
    // Vivid writes a frame number into each frame, so a repeated frame is detected. Live video is denoised with the two
    // or four preceding frames only.
    for options in ["--denoise 1", "--denoise 1 --set denoise-effort=best"] {
        let dir = Dir::new();
        let line =
            format!("--method global --levels 1 --strength 0 {options} --frames 12 --record out.mkv {}", camera.0);
        let said = dir.succeeds(&format!("live {SMALL} {line}")).stderr;
        let film = Film::read(&dir.path("out.mkv"));
        assert_eq!((film.len(), frames_counted(&said, "out.mkv")), (12, 12), "{options}: {said}");
        film.is_in_order();
    }
}

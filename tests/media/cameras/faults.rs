//! Faults that vivid injects: the program goes on, or waits until the camera is back.

use super::film::Film;
use super::{Live, SMALL, Vivid, frames_counted};
use crate::support::programs::program::Dir;
use rustix::process::Signal;

/// Records, sets the control `harm`, waits for the message `says` if there is one, and records on. Returns the
/// recording.
fn film_through(camera: &Vivid, harm: &str, says: Option<&str>) -> Film {
    let dir = Dir::new();
    let mut live = Live::start(&dir, &format!("{SMALL} --record out.mkv {}", camera.0));
    live.wait_for_frames(5);
    camera.set(harm);
    says.iter().for_each(|text| live.wait_for(text));
    live.wait_for_frames(15);
    let (code, said) = live.end_by(Signal::INT);
    assert_eq!(code, Some(0), "{harm}: {said}");
    let film = Film::read(&dir.path("out.mkv"));
    assert_eq!(film.len(), frames_counted(&said, "out.mkv"), "{harm}: {said}");
    // With `says`, the camera was opened again.
    film.is_in_order_with_a_restart_at(if says.is_some() { frame_after_longest_gap(&film) } else { film.len() });
    film
}

/// The index of the frame after the longest gap.
fn frame_after_longest_gap(film: &Film) -> usize {
    let gaps = film.times.windows(2).map(|pair| pair[1] - pair[0]).enumerate();
    gaps.max_by(|(_, one), (_, other)| one.total_cmp(other)).map_or(0, |(frame, _)| frame + 1)
}

/// The longest time between two frames, in seconds.
fn longest_gap(film: &Film) -> f64 {
    film.times.windows(2).map(|pair| pair[1] - pair[0]).fold(0.0, f64::max)
}

#[test]
fn a_camera_that_is_lost_and_comes_back_goes_on_in_the_same_file() {
    let Some(camera) = Vivid::take() else { return };
    for harm in ["disconnect=1", "inject_fatal_streaming_error=1"] {
        let film = film_through(&camera, harm, Some("back after"));
        assert!(longest_gap(&film) > 0.2, "{harm}: {:?}", film.times);
    }
}

#[test]
fn damaged_and_missing_buffers_cost_no_more_than_their_frames() {
    let Some(camera) = Vivid::take() else { return };
    film_through(&camera, "inject_v4l2_buf_flag_error=1", None);
    film_through(&camera, "inject_vidioc_qbuf_error=1", None);
    let film = film_through(&camera, "percentage_of_dropped_buffers=50", None);
    assert!(longest_gap(&film) > 0.19, "{:?}", film.times);
}

#[test]
fn a_camera_that_fails_to_start_is_named_in_a_line() {
    let Some(camera) = Vivid::take() else { return };
    let dir = Dir::new();
    for harm in ["inject_vidioc_reqbufs_error=1", "inject_vidioc_streamon_error=1"] {
        camera.set(harm);
        let run = dir.run(&format!("live -y {SMALL} --frames 3 --record out.mkv {}", camera.0)).fails();
        let errors = run.stderr.lines().filter(|line| line.contains("error:")).count();
        assert_eq!(errors, 1, "{harm}: {}", run.stderr);
        run.says(&[&camera.0]);
        // Once the fault is reset, the camera works again.
        dir.succeeds(&format!("live -y {SMALL} --frames 3 --record out.mkv {}", camera.0));
    }
}

//! What cameras send: every format, some sizes and rates.

use super::film::{Film, difference};
use super::{SMALL, Vivid, frames_counted};
use crate::support::programs::program::Dir;

/// Records three frames unchanged, in this pixel format.
fn film(dir: &Dir, camera: &Vivid, format: &str) -> Film {
    let run = dir.succeeds(&format!(
        "live {SMALL} --levels 1 --strength 0 --pixel-format {format} --frames 3 --record {format}.mkv {}",
        camera.0
    ));
    let run = run.says(&[&format!("320x180, {format}")]);
    let film = Film::read(&dir.path(format!("{format}.mkv")));
    assert_eq!((film.len(), frames_counted(&run.stderr, &format!("{format}.mkv"))), (3, 3), "{format}");
    film
}

/// Requires that the camera shows the same colour bars in each of `formats`.
fn show_the_same(formats: &[&str]) {
    let Some(camera) = Vivid::take() else { return };
    // The text would change from frame to frame.
    camera.set("osd_text_mode=2");
    let dir = Dir::new();
    let bars = film(&dir, &camera, "rgb24");
    for format in formats {
        let film = film(&dir, &camera, format);
        for thumbnail in &film.thumbnails {
            let apart = difference(thumbnail, &bars.thumbnails[0], format.starts_with("gray"));
            // FFmpeg reads gray as full range, while vivid's gray has black at 16.
            assert!(apart <= if format.starts_with("gray") { 28 } else { 12 }, "{format} is {apart} off");
        }
    }
}

#[test]
fn a_camera_shows_the_same_in_every_packed_format() {
    show_the_same(&["yuyv422", "uyvy422", "yvyu422", "bgr24", "gray", "gray16le"]);
}

#[test]
fn a_camera_shows_the_same_in_every_planar_format() {
    show_the_same(&["nv12", "nv21", "yuv420p", "yuv422p"]);
}

#[test]
fn a_rate_and_a_size_that_the_camera_lacks_become_the_nearest() {
    let Some(camera) = Vivid::take() else { return };
    let dir = Dir::new();
    let options = "--backend cpu --no-preview --encoder ffv1 --frames 5 --record out.mkv";
    dir.succeeds(&format!("live {options} --size 333x177 --rate 14 {}", camera.0)).says(&["320x180, yuyv422, 15 fps"]);
    let film = Film::read(&dir.path("out.mkv"));
    assert_eq!((film.len(), film.sizes[0]), (5, (320, 180)));
    // On a busy machine, frame 4 may come late, or earlier frames may be lost.
    let frames = film.times[4] * 15.0;
    assert!(frames > 3.5 && (frames - frames.round()).abs() < 0.4, "{:?}", film.times);
}

//! Virtual cameras (v4l2loopback): the program writes to them and reads from them.

use super::film::Film;
use super::{Live, SMALL, Vivid, frames_counted, nodes};
use crate::support::programs::program::{Dir, Run};
use crate::support::programs::running::Running;
use crate::support::skip::skip;
use rustix::process::Signal;
use std::process::Stdio;

/// The names of the virtual cameras in tests/media/cameras.sh: one that is a camera only while a program writes to it
/// (`exclusive_caps=1`), one that is always a camera, one that FFmpeg feeds, and one for an odd frame size.
pub const LABELS: [&str; 4] = ["histeq-exclusive", "histeq-open", "histeq-fed", "histeq-odd"];

/// The virtual camera of this name; without one, `None`, and a note.
fn loopback(label: &str) -> Option<String> {
    let found = nodes(|name| name == label).into_iter().next();
    if found.is_none() {
        skip("loopback", &format!("no virtual camera called {label} (tests/media/cameras.sh makes one)"));
    }
    found
}

/// Starts FFmpeg's program, as a reader or a feeder.
fn ffmpeg(dir: &Dir, line: &str) -> Running {
    let mut command = dir.other_command("ffmpeg", &format!("-hide_banner -nostdin -v error -y {line}"));
    Running::start(command.stderr(Stdio::inherit()))
}

/// Two readers at once, and one after them: each gets frames of the recording, whole and in order.
fn readers_get_what_is_recorded(label: &str) {
    let (Some(device), Some(camera)) = (loopback(label), Vivid::take()) else { return };
    let dir = Dir::new();
    let line = format!("{SMALL} --record out.mkv --loopback {device} {}", camera.0);
    let mut live = Live::start(&dir, &line);
    live.wait_for_frames(1);
    let read = |file: &str| {
        ffmpeg(&dir, &format!("-f v4l2 -fpsprobesize 0 -i {device} -frames:v 5 -pix_fmt yuv422p -c:v ffv1 {file}"))
    };
    let mut together = [read("a.mkv"), read("b.mkv")];
    for reader in &mut together {
        assert_eq!(reader.ends_within(super::PATIENCE), Some(0), "{device}");
    }
    assert_eq!(read("c.mkv").ends_within(super::PATIENCE), Some(0), "{device}");
    let (code, said) = live.end_by(Signal::INT);
    assert_eq!(code, Some(0), "{said}");
    let recorded = Film::read(&dir.path("out.mkv"));
    assert_eq!(recorded.len(), frames_counted(&said, "out.mkv"), "{said}");
    for file in ["a.mkv", "b.mkv", "c.mkv"] {
        let seen = Film::read(&dir.path(file));
        assert_eq!(seen.len(), 5, "{file}");
        let place = |hash| recorded.hashes.iter().position(|recorded| recorded == hash);
        let places: Vec<_> = seen.hashes.iter().map(place).collect();
        assert!(places.iter().all(Option::is_some), "{file} has pictures that were never recorded: {places:?}");
        assert!(places.is_sorted(), "{file}: {places:?}");
    }
    // After other programs have read from the device, a second run can write to it.
    let line = format!("-d {device} --info");
    Run::from_command(&mut dir.other_command("v4l2-ctl", &line), &line).exits_with(0);
    dir.succeeds(&format!("live {SMALL} --frames 3 --loopback {device} {}", camera.0));
}

#[test]
fn readers_of_an_exclusive_virtual_camera_get_what_is_recorded() {
    readers_get_what_is_recorded(LABELS[0]);
}

#[test]
fn readers_of_an_open_virtual_camera_get_what_is_recorded() {
    readers_get_what_is_recorded(LABELS[1]);
}

#[test]
fn pictures_of_an_odd_size_reach_readers_of_a_virtual_camera_unsheared() {
    let Some(device) = loopback(LABELS[3]) else { return };
    let dir = Dir::new();
    // The left and the right half differ, so skewed rows would be visible.
    let bars = "color=gray:s=67x33:r=10,geq=lum='if(lt(X\\,33)\\,60\\,200)':cb=128:cr=128,realtime";
    let options = "--backend cpu --no-preview --levels 1 --strength 0";
    let mut live = Live::start(&dir, &format!("{options} --loopback {device} -f lavfi {bars}"));
    live.wait_for_frames(1);
    let read = format!("-f v4l2 -fpsprobesize 0 -i {device} -frames:v 2 -pix_fmt gray -f rawvideo seen.raw");
    assert_eq!(ffmpeg(&dir, &read).ends_within(super::PATIENCE), Some(0));
    let (code, said) = live.end_by(Signal::INT);
    assert_eq!(code, Some(0), "{said}");
    let seen = dir.read("seen.raw");
    assert_eq!(seen.len(), 2 * 66 * 32);
    for row in seen.chunks(66) {
        assert!(row[5] < 100 && row[60] > 150, "{row:?}");
    }
}

/// Feeds a virtual camera with different frames of this size. The driver overwrites its oldest buffer even while it is
/// read: with four buffers at 4 frames/s, a reader on an emulated machine has a second.
fn feed(dir: &Dir, device: &str, size: &str) -> Running {
    ffmpeg(dir, &format!("-re -f lavfi -i testsrc2=s={size}:r=4 -pix_fmt yuyv422 -f v4l2 {device}"))
}

#[test]
fn a_camera_of_four_buffers_and_an_odd_size_may_come_back_with_another_size() {
    let Some(device) = loopback(LABELS[2]) else { return };
    let dir = Dir::new();
    let mut feeder = feed(&dir, &device, "322x178");
    // The device accepts frames at once, but becomes a camera only with the first frame.
    feeder.wait_until_it_listens();
    let options = "--backend cpu --no-preview --levels 1 --strength 0 --encoder ffv1";
    let mut live = Live::start(&dir, &format!("{options} --record out.mkv {device}"));
    live.wait_for_frames(20);
    feeder.signal(Signal::KILL);
    assert_eq!(feeder.ends_within(super::PATIENCE), None);
    live.wait_for("waiting for it to come back");
    let _feeder = feed(&dir, &device, "160x90");
    live.wait_for("back after");
    live.wait_for_frames(10);
    let (code, said) = live.end_by(Signal::INT);
    assert_eq!(code, Some(0), "{said}");
    let film = Film::read(&dir.path("out.mkv"));
    assert_eq!(film.len(), frames_counted(&said, "out.mkv"), "{said}");
    film.is_in_order();
    assert!(film.sizes.iter().all(|&size| size == (322, 178)), "{:?}", film.sizes);
}

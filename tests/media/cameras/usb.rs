//! A USB webcam that is plugged in and unplugged.

use super::film::Film;
use super::usb_webcam::{NAME, RATE, SIZE, UsbWebcam, has_ports};
use super::{Live, PATIENCE, frames_counted, nodes};
use crate::support::programs::program::Dir;
use crate::support::skip::skip;
use rustix::process::Signal;
use std::time::{Duration, Instant};

/// Waits for the device node of a webcam, which is unplugged when this function returns.
#[track_caller]
fn node_of(_webcam: UsbWebcam) -> String {
    let begin = Instant::now();
    loop {
        // A webcam has two nodes, the second for metadata.
        if let Some(node) = nodes(|name| name.starts_with(NAME)).first() {
            return node.clone();
        }
        assert!(begin.elapsed() < PATIENCE, "the webcam is not found");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A JPEG frame for the webcam to send.
fn jpeg(dir: &Dir) -> Vec<u8> {
    let size = format!("{}x{}", SIZE.0, SIZE.1);
    dir.ffmpeg(&format!("-f lavfi -i testsrc2=s={size} -frames:v 1 -pix_fmt yuvj422p picture.jpg"));
    dir.read("picture.jpg")
}

#[test]
fn a_webcam_may_be_plugged_in_late_and_pulled_out_and_goes_on_in_the_same_file() {
    if !has_ports() {
        return skip("usbip", "no port for a USB device that is none (sudo modprobe -a vhci-hcd uvcvideo)");
    }
    let dir = Dir::new();
    let jpeg = jpeg(&dir);
    let node = node_of(UsbWebcam::plug(0, &jpeg));
    for (format, file) in [("yuyv422", "raw.mkv"), ("mjpeg", "jpeg.mkv")] {
        let options = "--backend cpu --no-preview --encoder ffv1 --levels 1 --strength 0";
        let mut live = Live::start(&dir, &format!("{options} --wait --pixel-format {format} --record {file} {node}"));
        live.wait_for("waiting for it");
        let webcam = UsbWebcam::plug(0, &jpeg);
        live.wait_for_frames(10);
        drop(webcam);
        let gone = Instant::now();
        live.wait_for("waiting for it to come back");
        let webcam = UsbWebcam::plug(0, &jpeg);
        let away = gone.elapsed();
        live.wait_for("back after");
        live.wait_for_frames(10);
        let (code, said) = live.end_by(Signal::INT);
        drop(webcam);
        assert_eq!(code, Some(0), "{said}");
        let film = Film::read(&dir.path(file));
        assert_eq!(film.len(), frames_counted(&said, file), "{said}");
        let gaps = film.times.windows(2).map(|pair| pair[1] - pair[0]);
        let longest = gaps.fold(0.0, f64::max);
        let all_of_it = gone.elapsed().as_secs_f64();
        assert!(longest >= away.as_secs_f64() - 2.0 / f64::from(RATE) && longest < all_of_it, "{longest} s: {said}");
        for (thumbnail, next) in film.thumbnails.iter().zip(&film.thumbnails[1..]) {
            // Each raw frame is uniformly gray, in its own shade; all MJPEG frames are equal.
            let is_even = |picture: &[u8]| picture.iter().all(|value| value.abs_diff(picture[0]) <= 2);
            let is_right = if format == "mjpeg" { thumbnail == next } else { is_even(thumbnail) && thumbnail != next };
            assert!(is_right, "{format}: {thumbnail:?}");
        }
    }
}

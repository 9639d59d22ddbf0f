//! A microphone in addition to a camera: ALSA's loopback driver, which records what is played to it.

use super::film::Film;
use super::{Live, SMALL, Vivid, frames_counted};
use crate::support::programs::program::Dir;
use crate::support::programs::running::Running;
use crate::support::skip::skip;
use rustix::process::Signal;
use std::process::Stdio;

#[test]
fn a_microphone_is_recorded_with_a_camera_for_as_long_as_that_films() {
    let cards = std::fs::read_to_string("/proc/asound/cards").unwrap_or_default();
    if !cards.contains("Loopback") {
        skip("aloop", "the sound card that plays to itself is not loaded (sudo modprobe snd-aloop)");
        return;
    }
    let Some(camera) = Vivid::take() else { return };
    let dir = Dir::new();
    let tone = "-v error -nostdin -re -f lavfi -i sine=440:r=48000 -ac 2 -c:a pcm_s16le -f alsa hw:Loopback,0,0";
    let mut player = dir.other_command("ffmpeg", tone);
    let player = Running::start(player.stderr(Stdio::inherit()));
    let line = format!("{SMALL} --audio hw:Loopback,1,0 --record out.mkv {}", camera.0);
    let mut live = Live::start(&dir, &line);
    live.wait_for_frames(60);
    let (code, said) = live.end_by(Signal::INT);
    drop(player);
    assert_eq!(code, Some(0), "{said}");
    let film = Film::read(&dir.path("out.mkv"));
    assert_eq!(film.len(), frames_counted(&said, "out.mkv"), "{said}");
    let sound = dir.ffmpeg("-i out.mkv -map 0:a -ac 1 -ar 8000 -af aresample=async=1:first_pts=0 -f f32le -").stdout;
    let loud = |samples: &[u8]| {
        let sample = |bytes: &[u8]| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]).abs();
        samples.chunks_exact(4).map(sample).fold(0.0, f32::max) > 0.02
    };
    // Loudness in blocks of a tenth of a second: 800 samples at 8000 Hz.
    let tenths: Vec<bool> = sound.chunks(800 * 4).map(loud).collect();
    let length = film.times[film.len() - 1] - film.times[0];
    assert!((tenths.len() as f64 / 10.0 - length).abs() < 1.0, "{} tenths of sound in {length} s", tenths.len());
    let heard = tenths.iter().filter(|&&loud| loud).count();
    assert!(heard * 10 > tenths.len() * 8, "the tone is heard in {heard} of {} tenths", tenths.len());
}

#[test]
fn a_microphone_that_is_not_there_is_named_with_the_way_out() {
    let dir = Dir::new();
    let camera = "-f lavfi testsrc2=s=64x48:r=10,realtime";
    let run = dir.run(&format!("live --no-preview --backend cpu --audio alsa:hw:99 --record out.mkv {camera}"));
    if run.stderr.contains("this FFmpeg cannot record from alsa") {
        return skip("alsa", "FFmpeg was built without it");
    }
    run.fails().says(&["alsa:hw:99", "histeq-video devices"]);
}

//! Sound of live video is recorded in sync with it, even after dropped frames, a lost sender, or re-encoding.

use super::{Beside, wait_for_listener};
use crate::support::media::reader::{encoder_is_here, list, seconds};
use crate::support::programs::program::Dir;
use std::net::UdpSocket;

/// A clip that flashes and beeps together at each whole second from 1 on; `length` is in seconds.
fn clapper(dir: &Dir, name: &str, length: u32, codecs: &str) {
    let on = |clock: &str| format!("lt(mod({clock}\\,1)\\,0.12)*gte({clock}\\,1)");
    dir.ffmpeg(&format!(
        "-f lavfi -i color=black:s=64x48:r=25:d={length},geq=lum='if({}\\,235\\,40)':cb=128:cr=128 -f lavfi -i \
         aevalsrc='sin(6283*t)*{}':s=48000:d={length} {codecs} {name}",
        on("T"),
        on("t")
    ));
}

/// The start of each flash, in seconds.
fn flashes(dir: &Dir, file: &str) -> Vec<f64> {
    let levels = dir.raw(file, "gray");
    let frames = levels.chunks(64 * 48).map(|frame| frame[64 * 24 + 32] > 140);
    let times = dir.frame_times(file);
    onsets(times.into_iter().zip(frames))
}

/// The start of each beep in seconds, on the clock of the video.
fn beeps(dir: &Dir, file: &str) -> Vec<f64> {
    let filter = "aresample=async=1:min_hard_comp=0.005:first_pts=0,aformat=sample_rates=48000:channel_layouts=mono";
    let sound = dir.ffmpeg(&format!("-copyts -i {file} -map 0:a:0 -af {filter} -f f32le -")).stdout;
    let samples = sound.chunks_exact(4).map(|bytes| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
    let loud: Vec<bool> = samples.map(|sample| sample.abs() > 0.2).collect();
    // A millisecond is loud if any sample of it is.
    let milliseconds = loud.chunks(48).enumerate();
    onsets(milliseconds.map(|(index, samples)| (index as f64 / 1e3, samples.iter().any(|&loud| loud))))
}

/// The times at which `true` begins after at least 0.3 seconds of `false`.
fn onsets(states: impl Iterator<Item = (f64, bool)>) -> Vec<f64> {
    let (mut found, mut last) = (Vec::new(), -1.0);
    for (time, _) in states.filter(|(_, on)| *on) {
        if time - last > 0.3 {
            found.push(time);
        }
        last = time;
    }
    found
}

/// Requires at least `at_least` pairs of a flash and a beep within 20 ms of each other. Dropped frames may delay a
/// flash by `dropped` more seconds.
#[track_caller]
fn assert_in_step(dir: &Dir, file: &str, at_least: usize, dropped: f64) {
    let (seen, heard) = (flashes(dir, file), beeps(dir, file));
    let distance = |flash: &f64| heard.iter().map(|beep| beep - flash).min_by(|a, b| a.abs().total_cmp(&b.abs()));
    let apart: Vec<f64> = seen.iter().filter_map(distance).filter(|apart| apart.abs() < 0.45).collect();
    assert!(apart.len() >= at_least, "{file}: {} pairs of {seen:?} and {heard:?}", apart.len());
    let limits = -0.020 - dropped..=0.020;
    assert!(apart.iter().all(|apart| limits.contains(apart)), "{file}: apart by {apart:?}");
}

#[test]
fn the_sound_of_a_file_is_recorded_in_step_with_its_pictures() {
    if !encoder_is_here("what cameras record", "libx264") {
        return;
    }
    let dir = Dir::new();
    clapper(&dir, "pcm.mkv", 5, "-c:v libx264 -g 25 -c:a pcm_s16le");
    clapper(&dir, "aac.ts", 5, "-c:v libx264 -g 25 -c:a aac");
    assert_in_step(&dir, "pcm.mkv", 4, 0.0);
    for (input, output) in [("pcm.mkv", "a.mkv"), ("pcm.mkv", "b.mp4"), ("aac.ts", "c.mp4"), ("aac.ts", "d.ts")] {
        dir.succeeds(&format!("live --backend cpu --no-preview --record {output} {input}"));
        let sound = &list(&dir.probe("-select_streams a -show_streams", output)["streams"]);
        assert_eq!(sound[0]["codec_name"], "aac", "{output}");
        assert_in_step(&dir, output, 4, 0.0);
    }
}

#[test]
fn pictures_that_are_dropped_do_not_shift_sound() {
    if !encoder_is_here("an encoder that is slow", "libvpx-vp9") {
        return;
    }
    let dir = Dir::new();
    clapper(&dir, "in.mkv", 6, "-c:v ffv1 -c:a pcm_s16le");
    // The encoder needs longer for a frame than the frame lasts, and the output accepts only one frame at a time.
    let slow = "--encoder libvpx-vp9 --encoder-option deadline=best --encoder-option cpu-used=0 --bitrate 9M";
    let run = dir
        .succeeds(&format!("live --backend cpu --no-preview {slow} --output-format matroska --output out.mkv in.mkv"));
    let frames = dir.frame_times("out.mkv").len();
    assert!((10..150).contains(&frames) == run.stderr.contains("dropped because"), "{frames} frames: {}", run.stderr);
    assert_in_step(&dir, "out.mkv", 3, 0.4);
}

#[test]
fn sound_may_be_left_out() {
    let dir = Dir::new();
    clapper(&dir, "in.mkv", 2, "-c:v ffv1 -c:a pcm_s16le");
    dir.succeeds("live --backend cpu --no-preview --audio none --encoder mpeg4 --record out.mkv in.mkv");
    assert_eq!(dir.streams("out.mkv").len(), 1);
}

#[test]
fn sound_that_a_file_cannot_hold_is_re_encoded() {
    let dir = Dir::new();
    clapper(&dir, "in.mkv", 4, "-c:v ffv1 -c:a pcm_alaw -ar 8000");
    dir.succeeds("--backend cpu --encoder mpeg4 in.mkv out.mp4").says(&["is re-encoded (aac)"]);
    assert_in_step(&dir, "out.mp4", 3, 0.0);
    dir.run("--backend cpu --strict --encoder mpeg4 in.mkv strict.mp4").fails().says(&["pcm_alaw"]);
}

#[test]
fn a_sender_that_comes_back_brings_its_sound_along_in_step() {
    if !encoder_is_here("what a sender sends", "libx264") {
        return;
    }
    let dir = Dir::new();
    clapper(&dir, "in.ts", 8, "-c:v libx264 -tune zerolatency -g 10 -c:a aac");
    let port = UdpSocket::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a port").port();
    let send = || {
        let line = format!("-v error -nostdin -re -i in.ts -c copy -f mpegts udp://127.0.0.1:{port}?pkt_size=1316");
        Beside::start(&mut dir.other_command("ffmpeg", &line)).expect("ffmpeg runs")
    };
    let live = Beside::live(&dir, &format!("--encoder mpeg4 --record out.mkv udp://127.0.0.1:{port}"));
    wait_for_listener(port);
    let first = send();
    live.until_more_frames(110);
    drop(first);
    live.until_it_says("waiting for it to come back");
    let second = send();
    live.until_it_says("back after");
    live.until_more_frames(110);
    live.interrupt();
    let (code, said) = live.end();
    drop(second);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("back after"), "{said}");
    assert_in_step(&dir, "out.mkv", 5, 0.0);
    let last = dir.packet_times("a:0", "out.mkv").last().copied().unwrap_or_default();
    assert!(seconds(&dir.probe("-show_format", "out.mkv")["format"]["duration"]) - last < 0.5, "sound ends at {last}");
}

#[test]
fn a_recording_is_yuv420p_unless_an_option_says_otherwise() {
    if !encoder_is_here("what cameras record", "libx264") {
        return;
    }
    let dir = Dir::new();
    let camera = "-f lavfi 'testsrc2=s=64x48:r=25:d=0.4,format=yuv422p10,realtime'";
    for (options, expected) in [
        ("", "yuv420p"),
        ("--output-pixel-format keep", "yuv422p10le"),
        ("--strict", "yuv422p10le"),
        ("--output-pixel-format yuv444p", "yuv444p"),
        ("--encoder ffv1", "yuv422p10le"),
    ] {
        dir.succeeds(&format!("live -y --backend cpu --no-preview {options} --record out.mkv {camera}"));
        assert_eq!(dir.streams("out.mkv")[0]["pix_fmt"], expected, "{options}");
    }
    let run = dir.run(&format!("live --no-preview --output-pixel-format p416le --record no.mkv {camera}"));
    run.fails().says(&["does not take pixel format p416le"]);
}

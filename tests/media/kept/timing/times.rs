//! Timestamps of frames and audio packets stay unchanged, up to the resolution of the container.

use crate::media::kept::film;
use crate::support::media::reader::{assert_same_times, encoder_is_here, seconds};
use crate::support::programs::program::Dir;
use serde_json::Value;

/// Matroska counts in milliseconds, and so does the first timestamp in mp4.
const RESOLUTION: f64 = 0.001;

/// Equalizes `input` into each container and compares all timestamps.
///
/// Matroska and transport streams have no negative timestamps, and transport streams start at 1.4 s or later. If
/// necessary, video and audio are shifted together.
#[track_caller]
fn keeps_times(dir: &Dir, input: &str, options: &str, containers: &[&str]) {
    let frames = dir.frame_times(input);
    let packets = dir.packets("a:0", input);
    for container in containers {
        // Packets that the edit list of an mp4 file hides are dropped in containers without edit lists, except those
        // that a decoder needs before the first audible packet.
        let stays = |packet: &&Value| {
            let end = seconds(&packet["pts_time"]) + seconds(&packet["duration_time"]);
            let is_hidden = packet["flags"].as_str().is_some_and(|flags| flags.contains('D'));
            ["mp4", "mov"].contains(container) || !is_hidden || end >= -0.1
        };
        let sound: Vec<f64> = packets.iter().filter(stays).map(|packet| seconds(&packet["pts_time"])).collect();
        let before_zero = -sound.iter().chain(&frames).copied().fold(0.0, f64::min);
        let output = format!("out.{container}");
        dir.succeeds(&format!("--backend cpu {options} -y {input} {output}"));
        let found = dir.frame_times(&output);
        let moved = found[0] - frames[0];
        let (least, most) = match *container {
            // Some versions of FFmpeg write the priming silence of AAC as a delay, so nothing is shifted.
            "mkv" => (0.0, before_zero),
            // With B-frames, decoding is a few frames ahead of display, and the clock of the stream (PCR) has to be
            // ahead of decoding.
            "ts" if frames[0] < 1.2 => (1.4, 1.6 + before_zero),
            "ts" => (before_zero, before_zero),
            _ => (0.0, 0.0),
        };
        assert!(
            (least - RESOLUTION..=most + RESOLUTION).contains(&moved),
            "{input} to {output} {options}: moved by {moved}, not {least} to {most}"
        );
        let expected = |times: &[f64]| times.iter().map(|time| time + moved).collect::<Vec<_>>();
        // `moved` itself has an error of half a unit.
        assert_same_times(&found, &expected(&frames), 2.0 * RESOLUTION);
        assert_same_times(&dir.packet_times("a:0", &output), &expected(&sound), 2.0 * RESOLUTION);
    }
}

#[test]
fn times_of_video_with_b_frames_are_kept() {
    if !encoder_is_here("times of x264's output", "libx264") {
        return;
    }
    let dir = Dir::new();
    for input in ["in.mp4", "in.mkv", "in.ts", "in.mov"] {
        film(&dir, input, "-c:v libx264 -bf 3 -g 12", "-c:a aac");
        keeps_times(&dir, input, "--preset ultrafast", &["mkv", "mp4", "mov", "ts"]);
        keeps_times(&dir, input, "--preset veryfast", &["mkv", "mp4", "ts"]);
    }
}

#[test]
fn opus_stays_beside_the_picture_over_many_copies() {
    if ["libx264", "libvpx", "libopus"].iter().any(|encoder| !encoder_is_here("copies of Opus", encoder)) {
        return;
    }
    let dir = Dir::new();
    let x264 = "libx264 --preset ultrafast";
    for (encoder, containers) in [
        (x264, ["mkv", "mkv"]),
        (x264, ["mp4", "mp4"]),
        (x264, ["mp4", "mkv"]),
        ("libvpx --encoder-option deadline=realtime", ["webm", "webm"]),
    ] {
        let file = |pass: usize| format!("{pass}.{}", containers[pass % 2]);
        let video = encoder.split(' ').next().unwrap_or_default();
        film(&dir, &file(0), &format!("-c:v {video} -bf 0"), "-c:a libopus");
        let offset = |file: &str| dir.packet_times("a:0", file)[0] - dir.frame_times(file)[0];
        let before = offset(&file(0));
        for pass in 1..=10 {
            let (source, target) = (file(pass - 1), file(pass));
            dir.succeeds(&format!("--backend cpu --encoder {encoder} -y {source} {target}"));
            let after = offset(&target);
            assert!((after - before).abs() <= RESOLUTION, "pass {pass} to {target}: {after} s, not {before} s");
        }
    }
}

#[test]
fn frames_that_carry_no_time_follow_each_other_at_the_rate_of_the_stream() {
    if !encoder_is_here("an elementary stream", "libx264") {
        return;
    }
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 20 -pix_fmt yuv420p -c:v libx264 -bf 2 in.h264");
    dir.succeeds("--backend cpu --encoder ffv1 in.h264 out.mkv");
    let times: Vec<f64> = (0..20).map(|frame| f64::from(frame) * 0.04).collect();
    assert_same_times(&dir.frame_times("out.mkv"), &times, 0.001);
}

#[test]
fn a_variable_frame_rate_stays_variable() {
    let dir = Dir::new();
    let vfr = "-vf settb=1/1000,setpts=N*(N+9)/400/TB -frames:v 20 -fps_mode passthrough -enc_time_base 1/1000";
    for input in ["in.mkv", "in.mp4"] {
        film(&dir, input, &format!("{vfr} -c:v mpeg4 -q:v 3"), "-c:a aac");
        keeps_times(&dir, input, "--encoder ffv1", &["mkv"]);
        keeps_times(&dir, input, "--encoder mpeg4", &["mkv", "mp4"]);
        if encoder_is_here("a variable rate with x264", "libx264") {
            keeps_times(&dir, input, "--encoder libx264 --preset veryfast", &["mkv", "mp4", "ts"]);
        }
    }
}

#[test]
fn in_a_container_that_counts_frames_they_keep_in_step_or_the_user_is_told() {
    let dir = Dir::new();
    let every_third_then_all = r"-vf select=not(mod(n\,3))+gt(n\,24) -fps_mode passthrough -c:v ffv1";
    film(&dir, "in.mkv", every_third_then_all, "-c:a pcm_s16le");
    dir.succeeds("--backend cpu --encoder mpeg4 in.mkv out.avi").never_says("come late");
    assert_same_times(&dir.frame_times("out.avi"), &dir.frame_times("in.mkv"), 0.01);
    dir.succeeds("--backend cpu --encoder mpeg2video in.mkv out.ts").never_says("come late");
    // A transport stream is shifted as a whole, because decoding is ahead of display.
    let found = dir.frame_times("out.ts");
    let from_the_first: Vec<f64> = found.iter().map(|time| time - found[0]).collect();
    assert_same_times(&from_the_first, &dir.frame_times("in.mkv"), 0.01);
    let faster_and_faster = "-vf settb=1/1000,setpts=(1000-(50-N)*(50-N)*2/5)/TB/1000 -fps_mode passthrough";
    film(&dir, "in.mkv", &format!("{faster_and_faster} -enc_time_base 1/1000 -c:v ffv1"), "-c:a pcm_s16le");
    dir.succeeds("--backend cpu --encoder mpeg4 -y in.mkv out.mkv").never_says("come late");
    // MPEG-2 supports at most 60 frames/s, and below that only a few fixed rates.
    let late = "come late: timestamps are closer than the output can represent";
    dir.succeeds("--backend cpu --encoder mpeg2video -y in.mkv out.mkv").says(&[late]);
    dir.run("--backend cpu --strict --encoder mpeg2video -y in.mkv out.mkv").fails().says(&[late]);
}

#[test]
fn sound_and_picture_are_in_step_where_frames_are_counted() {
    if !encoder_is_here("frames that are counted", "libx264") {
        return;
    }
    let dir = Dir::new();
    film(&dir, "in.mov", "-c:v libx264 -bf 3 -g 12", "-c:a pcm_s16le");
    for part in ["", "--start 0.5 "] {
        dir.succeeds(&format!("--backend cpu {part}-y in.mov out.avi"));
        assert_eq!(dir.streams("out.avi")[0]["has_b_frames"], 0);
        let (frames, sound) = (dir.frame_times("out.avi"), dir.packet_times("a:0", "out.avi"));
        assert!(frames[0].abs() < 0.001 && sound[0].abs() < 0.001, "{} and {}", frames[0], sound[0]);
    }
}

#[test]
fn what_a_container_cannot_say_of_times_is_told() {
    let dir = Dir::new();
    film(
        &dir,
        "vfr.mkv",
        r"-vf select=not(mod(n\,3))+gt(n\,24) -fps_mode passthrough -c:v mpeg2video",
        "-c:a pcm_s16le",
    );
    dir.succeeds("--backend cpu vfr.mkv out.mxf").says(&["further apart than mxf can say"]);
    film(&dir, "even.mkv", "-c:v mpeg2video", "-c:a pcm_s16le");
    dir.succeeds("--backend cpu --strict -y even.mkv out.mxf");
    dir.ffmpeg("-i even.mkv -itsoffset 0.4 -i even.mkv -map 0:v -map 1:a -c copy late.mkv");
    dir.succeeds("--backend cpu late.mkv out.avi").says(&["stream #1 begins 0.40 s after the picture"]);
    dir.succeeds("--backend cpu --strict -y even.mkv out.avi");
}

#[test]
fn a_start_that_is_not_zero_stays_where_it_is() {
    let dir = Dir::new();
    for input in ["in.mkv", "in.mp4", "in.ts"] {
        film(&dir, input, "-c:v mpeg4 -q:v 3", "-c:a aac -output_ts_offset 1.4");
        keeps_times(&dir, input, "--encoder mpeg4", &["mkv", "mp4"]);
        if encoder_is_here("a late start with x264", "libx264") {
            keeps_times(&dir, input, "--encoder libx264 --preset veryfast", &["mkv", "mp4", "ts"]);
        }
    }
}

#[test]
fn sound_that_starts_before_or_after_the_picture_stays_in_step() {
    let dir = Dir::new();
    for offset in ["-0.3", "0.5"] {
        for input in ["in.mkv", "in.mp4", "in.ts"] {
            dir.ffmpeg(&format!(
                "-f lavfi -i testsrc2=size=96x64:rate=25:duration=1 -itsoffset {offset} -f lavfi -i sine=duration=1 \
                 -map 0 -map 1 -c:v mpeg4 -q:v 3 -c:a aac {input}"
            ));
            keeps_times(&dir, input, "--encoder mpeg4", &["mkv", "mp4"]);
            if encoder_is_here("late and early sound with x264", "libx264") {
                keeps_times(&dir, input, "--encoder libx264 --preset veryfast", &["mkv", "mp4", "ts"]);
            }
        }
    }
}

#[test]
fn an_edit_list_that_hides_the_beginning_is_obeyed() {
    if !encoder_is_here("an edit list", "libx264") {
        return;
    }
    let dir = Dir::new();
    film(&dir, "whole.mp4", "-c:v libx264 -bf 2 -g 25", "-c:a aac");
    // The cut is inside of a GOP: the file contains the frames from the keyframe on, and an edit list says where to
    // begin.
    dir.ffmpeg("-ss 0.6 -i whole.mp4 -map 0 -c copy in.mp4");
    keeps_times(&dir, "in.mp4", "--preset veryfast", &["mkv", "mp4"]);
}

#[test]
fn a_part_begins_at_zero_with_its_sound_in_step() {
    let dir = Dir::new();
    film(&dir, "in.mkv", "-c:v mpeg4 -g 10 -q:v 3", "-c:a pcm_s16le -output_ts_offset 3");
    dir.succeeds("--backend cpu --encoder ffv1 --start 0.8 --duration 0.6 in.mkv out.mkv");
    let times: Vec<f64> = (0..15).map(|frame| f64::from(frame) * 0.04).collect();
    assert_same_times(&dir.frame_times("out.mkv"), &times, 0.001);
    let sound = dir.packet_times("a:0", "out.mkv");
    let (first, last) = (sound[0], sound[sound.len() - 1]);
    assert!((-0.03..0.03).contains(&first), "the sound begins at {first}");
    assert!((0.55..0.61).contains(&last), "its last packet is at {last}");
}

#[test]
fn rates_that_mpeg_2_knows_are_its_rates() {
    let dir = Dir::new();
    for rate in ["15", "25", "30000/1001", "12.5", "100"] {
        dir.ffmpeg(&format!("-f lavfi -i testsrc2=size=96x64:rate={rate} -frames:v 20 -c:v mpeg4 -q:v 3 in.mp4"));
        dir.succeeds("--backend cpu --encoder mpeg2video -y in.mp4 out.ts").never_says("come late");
        let (before, after) = (dir.streams("in.mp4")[0].clone(), dir.streams("out.ts")[0].clone());
        assert_eq!(after["r_frame_rate"], before["r_frame_rate"], "{rate} frames a second");
    }
}

#[test]
fn a_clock_that_begins_hours_in_or_in_1970_begins_at_zero() {
    let dir = Dir::new();
    for (input, video, start) in [
        ("epoch.mkv", "mpeg4", 1_764_364_394),
        ("days.flv", "flv", 1_764_364),
        ("hours.mkv", "mpeg4", 7200),
        ("hours.mp4", "mpeg4", 7200),
    ] {
        film(&dir, input, &format!("-c:v {video} -q:v 3"), &format!("-c:a aac -ar 44100 -output_ts_offset {start}"));
        let before = dir.frame_times(input)[0] - dir.packet_times("a:0", input)[0];
        for output in ["out.mp4", "out.mkv", "out.mov"] {
            dir.succeeds(&format!("--backend cpu --strict --encoder mpeg4 -y {input} {output}"));
            let frames = dir.frame_times(output);
            let (first, last) = (frames[0], frames[frames.len() - 1]);
            assert_eq!(frames.len(), 50, "{input} to {output}");
            assert!((-0.01..0.2).contains(&first), "{input} to {output} begins at {first}");
            assert!((last - first - 1.96).abs() < 0.005, "{input} to {output} lasts {}", last - first);
            let length = seconds(&dir.probe("-show_format", output)["format"]["duration"]);
            assert!((1.9..2.3).contains(&length), "{input} to {output} lasts {length}");
            let after = first - dir.packet_times("a:0", output)[0];
            assert!((after - before).abs() < 0.05, "{input} to {output}: sound is {after} s away, not {before} s");
        }
    }
    // An offset of minutes is kept.
    film(&dir, "minutes.mkv", "-c:v mpeg4 -q:v 3", "-c:a aac -output_ts_offset 600");
    keeps_times(&dir, "minutes.mkv", "--encoder mpeg4", &["mkv", "mp4"]);
}

#[test]
fn avi_with_b_frames_has_as_many_places_as_frames() {
    let dir = Dir::new();
    // The number of index entries of the video.
    let places = |file: &str| -> usize {
        let bytes = dir.read(file);
        let offset = bytes.windows(4).rposition(|word| word == b"idx1").expect("an index");
        bytes[offset + 8..].chunks_exact(16).filter(|entry| entry.starts_with(b"00d")).count()
    };
    for (encoder, options) in [("mpeg4", "-vtag XVID -bf 2 -q:v 3"), ("libx264", "-bf 3")] {
        if !encoder_is_here("AVI with B-frames", encoder) {
            continue;
        }
        film(&dir, "in.avi", &format!("-c:v {encoder} {options}"), "-c:a pcm_s16le");
        assert_eq!(dir.frames("in.avi").len(), 50, "{encoder}");
        for target in ["mpeg4", "ffv1"] {
            dir.succeeds(&format!("--backend cpu --strict --encoder {target} -y in.avi out.avi"));
            let frames = dir.frame_times("out.avi");
            assert_eq!((frames.len(), places("out.avi")), (50, 50), "{encoder} to {target}");
            let sound = dir.packet_times("a:0", "out.avi");
            assert!(frames[0].abs() < 0.001 && sound[0].abs() < 0.001, "{} and {}", frames[0], sound[0]);
        }
        // With `--start`, the output has no empty entries either.
        dir.succeeds("--backend cpu --encoder mpeg4 --start 0.4 -y in.avi out.avi");
        assert_eq!(dir.frames("out.avi").len(), places("out.avi"), "{encoder}");
    }
}

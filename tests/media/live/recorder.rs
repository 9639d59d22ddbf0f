//! Recordings in segments: what is in them together, what they are called, which of them are kept.

use super::Beside;
use crate::support::program::{Dir, usage_error};
use crate::support::skip::skip;
use histeq_media::ffmpeg::FilterGraph;
use rustix::process::Signal;
use std::fs;

/// Frames go through as they are.
const AS_IS: &str = "--no-preview --levels 1 --strength 0 --denoise 0";

/// The names of the segments, in the order in which they were made.
fn segments(dir: &Dir, extension: &str) -> Vec<String> {
    let mut names: Vec<String> = dir.names().into_iter().filter(|name| name.starts_with("s-")).collect();
    names.retain(|name| name.ends_with(extension));
    names.sort();
    names
}

#[test]
fn no_frame_and_no_sound_is_lost_or_twice_between_segments() {
    for (extension, encoder) in [("mkv", "ffv1"), ("mp4", "libx264")] {
        let dir = Dir::new();
        dir.ffmpeg(
            "-f lavfi -i testsrc2=s=64x48:r=10:d=4.5 -f lavfi -i sine=r=48000:d=4.5 -pix_fmt yuv420p -c:v ffv1 -c:a aac \
             in.mkv",
        );
        let name = format!("s-%Y%m%d-%H%M%S.{extension}");
        let encoder = if encoder == "ffv1" { "--encoder ffv1" } else { "--encoder libx264 --crf 0" };
        let run = dir.succeeds(&format!("live --backend cpu {AS_IS} {encoder} --segment 1s --record {name} in.mkv"));
        let all = segments(&dir, extension);
        assert!((4..=7).contains(&all.len()), "{all:?}: {}", run.stderr);
        let frames: Vec<u8> = all.iter().flat_map(|name| dir.raw(name, "yuv420p")).collect();
        assert!(frames == dir.raw("in.mkv", "yuv420p"), "{extension}: other frames than the source has");
        let mut sound = 0;
        for name in &all {
            let (pictures, packets) = (dir.frame_times(name), dir.packet_times("a:0", name));
            assert!(pictures[0].abs() < 0.002, "{name} begins at {}", pictures[0]);
            assert!(packets[0].abs() < 0.05, "the sound of {name} begins at {}", packets[0]);
            assert!(packets.is_sorted(), "{name}: {packets:?}");
            sound += packets.len();
        }
        let (was, lost) = (dir.packet_times("a:0", "in.mkv").len(), "sound is lost or twice");
        // AAC begins with a packet that no player shows; a segment without it is as long.
        assert!((was - 2..=was + 1).contains(&sound), "{extension}: {sound} packets of {was}: {lost}");
        assert!(run.stderr.contains(&format!("45 frames -> {name}")), "{run:?}");
    }
}

#[test]
fn only_recordings_of_this_pattern_go_in_this_run_and_in_later_ones() {
    let dir = Dir::new();
    let source = "-f lavfi 'testsrc2=s=64x48:r=10,realtime'";
    let record = |more: &str| {
        dir.succeeds(&format!("live {AS_IS} --segment 1s --record s-%s.mkv {more} --duration 2.5 {source}"))
    };
    record("");
    let first = segments(&dir, "mkv");
    assert!(first.len() >= 3, "{first:?}");
    // Two files that must stay: one that matches the pattern but was not recorded, and a recording with a new name.
    dir.write("s-1000000000.mkv", b"other");
    fs::rename(dir.path(&first[0]), dir.path("evidence.mkv")).expect("a name");
    record("--keep-size 1");
    let left = segments(&dir, "mkv");
    assert!(left.contains(&"s-1000000000.mkv".to_owned()), "{left:?}");
    assert!(dir.names().contains(&"evidence.mkv".to_owned()));
    assert!(first.iter().all(|name| !left.contains(name)), "{left:?} of {first:?}");
}

#[test]
fn a_recording_that_was_killed_before_its_first_frame_is_no_segment() {
    let dir = Dir::new();
    // The encoder holds frames back for longer than this test takes.
    let line = format!(
        "{AS_IS} --segment 1h --record s-%s.mkv --encoder libx264 --encoder-option rc-lookahead=250 -f lavfi \
         'testsrc2=s=64x48:r=10,realtime'"
    );
    let live = Beside::live(&dir, &line);
    live.until_more_frames(5);
    live.signal(Signal::KILL);
    drop(live);
    assert_eq!(segments(&dir, "mkv").len(), 1);
    dir.succeeds(&format!("live {line} --frames 3"));
    let all = segments(&dir, "mkv");
    assert_eq!(all.len(), 1, "{all:?}");
    assert_eq!(dir.frame_times(&all[0]).len(), 3);
}

#[test]
fn what_cannot_be_cut_into_segments_is_a_usage_error() {
    for (line, said) in [
        ("live --segment 1h", "--record"),
        ("live --keep 7d --record a.mkv", "--segment"),
        ("live --segment 0 --record a-%s.mkv x", "a length of time is needed, like 10m, 1h or 7d"),
        ("live --segment soon --record a-%s.mkv x", "a length of time is needed"),
        ("live --segment 1h --keep-size much --record a-%s.mkv x", "--keep-size is a number of bytes"),
        ("live --segment 1h --record a-%s.m3u8 x", "--segment writes files of video"),
        ("live --segment 1h --record a-%s.mkv x y", "use --config FILE"),
    ] {
        usage_error(line).says(&[said]);
    }
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=s=64x48:r=10:d=0.5 -c:v ffv1 in.mkv");
    for (name, code, said) in [
        ("a.mkv", 2, "segments need the time in their names (as in cam-%Y%m%d-%H%M%S.mkv)"),
        ("nowhere/a-%s.mkv", 4, "there is no folder nowhere (make it first)"),
    ] {
        dir.run(&format!("live {AS_IS} --segment 1h --record {name} in.mkv")).exits_with(code).says(&[said]);
    }
}

#[test]
fn a_live_list_has_a_key_frame_where_each_segment_ends() {
    let dir = Dir::new();
    dir.succeeds(&format!(
        "live {AS_IS} --record s.m3u8 --output-option hls_time=1 --duration 3.5 -f lavfi \
         'testsrc2=s=64x48:r=10,realtime'"
    ));
    let list = String::from_utf8(dir.read("s.m3u8")).expect("a text");
    let lengths: Vec<f64> =
        list.lines().filter_map(|line| line.strip_prefix("#EXTINF:")?.trim_end_matches(',').parse().ok()).collect();
    assert_eq!(lengths.len(), 4, "{list}");
    assert!(lengths[..3].iter().all(|length| (length - 1.0).abs() < 0.15), "{list}");
}

#[test]
fn a_text_with_the_time_is_drawn_into_what_is_recorded() {
    if !FilterGraph::knows("drawtext") {
        return skip("drawtext", "this FFmpeg lacks the filter drawtext");
    }
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i color=gray:s=320x180:r=10:d=0.3 -pix_fmt yuv420p -c:v ffv1 in.mkv");
    let plain = |dir: &Dir, file: &str| dir.raw(file, "gray")[..320 * 180].to_vec();
    dir.succeeds(&format!("live {AS_IS} --encoder ffv1 --osd '%Y it''s [1]: {{50%%}}' --record out.mkv in.mkv"));
    let (before, after) = (plain(&dir, "in.mkv"), plain(&dir, "out.mkv"));
    let differs = |rows: std::ops::Range<usize>| {
        rows.flat_map(|row| row * 320..(row + 1) * 320).filter(|&at| before[at].abs_diff(after[at]) > 40).count()
    };
    assert!(differs(0..30) > 300, "{} pixels of text", differs(0..30));
    assert_eq!(differs(30..180), 0);
}

//! `--start`, `--duration` and `--frames`: frames before and after a part are measured, too, so that its frames are
//! exactly those of the whole.

use crate::support::media::reader::encoder_is_here;
use crate::support::programs::program::{Dir, Run};
use std::ops::Range;

const RATE: usize = 25;
const FRAMES: usize = 120;
const PIXELS: usize = 48 * 32;

fn frame_bytes(format: &str) -> usize {
    if format == "gray" { PIXELS } else { PIXELS * 3 / 2 }
}

/// Three scenes that slowly brighten, with cuts at frames 40 and 80, and a flash in frames 60 and 61. The default
/// window (W + F) has 31 frames.
fn scenes(dir: &Dir, file: &str, options: &str) {
    let level = "40*mod(floor(N/40)*2\\,3)+N/4+if(between(N\\,60\\,61)\\,120\\,0)";
    dir.ffmpeg(&format!(
        "-f lavfi -i nullsrc=size=48x32:rate={RATE},format=gray,geq=lum='20+{level}+mod(X*(1+mod(N\\,5))+Y\\,50)' \
         -frames:v {FRAMES} {options} {file}"
    ));
}

/// Requires that `part` equals the frames of `whole` from `first` to the end.
#[track_caller]
fn assert_same_from(what: &str, first: usize, bytes: usize, whole: &[u8], part: &[u8]) {
    assert_same(what, first..FRAMES, bytes, whole, part);
}

/// Requires that `part` equals these frames of `whole`.
#[track_caller]
fn assert_same(what: &str, frames: Range<usize>, bytes: usize, whole: &[u8], part: &[u8]) {
    assert_eq!((whole.len(), part.len()), (FRAMES * bytes, frames.len() * bytes), "{what}, {frames:?}: bytes");
    let expected = whole.chunks_exact(bytes).skip(frames.start);
    let different = expected.zip(part.chunks_exact(bytes)).position(|(expected, part)| expected != part);
    assert_eq!(different, None, "{what}, {frames:?}: the first frame that differs, counted from the first of them");
}

/// First frames near the beginning, inside of scenes, before, at and after cuts, in the flash and after it.
const STARTS: [usize; 9] = [1, 5, 33, 39, 40, 41, 61, 65, 110];

/// Parts that end before, at and after cuts, in the flash, and within the window before the end.
const PARTS: [Range<usize>; 6] = [0..1, 3..30, 20..40, 38..41, 45..60, 90..117];

/// Compares parts of `input`, read in `format`, with the whole. Each call tries a third of the starts and parts, so
/// that three turns try all. Parts end by `--frames` or by `--duration` in turn, and the next three turns exchange the
/// two. With `HISTEQ_LONG=1`, each call tries all.
#[track_caller]
fn check(dir: &Dir, turn: usize, input: &str, format: &str, options: &str) {
    let is_long = std::env::var_os("HISTEQ_LONG").is_some();
    let step = if is_long { 1 } else { 3 };
    dir.succeeds(&format!("--backend cpu --encoder ffv1 {options} -y {input} whole.mkv"));
    let whole = dir.raw("whole.mkv", format);
    for first in STARTS.into_iter().skip(turn % step).step_by(step) {
        let start = first as f64 / RATE as f64;
        dir.succeeds(&format!("--backend cpu --encoder ffv1 {options} --start {start} -y {input} part.mkv"));
        let part = dir.raw("part.mkv", format);
        assert_same_from(&format!("{input} {options}"), first, frame_bytes(format), &whole, &part);
    }
    for (number, frames) in PARTS.into_iter().skip(turn % step).step_by(step).enumerate() {
        let (start, duration) = (frames.start as f64 / RATE as f64, frames.len() as f64 / RATE as f64);
        let ends = [format!("--frames {}", frames.len()), format!("--duration {duration}")];
        for (_, end) in ends.iter().enumerate().filter(|(which, _)| is_long || *which == (turn / 3 + number) % 2) {
            dir.succeeds(&format!("--backend cpu --encoder ffv1 {options} --start {start} {end} -y {input} part.mkv"));
            let part = dir.raw("part.mkv", format);
            assert_same(&format!("{input} {options} {end}"), frames.clone(), frame_bytes(format), &whole, &part);
        }
    }
}

#[test]
fn a_part_of_a_file_has_the_frames_of_the_whole() {
    let dir = Dir::new();
    scenes(&dir, "in.mkv", "-pix_fmt yuv420p -c:v mpeg4 -q:v 3 -g 15");
    for turn in 0..3 {
        check(&dir, turn, "in.mkv", "yuv420p", "");
    }
    check(&dir, 3, "in.mkv", "yuv420p", "--method clahe --set tiles=4x3");
    check(&dir, 4, "in.mkv", "yuv420p", "--exact");
    check(&dir, 5, "in.mkv", "yuv420p", "--levels 12 --max-gain auto");
    scenes(&dir, "in.avi", "-pix_fmt yuv420p -c:v mjpeg -q:v 3");
    check(&dir, 0, "in.avi", "yuvj420p", "--look night");
    dir.succeeds("--verify --stats s.jsonl --start 2.6 --frames 5 -y in.mkv part.mkv");
    assert_eq!(dir.frames("part.mkv").len(), 5);
    let records = String::from_utf8(dir.read("s.jsonl")).expect("text");
    assert_eq!(records.lines().count(), 5);
    assert!(records.starts_with("{\"frame\":0,\"time\":0.0,\"scene\":0,\"cut\":false"), "{records}");
}

#[test]
fn a_part_of_h264_with_b_frames_and_distant_key_frames_has_the_frames_of_the_whole() {
    if !encoder_is_here("parts of H.264", "libx264") {
        return;
    }
    let files = [
        ("in.mp4", "-g 250 -bf 3"),
        ("open.mp4", "-g 12 -bf 3 -x264-params open-gop=1"),
        ("in.mkv", "-g 12 -bf 3"),
        ("in.ts", "-g 20 -bf 2"),
        // Without timestamps in its packets, the file cannot be seeked.
        ("in.h264", "-g 30 -bf 0"),
    ];
    // These tests run at the end of the suite, so they use all cores.
    std::thread::scope(|scope| {
        for (turn, (file, options)) in files.into_iter().enumerate() {
            scope.spawn(move || {
                let dir = Dir::new();
                scenes(&dir, file, &format!("-pix_fmt yuv420p -c:v libx264 {options}"));
                check(&dir, turn, file, "yuv420p", "");
            });
        }
    });
}

#[test]
fn a_window_counts_frames_also_where_their_times_are_uneven() {
    let dir = Dir::new();
    // Frames are dense at the end: a second there has many more frames than the average rate says.
    scenes(&dir, "even.mkv", "-c:v ffv1");
    let uneven = "-vf settb=1/1000,setpts='if(lt(N\\,60)\\,N*100\\,6000+(N-60)*5)/1000/TB' -fps_mode passthrough";
    dir.ffmpeg(&format!("-i even.mkv {uneven} -enc_time_base 1/1000 -pix_fmt yuv420p -c:v mpeg4 -q:v 3 -g 5 in.mkv"));
    dir.succeeds("--encoder ffv1 in.mkv whole.mkv");
    for (first, start) in [(30, "3"), (64, "6.018"), (100, "6.198")] {
        dir.succeeds(&format!("--encoder ffv1 --start {start} -y in.mkv part.mkv"));
        let (whole, part) = (dir.raw("whole.mkv", "yuv420p"), dir.raw("part.mkv", "yuv420p"));
        assert_same_from("uneven times", first, frame_bytes("yuv420p"), &whole, &part);
    }
}

#[test]
fn a_part_of_raw_frames_has_the_frames_of_the_whole() {
    let dir = Dir::new();
    scenes(&dir, "in.y4m", "-pix_fmt yuv420p");
    check(&dir, 1, "in.y4m", "yuv420p", "");
    scenes(&dir, "in.raw", "-f rawvideo -pix_fmt gray");
    check(&dir, 2, "in.raw", "gray", "-f rawvideo -s 48x32 --pixel-format gray");
}

#[test]
fn a_part_of_a_pipe_has_the_frames_of_the_whole() {
    let dir = Dir::new();
    for (file, options) in [("in.y4m", "-pix_fmt yuv420p"), ("in.mkv", "-pix_fmt yuv420p -c:v mpeg4 -q:v 3 -g 15")] {
        scenes(&dir, file, options);
        let run = |start: &str| {
            let line = format!("--backend cpu {start} --output-format rawvideo - -");
            Run::fed(&mut dir.command(&line), &line, &dir.read(file)).exits_with(0).stdout
        };
        let (whole, part) = (run(""), run("--start 1.8 --frames 30"));
        let frame = frame_bytes("yuv420p");
        assert_eq!(part.len(), 30 * frame, "{file}");
        assert!(part == whole[45 * frame..75 * frame], "{file}");
    }
}

#[test]
fn packets_and_times_of_a_part_stay_what_they_are_without_a_window() {
    let dir = Dir::new();
    dir.ffmpeg(
        "-f lavfi -i testsrc2=size=64x48:rate=25:duration=4 -f lavfi -i sine=duration=4 -c:v mpeg4 -g 10 -q:v 3 \
         -c:a pcm_s16le in.mkv",
    );
    for options in ["--start 2.6", "--start 0.3 --duration 1", "--start 1.5 --frames 10"] {
        dir.succeeds(&format!("--encoder ffv1 --exact {options} -y in.mkv alone.mkv"));
        dir.succeeds(&format!("--encoder ffv1 {options} -y in.mkv warm.mkv"));
        assert_eq!(dir.frame_times("warm.mkv"), dir.frame_times("alone.mkv"), "{options}");
        assert_eq!(dir.packet_times("a:0", "warm.mkv"), dir.packet_times("a:0", "alone.mkv"), "{options}");
        assert_eq!(dir.payload("0:a:0", "warm.mkv"), dir.payload("0:a:0", "alone.mkv"), "{options}");
    }
}

#[test]
fn subtitles_last_no_longer_than_the_part_that_was_asked_for() {
    let dir = Dir::new();
    dir.write("in.srt", b"1\n00:00:00,500 --> 00:00:03,000\nlong\n\n2\n00:00:03,500 --> 00:00:03,800\nshort\n\n");
    dir.ffmpeg(
        "-f lavfi -i testsrc2=size=64x48:rate=25:duration=4 -i in.srt -map 0 -map 1 -c:v mpeg4 -g 10 -c:s srt in.mkv",
    );
    dir.succeeds("--encoder ffv1 --start 2 in.mkv out.mkv");
    assert_eq!(dir.frame_times("out.mkv")[0], 0.0);
    assert_eq!(dir.packet_times("s:0", "out.mkv"), [0.0, 1.5]);
    let lengths: Vec<f64> = dir
        .packets("s:0", "out.mkv")
        .iter()
        .map(|p| crate::support::media::reader::seconds(&p["duration_time"]))
        .collect();
    assert_eq!(lengths, [1.0, 0.3]);
    dir.succeeds("--encoder mpeg4 --duration 1 in.mkv short.mkv");
    dir.succeeds("--encoder mpeg4 --duration 1 in.mkv short.mp4");
    for output in ["short.mkv", "short.mp4"] {
        let ends: Vec<f64> = dir
            .packets("s:0", output)
            .iter()
            .map(|p| {
                crate::support::media::reader::seconds(&p["pts_time"])
                    + crate::support::media::reader::seconds(&p["duration_time"])
            })
            .collect();
        assert!(ends.iter().all(|&end| end < 1.05) && ends.len() <= 3, "{output}: subtitles end at {ends:?}");
    }
}

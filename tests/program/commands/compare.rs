//! `compare`: two videos or images side by side.

use crate::support::media::clips::phone;
use crate::support::media::reader::encoder_is_here;
use crate::support::programs::program::Dir;

/// A lossless video of a single colour.
fn colour(dir: &Dir, file: &str, colour: &str, size: &str, options: &str) {
    dir.ffmpeg(&format!("-f lavfi -i color={colour}:size={size}:rate=25,format=yuv420p {options} -c:v ffv1 {file}"));
}

fn size(dir: &Dir, file: &str) -> (u64, u64) {
    let stream = &dir.streams(file)[0];
    (stream["width"].as_u64().expect("a width"), stream["height"].as_u64().expect("a height"))
}

fn pixel(dir: &Dir, file: &str, (x, y): (usize, usize)) -> [u8; 3] {
    let (width, bytes) = (size(dir, file).0 as usize, dir.raw(file, "rgb24"));
    let index = 3 * (y * width + x);
    [bytes[index], bytes[index + 1], bytes[index + 2]]
}

#[track_caller]
fn assert_near(found: [u8; 3], expected: [u8; 3]) {
    assert!(found.iter().zip(expected).all(|(f, e)| f.abs_diff(e) <= 3), "{found:?} instead of {expected:?}");
}

const RED: [u8; 3] = [255, 0, 0];
const BLUE: [u8; 3] = [0, 0, 255];

#[test]
fn two_videos_stand_side_by_side_in_their_own_colours() {
    let dir = Dir::new();
    colour(&dir, "a.mkv", "red", "320x240", "-frames:v 5");
    colour(&dir, "b.mkv", "blue", "320x240", "-frames:v 5");
    let run = dir.succeeds("compare --encoder ffv1 a.mkv b.mkv out.mkv").says(&["5 frames compared", "out.mkv"]);
    assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    assert_eq!((size(&dir, "out.mkv"), dir.frames("out.mkv").len()), ((640, 240), 5));
    assert_eq!(dir.streams("out.mkv")[0]["pix_fmt"], "yuv420p");
    assert_near(pixel(&dir, "out.mkv", (160, 100)), RED);
    assert_near(pixel(&dir, "out.mkv", (480, 100)), BLUE);
}

#[test]
fn a_split_picture_is_half_of_each() {
    let dir = Dir::new();
    colour(&dir, "a.mkv", "red", "320x240", "-frames:v 2");
    colour(&dir, "b.mkv", "blue", "640x480", "-frames:v 2");
    dir.succeeds("compare --split --encoder ffv1 a.mkv b.mkv out.mkv");
    assert_eq!(size(&dir, "out.mkv"), (320, 240));
    assert_near(pixel(&dir, "out.mkv", (150, 100)), RED);
    assert_near(pixel(&dir, "out.mkv", (170, 100)), BLUE);
}

#[test]
fn b_gets_the_height_of_a_and_odd_sizes_become_even() {
    let dir = Dir::new();
    colour(&dir, "a.mkv", "red", "65x49", "-frames:v 2");
    colour(&dir, "b.mkv", "blue", "200x100", "-frames:v 2");
    dir.succeeds("compare --encoder ffv1 a.mkv b.mkv out.mkv");
    // Both are scaled to the same height: 64x48 and 96x48, or 65x49 and 98x49 where FFmpeg keeps the odd sizes.
    let (width, height) = size(&dir, "a.mkv");
    let beside = (200.0 * height as f64 / 100.0).round() as u64;
    let even = |length: u64| length.next_multiple_of(2);
    assert_eq!(size(&dir, "out.mkv"), (even(width + beside), even(height)));
}

#[test]
fn videos_that_are_to_be_turned_are_turned_before_they_are_compared() {
    if !encoder_is_here("a phone's video", "libx264") {
        return;
    }
    let dir = Dir::new();
    phone(&dir, "a.mp4", "-f lavfi -i color=red:size=320x240:rate=25 -frames:v 3", 90);
    phone(&dir, "b.mp4", "-f lavfi -i color=blue:size=480x360:rate=25 -frames:v 3", 270);
    colour(&dir, "plain.mkv", "blue", "240x320", "-frames:v 3");
    for b in ["b.mp4", "plain.mkv"] {
        dir.succeeds(&format!("compare --encoder libx264 -y a.mp4 {b} out.mp4"));
        assert_eq!(size(&dir, "out.mp4"), (480, 320));
        assert!(!dir.streams("out.mp4")[0].to_string().contains("Display Matrix"), "turned once more");
        assert_near(pixel(&dir, "out.mp4", (120, 100)), RED);
        assert_near(pixel(&dir, "out.mp4", (360, 100)), BLUE);
    }
    dir.succeeds("compare --encoder ffv1 -y plain.mkv a.mp4 out.mkv");
    assert_eq!(size(&dir, "out.mkv"), (480, 320));
    assert_near(pixel(&dir, "out.mkv", (360, 100)), RED);
}

#[test]
fn the_result_is_as_long_as_the_shorter_one() {
    let dir = Dir::new();
    colour(&dir, "a.mkv", "red", "64x48", "-frames:v 50");
    colour(&dir, "b.mkv", "blue", "64x48", "-frames:v 20");
    dir.succeeds("compare --encoder ffv1 a.mkv b.mkv ab.mkv");
    dir.succeeds("compare --encoder ffv1 b.mkv a.mkv ba.mkv");
    assert_eq!((dir.frames("ab.mkv").len(), dir.frames("ba.mkv").len()), (20, 20));
}

#[test]
fn frames_are_paired_by_time() {
    let dir = Dir::new();
    // The luma is a function of the time. `a.mkv` has 50 frames/s; `b.mp4` has 10 frames/s and starts at 3 s.
    let tells = |rate: u32| {
        format!("nullsrc=size=64x48:rate={rate},format=yuv420p,geq=lum='20+floor(T*10+0.001)*20':cb=128:cr=128")
    };
    dir.ffmpeg(&format!("-f lavfi -i {} -t 1 -c:v ffv1 a.mkv", tells(50)));
    dir.ffmpeg(&format!("-f lavfi -i {} -t 1 -c:v mpeg4 -q:v 1 -output_ts_offset 3 b.mp4", tells(10)));
    dir.succeeds("compare --encoder ffv1 a.mkv b.mp4 out.mkv");
    assert_eq!(dir.frames("out.mkv").len(), 50);
    let luma = dir.raw("out.mkv", "gray");
    for (index, frame) in luma.chunks_exact(128 * 48).enumerate() {
        let (a, b) = (frame[128 * 40 + 20], frame[128 * 40 + 100]);
        assert!(a.abs_diff(b) <= 4, "frame {index}: {a} beside {b}");
    }
}

#[test]
fn a_part_is_the_same_part_of_both() {
    let dir = Dir::new();
    let tells = "nullsrc=size=64x48:rate=25,format=yuv420p,geq=lum='20+N*4':cb=128:cr=128";
    dir.ffmpeg(&format!("-f lavfi -i {tells} -frames:v 50 -c:v ffv1 a.mkv"));
    dir.ffmpeg("-i a.mkv -c:v ffv1 -r 50 b.mkv");
    dir.succeeds("compare --start 1 --frames 10 --encoder ffv1 a.mkv b.mkv out.mkv");
    assert_eq!(dir.frames("out.mkv").len(), 10);
    let luma = dir.raw("out.mkv", "gray");
    for frame in luma.chunks_exact(128 * 48) {
        let (a, b) = (frame[128 * 40 + 20], frame[128 * 40 + 100]);
        assert!(a.abs_diff(b) <= 2 && a > 115, "{a} beside {b}");
    }
    dir.succeeds("compare --duration 0.4 --encoder ffv1 a.mkv b.mkv short.mkv");
    assert_eq!(dir.frames("short.mkv").len(), 10);
    dir.succeeds("compare --frames 1 a.mkv b.mkv one.png");
}

#[test]
fn two_images_become_one() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i color=red:size=161x121,format=rgb24 -frames:v 1 -update 1 a.png");
    dir.ffmpeg("-f lavfi -i color=blue:size=161x121,format=rgb24 -frames:v 1 -update 1 b.png");
    dir.succeeds("compare a.png b.png out.png");
    assert_eq!((size(&dir, "out.png"), &dir.streams("out.png")[0]["codec_name"]), ((322, 121), &"png".into()));
    assert_eq!(pixel(&dir, "out.png", (80, 50)), RED);
    assert_eq!(pixel(&dir, "out.png", (240, 50)), BLUE);
}

#[test]
fn grey_and_deep_pictures_can_be_compared() {
    let dir = Dir::new();
    for format in ["gray", "gray10le", "yuv422p10le", "yuv444p", "gbrp"] {
        dir.ffmpeg(&format!("-f lavfi -i testsrc2=size=160x120:rate=25,format={format} -frames:v 2 -c:v ffv1 a.mkv"));
        dir.succeeds("compare -y --encoder ffv1 a.mkv a.mkv out.mkv");
        assert_eq!((size(&dir, "out.mkv"), dir.frames("out.mkv").len()), ((320, 120), 2), "{format}");
    }
}

#[test]
fn the_sound_of_a_is_kept() {
    let dir = Dir::new();
    let sound = "-f lavfi -i sine=duration=1 -c:a flac";
    dir.ffmpeg(&format!("-f lavfi -i testsrc2=size=64x48:rate=25 {sound} -t 1 -c:v ffv1 a.mkv"));
    colour(&dir, "b.mkv", "blue", "64x48", "-frames:v 25");
    dir.succeeds("compare --encoder ffv1 a.mkv b.mkv out.mkv");
    assert_eq!(dir.payload("0:a:0", "out.mkv"), dir.payload("0:a:0", "a.mkv"));
    dir.succeeds("compare --encoder ffv1 b.mkv a.mkv silent.mkv");
    assert_eq!(dir.streams("silent.mkv").len(), 1);
}

#[test]
fn the_curve_between_them_is_drawn_over_the_histogram_of_a() {
    let dir = Dir::new();
    let ramp = "-f lavfi -i nullsrc=size=512x240,format=gray,geq=lum=";
    dir.ffmpeg(&format!("{ramp}X/2 -frames:v 1 -update 1 a.png"));
    dir.ffmpeg(&format!("{ramp}255-X/2 -frames:v 1 -update 1 b.png"));
    let coloured = |line: &str| {
        dir.succeeds(line);
        let pixels = dir.raw("out.png", "rgb24");
        pixels.chunks_exact(3).filter(|pixel| pixel[0] > 200 && pixel[2] < 100).count()
    };
    assert!(coloured("compare a.png b.png out.png") > 100);
    // The curve is not drawn if the second image has another size.
    dir.ffmpeg(&format!("{ramp}X/2 -vf scale=256:120 -frames:v 1 -update 1 b.png"));
    assert_eq!(coloured("compare -y a.png b.png out.png"), 0);
}

#[test]
fn what_cannot_be_compared_is_refused_and_nothing_is_left() {
    let dir = Dir::new();
    colour(&dir, "a.mkv", "red", "64x48", "-frames:v 5");
    dir.write("text.mkv", b"no video");
    let before = dir.files();
    for (line, code, says) in [
        ("compare a.mkv a.mkv", 2, "<OUTPUT>"),
        ("compare - - out.mkv", 2, "stdin"),
        ("compare --start soon a.mkv a.mkv out.mkv", 2, "--start"),
        ("compare --crf 20 --bitrate 1M a.mkv a.mkv out.mkv", 2, "--bitrate"),
        ("compare a.mkv gone.mkv out.mkv", 1, "gone.mkv"),
        ("compare gone.mkv a.mkv out.mkv", 1, "gone.mkv"),
        ("compare a.mkv text.mkv out.mkv", 1, "text.mkv"),
        ("compare a.mkv a.mkv a.mkv", 1, "a.mkv is the input itself"),
        ("compare text.mkv a.mkv a.mkv", 1, "a.mkv is the input itself"),
        ("compare a.mkv a.mkv out.png", 1, "an image holds one frame only"),
        ("compare -n a.mkv a.mkv text.mkv", 3, "text.mkv exists"),
    ] {
        dir.run(line).ends_as(code).says(&[says]);
        assert!(dir.files() == before, "`{line}` changed files: {:?}", dir.names());
    }
}

#[test]
fn one_of_the_two_can_come_through_a_pipe() {
    let dir = Dir::new();
    colour(&dir, "a.mkv", "red", "64x48", "-frames:v 5");
    let bytes = dir.read("a.mkv");
    dir.fed("compare --encoder ffv1 a.mkv - out.mkv", &bytes).exits_with(0);
    assert_eq!(dir.frames("out.mkv").len(), 5);
    let run = dir.succeeds("compare a.mkv a.mkv -");
    assert!(run.stdout.starts_with(b"YUV4MPEG2 W128 H48"));
}

#[test]
fn an_interrupted_comparison_leaves_a_playable_file() {
    if !encoder_is_here("interrupting", "libx264") {
        return;
    }
    let dir = Dir::new();
    let (code, said) =
        crate::program::outputs::interrupt::interrupted(&dir, "compare OPTIONS long.mkv long.mkv out.mkv");
    assert_eq!(code, Some(130), "{said}");
    assert_eq!(dir.names(), ["long.mkv", "out.partial.mkv"]);
    let frames = dir.frames("out.partial.mkv").len();
    assert!((5..2000).contains(&frames), "{frames} frames");
}

#[test]
fn times_that_go_backwards_lose_no_pair() {
    let dir = Dir::new();
    // The second frame's timestamp is before that of the first.
    dir.write("in.gif", include_bytes!("../../data/damaged/backwards.gif"));
    dir.succeeds("compare in.gif in.gif --encoder ffv1 out.mkv").says(&["2 frames compared"]);
}

#[test]
fn videos_without_frames_at_the_same_time_are_an_error() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=0.1 -frames:v 3 -c:v ffv1 slow.mkv");
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -t 7 -c:v ffv1 short.mkv");
    let run = dir.run("compare --start 5 slow.mkv short.mkv --encoder ffv1 out.mkv");
    run.fails().says(&["slow.mkv", "short.mkv", "no two frames are shown at the same time"]);
    assert_eq!(dir.names().len(), 2);
}

#[test]
fn plain_pictures_have_nothing_drawn_over_them() {
    let dir = Dir::new();
    colour(&dir, "a.mkv", "red", "160x120", "-frames:v 2");
    colour(&dir, "b.mkv", "blue", "160x120", "-frames:v 2");
    dir.succeeds("compare --plain --encoder ffv1 a.mkv b.mkv plain.mkv");
    dir.ffmpeg("-i a.mkv -i b.mkv -filter_complex hstack -c:v ffv1 stacked.mkv");
    let [plain, stacked] = ["plain.mkv", "stacked.mkv"].map(|name| dir.raw(name, "yuv420p"));
    let most = plain.iter().zip(&stacked).map(|(a, b)| a.abs_diff(*b)).max();
    // Frames are converted to RGB and back.
    assert!(plain.len() == stacked.len() && most <= Some(2), "{most:?}");
    dir.succeeds("compare --encoder ffv1 a.mkv b.mkv drawn.mkv");
    assert!(dir.raw("drawn.mkv", "yuv420p") != plain);
}

//! Whole files: an independent reader decodes input and output, and independent code computes the expected output from
//! the decoded input.

use crate::support::media::reader::{assert_same_times, encoder_is_here};
use crate::support::media::textbook::{Raw, assert_same_video};
use crate::support::programs::program::Dir;
use crate::support::skip::skip;

/// A moving clip whose levels lie close together, as in videos that need the program.
fn clip(dir: &Dir, file: &str, format: &str, size: (usize, usize), frames: u32, options: &str) {
    let (w, h) = size;
    let dim = "colorlevels=romin=0.25:romax=0.6:gomin=0.25:gomax=0.6:bomin=0.25:bomax=0.6";
    dir.ffmpeg(&format!(
        "-f lavfi -i testsrc2=size={w}x{h}:rate=25,format=gbrp,{dim},format={format} -frames:v {frames} {options} {file}"
    ));
}

/// Equalizes `input` with `--exact` and a lossless codec, and requires the samples and timestamps of the specification.
fn check_exact(dir: &Dir, input: &str, raw: Raw, options: &str) {
    dir.succeeds(&format!("--exact --encoder ffv1 --backend cpu {options} -y {input} exact.mkv"));
    let expected = raw.equalized(&dir.raw(input, raw.format));
    assert_same_video(input, raw, &dir.raw("exact.mkv", raw.format), &expected);
    assert_same_times(&dir.frame_times("exact.mkv"), &dir.frame_times(input), 0.001);
}

#[test]
fn every_yuv_layout_is_equalized_to_the_sample() {
    let dir = Dir::new();
    for format in ["yuv420p", "yuv422p", "yuv444p", "nv12", "yuyv422", "uyvy422", "yuv420p10le", "yuv422p10le"] {
        let raw = Raw { format, size: (64, 48), limited: true };
        clip(&dir, "in.nut", format, raw.size, 5, "-c:v rawvideo");
        check_exact(&dir, "in.nut", raw, "");
    }
}

#[test]
fn every_gray_depth_is_equalized_to_the_sample() {
    let dir = Dir::new();
    for format in ["gray", "gray10le", "gray12le", "gray16le"] {
        let raw = Raw { format, size: (64, 48), limited: false };
        clip(&dir, "in.nut", format, raw.size, 3, "-c:v rawvideo");
        check_exact(&dir, "in.nut", raw, "");
    }
}

#[test]
fn every_rgb_layout_is_equalized_to_the_sample() {
    let dir = Dir::new();
    for format in ["rgb24", "bgr24", "rgba", "bgra", "gbrp", "gbrp10le", "gbrp16le"] {
        let raw = Raw { format, size: (64, 48), limited: false };
        let codec = if format.starts_with("gbrp1") { "ffv1" } else { "rawvideo" };
        let codec = if format == "gbrp" { "utvideo" } else { codec };
        clip(&dir, "in.nut", format, raw.size, 3, &format!("-c:v {codec}"));
        check_exact(&dir, "in.nut", raw, "");
    }
}

#[test]
fn full_range_is_equalized_from_zero_to_the_top() {
    let dir = Dir::new();
    for format in ["yuv420p", "yuv420p10le", "yuv444p12le"] {
        let raw = Raw { format, size: (64, 48), limited: false };
        clip(&dir, "in.mkv", format, raw.size, 3, "-c:v ffv1 -color_range pc");
        check_exact(&dir, "in.mkv", raw, "");
        assert_eq!(dir.streams("exact.mkv")[0]["color_range"], "pc");
    }
    clip(&dir, "in.avi", "yuvj420p", (64, 48), 3, "-c:v mjpeg");
    check_exact(&dir, "in.avi", Raw { format: "yuvj420p", size: (64, 48), limited: false }, "");
}

#[test]
fn odd_and_tiny_sizes_are_equalized_to_the_sample() {
    let dir = Dir::new();
    for size in [(33, 17), (1, 1), (15, 1), (2, 31), (401, 301), (400, 301), (401, 300)] {
        for format in ["yuv420p", "yuv422p10le", "gray16le"] {
            let raw = Raw { format, size, limited: format.starts_with("yuv") };
            let (w, h) = size;
            dir.ffmpeg(&format!(
                "-f lavfi -i testsrc2=size=64x64:rate=25,scale={w}:{h},format={format} -frames:v 2 -c:v rawvideo in.nut"
            ));
            check_exact(&dir, "in.nut", raw, "");
        }
    }
}

#[test]
fn a_file_of_one_frame_is_a_video_like_any_other() {
    let dir = Dir::new();
    clip(&dir, "in.mkv", "yuv420p", (64, 48), 1, "-c:v ffv1");
    check_exact(&dir, "in.mkv", Raw { format: "yuv420p", size: (64, 48), limited: true }, "");
}

#[test]
fn compressed_video_with_b_frames_is_equalized_in_order() {
    let dir = Dir::new();
    for container in ["mp4", "mkv", "ts"] {
        if encoder_is_here("B-frames", "libx264") {
            let input = format!("in.{container}");
            clip(&dir, &input, "yuv420p", (128, 96), 40, "-c:v libx264 -bf 3 -g 12");
            check_exact(&dir, &input, Raw { format: "yuv420p", size: (128, 96), limited: true }, "");
        }
    }
}

#[test]
fn every_backend_gives_the_same_file() {
    let dir = Dir::new();
    clip(&dir, "in.mkv", "yuv420p", (320, 180), 12, "-c:v ffv1");
    let raw = Raw { format: "yuv420p", size: (320, 180), limited: true };
    let expected = raw.equalized(&dir.raw("in.mkv", raw.format));
    // With `--verify`, frames wait for the GPU, so the CPU equalizes none of them.
    for backend in ["auto", "cpu", "cuda", "cuda --verify"] {
        let run = dir.run(&format!("--exact --encoder ffv1 --backend {backend} -y in.mkv out.mkv"));
        if backend.starts_with("cuda")
            && crate::support::programs::program::failed(run.code)
            && run.stderr.contains("use --backend cpu")
        {
            skip("cuda", run.stderr.trim());
            continue;
        }
        run.exits_with(0);
        assert_same_video(backend, raw, &dir.raw("out.mkv", raw.format), &expected);
    }
}

#[test]
fn strength_zero_gives_the_input_back() {
    let dir = Dir::new();
    for format in ["yuv420p", "yuv422p10le", "gray16le", "gbrp16le"] {
        // The clip has samples below black and above white, which limited range keeps.
        dir.ffmpeg(&format!("-f lavfi -i testsrc2=size=64x48,format={format} -frames:v 3 -c:v ffv1 in.mkv"));
        dir.succeeds("--levels 1 --strength 0 --encoder ffv1 -y in.mkv out.mkv");
        assert!(dir.raw("out.mkv", format) == dir.raw("in.mkv", format), "{format} changed");
    }
}

#[test]
fn the_smallest_strength_moves_nothing_by_more_than_a_level() {
    let dir = Dir::new();
    clip(&dir, "in.mkv", "yuv420p", (128, 96), 5, "-c:v ffv1");
    dir.succeeds("--levels 1 --strength 0.004 --encoder ffv1 in.mkv out.mkv");
    let (before, after) = (dir.raw("in.mkv", "yuv420p"), dir.raw("out.mkv", "yuv420p"));
    assert_eq!(before.len(), after.len());
    assert!(before.iter().zip(&after).all(|(before, after)| before.abs_diff(*after) <= 1));
}

#[test]
fn a_part_of_a_video_holds_the_frames_of_that_part() {
    let dir = Dir::new();
    clip(&dir, "in.mkv", "yuv420p", (64, 48), 50, "-c:v mpeg4 -g 12 -q:v 3");
    let raw = Raw { format: "yuv420p", size: (64, 48), limited: true };
    let all = raw.equalized(&dir.raw("in.mkv", raw.format));
    let frame = raw.frame_bytes();
    for (options, first, count) in [
        ("--frames 7", 0, 7),
        ("--duration 0.4", 0, 10),
        ("--start 0.8", 20, 30),
        ("--start 0.8 --duration 0.4", 20, 10),
        ("--start 00:00:01 --frames 3", 25, 3),
        ("--start 0.2 --duration 0.4 --frames 3", 5, 3),
    ] {
        dir.succeeds(&format!("--exact --encoder ffv1 {options} -y in.mkv out.mkv"));
        let expected = &all[first * frame..(first + count) * frame];
        assert_same_video(options, raw, &dir.raw("out.mkv", raw.format), expected);
        let times: Vec<f64> = (0..count).map(|index| index as f64 / 25.0).collect();
        assert_same_times(&dir.frame_times("out.mkv"), &times, 0.001);
    }
}

#[test]
fn a_size_that_changes_is_scaled_to_the_first_one() {
    if !encoder_is_here("a size that changes", "libx264") {
        return;
    }
    let dir = Dir::new();
    clip(&dir, "a.ts", "yuv420p", (64, 48), 5, "-c:v libx264 -qp 10");
    clip(&dir, "b.ts", "yuv420p", (96, 64), 5, "-c:v libx264 -qp 10 -output_ts_offset 0.2");
    let joined = [dir.read("a.ts"), dir.read("b.ts")].concat();
    dir.write("in.ts", &joined);
    let run = dir.succeeds("--exact --encoder ffv1 in.ts out.mkv");
    run.says(&["changes size to 96x64", "scaled to 64x48"]);
    let raw = Raw { format: "yuv420p", size: (64, 48), limited: true };
    let out = dir.raw("out.mkv", raw.format);
    assert_eq!(out.len(), 10 * raw.frame_bytes());
    let first = raw.equalized(&dir.raw("a.ts", raw.format));
    assert_same_video("the frames of the first size", raw, &out[..first.len()], &first);
    dir.run("--strict --encoder ffv1 -y in.ts strict.mkv").fails().says(&["--strict"]);
    assert!(!dir.path("strict.mkv").exists());
}

#[test]
fn what_is_thrown_away_is_not_encoded_first() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25:duration=1 -c:v libx264 in.mkv");
    let run = dir.succeeds("--backend cpu --output-format null in.mkv -");
    assert!(run.stderr.contains("25 frames in "), "{run:?}");
    // Whatever the output's name, no file is written, and an existing file stays.
    let before = dir.read("in.mkv");
    dir.succeeds("--backend cpu -y --output-format null in.mkv other.mkv");
    assert_eq!(dir.names(), ["in.mkv"]);
    dir.write("other.mkv", b"as it was");
    dir.succeeds("--backend cpu -y --output-format null in.mkv other.mkv");
    assert_eq!((dir.read("other.mkv"), dir.read("in.mkv")), (b"as it was".to_vec(), before));
    // The encoder for uncompressed frames has no presets.
    let run = dir.run("--backend cpu --output-format null --preset slow in.mkv -").fails();
    run.says(&["encoder wrapped_avframe has no presets (drop --preset)"]);
}

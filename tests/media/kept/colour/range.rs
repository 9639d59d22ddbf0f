//! Black and white stay black and white, even if the output cannot signal the range of its codes.

use crate::support::media::reader::encoder_is_here;
use crate::support::programs::program::Dir;

/// A lossless ramp from black at the left to white at the right, in the range `tv` or `pc`. If `tagged`, the file
/// signals its range.
fn ramp(dir: &Dir, file: &str, format: &str, range: &str, tagged: bool) {
    let scaled = format!("format=gray,geq=lum=X*255/63,scale=in_range=pc:out_range={range},format={format}");
    let tag = if tagged { format!("-color_range {range}") } else { "-color_range unknown".to_owned() };
    dir.ffmpeg(&format!("-f lavfi -i color=black:size=64x64:rate=25 -frames:v 3 -vf {scaled} {tag} -c:v ffv1 {file}"));
}

/// Requires that FFmpeg shows the same ramp from the file alone.
#[track_caller]
fn assert_ramp(dir: &Dir, file: &str, what: &str) {
    let pixels = dir.raw(file, "rgb24");
    let row = 32 * 64 * 3;
    for x in 0..64 {
        let (found, expected) = (&pixels[row + 3 * x..row + 3 * x + 3], (x * 255 / 63) as u8);
        let near = found.iter().all(|code| code.abs_diff(expected) <= 6);
        assert!(near, "{what}: {file} shows {found:?} in column {x}, not {expected}");
    }
}

#[test]
fn full_range_becomes_limited_with_a_warning_where_the_container_cannot_tell() {
    let dir = Dir::new();
    for format in ["yuv420p", "yuv444p", "yuv422p10le", "bgr0"] {
        ramp(&dir, "in.mkv", format, "pc", format != "bgr0");
        for (encoder, output, says_range) in [
            ("ffv1", "out.mkv", true),
            ("mpeg4", "out.mkv", true),
            ("mpeg4", "out.mp4", true),
            ("mjpeg", "out.avi", true),
            ("libx264", "out.avi", true),
            ("ffv1", "out.avi", false),
            ("mpeg4", "out.avi", false),
            ("mpeg4", "out.mov", false),
            ("mpeg2video", "out.mkv", false),
            ("prores_ks", "out.mov", false),
            ("libvpx", "out.webm", false),
            ("tiff", "out%d.tiff", true),
            ("libwebp", "out%d.webp", true),
            ("mjpeg", "out%d.jpg", true),
            ("png", "out%d.png", true),
        ] {
            if !encoder_is_here("full range", encoder) {
                continue;
            }
            let line = format!("--backend cpu --levels 1 --strength 0 --encoder {encoder} -y in.mkv {output}");
            let run = dir.succeeds(&line);
            let warned = run.stderr.contains("cannot signal full range");
            // The warning is for YUV only: RGB becomes YUV of limited range anyway.
            let becomes_yuv = dir.pixel_format(&output.replace("%d", "1")).contains("yuv");
            let expected = !says_range && becomes_yuv && format != "bgr0";
            assert_eq!(warned, expected, "`{line}` said: {}", run.stderr);
            assert_ramp(&dir, &output.replace("%d", "1"), &format!("{format} by {encoder}"));
            if warned {
                dir.run(&line.replace("--strength", "--strict --strength")).fails();
            }
        }
    }
}

#[test]
fn gray_of_limited_range_is_as_dark_and_as_light_as_the_video() {
    let dir = Dir::new();
    for tagged in [true, false] {
        for format in ["yuv420p", "yuv420p10le", "yuv420p12le"] {
            ramp(&dir, "in.mkv", format, "tv", tagged);
            for (encoder, output) in [
                ("png", "out%d.png"),
                ("mjpeg", "out%d.jpg"),
                ("pgm", "out%d.pgm"),
                ("tiff", "out%d.tiff"),
                ("libwebp", "out%d.webp"),
                ("ffv1", "out.avi"),
                ("libx264", "out.mp4"),
                ("libx264", "out.mkv"),
                ("mpeg4", "out.mkv"),
            ] {
                if !encoder_is_here("gray", encoder) {
                    continue;
                }
                dir.succeeds(&format!(
                    "--backend cpu --levels 1 --strength 0 --set gray --encoder {encoder} -y in.mkv {output}"
                ));
                assert_ramp(&dir, &output.replace("%d", "1"), &format!("{format}, tagged {tagged}, by {encoder}"));
            }
        }
    }
}

#[test]
fn a_range_that_changes_midway_becomes_that_of_the_beginning() {
    if !encoder_is_here("a range that changes", "libx264") {
        return;
    }
    let dir = Dir::new();
    for (format, gray, [black, white]) in [("yuv420p", "gray", [16, 235]), ("yuv420p10le", "gray10le", [64, 940])] {
        for (range, file) in [("tv", "a.ts"), ("pc", "b.ts")] {
            let scaled = format!("format=gray,geq=lum=X*255/63,scale=in_range=pc:out_range={range},format={format}");
            let source = format!("-f lavfi -i color=black:size=64x64:rate=25 -frames:v 12 -vf {scaled}");
            // The clips have no B-frames, because FFmpeg 7 gives reordered frames the range of the next decoded frame.
            dir.ffmpeg(&format!("{source} -color_range {range} -c:v libx264 -crf 1 -bf 0 -y {file}"));
        }
        dir.write("both.ts", &[dir.read("a.ts"), dir.read("b.ts")].concat());
        for (option, format) in [("", format), ("--set gray", gray)] {
            let line = format!("--backend cpu --levels 1 --strength 0 {option} --output-format rawvideo both.ts -");
            let raw = dir.succeeds(&line).stdout;
            let deep = format.ends_with("10le");
            let frame_bytes = 64 * 64 * if option.is_empty() { 3 } else { 2 } / if deep { 1 } else { 2 };
            assert_eq!(raw.len(), 24 * frame_bytes, "{format}");
            for (index, frame) in raw.chunks_exact(frame_bytes).enumerate() {
                let code = |x: usize| match deep {
                    true => u16::from_le_bytes([frame[2 * (32 * 64 + x)], frame[2 * (32 * 64 + x) + 1]]),
                    false => u16::from(frame[32 * 64 + x]),
                };
                let found = [code(0), code(63)];
                let near = found[0].abs_diff(black) <= white / 80 && found[1].abs_diff(white) <= white / 80;
                assert!(near, "frame {index} of {format} goes from {} to {}", found[0], found[1]);
            }
        }
    }
}

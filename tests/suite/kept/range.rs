//! Black stays black and white stays white, also where what is written cannot say which range its codes have.

use crate::program::Dir;
use crate::reader::encoder_is_here;

/// A picture of one colour, losslessly, of the range `tv` or `pc`.
fn plain(dir: &Dir, file: &str, colour: &str, format: &str, range: &str) {
    let scaled = format!("scale=out_range={range},format={format}");
    dir.ffmpeg(&format!(
        "-f lavfi -i color={colour}:size=64x64:rate=25 -frames:v 3 -vf {scaled} -color_range {range} -c:v ffv1 {file}"
    ));
}

/// The red of the first pixel, as a program sees it that knows nothing but the file.
fn seen(dir: &Dir, file: &str) -> u8 {
    dir.raw(file, "rgb24")[0]
}

#[track_caller]
fn assert_seen(dir: &Dir, file: &str, expected: u8, what: &str) {
    let found = seen(dir, file);
    assert!(found.abs_diff(expected) <= 3, "{what}: {file} shows {found}, not {expected}");
}

#[test]
fn full_range_becomes_limited_with_a_warning_where_nobody_could_tell() {
    let dir = Dir::new();
    for (colour, code) in [("white", 255), ("black", 0)] {
        plain(&dir, "in.mkv", colour, "yuv420p", "pc");
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
            ("tiff", "out%d.tiff", false),
            ("libwebp", "out%d.webp", false),
            ("png", "out%d.png", true),
        ] {
            if !encoder_is_here("full range", encoder) {
                continue;
            }
            let line = format!("--backend cpu --strength 0 --encoder {encoder} -y in.mkv {output}");
            let run = dir.succeeds(&line);
            let warned = run.stderr.contains("full range becomes limited");
            assert_eq!(warned, !says_range, "`{line}` said: {}", run.stderr);
            assert_seen(&dir, &output.replace("%d", "1"), code, &format!("{colour} by {encoder}"));
            if !says_range {
                dir.run(&line.replace("--strength", "--strict --strength")).exits_with(1);
            }
        }
    }
}

#[test]
fn gray_of_limited_range_is_as_dark_and_as_light_as_the_video() {
    let dir = Dir::new();
    for (colour, code) in [("white", 255), ("black", 0)] {
        for format in ["yuv420p", "yuv420p10le"] {
            plain(&dir, "in.mkv", colour, format, "tv");
            for (encoder, output) in [
                ("png", "out%d.png"),
                ("mjpeg", "out%d.jpg"),
                ("pgm", "out%d.pgm"),
                ("tiff", "out%d.tiff"),
                ("libwebp", "out%d.webp"),
                ("ffv1", "out.avi"),
                ("libx264", "out.mp4"),
            ] {
                if !encoder_is_here("gray", encoder) {
                    continue;
                }
                dir.succeeds(&format!("--backend cpu --strength 0 --gray --encoder {encoder} -y in.mkv {output}"));
                assert_seen(&dir, &output.replace("%d", "1"), code, &format!("{colour} {format} by {encoder}"));
            }
        }
    }
}

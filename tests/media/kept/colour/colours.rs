//! The matrix of each output, as readers assume it, and warnings on colours and pixels that an output cannot signal.

use crate::support::media::reader::encoder_is_here;
use crate::support::programs::program::Dir;

/// The RGB value of all pixels in these clips.
const COLOUR: [u8; 3] = [0xc8, 0x3c, 0x28];

/// The largest error, in levels, of two conversions in 8 bits and a lossy encoder. A wrong matrix gives 12 levels.
const NEAR: f64 = 4.0;

/// The weights of red and blue in luma, by the standard for SD and by that for HD.
const BT601: [f64; 2] = [0.299, 0.114];
const BT709: [f64; 2] = [0.2126, 0.0722];

/// A clip of `COLOUR`, encoded after this filter.
fn clip(dir: &Dir, file: &str, size: &str, filter: &str, options: &str) {
    let source = format!("color=0xc83c28:size={size}:rate=25,format=gbrp");
    dir.ffmpeg(&format!("-f lavfi -i {source}{filter} -frames:v 2 {options} {file}"));
}

/// A YUV clip with this matrix, without a matrix tag.
fn untagged(dir: &Dir, file: &str, size: &str, matrix: &str) {
    clip(dir, file, size, &format!(",scale=out_color_matrix={matrix}:out_range=tv,format=yuv420p"), "-c:v ffv1");
}

/// An HD clip with a matrix tag.
fn tagged(dir: &Dir, file: &str) {
    let filter = ",scale=out_color_matrix=bt709:out_range=tv,format=yuv420p,setparams=colorspace=bt709:range=tv";
    clip(dir, file, "1280x720", filter, "-colorspace bt709 -color_range tv -c:v ffv1");
}

/// The largest difference, in levels, between a pixel that FFmpeg shows and `COLOUR`.
fn off(dir: &Dir, file: &str) -> f64 {
    let pixels = dir.raw(file, "rgb24");
    let apart = pixels.chunks_exact(3).flat_map(|pixel| pixel.iter().zip(COLOUR).map(|(is, was)| is.abs_diff(was)));
    apart.max().map_or(f64::INFINITY, f64::from)
}

/// Like `off`, for the first pixel, converted by this matrix. `is_full`: full range, as in JPEG.
fn off_by(dir: &Dir, file: &str, [red, blue]: [f64; 2], is_full: bool) -> f64 {
    let samples = dir.raw(file, if is_full { "yuvj444p" } else { "yuv444p" });
    let (width, height) = (&dir.streams(file)[0]["width"], &dir.streams(file)[0]["height"]);
    let plane = (width.as_u64().expect("columns") * height.as_u64().expect("rows")) as usize;
    let [y, u, v] = [0, plane, 2 * plane].map(|index| f64::from(samples[index]));
    let (y, share) = if is_full { (y, 1.0) } else { ((y - 16.0) * 255.0 / 219.0, 255.0 / 224.0) };
    let r = y + 2.0 * (1.0 - red) * (v - 128.0) * share;
    let b = y + 2.0 * (1.0 - blue) * (u - 128.0) * share;
    let g = (y - red * r - blue * b) / (1.0 - red - blue);
    [r, g, b].iter().zip(COLOUR).map(|(is, was)| (is - f64::from(was)).abs()).fold(0.0, f64::max)
}

#[test]
fn images_and_motion_jpeg_have_the_colours_of_photos_and_of_video() {
    let dir = Dir::new();
    tagged(&dir, "tagged.mkv");
    untagged(&dir, "hd.avi", "1280x720", "bt709");
    untagged(&dir, "wide.avi", "1280x544", "bt709");
    untagged(&dir, "sd.avi", "720x576", "bt601");
    let mut inputs = vec!["tagged.mkv", "hd.avi", "wide.avi", "sd.avi"];
    for (photo, size) in [("large.png", "1280x720"), ("large.bmp", "1280x720"), ("small.png", "320x240")] {
        clip(&dir, photo, size, "", "-frames:v 1 -update 1");
        inputs.push(photo);
    }
    for input in inputs {
        for (output, encoder) in [
            ("out.jpg", "mjpeg"),
            ("out.webp", "libwebp"),
            ("out.tif", "tiff"),
            ("out.png", "png"),
            ("out.bmp", "bmp"),
            ("out.avi", "mjpeg"),
            ("out.mov", "mjpeg"),
        ] {
            if !encoder_is_here("colours of images", encoder) {
                continue;
            }
            let frames = if output.ends_with("avi") || output.ends_with("mov") { "" } else { "--frames 1" };
            let line = format!("--backend cpu --strict --strength 0 {frames} --encoder {encoder} -y {input} {output}");
            dir.succeeds(&line);
            assert!(off(&dir, output) <= NEAR, "{input} to {output}: {} levels off", off(&dir, output));
            // The colour as a reader shows it that uses the format's default matrix and ignores tags.
            let by_format = match dir.pixel_format(output) {
                format if !format.starts_with("yuv") => 0.0,
                _ => off_by(&dir, output, BT601, encoder == "mjpeg"),
            };
            assert!(by_format <= NEAR, "{input} to {output}: {by_format} levels off by the format");
        }
    }
}

#[test]
fn hd_video_stays_bt709_and_a_photo_in_jpeg_bt601() {
    let dir = Dir::new();
    tagged(&dir, "tagged.mkv");
    untagged(&dir, "hd.avi", "1280x720", "bt709");
    clip(&dir, "photo.jpg", "1280x720", ",format=yuvj420p", "-frames:v 1 -q:v 2 -update 1");
    for input in ["tagged.mkv", "hd.avi"] {
        dir.succeeds(&format!("--backend cpu --strict --strength 0 --encoder ffv1 -y {input} out.mkv"));
        assert_eq!(dir.streams("out.mkv")[0]["color_space"], "bt709", "{input}");
        assert!(dir.raw("out.mkv", "yuv420p") == dir.raw(input, "yuv420p"), "{input} was converted");
        if encoder_is_here("video for players", "libx264") {
            dir.succeeds(&format!("--backend cpu --strict --strength 0 --encoder libx264 -y {input} out.mp4"));
            assert_eq!(dir.streams("out.mp4")[0]["color_space"], "bt709", "{input}");
            assert!(off(&dir, "out.mp4") <= NEAR, "{input}: {} levels off", off(&dir, "out.mp4"));
        }
    }
    let said = dir.succeeds("--backend cpu --strict --strength 0 -y photo.jpg out.jpg");
    said.never_says("becomes").never_says("convert");
    let [before, after] = ["photo.jpg", "out.jpg"].map(|file| dir.raw(file, "yuvj420p"));
    assert!(before.iter().zip(&after).all(|(before, after)| before.abs_diff(*after) <= 1), "it was converted");
}

#[test]
fn a_matrix_is_taken_by_the_size_that_was_decoded() {
    let dir = Dir::new();
    untagged(&dir, "hd.avi", "1280x720", "bt709");
    untagged(&dir, "sd.avi", "720x576", "bt601");
    dir.write("same.cube", b"LUT_3D_SIZE 2\n0 0 0\n1 0 0\n0 1 0\n1 1 0\n0 0 1\n1 0 1\n0 1 1\n1 1 1\n");
    for (input, options) in [
        ("sd.avi", "--filter transpose"),
        ("sd.avi", "--filter scale=1440:1152"),
        ("sd.avi", "--lut same.cube"),
        ("hd.avi", "--filter scale=320:180"),
        ("hd.avi", "--lut same.cube"),
        ("hd.avi", "--sandbox off"),
    ] {
        for output in ["out.png", "out.jpg"] {
            dir.succeeds(&format!("--backend cpu --strict --strength 0 --frames 1 {options} -y {input} {output}"));
            assert!(off(&dir, output) <= NEAR, "{input} {options} to {output}: {} levels off", off(&dir, output));
        }
    }
    // Raw frames have no matrix tag either.
    let raw = &dir.raw("hd.avi", "yuv420p")[..1280 * 720 * 3 / 2];
    let described = "-f rawvideo -s 1280x720 --pixel-format yuv420p";
    dir.fed(&format!("--backend cpu --strict --strength 0 --frames 1 {described} - raw.png"), raw).exits_with(0);
    assert!(off(&dir, "raw.png") <= NEAR, "raw frames: {} levels off", off(&dir, "raw.png"));
}

#[test]
fn a_matrix_that_is_not_said_is_the_usual_one_or_named() {
    let dir = Dir::new();
    // Motion JPEG is BT.601 even in HD.
    clip(&dir, "camera.avi", "1280x720", ",format=yuvj420p", "-c:v mjpeg -q:v 2");
    dir.succeeds("--backend cpu --strength 0 --encoder mpeg4 -y camera.avi out.avi");
    let off_as_hd = off_by(&dir, "out.avi", BT709, false);
    assert!(off_as_hd <= NEAR, "{off_as_hd} levels off");
    dir.succeeds("--backend cpu --strict --strength 0 --encoder mpeg4 -y camera.avi out.mp4");
    assert!(off(&dir, "out.mp4") <= NEAR, "{} levels off", off(&dir, "out.mp4"));
    // A lossless output is not converted, so there is a warning about the missing matrix tag.
    let filter = ",scale=out_color_matrix=bt709:out_range=tv,format=yuv420p,setparams=colorspace=bt709:range=tv";
    clip(&dir, "small.mkv", "320x240", filter, "-colorspace bt709 -color_range tv -c:v ffv1");
    let line = "--strength 0 --encoder ffv1 -y small.mkv out.avi";
    dir.succeeds(&format!("--backend cpu {line}")).says(&["warning", "does not say", "matrix coefficients (bt709)"]);
    assert!(dir.raw("out.avi", "yuv420p") == dir.raw("small.mkv", "yuv420p"), "it was converted");
    dir.run(&format!("--backend cpu --strict {line}")).fails().says(&["matrix coefficients"]);
    dir.succeeds("--backend cpu --strict --strength 0 --encoder ffv1 -y small.mkv out.mkv");
}

#[test]
fn colours_that_an_output_cannot_say_are_named() {
    let dir = Dir::new();
    for (input, transfer, primaries, matrix) in [
        ("pq.mkv", "smpte2084", "bt2020", "bt2020nc"),
        ("hlg.mkv", "arib-std-b67", "bt2020", "bt2020nc"),
        ("p3.mkv", "iec61966-2-1", "smpte432", "bt709"),
    ] {
        // This is the only name of BT.2020 that FFmpeg 5 and 9 share.
        let filter_matrix = matrix.trim_end_matches("nc");
        let filter = format!(
            ",scale=out_color_matrix={filter_matrix}:out_range=tv,format=yuv420p,\
             setparams=range=tv:colorspace={matrix}:color_trc={transfer}:color_primaries={primaries}"
        );
        let tags = format!("-colorspace {matrix} -color_trc {transfer} -color_primaries {primaries} -color_range tv");
        clip(&dir, input, "160x120", &filter, &format!("{tags} -c:v ffv1"));
        let is_hdr = input != "p3.mkv";
        for (output, encoder) in [
            ("out.png", "png"),
            ("out.bmp", "bmp"),
            ("out.tif", "tiff"),
            ("out.jpg", "mjpeg"),
            ("out.webp", "libwebp"),
            ("out.jxl", "libjxl"),
            ("out.avif", "libaom-av1"),
            ("out.avi", "ffv1"),
            ("out.nut", "ffv1"),
            ("out.mkv", "ffv1"),
            ("out.ivf", "libvpx-vp9"),
        ] {
            if !encoder_is_here("colours that are named", encoder) {
                continue;
            }
            let line = format!("--strength 0 --frames 1 --encoder {encoder} -y {input} {output}");
            let run = dir.succeeds(&format!("--backend cpu {line}"));
            let kept = dir.streams(output)[0]["color_primaries"] == primaries;
            let words: [&str; 2] = ["does not say", &format!("primaries ({primaries})")];
            let is_named = words.iter().all(|word| run.stderr.contains(word));
            assert!(kept != is_named, "{input} to {output}, kept: {kept}: {}", run.stderr);
            assert_eq!(run.stderr.contains(&format!("({transfer})")), is_named && is_hdr, "{input} to {output}");
            assert_eq!(run.stderr.contains("stays HDR"), kept && is_hdr, "{input} to {output}");
            let strict = dir.run(&format!("--backend cpu --strict {line}"));
            assert_eq!(strict.code == Some(0), kept, "{input} to {output}: {}", strict.stderr);
        }
    }
}

#[test]
fn a_shape_of_pixels_that_an_output_cannot_say_is_named() {
    let dir = Dir::new();
    clip(&dir, "in.mkv", "160x120", ",format=yuv420p,setsar=4/3", "-c:v ffv1");
    for (output, encoder, says) in [
        ("out.png", "png", true),
        ("out.jpg", "mjpeg", true),
        ("out.tif", "tiff", true),
        ("out.avi", "ffv1", true),
        ("out.nut", "ffv1", true),
        ("out.webm", "libvpx-vp9", true),
        ("out.bmp", "bmp", false),
        ("out.webp", "libwebp", false),
        ("out.jxl", "libjxl", false),
        ("out.avif", "libaom-av1", false),
        ("out.ivf", "libvpx-vp9", false),
    ] {
        if !encoder_is_here("a shape of pixels", encoder) {
            continue;
        }
        let line = format!("--strength 0 --frames 1 --encoder {encoder} -y in.mkv {output}");
        let run = dir.succeeds(&format!("--backend cpu {line}"));
        assert_eq!(run.stderr.contains("pixels of 4:3"), !says, "{output}: {}", run.stderr);
        let strict = dir.run(&format!("--backend cpu --strict {line}"));
        assert_eq!(strict.code == Some(0), says, "{output}: {}", strict.stderr);
        // Some formats round the sample aspect ratio.
        let shape = dir.streams(output)[0]["sample_aspect_ratio"].as_str().unwrap_or("1:1").to_owned();
        let (width, height) = shape.split_once(':').expect("a ratio");
        let ratio: f64 = width.parse::<f64>().expect("a number") / height.parse::<f64>().expect("a number");
        assert_eq!((ratio - 4.0 / 3.0).abs() < 0.02, says, "{output} says {shape}");
    }
}

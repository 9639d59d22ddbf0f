//! Losslessly coded input should stay lossless; where it does not, there is a note.

use crate::support::media::reader::encoder_is_here;
use crate::support::programs::program::Dir;

/// Options that leave the frames unchanged.
const AS_IT_IS: &str = "--backend cpu --strength 0 --denoise 0 -y";

fn clip(dir: &Dir, file: &str, options: &str) {
    dir.ffmpeg(&format!("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 5 {options} {file}"));
}

fn codec(dir: &Dir, file: &str) -> String {
    dir.streams(file)[0]["codec_name"].as_str().expect("a codec").to_owned()
}

#[test]
fn a_lossless_codec_is_kept_or_becomes_another_one() {
    let dir = Dir::new();
    for (codec_of_input, format, file, output, expected) in [
        ("huffyuv", "yuv422p", "in.avi", "out.avi", "huffyuv"),
        ("huffyuv", "yuv422p", "in.avi", "out.mkv", "huffyuv"),
        ("ffvhuff", "yuv420p", "in.mkv", "out.avi", "ffvhuff"),
        ("utvideo", "yuv420p", "in.avi", "out.mkv", "utvideo"),
        ("rawvideo", "yuv420p", "in.avi", "out.avi", "rawvideo"),
        ("rawvideo", "bgr24", "in.avi", "out.avi", "rawvideo"),
        ("rawvideo", "gray", "in.avi", "out.avi", "rawvideo"),
        ("rawvideo", "yuv420p", "in.avi", "out.mkv", "ffv1"),
        ("rawvideo", "gray10le", "in.nut", "out.avi", "ffv1"),
        ("zmbv", "bgr0", "in.avi", "out.avi", "ffv1"),
        ("ffv1", "yuv420p", "in.mkv", "out.avi", "ffv1"),
        ("png", "rgb24", "in.mov", "out.mkv", "png"),
    ] {
        clip(&dir, file, &format!("-c:v {codec_of_input} -pix_fmt {format}"));
        let run = dir.succeeds(&format!("{AS_IT_IS} {file} {output}")).never_says("lossy").never_says("warning");
        let line = format!("{codec_of_input} {format} {file} {output}: {}", run.stderr);
        assert_eq!(codec(&dir, output), expected, "{line}");
        let format = if format == "bgr0" { "bgr24" } else { format };
        assert!(dir.raw(file, format) == dir.raw(output, format), "{line}");
    }
}

#[test]
fn samples_that_are_lost_to_a_codec_are_told_of_with_a_way_out() {
    if !encoder_is_here("a lossy codec", "libx264") {
        return;
    }
    let dir = Dir::new();
    let lossy = "encoded by libx264 (which is lossy, and the input is not: --encoder ffv1 in an .mkv file";
    for (options, file) in
        [("-c:v utvideo", "in.avi"), ("-c:v rawvideo -pix_fmt yuv420p", "in.avi"), ("-c:v ffv1", "in.mkv")]
    {
        clip(&dir, file, options);
        dir.succeeds(&format!("{AS_IT_IS} {file} out.mp4")).says(&[lossy]);
        assert_eq!(codec(&dir, "out.mp4"), "h264", "{options}");
        // A user who chooses the encoder gets no warning.
        dir.succeeds(&format!("{AS_IT_IS} --encoder libx264 {file} out.mp4")).never_says("lossy");
    }
    clip(&dir, "film.mkv", "-c:v mpeg4");
    dir.succeeds(&format!("{AS_IT_IS} film.mkv out.mp4")).never_says("lossy");
    clip(&dir, "deep.mkv", "-c:v ffv1 -pix_fmt gray16le");
    dir.succeeds(&format!("{AS_IT_IS} --encoder libx264 deep.mkv out.mkv"))
        .says(&["narrowed to gray10le (--encoder ffv1 in an .mkv file keeps all of it)"]);
    dir.succeeds(&format!("{AS_IT_IS} --frames 1 deep.mkv out.jpg")).says(&["(.png and .tif files keep more)"]);
}

#[test]
fn a_stack_of_images_loses_no_sample() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25,format=gray16le -frames:v 4 -c:v ffv1 deep.mkv");
    // The program, unlike FFmpeg, writes TIFF stacks.
    dir.succeeds(&format!("{AS_IT_IS} deep.mkv stack.tif"));
    dir.succeeds(&format!("{AS_IT_IS} stack.tif out.mkv")).never_says("narrowed").never_says("lossy");
    assert_eq!(codec(&dir, "out.mkv"), "ffv1");
    assert!(dir.raw("deep.mkv", "gray16le") == dir.raw("out.mkv", "gray16le"));
    if encoder_is_here("a stack in mp4", "libx264") {
        dir.succeeds(&format!("{AS_IT_IS} stack.tif out.mp4")).says(&["which is lossy, and the input is not"]);
    }
}

#[test]
fn a_film_of_images_says_that_it_is_lossy_and_how_it_is_not() {
    if !encoder_is_here("a lossy codec", "libx264") {
        return;
    }
    let dir = Dir::new();
    let lossy = "encoded by libx264 (which is lossy, and the input is not: --encoder ffv1 in an .mkv file";
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25,format=rgb24 -frames:v 3 image%d.png");
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25,format=gray16le -frames:v 3 deep%d.tif");
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 3 photo%d.jpg");
    for (input, all, format) in [
        ("image%d.png", "image%d.png", "rgb24"),
        ("image1.png", "image%d.png", "rgb24"),
        ("deep%d.tif", "deep%d.tif", "gray16le"),
    ] {
        for output in ["out.mkv", "out.mp4"] {
            dir.succeeds(&format!("{AS_IT_IS} {input} {output}")).says(&[lossy]);
            assert_eq!(codec(&dir, output), "h264", "{input}");
        }
        // The encoder that the message proposes is lossless.
        dir.succeeds(&format!("{AS_IT_IS} --encoder ffv1 {input} whole.mkv")).never_says("lossy");
        assert!(dir.raw(all, format) == dir.raw("whole.mkv", format), "{input}");
        dir.succeeds(&format!("{AS_IT_IS} --encoder libx264 {input} out.mkv")).never_says("lossy");
    }
    // There is no warning for input that is lossy already, or with `--for web`.
    dir.succeeds(&format!("{AS_IT_IS} photo%d.jpg out.mkv")).never_says("lossy");
    dir.succeeds(&format!("{AS_IT_IS} --for web image%d.png out.mp4")).never_says("lossy");
}

#[test]
fn a_quality_or_a_bit_rate_that_nobody_means_is_refused() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=320x240:rate=25 -frames:v 5 -c:v mpeg4 in.mkv");
    let before = dir.names();
    if encoder_is_here("a quality", "libx264") {
        dir.run("--backend cpu --crf 200 in.mkv out.mp4")
            .exits_with(2)
            .says(&["--crf is a number from 0 to 63 with encoder libx264, not 200"]);
        dir.run("--backend cpu --dry-run --crf 200 in.mkv out.mp4").exits_with(2).says(&["from 0 to 63"]);
    }
    dir.run("--encoder mpeg4 --crf 32 in.mkv out.mp4").exits_with(2).says(&["from 0 to 31 with encoder mpeg4, not 32"]);
    if encoder_is_here("a quality", "libvpx-vp9") {
        dir.run("--encoder libvpx-vp9 --crf 64 in.mkv out.webm").exits_with(2).says(&["from 0 to 63"]);
    }
    dir.run("--encoder mpeg4 --bitrate 2000 in.mkv out.mp4")
        .exits_with(2)
        .says(&["--bitrate 2000 is 2 kbit/s, too little for 320x240 at 25.00 frames a second: 2000k?"]);
    assert_eq!(dir.names(), before);
    // Plausible values are accepted.
    dir.succeeds("--encoder mpeg4 --crf 31 in.mkv crf.mp4");
    dir.succeeds("--encoder mpeg4 --bitrate 2k in.mkv little.mp4");
    dir.succeeds("--encoder mpeg4 --bitrate 200000 in.mkv rate.mp4");
}

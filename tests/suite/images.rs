//! Images and image sequences go the way of video.

use crate::program::{Dir, Run, program};
use crate::reader::encoder_is_here;
use crate::textbook::{Raw, assert_same_video};

const SIZE: (usize, usize) = (64, 48);

fn picture(dir: &Dir, file: &str, format: &str, options: &str) {
    dir.ffmpeg(&format!("-f lavfi -i testsrc2=size=64x48,format={format} -frames:v 1 {options} -update 1 {file}"));
}

#[test]
fn an_image_without_loss_is_equalized_to_the_sample() {
    let dir = Dir::new();
    for (file, format) in [
        ("a.png", "rgb24"),
        ("b.png", "rgb48be"),
        ("c.png", "rgba"),
        ("d.png", "rgba64be"),
        ("e.png", "gray"),
        ("f.png", "gray16be"),
        ("g.tiff", "rgb24"),
        ("h.tiff", "gray16le"),
        ("i.bmp", "bgr24"),
    ] {
        let raw = Raw { format, size: SIZE, limited: false };
        picture(&dir, file, format, "");
        let out = format!("out-{file}");
        dir.succeeds(&format!("--exact {file} {out}"));
        let expected = raw.equalized(&dir.raw(file, format));
        assert_same_video(file, raw, &dir.raw(&out, format), &expected);
        assert_eq!(dir.streams(&out)[0]["pix_fmt"], dir.streams(file)[0]["pix_fmt"], "{file}");
    }
}

#[test]
fn a_jpeg_becomes_a_jpeg_that_looks_equalized() {
    let dir = Dir::new();
    picture(&dir, "in.jpg", "yuvj420p", "-q:v 2");
    dir.succeeds("--exact in.jpg out.jpg");
    let raw = Raw { format: "yuvj420p", size: SIZE, limited: false };
    let expected = raw.equalized(&dir.raw("in.jpg", raw.format));
    let found = dir.raw("out.jpg", raw.format);
    assert_eq!(found.len(), expected.len());
    let pixels = SIZE.0 * SIZE.1;
    let apart: u64 = (0..pixels).map(|at| u64::from(found[at].abs_diff(expected[at]))).sum();
    assert!(apart / (pixels as u64) < 6, "{apart} levels apart over {pixels} pixels");
}

#[test]
fn a_webp_becomes_a_webp() {
    if !encoder_is_here("webp", "libwebp") {
        return;
    }
    let dir = Dir::new();
    picture(&dir, "in.webp", "yuv420p", "-quality 95");
    dir.succeeds("in.webp out.webp");
    let stream = &dir.streams("out.webp")[0];
    assert_eq!((&stream["codec_name"], &stream["width"]), (&"webp".into(), &64.into()));
}

#[test]
fn an_image_becomes_a_video_and_a_video_an_image() {
    let dir = Dir::new();
    picture(&dir, "in.png", "rgb24", "");
    dir.succeeds("in.png out.mp4");
    assert_eq!(dir.frames("out.mp4").len(), 1);
    dir.succeeds("--frames 1 out.mp4 out.png");
    assert_eq!(dir.streams("out.png")[0]["codec_name"], "png");
}

#[test]
fn one_image_cannot_hold_a_second_frame() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48 -frames:v 3 -c:v ffv1 in.mkv");
    let before = dir.names();
    dir.run("in.mkv out.png").exits_with(1).says(&["an image holds one frame only", "%05d", "--frames 1"]);
    assert_eq!(dir.names(), before);
}

#[test]
fn a_sequence_of_images_goes_in_and_comes_out() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25,format=rgb24 -frames:v 4 in%03d.png");
    dir.succeeds("--exact in%03d.png out%03d.png");
    let raw = Raw { format: "rgb24", size: SIZE, limited: false };
    let expected = raw.equalized(&dir.raw("in%03d.png", raw.format));
    assert_same_video("a sequence", raw, &dir.raw("out%03d.png", raw.format), &expected);
    assert_eq!(dir.names().iter().filter(|name| name.starts_with("out")).count(), 4);
    dir.succeeds("--exact --rate 10 --encoder ffv1 in%03d.png out.mkv");
    assert_eq!(dir.streams("out.mkv")[0]["avg_frame_rate"], "10/1");
    assert_same_video("images to video", raw, &dir.raw("out.mkv", raw.format), &expected);
}

#[test]
fn a_sequence_begins_with_whatever_number_is_there() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 4 -start_number 117 in%03d.png");
    dir.succeeds("--exact --encoder ffv1 in%03d.png out.mkv").never_says("missing");
    assert_eq!(dir.frames("out.mkv").len(), 4);
}

#[test]
fn a_gap_in_a_sequence_is_named() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 12 in%d.png");
    std::fs::remove_file(dir.path("in6.png")).expect("an image of the sequence");
    let run = dir.succeeds("--encoder ffv1 in%d.png out.mkv").never_says("damaged");
    run.says(&["in%d.png: in6.png is missing: the 6 images behind it are left out"]);
    assert_eq!(dir.frames("out.mkv").len(), 5);
    dir.run("--strict --encoder ffv1 -y in%d.png out.mkv").exits_with(1).says(&["in6.png is missing"]);
}

#[test]
fn what_cannot_be_read_before_a_gap_is_an_error() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 12 in%d.png");
    std::fs::remove_file(dir.path("in9.png")).expect("an image of the sequence");
    std::fs::remove_file(dir.path("in4.png")).expect("an image of the sequence");
    std::fs::create_dir(dir.path("in4.png")).expect("a folder");
    let run = dir.run("--encoder ffv1 in%d.png out.mkv");
    run.says(&["in9.png is missing", "read error"]);
}

#[test]
fn a_photo_that_is_cut_short_is_damaged() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=320x240 -frames:v 1 -update 1 whole.jpg");
    dir.succeeds("--strict whole.jpg out.jpg");
    let whole = dir.read("whole.jpg");
    dir.write("half.jpg", &whole[..whole.len() / 2]);
    dir.succeeds("half.jpg half.png").says(&["half.jpg: frame 0: the image is cut short", "1 damaged"]);
    dir.run("--strict -y half.jpg half.png").exits_with(1);
}

#[test]
fn films_of_images_are_what_players_take() {
    if !encoder_is_here("films of images", "libx264") {
        return;
    }
    let dir = Dir::new();
    picture(&dir, "in.png", "rgb24", "");
    let format = |file: &str| dir.streams(file)[0]["pix_fmt"].clone();
    dir.succeeds("--strict in.png out.mp4").says(&["yuv420p, which all players take"]);
    assert_eq!(format("out.mp4"), "yuv420p");
    dir.succeeds("in.png out.mkv");
    assert_eq!(format("out.mkv"), "yuv444p");
}

#[test]
fn an_odd_size_is_no_obstacle() {
    if !encoder_is_here("odd sizes", "libx264") {
        return;
    }
    let dir = Dir::new();
    for format in ["yuv420p", "yuv422p10le", "gray", "gbrp"] {
        dir.ffmpeg(&format!(
            "-f lavfi -i testsrc2=size=64x48:rate=25,format={format},crop=17:13:exact=1 -frames:v 3 -c:v ffv1 -y in.mkv"
        ));
        dir.succeeds("--encoder libx264 --backend cpu -y in.mkv out.mp4");
        let stream = &dir.streams("out.mp4")[0];
        assert_eq!((&stream["width"], &stream["height"]), (&17.into(), &13.into()), "{format}");
    }
}

#[test]
fn an_image_that_cannot_be_written_leaves_the_old_one_as_it_was() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 3 in%d.png");
    dir.write("out2.png", b"an old image");
    // What has no file's place cannot be written.
    std::fs::create_dir(dir.path("out3.png")).expect("a folder");
    dir.run("-y in%d.png out%d.png").exits_with(1).says(&["out3.png: cannot be written: Is a directory"]);
    std::fs::remove_dir(dir.path("out3.png")).expect("an empty folder");
    assert_eq!(dir.names(), ["in1.png", "in2.png", "in3.png", "out1.png", "out2.png"]);
    dir.write("out2.png", b"an old image");
    let mut small = dir.other_command("sh", "-c");
    small.arg(format!("ulimit -f 1; exec {} --backend cpu -y in%d.png out%d.png", program().display()));
    Run::of(&mut small, "with small files").exits_with(1).says(&["out%d.png: cannot be written: File too large"]);
    assert_eq!(dir.read("out2.png"), b"an old image");
    dir.succeeds("-y in%d.png out%d.png");
    assert_eq!(dir.names(), ["in1.png", "in2.png", "in3.png", "out1.png", "out2.png", "out3.png"]);
}

#[test]
fn what_only_raw_frames_want_to_hear_is_not_swallowed() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 3 -c:v ffv1 in.mkv");
    let run = dir.succeeds("--encoder ffv1 -r 10 -s 32x24 --pixel-format gray in.mkv out.mkv");
    run.says(&["-r is ignored", "-s is ignored", "--pixel-format is ignored"]);
    assert_eq!(dir.streams("out.mkv")[0]["width"], 64);
}

#[test]
fn folders_may_have_per_cent_signs_in_their_names() {
    let dir = Dir::new();
    for folder in ["100%", "20%d"] {
        std::fs::create_dir(dir.path(folder)).expect("a folder");
        dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 3 in%d.png");
        for number in 1..=3 {
            let (from, to) = (format!("in{number}.png"), format!("{folder}/in{number}.png"));
            std::fs::copy(dir.path(from), dir.path(to)).expect("a copy");
        }
        dir.succeeds(&format!("{folder}/in%d.png {folder}/out%d.png"));
        dir.succeeds(&format!("{folder}/in1.png {folder}/single.png"));
        for name in ["out1.png", "out2.png", "out3.png", "single.png"] {
            assert!(dir.names().contains(&format!("{folder}/{name}")), "{name} in {:?}", dir.names());
        }
    }
    dir.run("in%d.png out%99999999d.png").exits_with(1);
}

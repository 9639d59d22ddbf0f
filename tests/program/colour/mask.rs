//! `--mask`: black parts of the mask are corrected like the rest, but not measured.

use crate::support::programs::program::{Dir, usage_error};

const SIZE: (usize, usize) = (96, 64);

/// Footage with weak colours and flickering light. A box at its upper right has the luma `colour`, an expression of the
/// frame number N.
fn with_box(dir: &Dir, file: &str, colour: &str) {
    let rest = "40+6*mod(N\\,2)+p(X\\,Y)/4";
    dir.ffmpeg(&format!(
        "-f lavfi -i testsrc2=size=96x64:rate=25 -frames:v 40 -vf \
         format=yuv444p,geq=lum='if(gt(X\\,63)*lt(Y\\,16)\\,{colour}\\,{rest})':cb='96+p(X\\,Y)/4':cr='96+p(X\\,Y)/4' \
         -c:v ffv1 {file}"
    ));
}

/// A mask that is black in the box, and white elsewhere.
fn mask_of_box(dir: &Dir) {
    dir.ffmpeg("-f lavfi -i color=white:size=96x64 -frames:v 1 -vf format=gray,drawbox=64:0:32:16:black:fill mask.png");
}

/// The planes of each frame, without the box.
fn rest(video: &[u8]) -> Vec<u8> {
    let (width, height) = SIZE;
    let row = |(y, row): (usize, &[u8])| row[..if y % height < 16 { 64 } else { width }].to_vec();
    video.chunks_exact(width).enumerate().flat_map(row).collect()
}

#[test]
fn a_burnt_in_box_that_changes_its_brightness_does_not_move_the_rest() {
    let dir = Dir::new();
    with_box(&dir, "still.mkv", "235");
    with_box(&dir, "blinking.mkv", "if(mod(floor(N/5)\\,2)\\,16\\,235)");
    mask_of_box(&dir);
    for options in [
        "",
        "--exact",
        "--look night",
        "--look haze",
        "--look underwater",
        "--method deflicker",
        "--set plateau=40 --set bins=64",
        "--roi 10,3,80,50",
        "--set look-ahead=0",
    ] {
        let value_of = |file: &str, mask: &str| {
            dir.succeeds(&format!("--denoise 0 {options} {mask} --verify --encoder ffv1 -y {file} out.mkv"));
            rest(&dir.raw("out.mkv", "yuv444p"))
        };
        let expected = value_of("still.mkv", "--mask mask.png");
        assert!(expected == value_of("blinking.mkv", "--mask mask.png"), "'{options}'");
        assert!(expected != rest(&dir.raw("still.mkv", "yuv444p")), "'{options}' should change something");
    }
    let without = |file: &str| {
        dir.succeeds(&format!("--encoder ffv1 -y {file} out.mkv"));
        rest(&dir.raw("out.mkv", "yuv444p"))
    };
    assert!(without("still.mkv") != without("blinking.mkv"), "without a mask, the box should count");
}

#[test]
fn a_mask_of_one_gray_is_no_mask() {
    let dir = Dir::new();
    with_box(&dir, "in.mkv", "mod(N*20\\,200)");
    let masks = [("white.png", "white"), ("gray.jpg", "0x808080"), ("dark.bmp", "0x101010")];
    for (name, colour) in masks {
        dir.ffmpeg(&format!("-f lavfi -i color={colour}:size=96x64 -frames:v 1 {name}"));
    }
    for options in ["", "--exact", "--set plateau=40", "--roi 5,5,40,40", "--look haze", "--roi auto --set bins=30"] {
        dir.succeeds(&format!("{options} --encoder ffv1 -y in.mkv plain.mkv"));
        let plain = dir.raw("plain.mkv", "yuv444p");
        for (name, _) in masks {
            dir.succeeds(&format!("{options} --mask {name} --encoder ffv1 -y in.mkv masked.mkv"));
            assert!(plain == dir.raw("masked.mkv", "yuv444p"), "{name} '{options}'");
        }
    }
}

#[test]
fn a_mask_goes_with_statistics_kept_curves_parts_and_pipes() {
    let dir = Dir::new();
    with_box(&dir, "in.mkv", "mod(N*20\\,200)");
    mask_of_box(&dir);
    dir.succeeds("--denoise 0 --mask mask.png --stats s.jsonl --save-curves c.jsonl --encoder ffv1 in.mkv out.mkv");
    dir.succeeds("--stats plain.jsonl --encoder ffv1 in.mkv plain.mkv");
    let whole = dir.raw("out.mkv", "yuv444p");
    dir.succeeds("--load-curves c.jsonl --encoder ffv1 in.mkv again.mkv");
    assert!(whole == dir.raw("again.mkv", "yuv444p"));
    // Statistics cover whole frames, with and without a mask.
    let means = |file: &str| -> Vec<String> {
        let text = String::from_utf8(dir.read(file)).expect("text");
        let mean = |line: &str| {
            let line: serde_json::Value = serde_json::from_str(line).expect("a line of JSON");
            format!("{} {} {}", line["mean_before"], line["deviation_before"], line["scene"])
        };
        text.lines().map(mean).collect()
    };
    assert_eq!(means("s.jsonl"), means("plain.jsonl"));
    assert_eq!(means("s.jsonl").len(), 40);

    dir.succeeds("--denoise 0 --mask mask.png --start 0.6 --frames 10 --encoder ffv1 in.mkv part.mkv");
    let bytes = SIZE.0 * SIZE.1 * 3;
    assert!(dir.raw("part.mkv", "yuv444p") == whole[15 * bytes..25 * bytes]);

    dir.succeeds("--levels 1 --strength 0 in.mkv in.y4m").never_says("warning");
    dir.succeeds("--denoise 0 --mask mask.png --set look-ahead=0 in.y4m file.y4m");
    let piped = dir.fed("--mask mask.png - -", &dir.read("in.y4m")).exits_with(0).stdout;
    assert!(piped == dir.read("file.y4m"));
    let line = "live --backend cpu --no-preview --mask mask.png --save-curves d.jsonl --output - -";
    let live = dir.fed(line, &dir.read("in.y4m")).exits_with(0).stdout;
    assert!(!live.is_empty() && dir.path("d.jsonl").exists());
}

#[test]
fn a_mask_that_cannot_be_used_is_refused_in_one_line() {
    let dir = Dir::new();
    with_box(&dir, "in.mkv", "200");
    mask_of_box(&dir);
    dir.ffmpeg("-f lavfi -i color=white:size=80x64 -frames:v 1 narrow.png");
    dir.ffmpeg("-f lavfi -i color=black:size=96x64 -frames:v 1 black.png");
    dir.write("text.png", b"no picture");
    let refused = |line: &str, code: i32, texts: &[&str]| {
        let run = dir.run(line).ends_as(code);
        assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
        run.says(texts);
        assert!(!dir.path("out.mkv").exists(), "{line}");
    };
    refused("--mask narrow.png in.mkv out.mkv", 1, &["in.mkv", "96x64", "narrow.png", "80x64"]);
    refused("--mask black.png in.mkv out.mkv", 1, &["black.png", "black"]);
    refused("--mask mask.png --roi 70,2,20,10 in.mkv out.mkv", 1, &["mask.png", "black all over --roi"]);
    refused("--mask none.png in.mkv out.mkv", 1, &["--mask", "none.png"]);
    refused("--mask text.png in.mkv out.mkv", 1, &["--mask", "text.png"]);
    dir.run("--mask mask.png in.mkv mask.png -y").fails().says(&["is the input itself"]);
    for method in ["--method clahe", "--method detail"] {
        usage_error(&format!("--mask mask.png {method} in.mkv out.mkv")).says(&["--mask", method, "without weights"]);
    }
    usage_error("--mask mask.png --load-curves c.jsonl in.mkv out.mkv").says(&["--mask", "--load-curves"]);
    usage_error("--mask - in.mkv out.mkv").says(&["--mask takes a file's name"]);

    for (file, size) in [("a.mjpeg", "96x64"), ("b.mjpeg", "64x48")] {
        dir.ffmpeg(&format!("-f lavfi -i testsrc2=size={size}:rate=25 -frames:v 4 {file}"));
    }
    dir.write("both.mjpeg", &[dir.read("a.mjpeg"), dir.read("b.mjpeg")].concat());
    refused("--backend cpu --mask mask.png both.mjpeg out.mkv", 1, &["frame 4", "64x48", "96x64"]);
    dir.succeeds("--mask mask.png --filter scale=96:64 both.mjpeg out.mkv");
}

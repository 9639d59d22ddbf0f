//! Options that conflict, or make no sense, are a usage error before anything is opened, for files and cameras alike.

use crate::support::programs::program::{Dir, usage_error};

/// Command lines for an existing file and for a camera.
const FILE: &str = "in.mkv out.mkv";
const CAMERA: &str = "live --no-preview --record out.mkv -f lavfi testsrc2";

fn with(options: &str, line: &str) -> String {
    match line.strip_prefix("live ") {
        Some(rest) => format!("live {options} {rest}"),
        None => format!("{options} {line}"),
    }
}

#[test]
fn exact_cannot_be_combined_with_options_that_it_decides() {
    for option in [
        "--smooth 0",
        "--smooth 1",
        "--set plateau=0",
        "--set plateau=1%",
        "--max-gain 0",
        "--max-gain 3",
        "--strength 1",
        "--set scene-threshold=0.1",
        "--method global",
        "--method clahe",
        "--look natural",
        "--look exact",
        "--look night",
    ] {
        for line in [FILE, CAMERA] {
            let name = option.split(' ').next().expect("a word");
            usage_error(&with(&format!("--exact {option}"), line)).says(&["--exact", name, "cannot be used with"]);
        }
    }
}

#[test]
fn values_that_make_no_sense_are_usage_errors() {
    for (options, says) in [
        ("--max-gain 0.5", "--max-gain is 0 (no limit), from 1 to 4096, or auto, not 0.5"),
        ("--max-gain -2", "--max-gain is 0 (no limit), from 1 to 4096, or auto, not -2"),
        ("--max-gain nan", "--max-gain"),
        ("--max-gain strong", "strong"),
        ("--max-gain auto --smooth 0", "give --smooth more than 0 seconds"),
        ("--max-gain auto --look exact", "give --smooth more than 0 seconds"),
        ("--max-gain auto --method deflicker", "--method global and --method clahe only"),
        ("--method dehaze", "--method dehaze is gone: --look haze takes a veil off"),
        ("--method Balance", "--method balance is gone: --look underwater takes a cast away"),
        ("--smooth -1", "--smooth is a number of seconds from 0 to 3600, or scene"),
        ("--smooth nan", "--smooth is a number of seconds from 0 to 3600, or scene"),
        ("--smooth long", "long"),
        ("--set scene-threshold=1.5", "--set scene-threshold is a number from 0 to 1"),
        ("--set scene-threshold=-0.1", "--set scene-threshold is a number from 0 to 1"),
        ("--strength -0.1", "--strength is a number from 0 to 1"),
        ("--set tiles=8x8", "--set tiles goes with --method clahe and detail only"),
        ("--method global --set tiles=8x8", "--set tiles goes with --method clahe and detail only"),
        ("--method clahe --set tiles=0x4", "--set tiles is two numbers from 1 to 256 like 8x8, not 0x4"),
        ("--method clahe --set tiles=4x257", "--set tiles"),
        ("--method clahe --set tiles=8", "--set tiles"),
        ("--method clahe --set plateau=1%", "--set plateau does not go with --method clahe, whose limit is --max-gain"),
        (
            "--method detail --set plateau=500",
            "--set plateau does not go with --method detail, whose limit is --max-gain",
        ),
        ("--method clahe --roi auto", "--roi does not go with --method clahe, which counts each tile by itself"),
        ("--method detail --roi 0,0,8,8", "--roi does not go with --method detail, which counts each tile by itself"),
        ("--method detail --max-gain auto", "--max-gain auto goes with --method global and --method clahe only"),
        ("--method sharpen", "sharpen"),
        ("--set plateau=x", "--set plateau is a count like 500 or a percentage like 0.5%, not x"),
        ("--set plateau=101%", "--set plateau"),
        ("--set plateau=-1", "--set plateau"),
        ("--roi 1,2,3", "--roi is X,Y,W,H in pixels, or auto, not 1,2,3"),
        ("--roi 1,2,3,4,5", "--roi"),
        ("--roi 0,0,0,8", "--roi"),
        ("--roi=-1,0,8,8", "--roi"),
        ("--set bins=1", "--set bins"),
        ("--set bins=65537", "--set bins"),
        ("--look sunny", "sunny"),
        ("--set chroma=loud", "loud"),
        ("--set chroma=scale", "--set chroma scale is gone: follow makes saturation grow"),
    ] {
        for line in [FILE, CAMERA] {
            usage_error(&with(options, line)).says(&[says]);
        }
    }
}

#[test]
fn exact_can_be_combined_with_bins_a_region_gray_and_chroma() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 3 -c:v ffv1 in.mkv");
    for options in [
        "--set bins=64",
        "--roi 8,8,20,20",
        "--set gray",
        "--set chroma=follow",
        "--set chroma=keep",
        "--set bins=32 --set gray",
    ] {
        dir.succeeds(&format!("--exact {options} --verify --backend cpu --encoder ffv1 -y in.mkv out.mkv"));
        assert_eq!(dir.frames("out.mkv").len(), 3, "{options}");
    }
}

#[test]
fn every_option_takes_what_its_help_says() {
    let dir = Dir::new();
    dir.ffmpeg("-f lavfi -i testsrc2=size=64x48:rate=25 -frames:v 3 -c:v ffv1 in.mkv");
    for options in [
        "--smooth 0 --max-gain 0 --set plateau=0 --set scene-threshold=1 --strength 0",
        "--smooth 3600 --max-gain 4096 --set plateau=100% --set scene-threshold=0 --strength 1",
        "--set plateau=500 --set bins=2",
        "--set plateau=0.5% --set bins=65536",
        "--method clahe --set tiles=1x256 --max-gain 2 --smooth 0.5",
        "--method clahe --max-gain 0 --set bins=16 --strength 0.5",
        "--max-gain auto --levels 12",
        "--max-gain auto --method clahe",
        "--max-gain auto --smooth scene",
        "--max-gain auto --look exact --smooth 1",
        "--method global --look haze --roi 0,0,1,1",
        "--roi auto",
    ] {
        dir.succeeds(&format!("{options} --verify --backend cpu --encoder ffv1 -y in.mkv out.mkv"));
    }
}

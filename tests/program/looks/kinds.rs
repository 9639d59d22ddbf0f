//! The default look and window for images, image sequences, files and pipes.

use super::{RAW, gradient, through};
use crate::support::media::textbook::Raw;
use crate::support::pictures::Random;
use crate::support::programs::program::Dir;
use histeq::{Look, Named, Options};

/// Six different dark frames, as images, as a video file and as a y4m stream.
fn clip(dir: &Dir) {
    dir.ffmpeg(
        "-f lavfi -i testsrc2=size=96x64:rate=25,format=gbrp,colorlevels=romax=0.5:gomax=0.5:bomax=0.5 -frames:v 6 \
         -c:v ffv1 rgb.mkv",
    );
    dir.ffmpeg("-i rgb.mkv in%03d.png");
    dir.ffmpeg("-i rgb.mkv -pix_fmt yuv420p -c:v ffv1 in.mkv");
    dir.ffmpeg("-i in.mkv in.y4m");
}

/// The samples of the output for `input` with these options.
fn becomes(dir: &Dir, input: &str, options: &str, format: &str) -> Vec<u8> {
    dir.succeeds(&format!("--backend cpu -y --encoder ffv1 {options} {input} becomes.mkv"));
    dir.raw("becomes.mkv", format)
}

#[test]
fn one_image_is_treated_as_video_is() {
    let dir = Dir::new();
    clip(&dir);
    dir.ffmpeg("-i in003.png -pix_fmt yuvj420p -q:v 2 in.jpg");
    dir.ffmpeg("-i in003.png -pix_fmt gray16be -update 1 gray.png");
    for (input, format) in [("in003.png", "gbrp"), ("in.jpg", "yuvj420p"), ("gray.png", "gray16le")] {
        let exact = becomes(&dir, input, "--exact", format);
        assert!(becomes(&dir, input, "--look exact", format) == exact, "{input} --look exact");
        let default = becomes(&dir, input, "", format);
        let look = if input == "gray.png" { "thermal" } else { "natural" };
        assert!(becomes(&dir, input, &format!("--look {look}"), format) == default, "{input} is not {look}");
        for options in ["--exact", "--look haze", "--strength 0.6", "--levels 1.2"] {
            let makes_a_difference = becomes(&dir, input, options, format) != default;
            assert!(makes_a_difference || options == "--levels 1.2" && look == "thermal", "{input} {options}");
        }
    }
}

#[test]
fn auto_is_another_name_for_the_default() {
    let dir = Dir::new();
    clip(&dir);
    assert!(becomes(&dir, "in.mkv", "--look auto", "yuv420p") == becomes(&dir, "in.mkv", "", "yuv420p"));
    let run = dir.succeeds("--backend cpu --look auto --progress json --encoder ffv1 in.mkv out.mkv");
    run.says(&[r#""look":"natural""#]);
    let mut options = Options::for_look(Look::Exact);
    options.set("look", "auto").expect("a look");
    assert_eq!((options, Look::from_name("auto")), (Options::default(), Some(Look::Natural)));
}

#[test]
fn a_sequence_of_images_is_a_video() {
    let dir = Dir::new();
    clip(&dir);
    let sequence = becomes(&dir, "in%03d.png", "", "gbrp");
    assert!(sequence == becomes(&dir, "rgb.mkv", "", "gbrp"), "images are not what the same video is");
    assert!(sequence != becomes(&dir, "in%03d.png", "--exact", "gbrp"), "no window, no limit");
    let counted = ["--method global", "--method global --smooth 0"];
    let [window, none] = counted.map(|options| becomes(&dir, "in%03d.png", options, "gbrp"));
    assert!(window != none, "no window");
    // The window does not reach beyond the end of a part.
    let sequence = becomes(&dir, "in%03d.png", "--set look-ahead=0", "gbrp");
    let first = becomes(&dir, "in%03d.png", "--set look-ahead=0 --frames 1", "gbrp");
    assert!(sequence.starts_with(&first), "the first image by itself is not what it is in the sequence");
}

#[test]
fn a_stream_through_a_pipe_is_the_video_that_it_is_in_a_file() {
    let dir = Dir::new();
    clip(&dir);
    // A pipe has no look-ahead and, by default, no denoising, so the file is read with the same settings.
    let file = becomes(&dir, "in.mkv", "--set look-ahead=0 --denoise 0", "yuv420p");
    dir.write("out.y4m", &dir.fed("--backend cpu - -", &dir.read("in.y4m")).exits_with(0).stdout);
    assert!(dir.raw("out.y4m", "yuv420p") == file, "y4m through a pipe");
    assert!(becomes(&dir, "in.y4m", "--set look-ahead=0 --denoise 0", "yuv420p") == file, "y4m in a file");
    let raw = Raw { format: "yuv420p", size: (96, 64), limited: true };
    assert!(through(&dir, raw, "", &dir.raw("in.mkv", "yuv420p")) == file, "raw frames");
    assert!(
        becomes(&dir, "in.mkv", "--look natural --set look-ahead=0 --denoise 0", "yuv420p") == file,
        "--look natural is the default"
    );
    for options in ["--exact", "--look exact", "--smooth 0", "--max-gain 0", "--look night", "--look thermal"] {
        assert!(becomes(&dir, "in.mkv", options, "yuv420p") != file, "{options} should make a difference");
    }
    let exact = becomes(&dir, "in.mkv", "--exact", "yuv420p");
    let by_hand = becomes(
        &dir,
        "in.mkv",
        "--smooth 0 --max-gain 0 --set plateau=0 --strength 1 --levels 1 --set chroma=keep",
        "yuv420p",
    );
    assert!(by_hand == exact, "--exact is what its parts are");
}

#[test]
fn gray_of_more_than_eight_bits_is_thermal_video() {
    let dir = Dir::new();
    let mut random = Random::new(5);
    for (format, kin) in [("gray16le", "thermal"), ("gray10le", "thermal"), ("gray", "natural")] {
        let raw = Raw { format, limited: false, ..RAW };
        let video: Vec<u8> = (0..6).flat_map(|_| gradient(raw, &mut random, (60, 140), 9)).collect();
        let found = through(&dir, raw, "", &video);
        assert!(found == through(&dir, raw, &format!("--look {kin}"), &video), "{format} should be {kin}");
        let other = if kin == "natural" { "--look thermal" } else { "--set plateau=0 --max-gain 3" };
        assert!(found != through(&dir, raw, other, &video), "{format} should not be {other}");
    }
}

#[test]
fn single_options_override_a_look() {
    let dir = Dir::new();
    let mut random = Random::new(6);
    let video: Vec<u8> = (0..10).flat_map(|_| gradient(RAW, &mut random, (30, 90), 5)).collect();
    let all = "--method global --levels 1 --set chroma=follow --smooth 0.2 --set scene-threshold=0.3 --max-gain 2.5 --set plateau=1% \
               --strength 0.9 --denoise 0";
    let expected = through(&dir, RAW, all, &video);
    for look in ["natural", "night", "haze", "underwater", "faithful", "thermal", "exact"] {
        let found = through(&dir, RAW, &format!("--look {look} {all}"), &video);
        assert!(found == expected, "--look {look} is not overridden");
    }
}

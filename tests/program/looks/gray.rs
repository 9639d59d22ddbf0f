//! Thermal cameras: gray video of many bits whose levels fill a small part of the range.

use super::{frame, luma, through};
use crate::support::media::reader::encoder_is_here;
use crate::support::media::textbook::Raw;
use crate::support::pictures::Random;
use crate::support::programs::program::Dir;

/// A ramp with noise between the levels `low` and `high`, and a small object at level `hot`.
fn thermal(raw: Raw, (low, high): (u64, u64), hot: u64) -> Vec<u8> {
    let mut random = Random::new(7);
    let noise = (high - low) / 20 + 1;
    let mut video = Vec::new();
    for _ in 0..8 {
        video.extend(frame(raw, |x, y| {
            let object = (60..66).contains(&x) && (40..46).contains(&y);
            let level = low + (high - low - noise) * x as u64 / 160 + random.below(noise);
            if object { hot } else { level }
        }));
    }
    video
}

/// The percentile `share` (0 to 1) of the luma, as a share of the range.
fn percentile(raw: Raw, frame: &[u8], share: f64) -> f64 {
    let mut levels = luma(raw, frame);
    levels.sort_unstable();
    let level = levels[(share * (levels.len() - 1) as f64) as usize] as f64;
    let top = ((1u64 << raw.layout().depth) - 1) as f64;
    let (lo, hi) = if raw.limited { (top * 16.0 / 255.0, top * 235.0 / 255.0) } else { (0.0, top) };
    (level - lo) / (hi - lo)
}

/// By default, a quarter of the range is mapped linearly, so that the hot object stands out; plain equalization gives
/// the whole range to the background.
#[track_caller]
fn uses_the_range(raw: Raw, options: &str, levels: (u64, u64), hot: u64) {
    for (strength, least) in [("", 0.75), ("--levels 1 --strength 1", 0.92)] {
        reaches(raw, &format!("{options} {strength}"), &thermal(raw, levels, hot), least);
    }
}

/// Requires that 99 % of the samples lie between black and a level of at least `least` of the range.
#[track_caller]
fn reaches(raw: Raw, options: &str, video: &[u8], least: f64) {
    let found = through(&Dir::new(), raw, options, video);
    for (number, frame) in found.chunks_exact(raw.frame_bytes()).enumerate() {
        let (low, high) = (percentile(raw, frame, 0.01), percentile(raw, frame, 0.99));
        assert!(low < 0.08, "{} '{options}' frame {number} begins at {low:.3} of the range", raw.format);
        assert!(high > least, "{} '{options}' frame {number} ends at {high:.3} of the range", raw.format);
        let middle = percentile(raw, frame, 0.5);
        assert!(
            (0.3..0.7).contains(&middle),
            "{} '{options}' frame {number} has its middle at {middle:.3}",
            raw.format
        );
        let hottest = percentile(raw, frame, 1.0);
        assert!(hottest > 0.99, "{} '{options}' frame {number}: the hot thing is at {hottest:.3}", raw.format);
    }
}

#[test]
fn sixteen_bits_of_a_thermal_camera_use_the_whole_range_by_default() {
    let raw = Raw { format: "gray16le", size: (160, 120), limited: false };
    uses_the_range(raw, "", (7000, 9000), 12_000);
    uses_the_range(raw, "--look thermal", (7000, 9000), 12_000);
    uses_the_range(Raw { format: "gray14le", ..raw }, "", (3000, 3500), 6000);
}

#[test]
fn the_thermal_look_opens_up_eight_and_ten_bits_too() {
    for (format, limited) in [("gray", false), ("yuv420p", true)] {
        uses_the_range(Raw { format, size: (160, 120), limited }, "--look thermal", (90, 120), 160);
    }
    for (format, limited) in [("gray10le", false), ("yuv420p10le", true)] {
        uses_the_range(Raw { format, size: (160, 120), limited }, "--look thermal", (360, 480), 640);
    }
}

#[test]
fn what_is_small_and_hot_keeps_its_shape() {
    let dir = Dir::new();
    let raw = Raw { format: "gray16le", size: (160, 120), limited: false };
    // An animal that covers 2 % of the frame. Each of its columns is warmer than the one before.
    let (is_animal, warmth) = (|x, y| (60..80).contains(&x) && (40..60).contains(&y), |x| 19_000 + 80 * (x - 60));
    let picture = frame(raw, |x, y| if is_animal(x, y) { warmth(x as u64) } else { 17_500 + 3 * x as u64 });
    let spread = |options: &str, columns: (usize, usize), row: usize| {
        let found = luma(raw, &through(&dir, raw, options, &picture));
        (found[row * 160 + columns.1] - found[row * 160 + columns.0]) / 257
    };
    let (animal, background) = (((60, 79), 50), ((0, 159), 10));
    let [by_default, alone] = ["", "--levels 1 --strength 1"].map(|options| spread(options, animal.0, animal.1));
    assert!(
        by_default > 40 && by_default > alone * 3 / 2,
        "the animal spreads over {by_default} of 255 levels, {alone} equalized"
    );
    let background = spread("", background.0, background.1);
    assert!(background > 170, "the background spreads over {background} of 255 levels");
}

#[test]
fn a_plateau_keeps_the_contrast_of_small_things() {
    let dir = Dir::new();
    let raw = Raw { format: "gray16le", size: (160, 120), limited: false };
    // A flat background with a small object of adjacent levels.
    let picture = frame(raw, |x, y| if x < 12 && y < 12 { 8000 + x as u64 } else { 7000 });
    let spread = |options: &str| {
        let found = luma(raw, &through(&dir, raw, options, &picture));
        found[11] - found[0]
    };
    let (plain, plateau) = (spread("--exact"), spread(""));
    assert!(plateau > 20_000, "the small thing spreads over {plateau} of 65536 levels");
    assert!(plateau > plain / 2, "{plateau} with a plateau, {plain} without");
}

#[test]
fn gray_in_a_usual_container_says_that_it_has_the_full_range() {
    if !encoder_is_here("gray in mp4", "libx264") {
        return;
    }
    let dir = Dir::new();
    for (format, options) in [("gray16le", ""), ("gray", "--look thermal"), ("gray", "--encoder libx265")] {
        if options.contains("libx265") && !encoder_is_here("gray in hevc", "libx265") {
            continue;
        }
        let raw = Raw { format, size: (160, 120), limited: false };
        let levels = if format == "gray" { ((90, 120), 160) } else { ((7000, 9000), 12_000) };
        let described = format!("-f rawvideo -s 160x120 --pixel-format {format} --backend cpu");
        for output in ["out.mp4", "out.mkv"] {
            let video = thermal(raw, levels.0, levels.1);
            dir.fed(&format!("{described} {options} -y - {output}"), &video).exits_with(0);
            assert_eq!(dir.streams(output)[0]["color_range"], "pc", "{format} {options} in {output}");
        }
    }
}

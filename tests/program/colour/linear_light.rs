//! Faint objects in linear data, as telescopes record them, are brightened; images for display stay unchanged.

use crate::support::programs::program::Dir;

/// Writes a 16-bit frame: a noisy background, a slightly brighter nebula, and a few stars up to white.
fn sky(dir: &Dir, background: u32) {
    let mut seed = 1_u32;
    let mut noise = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 24) % 32
    };
    let samples = (0..96 * 160_u32).flat_map(|index| {
        let (x, y) = (index % 160, index / 160);
        let nebula = if x.abs_diff(110) + y.abs_diff(50) < 25 { background / 2 } else { 0 };
        let star = if x % 53 == 20 && y % 41 == 20 { 65_535 } else { 0 };
        ((background + nebula + noise() + star).min(65_535) as u16).to_le_bytes()
    });
    dir.write("sky.raw", &samples.collect::<Vec<u8>>());
    dir.ffmpeg("-y -f rawvideo -pix_fmt gray16le -s 160x96 -i sky.raw sky.png");
}

fn samples(dir: &Dir, name: &str) -> Vec<u16> {
    dir.raw(name, "gray16le").chunks_exact(2).map(|bytes| u16::from_le_bytes([bytes[0], bytes[1]])).collect()
}

fn median(mut samples: Vec<u16>) -> f64 {
    samples.sort_unstable();
    f64::from(samples[samples.len() / 2]) / 65_535.0
}

#[test]
fn the_background_becomes_a_quarter_and_stars_stay_white() {
    let dir = Dir::new();
    sky(&dir, 600);
    assert!(median(samples(&dir, "sky.png")) < 0.01);
    for method in ["asinh", "midtones"] {
        dir.succeeds(&format!("-y --method {method} sky.png out.png"));
        let out = samples(&dir, "out.png");
        let nebula = f64::from(out[50 * 160 + 110]) / 65_535.0;
        let middle = median(out.clone());
        assert!((middle - 0.25).abs() < 0.01, "{method}: {middle}");
        assert!(nebula > middle + 0.03, "{method}: {nebula}");
        assert_eq!(out.iter().max(), Some(&65_535));
        dir.succeeds(&format!("-y --method {method} --strength 0.5 sky.png half.png"));
        let half = median(samples(&dir, "half.png"));
        assert!((0.1..0.16).contains(&half), "{method}: {half}");
    }
}

#[test]
fn a_picture_for_display_stays_as_it_is() {
    let dir = Dir::new();
    sky(&dir, 20_000);
    for method in ["asinh", "midtones"] {
        dir.succeeds(&format!("-y --method {method} sky.png out.png"));
        assert_eq!(samples(&dir, "out.png"), samples(&dir, "sky.png"), "{method}");
    }
}

#[test]
fn frames_of_a_video_share_a_window_and_both_backends_agree() {
    let dir = Dir::new();
    dir.ffmpeg(
        "-f lavfi -i testsrc2=size=160x96:rate=10:duration=1 -vf lutyuv=y=16+(val-16)/20:u=128:v=128 -c:v ffv1 in.mkv",
    );
    for method in ["asinh", "midtones"] {
        dir.succeeds(&format!("-y --verify --method {method} --encoder ffv1 in.mkv out.mkv"));
    }
    let run = dir.run("--method asinh --smooth scene in.mkv again.mkv").exits_with(2);
    run.says(&["--smooth scene does not go with --method asinh"]);
}

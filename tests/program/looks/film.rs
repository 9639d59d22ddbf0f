//! Deflickering removes the flicker of old film, and keeps motion.

use super::{RAW, frame, lumas, mean, through};
use crate::support::pictures::Random;
use crate::support::programs::program::Dir;

const FRAMES: usize = 50;

/// Textured frames with grain, with luma multiplied by `light(frame, x, y)`, where x and y are 0 to 1.
fn film(light: impl Fn(usize, f64, f64) -> f64) -> Vec<u8> {
    let mut random = Random::new(1);
    let (width, height) = RAW.size;
    let picture = |x: usize, y: usize| 50.0 + 90.0 * x as f64 / width as f64 + ((x / 7 * 31 + y / 5 * 17) % 40) as f64;
    let frames = (0..FRAMES).map(|number| {
        frame(RAW, |x, y| {
            let light = light(number, x as f64 / width as f64, y as f64 / height as f64);
            16 + (picture(x, y) * light) as u64 + random.below(5) - 2
        })
    });
    frames.flatten().collect()
}

/// The mean change of parts of the frame from one frame to the next.
fn flicker(video: &[u8]) -> f64 {
    let (width, height) = RAW.size;
    let means = |luma: &Vec<u64>| -> Vec<f64> {
        let part = |x: usize, y: usize| {
            let rows = y * height / 6..(y + 1) * height / 6;
            let columns = x * width / 6..(x + 1) * width / 6;
            mean(&rows.flat_map(|row| luma[row * width..][columns.clone()].to_vec()).collect::<Vec<u64>>())
        };
        (0..36).map(|index| part(index % 6, index / 6)).collect()
    };
    let means: Vec<Vec<f64>> = lumas(RAW, video).iter().map(means).collect();
    let step = |pair: &[Vec<f64>]| pair[0].iter().zip(&pair[1]).map(|(a, b)| (a - b).abs()).sum::<f64>() / 36.0;
    means.windows(2).map(step).sum::<f64>() / (FRAMES - 1) as f64
}

#[test]
fn bands_that_roll_and_patches_that_flicker_go() {
    let dir = Dir::new();
    let band = film(|number, _, y| 1.0 + 0.12 * (std::f64::consts::TAU * (y - number as f64 / 9.0)).sin());
    let turns = |number: usize, factor: usize| ((number * factor + 3) % 19) as f64 / 9.0 - 1.0;
    let patches = film(|number, x, y| 1.0 + 0.2 * ((x - 0.5) * turns(number, 7) + (y - 0.5) * turns(number, 11)));
    for (kind, video) in [("a band", band), ("patches", patches)] {
        let steady = through(&dir, RAW, "--method deflicker --set look-ahead=0.5", &video);
        let (before, after) = (flicker(&video), flicker(&steady));
        assert!(after < 0.4 * before, "{kind}: {after:.2} of {before:.2} is left");
        let half = flicker(&through(&dir, RAW, "--method deflicker --set look-ahead=0.5 --strength 0.5", &video));
        assert!(after < 0.8 * half && half < 0.8 * before, "{kind}, half of it: {half:.2} of {before:.2} is left");
        assert!(through(&dir, RAW, "--method deflicker --strength 0", &video) == video, "{kind}: none of it");
    }
}

#[test]
fn something_that_crosses_leaves_no_ghost() {
    let crossed = film(|number, x, y| {
        let left = number as f64 / 25.0 - 0.4;
        if (left..left + 0.3).contains(&x) && y > 0.4 { 0.3 } else { 1.0 }
    });
    let found = through(&Dir::new(), RAW, "--method deflicker --set look-ahead=0.5", &crossed);
    for (number, (before, after)) in lumas(RAW, &crossed).iter().zip(lumas(RAW, &found)).enumerate() {
        let apart = before.iter().zip(&after).map(|(before, after)| before.abs_diff(*after)).max();
        assert!(apart <= Some(3), "frame {number} changes by {apart:?} levels");
    }
}

//! `--max-gain auto`: noise is measured, and is not amplified above the threshold of visibility.

use super::{RAW, frame, largest_step, lumas, mean, through};
use crate::support::pictures::Random;
use crate::support::programs::program::Dir;
use histeq::internal::spec::curves::Levels;
use histeq::internal::spec::restoration::noise;
use histeq::internal::spec::{Lattice, Measure};

const SEED: u64 = 1;

/// The allowed standard deviation of noise, in levels of limited range: the threshold, plus 10 % for errors of
/// measurement.
const VISIBLE: f64 = 5.0 * 219.0 / 255.0 * 1.1;

/// A normally distributed random number with deviation 1.
fn normal(random: &mut Random) -> f64 {
    (0..12).map(|_| random.below(1 << 16) as f64 / f64::from(1 << 16)).sum::<f64>() - 6.0
}

/// The measured noise of a horizontal gradient with `change(frame, column, row)` added, as a share of white.
fn noise_found(levels: Levels, mut change: impl FnMut(usize, usize, usize) -> f64) -> Option<f64> {
    let size @ (columns, rows) = Lattice::size_for((640, 360));
    let white = (levels.count() - 1) as f64;
    let measures: Vec<Measure> = (0..25)
        .map(|number| {
            let places = (0..rows).flat_map(|y| (0..columns).map(move |x| (x, y)));
            let luma = places.map(|(x, y)| {
                let level = 0.2 + 0.5 * x as f64 / columns as f64 + change(number, x, y);
                (level * white).round().clamp(0.0, white) as u16
            });
            let lattice = Lattice { size, luma: luma.collect(), ..Lattice::default() };
            Measure::new(&lattice, levels, (640, 360))
        })
        .collect();
    let noises = measures.windows(2).filter_map(|pair| noise::between(&pair[0].samples, &pair[1].samples));
    noise::window_noise(noises).map(|noise| f64::from(noise) / 256.0 / white)
}

#[test]
fn noise_is_found_at_every_depth_beside_what_moves_and_under_light_that_changes() {
    let mut random = Random::new(SEED);
    for levels in [Levels::full(8), Levels::limited(8), Levels::limited(10), Levels::full(16)] {
        for of_255 in [0.8, 1.5, 3.0, 8.0] {
            let deviation = of_255 / 255.0;
            let mut check = |what: &str, change: &dyn Fn(usize, usize, usize) -> Option<f64>| {
                let found = noise_found(levels, |number, x, y| {
                    change(number, x, y).unwrap_or_else(|| random.below(100) as f64 / 400.0 - 0.125)
                        + deviation * normal(&mut random)
                });
                let found = found.expect("there is noise") / deviation;
                assert!((0.8..1.2).contains(&found), "{what}: {found:.2} of {of_255}, {levels:?}, seed {SEED}");
            };
            check("still", &|_, _, _| Some(0.0));
            // The content of a moving part differs completely between frames.
            check("an object over a third", &|number, x, _| (x < number % 8 || x >= number % 8 + 43).then_some(0.0));
            check("a light that changes", &|number, _, _| Some([0.0, 0.02, -0.03, 0.05][number % 4]));
        }
    }
}

#[test]
fn a_picture_that_is_repeated_and_one_without_noise_have_none() {
    let mut random = Random::new(SEED);
    assert_eq!(noise_found(Levels::full(8), |_, _, _| 0.0), None);
    // Each frame occurs twice.
    let mut noise = vec![Vec::new(); 13];
    noise.iter_mut().for_each(|frame| frame.extend((0..128 * 72).map(|_| normal(&mut random) / 100.0)));
    let found = noise_found(Levels::full(8), |number, x, y| noise[number / 2][y * 128 + x]).expect("there is noise");
    assert!((0.8..1.2).contains(&(found * 100.0)), "{found}");
}

/// A clip with a ramp between these codes, with noise of this standard deviation.
fn film((low, high): (u64, u64), deviation: f64) -> Vec<u8> {
    let mut random = Random::new(SEED);
    let code = |x: usize, random: &mut Random| {
        let code = low as f64 + (high - low) as f64 * x as f64 / 319.0 + deviation * normal(random);
        code.round().clamp(16.0, 235.0) as u64
    };
    (0..30).flat_map(|_| frame(RAW, |x, _| code(x, &mut random))).collect()
}

/// The standard deviation of the noise between frames, from frame `first` on. Clipped samples (black and white) are
/// left out.
fn noise_of(video: &[u8], first: usize) -> f64 {
    let frames = lumas(RAW, video);
    let pairs = frames[first..].windows(2).flat_map(|pair| pair[0].iter().zip(&pair[1]));
    let inside = |code: &u64| (17..235).contains(code);
    let steps = pairs.filter(|(a, b)| inside(a) && inside(b)).map(|(a, b)| (a.abs_diff(*b) as f64).powi(2));
    let steps: Vec<f64> = steps.collect();
    (steps.iter().sum::<f64>() / steps.len() as f64 / 2.0).sqrt()
}

#[test]
fn noise_that_would_be_seen_is_not_with_an_automatic_limit() {
    let dir = Dir::new();
    for (codes, deviation) in [((24, 50), 2.0), ((30, 60), 3.0), ((90, 140), 2.0)] {
        let video = film(codes, deviation);
        for options in [
            "--look natural --levels 12",
            "--look natural --levels 12 --strength 1 --max-gain 4",
            "--look night --denoise 0",
            "--look thermal --set plateau=0",
            "--method clahe --set tiles=4x3",
            "--method clahe --look thermal",
        ] {
            let loud = noise_of(&through(&dir, RAW, options, &video), 1);
            let auto = options.replace(" --max-gain 4", "");
            let found = through(&dir, RAW, &format!("{auto} --max-gain auto"), &video);
            // Frame 0 is left out: without look-ahead, its noise is not known yet.
            let calm = noise_of(&found, 1);
            assert!(calm <= VISIBLE, "{codes:?}, {deviation}, {options}: {calm:.2}");
            // The look for dark footage changes bright footage little.
            let is_loud = codes.0 < 80 || !options.contains("night");
            assert!(!is_loud || loud > VISIBLE, "{codes:?}, {deviation}, {options}: {loud:.2} without");
        }
    }
}

#[test]
fn a_limit_holds_from_the_first_frame_on_with_a_look_ahead() {
    let found = through(&Dir::new(), RAW, "--levels 12 --max-gain auto --set look-ahead=0.5", &film((30, 60), 2.0));
    assert!(noise_of(&found, 0) <= VISIBLE, "{}", noise_of(&found, 0));
    let means: Vec<f64> = lumas(RAW, &found).iter().map(|luma| mean(luma)).collect();
    let (step, number) = largest_step(&means);
    assert!(step <= 1.0, "the mean moves by {step:.2} levels at frame {number}");
}

#[test]
fn what_is_not_stretched_because_of_its_noise_keeps_its_brightness() {
    let video = film((100, 150), 4.0);
    let found = through(&Dir::new(), RAW, "--levels 12 --max-gain auto --set look-ahead=0.5", &video);
    let [before, after] = [&video, &found].map(|video| mean(&lumas(RAW, video).concat()));
    assert!((before - after).abs() < 3.0, "{before:.1} becomes {after:.1}");
}

#[test]
fn what_is_clean_is_not_limited() {
    let dir = Dir::new();
    let mut random = Random::new(SEED);
    let still = frame(RAW, |x, _| 60 + x as u64 / 4 + random.below(20)).repeat(10);
    for options in [
        "--method global",
        "--look night --method global --denoise 0",
        "--method clahe --set tiles=4x3",
        "--look thermal",
    ] {
        let free = through(&dir, RAW, options, &still);
        assert!(free != still, "nothing is done with '{options}'");
        assert!(through(&dir, RAW, &format!("{options} --max-gain auto"), &still) == free, "'{options}' is limited");
    }
}

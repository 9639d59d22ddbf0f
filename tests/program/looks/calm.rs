//! Static parts keep their brightness, and faint noise is not amplified into structure.

use super::{RAW, frame, gradient, largest_step, lumas, mean, through};
use crate::support::media::textbook::Raw;
use crate::support::pictures::Random;
use crate::support::programs::program::Dir;

/// How far the mean of a static part may move from one frame to the next, in levels.
const CALM: f64 = 2.0;

/// The mean of a patch of 32x32 pixels at (left, top), in each frame.
fn patch(video: &[u8], (left, top): (usize, usize)) -> Vec<f64> {
    let places = (top..top + 32).flat_map(|y| (left..left + 32).map(move |x| y * RAW.size.0 + x));
    let places: Vec<usize> = places.collect();
    let of_frame = |luma: Vec<u64>| mean(&places.iter().map(|&place| luma[place]).collect::<Vec<u64>>());
    lumas(RAW, video).into_iter().map(of_frame).collect()
}

/// The largest step in each of five static patches, while a dark object covers a quarter of the frame for 20 frames.
fn steps_beside_an_object(options: &str) -> Vec<(f64, usize)> {
    let mut random = Random::new(1);
    let mut video = Vec::new();
    for number in 0..60 {
        let object = (25..45).contains(&number);
        video.extend(frame(RAW, |x, y| {
            let covered = object && (80..240).contains(&x) && y >= 90;
            let level = if covered { 30 } else { 60 + 120 * x as u64 / 320 };
            level + random.below(9) - 4
        }));
    }
    let found = through(&Dir::new(), RAW, options, &video);
    let places = [(10, 10), (150, 30), (280, 20), (20, 140), (270, 140)];
    places.into_iter().map(|place| largest_step(&patch(&found, place))).collect()
}

#[test]
fn what_stands_still_keeps_its_brightness_when_something_dark_comes_and_goes() {
    // Without look-ahead, as in a pipe, the window holds 25 frames when the object appears. With each new frame, the
    // object gains a hundredth of the window's samples, which is 2.2 of 220 levels.
    for (step, number) in steps_beside_an_object("") {
        assert!(step <= 3.0, "a part that stands still moves by {step:.2} levels at frame {number}");
    }
    // One second is the default look-ahead for files.
    for (step, number) in steps_beside_an_object("--set look-ahead=1") {
        assert!(step <= CALM, "a part that stands still moves by {step:.2} levels at frame {number}");
    }
    assert!(steps_beside_an_object("--exact").iter().any(|(step, _)| *step > 20.0), "the textbook flickers");
}

/// Without look-ahead, as in a pipe, a change of light is detected late. The correction then jumped by up to 59 levels,
/// and a room stayed white for a second after its lamp was switched on.
#[test]
fn light_that_goes_or_comes_for_good_is_followed_without_a_jump() {
    let mut random = Random::new(3);
    let light = |number: u64| match number {
        0..100 => 100,
        100..110 => 100 - (number - 99) * 7,
        110..250 => 30,
        250..260 => 30 + (number - 249) * 7,
        _ => 100,
    };
    let video: Vec<u8> = (0..360)
        .flat_map(|number| frame(RAW, |x, _| 16 + (20 + 180 * x as u64 / 320) * light(number) / 100 + random.below(3)))
        .collect();
    let found = lumas(RAW, &through(&Dir::new(), RAW, "", &video));
    let means: Vec<f64> = found.iter().map(|luma| mean(luma)).collect();
    let (step, number) = largest_step(&means[110..250]);
    assert!(step <= 8.0, "{step:.1} levels at frame {}: {means:?}", 110 + number);
    let (dark, lifted, bright) = (means[115], means[245], means[95]);
    assert!(lifted > dark + 30.0, "from {dark:.1} to {lifted:.1}");
    // The brightness returns to its former value within a second.
    assert!(means[285..].iter().all(|mean| (mean - bright).abs() < 8.0), "{bright:.1}: {means:?}");
}

#[test]
fn a_flat_clip_comes_out_as_it_went_in() {
    let (dir, raw) = (Dir::new(), Raw { size: (64, 36), ..RAW });
    for code in [0, 16, 17, 100, 235, 255] {
        let video = frame(raw, |_, _| code).repeat(12);
        for options in
            ["", "--look night", "--look haze", "--look underwater", "--look thermal", "--exact", "--method deflicker"]
        {
            assert!(through(&dir, raw, options, &video) == video, "flat {code} changes with '{options}'");
        }
    }
}

#[test]
fn noise_of_two_codes_is_amplified_by_the_largest_gain_at_most() {
    let dir = Dir::new();
    let mut random = Random::new(2);
    let video: Vec<u8> = (0..30).flat_map(|_| frame(RAW, |_, _| 17 + random.below(2))).collect();
    let apart = |options: &str| {
        let found = through(&dir, RAW, options, &video);
        let all = lumas(RAW, &found).concat();
        assert!(all.iter().all(|code| (16..=235).contains(code)));
        all.iter().max().unwrap_or(&0) - all.iter().min().unwrap_or(&0)
    };
    for gain in [1.0, 2.0, 3.0, 6.0] {
        // The specification's upper bound of the distance that two adjacent levels may get.
        let most = gain * 219.0 / (220.0 - gain) + 1.0;
        let found = apart(&format!("--max-gain {gain}"));
        assert!(found as f64 <= most, "one level apart becomes {found} apart with a gain of {gain}");
    }
    assert!(apart("") <= 10, "one level apart becomes {} apart", apart(""));
    assert_eq!(apart("--exact"), 219, "the textbook makes black and white of it");
}

#[test]
fn a_wall_with_a_little_noise_gets_no_contrast_of_a_scene() {
    let mut random = Random::new(4);
    let video: Vec<u8> = (0..30).flat_map(|_| frame(RAW, |_, _| 118 + random.below(5))).collect();
    let found = lumas(RAW, &through(&Dir::new(), RAW, "--denoise 0", &video)).concat();
    // A range of five codes may become ten at most.
    assert!(found.iter().all(|code| (116..=126).contains(code)), "{:?}", (found.iter().min(), found.iter().max()));
}

#[test]
fn levels_bound_contrast_and_light_of_the_default() {
    let dir = Dir::new();
    let mut random = Random::new(5);
    let video: Vec<u8> = (0..20).flat_map(|_| gradient(RAW, &mut random, (30, 110), 4)).collect();
    let range = |options: &str| {
        let found = lumas(RAW, &through(&dir, RAW, &format!("--denoise 0 {options}"), &video)).concat();
        found.iter().max().unwrap_or(&0) - found.iter().min().unwrap_or(&0)
    };
    let [before, free, bound] = ["--strength 0", "", "--levels 1.2"].map(range);
    assert!(free > before * 3 / 2, "{before} becomes {free}");
    assert!(bound > before && bound <= before * 3 / 2, "{before} becomes {bound}: contrast and light have a gain each");
    // A bound of 1 allows no more than a rounding error.
    assert!(range("--levels 1") <= before + 1);
}

#[test]
fn the_brightness_of_near_black_noise_holds_still() {
    let mut random = Random::new(3);
    // The share of the brighter code differs from frame to frame.
    let video: Vec<u8> =
        (0..50).flat_map(|number| frame(RAW, |_, _| 17 + u64::from(random.below(10) < 4 + number % 3))).collect();
    let found = through(&Dir::new(), RAW, "", &video);
    let means: Vec<f64> = lumas(RAW, &found).iter().map(|luma| mean(luma)).collect();
    let (step, number) = largest_step(&means);
    assert!(step <= CALM, "the mean moves by {step:.2} levels at frame {number}");
}

#[test]
fn a_fade_from_black_has_no_jump() {
    let mut random = Random::new(4);
    let mut video = frame(RAW, |_, _| 16).repeat(10);
    for number in 1..=50 {
        video.extend(frame(RAW, |x, _| {
            let level = 40 + 140 * x as u64 / 320 + random.below(9) - 4;
            16 + (level - 16) * number / 50
        }));
    }
    let before: Vec<f64> = lumas(RAW, &video).iter().map(|luma| mean(luma)).collect();
    let found = through(&Dir::new(), RAW, "", &video);
    let after: Vec<f64> = lumas(RAW, &found).iter().map(|luma| mean(luma)).collect();
    let ((step_before, _), (step, number)) = (largest_step(&before), largest_step(&after));
    assert!(step <= 4.0 * step_before, "a jump of {step:.2} at frame {number}; {step_before:.2} in the input");
    assert!(after.windows(2).all(|pair| pair[1] > pair[0] - CALM), "it gets darker on the way: {after:?}");
}

#[test]
fn a_title_on_black_leaves_the_black_black() {
    let mut random = Random::new(5);
    let title = |number: usize| (10..40).contains(&number);
    let mut video = Vec::new();
    for number in 0..50 {
        video.extend(frame(RAW, |x, y| {
            // Vertical strokes that cover a third of a band.
            let stroke = (80..240).contains(&x) && (80..100).contains(&y) && x % 9 < 3;
            if title(number) && stroke { 235 } else { 16 + random.below(2) }
        }));
    }
    let found = through(&Dir::new(), RAW, "", &video);
    for (number, luma) in lumas(RAW, &found).iter().enumerate() {
        let (black, white) = (mean(&luma[..320 * 60]), luma.iter().max());
        assert!(black < 20.0, "black is {black:.1} in frame {number}");
        assert!(!title(number) || white >= Some(&230), "white is {white:?} in frame {number}");
    }
    let means: Vec<f64> = lumas(RAW, &found).iter().map(|luma| mean(&luma[..320 * 60])).collect();
    let (step, number) = largest_step(&means);
    assert!(step <= CALM, "black moves by {step:.2} levels at frame {number}");
}

#[test]
fn a_picture_that_stands_still_holds_still_from_its_first_frame_on() {
    let mut random = Random::new(6);
    let video: Vec<u8> = (0..30).flat_map(|_| gradient(RAW, &mut random, (40, 90), 5)).collect();
    let found = through(&Dir::new(), RAW, "", &video);
    for place in [(0, 0), (150, 70), (288, 140)] {
        // The patch's mean moves with its noise, which is amplified by the gain of the levels.
        let (noise, _) = largest_step(&patch(&video, place));
        let (step, number) = largest_step(&patch(&found, place));
        assert!(step <= 0.5 + 5.0 * noise, "the patch at {place:?} moves by {step:.2} levels at frame {number}");
    }
}

#[test]
fn something_bright_that_crosses_a_quarter_of_the_picture_moves_the_rest_under_no_look() {
    let mut random = Random::new(2);
    let (width, object) = (RAW.size.0 as i64, RAW.size.0 as i64 / 4);
    // The temporal window is full when the object enters.
    let left = |number: i64| (number - 60) * 7 - object;
    let mut video = Vec::new();
    for number in 0..130 {
        let covered = left(number)..left(number) + object;
        video.extend(frame(RAW, |x, y| {
            // The haze is denser towards the top.
            let level = 190 - 40 * y as u64 / 180 - 80 * y as u64 / 180 * (x as u64 / 9 % 2);
            if covered.contains(&(x as i64)) { 250 } else { level + random.below(5) - 2 }
        }));
    }
    let dir = Dir::new();
    for options in ["", "--look haze", "--look underwater --denoise 0", "--look night --denoise 0", "--method clahe"] {
        let found = through(&dir, RAW, options, &video);
        for place in [20, 110, 200, 280] {
            let means = patch(&found, (place as usize, 60));
            // The patch is uncovered in this frame and in the one before.
            let covered = |number: usize| {
                let left = left(number as i64);
                left < place + 32 && left + object > place && left < width
            };
            let step = |number: &usize| (means[*number] - means[*number - 1]).abs();
            let largest =
                (1..130).filter(|number| !covered(*number) && !covered(number - 1)).map(|number| step(&number));
            let largest = largest.fold(0.0, f64::max);
            assert!(largest <= CALM, "'{options}': the part at {place} moves by {largest:.2} levels");
        }
    }
}

//! A cut starts a new window, and a flash does not change other frames.

use super::{RAW, frame, gradient, lumas, through};
use crate::support::media::textbook::assert_same_video;
use crate::support::pictures::Random;
use crate::support::programs::program::Dir;
use Scene::{Bright as BRIGHT, Dark as DARK};

/// Two scenes with different contents.
#[derive(Clone, Copy)]
enum Scene {
    /// A dark gradient.
    Dark,
    /// A bright chequered pattern.
    Bright,
}

/// `frames` noisy frames of a scene.
fn scene(random: &mut Random, scene: Scene, frames: usize) -> Vec<u8> {
    let field = |x: usize, y: usize| (x / 40 + y / 30) as u64 % 2;
    (0..frames)
        .flat_map(|_| match scene {
            DARK => gradient(RAW, random, (24, 70), 4),
            BRIGHT => frame(RAW, |x, y| 140 + 60 * field(x, y) + random.below(9) - 4),
        })
        .collect()
}

#[test]
fn after_a_cut_everything_is_as_if_the_video_began_there() {
    let dir = Dir::new();
    let mut random = Random::new(1);
    for (first, second) in [(DARK, BRIGHT), (BRIGHT, DARK)] {
        let before = scene(&mut random, first, 30);
        let after = scene(&mut random, second, 30);
        for options in [
            "",
            "--look night --denoise 0",
            "--look haze",
            "--look thermal",
            "--method clahe --set tiles=4x3",
            "--max-gain auto",
        ] {
            let found = through(&dir, RAW, options, &[&before[..], &after[..]].concat());
            let expected = [through(&dir, RAW, options, &before), through(&dir, RAW, options, &after)].concat();
            assert_same_video(&format!("a cut with '{options}'"), RAW, &found, &expected);
        }
    }
}

#[test]
fn without_a_threshold_nothing_is_a_cut() {
    let dir = Dir::new();
    let mut random = Random::new(2);
    let (before, after) = (scene(&mut random, DARK, 20), scene(&mut random, BRIGHT, 10));
    let both = [&before[..], &after[..]].concat();
    let found = through(&dir, RAW, "--set scene-threshold=1", &both);
    let of_its_own = through(&dir, RAW, "--set scene-threshold=1", &after);
    assert!(found[before.len()..] != of_its_own[..], "the window should reach over the cut");
    assert!(through(&dir, RAW, "", &both)[before.len()..] == of_its_own[..], "the window should not");
}

#[test]
fn a_flash_changes_no_frame_but_its_own() {
    let dir = Dir::new();
    let mut random = Random::new(3);
    let white = frame(RAW, |_, _| 235);
    for options in ["", "--look night --denoise 0", "--look thermal"] {
        for (first, length) in [(5, 1), (20, 1), (35, 4)] {
            let (before, after) = (scene(&mut random, DARK, first), scene(&mut random, DARK, 50 - first));
            let found = through(&dir, RAW, options, &[&before[..], &white.repeat(length), &after[..]].concat());
            let expected = through(&dir, RAW, options, &[&before[..], &after[..]].concat());
            let (found, expected) = (lumas(RAW, &found), lumas(RAW, &expected));
            // Noise is measured between neighbouring frames, which a flash separates, so levels may differ by 1.
            let is_same =
                |found: &[u64], expected: &[u64]| found.iter().zip(expected).all(|(a, b)| a.abs_diff(*b) <= 1);
            for number in 0..50 {
                let behind = if number < first { 0 } else { length };
                let same = is_same(&found[number + behind], &expected[number]);
                assert!(same, "frame {number}, with a flash at {first}, '{options}'");
            }
        }
    }
}

#[test]
fn a_look_is_the_same_from_a_file_and_through_a_window_of_its_own_length() {
    let dir = Dir::new();
    let mut random = Random::new(4);
    let video = scene(&mut random, DARK, 40);
    // The same number of seconds is fewer frames at a lower rate.
    let slow = through(&dir, RAW, "-r 5 --smooth 2", &video);
    let fast = through(&dir, RAW, "-r 25 --smooth 0.4", &video);
    assert_same_video("ten frames", RAW, &slow, &fast);
    assert!(slow != through(&dir, RAW, "-r 25 --smooth 2", &video), "a window of ten frames, and one of fifty");
}

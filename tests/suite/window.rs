//! The temporal window: which frames it sums up, what a cut and a flash do to it, and that a run in the middle of a
//! video sees the same as the whole.

use crate::pictures::{Random, seed};
use histeq_video::spec::{
    Equalization, Histogram, Levels, LookAhead, Scenes, Settings, Smoothing, Threshold, WindowSums, WindowUpdate,
};

const SAMPLES: u64 = 10_000;
const SIZE: (usize, usize) = (100, 100);

/// A frame whose samples crowd around a level.
fn around(level: usize, random: &mut Random) -> Histogram {
    let mut counts = vec![0u64; Levels::full(8).count()];
    for _ in 0..100 {
        counts[(level + random.below(20) as usize).min(255)] += SAMPLES / 100;
    }
    Histogram::from_counts(Levels::full(8), counts)
}

fn settings(frames: u32, flash: u32) -> Settings {
    Settings {
        smoothing: Smoothing::new(frames, flash),
        scene_threshold: Threshold::from_share(0.2).unwrap(),
        ..Settings::default()
    }
}

/// The windows of a video by the rule as it is written, with nothing carried along: which frames, by number, belong to
/// the window of the last one.
fn members(frames: &[Histogram], settings: &Settings) -> Vec<usize> {
    let distance = |a: usize, b: usize| {
        let cumulative = |histogram: &Histogram| -> Vec<f64> {
            (1..=64).map(|k| histogram.counts()[..4 * k].iter().sum::<u64>() as f64 / SAMPLES as f64).collect()
        };
        let (a, b) = (cumulative(&frames[a]), cumulative(&frames[b]));
        a.iter().zip(&b).map(|(a, b)| (a - b).abs()).sum::<f64>() / 64.0
    };
    let far = |a, b| distance(a, b) > 0.2;
    let (most, flash) = (settings.smoothing.frames() as usize, settings.smoothing.flash() as usize);
    let memory = most + flash;
    let (mut current, mut aside) = (Vec::new(), Vec::new());
    let mut last_cut: Option<usize> = None;
    for number in 0..frames.len() {
        if number > 0 && far(number, number - 1) {
            let back = last_cut.is_some_and(|cut| number - cut <= flash && !far(number, cut - 1));
            std::mem::swap(&mut current, &mut aside);
            if !back {
                current.clear();
            }
            last_cut = Some(number);
        }
        current.push(number);
        current.drain(..current.len().saturating_sub(most));
        current.retain(|member| member + memory > number);
        aside.retain(|member| member + memory > number);
    }
    current
}

/// Scenes of many lengths, flashes, strobes, slow changes.
fn video(random: &mut Random, length: usize) -> Vec<Histogram> {
    let mut frames = Vec::new();
    let mut level = 40;
    while frames.len() < length {
        match random.below(4) {
            0 => level = random.below(200) as usize,
            1 => frames.extend((0..1 + random.below(5)).map(|_| around(200 - level / 2, random))),
            2 => {
                for turn in 0..random.below(12) as usize {
                    frames.push(around([level, 220 - level][turn % 2], random));
                }
            }
            _ => {}
        }
        for _ in 0..random.below(30) {
            level = (level + random.below(3) as usize).saturating_sub(1).min(230);
            frames.push(around(level, random));
        }
    }
    frames.truncate(length);
    frames
}

fn turns(frames: &[Histogram], settings: &Settings) -> Vec<WindowUpdate> {
    let mut scenes = Scenes::new(settings);
    frames.iter().map(|frame| scenes.next(frame, SIZE)).collect()
}

#[test]
fn the_sum_is_that_of_the_frames_that_the_rule_names() {
    let seed = seed();
    let mut random = Random::new(seed);
    for (most, flash) in [(1, 0), (1, 3), (2, 1), (7, 2), (12, 5), (30, 0)] {
        let settings = settings(most, flash);
        let frames = video(&mut random, 150);
        let (mut scenes, mut window) = (Scenes::new(&settings), WindowSums::default());
        for (number, frame) in frames.iter().enumerate() {
            let turn = scenes.next(frame, SIZE);
            let sum = window.next(&turn, frame.counts()).to_vec();
            let members = members(&frames[..=number], &settings);
            let mut expected = vec![0; 256];
            for &member in &members {
                frames[member].counts().iter().zip(&mut expected).for_each(|(count, sum)| *sum += count);
            }
            assert_eq!(sum, expected, "frame {number} of W {most}, F {flash}, seed {seed}: {members:?}");
            assert_eq!(turn.frames as usize, members.len());
        }
    }
}

#[test]
fn a_run_that_starts_w_plus_f_frames_early_gives_the_curves_of_the_whole() {
    let seed = seed();
    let mut random = Random::new(seed);
    for (most, flash) in [(1, 0), (2, 1), (7, 2), (12, 5)] {
        let settings = settings(most, flash);
        let frames = video(&mut random, 120);
        let mut whole = Equalization::new(settings);
        let curves: Vec<_> = frames.iter().map(|frame| whole.next(frame, SIZE).curve).collect();
        for begin in 0..frames.len() {
            let mut part = Equalization::new(settings);
            let early = begin.saturating_sub(settings.smoothing.memory() as usize);
            for (number, frame) in frames.iter().enumerate().skip(early) {
                let curve = part.next(frame, SIZE).curve;
                assert!(number < begin || curve == curves[number], "{number} from {begin}, W {most}, seed {seed}");
            }
        }
    }
}

#[test]
fn a_cut_is_answered_at_once_and_a_flash_is_forgotten() {
    let mut random = Random::new(1);
    let settings = settings(10, 3);
    let dark: Vec<_> = (0..12).map(|_| around(20, &mut random)).collect();
    let bright: Vec<_> = (0..4).map(|_| around(180, &mut random)).collect();

    let cut = [&dark[..], &bright[..]].concat();
    let after = &turns(&cut, &settings)[12];
    assert!(after.cut && after.frames == 1 && after.scene == 1, "{after:?}");
    assert!(turns(&cut, &settings)[..12].iter().all(|turn| !turn.cut && turn.scene == 0));

    for length in 1..=4 {
        let with: Vec<_> = [&dark[..6], &bright[..length], &dark[6..]].concat();
        let mut equalization = Equalization::new(settings);
        let steps: Vec<_> = with.iter().map(|frame| equalization.next(frame, SIZE)).collect();
        let back = &steps[6 + length].update;
        if length <= 3 {
            assert!(back.after_flash && back.scene == 0 && back.frames == 7, "{back:?}");
            let mut without = Equalization::new(settings);
            let calm: Vec<_> = dark.iter().map(|frame| without.next(frame, SIZE).curve).collect();
            assert!(steps[6 + length..].iter().zip(&calm[6..]).all(|(step, curve)| step.curve == *curve));
        } else {
            assert!(back.cut && !back.after_flash && back.frames == 1, "{back:?}");
        }
    }
}

#[test]
fn a_look_ahead_ends_the_window_at_the_last_frame_of_the_scene_that_is_known() {
    let mut look_ahead = LookAhead::default();
    let mut seen = Vec::new();
    // A scene, a flash of two frames, the scene again, a cut.
    for (number, scene) in [0, 0, 1, 1, 0, 0, 0, 2, 2].into_iter().enumerate() {
        seen.extend(look_ahead.push(3, scene, number, number));
        assert!(seen.len() == (number + 1).saturating_sub(3));
    }
    while let Some(rest) = look_ahead.pop() {
        seen.push(rest);
    }
    assert_eq!(seen, [(0, 1), (1, 4), (2, 3), (3, 3), (4, 6), (5, 6), (6, 6), (7, 8), (8, 8)]);
}

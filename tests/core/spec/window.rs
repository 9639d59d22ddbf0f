//! The temporal window: which frames it sums up, how it reacts to a cut and a flash, and that a run from the middle of
//! a video has the same window as a run over the whole.

use crate::pictures::{Random, seed};
use histeq::internal::spec::Guide;
use histeq::internal::spec::curves::{Equalization, Histogram, Levels};
use histeq::internal::spec::parameters::{Settings, Smoothing, Threshold};
use histeq::internal::spec::time::{Change, LookAhead, SceneWindows, WindowSums};

const SAMPLES: u64 = 10_000;
const SIZE: (usize, usize) = (100, 100);

/// A histogram of samples within 20 levels from `level` on.
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

/// The numbers of the frames in the window of the last frame: a second implementation, from the list of all changes.
fn members(changes: &[Change], settings: &Settings) -> Vec<usize> {
    let (most, memory) = (settings.smoothing.frames() as usize, settings.smoothing.memory() as usize);
    let (mut current, mut aside) = (Vec::new(), Vec::new());
    for (number, change) in changes.iter().enumerate() {
        current.retain(|member| member + memory > number);
        aside.retain(|member| member + memory > number);
        if let Change::Cut | Change::AfterFlash = change {
            std::mem::swap(&mut current, &mut aside);
        }
        if *change == Change::Cut {
            current.clear();
        }
        if *change != Change::Flash || current.is_empty() {
            current.push(number);
        }
        current.drain(..current.len().saturating_sub(most));
    }
    current
}

/// A random video: scenes of many lengths, and flashes that are known at once or only at their end.
fn video(random: &mut Random, length: usize) -> Vec<(Histogram, Guide)> {
    let mut level = 40;
    (0..length)
        .map(|_| {
            level = (level + random.below(3) as usize).saturating_sub(1).min(230);
            let change = match random.below(12) {
                0 => Change::Cut,
                1 => Change::AfterFlash,
                2 | 3 => Change::Flash,
                _ => Change::None,
            };
            if change == Change::Cut {
                level = random.below(200) as usize;
            }
            (around(level, random), guide(change))
        })
        .collect()
}

fn guide(change: Change) -> Guide {
    Guide { change, ..Guide::default() }
}

#[test]
fn the_sum_is_that_of_the_frames_that_the_rule_names() {
    let seed = seed();
    let mut random = Random::new(seed);
    for (most, flash) in [(1, 0), (1, 3), (2, 1), (7, 2), (12, 5), (30, 0)] {
        let settings = settings(most, flash);
        let frames = video(&mut random, 150);
        let changes: Vec<Change> = frames.iter().map(|(_, guide)| guide.change).collect();
        let (mut scenes, mut window) = (SceneWindows::new(settings.smoothing), WindowSums::default());
        for (number, (frame, guide)) in frames.iter().enumerate() {
            // The first frame has no predecessor, so it has no change.
            let change = if number == 0 { Change::None } else { guide.change };
            let turn = scenes.next(guide.change, frame.levels(), SIZE);
            let sum = window.next(&turn, frame.counts()).to_vec();
            let members = members(&[&[Change::None], &changes[1..=number.max(1)]].concat()[..=number], &settings);
            let mut expected = vec![0; 256];
            for &member in &members {
                frames[member].0.counts().iter().zip(&mut expected).for_each(|(count, sum)| *sum += count);
            }
            assert_eq!(sum, expected, "frame {number} of W {most}, F {flash}, seed {seed}: {members:?}");
            assert_eq!((turn.frames as usize, turn.scene.cut), (members.len(), change == Change::Cut));
        }
    }
}

#[test]
fn a_run_that_starts_w_plus_f_frames_early_gives_the_curves_of_the_whole() {
    let seed = seed();
    let mut random = Random::new(seed);
    for (most, flash) in [(1, 0), (2, 1), (7, 2), (12, 5)] {
        let settings = settings(most, flash);
        let mut frames = video(&mut random, 120);
        // Drops impossible changes: `AfterFlash` when the frames before the flash are forgotten, and flashes longer
        // than `flash`.
        let (mut since_cut, mut flashes) = (u32::MAX, 0);
        for (_, guide) in &mut frames {
            since_cut = since_cut.saturating_add(1);
            flashes = if guide.change == Change::Flash { flashes + 1 } else { 0 };
            if flashes > flash {
                (guide.change, flashes) = (Change::None, 0);
            }
            match guide.change {
                Change::AfterFlash if since_cut > flash => guide.change = Change::None,
                Change::Cut | Change::AfterFlash => since_cut = 0,
                _ => {}
            }
        }
        let mut whole = Equalization::new(settings);
        let curves: Vec<_> = frames.iter().map(|(frame, guide)| whole.next(frame, SIZE, guide).curve).collect();
        for begin in 0..frames.len() {
            let mut part = Equalization::new(settings);
            let early = begin.saturating_sub(2 * settings.smoothing.memory() as usize);
            for (number, (frame, guide)) in frames.iter().enumerate().skip(early) {
                let curve = part.next(frame, SIZE, guide).curve;
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
    let bright: Vec<_> = (0..3).map(|_| around(180, &mut random)).collect();
    let mut calm = Equalization::new(settings);
    let calm: Vec<_> = dark.iter().map(|frame| calm.next(frame, SIZE, &guide(Change::None)).curve).collect();

    for length in 1..=3 {
        // Without look-ahead, the flash is reported as a cut at first.
        let mut equalization = Equalization::new(settings);
        let frames = [&dark[..6], &bright[..length], &dark[6..]].concat();
        let steps: Vec<_> = (0..)
            .zip(&frames)
            .map(|(number, frame)| {
                let change = match number {
                    6 => Change::Cut,
                    _ if number == 6 + length => Change::AfterFlash,
                    _ => Change::None,
                };
                equalization.next(frame, SIZE, &guide(change))
            })
            .collect();
        let (cut, back) = (&steps[6].update, &steps[6 + length].update);
        assert!(cut.scene.cut && cut.frames == 1 && cut.scene.number == 1, "{cut:?}");
        assert!(back.scene.after_flash && back.scene.number == 0 && back.frames == 7, "{back:?}");
        assert!(steps[6 + length..].iter().zip(&calm[6..]).all(|(step, curve)| step.curve == *curve));

        // With look-ahead, the flash is known, and its frames get the curve of the scene.
        let mut equalization = Equalization::new(settings);
        let in_flash = |number: usize| (6..6 + length).contains(&number);
        for (number, frame) in frames.iter().enumerate() {
            let change = if in_flash(number) { Change::Flash } else { Change::None };
            let step = equalization.next(frame, SIZE, &guide(change));
            let expected = if number < 6 {
                number
            } else if in_flash(number) {
                5
            } else {
                number - length
            };
            assert_eq!(step.curve, calm[expected], "frame {number} of a flash of {length}");
            assert!(step.update.scene.number == 0 && step.update.joins != in_flash(number));
        }
    }
}

#[test]
fn a_look_ahead_ends_the_window_at_the_last_frame_of_the_scene_that_is_known() {
    let mut look_ahead = LookAhead::default();
    let mut seen = Vec::new();
    // A scene, a flash of two frames, the first scene again, a cut to another scene.
    for (number, scene) in [0, 0, 1, 1, 0, 0, 0, 2, 2].into_iter().enumerate() {
        let taker = look_ahead.taker(3, scene).copied();
        let leaves = look_ahead.push(3, scene, number, number);
        assert_eq!(taker, leaves.filter(|(_, curve)| *curve == number).map(|(frame, _)| frame));
        seen.extend(leaves);
        assert!(seen.len() == (number + 1).saturating_sub(3));
    }
    while let Some(rest) = look_ahead.pop() {
        seen.push(rest);
    }
    assert_eq!(seen, [(0, 1), (1, 4), (2, 3), (3, 3), (4, 6), (5, 6), (6, 6), (7, 8), (8, 8)]);
}

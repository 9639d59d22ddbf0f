//! Detecting scenes from the samples of a lattice: cuts, flashes, moving objects, light, fades.

use crate::pictures::Random;
use histeq::internal::spec::curves::Levels;
use histeq::internal::spec::parameters::{Settings, Smoothing, Threshold};
use histeq::internal::spec::time::Change;
use histeq::internal::spec::time::cuts::Distance;
use histeq::internal::spec::{Guides, Lattice, Measure};

const SIZE: (usize, usize) = (640, 360);
const FLASH: u32 = 6;

/// Random frames can be alike; those of this seed are not.
const SEED: u64 = 1;

/// The samples of a frame at the points of the lattice, in levels of 8 bits.
type Picture = Vec<u16>;

fn points() -> (usize, usize) {
    Lattice::size_for(SIZE)
}

/// A random frame of patches, each of one brightness.
fn shot(random: &mut Random) -> Picture {
    let (columns, rows) = points();
    let patches: Vec<u64> = (0..12).map(|_| 20 + random.below(200)).collect();
    let (wide, tall) = (columns.div_ceil(4), rows.div_ceil(3));
    (0..columns * rows).map(|point| patches[point / columns / tall * 4 + point % columns / wide] as u16).collect()
}

fn noisy(picture: &[u16], random: &mut Random) -> Picture {
    picture.iter().map(|&level| (level + random.below(5) as u16).saturating_sub(2).min(255)).collect()
}

fn measured(picture: &[u16], levels: Levels) -> Measure {
    let factor = (levels.count() as u32 - 1) / 255;
    let luma = picture.iter().map(|&level| (u32::from(level) * factor) as u16).collect();
    Measure::new(&Lattice { size: points(), luma, ..Lattice::default() }, levels, SIZE)
}

fn settings(ahead: u32) -> Settings {
    Settings {
        smoothing: Smoothing::new(50, FLASH).looking_ahead(ahead),
        scene_threshold: Threshold::from_share(0.25).unwrap(),
        ..Settings::default()
    }
}

fn changes(video: &[Picture], settings: &Settings, levels: Levels) -> Vec<Change> {
    let mut guides = Guides::default();
    let mut found = Vec::new();
    for picture in video {
        found.extend(guides.push(measured(picture, levels), settings));
    }
    found.extend(guides.finish());
    found.into_iter().map(|guide| guide.change).collect()
}

/// The numbers of the frames with this change.
fn places(found: &[Change], change: Change) -> Vec<usize> {
    (0..found.len()).filter(|&number| found[number] == change).collect()
}

#[test]
fn every_cut_is_found_on_its_frame_whatever_the_depth() {
    let mut random = Random::new(SEED);
    let lengths = [12, 30, 9, 41, 8, 15];
    let video: Vec<Picture> = lengths
        .into_iter()
        .flat_map(|length| {
            let picture = shot(&mut random);
            (0..length).map(|_| noisy(&picture, &mut random)).collect::<Vec<_>>()
        })
        .collect();
    let expected: Vec<usize> = lengths
        .iter()
        .scan(0, |sum, length| {
            *sum += length;
            Some(*sum)
        })
        .take(lengths.len() - 1)
        .collect();
    for ahead in [0, 25] {
        for levels in [Levels::full(8), Levels::limited(10), Levels::full(16)] {
            let found = changes(&video, &settings(ahead), levels);
            assert_eq!(found.len(), video.len());
            assert_eq!(places(&found, Change::Cut), expected, "{ahead} ahead, {levels:?}, seed {SEED}");
        }
    }
}

#[test]
fn a_known_flash_is_in_no_window_and_one_that_was_taken_for_a_scene_gives_the_old_one_back() {
    let mut random = Random::new(SEED);
    let picture = shot(&mut random);
    for length in 1..=4 {
        let mut video: Vec<Picture> = (0..40).map(|_| noisy(&picture, &mut random)).collect();
        for frame in &mut video[15..15 + length] {
            *frame = frame.iter().map(|level| (level * 2 / 3 + 120).min(255)).collect();
        }
        let found = changes(&video, &settings(25), Levels::full(8));
        assert_eq!(places(&found, Change::Cut), [0usize; 0], "a flash of {length}");
        assert_eq!(places(&found, Change::Flash), (15..15 + length).collect::<Vec<_>>());

        let other = shot(&mut random);
        let mut video: Vec<Picture> = (0..40).map(|_| noisy(&picture, &mut random)).collect();
        video[15..15 + length].fill(other);
        let found = changes(&video, &settings(0), Levels::full(8));
        assert_eq!(places(&found, Change::Cut), [15], "another picture of {length}, without look-ahead");
        assert_eq!(places(&found, Change::AfterFlash), [15 + length]);
    }
}

#[test]
fn what_crosses_the_picture_fades_or_pans_is_no_cut() {
    let mut random = Random::new(SEED);
    let (columns, rows) = points();
    let (picture, next) = (shot(&mut random), shot(&mut random));
    let crossing: Vec<Picture> = (0..60)
        .map(|number: usize| {
            let mut frame = noisy(&picture, &mut random);
            // An object that covers half of the frame crosses it.
            let left = (4 * number).saturating_sub(columns / 2);
            for y in 0..rows {
                for x in left..(4 * number).min(columns) {
                    frame[y * columns + x] = 240;
                }
            }
            frame
        })
        .collect();
    let fading: Vec<Picture> = (0..60)
        .map(|number: u16| {
            let faded =
                picture.iter().zip(&next).map(|(a, b)| (a * (59 - number) + b * number) / 59).collect::<Vec<_>>();
            noisy(&faded, &mut random)
        })
        .collect();
    let panning: Vec<Picture> = (0..60)
        .map(|number| {
            let moved = (0..columns * rows).map(|point| {
                let (x, y) = (point % columns + 2 * number, point / columns);
                if x < columns { picture[y * columns + x] } else { next[y * columns + x % columns] }
            });
            noisy(&moved.collect::<Vec<_>>(), &mut random)
        })
        .collect();
    for (name, video) in [("crossing", crossing), ("fading", fading), ("panning", panning)] {
        for ahead in [0, 25] {
            let found = changes(&video, &settings(ahead), Levels::full(8));
            assert_eq!(places(&found, Change::None).len(), 60, "{name}, {ahead} ahead: {found:?}, seed {SEED}");
        }
    }
}

#[test]
fn a_fade_through_black_is_no_cut_and_a_cut_from_black_is_one() {
    let mut random = Random::new(SEED);
    let (before, after) = (shot(&mut random), shot(&mut random));
    let dimmed = |picture: &[u16], share: u16| picture.iter().map(|level| level * share / 20).collect::<Picture>();
    let out = (0..30).map(|number: u16| dimmed(&before, 20 - number.saturating_sub(9).min(20)));
    let fading: Vec<Picture> = out.clone().chain((0..30).map(|number| dimmed(&after, number.min(20)))).collect();
    let cutting: Vec<Picture> = out.chain((0..30).map(|_| after.clone())).collect();
    for levels in [Levels::full(8), Levels::limited(10), Levels::full(16)] {
        for ahead in [0, 25] {
            let found = changes(&fading, &settings(ahead), levels);
            assert!(places(&found, Change::Cut).is_empty(), "{ahead} ahead, {levels:?}: {found:?}, seed {SEED}");
            let found = changes(&cutting, &settings(ahead), levels);
            assert_eq!(places(&found, Change::Cut), [30], "{ahead} ahead, {levels:?}, seed {SEED}");
        }
    }
}

#[test]
fn light_that_comes_on_and_stays_begins_a_scene_with_a_look_ahead() {
    let mut random = Random::new(SEED);
    let picture = shot(&mut random);
    let video: Vec<Picture> = (0..60)
        .map(|number| {
            let lit = picture.iter().map(|level| if number < 30 { level / 5 } else { *level }).collect::<Vec<_>>();
            noisy(&lit, &mut random)
        })
        .collect();
    let found = changes(&video, &settings(25), Levels::full(8));
    assert_eq!(places(&found, Change::Cut), [30]);
}

#[test]
fn a_run_that_starts_early_enough_finds_the_scenes_of_the_whole() {
    let mut random = Random::new(SEED);
    let video: Vec<Picture> = (0..12)
        .flat_map(|_| {
            let picture = shot(&mut random);
            (0..3 + random.below(30)).map(|_| noisy(&picture, &mut random)).collect::<Vec<_>>()
        })
        .collect();
    for ahead in [0, 10] {
        let settings = Settings { smoothing: Smoothing::new(20, FLASH).looking_ahead(ahead), ..settings(0) };
        let whole = changes(&video, &settings, Levels::full(8));
        for begin in (1..video.len()).step_by(7) {
            let early = begin.saturating_sub(settings.warm_up() as usize);
            let part = changes(&video[early..], &settings, Levels::full(8));
            assert_eq!(part[begin - early..], whole[begin..], "from {begin}, {ahead} ahead, seed {SEED}");
        }
    }
}

#[test]
fn black_bars_do_not_hide_a_cut() {
    let mut random = Random::new(SEED);
    let (columns, rows) = points();
    let (a, b) = (shot(&mut random), shot(&mut random));
    let barred = |picture: &[u16]| -> Picture {
        let in_bars = |point: usize| point / columns < rows / 4 || point / columns >= rows - rows / 4;
        picture.iter().enumerate().map(|(point, &level)| if in_bars(point) { 0 } else { level }).collect()
    };
    let frames = [a, b].map(|picture| barred(&picture));
    assert!(
        Distance::new(&measured(&frames[0], Levels::full(8)), &measured(&frames[1], Levels::full(8))).picture > 1024
    );
    let video: Vec<Picture> = (0..40).map(|number| frames[number / 20].clone()).collect();
    assert_eq!(places(&changes(&video, &settings(20), Levels::full(8)), Change::Cut), [20]);
}

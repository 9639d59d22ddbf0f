//! Bins, plateau and contrast limit: against a second implementation with exact fractions, and on every backend,
//! together with the temporal window.

use crate::backends::{Sequence, available, by_reference, gpu};
use crate::equalize::grid::{LAYOUTS, check};
use crate::pictures::{Content, Picture, Random, seed};
use histeq::internal::equalize::backend::cuda::Cuda;
use histeq::internal::frame::{Frame, HostPool, Matrix, PixelFormat, Range};
use histeq::internal::spec::Guide;
use histeq::internal::spec::curves::modifiers::{capped, in_bins, limited};
use histeq::internal::spec::curves::{Curve, Equalization, Histogram, Levels};
use histeq::internal::spec::parameters::{
    Gain, Method, Plateau, Rect, Region, Settings, Smoothing, Strength, Threshold,
};

fn gain(slope: f64) -> Gain {
    Gain::from_slope(slope).unwrap()
}

/// Difficult histograms.
fn histograms(levels: Levels, random: &mut Random) -> Vec<Histogram> {
    let count = levels.count();
    let mut all = Vec::new();
    for sparse in [1, 3, 50] {
        for high in [2, 1000, 40_000] {
            let counts = (0..count).map(|_| if random.below(sparse) == 0 { random.below(high) } else { 0 });
            all.push(Histogram::from_counts(levels, counts.collect()));
        }
    }
    // Histograms of near-black noise, of a title on black, and of two levels far apart.
    for places in
        [&[(1, 500_000), (2, 700_000)][..], &[(0, 2_000_000), (count - 1, 900)], &[(count / 2, 1), (count - 2, 9)]]
    {
        let mut counts = vec![0; count];
        places.iter().for_each(|&(level, samples)| counts[level] += samples);
        all.push(Histogram::from_counts(levels, counts));
    }
    all
}

#[test]
fn bins_and_plateau_are_what_the_rule_says() {
    let seed = seed();
    let mut random = Random::new(seed);
    for levels in [Levels::limited(8), Levels::full(8), Levels::limited(10)] {
        for histogram in histograms(levels, &mut random) {
            for asked in [None, Some(2), Some(3), Some(64), Some(100), Some(219), Some(100_000)] {
                let count = levels.count();
                let bins = asked.map_or(count, |bins: u32| count.min(bins as usize));
                let bin = |level: usize| level * bins / count;
                let level_of = |level: usize| {
                    let of_bin: Vec<usize> = (0..count).filter(|&other| bin(other) == bin(level)).collect();
                    let held: u64 = of_bin.iter().map(|&other| histogram.counts()[other]).sum();
                    let (j, w) = ((level - of_bin[0]) as u64, of_bin.len() as u64);
                    held * (j + 1) / w - held * j / w
                };
                let expected: Vec<u64> = (0..count).map(level_of).collect();
                assert_eq!(in_bins(&histogram, asked).counts(), expected, "{asked:?}, seed {seed}");
            }
        }
    }
    assert_eq!(*capped(&[0, 3, 9, 10, 11], Some(9)), [0, 3, 9, 9, 9]);
    assert_eq!(*capped(&[0, 3, 9], None), [0, 3, 9]);
    assert_eq!(Plateau::Millionths(5000).cap(2000), Some(10));
    assert_eq!(Plateau::Millionths(1).cap(2000), Some(1), "one sample at least");
    assert_eq!(Plateau::Off.cap(2000), None);
}

#[test]
fn a_flat_wall_that_comes_and_goes_moves_the_curve_by_no_more_than_its_plateau() {
    let levels = Levels::full(8);
    // All levels occur equally; in 5 of 20 frames, a wall adds samples of a single level.
    let curves = |plateau| {
        let settings = Settings { smoothing: Smoothing::new(25, 0), plateau, ..Settings::default() };
        let mut equalization = Equalization::new(settings);
        (0..60).map(move |frame| {
            let mut counts = vec![10; levels.count()];
            counts[77] += if frame % 20 < 5 { 2000 } else { 0 };
            equalization.next(&Histogram::from_counts(levels, counts), (100, 50), &Guide::default()).curve
        })
    };
    let largest_step = |plateau| {
        let curves: Vec<Curve> = curves(plateau).skip(26).collect();
        let step = |pair: &[Curve]| {
            pair[0].codes().iter().zip(pair[1].codes()).map(|(a, b)| a.abs_diff(*b)).max().unwrap_or(0)
        };
        curves.windows(2).map(step).max().unwrap()
    };
    assert!(largest_step(Plateau::Off) >= 4, "the test has no wall");
    // With the plateau, the wall adds at most 15 samples per frame to the window's 25 * 2560.
    assert!(largest_step(Plateau::Count(25)) <= 1);
}

/// Whether `lut[b] - lut[a] <= G*(b-a)*(L-1)/(L-G) + 1` for all a < b of a window of `samples`, with a tolerance of one
/// unit of the counts, which are in 256ths, at either end.
fn holds_slope(curve: &Curve, levels: Levels, slope: f64, samples: u64) -> bool {
    let (lo, count) = (usize::from(levels.lo()), levels.count() as f64);
    let codes = &curve.codes()[lo..=usize::from(levels.hi())];
    let unit = (count - 1.0) / (256.0 * samples as f64 * (1.0 - slope / count));
    let bound = |distance: usize| slope * distance as f64 * (count - 1.0) / (count - slope) + 1.0 + 2.0 * unit;
    (0..codes.len()).all(|a| {
        [1, 2, 3, 7, 50, 219]
            .into_iter()
            .take_while(|distance| a + distance < codes.len())
            .all(|distance| f64::from(codes[a + distance]) - f64::from(codes[a]) <= bound(distance))
    })
}

#[test]
fn no_curve_is_steeper_than_the_limit() {
    let seed = seed();
    let mut random = Random::new(seed);
    for levels in [Levels::limited(8), Levels::full(8), Levels::limited(10), Levels::full(12)] {
        for histogram in histograms(levels, &mut random) {
            for slope in [1.0, 1.5, 2.0, 3.0, 8.0] {
                let curve = Curve::equalizing(&limited(&histogram, gain(slope), (0, levels.count() as u32 - 1)));
                assert!(holds_slope(&curve, levels, slope, histogram.total()), "{slope} of {levels:?}, seed {seed}");
                assert!(curve.codes().is_sorted());
            }
        }
    }
}

#[test]
fn a_limit_of_one_leaves_the_levels_as_they_are() {
    let mut random = Random::new(3);
    for levels in [Levels::limited(8), Levels::full(10)] {
        for histogram in histograms(levels, &mut random) {
            let curve = Curve::equalizing(&limited(&histogram, gain(1.0), (0, levels.count() as u32 - 1)));
            let range = usize::from(levels.lo())..=usize::from(levels.hi());
            assert!(range.into_iter().all(|code| usize::from(curve.apply(code as u16)) == code), "{levels:?}");
        }
    }
}

#[test]
fn near_black_noise_fades_and_blank_frames_stay_calm() {
    let levels = Levels::limited(8);
    let settings = Settings { smoothing: Smoothing::new(25, 6), max_gain: gain(3.0), ..Settings::default() };
    let mut equalization = Equalization::new(settings);
    let mut random = Random::new(4);
    for frame in 0..200u64 {
        // Blank frames, noise of two codes, a fade from black, and blank frames again.
        let mut counts = vec![0; levels.count()];
        let brightness = if (60..140).contains(&frame) { frame - 60 } else { 0 };
        for _ in 0..5000 {
            let noise = if (20..140).contains(&frame) { random.below(2) } else { 0 };
            counts[(random.below(brightness + 1) + noise) as usize] += 1;
        }
        let histogram = Histogram::from_counts(levels, counts);
        let curve = equalization.next(&histogram, (100, 50), &Guide::default()).curve;
        assert!(holds_slope(&curve, levels, 3.0, 5000) || curve == Curve::identity(levels), "frame {frame}");
        if frame < 20 {
            assert_eq!(curve, Curve::identity(levels), "a flat clip stays as it is");
        }
    }
}

/// A window of `frames` frames; flashes of at most `flash` frames do not end a scene.
pub fn window(frames: u32, flash: u32) -> Settings {
    let scene_threshold = Threshold::from_share(0.15).unwrap();
    Settings { smoothing: Smoothing::new(frames, flash), scene_threshold, ..Settings::default() }
}

/// A window with a plateau and a contrast limit.
pub fn window_with_limits() -> Settings {
    Settings { max_gain: gain(2.5), plateau: Plateau::Millionths(20_000), ..window(5, 2) }
}

/// A window with a look-ahead and a contrast limit.
pub fn window_ahead() -> Settings {
    Settings { smoothing: Smoothing::new(6, 2).looking_ahead(3), max_gain: gain(3.0), ..window(6, 2) }
}

/// Settings that reach every branch.
pub fn all_settings() -> Vec<Settings> {
    let plain = Settings::default();
    vec![
        window(3, 1),
        Settings { max_gain: gain(3.0), ..plain },
        Settings { plateau: Plateau::Count(5), ..plain },
        Settings { bins: Some(40), ..plain },
        Settings { bins: Some(1000), plateau: Plateau::Millionths(9000), ..plain },
        window_with_limits(),
        Settings { bins: Some(64), max_gain: gain(4.0), strength: Strength::from_share(0.7).unwrap(), ..window(4, 2) },
        Settings {
            region: Region::Fixed(Rect { x: 3, y: 1, width: 21, height: 90 }),
            max_gain: gain(9.0),
            ..window(2, 1)
        },
        window_ahead(),
        Settings { smoothing: Smoothing::new(4, 1).looking_ahead(3), region: Region::Auto, ..window(4, 1) },
        Settings { region: Region::Auto, plateau: Plateau::Millionths(30_000), max_gain: gain(4.0), ..window(3, 1) },
        Settings { region: Region::Auto, ..plain },
        Settings {
            method: Method::Clahe { columns: 3, rows: 2 },
            smoothing: Smoothing::new(5, 1).looking_ahead(2),
            max_gain: gain(3.0),
            ..window(5, 1)
        },
        Settings { region: Region::Fixed(Rect { x: 5000, y: 0, width: 1, height: 1 }), ..plain },
    ]
}

/// A video with scenes, flashes, and frames of another size, range or content.
pub fn video(format: PixelFormat, size: (usize, usize)) -> Vec<Picture> {
    use Content::{Flat, NearMax, NearZero, Noise, Ramp, TwoLevel};
    let contents = [
        Noise, Noise, Ramp, Noise, NearZero, NearZero, NearMax, NearZero, NearZero, NearMax, NearMax, Noise, Flat,
        Flat, TwoLevel, Noise, NearMax, NearMax, NearMax, NearZero, Noise,
    ];
    let mut pictures: Vec<Picture> = contents
        .into_iter()
        .zip(seed()..)
        .map(|(content, seed)| Picture { content, seed, ..Picture::new(format, size) })
        .collect();
    pictures[17].range = Range::Full;
    pictures[18].range = Range::Full;
    pictures.push(Picture::new(format, (size.0 + 1, size.1)));
    pictures.push(Picture::new(format, (size.0 + 1, size.1)));
    pictures
}

#[test]
fn every_backend_remembers_what_the_reference_remembers() {
    for backend in available() {
        for settings in all_settings() {
            for &format in LAYOUTS {
                let pictures = video(format, (45, 7));
                check(&format!("{} {settings:?}", backend.name), &mut backend.make(settings, 3), settings, &pictures);
            }
        }
    }
}

#[test]
fn frames_of_a_look_ahead_that_take_many_blocks_are_equalized_like_the_reference() {
    let Some(gpu) = gpu() else { return };
    // The last case is too large for shared memory.
    let small = [PixelFormat::P010le, PixelFormat::Gray12le, PixelFormat::Gray16be, PixelFormat::Rgb24];
    let cases = small.map(|format| (format, (1283, 541))).into_iter();
    for (format, size) in cases.chain([(PixelFormat::Gray, (3841, 1083)), (PixelFormat::Gray, (7681, 4321))]) {
        let contents = [Content::Noise, Content::Ramp, Content::NearZero, Content::Noise, Content::TwoLevel];
        let pictures = contents.map(|content| Picture { content, ..Picture::new(format, size) });
        let settings = Settings { smoothing: Smoothing::new(3, 0).looking_ahead(1), ..window_with_limits() };
        let mut cuda = Sequence::new(Box::new(Cuda::on(gpu, 3).unwrap()), settings);
        check(&format!("{format} {size:?}"), &mut cuda, settings, &pictures);
    }
}

#[test]
fn settings_that_change_on_the_way_reach_every_backend() {
    for backend in available() {
        for format in [PixelFormat::Gray, PixelFormat::Gray16le] {
            let mut reference = by_reference(Settings::default());
            let mut equalizer = backend.make(Settings::default(), 2);
            // Without a look-ahead, no frame is held back.
            let all: Vec<Settings> = all_settings().into_iter().filter(|one| one.smoothing.ahead() == 0).collect();
            for (number, picture) in video(format, (45, 7)).into_iter().enumerate() {
                let settings = all[number / 2 % all.len()];
                reference.set(settings);
                equalizer.set(settings);
                let frame = picture.make();
                equalizer.submit(frame.clone()).unwrap();
                let found = equalizer.collect().unwrap().unwrap();
                let difference = crate::pictures::difference(&reference.equalize(&frame), &found);
                assert_eq!(difference, None, "{} frame {number} {settings:?}", backend.name);
            }
        }
    }
}

/// A gray full-range frame with the samples `place(x, y)`.
pub fn gray((width, height): (usize, usize), place: impl Fn(usize, usize) -> u8) -> Frame {
    let mut plane = HostPool::default().plane(width, height);
    for y in 0..height {
        (0..width).for_each(|x| plane.row_mut(y)[x] = place(x, y));
    }
    Frame::new(PixelFormat::Gray, (width, height), Range::Full, Matrix::Bt601, vec![plane.freeze()]).unwrap()
}

/// Requires that every backend equalizes these frames, one after the other, like the reference.
fn check_frames(frames: &[(Settings, Frame)]) {
    for backend in available() {
        let mut reference = by_reference(frames[0].0);
        let mut equalizer = backend.make(frames[0].0, 2);
        for (number, (settings, frame)) in frames.iter().enumerate() {
            reference.set(*settings);
            equalizer.set(*settings);
            equalizer.submit(frame.clone()).unwrap();
            let found = equalizer.collect().unwrap().unwrap();
            let difference = crate::pictures::difference(&reference.equalize(frame), &found);
            assert_eq!(difference, None, "{} frame {number} {settings:?}", backend.name);
        }
    }
}

#[test]
fn a_frame_by_itself_ends_the_window_on_every_backend() {
    for settings in all_settings().into_iter().filter(|one| one.smoothing.ahead() == 0) {
        let turns = [settings, settings, Settings::default(), settings, settings, settings];
        let pictures = video(PixelFormat::Gray, (45, 7)).into_iter();
        let frames = pictures.enumerate().map(|(number, picture)| (turns[number % turns.len()], picture.make()));
        check_frames(&frames.collect::<Vec<_>>());
    }
}

#[test]
fn the_plateau_of_a_window_is_not_that_of_its_last_frame_alone() {
    // The first frame has no bars. Once it has left the window, all but two pixels are in bars.
    let open = gray((20, 10), |x, y| (20 * x + y) as u8);
    let barred = gray((20, 10), |x, y| match (x, y) {
        (0, 0) => 0,
        (9, 5) => 50,
        (10, 5) => 60,
        _ => 5,
    });
    let settings = Settings {
        scene_threshold: Threshold::from_share(1.0).unwrap(),
        region: Region::Auto,
        plateau: Plateau::Count(1000),
        smoothing: Smoothing::new(2, 0),
        ..Settings::default()
    };
    check_frames(&[open, barred.clone(), barred.clone(), barred].map(|frame| (settings, frame)));
}

#[test]
fn frames_that_wait_when_the_size_changes_come_out_as_by_the_reference() {
    let settings = Settings { smoothing: Smoothing::new(6, 2).looking_ahead(3), ..Settings::default() };
    let of_size = |size| video(PixelFormat::Gray, size).into_iter().take(5).map(|picture| picture.make());
    // Some backends return waiting frames at once, others only when as many new ones have come.
    for backend in available() {
        let mut watched = backend.make(settings, 2).verified();
        let mut found = Vec::new();
        for frame in of_size((45, 7)).chain(of_size((33, 21))) {
            watched.submit(frame).unwrap();
            while watched.in_flight() > 0 {
                found.extend(watched.collect().unwrap());
            }
        }
        watched.finish().unwrap();
        while watched.in_flight() > 0 {
            found.extend(watched.collect().unwrap());
        }
        assert_eq!(found.len(), 10, "{}", watched.name());
    }
}

#[test]
fn methods_take_turns_on_every_backend() {
    let window = Settings { smoothing: Smoothing::new(3, 1), max_gain: gain(3.0), ..Settings::default() };
    let tiles = Settings { method: Method::Clahe { columns: 4, rows: 3 }, ..window };
    let turns = [window, window, tiles, tiles, Settings::default(), tiles, window, tiles];
    for format in [PixelFormat::Gray, PixelFormat::Gray10le, PixelFormat::Gray12le] {
        let pictures = video(format, (333, 121)).into_iter();
        let frames = pictures.enumerate().map(|(number, picture)| (turns[number % turns.len()], picture.make()));
        check_frames(&frames.collect::<Vec<_>>());
    }
}

//! Local equalization: the reference against a second implementation with exact fractions, and against OpenCV's output
//! for the same images; every backend against the reference.

use crate::backends::{available, by_reference};
use crate::equalize::grid::LAYOUTS;
use crate::pictures::{Bytes, Content, Picture, Random, difference, placement_and_range, seed};
use histeq::internal::equalize::backend::reference::Reference;
use histeq::internal::equalize::counting::measure;
use histeq::internal::equalize::{Executor, Work};
use histeq::internal::frame::{Frame, HostPool, Matrix, PixelFormat, Plane, Range};
use histeq::internal::spec::Guides;
use histeq::internal::spec::clahe::{Neighbours, Tiles, clip, mirrored};
use histeq::internal::spec::parameters::{Gain, Method, Plateau, Settings, Smoothing, Strength, Stretch, Threshold};
use std::sync::Arc;

fn settings((columns, rows): (u32, u32), gain: f64) -> Settings {
    Settings {
        method: Method::Clahe { columns, rows },
        max_gain: Gain::from_slope(gain).expect("a gain"),
        ..Settings::default()
    }
}

/// `part / whole` to the nearest integer, halves to the even one, by comparing both neighbours.
fn nearest(part: i128, whole: i128) -> i128 {
    let down = part.div_euclid(whole);
    let (below, above) = (part - down * whole, (down + 1) * whole - part);
    match below.cmp(&above) {
        std::cmp::Ordering::Less => down,
        std::cmp::Ordering::Greater => down + 1,
        std::cmp::Ordering::Equal => down + down % 2,
    }
}

/// The position at which OpenCV's borderInterpolate reads pixel `p` with BORDER_REFLECT_101.
fn reflected(mut p: i128, length: i128) -> i128 {
    while length > 1 && !(0..length).contains(&p) {
        p = if p < 0 { -p } else { 2 * length - 2 - p };
    }
    if length == 1 { 0 } else { p }
}

/// A second implementation of local equalization, straight from its rules, for the codes of one frame.
struct Naive {
    codes: Vec<Vec<i128>>,
    lo: i128,
    hi: i128,
    bins: Option<u32>,
    tiles: (i128, i128),
    tile: (i128, i128),
    /// The contrast limit in 256ths; 0 is no limit.
    gain: i128,
}

impl Naive {
    fn new(codes: Vec<Vec<i128>>, (lo, hi): (i128, i128), settings: &Settings) -> Self {
        let Method::Clahe { columns, rows } = settings.method else { panic!("not local") };
        let (columns, rows) = (i128::from(columns), i128::from(rows));
        let (width, height) = (codes[0].len() as i128, codes.len() as i128);
        let fits = width % columns == 0 && height % rows == 0;
        let pad = |size: i128, tiles: i128| if fits { 0 } else { tiles - size % tiles };
        let tile = ((width + pad(width, columns)) / columns, (height + pad(height, rows)) / rows);
        let gain = i128::from(settings.max_gain.to_256ths().unwrap_or(0));
        Naive { codes, lo, hi, bins: settings.bins, tiles: (columns, rows), tile, gain }
    }

    /// The output code of each code in tile (column, row).
    fn curve(&self, column: i128, row: i128, depth: u8) -> Vec<i128> {
        let levels = self.hi - self.lo + 1;
        let bins = self.bins.map_or(levels, i128::from).min(levels).min(4096);
        let mut counts = vec![0i128; bins as usize];
        let (width, height) = (self.codes[0].len() as i128, self.codes.len() as i128);
        for y in row * self.tile.1..(row + 1) * self.tile.1 {
            for x in column * self.tile.0..(column + 1) * self.tile.0 {
                let code = self.codes[reflected(y, height) as usize][reflected(x, width) as usize];
                counts[((code.clamp(self.lo, self.hi) - self.lo) * bins / levels) as usize] += 1;
            }
        }
        let total = self.tile.0 * self.tile.1;
        if self.gain > 0 {
            let most = (self.gain * total).div_euclid(256 * bins).max(1);
            let mut excess = 0;
            for count in &mut counts {
                excess += (*count - most).max(0);
                *count = (*count).min(most);
            }
            counts.iter_mut().for_each(|count| *count += excess / bins);
            let mut left = excess % bins;
            let step = if left > 0 { (bins / left).max(1) } else { 1 };
            let mut bin = 0;
            while bin < bins && left > 0 {
                counts[bin as usize] += 1;
                left -= 1;
                bin += step;
            }
            assert_eq!(left, 0, "all of the excess is handed out");
        }
        assert_eq!(counts.iter().sum::<i128>(), total);
        let members: Vec<Vec<i128>> = {
            let mut members = vec![Vec::new(); bins as usize];
            (0..levels).for_each(|level| members[(level * bins / levels) as usize].push(level));
            members
        };
        let mut of_level = vec![0; levels as usize];
        let mut below = 0;
        for (members, count) in members.iter().zip(&counts) {
            for (place, &level) in members.iter().enumerate() {
                let within = count * (place as i128 + 1) / members.len() as i128;
                of_level[level as usize] = self.lo + nearest((below + within) * (levels - 1), total);
            }
            below += count;
        }
        (0..1i128 << depth).map(|code| of_level[(code.clamp(self.lo, self.hi) - self.lo) as usize]).collect()
    }

    fn equalized(&self, depth: u8, strength: Strength) -> Vec<Vec<i128>> {
        let curves: Vec<Vec<i128>> = (0..self.tiles.1)
            .flat_map(|row| (0..self.tiles.0).map(move |column| (column, row)))
            .map(|(column, row)| self.curve(column, row, depth))
            .collect();
        let (tw, th) = self.tile;
        let k = i128::from(strength.to_256ths());
        let pixel = |(x, y): (i128, i128), code: i128| {
            // The tile on the left is `floor(x / tw - 1/2)`; the weight of the right one is in units of `1 / (2 * tw)`;
            // y likewise.
            let (left, above) = ((2 * x - tw).div_euclid(2 * tw), (2 * y - th).div_euclid(2 * th));
            let (right_share, below_share) = ((2 * x - tw).rem_euclid(2 * tw), (2 * y - th).rem_euclid(2 * th));
            let value = |column: i128, row: i128| {
                let (column, row) = (column.clamp(0, self.tiles.0 - 1), row.clamp(0, self.tiles.1 - 1));
                curves[(row * self.tiles.0 + column) as usize][code as usize]
            };
            let across = |row: i128| value(left, row) * (2 * tw - right_share) + value(left + 1, row) * right_share;
            let sum = across(above) * (2 * th - below_share) + across(above + 1) * below_share;
            (code * (256 - k) + nearest(sum, 4 * tw * th) * k + 128) / 256
        };
        let row = |(y, row): (usize, &Vec<i128>)| {
            row.iter().enumerate().map(|(x, &code)| pixel((x as i128, y as i128), code)).collect()
        };
        self.codes.iter().enumerate().map(row).collect()
    }
}

/// The codes of the luma in the first plane.
fn luma(frame: &Frame) -> Vec<Vec<i128>> {
    let sample = frame.format().descriptor().sample;
    let row = |y| (0..frame.width()).map(|x| i128::from(sample.read(frame.planes()[0].row(y), x))).collect();
    (0..frame.height()).map(row).collect()
}

#[test]
fn the_reference_agrees_with_exact_fractions() {
    let seed = seed();
    let mut random = Random::new(seed);
    let formats = [
        (PixelFormat::Gray, Range::Full),
        (PixelFormat::Yuv420p, Range::Limited),
        (PixelFormat::Gray10le, Range::Full),
        (PixelFormat::Yuv420p10le, Range::Limited),
        (PixelFormat::Gray16le, Range::Full),
        (PixelFormat::Yuv420p16le, Range::Limited),
    ];
    for size in [(1, 1), (15, 1), (1, 17), (3, 2), (33, 17), (40, 24), (61, 47)] {
        for (format, range) in formats {
            let depth = format.depth();
            let scale = 1i128 << (depth - 8);
            let ends = if range == Range::Full { (0, 256 * scale - 1) } else { (16 * scale, 235 * scale) };
            let grids: &[(u32, u32)] = if depth == 16 { &[(1, 1), (2, 3)] } else { &[(1, 1), (8, 8), (3, 5), (2, 1)] };
            for &grid in grids {
                let gain = [0.0, 1.0, 1.7, 3.0, 40.0][random.below(5) as usize];
                let content = Content::ALL[random.below(6) as usize];
                let strength = Strength::from_share([1.0, 1.0, 0.3, 0.0][random.below(4) as usize]).unwrap();
                let bins = [None, None, Some(100), Some(2)][random.below(4) as usize];
                let settings = Settings { strength, bins, ..settings(grid, gain) };
                let picture = Picture { range, content, seed, ..Picture::new(format, size) };
                let frame = picture.make();
                let expected = Naive::new(luma(&frame), ends, &settings).equalized(depth, strength);
                let found = luma(&by_reference(settings).equalize(&frame));
                assert!(found == expected, "{picture:?} {settings:?}\nfound    {found:?}\nexpected {expected:?}");
            }
        }
    }
}

#[test]
fn a_grid_is_padded_in_both_directions_or_in_none() {
    let tiles = |columns, rows, picture| {
        let tiles = Tiles::new(columns, rows, picture);
        (tiles.width, tiles.height)
    };
    assert_eq!(tiles(8, 8, (1920, 1080)), (240, 135));
    assert_eq!(tiles(8, 8, (64, 45)), (9, 6), "45 is not divisible, so 64 is padded by 8 too");
    assert_eq!(tiles(8, 8, (1, 1)), (1, 1), "more tiles than pixels");
    assert_eq!(tiles(1, 1, (7, 5)), (7, 5));
    assert_eq!(tiles(0, 0, (7, 5)), (7, 5), "no tile is one");
    for length in 1..7 {
        for p in 0..40 {
            assert_eq!(mirrored(p, length) as i128, reflected(p as i128, length as i128), "{p} of {length}");
        }
    }
    let neighbours: Vec<_> = [0, 1, 2, 3, 5, 6, 7].iter().map(|&index| Neighbours::new(index, 4, 2)).collect();
    let expected = [([0, 0], 4), ([0, 0], 6), ([0, 1], 0), ([0, 1], 2), ([0, 1], 6), ([1, 1], 0), ([1, 1], 2)];
    assert_eq!(neighbours, expected.map(|(tiles, weight)| Neighbours { tiles, weight }));
}

#[test]
fn a_clip_keeps_the_sum_whatever_the_counts() {
    let seed = seed();
    let mut random = Random::new(seed);
    for bins in [1, 2, 7, 220, 256, 4096] {
        for gain in [0.0, 1.0, 1.5, 7.0, 4096.0] {
            let mut counts: Vec<u64> = (0..bins).map(|_| random.below(9) * random.below(1000)).collect();
            let before: u64 = counts.iter().sum();
            let first = random.below(bins) as usize;
            let last = first + random.below(bins - first as u64) as usize;
            clip(&mut counts, Gain::from_slope(gain).unwrap(), (first, last));
            assert_eq!(counts.iter().sum::<u64>(), before, "{bins} bins, gain {gain}, seed {seed}");
        }
    }
}

#[test]
fn opencv_is_never_more_than_one_level_away() {
    let looks = [
        settings((4, 3), 0.0),
        settings((8, 8), 1.0),
        settings((8, 8), 2.0),
        settings((5, 7), 3.0),
        settings((8, 8), 40.0),
    ];
    let looks: Vec<Settings> = looks.into_iter().chain([Settings::default()]).collect();
    let files: [((usize, usize), &[u8]); 4] = [
        ((128, 96), include_bytes!("../../data/clahe/128x96.pgm")),
        ((161, 121), include_bytes!("../../data/clahe/161x121.pgm")),
        ((64, 45), include_bytes!("../../data/clahe/64x45.pgm")),
        ((7, 5), include_bytes!("../../data/clahe/7x5.pgm")),
    ];
    for ((width, height), file) in files {
        let pixels = &file[file.len() - width * height * (looks.len() + 1)..];
        let mut pictures = pixels.chunks_exact(width * height);
        let input = pictures.next().expect("the input").to_vec();
        let plane = Plane::new(Arc::new(Bytes(input)), 0, width as isize, width, height).unwrap();
        let frame = Frame::new(PixelFormat::Gray, (width, height), Range::Full, Matrix::Bt601, vec![plane]).unwrap();
        for (settings, theirs) in looks.iter().zip(pictures) {
            let equalized = by_reference(*settings).equalize(&frame);
            let ours = (0..height).flat_map(|y| equalized.planes()[0].row(y));
            let apart = ours.zip(theirs).map(|(ours, theirs)| ours.abs_diff(*theirs)).max();
            assert!(apart <= Some(1), "{width}x{height}, {:?}: {apart:?} levels apart", settings.method);
        }
    }
}

/// Equalizes the frames with every backend at full queue depth, and compares them with the reference.
fn check(settings: Settings, pictures: &[Picture]) {
    let mut reference = by_reference(settings);
    let expected: Vec<Frame> = pictures.iter().map(|picture| reference.equalize(&picture.make())).collect();
    for backend in available() {
        let mut equalizer = backend.make(settings, 2);
        let mut found = Vec::new();
        for picture in pictures {
            if equalizer.in_flight() == equalizer.capacity() {
                found.extend(equalizer.collect().unwrap());
            }
            equalizer.submit(picture.make()).unwrap();
        }
        while let Some(frame) = equalizer.collect().unwrap() {
            found.push(frame);
        }
        assert_eq!(found.len(), pictures.len());
        for (index, (expected, found)) in expected.iter().zip(&found).enumerate() {
            if let Some(difference) = difference(expected, found) {
                panic!("{}, frame {index}: {difference}\n{:?}\n{settings:?}", backend.name, pictures[index]);
            }
        }
    }
}

#[test]
fn every_layout_size_and_content_is_equalized_like_the_reference() {
    let grids = [(8, 8), (1, 1), (3, 5), (2, 1)];
    let shares = [1.0, 0.4, 1.0, 0.0];
    let mut looks = vec![Vec::new(); grids.len()];
    let mut number = 0usize;
    for &format in LAYOUTS {
        let deep = format.depth() == 16;
        for size in [(1, 1), (15, 1), (1, 301), (33, 17), (130, 67), (519, 3)] {
            for content in Content::ALL {
                let (placement, range) = placement_and_range(number);
                number += 1;
                // Only every fifth case of 16 bits is tested, because their tables are large.
                if deep && !number.is_multiple_of(5) {
                    continue;
                }
                let grid = if deep { 1 + number % 3 } else { number % grids.len() };
                looks[grid].push(Picture { range, content, placement, ..Picture::new(format, size) });
            }
        }
    }
    for ((grid, share), pictures) in grids.into_iter().zip(shares).zip(looks) {
        let strength = Strength::from_share(share).unwrap();
        check(Settings { strength, ..settings(grid, 3.0) }, &pictures);
    }
}

#[test]
fn large_pictures_and_tiles_beyond_the_fast_arithmetic() {
    for (grid, size) in [((8, 8), (1920, 1080)), ((1, 1), (2048, 1100)), ((7, 3), (1279, 719)), ((1, 1), (16_500, 2))] {
        let pictures = [Content::Noise, Content::Ramp, Content::TwoLevel].map(|content| Picture {
            content,
            range: Range::Full,
            ..Picture::new(PixelFormat::Gray, size)
        });
        check(settings(grid, 4.0), &pictures);
    }
}

#[test]
fn curves_of_deep_pictures_are_the_same_with_any_number_of_bins_and_frames() {
    let cases = [
        ((8, 8), (643, 361), None, 3),
        ((3, 2), (322, 83), Some(1000), 25),
        ((1, 1), (1283, 37), None, 512),
        ((2, 2), (40, 30), Some(2), 1),
        ((8, 8), (30, 6), None, 2),
    ];
    for format in [PixelFormat::Gray14le, PixelFormat::Gray16be, PixelFormat::Ya16le, PixelFormat::Rgb48le] {
        for (grid, size, bins, frames) in cases {
            let contents = [Content::TwoLevel, Content::Noise, Content::Ramp, Content::NearZero, Content::Noise];
            let pictures = contents.map(|content| Picture { content, ..Picture::new(format, size) });
            check(Settings { bins, smoothing: Smoothing::new(frames, 0), ..settings(grid, 3.0) }, &pictures);
            check(settings(grid, 40.0), &pictures.map(|picture| Picture { range: Range::Full, ..picture }));
        }
    }
}

#[test]
fn a_window_with_cuts_and_fewer_bins_is_the_same_everywhere() {
    let scene = |content, seed| {
        (0..6u64).map(move |frame| Picture {
            content,
            seed: seed + frame,
            ..Picture::new(PixelFormat::Yuv420p, (90, 50))
        })
    };
    let deep = |picture: Picture| Picture { format: PixelFormat::Gray12le, ..picture };
    let video: Vec<Picture> = scene(Content::NearZero, 1)
        .chain(scene(Content::NearMax, 20).take(2))
        .chain(scene(Content::NearZero, 40))
        .chain(scene(Content::Noise, 60))
        .collect();
    for bins in [None, Some(64)] {
        let settings = Settings {
            smoothing: Smoothing::new(4, 3),
            scene_threshold: Threshold::from_share(0.2).unwrap(),
            bins,
            ..settings((4, 3), 2.5)
        };
        check(settings, &video);
        check(settings, &video.iter().copied().map(deep).collect::<Vec<_>>());
        // Alternating sizes with the same number of samples make backends set everything up again.
        let turned: Vec<Picture> = video
            .iter()
            .enumerate()
            .map(|(index, picture)| Picture { size: [(90, 50), (50, 90)][index / 5 % 2], ..*picture })
            .collect();
        check(settings, &turned);
    }
}

#[test]
fn settings_that_change_between_frames_do_so_everywhere() {
    let smooth = |settings: Settings| Settings { smoothing: Smoothing::new(3, 1), ..settings };
    let sequence = [
        Settings::default(),
        settings((4, 4), 2.0),
        smooth(settings((4, 4), 2.0)),
        smooth(settings((4, 4), 5.0)),
        smooth(settings((2, 3), 5.0)),
        Settings { bins: Some(32), ..smooth(settings((2, 3), 5.0)) },
        smooth(Settings::default()),
        settings((8, 8), 0.0),
    ];
    for backend in available() {
        let mut equalizer = backend.make(sequence[0], 2);
        let mut reference = by_reference(sequence[0]);
        for (index, settings) in sequence.iter().flat_map(|settings| [settings; 3]).enumerate() {
            let picture = Picture { seed: index as u64 + 1, ..Picture::new(PixelFormat::Nv12, (70, 40)) };
            reference.set(*settings);
            equalizer.set(*settings);
            equalizer.submit(picture.make()).unwrap();
            let found = equalizer.collect().unwrap().unwrap();
            let difference = difference(&reference.equalize(&picture.make()), &found);
            assert_eq!(difference, None, "{}, frame {index}, {settings:?}", backend.name);
        }
    }
}

#[test]
fn thermal_footage_in_a_small_part_of_its_range_has_more_contrast_in_tiles_than_with_one_curve() {
    // A thermal street at night in a hundredth of the 16-bit range: ground with some texture, a warm wall, a hot
    // engine.
    let (width, height) = (320, 240);
    let mut random = Random::new(7);
    let mut plane = HostPool::default().plane(2 * width, height);
    for y in 0..height {
        for x in 0..width {
            let (dx, dy) = (x as f64 - 100.0, y as f64 - 120.0);
            let engine = 700.0 * (-(dx * dx + dy * dy) / 128.0).exp();
            let texture = 20.0 * ((x as f64 / 5.0).sin() + (y as f64 / 4.0).cos());
            let wall = if (200..260).contains(&x) && y < 100 { 90.0 } else { 0.0 };
            let code = 21_000.0 + engine + texture + wall + random.below(12) as f64;
            plane.row_mut(y)[2 * x..][..2].copy_from_slice(&(code as u16).to_le_bytes());
        }
    }
    let planes = vec![plane.freeze()];
    let frame = Frame::new(PixelFormat::Gray16le, (width, height), Range::Full, Matrix::Bt601, planes).unwrap();
    let tiled = Method::Clahe { columns: 8, rows: 8 };
    let max_gain = Gain::from_slope(32.0).unwrap();
    let contrast = |settings: Settings| {
        let guide = {
            let mut guides = Guides::default();
            let mut decided = guides.push(measure(&frame, frame.whole(), None).unwrap(), &settings);
            decided.extend(guides.finish());
            decided.remove(0)
        };
        let mut reference = Reference::default();
        reference.submit(Work::new(frame.clone(), settings).guided(guide)).unwrap();
        let out = reference.collect().unwrap().unwrap().frame;
        // For each tile: the mean difference of neighbours, and the standard deviation.
        let code = |x: usize, y: usize| {
            let row = out.planes()[0].row(y);
            f64::from(u16::from_le_bytes([row[2 * x], row[2 * x + 1]]))
        };
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let measures = |tile: usize| {
            let (left, top) = (tile % 8 * 40, tile / 8 * 30);
            let places = || (top..top + 29).flat_map(|y| (left..left + 39).map(move |x| (x, y)));
            let steps =
                places().flat_map(|(x, y)| [code(x + 1, y), code(x, y + 1)].map(|beside| (beside - code(x, y)).abs()));
            let codes: Vec<f64> = places().map(|(x, y)| code(x, y)).collect();
            let middle = mean(&codes);
            let squares: Vec<f64> = codes.iter().map(|code| (code - middle).powi(2)).collect();
            (mean(&steps.collect::<Vec<f64>>()), mean(&squares).sqrt())
        };
        (0..64).map(measures).collect::<Vec<(f64, f64)>>()
    };
    let one_curve = contrast(Settings { plateau: Plateau::Millionths(1000), ..Settings::default() });
    let full = contrast(Settings {
        method: tiled,
        max_gain,
        stretch: Stretch::Full { share: Strength::FULL },
        ..Settings::default()
    });
    let blind = contrast(Settings { method: tiled, max_gain, ..Settings::default() });
    let better = |tiles: &[(f64, f64)], part: fn(&(f64, f64)) -> f64| {
        tiles.iter().zip(&one_curve).filter(|(tile, one)| part(tile) >= part(one)).count()
    };
    assert_eq!(better(&full, |tile| tile.0), 64, "tiles with larger steps between neighbours");
    // Tiles at the wall's edge may fail: with one curve, the step between their two flat parts is already large.
    let wider = better(&full, |tile| tile.1);
    assert!(wider >= 58, "{wider} of 64 tiles with a larger deviation");
    assert_eq!(better(&blind, |tile| tile.0), 0, "without the stretch");
}

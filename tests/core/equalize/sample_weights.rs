//! Masks and alpha: each sample counts by its weight, on every backend.

use crate::backends::available;
use crate::equalize::grid::LAYOUTS;
use crate::pictures::{Picture, Random, difference, placement_and_range, seed};
use histeq::internal::equalize::backend::reference::Reference;
use histeq::internal::equalize::counting::{Mask, luminance_row};
use histeq::internal::equalize::{EqualizeStage, Equalized};
use histeq::internal::frame::{Frame, HostPool, PixelFormat};
use histeq::internal::spec::clahe::{TileBins, TileHistograms, Tiles};
use histeq::internal::spec::curves::Levels;
use histeq::internal::spec::natural::Assumed;
use histeq::internal::spec::parameters::{Gain, Method, Plateau, Rect, Region, Settings, Smoothing, Stretch};
use std::sync::Arc;

/// A mask of random weights.
fn any_mask(size: (usize, usize), random: &mut Random) -> Mask {
    let weights = (0..size.0 * size.1).map(|_| [0, 100, 200, 255][random.below(4) as usize]).collect();
    Mask::new(size, weights).expect("weights of which one is not 0")
}

#[test]
fn each_sample_counts_by_its_weight() {
    let mut random = Random::new(seed());
    for (number, &format) in PixelFormat::ALL.iter().enumerate() {
        let (placement, range) = placement_and_range(number);
        let size = (37, 9);
        let frame = Picture { placement, range, ..Picture::new(format, size) }.make();
        // The weights have the greatest common divisor 5.
        let weights: Vec<u8> = (0..size.0 * size.1).map(|_| [0, 100, 15, 255][random.below(4) as usize]).collect();
        let mask = Mask::new(size, weights.clone()).unwrap();
        let region = Rect { x: 3, y: 2, width: 30, height: 6 };
        let found = mask.histogram(&frame, region);
        let levels = frame.levels();
        let mut expected = vec![0; levels.count()];
        let mut codes = vec![0; size.0];
        for y in region.y..region.y + region.height {
            luminance_row(&frame, y, &mut codes);
            for x in region.x..region.x + region.width {
                expected[levels.level_of(codes[x])] += u64::from(weights[y * size.0 + x] / 5);
            }
        }
        assert_eq!(found.counts(), expected, "{format}");
    }
    assert!(Mask::new((2, 2), vec![0; 4]).is_none() && Mask::new((2, 2), vec![1; 5]).is_none());
}

#[test]
fn the_rectangle_around_what_counts_lies_in_the_region() {
    let mut weights = vec![0; 80];
    let mask = |weights: &[u8]| Mask::new((10, 8), weights.to_vec()).unwrap();
    (weights[23], weights[47]) = (9, 3);
    let around = Rect { x: 3, y: 2, width: 5, height: 3 };
    assert_eq!(mask(&weights).around(Rect::whole((10, 8))), around);
    let region = Rect { x: 0, y: 0, width: 5, height: 8 };
    assert_eq!(mask(&weights).around(region), Rect { x: 3, y: 2, width: 1, height: 1 });
    // A region in which all weights are 0 is ignored.
    assert_eq!(mask(&weights).around(Rect { x: 0, y: 6, width: 10, height: 2 }), around);
}

fn masked(mut stage: EqualizeStage, frames: &[Frame]) -> Vec<Equalized> {
    let mut found = Vec::new();
    for frame in frames {
        while !stage.has_room() {
            found.extend(stage.collect().unwrap());
        }
        stage.submit(frame.clone()).unwrap();
    }
    stage.finish().unwrap();
    while let Some(equalized) = stage.collect().unwrap() {
        found.push(equalized);
    }
    found
}

#[test]
fn every_backend_gives_the_same_bytes_with_a_mask() {
    let mut random = Random::new(seed());
    let backends = available();
    let plain = Settings { max_gain: Gain::from_slope(2.0).unwrap(), ..Settings::default() };
    let stretch = Stretch::Unused { most: Gain::from_slope(4.0).unwrap(), fades: true };
    let natural = Method::Natural { assumed: Assumed::Veil, most: Gain::OFF, faithful: false };
    for (turn, &format) in LAYOUTS.iter().enumerate() {
        let frames: Vec<Frame> = (0..7).map(|seed| Picture { seed, ..Picture::new(format, (45, 22)) }.make()).collect();
        for settings in [
            plain,
            Settings { smoothing: Smoothing::new(4, 1).looking_ahead(2), stretch, ..plain },
            Settings { smoothing: Smoothing::new(3, 1), plateau: Plateau::Count(5), region: Region::Auto, ..plain },
            Settings { method: [natural, Method::Deflicker][turn % 2], ..plain },
        ] {
            let mask = Arc::new(any_mask((45, 22), &mut random));
            let stage = |backend| EqualizeStage::new(backend, settings).with_mask(Some(mask.clone()));
            let expected = masked(stage(Box::<Reference>::default()), &frames);
            assert_eq!(expected.len(), frames.len());
            for backend in &backends {
                let found = masked(stage(backend.open(2)), &frames);
                assert_eq!(found.len(), expected.len());
                for (expected, found) in expected.iter().zip(&found) {
                    assert_eq!(difference(&expected.frame, &found.frame), None, "{} {format}", backend.name);
                    assert_eq!(expected.applied.scene, found.applied.scene, "{} {format}", backend.name);
                    assert!(found.applied.scene.is_some());
                }
            }
        }
    }
}

/// `frame` with alpha 0 in `hole` and full alpha elsewhere. The other samples in the hole, which consists of blocks of
/// four pixels, are `hidden`.
fn with_hole(frame: &Frame, hole: Rect, hidden: u8) -> Frame {
    let alpha = frame.format().alpha().expect("a format with alpha");
    let (pool, sample) = (HostPool::default(), frame.format().descriptor().sample);
    frame.with_planes(|index| {
        let (plane, shape) = (&frame.planes()[index], frame.format().descriptor().planes()[index]);
        let mut bytes: Vec<u8> = (0..plane.rows()).flat_map(|y| plane.row(y)).copied().collect();
        let per_pixel = usize::from(shape.samples) * usize::from(sample.bytes);
        let (first, behind) = (hole.x >> shape.log2_width, (hole.x + hole.width) >> shape.log2_width);
        for (y, row) in bytes.chunks_exact_mut(plane.row_bytes()).enumerate() {
            if (hole.y >> shape.log2_height..(hole.y + hole.height) >> shape.log2_height).contains(&y) {
                row[first * per_pixel..behind * per_pixel].fill(hidden);
            }
            if index == alpha.plane {
                for x in 0..frame.width() {
                    let is_hidden =
                        (hole.x..hole.x + hole.width).contains(&x) && (hole.y..hole.y + hole.height).contains(&y);
                    let code = if is_hidden { 0 } else { sample.max() };
                    sample.write(row, alpha.offset + x * alpha.step, code);
                }
            }
        }
        Some(pool.plane_from(&bytes, plane.row_bytes(), plane.rows()))
    })
}

/// The luminance of the pixels outside of `hole`.
fn seen(frame: &Frame, hole: Rect) -> Vec<u16> {
    let mut codes = vec![0; frame.width()];
    let mut found = Vec::new();
    for y in 0..frame.height() {
        luminance_row(frame, y, &mut codes);
        let rows = hole.y..hole.y + hole.height;
        let is_seen = |x: &usize| !rows.contains(&y) || !(hole.x..hole.x + hole.width).contains(x);
        found.extend((0..frame.width()).filter(is_seen).map(|x| codes[x]));
    }
    found
}

#[test]
fn what_nobody_sees_has_no_part_in_what_is_seen_on_every_backend() {
    let backends = available();
    let plain = Settings { max_gain: Gain::from_slope(2.0).unwrap(), ..Settings::default() };
    let natural = Method::Natural { assumed: Assumed::Nothing, most: Gain::OFF, faithful: false };
    let stretch = Stretch::Unused { most: Gain::from_slope(4.0).unwrap(), fades: true };
    let methods = [
        Settings { max_gain: Gain::OFF, ..plain },
        Settings { smoothing: Smoothing::new(4, 1).looking_ahead(2), stretch, ..plain },
        Settings { smoothing: Smoothing::new(3, 1), plateau: Plateau::Count(5), region: Region::Auto, ..plain },
        Settings { method: Method::Clahe { columns: 4, rows: 3 }, ..plain },
        Settings { method: Method::Clahe { columns: 3, rows: 5 }, smoothing: Smoothing::new(3, 1), ..plain },
        Settings { method: natural, ..plain },
        Settings { method: Method::Deflicker, ..plain },
    ];
    let formats = [
        PixelFormat::Ya8,
        PixelFormat::Ya16be,
        PixelFormat::Yuva420p,
        PixelFormat::Yuva444p10le,
        PixelFormat::Bgra,
        PixelFormat::Argb,
        PixelFormat::Rgba64le,
        PixelFormat::Gbrap12be,
    ];
    // Two of three frames have a hole, the third has none.
    let holes = |number: usize| match number % 3 {
        2 => Rect { x: 0, y: 0, width: 0, height: 0 },
        _ => Rect { x: 0, y: 0, width: 40, height: 16 },
    };
    for format in formats {
        let pictures: Vec<Frame> =
            (0..7).map(|seed| Picture { seed, ..Picture::new(format, (52, 24)) }.make()).collect();
        let hidden = |value: u8| -> Vec<Frame> {
            pictures.iter().enumerate().map(|(number, frame)| with_hole(frame, holes(number), value)).collect()
        };
        for settings in methods {
            let through = |backend, frames: &[Frame]| masked(EqualizeStage::new(backend, settings), frames);
            let expected = through(Box::<Reference>::default(), &hidden(0));
            for backend in &backends {
                for value in [0, 255] {
                    let found = through(backend.open(2), &hidden(value));
                    assert_eq!(found.len(), expected.len());
                    for (number, (expected, found)) in expected.iter().zip(&found).enumerate() {
                        let hole = holes(number);
                        let context = format!("{} {format} {:?}, frame {number}", backend.name, settings.method);
                        assert!(seen(&expected.frame, hole) == seen(&found.frame, hole), "{context}");
                        if value == 0 {
                            assert_eq!(difference(&expected.frame, &found.frame), None, "{context}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn tiles_of_which_nothing_is_seen_have_the_shades_of_the_others() {
    let (tiles, bins) = (Tiles::new(3, 1, (12, 4)), TileBins::new(Levels::full(8), Some(4)));
    let seen = TileHistograms::from_counts(tiles, bins, [[0; 4], [9, 3, 0, 4], [3, 1, 0, 0]].concat());
    let expected = [[9, 3, 0, 4], [9, 3, 0, 4], [10, 3, 0, 3]];
    let filled = seen.filled();
    assert_eq!(filled.counts().iter().sum::<u64>(), 48);
    assert_eq!(filled.counts(), expected.concat());
    let empty = TileHistograms::new(tiles, bins);
    assert_eq!(empty.clone().filled(), empty);
}

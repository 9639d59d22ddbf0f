//! Masks: each sample counts by its weight, on every backend.

use crate::backends::available;
use crate::grid::LAYOUTS;
use crate::pictures::{Picture, Random, difference, placement_and_range, seed};
use histeq::equalize::{EqualizeStage, Equalized, Mask, luminance_row, reference::Reference};
use histeq::frame::{Frame, PixelFormat};
use histeq::spec::natural::Assumed;
use histeq::spec::{Gain, Method, Plateau, Rect, Region, Settings, Smoothing, Stretch};
use std::sync::Arc;

/// Any weights at all.
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
        // With 5 as the greatest common divisor.
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
    // A region in which nothing counts is none.
    assert_eq!(mask(&weights).around(Rect { x: 0, y: 6, width: 10, height: 2 }), around);
}

/// Frames through a stage with a mask.
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

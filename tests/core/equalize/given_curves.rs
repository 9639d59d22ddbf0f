//! Given curves: every backend applies them.

use crate::backends::{Sequence, by_reference, with_threadless};
use crate::equalize::grid::LAYOUTS;
use crate::pictures::{Picture, Random, difference, seed};
use histeq::internal::equalize::backend::Failover;
use histeq::internal::frame::PixelFormat;
use histeq::internal::spec::curves::{Curve, Levels};
use histeq::internal::spec::parameters::{Gain, Method, Settings, Smoothing};
use std::sync::Arc;

/// A curve of random codes, not monotonic.
fn any_curve(levels: Levels, random: &mut Random) -> Arc<Curve> {
    let codes = (0..levels.codes()).map(|_| random.below(levels.codes() as u64) as u16).collect();
    Arc::new(Curve::from_codes(levels, codes).expect("codes of this depth"))
}

#[test]
fn every_backend_sends_frames_through_the_curve_that_it_is_given() {
    let seed = seed();
    let mut random = Random::new(seed);
    let window =
        Settings { smoothing: Smoothing::new(3, 1), max_gain: Gain::from_slope(2.0).unwrap(), ..Settings::default() };
    let clahe = Settings { method: Method::Clahe { columns: 2, rows: 2 }, ..window };
    for backend in with_threadless() {
        for settings in [Settings::default(), window, clahe] {
            for &format in LAYOUTS {
                let picture = |seed| Picture { seed, ..Picture::new(format, (45, 7)) }.make();
                let reserve = Box::new(|| unreachable!("nothing fails"));
                let failover = Failover::new(backend.open(2), reserve, Box::new(|_| {}));
                let mut equalizer = Sequence::new(Box::new(failover), settings).verified();
                let mut reference = by_reference(settings);
                let mut expected = Vec::new();
                let first = any_curve(picture(0).levels(), &mut random);
                let second = any_curve(picture(0).levels(), &mut random);
                // The same curve for several frames, changes while frames are in flight, and frames without a curve.
                let curves = [None, Some(&first), Some(&first), Some(&second), Some(&first), None, None, Some(&second)];
                for (number, curve) in curves.into_iter().enumerate() {
                    if equalizer.in_flight() == equalizer.capacity() {
                        let found = equalizer.collect().unwrap().unwrap();
                        assert_eq!(difference(&expected.remove(0), &found), None, "{} {format}", backend.name);
                    }
                    equalizer.set_curve(curve.cloned());
                    reference.set_curve(curve.cloned());
                    let frame = picture(number as u64 + 1);
                    expected.push(reference.equalize(&frame));
                    equalizer.submit(frame).unwrap();
                }
                while let Some(found) = equalizer.collect().unwrap() {
                    assert_eq!(difference(&expected.remove(0), &found), None, "{} {format}, {seed}", backend.name);
                }
                assert!(expected.is_empty());
            }
        }
    }
}

#[test]
fn a_given_curve_is_looked_up_code_by_code() {
    let frame = Picture::new(PixelFormat::Gray, (64, 5)).make();
    let curve = any_curve(frame.levels(), &mut Random::new(seed()));
    let mut reference = by_reference(Settings::default());
    reference.set_curve(Some(curve.clone()));
    let found = reference.equalize(&frame);
    let looked_up = |row: &[u8]| row.iter().map(|&code| curve.codes()[usize::from(code)] as u8).collect::<Vec<u8>>();
    assert!((0..5).all(|y| found.planes()[0].row(y) == looked_up(frame.planes()[0].row(y))));
    let frame = Picture::new(PixelFormat::Gray10le, (64, 5)).make();
    assert!(Curve::from_codes(frame.levels(), vec![0; 256]).is_none(), "too few codes");
    assert!(Curve::from_codes(frame.levels(), vec![1024; 1024]).is_none(), "a code that is too high");
}

//! Warm-up frames, which precede the wanted part: they are measured and counted, but not output.

use crate::backends::{Sequence, by_reference, with_threadless};
use crate::equalize::grid::LAYOUTS;
use crate::pictures::{Content, Picture, difference};
use histeq::internal::equalize::backend::Failover;
use histeq::internal::spec::parameters::{Gain, Method, Settings, Smoothing, Threshold};

#[test]
fn every_backend_remembers_the_frames_before_the_first_one() {
    let window = Settings {
        smoothing: Smoothing::new(6, 2),
        scene_threshold: Threshold::from_share(0.2).unwrap(),
        max_gain: Gain::from_slope(3.0).unwrap(),
        ..Settings::default()
    };
    let clahe = Settings { method: Method::Clahe { columns: 3, rows: 2 }, ..window };
    let contents =
        [Content::Noise, Content::Ramp, Content::NearZero, Content::NearZero, Content::Noise, Content::NearMax];
    for backend in with_threadless() {
        for settings in [window, clahe, Settings::default()] {
            for &format in LAYOUTS {
                let pictures: Vec<Picture> = (0..14)
                    .map(|index| Picture {
                        content: contents[index % contents.len()],
                        seed: index as u64 + 1,
                        ..Picture::new(format, (45, 7))
                    })
                    .collect();
                let mut reference = by_reference(settings);
                let expected: Vec<_> = pictures.iter().map(|picture| reference.equalize(&picture.make())).collect();
                let reserve = Box::new(|| unreachable!("nothing fails"));
                let failover = Failover::new(backend.open(2), reserve, Box::new(|_| {}));
                let mut equalizer = Sequence::new(Box::new(failover), settings).verified();
                pictures[..9].iter().for_each(|picture| equalizer.warm_up(picture.make()).unwrap());
                assert_eq!(equalizer.in_flight(), 0);
                for (picture, expected) in pictures[9..].iter().zip(&expected[9..]) {
                    equalizer.submit(picture.make()).unwrap();
                    let found = equalizer.collect().unwrap().unwrap();
                    assert_eq!(difference(expected, &found), None, "{} {settings:?} {format}", backend.name);
                }
                assert!(equalizer.collect().unwrap().is_none());
            }
        }
    }
}

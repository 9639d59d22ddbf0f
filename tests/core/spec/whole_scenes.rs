//! Scenes whose frames all get the same mapping.

use crate::pictures::{Content, Picture};
use histeq::Limits;
use histeq::internal::equalize::counting::measure;
use histeq::internal::equalize::{OutputDepth, Survey};
use histeq::internal::frame::PixelFormat;
use histeq::internal::spec::curves::{Histogram, Mapping};
use histeq::internal::spec::parameters::{Plateau, Settings};
use histeq::internal::spec::time::WholeScenes;

#[test]
fn a_scene_of_many_frames_alike_is_like_one_of_them() {
    let settings = Settings { plateau: Plateau::Count(9), bins: Some(40), ..Settings::default() };
    let frame = Picture { content: Content::NearZero, ..Picture::new(PixelFormat::Gray, (24, 18)) }.make();
    let curves = |frames: usize| {
        let mut survey = Survey::new(settings, false, OutputDepth::AsInput, None, &Limits::default());
        (0..frames).for_each(|_| survey.add(&frame).unwrap());
        survey.finish()
    };
    let expected = curves(1);
    assert!(matches!(expected.scenes()[0].mapping, Mapping::Curve { .. }));
    for frames in [2, 512, 513, 1500] {
        let found = curves(frames);
        assert_eq!(found.scenes(), expected.scenes(), "{frames} frames");
        assert_eq!(found.frames(), frames as u64);
        assert!(found.at(frames as u64).is_none() && found.at(frames as u64 - 1).is_some());
    }
    // A scene may have more frames than the 65,536 whose `Ends` are kept.
    let mut scenes = WholeScenes::new(settings);
    let measured = measure(&frame, frame.whole(), None).unwrap();
    let mut histogram = Histogram::new(frame.levels());
    (0..18).for_each(|y| frame.planes()[0].row(y).iter().for_each(|&code| histogram.add(code.into())));
    (0..140_000).for_each(|_| scenes.push(measured.clone(), Some(histogram.clone())));
    assert_eq!(scenes.finish().scenes(), expected.scenes());
}

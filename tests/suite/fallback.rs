//! A backend that fails in the middle of a video, and the one that takes over: the same bytes, in the same order.

use crate::backends::available;
use crate::failing::{Call, Failing};
use crate::pictures::{Picture, difference};
use histeq_video::equalize::Equalizer;
use histeq_video::equalize::fallback::Fallback;
use histeq_video::equalize::reference::Reference;
use histeq_video::frame::{Frame, PixelFormat};
use histeq_video::spec::{Settings, Smoothing};
use std::sync::{Arc, Mutex};

/// What a [`Fallback`] has said so far.
pub type Said = Arc<Mutex<Vec<String>>>;

/// `primary`, with the reference behind it.
pub fn before_reference(primary: Box<dyn Equalizer>) -> (Fallback, Said) {
    let said = Said::default();
    let log = said.clone();
    let build = Box::new(|| Box::new(Reference::new(Settings::default())) as Box<dyn Equalizer>);
    let report = Box::new(move |line: &str| log.lock().unwrap().push(line.to_owned()));
    (Fallback::new(primary, Settings::default(), build, report), said)
}

/// Frames whose content and size differ, so that none can be taken for another.
pub fn pictures() -> Vec<Picture> {
    (0..12)
        .map(|index| {
            let size = if index < 7 { (64, 48) } else { (33, 17) };
            Picture { seed: index + 1, ..Picture::new(PixelFormat::Yuv420p, size) }
        })
        .collect()
}

/// Takes the oldest frame out, which has to be the reference's.
pub fn collect_next(equalizer: &mut dyn Equalizer, expected: &mut dyn Iterator<Item = Frame>) {
    let found = equalizer.collect().unwrap().expect("a frame under way");
    assert!(difference(&expected.next().unwrap(), &found).is_none());
}

#[test]
fn a_failing_backend_is_replaced_and_the_bytes_stay_the_same() {
    for backend in available() {
        for at in [0, 1, 4, 11] {
            for failure in [Call::Submit(at), Call::Collect(at)] {
                let failing = Failing::at(backend.make(Settings::default(), 3), failure);
                let (mut equalizer, said) = before_reference(Box::new(failing));
                let pictures = pictures();
                let mut reference = Reference::new(Settings::default());
                let mut expected = pictures.iter().map(|picture| reference.equalize(&picture.make()));
                for picture in &pictures {
                    while equalizer.in_flight() >= equalizer.capacity() {
                        collect_next(&mut equalizer, &mut expected);
                    }
                    equalizer.submit(picture.make()).unwrap();
                }
                while equalizer.in_flight() > 0 {
                    collect_next(&mut equalizer, &mut expected);
                }
                assert!(equalizer.collect().unwrap().is_none());
                assert!(expected.next().is_none(), "{}, {failure:?}: frames are missing", backend.name);
                let said = said.lock().unwrap();
                assert_eq!(*said, ["failing failed, going on with reference: out of order"], "{}", backend.name);
            }
        }
    }
}

/// What the first backend remembered cannot be had from it any more.
#[test]
fn a_temporal_window_begins_anew_with_the_frames_that_were_under_way_and_that_is_said() {
    let settings = Settings { smoothing: Smoothing::new(5, 1), ..Settings::default() };
    for backend in available() {
        let failing = Failing::at(backend.make(settings, 3), Call::Collect(6));
        let said = Said::default();
        let log = said.clone();
        let build = Box::new(move || Box::new(Reference::new(settings)) as Box<dyn Equalizer>);
        let report = Box::new(move |line: &str| log.lock().unwrap().push(line.to_owned()));
        let mut equalizer = Fallback::new(Box::new(failing), settings, build, report);
        let frames: Vec<Frame> =
            (0..12).map(|seed| Picture { seed, ..Picture::new(PixelFormat::Yuv420p, (64, 48)) }.make()).collect();
        // Six frames come out of the first backend; the seventh is the oldest one that it loses.
        let (mut first, mut second) = (Reference::new(settings), Reference::new(settings));
        for (number, frame) in frames.iter().enumerate() {
            equalizer.submit(frame.clone()).unwrap();
            let found = equalizer.collect().unwrap().expect("a frame under way");
            let expected = if number < 6 { first.equalize(frame) } else { second.equalize(frame) };
            assert_eq!(difference(&expected, &found), None, "{} frame {number}", backend.name);
        }
        let expected = "failing failed, going on with reference, whose temporal window begins anew: out of order";
        assert_eq!(*said.lock().unwrap(), [expected], "{}", backend.name);
    }
}

#[test]
fn a_failure_of_the_second_backend_is_final() {
    let broken = || {
        let inner = Box::new(Reference::new(Settings::default()));
        Box::new(Failing::at(inner, Call::Submit(0))) as Box<dyn Equalizer>
    };
    let mut equalizer = Fallback::new(broken(), Settings::default(), Box::new(broken), Box::new(|_| {}));
    let frame = Picture::new(PixelFormat::Gray, (4, 4)).make();
    assert_eq!(equalizer.submit(frame).unwrap_err().to_string(), "out of order");
}

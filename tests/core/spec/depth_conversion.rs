//! The output depth: with an identity curve, samples are restored exactly in every format.

use crate::pictures::{Picture, difference};
use histeq::Limits;
use histeq::internal::equalize::cpu::Cpu;
use histeq::internal::equalize::{Depth, EqualizeStage, OutputDepth};
use histeq::internal::frame::{Frame, PixelFormat, Range};
use histeq::internal::spec::parameters::{Settings, Strength};

/// `frame` after equalization with an identity curve (strength 0).
fn unchanged(frame: &Frame, output: OutputDepth) -> Frame {
    let settings = Settings { strength: Strength::from_share(0.0).unwrap(), ..Settings::default() };
    let mut stage = EqualizeStage::new(Box::new(Cpu::new(1)), settings).with_output_depth(output);
    stage.submit(frame.clone()).unwrap();
    stage.collect().unwrap().expect("a frame under way").frame
}

/// 8-bit formats with a deeper counterpart, except those with unused samples.
fn lifted() -> impl Iterator<Item = PixelFormat> {
    use PixelFormat::{Bgr0, Rgb0, Yuv410p, Yuv411p, Zbgr, Zrgb};
    let rest = [Yuv410p, Yuv411p, Bgr0, Rgb0, Zbgr, Zrgb];
    PixelFormat::ALL.iter().copied().filter(move |format| format.depth() == 8 && !rest.contains(format))
}

#[test]
fn what_the_curve_leaves_alone_keeps_every_sample_of_eight_bits() {
    assert!(lifted().count() > 20);
    for format in lifted() {
        // In packed 4:2:2, an odd width leaves an unused sample, so the width is even.
        let width = if format.descriptor().planes()[0].samples == 4 { 130 } else { 131 };
        for range in [Range::Limited, Range::Full] {
            let frame = Picture { range, ..Picture::new(format, (width, 67)) }.make();
            let found = unchanged(&frame, OutputDepth::Eight);
            assert_eq!(difference(&frame, &found), None, "{format} {range:?}");
        }
    }
}

#[test]
fn video_of_more_bits_keeps_them_unless_8_are_asked_for() {
    for &format in PixelFormat::ALL.iter().filter(|format| format.depth() > 8) {
        let frame = Picture::new(format, (67, 5)).make();
        for output in [OutputDepth::AsInput, OutputDepth::Ten] {
            assert_eq!(unchanged(&frame, output).format(), format, "{output:?}");
        }
        assert_eq!(unchanged(&frame, OutputDepth::Eight).format().depth(), 8, "{format}");
    }
}

#[test]
fn frames_that_change_their_format_come_down_to_their_own() {
    let mut depth = Depth::new(OutputDepth::Eight, &Limits::default());
    let formats = [PixelFormat::Nv12, PixelFormat::P010le, PixelFormat::Yuv420p, PixelFormat::Rgb24];
    let frames = formats.map(|format| Picture::new(format, (20, 6)).make());
    let under_way = frames.clone().map(|frame| depth.lift(frame, Settings::default()).unwrap().0);
    let found = under_way.map(|frame| depth.lower(frame).unwrap().format());
    assert_eq!(found, [PixelFormat::Nv12, PixelFormat::Nv12, PixelFormat::Yuv420p, PixelFormat::Rgb24]);
}

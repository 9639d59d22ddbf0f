//! The parsers of untrusted input, as functions of bytes. They must not panic on any bytes. `parsers.rs` runs them in a
//! fuzzer, and the test suite runs them on the corpus and on mutations of it.

use crate::options::{Args, Job};
use crate::sidecar::curves::CurveFile;
use clap::Parser;
use histeq::internal::equalize::counting::Mask;
use histeq::internal::spec::Weights;
use histeq::internal::spec::chroma::Colours;
use histeq::internal::spec::curves::tone::{Balance, BalanceOfYuv};
use histeq::internal::spec::curves::{Levels, Mapping};
use histeq::internal::spec::parameters::{Rect, Strength};
use histeq_media::ffmpeg::{Rational, later_timecode, parse_number, parse_rate, parse_size, parse_time};
use histeq_media::rawvideo;
use histeq_media::sys::files::{number_pattern, numbered};
use histeq_media::sys::{host, printable, without_password};

/// A target and its name, which is also the name of its folder in the corpus.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: [Target; 6] =
    [("y4m", y4m), ("curves", curves), ("arguments", arguments), ("values", values), ("names", names), ("mask", mask)];

/// A y4m header. An accepted header is written and parsed again, with the same result.
fn y4m(data: &[u8]) {
    let Ok(video) = rawvideo::parse(data) else { return };
    assert!(video.frame_bytes() > 0);
    let line = rawvideo::header(&video).expect("a format that y4m carries");
    let again = rawvideo::parse(line.trim_end().as_bytes()).expect("a header");
    // Without a chroma tag, the written header has no chroma location.
    assert_eq!(rawvideo::RawVideo { chroma_location: video.chroma_location, ..again }, video);
}

fn curves(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(curves) = CurveFile::parse("curves", text) else { return };
    let levels = curves.format.levels();
    for (frame, k) in [(0, 256), (1, 100), (1000, 1), (u64::MAX, 0)] {
        let mapping = curves.mapping(curves.index_at(frame));
        apply(&mapping.with_strength(levels, Strength::from_256ths(k)), levels);
    }
}

/// Applies a mapping to some codes.
fn apply(mapping: &Mapping, levels: Levels) {
    let max = (levels.codes() - 1) as u16;
    let codes = [0, levels.lo(), max / 2, levels.hi(), max];
    let balanced = |balance: &Balance| {
        let sums = BalanceOfYuv::new(balance, &Colours::new(levels, Weights::BT2020), Weights::BT2020);
        let far = i32::from(max);
        let _ = [0, 1, 2].map(|row| [[far, -far, far], [0, far, -far]].map(|before| sums.sum(row, before)));
        assert!(codes.iter().all(|&code| balance.rgb([code; 3], max).iter().all(|component| *component <= max)));
    };
    match mapping {
        Mapping::Curve { curve, .. } => assert!(codes.iter().all(|&code| curve.apply(code) <= max)),
        Mapping::Veil(veil) => {
            let curves = [(0, 0), (7, 7)].map(|region| veil.curve_of(region, levels));
            assert!(curves.iter().all(|curve| codes.iter().all(|&code| curve.apply(code) <= levels.hi().max(code))));
        }
        Mapping::Balance(balance) => balanced(balance),
        Mapping::Balanced { balance, then } => {
            balanced(balance);
            apply(then, levels);
        }
        Mapping::Tiles { .. } => unreachable!("no file has tiles"),
    }
}

/// A command line: times, sizes, rates, regions, looks, raw formats. Zero bytes and newlines separate the arguments.
fn arguments(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let arguments = std::iter::once("histeq-video").chain(text.split(['\0', '\n']));
    if let Err(error) = Args::try_parse_from(arguments).and_then(Job::from_args) {
        assert!(!error.render().to_string().is_empty());
    }
}

/// Single values, in the syntax of FFmpeg's options.
fn values(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let _ = (parse_time(&text), parse_rate(&text));
    assert!(parse_number(&text).is_none_or(f64::is_finite));
    assert!(parse_size(&text).is_none_or(|(width, height)| width > 0 && height > 0));
    for rate in [Rational::new(25, 1), Rational::new(30000, 1001)] {
        let _ = later_timecode(&text, rate, data.len() as i32);
    }
}

/// Names of numbered files and URLs, and text for a terminal.
fn names(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if let Some((place, _)) = number_pattern(&*text) {
        assert!(text[place].starts_with('%'));
        assert!(!numbered(&*text, 7).is_empty());
    }
    assert!(host(&text).is_none_or(|host| text.contains(host)));
    let _ = without_password(&*text);
    assert!(!printable(&text).contains(|c: char| c.is_control() && !matches!(c, '\n' | '\t')));
}

/// The weights of a mask, and the region that they leave. The first two bytes are the mask's width and height.
fn mask(data: &[u8]) {
    let [width, height, weights @ ..] = data else { return };
    let size @ (width, height) = (usize::from(*width), usize::from(*height));
    let Some(mask) = Mask::new(size, weights.to_vec()) else { return };
    let Rect { x, y, width: columns, height: rows } = mask.around(Rect::whole(size));
    assert!(columns > 0 && rows > 0 && x + columns <= width && y + rows <= height);
    assert!((y..y + rows).any(|y| mask.includes(x, y)));
}

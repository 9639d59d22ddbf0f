//! The input samples that codes of frames represent, and the fixed range of samples that `--range` shows.

use histeq::CallerError;
use histeq::internal::equalize::{Given, MappingSource};
use histeq::internal::frame::{Frame, Range};
use histeq::internal::spec::chroma::UNIT_GAIN;
use histeq::internal::spec::curves::{Curve, Levels, Mapping};
use histeq::internal::spec::parameters::Settings;
use histeq_media::pipeline::Input;

/// The linear relation of codes and samples.
#[derive(Clone, Copy, Debug, Default)]
pub struct SampleScale {
    /// The samples that black and white represent, in the unit of the file, if it has one.
    samples: Option<(f64, f64)>,
    /// Bits of the input, if known.
    depth: Option<u8>,
}

impl SampleScale {
    /// The scale of the frames of `input`: the unit of a TIFF, FITS or SER whose samples were mapped linearly to codes,
    /// or else the codes themselves.
    pub fn for_input(input: &Input) -> Self {
        let samples = input.media.samples.filter(|(least, most)| least < most);
        SampleScale { samples, depth: input.picture.map(|(format, _)| format.depth()) }
    }

    /// The samples that are black and white in `frame`, which may have more bits than the input.
    pub fn ends(self, frame: &Frame) -> (f64, f64) {
        let levels = match (self.depth, frame.levels().depth(), frame.range()) {
            (Some(8), 10, Range::Limited) => Levels::limited(8),
            (Some(8), 10, Range::Full) => Levels::full(8),
            _ => frame.levels(),
        };
        self.samples.unwrap_or((levels.lo().into(), levels.hi().into()))
    }
}

/// A mapping that is the same for all frames: two samples become black and white, along a straight line.
pub struct FixedRange {
    range: (f64, f64),
    scale: SampleScale,
    last: Option<(Levels, Mapping)>,
}

impl FixedRange {
    /// Maps the samples of this `range`, the smaller one first, to black and white.
    pub fn new(range: (f64, f64), scale: SampleScale) -> Self {
        FixedRange { range, scale, last: None }
    }
}

impl MappingSource for FixedRange {
    fn mapping(&mut self, _number: u64, frame: &Frame, _settings: &Settings) -> Result<Given, CallerError> {
        let levels = frame.levels();
        let mapping = match self.last.take().filter(|(known, _)| *known == levels) {
            Some((_, mapping)) => mapping,
            None => Mapping::Curve {
                curve: line(levels, self.scale.ends(frame), self.range).into(),
                chroma_gain: UNIT_GAIN,
            },
        };
        self.last = Some((levels, mapping.clone()));
        Ok(Given { mapping, scene: None })
    }
}

/// A range may begin and end between two codes, at a multiple of 1 / `PARTS`.
const PARTS: f64 = 65_536.0;

/// The curve that maps the samples of `range` to black and white, which represented those of `ends` before:
/// `lo + ((code - low) * (L - 1) + (high - low) / 2) / (high - low)`, with codes in 65536ths, limited to `lo` and `hi`.
fn line(levels: Levels, ends: (f64, f64), range: (f64, f64)) -> Curve {
    let (lo, steps) = (i128::from(levels.lo()), levels.count() as i128 - 1);
    let code = |sample: f64| {
        let share = (sample - ends.0) / (ends.1 - ends.0);
        i128::from(((f64::from(levels.lo()) + share * steps as f64) * PARTS).round() as i64)
    };
    let (low, high) = (code(range.0), code(range.1));
    let span = (high - low).max(1);
    let mapped = |index: usize| {
        let above = (index as i128 * PARTS as i128 - low).clamp(0, span);
        (lo + (above * steps + span / 2) / span) as u16
    };
    Curve::from_codes(levels, (0..levels.codes()).map(mapped).collect()).unwrap_or_else(|| Curve::identity(levels))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_a_straight_line_between_its_ends() {
        let levels = Levels::full(16);
        let curve = line(levels, (0.0, 65_535.0), (20_000.0, 21_000.0));
        for (code, expected) in
            [(0, 0), (20_000, 0), (20_500, 32_768), (20_001, 66), (21_000, 65_535), (65_535, 65_535)]
        {
            assert_eq!(curve.apply(code), expected, "{code}");
        }
        // The whole range as `range` changes nothing.
        assert_eq!(line(levels, (0.0, 65_535.0), (0.0, 65_535.0)), Curve::identity(levels));
        let limited = Levels::limited(8);
        let curve = line(limited, (16.0, 235.0), (100.0, 200.0));
        assert_eq!([0, 100, 150, 200, 255].map(|code| curve.apply(code)), [16, 16, 126, 235, 235]);
    }

    #[test]
    fn the_unit_of_a_file_counts_and_a_range_may_lie_beyond_it() {
        // The codes represent -40 to 120 degrees.
        let curve = line(Levels::full(16), (-40.0, 120.0), (0.0, 80.0));
        assert_eq!([0, 16_384, 32_768, 49_152].map(|code| curve.apply(code)), [0, 1, 32_769, 65_535]);
        let beyond = line(Levels::full(8), (0.0, 255.0), (-255.0, 1e300));
        assert_eq!([0, 255].map(|code| beyond.apply(code)), [0, 0]);
        let below = line(Levels::full(8), (0.0, 255.0), (-255.0, 255.0));
        assert_eq!([0, 255].map(|code| below.apply(code)), [128, 255]);
    }
}

//! Histograms before and after equalization, and curves, over the time of a video: at most `MAX_COLUMNS` columns of at
//! most `MAX_BINS` bins. When there would be more columns, each two neighbours are merged into one.

use super::series::{Point, digits};
use crate::sidecar::statistics::FrameRecord;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use histeq::internal::spec::curves::{Histogram, Levels};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The largest number of columns; a plot is about twice as many pixels wide.
const MAX_COLUMNS: usize = 480;

/// The largest number of bins, each of one level or of several.
const MAX_BINS: usize = 256;

/// A plot of the levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layer {
    /// The histogram before equalization.
    Before,
    /// The histogram after it.
    After,
    /// The curve: the output for each level.
    Curve,
}

/// The histograms and the curve of a frame, in bins of its own levels.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct FrameLevels {
    depth: u8,
    is_full: bool,
    /// The share of the samples in each bin.
    before: PackedValues,
    after: PackedValues,
    /// The output for the level of each bin, 0 to 1; `None` if the frame does not have a single curve.
    curve: Option<PackedValues>,
}

/// Values that are serialized as little-endian bytes.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(from = "Bytes", into = "Bytes")]
struct PackedValues(Vec<f32>);

#[derive(Clone, Deserialize, Serialize)]
struct Bytes(#[serde(with = "crate::sidecar::statistics::base64_bytes")] Vec<u8>);

impl From<PackedValues> for Bytes {
    fn from(PackedValues(values): PackedValues) -> Self {
        Bytes(values.into_iter().flat_map(f32::to_le_bytes).collect())
    }
}

impl From<Bytes> for PackedValues {
    fn from(Bytes(bytes): Bytes) -> Self {
        PackedValues(bytes.as_chunks().0.iter().map(|value| f32::from_le_bytes(*value)).collect())
    }
}

impl FrameLevels {
    /// The levels of a frame with these histograms before and after equalization, and with this curve, if it has a
    /// single one: the output code for each input code.
    pub fn new(before: &Histogram, after: &Histogram, curve: Option<&[u16]>) -> Self {
        let levels = before.levels();
        let bins = Bins(levels);
        let shares = |histogram: &Histogram| {
            let (levels_of_frame, total) = (histogram.levels().count(), histogram.total().max(1) as f32);
            let mut shares = vec![0.0; bins.count()];
            for (level, &count) in histogram.counts().iter().enumerate() {
                shares[level * levels.count() / levels_of_frame / bins.width()] += count as f32 / total;
            }
            PackedValues(shares)
        };
        let curve = curve.map(|codes| {
            let code = |bin: usize| codes[usize::from(levels.lo()) + bin * bins.width()];
            let became = |bin| levels.level_of(code(bin)) as f32 / (levels.count() - 1) as f32;
            PackedValues((0..bins.count()).map(became).collect())
        });
        let is_full = levels == Levels::full(levels.depth());
        FrameLevels { depth: levels.depth(), is_full, before: shares(before), after: shares(after), curve }
    }

    fn levels(&self) -> Levels {
        let depth = self.depth.clamp(8, 16);
        if self.is_full { Levels::full(depth) } else { Levels::limited(depth) }
    }

    /// A column of this frame, in these bins.
    fn column(&self, record: &FrameRecord, bins: &Bins) -> LevelColumn {
        let count = Bins(self.levels()).count();
        let share = |PackedValues(shares): &PackedValues| {
            let mut scaled = vec![0.0; bins.count()];
            shares.iter().take(count).enumerate().for_each(|(bin, share)| scaled[bin * bins.count() / count] += share);
            scaled
        };
        let curve = self.curve.as_ref().map(|PackedValues(curve)| {
            let value_of = |bin| curve.get(bin * count / bins.count()).copied().unwrap_or_default();
            (0..bins.count()).map(value_of).collect()
        });
        LevelColumn {
            at: Point::position(record),
            frames: [1.0, if curve.is_some() { 1.0 } else { 0.0 }],
            shares: [share(&self.before), share(&self.after)],
            curve: curve.unwrap_or_else(|| vec![0.0; bins.count()]),
        }
    }
}

/// One frame, or several consecutive frames.
#[derive(Clone)]
struct LevelColumn {
    /// The position, as [`Point::at`].
    at: f64,
    /// Number of frames, and of those that have a single curve.
    frames: [f32; 2],
    /// Sums over the frames: the share of the samples in each bin, before and after.
    shares: [Vec<f32>; 2],
    /// The sum, over the frames with a single curve, of the output for the level of each bin, 0 to 1.
    curve: Vec<f32>,
}

impl LevelColumn {
    fn merged(mut self, other: &LevelColumn) -> LevelColumn {
        let add = |sums: &mut [f32], rest: &[f32]| sums.iter_mut().zip(rest).for_each(|(sum, other)| *sum += other);
        add(&mut self.frames, &other.frames);
        self.shares.iter_mut().zip(&other.shares).for_each(|(sums, rest)| add(sums, rest));
        add(&mut self.curve, &other.curve);
        self
    }
}

/// The levels of a video over its time.
#[derive(Default)]
pub struct LevelColumns {
    /// The levels of the first frame, to which those of other frames are scaled.
    levels: Option<Levels>,
    columns: Vec<LevelColumn>,
    /// Number of frames in a column; the last column can have fewer.
    frames_per_column: u64,
    frames: u64,
}

impl LevelColumns {
    /// Adds the next frame.
    pub fn add(&mut self, record: &FrameRecord, frame: &FrameLevels) {
        let column = frame.column(record, &Bins(*self.levels.get_or_insert(frame.levels())));
        self.frames_per_column = self.frames_per_column.max(1);
        if !self.frames.is_multiple_of(self.frames_per_column) {
            if let Some(last) = self.columns.last_mut() {
                *last = last.clone().merged(&column);
            }
        } else {
            if self.columns.len() == MAX_COLUMNS {
                let merge = |pair: &[LevelColumn]| pair[1..].iter().fold(pair[0].clone(), LevelColumn::merged);
                self.columns = self.columns.chunks(2).map(merge).collect();
                self.frames_per_column *= 2;
            }
            self.columns.push(column);
        }
        self.frames += 1;
    }

    /// A value for each bin over all frames.
    fn totals(&self, layer: Layer) -> Vec<f32> {
        let all = self.columns.iter().cloned().reduce(|all, column| all.merged(&column));
        all.map_or(Vec::new(), |all| values(&all, layer))
    }

    /// All data for the page's script: values over all frames, and those of the columns, a byte each. Shares are stored
    /// as square roots, so that small ones remain visible. A column without a curve has zeros.
    pub fn packed(&self) -> Value {
        let Some(levels) = self.levels else { return Value::Null };
        let bins = Bins(levels);
        let bytes = |layer: Layer| {
            let byte = |value: f32| (if layer == Layer::Curve { value } else { value.sqrt() } * 255.0).round() as u8;
            let column = |column: &LevelColumn| {
                let mut bytes: Vec<u8> = values(column, layer).into_iter().map(byte).collect();
                bytes.resize(bins.count(), 0);
                bytes
            };
            STANDARD.encode(self.columns.iter().flat_map(column).collect::<Vec<u8>>())
        };
        let all = |layer| self.totals(layer).into_iter().map(|value| digits(value.into())).collect::<Value>();
        let has_curves = self.columns.iter().any(|column| column.frames[1] > 0.0);
        json!({
            "black": levels.lo(),
            "white": levels.hi(),
            "bins": bins.count(),
            "width": bins.width(),
            "at": self.columns.iter().map(|column| column.at).collect::<Vec<_>>(),
            "before": bytes(Layer::Before),
            "after": bytes(Layer::After),
            "curve": has_curves.then(|| bytes(Layer::Curve)),
            "all": { "before": all(Layer::Before), "after": all(Layer::After), "curve": all(Layer::Curve) },
        })
    }
}

/// A value for each bin of a column, 0 to 1: the share of the samples, or the output of the curve. Empty for the curve
/// if no frame of the column has a single one.
fn values(column: &LevelColumn, layer: Layer) -> Vec<f32> {
    let (sums, frames) = match layer {
        Layer::Before => (&column.shares[0], column.frames[0]),
        Layer::After => (&column.shares[1], column.frames[0]),
        Layer::Curve => (&column.curve, column.frames[1]),
    };
    if frames == 0.0 { Vec::new() } else { sums.iter().map(|sum| sum / frames).collect() }
}

/// The levels in bins of the same number of levels.
struct Bins(Levels);

impl Bins {
    /// Number of levels in a bin; the last one can have fewer.
    fn width(&self) -> usize {
        self.0.count().div_ceil(MAX_BINS)
    }

    fn count(&self) -> usize {
        self.0.count().div_ceil(self.width())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use histeq::internal::spec::curves::{Curve, Histogram};

    fn histogram(levels: Levels, codes: &[u16]) -> Histogram {
        let mut histogram = Histogram::new(levels);
        codes.iter().for_each(|&code| histogram.add(code));
        histogram
    }

    #[test]
    fn a_long_video_takes_no_more_columns_than_a_short_one_and_loses_no_share() {
        let levels = Levels::limited(8);
        let (dark, bright) = (histogram(levels, &[16, 16, 16, 235]), histogram(levels, &[235]));
        let identity = Curve::identity(levels);
        let mut columns = LevelColumns::default();
        for frame in 0..10_000 {
            let record = FrameRecord { frame, ..FrameRecord::default() };
            let curve = (frame >= 5000).then(|| identity.codes());
            columns.add(&record, &FrameLevels::new(&dark, &bright, curve));
        }
        assert!((MAX_COLUMNS / 3..=MAX_COLUMNS).contains(&columns.columns.len()), "{}", columns.columns.len());
        let all = columns.totals(Layer::Before);
        assert_eq!((all.len(), all[0], all[219], all.iter().sum::<f32>()), (220, 0.75, 0.25, 1.0));
        let value_at =
            |frame: f64, layer| values(columns.columns.iter().rfind(|column| column.at <= frame).unwrap(), layer);
        assert_eq!(value_at(7.0, Layer::After)[219], 1.0);
        assert!(value_at(4000.0, Layer::Curve).is_empty());
        assert_eq!(value_at(6000.0, Layer::Curve)[219], 1.0);
        let packed = columns.packed();
        assert_eq!((&packed["black"], &packed["bins"], &packed["width"]), (&16.into(), &220.into(), &1.into()));
        let bytes = STANDARD.decode(packed["before"].as_str().unwrap()).unwrap();
        assert_eq!((bytes.len(), bytes[219]), (220 * columns.columns.len(), 128));
    }

    #[test]
    fn deep_levels_share_bins_of_one_width() {
        let levels = Levels::limited(10);
        let bins = Bins(levels);
        assert_eq!((levels.count(), bins.width(), bins.count()), (877, 4, 220));
        let all = histogram(levels, &[64, 65, 66, 67, 68, 940]);
        let identity = Curve::identity(levels);
        let frame = FrameLevels::new(&all, &all, Some(identity.codes()));
        let kept: FrameLevels = serde_json::from_str(&serde_json::to_string(&frame).unwrap()).unwrap();
        assert_eq!(kept, frame);
        let column = kept.column(&FrameRecord::default(), &bins);
        assert_eq!(column.shares[0][..2], [4.0 / 6.0, 1.0 / 6.0]);
        assert_eq!((column.shares[0][219], column.curve[219]), (1.0 / 6.0, 1.0));
    }

    #[test]
    fn frames_of_another_depth_are_scaled_to_the_first() {
        let mut columns = LevelColumns::default();
        for (frame, depth) in [(0, 8), (1, 10)] {
            let levels = Levels::full(depth);
            let white = histogram(levels, &[levels.hi()]);
            let identity = Curve::identity(levels);
            let record = FrameRecord { frame, ..FrameRecord::default() };
            columns.add(&record, &FrameLevels::new(&white, &white, Some(identity.codes())));
        }
        assert_eq!(columns.totals(Layer::After)[255], 1.0);
        let curve = values(&columns.columns[1], Layer::Curve);
        assert!((curve[128] - 128.0 / 255.0).abs() < 2e-3, "{}", curve[128]);
    }
}

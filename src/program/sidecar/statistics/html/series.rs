//! The records of a video, reduced to at most `MAX_POINTS` points of a plot. When there would be more, each two
//! neighbours are merged into one point, which keeps the lowest, the highest and the mean of each metric.

use crate::sidecar::statistics::FrameRecord;
use serde_json::{Value, json};

/// The largest number of points; a plot is about half as many pixels wide.
const MAX_POINTS: usize = 1600;

/// Lists fields of a record.
macro_rules! metrics {
    ($($field:ident,)*) => { &[$((stringify!($field), |record| f64::from(record.$field)),)*] };
}

/// A field of a record: its name, and a function that reads it.
type Metric = (&'static str, fn(&FrameRecord) -> f64);

/// The metrics that are plotted.
const METRICS: &[Metric] = metrics![
    mean_before,
    mean_after,
    deviation_before,
    deviation_after,
    entropy_before,
    entropy_after,
    eme_before,
    eme_after,
    gain,
    slope,
    curve_change,
    decode_ms,
    equalize_ms,
    encode_ms,
];

/// The values of a metric over the frames of a point.
#[derive(Clone, Copy, Debug, PartialEq)]
struct MetricValues {
    min: f64,
    max: f64,
    sum: f64,
    count: u64,
}

impl MetricValues {
    fn new(value: f64) -> Self {
        MetricValues { min: value, max: value, sum: value, count: 1 }
    }

    fn merged(self, other: MetricValues) -> MetricValues {
        MetricValues {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
            sum: self.sum + other.sum,
            count: self.count + other.count,
        }
    }

    fn mean(&self) -> f64 {
        self.sum / self.count as f64
    }
}

/// A point of a plot: one frame, or several consecutive frames.
#[derive(Clone, Debug)]
pub struct Point {
    /// Presentation time of the first frame in seconds; its number if times are not known.
    pub at: f64,
    /// Number of cuts in it.
    pub cuts: u64,
    /// Number of flashes that end in it.
    pub flashes: u64,
    metrics: [MetricValues; METRICS.len()],
}

impl Point {
    /// The position of a frame: its time in seconds, or its number.
    pub fn position(record: &FrameRecord) -> f64 {
        record.time.unwrap_or(record.frame as f64)
    }

    fn new(record: &FrameRecord) -> Self {
        Point {
            at: Point::position(record),
            cuts: record.cut.into(),
            flashes: record.after_flash.into(),
            metrics: std::array::from_fn(|metric| MetricValues::new(METRICS[metric].1(record))),
        }
    }

    fn merged(mut self, other: &Point) -> Point {
        self.cuts += other.cuts;
        self.flashes += other.flashes;
        for (values, rest) in self.metrics.iter_mut().zip(other.metrics) {
            *values = values.merged(rest);
        }
        self
    }
}

/// The records of a run, reduced to points.
#[derive(Default)]
pub struct Series {
    /// In the order of the video.
    pub points: Vec<Point>,
    /// Number of frames in a point; the last point can have fewer.
    frames_per_point: u64,
    /// Number of all frames.
    pub frames: u64,
    /// Position of the last record, as [`Point::at`].
    pub end: f64,
    /// Whether all times are known: positions are in seconds then.
    pub timed: bool,
}

impl Series {
    /// Adds the next record.
    pub fn add(&mut self, record: &FrameRecord) {
        let point = Point::new(record);
        self.timed = record.time.is_some() && (self.timed || self.frames == 0);
        self.end = point.at;
        self.frames_per_point = self.frames_per_point.max(1);
        if !self.frames.is_multiple_of(self.frames_per_point) {
            if let Some(last) = self.points.last_mut() {
                *last = last.clone().merged(&point);
            }
        } else {
            if self.points.len() == MAX_POINTS {
                self.points =
                    self.points.chunks(2).map(|pair| pair[1..].iter().fold(pair[0].clone(), Point::merged)).collect();
                self.frames_per_point *= 2;
            }
            self.points.push(point);
        }
        self.frames += 1;
    }

    /// The points for the page's script: where they are, where cuts are and where flashes end, the mean of each metric,
    /// and where points have several frames the lowest and the highest, too.
    pub fn packed(&self) -> Value {
        let value_at = |is_one: fn(&Point) -> bool| -> Value {
            self.points.iter().filter(|point| is_one(point)).map(|point| point.at).collect()
        };
        let value_of = |value: fn(&MetricValues) -> f64| -> Value {
            let metric = |index: usize| self.points.iter().map(move |point| digits(value(&point.metrics[index])));
            METRICS.iter().enumerate().map(|(index, (name, _))| (*name, metric(index).collect::<Value>())).collect()
        };
        let has_several = self.frames_per_point > 1;
        json!({
            "at": value_at(|_| true),
            "cut": value_at(|point| point.cuts > 0),
            "flash": value_at(|point| point.flashes > 0),
            "mean": value_of(MetricValues::mean),
            "low": has_several.then(|| value_of(|values| values.min)),
            "high": has_several.then(|| value_of(|values| values.max)),
        })
    }

    /// The mean of a metric over all frames; `None` without frames.
    pub fn mean(&self, metric: &str) -> Option<f64> {
        let index = METRICS.iter().position(|(name, _)| *name == metric)?;
        self.points.iter().map(|point| point.metrics[index]).reduce(MetricValues::merged).map(|all| all.mean())
    }
}

/// `value` with one digit more than the page shows.
pub fn digits(value: f64) -> f64 {
    format!("{value:.4e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_video_takes_no_more_points_than_a_short_one_and_loses_no_peak() {
        let mut series = Series::default();
        for frame in 0..100_000u64 {
            let mean_before = if frame == 77_777 { 255.0 } else { 100.0 };
            let slope = 2 + 2 * (frame % 2) as u16;
            let cut = frame % 1000 == 999;
            series.add(&FrameRecord {
                frame,
                time: Some(frame as f64),
                mean_before,
                slope,
                cut,
                ..FrameRecord::default()
            });
        }
        assert!(
            series.points.len() <= MAX_POINTS && series.points.len() > MAX_POINTS / 3,
            "{} points",
            series.points.len()
        );
        assert_eq!(series.points.iter().map(|point| point.cuts).sum::<u64>(), 100);
        let highest = series.points.iter().map(|point| point.metrics[0].max).fold(0.0, f64::max);
        assert_eq!(highest, 255.0);
        assert!((series.mean("mean_before").expect("a mean") - 100.00155).abs() < 1e-9);
        assert_eq!(series.mean("slope"), Some(3.0));
        assert!(series.points.windows(2).all(|pair| pair[0].at < pair[1].at));
        assert_eq!((series.frames, series.end), (100_000, 99_999.0));
    }

    #[test]
    fn a_short_video_has_a_point_a_frame() {
        let mut series = Series::default();
        (0..50)
            .for_each(|frame| series.add(&FrameRecord { frame, mean_after: frame as f64, ..FrameRecord::default() }));
        assert_eq!(series.points.len(), 50);
        assert_eq!(series.points[7].metrics[1].mean(), 7.0);
        assert!(!series.timed);
    }
}

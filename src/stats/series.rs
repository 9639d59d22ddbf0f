//! Records, as far as a plot can show them: at most so many points, whatever the length of the video. When there are
//! too many, neighbours become one, which keeps the lowest, the highest and the mean of each figure.

use super::Record;

/// The most points kept; a plot is about half as many pixels wide.
const MOST: usize = 1600;

/// The figures that are plotted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    MeanBefore,
    MeanAfter,
    DeviationBefore,
    DeviationAfter,
    EntropyBefore,
    EntropyAfter,
    EmeBefore,
    EmeAfter,
    Slope,
    CurveChange,
    Decode,
    Equalize,
    Encode,
}

const FIGURES: usize = Figure::Encode as usize + 1;

/// The values of a figure over the frames of a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Values {
    /// The lowest.
    pub min: f64,
    /// The highest.
    pub max: f64,
    sum: f64,
    count: u64,
}

impl Values {
    const NONE: Values = Values { min: f64::INFINITY, max: f64::NEG_INFINITY, sum: 0.0, count: 0 };

    fn of(value: f64) -> Self {
        Values { min: value, max: value, sum: value, count: 1 }
    }

    fn and(self, other: Values) -> Values {
        Values {
            min: self.min.min(other.min),
            max: self.max.max(other.max),
            sum: self.sum + other.sum,
            count: self.count + other.count,
        }
    }

    /// The mean; `None` of no frames.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }
}

/// One frame, or some that follow each other.
#[derive(Clone, Debug)]
pub struct Point {
    /// When the first of them is shown, in seconds; its number where no times are known.
    pub at: f64,
    /// How many scenes begin in it, by a cut.
    pub cuts: u64,
    /// How many flashes end in it.
    pub flashes: u64,
    figures: [Values; FIGURES],
}

impl Point {
    fn of(record: &Record) -> Self {
        let figure = |figure: usize| match figure {
            f if f == Figure::MeanBefore as usize => record.mean_before,
            f if f == Figure::MeanAfter as usize => record.mean_after,
            f if f == Figure::DeviationBefore as usize => record.deviation_before,
            f if f == Figure::DeviationAfter as usize => record.deviation_after,
            f if f == Figure::EntropyBefore as usize => record.entropy_before,
            f if f == Figure::EntropyAfter as usize => record.entropy_after,
            f if f == Figure::EmeBefore as usize => record.eme_before,
            f if f == Figure::EmeAfter as usize => record.eme_after,
            f if f == Figure::Slope as usize => f64::from(record.slope),
            f if f == Figure::CurveChange as usize => record.curve_change,
            f if f == Figure::Decode as usize => record.decode_ms,
            f if f == Figure::Equalize as usize => record.equalize_ms,
            _ => record.encode_ms,
        };
        Point {
            at: record.time.unwrap_or(record.frame as f64),
            cuts: record.cut.into(),
            flashes: record.after_flash.into(),
            figures: std::array::from_fn(|index| Values::of(figure(index))),
        }
    }

    fn and(mut self, other: &Point) -> Point {
        self.cuts += other.cuts;
        self.flashes += other.flashes;
        for (values, others) in self.figures.iter_mut().zip(other.figures) {
            *values = values.and(others);
        }
        self
    }

    /// The values of a figure.
    pub fn values(&self, figure: Figure) -> Values {
        self.figures[figure as usize]
    }
}

/// The records of a run, decimated.
#[derive(Default)]
pub struct Series {
    points: Vec<Point>,
    /// Frames in a point, the last of which may have fewer.
    each: u64,
    /// Frames in all.
    pub frames: u64,
    /// The last moment of which there is a record.
    pub end: f64,
    /// Whether all times are known, so that points lie in seconds.
    pub timed: bool,
}

impl Series {
    /// Takes in the next record.
    pub fn add(&mut self, record: &Record) {
        let point = Point::of(record);
        self.timed = record.time.is_some() && (self.timed || self.frames == 0);
        self.end = point.at;
        self.each = self.each.max(1);
        if !self.frames.is_multiple_of(self.each) {
            if let Some(last) = self.points.last_mut() {
                *last = last.clone().and(&point);
            }
        } else {
            if self.points.len() == MOST {
                self.points =
                    self.points.chunks(2).map(|pair| pair[1..].iter().fold(pair[0].clone(), Point::and)).collect();
                self.each *= 2;
            }
            self.points.push(point);
        }
        self.frames += 1;
    }

    /// The points, in order.
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// The mean of a figure over all frames; `None` if there are none.
    pub fn mean(&self, figure: Figure) -> Option<f64> {
        self.points.iter().fold(Values::NONE, |all, point| all.and(point.values(figure))).mean()
    }
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
            series.add(&Record { frame, time: Some(frame as f64), mean_before, slope, cut, ..Record::default() });
        }
        assert!(series.points().len() <= MOST && series.points().len() > MOST / 3, "{} points", series.points().len());
        assert_eq!(series.points().iter().map(|point| point.cuts).sum::<u64>(), 100);
        let highest = series.points().iter().map(|point| point.values(Figure::MeanBefore).max).fold(0.0, f64::max);
        assert_eq!(highest, 255.0);
        assert!((series.mean(Figure::MeanBefore).expect("a mean") - 100.00155).abs() < 1e-9);
        assert_eq!(series.mean(Figure::Slope), Some(3.0));
        assert!(series.points().windows(2).all(|pair| pair[0].at < pair[1].at));
        assert_eq!((series.frames, series.end), (100_000, 99_999.0));
    }

    #[test]
    fn a_short_video_has_a_point_a_frame() {
        let mut series = Series::default();
        (0..50).for_each(|frame| series.add(&Record { frame, mean_after: frame as f64, ..Record::default() }));
        assert_eq!(series.points().len(), 50);
        assert_eq!(series.points()[7].values(Figure::MeanAfter).mean(), Some(7.0));
        assert!(!series.timed);
    }
}

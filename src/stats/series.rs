//! The records of a video, reduced to what a plot can show: at most `MOST` points. When there would be more, each two
//! neighbours become one point, which keeps the lowest, the highest and the mean of each figure.

use super::Record;

/// The most points kept; a plot is about half as many pixels wide.
const MOST: usize = 1600;

/// Defines the figures by the fields of a record that they are.
macro_rules! figures {
    ($($name:ident: $field:ident,)*) => {
        /// The figures that are plotted.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Figure {
            $($name,)*
        }

        /// Their values, in the same order.
        const FIGURES: &[fn(&Record) -> f64] = &[$(|record| f64::from(record.$field),)*];
    };
}

figures! {
    MeanBefore: mean_before,
    MeanAfter: mean_after,
    DeviationBefore: deviation_before,
    DeviationAfter: deviation_after,
    EntropyBefore: entropy_before,
    EntropyAfter: entropy_after,
    EmeBefore: eme_before,
    EmeAfter: eme_after,
    Slope: slope,
    CurveChange: curve_change,
    Decode: decode_ms,
    Equalize: equalize_ms,
    Encode: encode_ms,
}

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

    /// The mean.
    pub fn mean(&self) -> f64 {
        self.sum / self.count as f64
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
    figures: [Values; FIGURES.len()],
}

impl Point {
    fn of(record: &Record) -> Self {
        Point {
            at: record.time.unwrap_or(record.frame as f64),
            cuts: record.cut.into(),
            flashes: record.after_flash.into(),
            figures: std::array::from_fn(|figure| Values::of(FIGURES[figure](record))),
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
        self.points.iter().map(|point| point.values(figure)).reduce(Values::and).map(|all| all.mean())
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
        assert_eq!(series.points()[7].values(Figure::MeanAfter).mean(), 7.0);
        assert!(!series.timed);
    }
}

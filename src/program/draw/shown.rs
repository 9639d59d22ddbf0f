//! The histogram of a frame by column, and the curve that was applied to the frame.

use histeq::internal::equalize::counting::relation;
use histeq::internal::frame::Frame;
use histeq::internal::spec::curves::{Histogram, Levels};

/// Least number of rows that the curve is measured in.
const CURVE_ROWS: usize = 240;

/// The counts of all codes, summed into `columns` columns of equal width.
pub fn by_column(histogram: &Histogram, columns: usize) -> Vec<u64> {
    let levels = histogram.levels();
    let mut sums = vec![0; columns];
    for (level, count) in histogram.counts().iter().enumerate() {
        let code = usize::from(levels.lo()) + level;
        sums[code * columns / levels.codes()] += count;
    }
    sums
}

/// The curve of a frame, at the codes that occur in it, as shares of the highest code, 0 to 1. With curves of tiles:
/// their mean.
pub fn curve(original: &Frame, equalized: &Frame) -> Vec<(f64, f64)> {
    let (source, target) = (original.levels(), equalized.levels());
    let share = |levels: Levels, level: f64| {
        (f64::from(levels.lo()) + level * (levels.count() - 1) as f64) / (levels.codes() - 1) as f64
    };
    // Every row would take too long, and adds little.
    let step = (original.height() / CURVE_ROWS).max(1);
    let points = relation(original, equalized, step).unwrap_or_default();
    points.into_iter().map(|(before, after)| (share(source, before), share(target, after))).collect()
}

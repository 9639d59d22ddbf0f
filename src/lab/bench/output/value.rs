//! A measured value: the median and the quartiles of repeated runs.

use std::time::Instant;

/// The numbers of runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeats {
    /// The runs that are measured, at least 1.
    pub counted: usize,
    /// The runs before the measured ones, which fill caches and memory pools and raise clock rates.
    pub warm_up: usize,
}

impl std::fmt::Display for Repeats {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.counted {
            0 | 1 => f.write_str("one run of each"),
            runs => write!(f, "medians of {runs} runs after {} that do not count", self.warm_up),
        }
    }
}

impl Repeats {
    /// The value of the measured runs.
    ///
    /// # Errors
    /// The first error of `run`.
    pub fn value<E>(self, mut run: impl FnMut() -> Result<f64, E>) -> Result<Value, E> {
        let mut samples = Vec::with_capacity(self.counted);
        for number in 0..self.warm_up + self.counted.max(1) {
            let sample = run()?;
            if number >= self.warm_up {
                samples.push(sample);
            }
        }
        Ok(Value::from_samples(&samples))
    }

    /// The time of `work` in microseconds.
    pub fn time(self, mut work: impl FnMut()) -> Value {
        let run = || {
            let begin = Instant::now();
            work();
            Ok::<f64, std::convert::Infallible>(microseconds(begin))
        };
        let Ok(value) = self.value(run);
        value
    }
}

/// Microseconds since `begin`.
pub fn microseconds(begin: Instant) -> f64 {
    begin.elapsed().as_secs_f64() * 1e6
}

/// A figure: the median of its runs, with the quartiles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Value {
    /// The median; of an even number of runs, the mean of the middle two.
    pub median: f64,
    /// The first quartile.
    pub low: f64,
    /// The third quartile.
    pub high: f64,
    /// The number of runs.
    pub runs: usize,
}

impl Value {
    /// The figure of these runs.
    ///
    /// # Panics
    /// When there are none.
    pub fn from_samples(samples: &[f64]) -> Self {
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let [low, median, high] = [0.25, 0.5, 0.75].map(|share| quantile(&sorted, share));
        Value { median, low, high, runs: sorted.len() }
    }

    /// A figure that was computed from others.
    pub fn derived(figure: f64) -> Self {
        Value { median: figure, low: figure, high: figure, runs: 1 }
    }

    /// Multiplies the figure by `factor`, to convert its unit.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        Value { median: self.median * factor, low: self.low * factor, high: self.high * factor, ..self }
    }

    /// `whole` divided by this figure: a rate from a time. The quartiles are exchanged.
    #[must_use]
    pub fn into_rate(self, whole: f64) -> Self {
        Value { median: whole / self.median, low: whole / self.high, high: whole / self.low, ..self }
    }

    /// Half the distance between the quartiles, as a share of the median.
    pub fn spread(&self) -> f64 {
        if self.median == 0.0 { 0.0 } else { (self.high - self.low) / 2.0 / self.median }
    }
}

/// The value below which `share` of the sorted samples lie, interpolated linearly between neighbours.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    below + (above - below) * place.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_and_quartiles_are_those_of_the_sorted_runs() {
        let value = Value::from_samples(&[5.0, 1.0, 2.0, 4.0, 3.0]);
        assert_eq!((value.low, value.median, value.high, value.runs), (2.0, 3.0, 4.0, 5));
        assert_eq!(Value::from_samples(&[1.0, 2.0]).median, 1.5);
        assert_eq!(Value::from_samples(&[7.0]), Value::derived(7.0));
        assert_eq!(value.into_rate(12.0), Value { median: 4.0, low: 3.0, high: 6.0, runs: 5 });
    }

    #[test]
    fn runs_that_warm_up_do_not_count() {
        let mut run = 0.0;
        let repeats = Repeats { counted: 3, warm_up: 2 };
        let value = repeats.value(|| {
            run += 1.0;
            Ok::<f64, ()>(run)
        });
        assert_eq!(value, Ok(Value { median: 4.0, low: 3.5, high: 4.5, runs: 3 }));
    }
}

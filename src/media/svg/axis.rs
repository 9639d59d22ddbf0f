//! Axes of plots: linear or logarithmic positions of values, ticks and their labels.

/// Tolerance for quotients that should be integers.
const ROUNDING: f64 = 1e-9;

/// One axis of a plot.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    low: f64,
    high: f64,
    /// The positions of `low` and `high`.
    from: f64,
    to: f64,
    logarithmic: bool,
}

impl Axis {
    /// A linear axis with `low` at position `from` and `high` at `to`; `high` is greater than `low`.
    pub fn linear((low, high): (f64, f64), (from, to): (f64, f64)) -> Self {
        Axis { low, high, from, to, logarithmic: false }
    }

    /// A logarithmic axis; `low` is greater than 0.
    pub fn logarithmic((low, high): (f64, f64), (from, to): (f64, f64)) -> Self {
        Axis { low, high, from, to, logarithmic: true }
    }

    /// The position of `value`.
    pub fn place(&self, value: f64) -> f64 {
        let share = if self.logarithmic {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        self.from + share * (self.to - self.from)
    }

    /// Round values inside of the axis; on a linear axis about `about` of them.
    pub fn ticks(&self, about: u32) -> Vec<f64> {
        if self.logarithmic {
            return self.ticks_of_decades();
        }
        let step = self.step(about);
        let (first, last) = ((self.low / step - ROUNDING).ceil() as i64, (self.high / step + ROUNDING).floor() as i64);
        (first..=last).map(|tick| tick as f64 * step).collect()
    }

    /// The distance between about `about` ticks: 1, 2 or 5 times a power of ten.
    fn step(&self, about: u32) -> f64 {
        let rough = (self.high - self.low) / f64::from(about);
        let power = 10f64.powf(rough.log10().floor());
        let factor =
            [1.0, 2.0, 5.0].into_iter().find(|factor| factor * power >= rough * (1.0 - ROUNDING)).unwrap_or(10.0);
        factor * power
    }

    /// 1, 2 and 5 times the powers of ten; only the powers of ten on more than three decades.
    fn ticks_of_decades(&self) -> Vec<f64> {
        let decades = (self.high / self.low).log10();
        let factors: &[f64] = if decades > 3.0 { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let powers = self.low.log10().floor() as i32..=self.high.log10().ceil() as i32;
        let ticks = powers.flat_map(|power| factors.iter().map(move |factor| factor * 10f64.powi(power)));
        ticks.filter(|tick| (self.low..=self.high).contains(tick)).collect()
    }

    /// The label of a tick.
    pub fn label(&self, tick: f64) -> String {
        // Linear ticks are at least a tenth of the range apart.
        let digits = if self.logarithmic { -tick.log10().floor() } else { 1.0 - (self.high - self.low).log10() };
        let decimals = digits.ceil().clamp(0.0, 6.0) as usize;
        let text = format!("{tick:.decimals$}");
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: Axis, about: u32) -> Vec<String> {
        axis.ticks(about).into_iter().map(|tick| axis.label(tick)).collect()
    }

    #[test]
    fn ticks_are_round_numbers_inside_the_axis() {
        let axis = Axis::linear((3.2, 97.0), (0.0, 1.0));
        assert_eq!(axis.ticks(4), [50.0]);
        assert_eq!(axis.ticks(5), [20.0, 40.0, 60.0, 80.0]);
        let small = Axis::linear((7.0, 7.04), (0.0, 1.0));
        assert_eq!(labels(small, 4), ["7", "7.01", "7.02", "7.03", "7.04"]);
    }

    #[test]
    fn a_logarithmic_axis_has_equal_factors_at_equal_distances() {
        let axis = Axis::logarithmic((0.4, 40.0), (100.0, 300.0));
        assert!((axis.place(4.0) - 200.0).abs() < 1e-9);
        assert_eq!(labels(axis, 0), ["0.5", "1", "2", "5", "10", "20"]);
        assert_eq!(labels(Axis::logarithmic((0.05, 2000.0), (0.0, 1.0)), 0), ["0.1", "1", "10", "100", "1000"]);
    }
}

//! The times of frames, stored as steps that repeat.

use serde::{Deserialize, Serialize};

/// Times that increase, in units of a time base.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Times {
    /// The first time.
    first: i64,
    /// Steps to the next time, each with how often it comes in a row.
    steps: Vec<(i64, u32)>,
}

/// The most frames of a video: 100 hours of 600 frames a second.
const MOST: u64 = 216_000_000;

impl Times {
    /// Stores `times`, which increase.
    pub fn of(times: &[i64]) -> Self {
        let mut steps: Vec<(i64, u32)> = Vec::new();
        for pair in times.windows(2) {
            let step = pair[1] - pair[0];
            match steps.last_mut().filter(|(last, count)| *last == step && *count < u32::MAX) {
                Some((_, count)) => *count += 1,
                None => steps.push((step, 1)),
            }
        }
        Times { first: times.first().copied().unwrap_or(0), steps }
    }

    /// All times; `None` if they do not increase, or are too many.
    pub fn all(&self) -> Option<Vec<i64>> {
        let count: u64 = self.steps.iter().map(|(_, count)| u64::from(*count)).sum();
        if count > MOST || self.steps.iter().any(|(step, _)| *step <= 0) {
            return None;
        }
        let mut times = Vec::with_capacity(count as usize + 1);
        times.push(self.first);
        let mut last = self.first;
        for (step, count) in &self.steps {
            for _ in 0..*count {
                last = last.checked_add(*step)?;
                times.push(last);
            }
        }
        Some(times)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_come_back_as_they_were() {
        for times in [vec![5], vec![-3, 0, 3, 6, 7, 20, 33], (0..1000).map(|n| n * 512).collect()] {
            assert_eq!(Times::of(&times).all(), Some(times));
        }
        assert_eq!(Times::of(&(0..1000).collect::<Vec<_>>()).steps.len(), 1);
    }

    #[test]
    fn times_that_make_no_video_are_none() {
        for steps in [vec![(0, 1)], vec![(-1, 3)], vec![(1, u32::MAX); 9], vec![(i64::MAX, 2)]] {
            assert_eq!(Times { first: 1, steps: steps.clone() }.all(), None, "{steps:?}");
        }
    }
}

//! The times of frames, stored as run lengths of equal differences.

use serde::{Deserialize, Serialize};
use std::iter::{once, repeat_n};

/// Times that increase, in units of a time base.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Times {
    first: i64,
    /// Differences to the next time, each with the number of times that it repeats in a row.
    steps: Vec<(i64, u32)>,
}

/// The most frames of a video: 100 hours of 600 frames a second.
const MAX_FRAMES: u64 = 216_000_000;

impl Times {
    /// Stores `times`, which increase.
    pub fn new(times: &[i64]) -> Self {
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

    /// The number of times; `None` if they do not increase, or are too many.
    pub fn count(&self) -> Option<usize> {
        let (mut count, mut last) = (1, self.first);
        for (step, times) in &self.steps {
            last = step.checked_mul(i64::from(*times)).and_then(|steps| last.checked_add(steps))?;
            count += u64::from(*times);
            if *step <= 0 || count > MAX_FRAMES {
                return None;
            }
        }
        usize::try_from(count).ok()
    }

    /// The times from that of frame `number` on.
    pub fn from(&self, number: usize) -> impl Iterator<Item = i64> {
        let (mut left, mut time, mut begun) = (number as u64, self.first, 0);
        for (step, times) in &self.steps {
            if left < u64::from(*times) {
                break;
            }
            (left, time, begun) = (left - u64::from(*times), time + step * i64::from(*times), begun + 1);
        }
        let mut steps = self.steps[begun..].iter();
        let first = steps.next().map(|(step, times)| (*step, *times));
        time += first.map_or(0, |(step, _)| step * left as i64);
        let is_there = left == 0 || first.is_some();
        let rest = first.map(|(step, times)| (step, times - left as u32)).into_iter().chain(steps.copied());
        let rest = rest.flat_map(|(step, times)| repeat_n(step, times as usize)).map(move |step| {
            time += step;
            time
        });
        once(time).chain(rest).take(if is_there { usize::MAX } else { 0 })
    }

    /// The time of frame `number`; `None` after the last one.
    pub fn at(&self, number: usize) -> Option<i64> {
        self.from(number).next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_come_back_as_they_were() {
        for times in [vec![5], vec![-3, 0, 3, 6, 7, 20, 33], (0..1000).map(|n| n * 512).collect()] {
            let stored = Times::new(&times);
            assert_eq!(stored.count(), Some(times.len()));
            for first in 0..=times.len() + 1 {
                let expected = times.get(first..).unwrap_or_default();
                assert_eq!(stored.from(first).collect::<Vec<_>>(), expected, "from {first}");
                assert_eq!(stored.at(first), expected.first().copied());
            }
        }
        assert_eq!(Times::new(&(0..1000).collect::<Vec<_>>()).steps.len(), 1);
    }

    #[test]
    fn times_that_make_no_video_are_none() {
        for steps in
            [vec![(0, 1)], vec![(-1, 3)], vec![(1, u32::MAX); 9], vec![(i64::MAX, 2)], vec![(1, MAX_FRAMES as u32)]]
        {
            assert_eq!(Times { first: 1, steps: steps.clone() }.count(), None, "{steps:?}");
        }
    }
}

//! Steps of brightness: frames on different sides of a step are not merged.

use super::sheet::Sheet;
use std::ops::Range;

/// The mean of luma, as a code of 12 bits.
pub fn light(luma: &Sheet) -> u32 {
    let sum = |y: usize| luma.row(y).iter().map(|sample| i64::from(*sample)).sum::<i64>();
    let all: i64 = (0..luma.height()).map(sum).sum();
    (all / (luma.width() * luma.height()) as i64 + 2048) as u32
}

/// The range of frames around frame `index` in which the mean luma changes from frame to frame by at most 2 levels of 8
/// bits, or by at most a 24th. Merging with other frames would change the brightness.
pub fn lit_alike(lights: &[u32], index: usize) -> Range<usize> {
    let differ = |pair: &[u32]| {
        let step = pair[0].abs_diff(pair[1]);
        step > 32 && 24 * step > pair[0].max(pair[1])
    };
    let steps: Vec<bool> = lights.windows(2).map(differ).collect();
    let start = steps[..index].iter().rposition(|differs| *differs).map_or(0, |step| step + 1);
    let end = steps[index..].iter().position(|differs| *differs).map_or(lights.len(), |step| index + step + 1);
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_across_a_step_of_light_are_not_merged() {
        let lights = [1000, 1010, 1060, 1070, 1200, 1210];
        assert_eq!([0, 2, 3, 4].map(|index| lit_alike(&lights, index)), [0..2, 2..4, 2..4, 4..6]);
        assert_eq!((lit_alike(&[100, 130, 100], 1), lit_alike(&[4000, 3900], 0)), (0..3, 0..2));
    }
}

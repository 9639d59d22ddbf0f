//! The contrast limit of a tile, applied to its counts.

use crate::spec::parameters::Gain;

/// Caps the counts, whose sum is `N`, at `max(1, g*N / (256*n))` with the limit `g` in 256ths, and spreads the excess
/// over the `n` bins from `first` to `last`: each gets `excess / n`, and every `max(n / R, 1)`-th bin, from the first
/// on, gets one more until the remainder `R` is used up. `N` does not change.
pub fn clip(counts: &mut [u64], max_gain: Gain, (first, last): (usize, usize)) {
    let Some(g) = max_gain.to_256ths() else { return };
    let bins = (last - first + 1) as u64;
    let total: u64 = counts.iter().sum();
    let cap = (u64::from(g) * total / (256 * bins)).max(1);
    let excess: u64 = counts.iter().map(|count| count.saturating_sub(cap)).sum();
    let (each, remainder) = (excess / bins, excess % bins);
    counts.iter_mut().for_each(|count| *count = (*count).min(cap));
    let range = &mut counts[first..=last];
    range.iter_mut().for_each(|count| *count += each);
    let step = bins.checked_div(remainder).unwrap_or(1);
    for count in range.iter_mut().step_by(step as usize).take(remainder as usize) {
        *count += 1;
    }
}

//! The contrast limit of a tile, applied to its counts.

use crate::spec::Gain;

/// Caps the counts at `max(1, g*N / (256*B))` and spreads the excess over all bins: each gets `excess / B`, and every
/// `max(B / R, 1)`-th bin gets one more until the remainder `R` is used up. The sum `N` of the counts does not change.
pub fn clip(counts: &mut [u64], max_gain: Gain) {
    let Some(g) = max_gain.of_256() else { return };
    let bins = counts.len() as u64;
    let total: u64 = counts.iter().sum();
    let most = (u64::from(g) * total / (256 * bins)).max(1);
    let excess: u64 = counts.iter().map(|held| held.saturating_sub(most)).sum();
    let (each, remainder) = (excess / bins, excess % bins);
    for held in counts.iter_mut() {
        *held = (*held).min(most) + each;
    }
    let step = bins.checked_div(remainder).unwrap_or(1);
    for held in counts.iter_mut().step_by(step as usize).take(remainder as usize) {
        *held += 1;
    }
}

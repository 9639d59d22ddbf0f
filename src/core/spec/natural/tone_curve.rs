//! A curve of levels through points that lie closer near black.

use super::points::WHITE;
use crate::spec::Strength;

/// Pieces of a curve.
const PIECES: usize = 16;

/// What becomes of the levels `WHITE * i^2 / 256`, for i from 0 to 16; straight between, and on beyond white. It may lie below
/// black and above white.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToneCurve([i32; PIECES + 1]);

/// The level of a point of a curve.
fn place(index: usize) -> i32 {
    WHITE * (index * index) as i32 / 256
}

impl ToneCurve {
    /// The furthest from black that a point may be: the arithmetic has room for no more.
    pub const FURTHEST: i32 = 16 * WHITE;

    /// The curve that changes nothing.
    pub fn identity() -> Self {
        ToneCurve::through(|level| level)
    }

    /// The curve through what becomes of its points.
    pub fn through(becomes: impl Fn(i32) -> i32) -> Self {
        ToneCurve(std::array::from_fn(|index| becomes(place(index))))
    }

    /// The points of `of(ToneCurve, index)`.
    pub fn made_of(of: impl Fn(usize) -> i32) -> Self {
        ToneCurve(std::array::from_fn(of))
    }

    /// What becomes of the points.
    pub fn points(&self) -> &[i32; PIECES + 1] {
        &self.0
    }

    /// The same, to be changed.
    pub fn points_mut(&mut self) -> &mut [i32; PIECES + 1] {
        &mut self.0
    }

    /// What becomes of a level, in 4096ths of a sixteenth of 255; `at` is in the same unit.
    pub fn at(&self, at: i64) -> i64 {
        let whole = (at >> 12).clamp(0, i64::from(WHITE) - 1);
        let piece = ((256 * whole / i64::from(WHITE)) as u64).isqrt() as usize;
        let piece = if piece + 1 < PIECES && i64::from(place(piece + 1)) <= whole { piece + 1 } else { piece };
        let [x0, x1] = [place(piece), place(piece + 1)].map(|x| i64::from(x) << 12);
        let [y0, y1] = [self.0[piece], self.0[piece + 1]].map(|y| i64::from(y) << 12);
        y0 + ((at - x0) * (y1 - y0)).div_euclid(x1 - x0)
    }
}

/// A curve for a frame with a light of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Toned {
    /// The curve for the light of its scene.
    pub curve: ToneCurve,
    /// The share of that light that the frame has, in 65536ths.
    pub light: u32,
}

impl Toned {
    /// This share of it.
    #[must_use]
    pub fn with_strength(mut self, strength: Strength) -> Self {
        let points = self.curve.points_mut().iter_mut().zip(ToneCurve::identity().0);
        points.for_each(|(point, same)| *point = strength.between(same.into(), (*point).into()) as i32);
        self
    }

    /// What becomes of a level, where `white` is the highest one, all in sixteenths of a level; 0 or more.
    pub fn level(&self, at: u64, white: u64) -> u64 {
        let (of_255, light) = (i64::from(WHITE), i64::from(self.light.max(1)));
        // White is below 2^20 sixteenths.
        let at = ((at as i64 * of_255) << 12) / white.max(1) as i64;
        let scene = (i128::from(at) << 16) / i128::from(light);
        let scene = scene.min(i128::from(16 * of_255) << 12) as i64;
        let becomes = (i128::from(self.curve.at(scene).max(0)) * i128::from(light)) >> 16;
        ((becomes * i128::from(white) / i128::from(of_255)) >> 12) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_goes_through_its_points_and_straight_on() {
        let doubled = ToneCurve::through(|level| 2 * level - 100);
        for level in [0, 1, 15, 16, 17, 254, 255, 1000, WHITE - 1, WHITE, WHITE + 500] {
            assert_eq!(doubled.at(i64::from(level) << 12), i64::from(2 * level - 100) << 12, "{level}");
        }
        let squared = ToneCurve::through(|level| level * level / WHITE);
        assert!((0..WHITE).all(|level| squared.at(i64::from(level) << 12) <= squared.at(i64::from(level + 1) << 12)));
    }
}

//! A piecewise linear curve of levels, whose points lie closer together near black.

use super::points::WHITE;
use crate::spec::parameters::Strength;

/// The number of pieces of a [`ToneCurve`].
pub const PIECES: usize = 16;

/// The outputs for the levels `WHITE * i^2 / 256`, for i from 0 to 16; linear between them, and continued beyond white.
/// Outputs may lie below black and above white.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToneCurve([i32; PIECES + 1]);

/// The level of a point of a curve.
fn place(index: usize) -> i32 {
    WHITE * (index * index) as i32 / 256
}

impl ToneCurve {
    /// The largest distance of a point from black; a larger one would overflow the arithmetic.
    pub const FURTHEST: i32 = 16 * WHITE;

    /// The curve that changes nothing.
    pub fn identity() -> Self {
        ToneCurve::through(|level| level)
    }

    /// The curve whose points have the outputs that `becomes` gives for their levels.
    pub fn through(becomes: impl Fn(i32) -> i32) -> Self {
        ToneCurve(std::array::from_fn(|index| becomes(place(index))))
    }

    /// The curve whose points have the outputs that `point` gives for their indices.
    pub fn made_of(point: impl Fn(usize) -> i32) -> Self {
        ToneCurve(std::array::from_fn(point))
    }

    /// The outputs at the points.
    pub fn points(&self) -> &[i32; PIECES + 1] {
        &self.0
    }

    /// The outputs at the points, for writing.
    pub fn points_mut(&mut self) -> &mut [i32; PIECES + 1] {
        &mut self.0
    }
}

/// A curve for a frame whose light differs from that of its scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Toned {
    /// The curve for the light of its scene.
    pub curve: ToneCurve,
    /// The light of the frame relative to that of its scene, in 65536ths.
    pub light: u32,
}

impl Toned {
    /// The curve at this strength.
    #[must_use]
    pub fn with_strength(mut self, strength: Strength) -> Self {
        let points = self.curve.points_mut().iter_mut().zip(ToneCurve::identity().0);
        points.for_each(|(point, same)| *point = strength.between(same.into(), (*point).into()) as i32);
        self
    }

    /// The curve of the frame itself, where `white` is the highest level, in sixteenths of a level.
    pub fn frame_curve(&self, white: u64) -> FrameCurve {
        let light = i128::from(self.light.max(1));
        let of_frame = |level: i32| ((i128::from(level) * light * i128::from(white.max(1))) >> 4) / i128::from(WHITE);
        let starts = std::array::from_fn(|index| of_frame(place(index)) as i64);
        let becomes = self.curve.points().map(|point| of_frame(point) as i64);
        let slope = |index: usize| {
            let (across, up) = (starts[index + 1] - starts[index], becomes[index + 1] - becomes[index]);
            ((i128::from(up) << 20) / i128::from(across.max(1))) as i64
        };
        FrameCurve { starts, becomes, slopes: std::array::from_fn(slope) }
    }
}

/// A curve for one frame, in pieces. Levels are in 4096ths of a sixteenth of a level.
pub struct FrameCurve {
    /// Where the pieces begin and the last one ends.
    starts: [i64; PIECES + 1],
    /// The outputs for `starts`.
    becomes: [i64; PIECES + 1],
    /// The slopes of the pieces, in 2^20ths.
    slopes: [i64; PIECES],
}

impl FrameCurve {
    /// For each piece, the level at which it begins, the output for that level, and the slope.
    pub fn pieces(&self) -> impl Iterator<Item = [i64; 3]> + '_ {
        self.slopes.iter().enumerate().map(|(piece, &slope)| [self.starts[piece], self.becomes[piece], slope])
    }

    /// The output for a level, in sixteenths of a level; 0 or more. Levels must rise from call to call; `piece` is 0 at
    /// first, then the piece of the last level.
    pub fn rising_level(&self, level: u64, piece: &mut usize) -> u64 {
        let fine = (level as i64) << 12;
        while *piece + 1 < PIECES && self.starts[*piece + 1] <= fine {
            *piece += 1;
        }
        (self.fine_in(*piece, fine) >> 12) as u64
    }

    /// The output for a level, both in 4096ths of a sixteenth of a level.
    pub fn fine(&self, level: i64) -> i64 {
        self.fine_in(self.starts[1..PIECES].partition_point(|&end| end <= level), level)
    }

    /// The output for a level that lies in this piece.
    fn fine_in(&self, piece: usize, level: i64) -> i64 {
        let beyond = (i128::from(level - self.starts[piece]) * i128::from(self.slopes[piece])) >> 20;
        (i128::from(self.becomes[piece]) + beyond).clamp(0, 1 << 60) as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn becomes(curve: &FrameCurve, level: u64) -> u64 {
        curve.rising_level(level, &mut 0)
    }

    fn frame_curve(curve: ToneCurve, light: u32) -> FrameCurve {
        Toned { curve, light }.frame_curve(WHITE as u64)
    }

    #[test]
    fn a_curve_goes_through_its_points_and_straight_on() {
        let doubled = frame_curve(ToneCurve::through(|level| 2 * level - 100), 1 << 16);
        for level in [0, 1, 15, 16, 17, 254, 255, 1000, WHITE - 1, WHITE, WHITE + 500] {
            assert_eq!(becomes(&doubled, level as u64), (2 * level - 100).max(0) as u64, "{level}");
        }
        let squared = frame_curve(ToneCurve::through(|level| level * level / WHITE), 1 << 16);
        assert!((0..WHITE as u64).all(|level| becomes(&squared, level) <= becomes(&squared, level + 1)));
    }

    #[test]
    fn a_frame_with_half_the_light_gets_half_of_what_twice_its_levels_become() {
        let curve = ToneCurve::through(|level| level * level / WHITE);
        let (whole, half) = (frame_curve(curve, 1 << 16), frame_curve(curve, 1 << 15));
        for level in 0..WHITE as u64 / 2 {
            assert!(becomes(&half, level).abs_diff(becomes(&whole, 2 * level) / 2) <= 1, "{level}");
        }
    }
}

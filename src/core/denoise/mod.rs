//! Noise goes, what moves stays: frames made clean with those before and behind them, along motion, in integers.
//!
//! ```text
//! Frame -> Picture: planes of 12 bits, luma smoothed and halved (pyramid)
//! two Pictures -> Field: a vector for each block of 8x8 (search) -> Differences: how noise changes (noise)
//! Picture, those around it, Fields, Noise -> tiles of 8x8, transformed (dct), merged and shrunk (merge) -> planes
//! ```
//!
//! * Samples are codes of 12 bits, fewer bits shifted up, more shifted down: what a sample changes by is shifted back and added to
//!   it, so that nothing is lost of those that have more.
//! * A frame is made of itself and up to two frames before and behind it, those within [`RADIUS`].
//! * Its noise is that of the steps between the frames that it is made of.
//! * Where two frames differ by more than noise, a coefficient of one has no part in the other: what is new, or was hidden, keeps
//!   the noise that shrinking leaves, and nothing is drawn twice.

pub mod dct;
pub mod merge;
pub mod noise;
pub mod pyramid;
pub mod search;
pub mod sheet;

use merge::Plane;
use noise::{Differences, Noise};
use search::Field;
use sheet::Sheet;

/// The most frames before, and behind, a frame that it is made of.
pub const RADIUS: usize = 2;

/// The steps that are compiled for each instruction set; [`Steps::PLAIN`] says what they compute.
#[derive(Clone, Copy)]
pub struct Steps {
    /// [`pyramid::smooth`].
    pub smooth: fn(&Sheet, &mut Sheet),
    /// [`pyramid::halve`].
    pub halve: fn(&Sheet, &mut Sheet),
    /// [`search::search`].
    pub search: fn(&[Sheet], &[Sheet], u32, Option<&Field>) -> Field,
    /// [`merge::count`].
    pub count: fn(&Plane<'_>) -> Differences,
    /// [`merge::merge`].
    pub merge: fn(&Plane<'_>, &Noise) -> Sheet,
}

impl Steps {
    /// Those in plain Rust.
    pub const PLAIN: Steps = Steps {
        smooth: pyramid::smooth,
        halve: pyramid::halve,
        search: search::search,
        count: merge::count,
        merge: merge::merge,
    };
}

/// The planes of a frame, and its luma smoothed, whole and halved again and again.
#[derive(Clone, Debug)]
pub struct Picture {
    /// Luma, then chroma, in codes of 12 bits less 2048.
    pub planes: Vec<Sheet>,
    /// Columns and rows of luma for a sample of chroma, as powers of two.
    log2: (u8, u8),
    pyramid: Vec<Sheet>,
}

/// How a frame came to be from the one before it.
#[derive(Clone, Debug)]
pub struct Step {
    /// From the frame to the one before it.
    field: Field,
    /// What they differ by where nothing moves, in 64ths of a level of 8 bits.
    calm: u32,
    /// How large differences along motion are, of luma and of chroma.
    differences: Vec<Differences>,
}

impl Picture {
    /// A frame of these planes, whose edges are repeated.
    pub fn new(planes: Vec<Sheet>, log2: (u8, u8), steps: &Steps) -> Self {
        let (width, height) = (planes[0].width(), planes[0].height());
        let mut smooth = Sheet::new(width, height);
        (steps.smooth)(&planes[0], &mut smooth);
        let mut pyramid = vec![smooth];
        while pyramid.len() < pyramid::levels(width, height) {
            let finer = &pyramid[pyramid.len() - 1];
            let mut coarser = Sheet::new(finer.width().div_ceil(2), finer.height().div_ceil(2));
            (steps.halve)(finer, &mut coarser);
            pyramid.push(coarser);
        }
        Picture { planes, log2, pyramid }
    }

    fn plane<'a>(&'a self, index: usize, others: &'a [(&'a Sheet, &'a Field)]) -> Plane<'a> {
        let is_chroma = index > 0;
        let log2 = if is_chroma { self.log2 } else { (0, 0) };
        Plane { own: &self.planes[index], others, log2, is_chroma, quarter: &self.pyramid[2] }
    }

    /// How it came to be from the picture before it.
    pub fn step(&self, before: &Picture, steps: &Steps) -> Step {
        let calm = (pyramid::calm_difference(&self.pyramid[0], &before.pyramid[0]) * 268 / 256).max(19);
        let field = (steps.search)(&self.pyramid, &before.pyramid, calm, None);
        let count = |index: usize| (steps.count)(&self.plane(index, &[(&before.planes[index], &field)]));
        let differences = (0..self.planes.len()).map(count).collect();
        Step { field, calm, differences }
    }
}

/// A picture among those around it.
pub struct Around<'a> {
    /// The pictures of the same scene, oldest first, and the step to each from the one before it; that of the first is not used.
    pub pictures: &'a [(&'a Picture, Option<&'a Step>)],
    /// Which of them becomes clean.
    pub at: usize,
}

impl Around<'_> {
    /// The planes of the picture without noise.
    pub fn clean(&self, steps: &Steps) -> Vec<Sheet> {
        let (own, own_step) = self.pictures[self.at];
        let within: Vec<&Step> = self.pictures[1..].iter().filter_map(|(_, step)| *step).collect();
        let calm = within.iter().map(|step| step.calm).min().unwrap_or(19);
        let mut fields: Vec<(usize, Field)> = Vec::new();
        for (direction, reach) in [(-1isize, self.at), (1, self.pictures.len() - 1 - self.at)] {
            let mut half: Option<Field> = None;
            for distance in 1..=reach.min(RADIUS) {
                let index = self.at.wrapping_add_signed(direction * distance as isize);
                let field = match own_step {
                    Some(step) if direction < 0 && distance == 1 => step.field.clone(),
                    _ => (steps.search)(&own.pyramid, &self.pictures[index].0.pyramid, calm, half.as_ref()),
                };
                half = Some(field.clone());
                fields.push((index, field));
            }
        }
        let mut frozen = 256;
        let plane = |index: usize| {
            let mut differences = Differences::default();
            within.iter().for_each(|step| differences.join(&step.differences[index]));
            if index == 0 {
                frozen = differences.frozen();
            }
            let noise = Noise::of(&differences, index > 0, frozen);
            let others: Vec<_> =
                fields.iter().map(|(at, field)| (&self.pictures[*at].0.planes[index], field)).collect();
            (steps.merge)(&own.plane(index, &others), &noise)
        };
        (0..own.planes.len()).map(plane).collect()
    }
}

//! Motion-compensated temporal denoising in integers: each frame is merged with frames before and after it along
//! the motion.
//!
//! ```text
//! Frame -> Picture: planes of 12 bits, luma smoothed and halved (pyramid)
//! two Pictures -> Field: a vector for each block of 8x8 (search) -> Differences: how noise changes (noise)
//! Picture, those around it, Fields, Noise -> tiles of 8x8, transformed (dct), merged and shrunk (merge) -> planes
//! ```
//!
//! A [`Denoiser`] takes these steps, on a CPU ([`Steps`]) or on a GPU (`cuda/denoise.rs`).
//!
//! * Samples are codes of 12 bits: codes of fewer bits are shifted up, codes of more bits down. The change of a sample
//!   is shifted back and added to the original code, so that codes of more bits keep their lowest bits.
//! * A frame is merged with up to four frames before and four frames after it; the farthest of them may serve smooth
//!   tiles alone, where noise is seen most and a rough motion is enough. The search for the motion to a farther
//!   frame begins with the motion to the next nearer frame plus the step from there.
//! * The noise of a frame is measured in the steps between the frames that are merged.
//! * Where two frames differ by more than noise, coefficients of one do not enter the other: new or uncovered content
//!   keeps the noise that shrinking leaves, and there is no ghosting.

pub mod dct;
mod displaced;
pub mod light;
pub mod merge;
pub mod noise;
pub mod pyramid;
pub mod search;
pub mod sheet;

use merge::MergedPlane;
use noise::{Differences, Noise};
use search::{MotionField, Way};
use sheet::Sheet;
use std::convert::Infallible;
use std::sync::Arc;

/// A denoiser: a CPU with one of its instruction sets, or a GPU. All give the same bytes.
pub trait Denoiser {
    /// The planes of a frame, and a pyramid of its smoothed luma: full size, then halved level by level.
    type Picture: Send + Sync;
    /// The motion between two pictures.
    type Field: Send + Sync;
    /// The error of the denoiser.
    type Error;

    /// A frame of these planes, luma first, whose edges are repeated. `log2` is how many columns and rows of luma a
    /// sample of chroma covers, as powers of two.
    ///
    /// # Errors
    /// When a GPU fails, as in all methods below.
    fn picture(&self, planes: &Arc<Vec<Sheet>>, log2: (u8, u8)) -> Result<Self::Picture, Self::Error>;

    /// The histogram of the differences between two pictures of the same size: [`pyramid::differences`].
    ///
    /// # Errors
    /// When a GPU fails.
    fn differences(&self, one: &Self::Picture, other: &Self::Picture) -> Result<Vec<u32>, Self::Error>;

    /// The motion between two pictures: [`search::search`].
    ///
    /// # Errors
    /// When a GPU fails.
    fn search(
        &self,
        one: &Self::Picture,
        other: &Self::Picture,
        calm: u32,
        guess: Option<&Self::Field>,
    ) -> Result<Self::Field, Self::Error>;

    /// The motion to a distant frame: [`MotionField::farther`].
    ///
    /// # Errors
    /// When a GPU fails.
    fn farther(&self, between: Option<&Self::Field>, step: &Self::Field, way: Way) -> Result<Self::Field, Self::Error>;

    /// The differences of each plane along the motion: [`merge::count`].
    ///
    /// # Errors
    /// When a GPU fails.
    fn count(
        &self,
        current: &Self::Picture,
        other: &Self::Picture,
        field: &Self::Field,
    ) -> Result<Vec<Differences>, Self::Error>;

    /// Denoises each plane ([`merge::merge`]) with at most [`merge::MAX_OTHERS`] others, of which the first `near`
    /// serve every tile, and the rest smooth tiles.
    ///
    /// # Errors
    /// When a GPU fails.
    fn merge(
        &self,
        current: &Self::Picture,
        neighbours: &[(&Self::Picture, &Self::Field)],
        near: usize,
        noise: &[Noise],
    ) -> Result<Vec<Sheet>, Self::Error>;
}

/// The steps that are compiled for each instruction set; [`Steps::PLAIN`] defines what they compute.
#[derive(Clone, Copy)]
pub struct Steps {
    /// [`pyramid::smooth`].
    pub smooth: fn(&Sheet, &mut Sheet),
    /// [`pyramid::halve`].
    pub halve: fn(&Sheet, &mut Sheet),
    /// [`search::search`].
    pub search: fn(&[Sheet], &[Sheet], u32, Option<&MotionField>) -> MotionField,
    /// [`merge::count`].
    pub count: fn(&MergedPlane<'_>) -> Differences,
    /// [`merge::merge`].
    pub merge: fn(&MergedPlane<'_>, &Noise) -> Sheet,
}

impl Steps {
    /// The steps in plain Rust.
    pub const PLAIN: Steps = Steps {
        smooth: pyramid::smooth,
        halve: pyramid::halve,
        search: search::search,
        count: merge::count,
        merge: merge::merge,
    };
}

/// A frame on a CPU.
#[derive(Clone, Debug)]
pub struct CpuPicture {
    /// Luma, then chroma, in codes of 12 bits less 2048.
    planes: Arc<Vec<Sheet>>,
    /// Columns and rows of luma for a sample of chroma, as powers of two.
    log2: (u8, u8),
    pyramid: Vec<Sheet>,
}

impl CpuPicture {
    fn plane<'a>(
        &'a self,
        index: usize,
        neighbours: &'a [(&'a Sheet, &'a MotionField)],
        near: usize,
    ) -> MergedPlane<'a> {
        let is_chroma = index > 0;
        let log2 = if is_chroma { self.log2 } else { (0, 0) };
        MergedPlane { own: &self.planes[index], others: neighbours, near, log2, is_chroma, quarter: &self.pyramid[2] }
    }
}

impl Denoiser for Steps {
    type Picture = CpuPicture;
    type Field = MotionField;
    type Error = Infallible;

    fn picture(&self, planes: &Arc<Vec<Sheet>>, log2: (u8, u8)) -> Result<CpuPicture, Infallible> {
        let (width, height) = (planes[0].width(), planes[0].height());
        let mut smooth = Sheet::new(width, height);
        (self.smooth)(&planes[0], &mut smooth);
        let mut pyramid = vec![smooth];
        while pyramid.len() < pyramid::levels(width, height) {
            let finer = &pyramid[pyramid.len() - 1];
            let mut coarser = Sheet::new(finer.width().div_ceil(2), finer.height().div_ceil(2));
            (self.halve)(finer, &mut coarser);
            pyramid.push(coarser);
        }
        Ok(CpuPicture { planes: planes.clone(), log2, pyramid })
    }

    fn differences(&self, one: &CpuPicture, other: &CpuPicture) -> Result<Vec<u32>, Infallible> {
        Ok(pyramid::differences(&one.pyramid[0], &other.pyramid[0]))
    }

    fn search(
        &self,
        one: &CpuPicture,
        other: &CpuPicture,
        calm: u32,
        guess: Option<&MotionField>,
    ) -> Result<MotionField, Infallible> {
        Ok((self.search)(&one.pyramid, &other.pyramid, calm, guess))
    }

    fn farther(&self, between: Option<&MotionField>, step: &MotionField, way: Way) -> Result<MotionField, Infallible> {
        Ok(MotionField::farther(between, step, way))
    }

    fn count(
        &self,
        current: &CpuPicture,
        other: &CpuPicture,
        field: &MotionField,
    ) -> Result<Vec<Differences>, Infallible> {
        let count = |index: usize| (self.count)(&current.plane(index, &[(&other.planes[index], field)], 1));
        Ok((0..current.planes.len()).map(count).collect())
    }

    fn merge(
        &self,
        current: &CpuPicture,
        neighbours: &[(&CpuPicture, &MotionField)],
        near: usize,
        noise: &[Noise],
    ) -> Result<Vec<Sheet>, Infallible> {
        let merge = |(index, noise): (usize, &Noise)| {
            let neighbours: Vec<_> = neighbours.iter().map(|(other, field)| (&other.planes[index], *field)).collect();
            (self.merge)(&current.plane(index, &neighbours, near), noise)
        };
        Ok(noise.iter().enumerate().map(merge).collect())
    }
}

/// The motion from a frame to the one before it.
#[derive(Debug)]
pub struct Motion<F> {
    field: Arc<F>,
    /// The difference between the two frames where nothing moves, in 64ths of an 8-bit level.
    calm: u32,
}

impl<F> Clone for Motion<F> {
    fn clone(&self) -> Self {
        Motion { field: self.field.clone(), calm: self.calm }
    }
}

impl<F> Motion<F> {
    /// The motion vectors.
    pub fn field(&self) -> &F {
        &self.field
    }

    /// Searches for the motion from `current` to `before`.
    ///
    /// # Errors
    /// When a GPU fails.
    pub fn new<E: Denoiser<Field = F>>(
        engine: &E,
        current: &E::Picture,
        before: &E::Picture,
    ) -> Result<Self, E::Error> {
        let calm = (pyramid::calm_difference(&engine.differences(current, before)?) * 268 / 256).max(MIN_CALM);
        Ok(Motion { field: Arc::new(engine.search(current, before, calm, None)?), calm })
    }
}

/// The step from a frame to the one before it.
#[derive(Clone, Debug)]
pub struct Step<F> {
    motion: Motion<F>,
    /// Histograms of the differences along the motion, one for each plane.
    differences: Vec<Differences>,
}

impl<F> Step<F> {
    /// The motion from the frame to the one before it.
    pub fn field(&self) -> &F {
        self.motion.field()
    }

    /// Measures the step from `current` to `before`.
    ///
    /// # Errors
    /// When a GPU fails.
    pub fn new<E: Denoiser<Field = F>>(
        engine: &E,
        current: &E::Picture,
        before: &E::Picture,
    ) -> Result<Self, E::Error> {
        Step::measure(engine, current, before, Motion::new(engine, current, before)?)
    }

    /// Measures the step from `current` to `before`, whose `motion` is known.
    ///
    /// # Errors
    /// When a GPU fails.
    pub fn measure<E: Denoiser<Field = F>>(
        engine: &E,
        current: &E::Picture,
        before: &E::Picture,
        motion: Motion<F>,
    ) -> Result<Self, E::Error> {
        let differences = engine.count(current, before, motion.field())?;
        Ok(Step { motion, differences })
    }
}

/// The lower bound of `Motion::calm`, in 64ths of an 8-bit level.
const MIN_CALM: u32 = 19;

/// The noise measured along the motion of a picture and the pictures around it: a few numbers, with which the picture
/// can be denoised again without new measurements.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The smallest difference between two consecutive pictures where nothing moves.
    calm: u32,
    /// The noise of each plane.
    noise: Vec<Noise>,
}

impl Measured {
    /// Measures consecutive pictures with this number of planes each. `steps` are the steps from each picture to the
    /// one before it.
    pub fn from_steps<F>(steps: &[&Step<F>], planes: usize) -> Self {
        let calm = steps.iter().map(|step| step.motion.calm).min().unwrap_or(MIN_CALM);
        let mut frozen = 256;
        let noise = |index: usize| {
            let mut differences = Differences::default();
            steps.iter().for_each(|step| differences.join(&step.differences[index]));
            if index == 0 {
                frozen = differences.frozen();
            }
            Noise::new(&differences, index > 0, frozen)
        };
        let noise = (0..planes).map(noise).collect();
        Measured { calm, noise }
    }
}

/// A picture to denoise, and the pictures around it.
pub struct Around<'a, E: Denoiser> {
    /// The pictures of the same scene, oldest first.
    pub pictures: &'a [&'a E::Picture],
    /// The index of the picture that is denoised.
    pub at: usize,
    /// The motion from each picture except the first to the picture before it.
    pub steps: &'a [&'a E::Field],
    /// The most pictures on either side that serve every tile. To farther ones, motion is not searched for: it is the
    /// sum of the motion on the way.
    pub near: usize,
}

impl<E: Denoiser> Around<'_, E> {
    /// Denoises the picture.
    ///
    /// # Errors
    /// When a GPU fails.
    pub fn clean(&self, engine: &E, measured: &Measured) -> Result<Vec<Sheet>, E::Error> {
        let (picture, index) = (self.pictures[self.at], self.at);
        let before = (0..index).rev().map(|other| (other, self.steps[other], Way::Back));
        let behind = (index + 1..self.pictures.len()).map(|other| (other, self.steps[other - 1], Way::Forth));
        let is_near = |other: usize| other.abs_diff(index) <= self.near;
        let mut fields: Vec<(usize, Option<E::Field>)> = Vec::new();
        for (other, step, way) in before.chain(behind) {
            let between = fields.last().filter(|_| other.abs_diff(index) > 1);
            let between = between.map(|(nearer, field)| field.as_ref().unwrap_or(self.steps[*nearer]));
            let field = if other + 1 == index {
                None
            } else {
                let sum = engine.farther(between, step, way)?;
                Some(if is_near(other) {
                    engine.search(picture, self.pictures[other], measured.calm, Some(&sum))?
                } else {
                    sum
                })
            };
            fields.push((other, field));
        }
        fields.sort_by_key(|(other, _)| !is_near(*other));
        let near = fields.iter().filter(|(other, _)| is_near(*other)).count();
        let own_step = |other: &usize| self.steps[*other];
        let neighbours: Vec<_> = fields
            .iter()
            .map(|(other, field)| (self.pictures[*other], field.as_ref().unwrap_or_else(|| own_step(other))))
            .collect();
        engine.merge(picture, &neighbours, near, &measured.noise)
    }
}

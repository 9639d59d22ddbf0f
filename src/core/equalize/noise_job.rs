//! The work of cleaning one frame, by a thread of its own.

use super::cpu::{Isa, denoise_steps};
use super::depth::{SampleKind, like, parts, planes, sibling};
use super::seen::{DEPTH, Of, PictureRows, Seen, log2_of_chroma, sheets};
use crate::Result;
use crate::cuda::Gpu;
use crate::denoise::light::{light, lit_alike};
use crate::denoise::sheet::Sheet;
use crate::denoise::{Around, CpuPicture, Denoiser, Measured, Motion, Step, Steps};
use crate::frame::{Frame, HostPool, Limits, Model, Range, in_byte_order};
use crate::spec::parameters::{Effort, Strength};
use crossbeam_channel::Sender;
use std::sync::{Arc, OnceLock};

pub(super) struct NoiseJob {
    /// Frames of one scene, oldest first.
    pub(super) frames: Vec<Arc<Seen>>,
    /// The index of the frame that is denoised.
    pub(super) at: usize,
    pub(super) share: Strength,
    pub(super) effort: Effort,
    pub(super) pool: HostPool,
    pub(super) steps: Steps,
    /// The GPU that denoises, if one does.
    pub(super) gpu: Option<Arc<Gpu>>,
    pub(super) done: Sender<Result<Frame>>,
}

impl NoiseJob {
    pub(super) fn run(self) {
        // The receiver is gone when the run has ended.
        let _ = self.done.send(self.cleaned());
    }

    fn cleaned(&self) -> Result<Frame> {
        let seen = &self.frames[self.at];
        let clean = |index: usize| {
            // Where the GPU fails or has no room, the CPU does it: the bytes are the same.
            let on_gpu = self.gpu.as_ref().and_then(|gpu| self.clean(index, &**gpu, |picture| &picture.on_gpu).ok());
            let clean = match on_gpu {
                Some(clean) => clean,
                None => match self.clean(index, &self.steps, |picture| &picture.on_cpu) {
                    Ok(clean) => clean,
                    Err(never) => match never {},
                },
            };
            (seen.planes(index).clone(), clean)
        };
        let pictures: Vec<_> = (0..seen.pictures.len()).map(clean).collect();
        cleaned(&seen.frame, &pictures, self.share, &self.pool)
    }

    /// The planes of a picture of the frame without noise.
    fn clean<E: Denoiser>(&self, index: usize, engine: &E, known: Of<E>) -> std::result::Result<Vec<Sheet>, E::Error> {
        let lights: Vec<u32> = self.frames.iter().map(|seen| seen.light(index)).collect();
        let alike = lit_alike(&lights, self.at);
        let (frames, place) = (&self.frames[alike.clone()], self.at - alike.start);
        // From the newest frame on, because no other job has begun that one. From the oldest on, all jobs would wait
        // for the first job.
        let picture = |seen: &Arc<Seen>| seen.picture(index, engine, known);
        let pictures = frames.iter().rev().map(picture).collect::<std::result::Result<Vec<_>, _>>()?;
        let step = |place: usize| frames[place].step(&frames[place - 1], index, engine, known);
        let steps = (1..frames.len()).rev().map(step).collect::<std::result::Result<Vec<_>, _>>()?;
        let pictures: Vec<_> = pictures.iter().rev().map(|picture| &**picture).collect();
        let steps: Vec<_> = steps.iter().rev().map(|step| &**step).collect();
        let measured = Measured::from_steps(&steps, frames[place].planes(index).len());
        let fields: Vec<_> = steps.iter().map(|step| step.field()).collect();
        Around { pictures: &pictures, at: place, steps: &fields, near: self.effort.everywhere() as usize }
            .clean(engine, &measured)
    }
}

/// Denoises single frames, in any order, on the thread of the caller.
pub struct Alone {
    steps: Steps,
    pool: HostPool,
}

/// The planes of a field or frame, and the engine's picture made of them.
type WithPlanes = (Arc<Vec<Sheet>>, CpuPicture);

/// Pictures that are lit alike, oldest first, and the index of the one that is denoised.
type Alike = (Vec<WithPlanes>, usize);

/// The measured noise of each picture of a frame, kept after the first denoising to save time in the next.
pub type MeasuredNoise = OnceLock<Vec<Measured>>;

impl Alone {
    /// Makes planes within these limits.
    pub fn new(limits: &Limits) -> Self {
        Alone { steps: denoise_steps(Isa::best()).unwrap_or(Steps::PLAIN), pool: HostPool::new(limits) }
    }

    /// Denoises frame `index` of these frames of one scene, format and size; removes this share of the noise, with this
    /// effort.
    ///
    /// # Errors
    /// When planes do not make a frame.
    pub fn clean(
        &self,
        frames: &[Frame],
        index: usize,
        (share, effort): (Strength, Effort),
        known: &MeasuredNoise,
    ) -> Result<Frame> {
        let near = effort.everywhere() as usize;
        let (engine, log2) = (&self.steps, log2_of_chroma(&frames[index]));
        let made = |rows: PictureRows| -> Alike {
            let planes: Vec<_> = frames.iter().map(|frame| Arc::new(sheets(frame, rows))).collect();
            let lights: Vec<u32> = planes.iter().map(|planes| light(&planes[0])).collect();
            let alike = lit_alike(&lights, index);
            let make = |planes: &Arc<Vec<Sheet>>| {
                let Ok(picture) = engine.picture(planes, log2);
                (planes.clone(), picture)
            };
            (planes[alike.clone()].iter().map(make).collect(), index - alike.start)
        };
        let made: Vec<_> = PictureRows::for_frame(&frames[index]).into_iter().map(made).collect();
        let motion = |(made, _): &Alike| -> Vec<_> {
            let motion = |pair: &[WithPlanes]| {
                let Ok(motion) = Motion::new(engine, &pair[1].1, &pair[0].1);
                motion
            };
            made.windows(2).map(motion).collect()
        };
        let motion: Vec<_> = made.iter().map(motion).collect();
        let measured = known.get_or_init(|| {
            let measure = |((made, _), motion): (&Alike, &Vec<Motion<_>>)| {
                let step = |(pair, motion): (&[WithPlanes], &Motion<_>)| {
                    let Ok(step) = Step::measure(engine, &pair[1].1, &pair[0].1, motion.clone());
                    step
                };
                let steps: Vec<_> = made.windows(2).zip(motion).map(step).collect();
                Measured::from_steps(&steps.iter().collect::<Vec<_>>(), made[0].0.len())
            };
            made.iter().zip(&motion).map(measure).collect()
        });
        let clean = |(((made, place), motion), measured): ((&Alike, &Vec<Motion<_>>), &Measured)| {
            let pictures: Vec<_> = made.iter().map(|(_, picture)| picture).collect();
            let fields: Vec<_> = motion.iter().map(Motion::field).collect();
            let Ok(clean) = (Around { pictures: &pictures, at: *place, steps: &fields, near }).clean(engine, measured);
            (made[*place].0.clone(), clean)
        };
        let pictures: Vec<_> = made.iter().zip(&motion).zip(measured).map(clean).collect();
        cleaned(&frames[index], &pictures, share, &self.pool)
    }
}

/// The change of component `index` of RGB (or of YUV) where sheet `i` changes by `channel(i)`.
fn change(is_rgb: bool, index: usize, channel: impl Fn(usize) -> i32) -> i32 {
    match (is_rgb, index) {
        (false, index) => channel(index),
        (true, 0) => channel(0) - channel(1) + channel(2),
        (true, 1) => channel(0) + channel(1),
        (true, _) => channel(0) - channel(1) - channel(2),
    }
}

/// `frame` plus `share` of the difference from the first (noisy) sheets of its pictures to the second (clean) ones;
/// with 10 bits if the frame has 8.
fn cleaned(
    frame: &Frame,
    pictures: &[(Arc<Vec<Sheet>>, Vec<Sheet>)],
    share: Strength,
    pool: &HostPool,
) -> Result<Frame> {
    let format = frame.format();
    let source = format.descriptor().sample;
    let to_format = if source.depth == 8 { sibling(format, 10).unwrap_or(format) } else { format };
    let target = to_format.descriptor().sample;
    let mut planes = planes(pool, frame, to_format);
    if to_format == format {
        for (out, plane) in planes.iter_mut().zip(frame.planes()) {
            (0..plane.rows()).for_each(|y| out.row_mut(y).copy_from_slice(plane.row(y)));
        }
    }
    let (share, is_rgb) = (share.to_256ths() as i32, format.descriptor().model == Model::Rgb);
    let both = parts(format).into_iter().zip(parts(to_format));
    for (index, (part, into)) in both.enumerate() {
        let width = frame.width().div_ceil(1 << part.log2_width);
        for y in 0..frame.height().div_ceil(1 << part.log2_height) {
            let row = frame.planes()[part.at.plane].row(y);
            let out = planes[into.at.plane].row_mut(y);
            if part.kind == SampleKind::Alpha {
                if to_format != format {
                    for x in 0..width {
                        let code = source.read(row, part.at.offset + x * part.at.step);
                        target.write(out, into.at.offset + x * into.at.step, 4 * code + (code >> 6));
                    }
                }
                continue;
            }
            let (before, after) = &pictures[y % pictures.len()];
            // Each component of RGB depends on all three sheets.
            let planes = if is_rgb { 0..3 } else { index..index + 1 };
            let rows: Vec<_> = planes
                .clone()
                .map(|plane| [&before[plane], &after[plane]].map(|sheet| sheet.row(y / pictures.len())))
                .collect();
            let sheet = |plane: usize, x: usize| {
                let [noisy, clean] = rows[plane - planes.start];
                i32::from(clean[x]) - i32::from(noisy[x])
            };
            let moved = |x: usize| (change(is_rgb, index, |plane| sheet(plane, x)) * share + 128) >> 8;
            // White of 8 bits becomes white of 10 bits, as in [`Lift`](super::depth).
            let is_full = source.depth == 8 && part.kind == SampleKind::Light && frame.range() == Range::Full;
            let to_white = |code: i32| code + if is_full { code >> 8 } else { 0 };
            // The sheet has all bits of a code of up to 12 bits.
            if source.depth <= DEPTH && !is_rgb && into.at.step == 1 && target.bytes == 2 {
                let ([noisy, clean], down, max) = (rows[0], DEPTH - target.depth, i32::from(target.max()));
                in_byte_order!(target.endian, |_, write| {
                    for ((out, noisy), clean) in out.as_chunks_mut::<2>().0.iter_mut().zip(noisy).zip(clean) {
                        let moved = ((i32::from(*clean) - i32::from(*noisy)) * share + 128) >> 8;
                        let code = to_white((i32::from(*noisy) + 2048 + moved + (1 << down >> 1)) >> down);
                        *out = write((code.clamp(0, max) as u16) << target.shift);
                    }
                });
                continue;
            }
            for x in 0..width {
                let code = i32::from(source.read(row, part.at.offset + x * part.at.step));
                let moved = moved(x);
                let code = match source.depth {
                    DEPTH.. => code + (moved << (source.depth - DEPTH)),
                    // Rounded to the depth of the result, which is 10 bits for a source of 8.
                    depth => {
                        let of_12 = (code << (DEPTH - depth)) + moved;
                        to_white((of_12 + (1 << (DEPTH - target.depth - 1))) >> (DEPTH - target.depth))
                    }
                };
                target.write(out, into.at.offset + x * into.at.step, code.clamp(0, i32::from(target.max())) as u16);
            }
        }
    }
    like(frame, to_format, planes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::equalize::{Depth, OutputDepth};
    use crate::frame::{Matrix, PixelFormat};

    #[test]
    fn what_does_not_change_comes_back_as_it_was() {
        let pool = HostPool::default();
        for format in [PixelFormat::Gray, PixelFormat::Gbrp, PixelFormat::Rgba, PixelFormat::Yuv444p] {
            for range in [Range::Full, Range::Limited] {
                let mut planes = super::planes(&pool, &film(format, range), format);
                for plane in &mut planes {
                    let codes = |row: &mut [u8]| (0..).zip(row).for_each(|(x, code)| *code = x as u8);
                    (0..4).for_each(|y| codes(plane.row_mut(y)));
                }
                let frame = like(&film(format, range), format, planes).expect("a frame");
                let before = PictureRows::for_frame(&frame).into_iter().map(|rows| Arc::new(sheets(&frame, rows)));
                let pictures: Vec<_> = before.map(|before| (before.clone(), before.to_vec())).collect();
                let cleaned = cleaned(&frame, &pictures, Strength::FULL, &pool).expect("a frame");
                let back =
                    Depth::new(OutputDepth::default(), &Limits::default()).dithered(&cleaned, format).expect("a frame");
                for (plane, expected) in back.planes().iter().zip(frame.planes()) {
                    (0..4).for_each(|y| assert_eq!(plane.row(y), expected.row(y), "{format} {range:?}"));
                }
            }
        }
    }

    fn film(format: PixelFormat, range: Range) -> Frame {
        let pool = HostPool::default();
        let plane = |index| pool.plane(format.row_bytes(index, 256), format.rows(index, 4)).freeze();
        let planes = (0..format.descriptor().planes().len()).map(plane).collect();
        Frame::new(format, (256, 4), range, Matrix::Bt709, planes).expect("a frame")
    }
}

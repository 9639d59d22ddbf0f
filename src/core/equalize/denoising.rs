//! Removes the noise of frames on its own threads. Frames come out in the order in which they went in.
//!
//! A frame waits for the later frames that it is denoised with. Planes of a frame and the motion between two frames are
//! computed once, by the first thread that needs them.

use super::cpu::{Isa, denoise_steps};
use super::depth::{SampleKind, like, parts, planes, sibling};
use super::{Role, Work, threads};
use crate::cuda::Gpu;
use crate::denoise::light::{light, lit_alike};
use crate::denoise::sheet::Sheet;
use crate::denoise::{Around, CpuPicture, Denoiser, Measured, Motion, Step, Steps};
use crate::frame::{Frame, HostPool, Limits, Model, Range, in_byte_order};
use crate::spec::parameters::{Denoise, Effort, Strength};
use crate::spec::time::Change;
use crate::{Error, Result};
use crossbeam_channel::{Receiver, Sender, bounded};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The frames that are being denoised.
pub(super) struct Denoising {
    steps: Steps,
    pool: HostPool,
    gpu: Option<Arc<Gpu>>,
    /// `None` where frames are denoised on the thread of the caller.
    jobs: Option<Sender<NoiseJob>>,
    threads: usize,
    /// The last frames before the waiting frames, oldest first.
    before: VecDeque<Arc<Seen>>,
    /// Frames that wait for later ones, oldest first.
    waiting: VecDeque<(Work, Arc<Seen>)>,
    /// Frames on which a thread works, oldest first, with the receiver of the result; `None` if the frame keeps its
    /// noise.
    begun: VecDeque<(Work, Option<Receiver<Result<Frame>>>)>,
    /// Whether the last frame belonged to a flash.
    was_flash: bool,
}

/// A frame, and what is computed from it.
struct Seen {
    frame: Frame,
    /// Whether the frame begins a scene or a sequence: there is no motion between it and the frame before.
    begins: bool,
    pictures: Vec<SeenPicture>,
}

/// A frame, or a field of it.
struct SeenPicture {
    rows: PictureRows,
    /// Its planes except alpha, as 12-bit codes minus 2048.
    planes: OnceLock<Arc<Vec<Sheet>>>,
    light: OnceLock<u32>,
    on_cpu: KnownPicture<Steps>,
    on_gpu: KnownPicture<Gpu>,
}

/// The rows of each plane that are denoised as one picture: all of them, or those of a field.
#[derive(Clone, Copy)]
struct PictureRows {
    first: usize,
    step: usize,
}

impl PictureRows {
    /// The pictures of a frame: the two fields of an interlaced frame, because they show different times, or all rows.
    fn for_frame(frame: &Frame) -> Vec<PictureRows> {
        let rows = parts(frame.format()).into_iter().map(|part| frame.height().div_ceil(1 << part.log2_height));
        let step = if frame.is_interlaced && rows.min() >= Some(2) { 2 } else { 1 };
        (0..step).map(|first| PictureRows { first, step }).collect()
    }

    /// The number of the picture's rows in a plane with `rows` rows.
    fn count(self, rows: usize) -> usize {
        (rows - self.first).div_ceil(self.step)
    }
}

/// What an engine has computed for a picture.
struct KnownPicture<E: Denoiser> {
    picture: Once<E::Picture>,
    step: Once<Step<E::Field>>,
}

impl<E: Denoiser> Default for KnownPicture<E> {
    fn default() -> Self {
        KnownPicture { picture: Once::default(), step: Once::default() }
    }
}

/// A value that is computed once, by the first thread that needs it; the others wait for it.
struct Once<T>(Mutex<Option<Arc<T>>>);

impl<T> Default for Once<T> {
    fn default() -> Self {
        Once(Mutex::new(None))
    }
}

impl<T> Once<T> {
    fn get<X>(&self, make: impl FnOnce() -> std::result::Result<T, X>) -> std::result::Result<Arc<T>, X> {
        let mut made = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = &*made {
            return Ok(made.clone());
        }
        Ok(made.insert(Arc::new(make()?)).clone())
    }
}

struct NoiseJob {
    /// Frames of one scene, oldest first.
    frames: Vec<Arc<Seen>>,
    /// The index of the frame that is denoised.
    at: usize,
    share: Strength,
    effort: Effort,
    pool: HostPool,
    steps: Steps,
    /// The GPU that denoises, if one does.
    gpu: Option<Arc<Gpu>>,
    done: Sender<Result<Frame>>,
}

/// The most bytes of frames that are denoised together, five of 64 MiB or nine of 36 MiB: larger frames keep their
/// noise.
const TOO_LARGE: usize = 320 << 20;

/// The most bytes of frames that are denoised at once: 32 frames of 1080p with 8 bits. Denoising a frame takes four
/// times as much memory as the frame.
const MAX_BYTES_AT_ONCE: usize = 96 << 20;

/// The number of frames that are denoised at once however large they are, if there are as many threads.
const MIN_AT_ONCE: usize = 8;

/// Whether noise can be removed from a frame: it is not too large, and if it has 8 bits, its format has a counterpart
/// of 10 bits.
pub(super) fn cleans(frame: &Frame, denoise: Denoise) -> bool {
    let together = frame.bytes().saturating_mul(2 * denoise.before() as usize + 1);
    (frame.format().depth() > 8 || sibling(frame.format(), 10).is_some()) && together < TOO_LARGE
}

impl Denoising {
    /// Denoises on this many threads; with 0, or if the system refuses threads, on the thread of the caller.
    pub fn on_threads(count: usize, limits: &Limits) -> Self {
        let (jobs, started) = threads::start("denoise", count, NoiseJob::run);
        Denoising {
            steps: denoise_steps(Isa::best()).unwrap_or(Steps::PLAIN),
            pool: HostPool::new(limits),
            gpu: None,
            jobs: (started > 0).then_some(jobs),
            threads: started,
            before: VecDeque::new(),
            waiting: VecDeque::new(),
            begun: VecDeque::new(),
            was_flash: false,
        }
    }

    /// Adds the next frame, with its guide. Removes noise on `gpu` if there is one, or on the CPU if there is none or
    /// it fails.
    ///
    /// # Errors
    /// When a frame lies on a GPU that fails.
    pub fn push(&mut self, work: Work, gpu: Option<Arc<Gpu>>) -> Result<()> {
        self.gpu = gpu;
        let denoise = work.settings().denoise;
        if denoise == Denoise::Off && self.waiting.is_empty() {
            self.before.clear();
            self.begun.push_back((work, None));
            return Ok(());
        }
        let frame = work.frame().clone();
        let kind = |frame: &Frame| (frame.format(), frame.width(), frame.height(), frame.range(), frame.is_interlaced);
        let last = self.waiting.back().map(|(_, seen)| seen).or(self.before.back());
        let goes_on = last.is_some_and(|last| kind(&last.frame) == kind(&frame));
        let change = work.guide().change;
        let begins = !goes_on || change != Change::None || self.was_flash || !cleans(&frame, denoise);
        self.was_flash = change == Change::Flash;
        let picture = |rows| SeenPicture {
            rows,
            planes: OnceLock::new(),
            light: OnceLock::new(),
            on_cpu: KnownPicture::default(),
            on_gpu: KnownPicture::default(),
        };
        let pictures = PictureRows::for_frame(&frame).into_iter().map(picture).collect();
        let seen = Seen { frame, begins, pictures };
        self.waiting.push_back((work, Arc::new(seen)));
        self.begin_until(denoise.behind() as usize)
    }

    /// Ends the input: no more frames will come.
    ///
    /// # Errors
    /// As for [`push`](Self::push).
    pub fn finish(&mut self) -> Result<()> {
        self.begin_until(0)?;
        self.before.clear();
        Ok(())
    }

    /// Begins to denoise the oldest waiting frames, until at most `most` wait.
    fn begin_until(&mut self, most: usize) -> Result<()> {
        while self.waiting.len() > most
            && let Some((work, seen)) = self.waiting.pop_front()
        {
            let share = work.guide().clean.as_ref().map(|clean| clean.share).filter(|share| share.to_256ths() > 0);
            let denoise = work.settings().denoise;
            // A frame that is not counted has no effect on later ones.
            let is_wanted = !matches!(work.role(), Role::WarmUp) && !work.is_behind();
            let is_used = is_wanted || work.settings().method.counts();
            let (mut work, mut receiver) = (work, None);
            if let Some(share) = share.filter(|_| cleans(work.frame(), denoise)) {
                let (frames, index) = self.around(&seen, denoise);
                work = work.clean_with((index, frames.len() - 1 - index));
                receiver = if is_used { Some(self.begin(frames, index, (share, denoise.effort()))?) } else { None };
            }
            self.begun.push_back((work, receiver));
            self.before.push_back(seen);
            while self.before.len() > denoise.before() as usize {
                self.before.pop_front();
            }
        }
        Ok(())
    }

    /// The frames that this one is denoised with, oldest first, and its index among them.
    fn around(&self, seen: &Arc<Seen>, denoise: Denoise) -> (VecDeque<Arc<Seen>>, usize) {
        let mut frames: VecDeque<Arc<Seen>> = VecDeque::from([seen.clone()]);
        for earlier in self.before.iter().rev().take(denoise.before() as usize) {
            if frames[0].begins {
                break;
            }
            frames.push_front(earlier.clone());
        }
        let index = frames.len() - 1;
        let behind = self.waiting.iter().map(|(_, later)| later).take(denoise.behind() as usize);
        frames.extend(behind.take_while(|later| !later.begins).cloned());
        (frames, index)
    }

    fn begin(
        &self,
        frames: VecDeque<Arc<Seen>>,
        index: usize,
        (share, effort): (Strength, Effort),
    ) -> Result<Receiver<Result<Frame>>> {
        for frame in &frames {
            frame.frame.bring_down()?;
        }
        let (done, cleaned) = bounded(1);
        let (pool, steps, gpu) = (self.pool.clone(), self.steps, self.gpu.clone());
        let job = NoiseJob { frames: frames.into(), at: index, share, effort, pool, steps, gpu, done };
        match &self.jobs {
            // If the threads have ended, the job is dropped, and the wait for it fails.
            Some(jobs) => drop(jobs.send(job)),
            None => job.run(),
        }
        Ok(cleaned)
    }

    /// The number of frames whose denoising has begun and that [`next`](Self::next) and [`wait`](Self::wait) have not
    /// returned yet.
    pub fn len(&self) -> usize {
        self.begun.len()
    }

    /// The most frames that are denoised at once: as many as there are threads, if the frames are small.
    fn most(&self) -> usize {
        let bytes = self.begun.front().map_or(0, |(work, _)| work.frame().bytes());
        self.threads.min((MAX_BYTES_AT_ONCE / bytes.max(1)).max(MIN_AT_ONCE))
    }

    /// The oldest frame, if it is done; waits for it if more frames have begun than may be denoised at once.
    ///
    /// # Errors
    /// When a thread has ended.
    pub fn next(&mut self) -> Result<Option<Work>> {
        let is_done = |receiver: &Option<Receiver<_>>| receiver.as_ref().is_none_or(|receiver| !receiver.is_empty());
        let most = self.most();
        if self.begun.len() > most + most / 4 || self.begun.front().is_some_and(|(_, receiver)| is_done(receiver)) {
            return self.wait();
        }
        Ok(None)
    }

    /// Waits for the oldest frame that has begun; `None` if there is none.
    ///
    /// # Errors
    /// As for [`next`](Self::next).
    pub fn wait(&mut self) -> Result<Option<Work>> {
        let Some((work, receiver)) = self.begun.pop_front() else { return Ok(None) };
        let Some(receiver) = receiver else { return Ok(Some(work)) };
        let ended = |_| Error::Worker("a thread that removes noise has ended".to_owned());
        let frame = receiver.recv().map_err(ended)??;
        Ok(Some(work.cleaned(frame)))
    }
}

impl Seen {
    fn planes(&self, index: usize) -> &Arc<Vec<Sheet>> {
        let picture = &self.pictures[index];
        picture.planes.get_or_init(|| Arc::new(sheets(&self.frame, picture.rows)))
    }

    fn light(&self, index: usize) -> u32 {
        *self.pictures[index].light.get_or_init(|| light(&self.planes(index)[0]))
    }

    fn picture<E: Denoiser>(&self, index: usize, engine: &E, known: Of<E>) -> Made<E::Picture, E> {
        let log2 = log2_of_chroma(&self.frame);
        known(&self.pictures[index]).picture.get(|| engine.picture(self.planes(index), log2))
    }

    fn step<E: Denoiser>(&self, before: &Seen, index: usize, engine: &E, known: Of<E>) -> Made<Step<E::Field>, E> {
        known(&self.pictures[index])
            .step
            .get(|| Step::new(engine, &*self.picture(index, engine, known)?, &*before.picture(index, engine, known)?))
    }
}

/// Selects what an engine has computed for a picture.
type Of<E> = fn(&SeenPicture) -> &KnownPicture<E>;

/// What an engine has made, or its error.
type Made<T, E> = std::result::Result<Arc<T>, <E as Denoiser>::Error>;

impl NoiseJob {
    fn run(self) {
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

/// Columns and rows of luma samples for each chroma sample, as powers of two.
fn log2_of_chroma(frame: &Frame) -> (u8, u8) {
    let parts = parts(frame.format());
    let chroma = parts.iter().find(|part| part.kind == SampleKind::Chroma);
    chroma.map_or((0, 0), |part| (part.log2_width, part.log2_height))
}

/// Bits of the samples of sheets.
const DEPTH: u8 = 12;

/// These rows of the planes of a frame except alpha, as 12-bit codes minus 2048. RGB becomes luma, `(r + 2g + b) / 4`,
/// and colour differences, `(2g - r - b) / 4` and `(r - b) / 2`, which separate noise from detail as well as YUV does.
fn sheets(frame: &Frame, rows: PictureRows) -> Vec<Sheet> {
    let sample = frame.format().descriptor().sample;
    let (up, down) = (DEPTH.saturating_sub(sample.depth), sample.depth.saturating_sub(DEPTH));
    let parts = parts(frame.format()).into_iter().filter(|part| part.kind != SampleKind::Alpha);
    let sheet = |part: super::depth::Part| {
        let width = frame.width().div_ceil(1 << part.log2_width);
        let mut sheet = Sheet::new(width, rows.count(frame.height().div_ceil(1 << part.log2_height)));
        for y in 0..sheet.height() {
            let row = frame.planes()[part.at.plane].row(rows.first + y * rows.step);
            let out = sheet.row_mut(y);
            if sample.bytes == 1 && part.at.step == 1 {
                for (out, code) in out.iter_mut().zip(row) {
                    *out = (i16::from(*code) << 4) - 2048;
                }
            } else if sample.bytes == 2 && part.at.step == 1 {
                in_byte_order!(sample.endian, |read, _| {
                    for (out, pair) in out.iter_mut().zip(row.as_chunks::<2>().0) {
                        let code = (read(*pair) >> sample.shift).min(sample.max());
                        *out = (code << up >> down) as i16 - 2048;
                    }
                });
            } else {
                for (x, out) in out.iter_mut().enumerate() {
                    let code = sample.read(row, part.at.offset + x * part.at.step);
                    *out = (code << up >> down) as i16 - 2048;
                }
            }
        }
        sheet
    };
    let mut sheets: Vec<Sheet> = parts.map(sheet).collect();
    if let (Model::Rgb, [red, green, blue]) = (frame.format().descriptor().model, &mut sheets[..]) {
        for y in 0..red.height() {
            let (green, blue) = (green.row_mut(y), blue.row_mut(y));
            for ((r, g), b) in red.row_mut(y).iter_mut().zip(green).zip(blue) {
                // A sum of four codes of 12 bits fits 16 bits.
                (*r, *g, *b) = ((*r + 2 * *g + *b) >> 2, (2 * *g - *r - *b) >> 2, (*r - *b) >> 1);
            }
        }
    }
    sheets.iter_mut().for_each(Sheet::repeat_edges);
    sheets
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

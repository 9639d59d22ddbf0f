//! Removes the noise of frames on its own threads. Frames come out in the order in which they went in.
//!
//! A frame waits for the later frames that it is denoised with. Planes of a frame and the motion between two frames are
//! computed once, by the first thread that needs them.

use super::cpu::{Isa, denoise_steps};
use super::depth::sibling;
use super::noise_job::NoiseJob;
use super::seen::{KnownPicture, PictureRows, Seen, SeenPicture};
use super::{Role, Work, threads};
use crate::cuda::Gpu;
use crate::denoise::Steps;
use crate::frame::{Frame, HostPool, Limits};
use crate::spec::parameters::{Denoise, Effort, Strength};
use crate::spec::time::Change;
use crate::{Error, Result};
use crossbeam_channel::{Receiver, Sender, bounded};
use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};

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

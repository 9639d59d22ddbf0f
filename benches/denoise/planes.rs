//! Raw 4:2:0 video of 8 bits from stdin, made clean by a CPU or by a GPU (`cuda`), to stdout with 16 bits a sample (codes of 12 bits);
//! with the three frames on either side, or four (`best`). `stage` and a number of threads after it: the frames through a stage, as in a
//! run, and nothing to stdout.
use histeq::internal::cuda::Gpu;
use histeq::internal::denoise::noise::{Differences, Noise};
use histeq::internal::denoise::search::Way;
use histeq::internal::denoise::sheet::Sheet;
use histeq::internal::denoise::{Around, Denoiser, Measured, Step, Steps};
use histeq::internal::equalize::EqualizeStage;
use histeq::internal::equalize::cpu::{Cpu, Isa, denoise_steps};
use histeq::internal::frame::{Frame, HostPool, Matrix, PixelFormat, Range};
use histeq::internal::spec::parameters::{Cleaner, Denoise, Effort, Settings, Strength};
use std::cell::Cell;
use std::fmt::Debug;
use std::io::{Read, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let sizes: Vec<usize> = words.iter().filter_map(|word| word.parse().ok()).collect();
    let size = (sizes[0], sizes[1]);
    let mut bytes = Vec::new();
    std::io::stdin().read_to_end(&mut bytes).expect("stdin");
    if words.iter().any(|word| word == "stage") {
        return stage(&bytes, size, sizes[2]);
    }
    let frames: Vec<Arc<Vec<Sheet>>> =
        bytes.chunks_exact(size.0 * size.1 * 3 / 2).map(|frame| Arc::new(planes(frame, size))).collect();
    let effort = if words.iter().any(|word| word == "best") { Effort::Best } else { Effort::Fast };
    if words.iter().any(|word| word == "cuda") {
        let gpu = Gpu::open(0).expect("a GPU");
        eprintln!("{}", gpu.name);
        return clean(&*gpu, &frames, effort);
    }
    let isa = Isa::ALL.iter().copied().find(|isa| words.contains(&isa.to_string())).unwrap_or(Isa::best());
    let steps: Steps = denoise_steps(isa).expect("an instruction set that this machine has");
    eprintln!("{isa}");
    clean(&steps, &frames, effort);
}

/// Sends the frames through a stage that removes noise on this many threads, and tells how long that takes.
fn stage(bytes: &[u8], (width, height): (usize, usize), threads: usize) {
    let pool = HostPool::default();
    let frame = |bytes: &[u8]| {
        let mut rest = bytes;
        let plane = |(width, height): (usize, usize)| {
            let (part, behind) = rest.split_at(width * height);
            rest = behind;
            let mut plane = pool.plane(width, height);
            part.chunks_exact(width).enumerate().for_each(|(y, row)| plane.row_mut(y).copy_from_slice(row));
            plane.freeze()
        };
        let planes = [(width, height), (width / 2, height / 2), (width / 2, height / 2)].map(plane);
        Frame::new(PixelFormat::Yuv420p, (width, height), Range::Limited, Matrix::Bt709, planes.into())
            .expect("a frame")
    };
    let frames: Vec<_> = bytes.chunks_exact(width * height * 3 / 2).map(frame).collect();
    let share = |share: f64| Strength::from_share(share).expect("a share");
    let effort = Effort::Fast;
    let around = (effort.reach(), effort.reach());
    let denoise = Denoise::Always(Cleaner { share: share(1.0), effort, around });
    let settings = Settings { strength: share(0.0), denoise, ..Settings::default() };
    let mut stage = EqualizeStage::new(Box::new(Cpu::new(threads)), settings).denoising_on(threads);
    let (begin, mut count) = (Instant::now(), 0);
    for frame in &frames {
        while !stage.has_room() {
            count += usize::from(stage.collect().expect("a frame").is_some());
        }
        stage.submit(frame.clone()).expect("a frame");
    }
    stage.finish().expect("the end");
    while stage.collect().expect("a frame").is_some() {
        count += 1;
    }
    eprintln!("{count} frames on {threads} threads: {:.2} a second", count as f64 / begin.elapsed().as_secs_f64());
}

/// The planes of a frame.
fn planes(frame: &[u8], (width, height): (usize, usize)) -> Vec<Sheet> {
    let (y, chroma) = frame.split_at(width * height);
    let (u, v) = chroma.split_at(width * height / 4);
    let plane = |bytes: &[u8], width: usize, height: usize| {
        let mut sheet = Sheet::new(width, height);
        for (y, row) in bytes.chunks_exact(width).enumerate() {
            sheet.row_mut(y).iter_mut().zip(row).for_each(|(target, code)| *target = (i16::from(*code) << 4) - 2048);
        }
        sheet.repeat_edges();
        sheet
    };
    vec![plane(y, width, height), plane(u, width / 2, height / 2), plane(v, width / 2, height / 2)]
}

/// An engine whose steps are timed: pictures, differences, search, count, merge.
struct Timed<'a, E> {
    engine: &'a E,
    times: [Cell<Duration>; 5],
}

impl<E> Timed<'_, E> {
    fn time<T>(&self, step: usize, run: impl FnOnce() -> T) -> T {
        let begin = Instant::now();
        let made = run();
        self.times[step].set(self.times[step].get() + begin.elapsed());
        made
    }
}

impl<E: Denoiser> Denoiser for Timed<'_, E> {
    type Picture = E::Picture;
    type Field = E::Field;
    type Error = E::Error;

    fn picture(&self, planes: &Arc<Vec<Sheet>>, log2: (u8, u8)) -> Result<E::Picture, E::Error> {
        self.time(0, || self.engine.picture(planes, log2))
    }

    fn differences(&self, one: &E::Picture, other: &E::Picture) -> Result<Vec<u32>, E::Error> {
        self.time(1, || self.engine.differences(one, other))
    }

    fn search(
        &self,
        one: &E::Picture,
        other: &E::Picture,
        calm: u32,
        guess: Option<&E::Field>,
    ) -> Result<E::Field, E::Error> {
        self.time(2, || self.engine.search(one, other, calm, guess))
    }

    fn farther(&self, between: Option<&E::Field>, step: &E::Field, way: Way) -> Result<E::Field, E::Error> {
        self.time(2, || self.engine.farther(between, step, way))
    }

    fn count(&self, current: &E::Picture, other: &E::Picture, field: &E::Field) -> Result<Vec<Differences>, E::Error> {
        self.time(3, || self.engine.count(current, other, field))
    }

    fn merge(
        &self,
        current: &E::Picture,
        neighbours: &[(&E::Picture, &E::Field)],
        near: usize,
        noise: &[Noise],
    ) -> Result<Vec<Sheet>, E::Error> {
        self.time(4, || self.engine.merge(current, neighbours, near, noise))
    }
}

/// Makes the frames clean, and tells the time of each step, of all frames together.
fn clean<E: Denoiser>(engine: &E, frames: &[Arc<Vec<Sheet>>], effort: Effort)
where
    E::Error: Debug,
{
    let (begin, reach, near) = (Instant::now(), effort.reach() as usize, effort.everywhere() as usize);
    let engine = &Timed { engine, times: Default::default() };
    let pictures: Vec<_> = frames.iter().map(|planes| engine.picture(planes, (1, 1)).expect("a picture")).collect();
    let step = |pair: &[E::Picture]| Step::new(engine, &pair[1], &pair[0]).expect("a step");
    let steps: Vec<_> = pictures.windows(2).map(step).collect();
    let value_of = |index: usize| {
        let (first, end) = (index.saturating_sub(reach), (index + reach + 1).min(pictures.len()));
        let around: Vec<_> = pictures[first..end].iter().collect();
        let fields: Vec<_> = steps[first..end - 1].iter().map(|step| step.field()).collect();
        let measured = Measured::from_steps(&steps[first..end - 1].iter().collect::<Vec<_>>(), frames[index].len());
        Around { pictures: &around, at: index - first, steps: &fields, near }
            .clean(engine, &measured)
            .expect("clean planes")
    };
    let cleaned: Vec<_> = (0..pictures.len()).map(value_of).collect();
    eprintln!("{} frames in {:?}", pictures.len(), begin.elapsed());
    for (name, time) in ["pictures", "differences", "search", "count", "merge"].iter().zip(&engine.times) {
        eprintln!("{name} {:?} a frame", time.get() / pictures.len() as u32);
    }
    let mut out = std::io::stdout().lock();
    for sheet in cleaned.iter().flatten() {
        for y in 0..sheet.height() {
            let codes: Vec<u8> =
                sheet.row(y).iter().flat_map(|code| ((code + 2048).clamp(0, 4095) as u16).to_le_bytes()).collect();
            out.write_all(&codes).expect("stdout");
        }
    }
}

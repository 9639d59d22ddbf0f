//! `kernels/{pyramid,motion,merge}.cu` in an emulator on the CPU (`fused/emulator.hpp`): a whole denoising engine, of
//! which each step is compared with the CPU's engine.

use crate::host_program::Program;
use crate::random::Random;
use histeq::internal::cuda::words_of_noise;
use histeq::internal::denoise::dct::SAMPLES;
use histeq::internal::denoise::merge::MAX_OTHERS;
use histeq::internal::denoise::noise::{CLASSES, Differences, Noise, SIZES};
use histeq::internal::denoise::search::{BLOCK, REACH, Way, calm_at};
use histeq::internal::denoise::sheet::Sheet;
use histeq::internal::denoise::{Around, Denoiser, Measured, Step, Steps, pyramid};
use std::convert::Infallible;
use std::fmt::Write;
use std::sync::Arc;

macro_rules! kernels {
    ($($name:literal,)*) => {
        [$(($name, include_str!(concat!("../../../kernels/", $name)))),*]
    };
}

const KERNELS: [(&str, &str); 7] = kernels![
    "denoise/pyramid.cu",
    "denoise/motion.cu",
    "denoise/merge.cu",
    "denoise/sheet.cuh",
    "headers/arguments.cuh",
    "headers/device/device.cuh",
    "headers/device/warp.cuh",
];

/// The kernels in the emulator; `None` without a C++ compiler.
fn emulated() -> Option<Program> {
    let spelt = |text: &str| {
        text.replace("__shared__ TempStorage storage;", "TempStorage& storage = block_static<TempStorage>();")
            .replace(
                "__shared__ TransposeStorage exchange;",
                "TransposeStorage& exchange = block_static<TransposeStorage>();",
            )
            .replace("extern __shared__ __align__(16) unsigned shared_counts[];", "#define shared_counts block_words()")
    };
    let mut files: Vec<(&str, String)> = KERNELS.iter().map(|&(name, text)| (name, spelt(text))).collect();
    files.push(("launch.cuh", "#pragma once\n".to_owned()));
    files.push(("cuda.hpp", include_str!("../../support/kernels/cuda.hpp").to_owned()));
    files.push(("emulator.hpp", include_str!("emulator/emulator.hpp").to_owned()));
    files.push(("main.cpp", include_str!("emulator/noise.cpp").to_owned()));
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    Program::new(
        &files,
        &[
            "-O2",
            "-ffp-contract=off",
            "-Wno-unknown-pragmas",
            "-Wno-unused",
            "-Wno-maybe-uninitialized",
            "-DOVERLAP=false",
        ],
    )
}

/// The emulated kernels as a denoising engine.
struct Emulated(Program);

struct Padded {
    size: (usize, usize),
    samples: Vec<u32>,
}

struct OnEmulator {
    planes: Vec<Padded>,
    log2: (u8, u8),
    pyramid: Vec<Padded>,
}

struct Motion {
    blocks: (usize, usize),
    words: Vec<u32>,
}

fn text(values: &[u32]) -> String {
    values.iter().fold(String::new(), |mut text, value| {
        let _ = write!(text, "{value} ");
        text
    })
}

impl Padded {
    fn new(sheet: &Sheet) -> Self {
        let samples = sheet.samples().iter().map(|sample| u32::from(*sample as u16)).collect();
        Padded { size: (sheet.width(), sheet.height()), samples }
    }

    fn text(&self) -> String {
        format!("{} {} {}", self.size.0, self.size.1, text(&self.samples))
    }
}

impl Motion {
    fn text(&self) -> String {
        format!("{} {} {}", self.blocks.0, self.blocks.1, text(&self.words))
    }
}

fn blocks((width, height): (usize, usize)) -> (usize, usize) {
    (width.div_ceil(BLOCK), height.div_ceil(BLOCK))
}

impl OnEmulator {
    fn plane(&self, index: usize) -> String {
        let (log2, is_chroma) = if index > 0 { (self.log2, 1) } else { ((0, 0), 0) };
        format!("{} {} {} {} {is_chroma}", self.planes[index].text(), self.pyramid[2].text(), log2.0, log2.1)
    }
}

impl Emulated {
    fn answer(&self, question: String) -> Vec<u32> {
        self.0.answers(&[question]).remove(0)
    }

    fn smoothed(&self, padded: &Padded, halves: bool) -> Padded {
        let (width, height) = padded.size;
        let size = if halves { (width.div_ceil(2), height.div_ceil(2)) } else { padded.size };
        Padded { size, samples: self.answer(format!("s {} {}", u32::from(halves), padded.text())) }
    }
}

impl Denoiser for Emulated {
    type Picture = OnEmulator;
    type Field = Motion;
    type Error = Infallible;

    fn picture(&self, planes: &Arc<Vec<Sheet>>, log2: (u8, u8)) -> Result<OnEmulator, Infallible> {
        let planes: Vec<Padded> = planes.iter().map(Padded::new).collect();
        let mut pyramid = vec![self.smoothed(&planes[0], false)];
        while pyramid.len() < pyramid::levels(planes[0].size.0, planes[0].size.1) {
            pyramid.push(self.smoothed(&pyramid[pyramid.len() - 1], true));
        }
        Ok(OnEmulator { planes, log2, pyramid })
    }

    fn differences(&self, one: &OnEmulator, other: &OnEmulator) -> Result<Vec<u32>, Infallible> {
        Ok(self.answer(format!("d {} {}", one.pyramid[0].text(), text(&other.pyramid[0].samples))))
    }

    fn search(
        &self,
        one: &OnEmulator,
        other: &OnEmulator,
        calm: u32,
        guess: Option<&Motion>,
    ) -> Result<Motion, Infallible> {
        let coarsest = if guess.is_some() { 0 } else { one.pyramid.len() - 1 };
        let mut field: Option<Motion> = None;
        for level in (0..=coarsest).rev() {
            let (a, b) = (&one.pyramid[level], &other.pyramid[level]);
            let (kind, parents) = match (&field, guess) {
                (Some(field), _) => (2, field.text()),
                (None, Some(guess)) => (1, guess.text()),
                (None, None) => (0, "0 0".to_owned()),
            };
            let reach = if kind == 0 { REACH } else { 0 };
            let (calm, finest) = (calm_at(calm, level), u32::from(level == 0));
            let question = format!("m {} {} {parents} {kind} {calm} {reach} {finest}", a.text(), text(&b.samples));
            field = Some(Motion { blocks: blocks(a.size), words: self.answer(question) });
        }
        Ok(field.expect("a field for each picture"))
    }

    fn farther(&self, between: Option<&Motion>, step: &Motion, way: Way) -> Result<Motion, Infallible> {
        let between = between.map_or("0 0".to_owned(), Motion::text);
        let words = self.answer(format!("x {} {} {between}", u32::from(way == Way::Forth), step.text()));
        Ok(Motion { blocks: step.blocks, words })
    }

    fn count(&self, current: &OnEmulator, other: &OnEmulator, field: &Motion) -> Result<Vec<Differences>, Infallible> {
        let count = |index: usize| {
            let question =
                format!("c {} {} {}", current.plane(index), text(&other.planes[index].samples), field.text());
            let counts = self.answer(question);
            assert_eq!(counts.len(), 1 + (SAMPLES + CLASSES) * SIZES);
            Differences::from_counts(&counts[1..])
        };
        Ok((0..current.planes.len()).map(count).collect())
    }

    fn merge(
        &self,
        current: &OnEmulator,
        neighbours: &[(&OnEmulator, &Motion)],
        near: usize,
        noise: &[Noise],
    ) -> Result<Vec<Sheet>, Infallible> {
        assert!(neighbours.len() <= MAX_OTHERS);
        let merge = |(index, noise): (usize, &Noise)| {
            let moved = |(other, field): &(&OnEmulator, &Motion)| {
                format!("{} {}", text(&other.planes[index].samples), field.text())
            };
            let moved: Vec<String> = neighbours.iter().map(moved).collect();
            let noise = text(&words_of_noise(noise));
            let counts = format!("{} {near}", neighbours.len());
            let question = format!("t {} {counts} {} {noise}", current.plane(index), moved.join(" "));
            let (width, height) = current.planes[index].size;
            let mut sheet = Sheet::new(width, height);
            for (y, row) in self.answer(question).chunks(width).enumerate() {
                sheet.row_mut(y).iter_mut().zip(row).for_each(|(target, sample)| *target = *sample as u16 as i16);
            }
            sheet
        };
        Ok(noise.iter().enumerate().map(merge).collect())
    }
}

/// The planes of a noisy picture that moves by (-2, -1) samples per frame.
pub fn noisy_planes(
    (width, height): (usize, usize),
    log2: (u8, u8),
    number: usize,
    random: &mut Random,
) -> Arc<Vec<Sheet>> {
    let sizes = [(width, height), (width.div_ceil(1 << log2.0), height.div_ceil(1 << log2.1))];
    let mut plane = |(width, height): (usize, usize), strength: i64| {
        let mut sheet = Sheet::new(width, height);
        for y in 0..height {
            for (x, sample) in sheet.row_mut(y).iter_mut().enumerate() {
                let (x, y) = (x + 2 * number, y + number);
                // Smooth below, so that some tiles are.
                let level = match y % 48 {
                    0..24 => ((x * x / 7 + y * 11) % 900) as i64 + if (x / 9 + y / 7) % 3 == 0 { 800 } else { 0 },
                    _ => 500,
                };
                let noise = (0..4).map(|_| random.below(2 * strength as u64 + 1) as i64 - strength).sum::<i64>();
                *sample = (level + noise - 1400).clamp(-2048, 2047) as i16;
            }
        }
        sheet.repeat_edges();
        sheet
    };
    Arc::new(vec![plane(sizes[0], 60), plane(sizes[1], 90), plane(sizes[1], 20)])
}

/// The samples of the planes of the frames `indices`, denoised by an engine with all frames; those farther than `near`
/// serve smooth tiles.
pub fn made_clean<E: Denoiser>(
    engine: &E,
    frames: &[Arc<Vec<Sheet>>],
    log2: (u8, u8),
    near: usize,
    indices: &[usize],
) -> Vec<Vec<i16>>
where
    E::Error: std::fmt::Debug,
{
    let pictures: Vec<_> = frames.iter().map(|planes| engine.picture(planes, log2).expect("a picture")).collect();
    let step = |pair: &[E::Picture]| Step::new(engine, &pair[1], &pair[0]).expect("a step");
    let steps: Vec<_> = pictures.windows(2).map(step).collect();
    let (steps, pictures) = (steps.iter().collect::<Vec<_>>(), pictures.iter().collect::<Vec<_>>());
    let fields: Vec<_> = steps.iter().map(|step| step.field()).collect();
    let samples = |sheet: &Sheet| (0..sheet.height()).flat_map(|y| sheet.row(y).to_vec()).collect();
    let clean = |index: usize| {
        let measured = Measured::from_steps(&steps, frames[index].len());
        Around { pictures: &pictures, at: index, steps: &fields, near }
            .clean(engine, &measured)
            .expect("a clean picture")
    };
    let planes = indices.iter().flat_map(|&index| clean(index));
    planes.map(|sheet| samples(&sheet)).collect()
}

#[test]
fn noise_is_removed_as_on_a_cpu() {
    let Some(program) = emulated() else { return };
    let emulated = Emulated(program);
    let mut random = Random::new(8);
    for (size, log2, (count, near), indices) in [
        ((61, 44), (1u8, 1u8), (5, 4), &[0, 2, 4][..]),
        ((37, 21), (0, 0), (5, 2), &[1]),
        ((9, 3), (1, 0), (5, 2), &[0]),
        ((90, 34), (2, 2), (5, 4), &[3]),
        ((60, 70), (1, 1), (7, 2), &[0, 3]),
        ((45, 38), (1, 1), (9, 4), &[4, 7]),
    ] {
        let frames: Vec<_> = (0..count).map(|number| noisy_planes(size, log2, number, &mut random)).collect();
        let expected = made_clean(&Steps::PLAIN, &frames, log2, near, indices);
        assert!(made_clean(&emulated, &frames, log2, near, indices) == expected, "{size:?}");
        let before = (0..size.1).flat_map(|y| frames[indices[0]][0].row(y));
        let changed = expected[0].iter().zip(before).filter(|(a, b)| a != b).count();
        assert!(size.1 < 8 || changed > size.0 * size.1 / 2, "{size:?}: {changed} samples change");
    }
    let alone = noisy_planes((40, 24), (1, 1), 0, &mut random);
    let alone = std::slice::from_ref(&alone);
    assert!(
        made_clean(&emulated, alone, (1, 1), 2, &[0]) == made_clean(&Steps::PLAIN, alone, (1, 1), 2, &[0]),
        "alone"
    );
}

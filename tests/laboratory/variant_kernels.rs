//! The kernels of `kernels/variants/`, and our own scan, in an emulator on the CPU (`variants/emulator.hpp`), thread by
//! thread with barriers, compared with plain loops. The tests fail if a kernel reads what another thread may not have
//! written yet, or writes beyond shared memory or a plane.

use crate::support::host_program::{Numbers, Program};
use histeq::internal::spec;
use histeq::internal::spec::curves::{Curve, Levels, Line};
use histeq::internal::spec::parameters::Strength;
use histeq_lab::publications::Formula;
use std::sync::OnceLock;

macro_rules! kernels {
    ($($name:literal,)*) => {
        [$(($name, include_str!(concat!("../../kernels/variants/", $name)))),*]
    };
}

const KERNELS: [(&str, &str); 22] = kernels![
    "elements.cuh",
    "formulas.cuh",
    "histogram/histogram_global.cu",
    "histogram/histogram_privatized.cu",
    "histogram/histogram_aggregated.cu",
    "histogram/histogram_replicated.cu",
    "saturation.cu",
    "scan/scan_hillis_steele.cu",
    "scan/scan_kogge_stone.cu",
    "scan/scan_kogge_stone_double.cu",
    "scan/scan_brent_kung.cu",
    "scan/scan_blelloch.cu",
    "scan/scan_warp_shuffle.cu",
    "scan/scan_add_sums.cu",
    "cdf_min.cu",
    "curve.cu",
    "map/map_computed.cu",
    "map/map_group_min.cu",
    "map/map_bytes.cu",
    "map/map_shared_lut.cu",
    "map/map_wide.cu",
    "histogram/luminance_histogram.cu",
];

/// The kernels in the emulator, compiled once for all tests; `None` without a C++ compiler.
fn emulated() -> Option<&'static Program> {
    static PROGRAM: OnceLock<Option<Program>> = OnceLock::new();
    let spelt = |(name, text): &(&'static str, &str)| {
        (*name, text.replace("extern __shared__", "extern").replace("__shared__", "static"))
    };
    let compiled = || {
        let mut files: Vec<(&str, String)> = KERNELS.iter().map(spelt).collect();
        files.push(spelt(&("scan.cu", include_str!("../../kernels/scan.cu"))));
        files.push(("launch.cuh", include_str!("../../kernels/headers/device/launch.cuh").to_owned()));
        files.push(("arguments.cuh", include_str!("../../kernels/headers/arguments.cuh").to_owned()));
        files.push(("device.cuh", include_str!("../../kernels/headers/device/device.cuh").to_owned()));
        files.push(("spec.cuh", include_str!("../../kernels/headers/spec.cuh").to_owned()));
        files.push(("warp.cuh", include_str!("../../kernels/headers/device/warp.cuh").to_owned()));
        files.push(("cuda.hpp", include_str!("../support/kernels/cuda.hpp").to_owned()));
        files.push(("emulator.hpp", include_str!("variants/emulator.hpp").to_owned()));
        files.push(("main.cpp", include_str!("variants/kernels.cpp").to_owned()));
        let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
        Program::new(&files, &["-O2", "-Wno-unknown-pragmas"])
    };
    PROGRAM.get_or_init(compiled).as_ref()
}

/// Checks the kernels' answers.
fn compare(asked: Vec<(String, Vec<u32>)>) {
    let Some(program) = emulated() else { return };
    let (questions, expected): (Vec<String>, Vec<Vec<u32>>) = asked.into_iter().unzip();
    for ((question, answer), expected) in questions.iter().zip(program.answers(&questions)).zip(expected) {
        assert!(answer == expected, "{question:.300}\n{answer:.300?}\n{expected:.300?}");
    }
}

fn joined<T: ToString>(numbers: &[T]) -> String {
    numbers.iter().map(T::to_string).collect::<Vec<_>>().join(" ")
}

/// A launch: grid, block, and consecutive elements per thread (`run`).
#[derive(Clone, Copy)]
struct Launch {
    grid: (u32, u32),
    block: (u32, u32),
    run: u32,
}

/// All launch shapes for this size; those that allow it have `each` elements per thread.
fn launches((width, height): (u32, u32), threads: u32, each: u32) -> [Launch; 4] {
    let blocks = (width * height).div_ceil(threads * each);
    let rows = threads / 32;
    [
        Launch { grid: (blocks, 1), block: (threads, 1), run: 0 },
        Launch { grid: (blocks, 1), block: (threads, 1), run: each },
        // Two blocks, whose threads loop over the plane.
        Launch { grid: (2, 1), block: (threads, 1), run: 0 },
        Launch { grid: (width.div_ceil(32), height.div_ceil(rows)), block: (32, rows), run: 0 },
    ]
}

/// The memory layout of the elements, as arguments of the kernels.
#[derive(Clone, Copy)]
struct Area {
    first: u32,
    size: (u32, u32),
    pitch: u32,
    step: u32,
    shift: u32,
    swapped: bool,
    max: u32,
}

impl Area {
    fn tight(size: (u32, u32), max: u32) -> Self {
        Area { first: 0, size, pitch: size.0, step: 1, shift: 0, swapped: false, max }
    }

    fn text(&self) -> String {
        let Area { first, size, pitch, step, shift, swapped, max } = *self;
        joined(&[first, size.0, size.1, pitch, step, shift, u32::from(swapped), max])
    }

    fn codes(&self, samples: &[u32], bytes: u32) -> Vec<u32> {
        let value_at = |index: u32| self.first + index / self.size.0 * self.pitch + index % self.size.0 * self.step;
        let stored = |index| match samples[value_at(index) as usize] {
            sample if self.swapped && bytes == 2 => u32::from((sample as u16).swap_bytes()),
            sample => sample,
        };
        (0..self.size.0 * self.size.1).map(|index| (stored(index) >> self.shift).min(self.max)).collect()
    }

    fn samples(&self) -> u32 {
        self.first + (self.size.1 - 1) * self.pitch + (self.size.0 - 1) * self.step + 1
    }
}

/// Samples of this number of bytes that mostly belong to a bin, some of them in runs, as in pictures.
fn samples(count: u32, bytes: u32, bound: u32, numbers: &mut Numbers) -> Vec<u32> {
    let highest = if bytes == 4 { u32::MAX } else { (1 << (8 * bytes)) - 1 };
    let mut last = 0;
    let mut next = || {
        last = match numbers.below(8) {
            0..3 => last,
            3 => highest,
            _ => numbers.below(bound),
        };
        last.min(highest)
    };
    (0..count).map(|_| next()).collect()
}

struct Histogram {
    variant: char,
    bytes: u32,
    area: Area,
    launch: Launch,
    levels: (u32, u32),
    codes: u32,
    window: u32,
}

impl Histogram {
    fn ask(&self, samples: &[u32]) -> (String, Vec<u32>) {
        let Histogram { variant, bytes, area, launch, levels: (lo, hi), codes, window } = self;
        let window = if *variant == 'g' { *codes } else { *window };
        let copies = if *variant == 'r' && window <= 1024 { 3 } else { 0 };
        let question = format!(
            "h {variant} {bytes} {} {} {} {} {} 1 {} {lo} {hi} {codes} {window} {copies} {} {} {}",
            launch.grid.0,
            launch.grid.1,
            codes.div_ceil(window),
            launch.block.0,
            launch.block.1,
            area.text(),
            launch.run,
            samples.len(),
            joined(samples),
        );
        let mut counts = vec![0; *codes as usize];
        area.codes(samples, *bytes).into_iter().for_each(|code| counts[code.clamp(*lo, *hi) as usize] += 1);
        (question, counts)
    }
}

#[test]
fn every_histogram_counts_every_element_once() {
    let mut numbers = Numbers(5);
    let mut asked = Vec::new();
    let kinds = [(1, 256), (1, 100), (2, 1000), (2, 4096), (4, 4096), (4, 40000), (4, 256)];
    for (bytes, codes) in kinds {
        for (turn, size) in [(1, 1), (15, 1), (61, 7), (1, 100), (130, 33)].into_iter().enumerate() {
            let threads = [64, 128, 256, 1024][(asked.len() + turn) % 4];
            let area = Area::tight(size, codes - 1);
            let samples = samples(area.samples(), bytes, codes, &mut numbers);
            for (index, launch) in launches(size, threads, [1, 3, 64][turn % 3]).into_iter().enumerate() {
                // Elements are in one row, except for launches in tiles.
                let row = Area::tight((size.0 * size.1, 1), codes - 1);
                let area = if index == 3 { area } else { row };
                for variant in ['g', 'p', 'a', 'r'].into_iter().filter(|&variant| index != 3 || variant != 'r') {
                    let window = codes.div_ceil(codes.div_ceil(16384));
                    let histogram = Histogram { variant, bytes, area, launch, levels: (0, codes - 1), codes, window };
                    asked.push(histogram.ask(&samples));
                }
            }
        }
    }
    compare(asked);
}

#[test]
fn histograms_find_luma_wherever_it_lies() {
    let mut numbers = Numbers(6);
    let mut asked = Vec::new();
    let region = Area { first: 2 * 40 + 5, pitch: 40, ..Area::tight((21, 9), 255) };
    let pairs = Area { first: 1, pitch: 32, step: 2, ..Area::tight((15, 8), 255) };
    let deep = Area { max: 1023, shift: 6, swapped: true, ..region };
    let deep_pairs = Area { max: 4095, swapped: true, ..pairs };
    for (bytes, area) in [(1, region), (1, pairs), (2, deep), (2, deep_pairs)] {
        let codes = area.max + 1;
        let samples = samples(area.samples(), bytes, 1 << (8 * bytes), &mut numbers);
        for (index, launch) in launches(area.size, 64, 2).into_iter().enumerate() {
            for variant in ['g', 'p', 'a', 'r'].into_iter().filter(|&variant| index != 3 || variant != 'r') {
                let levels = (codes / 16, codes / 16 * 15);
                let histogram = Histogram { variant, bytes, area, launch, levels, codes, window: codes };
                asked.push(histogram.ask(&samples));
            }
        }
    }
    compare(asked);
}

fn prefix_sums(counts: &[u32]) -> Vec<u32> {
    let mut through = 0;
    counts
        .iter()
        .map(|count| {
            through += count;
            through
        })
        .collect()
}

#[test]
fn every_scan_sums_up_what_lies_before() {
    let mut numbers = Numbers(7);
    let mut asked = Vec::new();
    for count in [2, 3, 64, 255, 256, 257, 1000, 4096, 5000, 65536] {
        let counts: Vec<u32> = (0..count).map(|_| numbers.below(60_000)).collect();
        let expected = prefix_sums(&counts);
        for (turn, variant) in ['h', 'k', 'd', 'b', 'e', 'w'].into_iter().enumerate() {
            let sizes: &[u32] = if count > 5000 { &[64, 256, 1024] } else { &[64, 128, 256, 512, 1024] };
            for &threads in sizes.iter().skip(if count > 5000 { turn % 3 } else { 0 }) {
                asked.push((format!("s {variant} {threads} {count} {}", joined(&counts)), expected.clone()));
            }
        }
    }
    compare(asked);
}

#[test]
fn the_documents_scans_give_what_their_formulas_say() {
    let mut numbers = Numbers(8);
    let mut asked = Vec::new();
    for count in [64u32, 200, 256, 1000] {
        let width = count.next_power_of_two();
        for bound in [100, 1 << 20, (1 << 31) / count] {
            let counts: Vec<u32> = (0..count).map(|_| numbers.below(bound)).collect();
            for (variant, threads, formula) in
                [('f', width / 2, Formula::FloatScan), ('s', width, Formula::StaleBuffer)]
            {
                let question = format!("s {variant} {threads} {count} {}", joined(&counts));
                asked.push((question, formula.cumulative(&counts)));
            }
        }
    }
    compare(asked);
}

/// Difficult histograms of `bins` bins.
fn hard_counts(bins: usize, numbers: &mut Numbers) -> Vec<Vec<u32>> {
    let most = (1u32 << 31) / bins as u32;
    let mut all: Vec<Vec<u32>> =
        [3, 1000, most].into_iter().map(|bound| (0..bins).map(|_| numbers.below(bound)).collect()).collect();
    all.push((0..bins).map(|bin| u32::from(bin > bins / 2) * numbers.below(90)).collect());
    all.push((0..bins).map(|bin| u32::from(bin == bins / 3) * 77).collect());
    all.push((0..bins).map(|bin| u32::from(bin == 0 || bin == bins - 1) * (1 << 30)).collect());
    all.iter_mut().for_each(|counts| counts[bins - 1] += 1);
    all
}

#[test]
fn curves_are_those_of_the_formulas() {
    let mut numbers = Numbers(9);
    let mut asked = Vec::new();
    for bins in [2, 100, 256, 1000, 4096, 65536] {
        for counts in hard_counts(bins, &mut numbers) {
            let total: u32 = counts.iter().sum();
            let mut ask = |letter: char, formula: Formula, expected: Vec<u16>| {
                let cdf = formula.cumulative(&counts);
                let least = formula.cdf_min(&cdf);
                let question = format!("c {letter} {least} {total} {bins} {}", joined(&cdf));
                let once: Vec<u32> = expected.into_iter().map(u32::from).collect();
                asked.push((question, once.repeat(2)));
            };
            ask('x', Formula::TruncatedLuminance, Formula::exact(&counts));
            for (letter, formula) in [
                ('i', Formula::FloorInteger),
                ('n', Formula::FloorNoMin),
                ('r', Formula::FloatRound),
                ('q', Formula::EquationFloor),
                ('p', Formula::Product32),
                ('s', Formula::FloatScan),
                ('p', Formula::StaleBuffer),
            ] {
                ask(letter, formula, formula.curve(&counts));
            }
        }
    }
    compare(asked);
}

#[test]
fn our_scan_makes_the_curve_of_the_specification() {
    let mut numbers = Numbers(14);
    let mut asked = Vec::new();
    for (depth, cases) in [(8, 7), (9, 2), (10, 7), (11, 2), (12, 3), (16, 1)] {
        for levels in [Levels::full(depth), Levels::limited(depth)] {
            for mut counts in hard_counts(levels.codes(), &mut numbers).into_iter().rev().take(cases) {
                // Codes outside of the levels are clamped.
                let (lo, hi) = (usize::from(levels.lo()), usize::from(levels.hi()));
                let (below, above) = (counts[..lo].iter().sum::<u32>(), counts[hi + 1..].iter().sum::<u32>());
                counts[..lo].fill(0);
                counts[hi + 1..].fill(0);
                counts[lo] += below;
                counts[hi] += above;
                let strength = Strength::from_share([1.0, 0.5, 0.0][asked.len() % 3]).unwrap();
                let curve = Curve::equalizing(&spec::curves::Histogram::from_codes(levels, &counts)).blended(
                    levels,
                    &Line::IDENTITY,
                    strength,
                );
                let mut expected: Vec<u32> = curve.codes().iter().copied().map(u32::from).collect();
                expected.push(0);
                let (codes, threads) = (levels.codes(), levels.codes().min(1024) / 4);
                let question = format!("t {threads} {lo} {hi} {} {codes} {}", strength.to_256ths(), joined(&counts));
                asked.push((question, expected));
            }
        }
    }
    compare(asked);
}

#[test]
fn the_first_occupied_bin_is_found_either_way() {
    let mut numbers = Numbers(10);
    let mut asked = Vec::new();
    for bins in [2, 100, 256, 4096] {
        for counts in hard_counts(bins, &mut numbers) {
            let cdf = prefix_sums(&counts);
            let least = cdf.iter().copied().find(|&sum| sum > 0).unwrap();
            for (threads, first) in [(64, 0), (256, 0), (1024, 1)] {
                let found = if first == 0 { least } else { Formula::WrongMin.cdf_min(&cdf) };
                asked.push((format!("l {threads} {first} {bins} {}", joined(&cdf)), vec![least, found]));
            }
        }
    }
    compare(asked);
}

#[test]
fn counts_are_cut_off_at_a_value() {
    let mut numbers = Numbers(11);
    let ask = |bins: usize| {
        let counts: Vec<u32> = (0..bins).map(|_| numbers.below(600)).collect();
        let expected = counts.iter().map(|&count| count.min(256)).collect();
        (format!("o 256 {bins} {}", joined(&counts)), expected)
    };
    compare([2, 256, 1000, 4096].into_iter().map(ask).collect());
}

#[test]
fn every_map_sends_every_element_through_the_curve() {
    let mut numbers = Numbers(12);
    let mut asked = Vec::new();
    for (bytes, codes) in [(1, 256), (1, 90), (2, 1000), (2, 4096), (4, 256), (4, 17000)] {
        let highest = if bytes == 1 { 256 } else { 65536 };
        let curve: Vec<u32> = (0..codes).map(|_| numbers.below(highest)).collect();
        for (turn, size) in [(1, 1), (15, 1), (61, 7), (1, 100), (130, 33)].into_iter().enumerate() {
            let threads = [64, 128, 256, 1024][(asked.len() + turn) % 4];
            let samples = samples(size.0 * size.1, bytes, codes, &mut numbers);
            let expected: Vec<u32> = samples.iter().map(|&sample| curve[sample.min(codes - 1) as usize]).collect();
            for (index, launch) in launches(size, threads, [1, 3, 64][turn % 3]).into_iter().enumerate() {
                let in_tiles = index == 3;
                let area = Area::tight(if in_tiles { size } else { (size.0 * size.1, 1) }, codes - 1);
                for variant in ['b', 's', 'w'].into_iter().filter(|&variant| !in_tiles || variant != 'w') {
                    let Launch { grid, block, run } = launch;
                    let question = format!(
                        "m {variant} {bytes} {} {} 1 {} {} 1 {} {run} {} {} {}",
                        grid.0,
                        grid.1,
                        block.0,
                        block.1,
                        area.text(),
                        joined(&curve),
                        samples.len(),
                        joined(&samples),
                    );
                    asked.push((question, expected.clone()));
                }
            }
        }
    }
    compare(asked);
}

#[test]
fn maps_without_a_curve_are_those_of_the_formulas() {
    let mut numbers = Numbers(14);
    let mut asked = Vec::new();
    for (bytes, codes) in [(1, 256), (2, 1000), (2, 4096), (4, 256)] {
        let size = (61, 17);
        let samples = samples(size.0 * size.1, bytes, codes, &mut numbers);
        let elements = || samples.iter().map(|&sample| sample.min(codes - 1) as usize);
        let mut counts = vec![0; codes as usize];
        elements().for_each(|element| counts[element] += 1);
        for (letter, formula) in [
            ('x', None),
            ('i', Some(Formula::FloorInteger)),
            ('n', Some(Formula::FloorNoMin)),
            ('f', Some(Formula::FloorNoMin)),
            ('r', Some(Formula::FloatRound)),
            ('q', Some(Formula::EquationFloor)),
            ('p', Some(Formula::Product32)),
        ] {
            let cdf = prefix_sums(&counts);
            let least = Formula::FloatRound.cdf_min(&cdf);
            let curve = formula.map_or_else(|| Formula::exact(&counts), |formula| formula.curve(&counts));
            let expected: Vec<u32> = elements().map(|element| u32::from(curve[element])).collect();
            for (index, Launch { grid, block, run }) in launches(size, 64, 5).into_iter().enumerate() {
                let area = Area::tight(if index == 3 { size } else { (size.0 * size.1, 1) }, codes - 1);
                let launch = format!("{} {} 1 {} {} 1 {}", grid.0, grid.1, block.0, block.1, area.text());
                let sums = format!("{least} {} {}", samples.len(), joined(&cdf));
                let question =
                    format!("n {letter} {bytes} {launch} {run} {sums} {} {}", samples.len(), joined(&samples));
                asked.push((question, expected.clone()));
            }
        }
    }
    compare(asked);
}

#[test]
fn every_block_of_a_map_finds_the_first_occupied_bin() {
    let mut numbers = Numbers(15);
    let mut asked = Vec::new();
    for (bytes, codes) in [(1, 256), (1, 90), (2, 1000), (2, 4096), (4, 256)] {
        for lowest in [0, codes / 3] {
            let size = (61, 17);
            let samples: Vec<u32> =
                samples(size.0 * size.1, bytes, codes, &mut numbers).into_iter().map(|code| code.max(lowest)).collect();
            let elements = || samples.iter().map(|&sample| sample.min(codes - 1) as usize);
            let mut counts = vec![0; codes as usize];
            elements().for_each(|element| counts[element] += 1);
            let cdf = prefix_sums(&counts);
            for (search, first, formula) in [
                ('r', 0, None),
                ('f', 0, None),
                ('R', 0, Some(Formula::FloatRound)),
                ('F', 0, Some(Formula::FloatRound)),
                ('F', 1, Some(Formula::WrongMin)),
            ] {
                let curve = formula.map_or_else(|| Formula::exact(&counts), |formula| formula.curve(&counts));
                let expected: Vec<u32> = elements().map(|element| u32::from(curve[element])).collect();
                for rows in [2, 8, 32] {
                    let grid = format!("{} {} 1 32 {rows} 1", size.1.div_ceil(32), size.0.div_ceil(rows));
                    let area = Area::tight(size, codes - 1).text();
                    let sums = format!("{} {}", samples.len(), joined(&cdf));
                    let picture = format!("{} {}", samples.len(), joined(&samples));
                    asked
                        .push((format!("g {search} {bytes} {grid} {area} {first} {sums} {picture}"), expected.clone()));
                }
            }
        }
    }
    compare(asked);
}

#[test]
fn luminance_is_counted_as_it_is_made() {
    let mut numbers = Numbers(13);
    let mut asked = Vec::new();
    for (kind, bytes, formula) in [
        ('b', 4, Formula::EquationFloor),
        ('r', 3, Formula::EquationFloor),
        ('B', 4, Formula::TruncatedLuminance),
        ('R', 3, Formula::TruncatedLuminance),
    ] {
        for size in [(1u32, 1u32), (61, 7), (130, 33)] {
            let pixels: Vec<u8> = (0..size.0 * size.1 * bytes).map(|_| numbers.next() as u8).collect();
            let mut counts = vec![0; 256];
            for pixel in pixels.chunks_exact(bytes as usize) {
                let rgb = if bytes == 4 { [pixel[2], pixel[1], pixel[0]] } else { [pixel[0], pixel[1], pixel[2]] };
                counts[usize::from(formula.luminance(rgb))] += 1;
            }
            for (index, Launch { grid, block, run }) in launches(size, 128, 64).into_iter().enumerate() {
                let area = Area::tight(if index == 3 { size } else { (size.0 * size.1, 1) }, 255);
                let question = format!(
                    "y {kind} {} {} 1 {} {} 1 {} {run} {} {}",
                    grid.0,
                    grid.1,
                    block.0,
                    block.1,
                    area.text(),
                    pixels.len(),
                    joined(&pixels),
                );
                asked.push((question, counts.clone()));
            }
        }
    }
    compare(asked);
}

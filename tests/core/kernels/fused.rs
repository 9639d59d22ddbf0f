//! `kernels/{fused,equalization,histogram,tile_histogram,tile_curves,tile_map,chroma,balance,veil_curves}.cu` in an
//! emulator on the CPU (`fused/emulator.hpp`), thread by thread, with all blocks at once and asynchronous copies that
//! complete at random times, compared with the specification. The tests fail if a vector is read before its copy has
//! completed, if a barrier is missing, or if totals are used too early.

use crate::host_program::{Numbers, Program};
use crate::kernels::arithmetic::{line, range as some_levels};
use crate::pictures::{Content, Picture};
use histeq::internal::cuda::pipeline::{Task, words_of_modified};
use histeq::internal::cuda::{ColourArguments, words_of_detail, words_of_tiles, words_of_veil};
use histeq::internal::equalize::backend::reference::Reference;
use histeq::internal::equalize::{Executor, Work};
use histeq::internal::frame::{self, Endian, Frame, HostPool, Luminance, Matrix, PixelFormat, Sample};
use histeq::internal::spec::Guide;
use histeq::internal::spec::chroma::UNIT_GAIN;
use histeq::internal::spec::clahe::{TileBins, TileCurves, TileHistograms, Tiles};
use histeq::internal::spec::curves::detail::Detail;
use histeq::internal::spec::curves::tone::{Balance, MAX_GAIN, Veil};
use histeq::internal::spec::curves::{Curve, Equalization, Histogram, Levels, Line, Mapping, Tone};
use histeq::internal::spec::natural::{InLight, ToneCurve, Toned, light};
use histeq::internal::spec::parameters::{Chroma, Gain, Method, Plateau, Rect, Region, Settings, Smoothing, Strength};
use histeq::internal::spec::time::Change;
use std::sync::LazyLock;

macro_rules! kernels {
    ($($name:literal,)*) => {
        [$(($name, include_str!(concat!("../../../kernels/", $name)))),*]
    };
}

const KERNELS: [(&str, &str); 21] = kernels![
    "fused.cu",
    "equalization.cu",
    "histogram.cu",
    "tiles/tile_histogram.cu",
    "tiles/tile_curves.cu",
    "tiles/tile_map.cu",
    "chroma.cu",
    "balance.cu",
    "tiles/veil_curves.cu",
    "headers/components.cuh",
    "headers/device/pairs.cuh",
    "headers/arguments.cuh",
    "headers/device/device.cuh",
    "headers/counters.cuh",
    "headers/curve.cuh",
    "headers/spec.cuh",
    "headers/samples.cuh",
    "headers/totals.cuh",
    "tiles/tiles.cuh",
    "headers/device/vectors.cuh",
    "headers/device/warp.cuh",
];

/// Headers that the emulator replaces.
const EMULATED: [&str; 4] = ["barriers.cuh", "shared_memory.cuh", "copy_async.cuh", "launch.cuh"];

/// The kernels in the emulator, for GPUs on which launches may overlap or not; `None` without a C++ compiler.
fn emulated(overlap: bool) -> Option<Program> {
    let spelt = |text: &str| {
        text.replace("extern __shared__ __align__(128) unsigned shared_words[];", "#define shared_words block_words()")
            .replace("extern __shared__ __align__(16) unsigned shared_counts[];", "#define shared_counts block_words()")
            .replace("extern __shared__ __align__(128) unsigned shared_counts[];", "")
            .replace(
                "extern __shared__ __align__(128) uint4 shared_curves[];",
                "#define shared_curves reinterpret_cast<uint4*>(block_words())",
            )
            .replace(
                "asm volatile(\"ld.shared.u32 %0, [%1];\" : \"=r\"(found) : \"r\"(start + (code << (LOG2_BYTE_COPIES + 2u))));",
                "found = load_shared(start + (code << (LOG2_BYTE_COPIES + 2u)));",
            )
            .replace(
                "asm(\"dp2a.lo.u32.u32 %0, %1, %2, 0;\" : \"=r\"(sum) : \"r\"(weights), \"r\"(bytes));",
                "sum = (weights & 0xffffu) * (bytes & 0xffu) + (weights >> 16) * (bytes >> 8 & 0xffu);",
            )
            .replace(
                "asm(\"dp2a.hi.u32.u32 %0, %1, %2, 0;\" : \"=r\"(sum) : \"r\"(weights), \"r\"(bytes));",
                "sum = (weights & 0xffffu) * (bytes >> 16 & 0xffu) + (weights >> 16) * (bytes >> 24);",
            )
            .replace("__shared__ TotalsStorage totals_storage;", "TotalsStorage& totals_storage = block_static<TotalsStorage>();")
            .replace(
                "extern __shared__ Sum through_bins[];",
                "Sum* through_bins = reinterpret_cast<Sum*>(block_words());",
            )
            .replace("while ((int)(*arrived - all_here) < 0) {", "while ((int)(*arrived - all_here) < 0) { spin();")
            .replace("__shared__ TempStorage storage;", "TempStorage& storage = block_static<TempStorage>();")
    };
    let mut files: Vec<(&str, String)> = KERNELS.iter().map(|&(name, text)| (name, spelt(text))).collect();
    files.extend(EMULATED.map(|name| (name, "#pragma once\n".to_owned())));
    files.push(("cuda.hpp", include_str!("../../support/kernels/cuda.hpp").to_owned()));
    files.push(("emulator.hpp", include_str!("emulator/emulator.hpp").to_owned()));
    files.push(("main.cpp", include_str!("emulator/kernels.cpp").to_owned()));
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let overlap = format!("-DOVERLAP={overlap}");
    Program::new(&files, &["-O2", "-Wno-unknown-pragmas", "-Wno-unused", "-Wno-maybe-uninitialized", &overlap])
}

/// The kernels without and with overlapping launches, compiled once for all tests.
static EMULATED_KERNELS: LazyLock<[Option<Program>; 2]> = LazyLock::new(|| [false, true].map(emulated));

/// Checks the kernels' answers, without and with overlapping launches.
fn compare(asked: Vec<(String, Vec<u32>)>) {
    let (questions, expected): (Vec<String>, Vec<Vec<u32>>) = asked.into_iter().unzip();
    for (program, overlap) in EMULATED_KERNELS.iter().zip([false, true]) {
        let Some(program) = program else { return };
        for ((question, answer), expected) in questions.iter().zip(program.answers(&questions)).zip(&expected) {
            let differs = answer.iter().zip(expected).position(|(found, expected)| found != expected);
            assert!(answer == *expected, "{question:.120} ... at {differs:?}, overlap {overlap}");
        }
    }
}

/// The bits of a stored sample.
fn stored(sample: Sample, code: u16) -> u32 {
    let bits = code << sample.shift;
    u32::from(if sample.endian == Endian::Big { bits.swap_bytes() } else { bits })
}

/// Random samples for a frame, and these samples mapped by the curves of its tiles.
fn mapped_samples(frame: &Frame, curves: &TileCurves, numbers: &mut Numbers) -> (Sample, Vec<u32>, Vec<u32>) {
    let (mut sample, (width, codes)) = (frame.format().descriptor().sample, (frame.width(), frame.levels().codes()));
    if frame.levels().codes() > 256 && numbers.below(2) == 0 {
        sample.endian = Endian::Big;
    }
    let given: Vec<u16> = (0..width * frame.height()).map(|_| numbers.below(codes as u32) as u16).collect();
    let becomes = |(index, &code)| stored(sample, curves.value(index % width, index / width, code));
    let samples = given.iter().map(|&code| stored(sample, code)).collect();
    (sample, samples, given.iter().enumerate().map(becomes).collect())
}

/// Samples of a random distribution, and the same samples equalized.
fn plane(
    sample: Sample,
    levels: Levels,
    strength: Strength,
    pixels: u32,
    numbers: &mut Numbers,
) -> (Vec<u32>, Vec<u32>) {
    let codes = levels.codes() as u32;
    let (kind, some) = (numbers.below(4), numbers.below(codes));
    let codes: Vec<u16> = (0..pixels)
        .map(|_| match kind {
            0 => numbers.below(codes) as u16,
            1 => (some / 2 + numbers.below(9).min(codes - 1 - some / 2)) as u16,
            2 => some as u16,
            _ => (numbers.below(codes) & numbers.below(codes)) as u16,
        })
        .collect();
    let mut histogram = Histogram::new(levels);
    codes.iter().for_each(|&code| histogram.add(code));
    let curve = Curve::equalizing(&histogram).blended(levels, &Line::IDENTITY, strength);
    (
        codes.iter().map(|&code| stored(sample, code)).collect(),
        codes.iter().map(|&code| stored(sample, curve.apply(code))).collect(),
    )
}

/// The number of vectors of a plane that blocks process in shares of `share` vectors: mostly, only the last share is
/// incomplete; sometimes, blocks have few vectors or none.
fn sharing(blocks: u32, share: u32, numbers: &mut Numbers) -> u32 {
    let most = blocks * share;
    match numbers.below(3) {
        0 => 1 + numbers.below(most),
        _ => most - numbers.below(share),
    }
}

fn text(numbers: &[u32]) -> String {
    numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(" ")
}

/// Random levels of this depth, and a random strength.
fn range(depth: u8, numbers: &mut Numbers) -> (Levels, Strength) {
    let levels = if numbers.below(2) == 0 { Levels::full(depth) } else { Levels::limited(depth) };
    (levels, Strength::from_share([1.0, 1.0, 0.5][numbers.below(3) as usize]).unwrap())
}

#[test]
fn planes_of_a_batch_become_what_the_specification_says() {
    let mut numbers = Numbers(21);
    let mut asked = Vec::new();
    for _ in 0..60 {
        let threads = [256, 288, 320, 512][numbers.below(4) as usize];
        let (team, teams, count) = (1 + numbers.below(3), 1 + numbers.below(3), 1 + numbers.below(6));
        let rounds = 1 + numbers.below(7);
        let share = if numbers.below(3) == 0 { threads * rounds } else { 1 + numbers.below(threads * rounds) };
        // The number of rounds whose vectors are kept in shared memory: from none to all.
        let kept = numbers.below(share.div_ceil(threads) + 1);
        let vectors = sharing(team, share, &mut numbers);
        let pixels = (vectors * 16).saturating_sub(numbers.below(2) * numbers.below(16)).max(1);
        let (levels, strength) = range(8, &mut numbers);
        let sample = Sample { bytes: 1, depth: 8, shift: 0, endian: Endian::Little };
        let planes: Vec<_> = (0..count).map(|_| plane(sample, levels, strength, pixels, &mut numbers)).collect();
        let (lo, hi, strength) = (levels.lo(), levels.hi(), strength.to_256ths());
        let samples: Vec<String> = planes.iter().map(|(before, _)| text(before)).collect();
        let question = format!(
            "b {threads} {team} {teams} {share} {kept} {lo} {hi} {strength} {count} {pixels} {}",
            samples.join(" ")
        );
        asked.push((question, planes.into_iter().flat_map(|(_, after)| after).collect()));
    }
    compare(asked);
}

#[test]
fn planes_of_any_depth_become_what_the_specification_says() {
    let mut numbers = Numbers(22);
    let mut asked = Vec::new();
    for (depths, cases) in [([8, 8], 24), ([9, 10], 12)] {
        for case in 0..cases {
            let depth = depths[case % 2];
            let kind = ["n", "l", "m"][case % 3];
            let bytes = if depth == 8 { 1 } else { 2 };
            let shift = if depth > 8 && numbers.below(2) == 0 { 16 - depth } else { 0 };
            let endian = if depth > 8 && numbers.below(2) == 0 { Endian::Big } else { Endian::Little };
            let sample = Sample { bytes, depth, shift, endian };
            // One group of 8 warps and one to three more warps, or a single group of 32 warps.
            let threads = if depth == 8 { 288 + 32 * numbers.below(3) } else { 1024 };
            let blocks = 1 + numbers.below(3);
            // The number of rounds may exceed those kept in shared memory and in registers.
            let rounds = 1 + numbers.below(if depth == 8 { 20 } else { 14 });
            let share = if numbers.below(3) == 0 { threads * rounds } else { 1 + numbers.below(threads * rounds) };
            let kept = numbers.below(share.div_ceil(threads) + 1);
            let vectors = sharing(blocks, share, &mut numbers);
            let each = 16 / bytes as u32;
            let pixels = (vectors * each).saturating_sub(numbers.below(2) * numbers.below(each)).max(1);
            let (levels, strength) = range(depth, &mut numbers);
            let (before, after) = plane(sample, levels, strength, pixels, &mut numbers);
            let (lo, hi, strength) = (levels.lo(), levels.hi(), strength.to_256ths());
            let swapped = u32::from(endian == Endian::Big);
            let question = format!(
                "p {depth} {kind} {blocks} {threads} {share} {kept} {shift} {swapped} {lo} {hi} {strength} {pixels} {}",
                text(&before)
            );
            asked.push((question, after));
        }
    }
    compare(asked);
}

#[test]
fn every_sample_of_a_plane_is_counted_once_however_many_copies_counters_have() {
    let mut numbers = Numbers(23);
    let mut asked = Vec::new();
    for case in 0..24 {
        let depth = [8, 9, 10, 12][case % 4];
        let log2_copies = numbers.below(if depth == 12 { 3 } else { 6 });
        let (levels, strength) = range(depth, &mut numbers);
        let sample = Sample { bytes: if depth == 8 { 1 } else { 2 }, depth, shift: 0, endian: Endian::Little };
        let (blocks, threads) = (1 + numbers.below(3), 32 * (1 + numbers.below(8)));
        let pixels = 1 + numbers.below(6000);
        let (samples, _) = plane(sample, levels, strength, pixels, &mut numbers);
        let mut counts = vec![0; levels.codes()];
        for &code in &samples {
            counts[code.clamp(levels.lo().into(), levels.hi().into()) as usize] += 1;
        }
        let (bytes, lo, hi, max) = (sample.bytes, levels.lo(), levels.hi(), levels.codes() - 1);
        let question =
            format!("h {bytes} {blocks} {threads} {log2_copies} 0 0 {lo} {hi} 256 {max} {pixels} {}", text(&samples));
        asked.push((question, counts));
    }
    compare(asked);
}

/// Maps `index` into `length` pixels by mirroring without repeating the edge pixel.
fn mirrored(index: u32, length: u32) -> u32 {
    let way: Vec<u32> = (0..length).chain((1..length.saturating_sub(1)).rev()).collect();
    way[index as usize % way.len()]
}

#[test]
fn every_pixel_of_a_tile_is_counted_and_its_mirror() {
    let mut numbers = Numbers(24);
    let mut asked = Vec::new();
    for case in 0..24 {
        let depth = [8, 10, 12, 14][case % 4];
        let (levels, strength) = range(depth, &mut numbers);
        let sample = Sample { bytes: if depth == 8 { 1 } else { 2 }, depth, shift: 0, endian: Endian::Little };
        let log2_copies = if depth == 8 { 5 } else { numbers.below(3) };
        let threads = 32 * (1 + numbers.below(8));
        let (columns, rows) = (1 + numbers.below(4), 1 + numbers.below(4));
        let (width, height) = (1 + numbers.below(40), 1 + numbers.below(9));
        // The last tiles may exceed the picture, but every row of tiles contains at least one pixel.
        let picture = (columns * width - numbers.below(width), rows * height - numbers.below(height));
        let bins = if depth == 14 { 4096 } else { levels.count() as u32 };
        let bin_multiplier = (u64::from(bins) << 32).div_ceil(levels.count() as u64) as u32;
        let (samples, _) = plane(sample, levels, strength, picture.0 * picture.1, &mut numbers);
        let level = |code: u32| code.clamp(levels.lo().into(), levels.hi().into());
        let mut expected = vec![0; (columns * rows * bins) as usize];
        for tile in 0..columns * rows {
            let (left, top) = (tile % columns * width, tile / columns * height);
            for (x, y) in (0..height).flat_map(|y| (0..width).map(move |x| (x, y))) {
                let (x, y) = (mirrored(left + x, picture.0), mirrored(top + y, picture.1));
                let above_black = level(samples[(y * picture.0 + x) as usize]) - u32::from(levels.lo());
                expected[(tile * bins + above_black * bins / levels.count() as u32) as usize] += 1;
            }
        }
        let (bytes, lo, hi, max) = (sample.bytes, levels.lo(), levels.hi(), levels.codes() - 1);
        let (picture_width, picture_height) = picture;
        asked.push((
            format!(
                "t {bytes} {threads} {log2_copies} {lo} {hi} {max} {columns} {rows} {width} {height} {picture_width} \
                 {picture_height} {bins} {bin_multiplier} {}",
                text(&samples)
            ),
            expected,
        ));
    }
    compare(asked);
}

/// A gray frame of this depth; its samples are not used.
fn frame_of(depth: u8, is_full: bool, (width, height): (usize, usize)) -> Frame {
    let format = match depth {
        8 => PixelFormat::Gray,
        9 => PixelFormat::Gray9le,
        10 => PixelFormat::Gray10le,
        12 => PixelFormat::Gray12le,
        14 => PixelFormat::Gray14le,
        _ => PixelFormat::Gray16le,
    };
    let plane = HostPool::default().plane(format.row_bytes(0, width), height).freeze();
    let range = if is_full { frame::Range::Full } else { frame::Range::Limited };
    Frame::new(format, (width, height), range, Matrix::Bt709, vec![plane]).unwrap()
}

/// Random settings, with or without a temporal window.
fn settings_with_window(method: Method, has_bins: bool, numbers: &mut Numbers) -> Settings {
    let mut one_of = |count: u32| numbers.below(count);
    let smoothing = if one_of(5) == 0 { Smoothing::OFF } else { Smoothing::new(2 + one_of(4), one_of(4)) };
    Settings {
        method,
        smoothing,
        plateau: [Plateau::Off, Plateau::Count(7), Plateau::Millionths(9000)][one_of(3) as usize],
        max_gain: Gain::from_slope([0.0, 3.0, 1.0, 40.0][one_of(4) as usize]).unwrap(),
        bins: if has_bins && one_of(2) == 0 { Some(2 + one_of(200)) } else { None },
        strength: Strength::from_share([1.0, 0.6][one_of(2) as usize]).unwrap(),
        region: if one_of(4) == 0 { Region::Auto } else { Region::Whole },
        ..Settings::default()
    }
}

/// Random settings for detail, including extreme numbers.
fn detail_of(levels: Levels, numbers: &mut Numbers) -> Detail {
    let white = 16 * (levels.count() as u32 - 1);
    let slope = [0, 1 << 16, 1 + numbers.below(1 << 22), u32::MAX][numbers.below(4) as usize];
    let more = [0, 1 << 17, numbers.below(1 << 24), u32::MAX][numbers.below(4) as usize];
    Detail {
        radius: [0, 1 + numbers.below(white), 2 * white][numbers.below(3) as usize],
        noise: [0, numbers.below(white / 4), white][numbers.below(3) as usize],
        slope,
        steep: slope.saturating_add(more),
        most: [0, white / 8, white][numbers.below(3) as usize],
    }
}

/// A random guide: a cut, a flash, the end of a flash, or no change, with or without stretched levels.
fn guide_of(levels: Levels, settings: &Settings, numbers: &mut Numbers) -> Guide {
    let change = match numbers.below(8) {
        0 | 1 => Change::Cut,
        2 => Change::AfterFlash,
        3 => Change::Flash,
        _ => Change::None,
    };
    let change = if settings.smoothing.frames() == 1 { Change::None } else { change };
    let strength = Strength::from_share([1.0, 0.4, 0.0][numbers.below(3) as usize]).unwrap();
    let mut tone = || Tone {
        line: line(levels, numbers),
        range: some_levels(levels, numbers),
        ceiling: [some_levels(levels, numbers).1, levels.count() as u32 - 1][numbers.below(2) as usize],
        keeps_black: numbers.below(2) == 0,
        strength,
        max_gain: Gain::from_slope([0.0, 1.5, 6.0][numbers.below(3) as usize]).unwrap(),
        detail: matches!(settings.method, Method::Detail { .. }).then(|| detail_of(levels, numbers)),
        ..Tone::plain(levels, settings)
    };
    let tone = Some(tone()).filter(|_| numbers.below(4) != 0);
    Guide { change, tone, ..Guide::default() }
}

/// The kernels' arguments for a frame, as text.
fn order(task: &Task, levels: Levels, guide: &Guide, windows: &mut Windows) -> String {
    let settings = windows.equalization.settings();
    let strength = match (settings.method, guide.tone) {
        (Method::Global, Some(tone)) => tone.strength,
        _ => settings.strength,
    };
    let update = windows.equalization.next_uncounted(levels, windows.size, guide);
    let words = words_of_modified(task, &update, windows.number, &mut windows.caps);
    windows.number += 1;
    format!("{} {} {} {}", levels.lo(), levels.hi(), strength.to_256ths(), text(&words))
}

/// The kernels' arguments for detail, or 0, as text.
fn detail(task: &Task) -> String {
    words_of_detail(task).map_or("0".to_owned(), |words| format!("1 {}", text(&words)))
}

/// The temporal windows of a video, as the kernel launchers keep them.
struct Windows {
    equalization: Equalization,
    size: (usize, usize),
    number: u64,
    caps: Vec<u32>,
}

impl Windows {
    fn new(settings: Settings, size: (usize, usize)) -> Self {
        Windows { equalization: Equalization::new(settings), size, number: 0, caps: Vec::new() }
    }

    /// The number of histograms that the kernels keep.
    fn rows(&self) -> u32 {
        self.equalization.settings().smoothing.memory() + 1
    }
}

const FRAMES: usize = 14;

#[test]
fn videos_with_cuts_and_flashes_become_what_the_specification_says() {
    let mut numbers = Numbers(25);
    let mut asked = Vec::new();
    for (depth, cases) in [(8, 16), (9, 3), (10, 5)] {
        for case in 0..cases {
            let bytes = if depth == 8 { 1 } else { 2 };
            let threads = if depth == 8 { 256 } else { 512 };
            // From seven rounds in shared memory on, its positions are reused.
            let is_large = case == 0 && depth != 9;
            let share = 1 + numbers.below(300) + if is_large { 10 * threads } else { 0 };
            let blocks = 1 + numbers.below(2);
            let kept = match is_large {
                true if depth == 8 => 7,
                true => 6,
                false => numbers.below(share.div_ceil(threads) + 1),
            };
            let vectors = if is_large { blocks * share } else { sharing(blocks, share, &mut numbers) };
            let pixels = (vectors * 16 / bytes).saturating_sub(numbers.below(7)).max(1);
            let settings = settings_with_window(Method::Global, false, &mut numbers);
            let frame = frame_of(depth, numbers.below(2) == 0, (pixels as usize, 1));
            let (levels, sample) = (frame.levels(), frame.format().descriptor().sample);
            let mut windows = Windows::new(settings, (pixels as usize, 1));
            let mut equalization = Equalization::new(settings);
            let (rows, mut expected) = (windows.rows(), Vec::new());
            let (mut expected_ahead, mut before) = (Vec::new(), Vec::new());
            let mut question = format!(" {depth} {blocks} {threads} {share} {kept} {rows} {FRAMES} {pixels}");
            for _ in 0..FRAMES {
                let guide = guide_of(levels, &settings, &mut numbers);
                let task = Task::new(&frame, settings, frame.whole()).unwrap().guided(guide.clone());
                let (samples, _) = plane(sample, levels, settings.strength, pixels, &mut numbers);
                question += &format!(" {} {}", order(&task, levels, &guide, &mut windows), text(&samples));
                let mut histogram = Histogram::new(levels);
                samples.iter().for_each(|&code| histogram.add(code as u16));
                let curve = equalization.next(&histogram, windows.size, &guide).curve;
                let mapped = |samples: &[u32]| -> Vec<u32> {
                    samples.iter().map(|&code| u32::from(curve.apply(code as u16))).collect()
                };
                expected.extend(mapped(&samples));
                expected_ahead.extend(curve.codes().iter().copied().map(u32::from));
                expected_ahead.extend(mapped(&before));
                before = samples;
            }
            asked.push((format!("v{question}"), expected));
            asked.push((format!("a{question}"), expected_ahead));
        }
    }
    compare(asked);
}

/// Counts of codes or bins with the sum `samples`.
fn counts_of(entries: usize, samples: u32, numbers: &mut Numbers) -> Vec<u32> {
    let mut counts = vec![0; entries];
    let (first, span) = (numbers.below(entries as u32), 1 + numbers.below(entries as u32));
    let parts = 1 + numbers.below(60);
    for part in 0..parts {
        let share = samples * (part + 1) / parts - samples * part / parts;
        counts[((first + numbers.below(span)) as usize).min(entries - 1)] += share;
    }
    counts
}

#[test]
fn counts_of_videos_become_curves_in_one_block_and_in_several() {
    let mut numbers = Numbers(26);
    let mut asked = Vec::new();
    for (depth, (blocks, threads, each), cases) in [
        (8, (1, 64, 4), 40),
        (10, (1, 256, 4), 16),
        (8, (2, 32, 4), 6),
        (8, (4, 32, 2), 6),
        (10, (4, 64, 4), 8),
        (10, (8, 64, 2), 8),
        (12, (1, 1024, 4), 3),
        (12, (4, 256, 4), 3),
        (12, (64, 32, 2), 2),
        (12, (8, 256, 2), 2),
        (14, (16, 512, 2), 1),
    ] {
        for case in 0..cases {
            let settings = settings_with_window(Method::Global, true, &mut numbers);
            let frame = frame_of(depth, case % 2 == 0, (200, 100));
            let levels = frame.levels();
            let mut windows = Windows::new(settings, (200, 100));
            let mut equalization = Equalization::new(settings);
            let (rows, codes, mut expected) = (windows.rows(), levels.codes(), Vec::new());
            let mut question = format!("e {codes} {blocks} {threads} {each} {rows} {FRAMES}");
            for _ in 0..FRAMES {
                let guide = guide_of(levels, &settings, &mut numbers);
                // With an automatic region, the number of samples differs from frame to frame.
                let height = if settings.region == Region::Auto { 1 + numbers.below(100) as usize } else { 100 };
                let counted = Rect { x: 0, y: 0, width: 200, height };
                let task = Task::new(&frame, settings, counted).unwrap().guided(guide.clone());
                let of_levels = counts_of(levels.count(), 200 * height as u32, &mut numbers);
                let mut counts = vec![0; codes];
                counts[usize::from(levels.lo())..][..levels.count()].copy_from_slice(&of_levels);
                question += &format!(" {} {}", order(&task, levels, &guide, &mut windows), text(&counts));
                let histogram = Histogram::from_codes(levels, &counts);
                let curve = equalization.next(&histogram, windows.size, &guide).curve;
                expected.extend(curve.codes().iter().copied().map(u32::from));
            }
            asked.push((question, expected));
        }
    }
    compare(asked);
}

#[test]
fn counts_of_tiles_of_videos_become_their_curves() {
    let mut numbers = Numbers(27);
    let mut asked = Vec::new();
    for (depth, threads, cases) in [(8, 256, 14), (8, 64, 6), (10, 256, 8), (12, 1024, 2), (14, 1024, 3), (16, 1024, 1)]
    {
        for case in 0..cases {
            let (columns, rows_of_tiles) = (1 + numbers.below(3), 1 + numbers.below(2));
            let size = (20 + numbers.below(60) as usize, 10 + numbers.below(30) as usize);
            let rows = rows_of_tiles;
            let method = if case % 3 == 0 { Method::Clahe { columns, rows } } else { Method::Detail { columns, rows } };
            let settings = settings_with_window(method, true, &mut numbers);
            let frame = frame_of(depth, case % 2 == 0, size);
            let levels = frame.levels();
            let (tiles, bins) = (Tiles::new(columns, rows_of_tiles, size), TileBins::new(levels, settings.bins));
            let mut windows = Windows::new(settings, size);
            let mut equalization = Equalization::new(settings);
            let (rows, codes, mut expected) = (windows.rows(), levels.codes(), Vec::new());
            let task = Task::new(&frame, settings, frame.whole()).unwrap();
            let has_room = numbers.below(4) != 0;
            let of_tiles = text(&words_of_tiles(&frame, &task, has_room));
            let mut question = format!("l {codes} {threads} {rows} {FRAMES} {of_tiles}");
            for _ in 0..FRAMES {
                let guide = guide_of(levels, &settings, &mut numbers);
                let task = Task::new(&frame, settings, frame.whole()).unwrap().guided(guide.clone());
                let samples = (tiles.width * tiles.height) as u32;
                let counts: Vec<u32> =
                    (0..tiles.count()).flat_map(|_| counts_of(bins.count(), samples, &mut numbers)).collect();
                question +=
                    &format!(" {} {} {}", order(&task, levels, &guide, &mut windows), text(&counts), detail(&task));
                let counts = counts.into_iter().map(u64::from).collect();
                let step = equalization.next_tiles(&TileHistograms::from_counts(tiles, bins, counts), &guide);
                let tone = guide.tone.unwrap_or(Tone::plain(levels, &settings));
                let curves = TileCurves::equalizing(&step.window, &settings, &tone.tile_levels());
                expected.extend(curves.luts().iter().copied().map(u32::from));
            }
            asked.push((question, expected));
        }
    }
    compare(asked);
}

#[test]
fn samples_become_the_blend_of_the_curves_of_the_tiles_around_them() {
    let mut numbers = Numbers(29);
    let mut asked = Vec::new();
    for (depth, cases) in [(8, 24), (10, 16), (14, 36), (16, 24)] {
        for case in 0..cases {
            let (columns, rows) = (1 + numbers.below(3), 1 + numbers.below(3));
            let method = if case % 4 == 3 { Method::Detail { columns, rows } } else { Method::Clahe { columns, rows } };
            // Very wide or very high frames have large sums.
            let size = [(1 + numbers.below(90), 1 + numbers.below(20)), (1 + numbers.below(900), 1), (2, 400)];
            let size = size[case % 3];
            let size = (size.0 as usize, size.1 as usize);
            let bins =
                [Some(2 + numbers.below(250)), Some(1000 + numbers.below(3000)), None][numbers.below(3) as usize];
            let window = [Smoothing::OFF, Smoothing::new(9, 0)][numbers.below(2) as usize];
            let settings = Settings { bins, smoothing: window, ..settings_with_window(method, false, &mut numbers) };
            let frame = frame_of(depth, numbers.below(2) == 0, size);
            let levels = frame.levels();
            let guide = Guide { change: Change::None, ..guide_of(levels, &settings, &mut numbers) };
            let task = Task::new(&frame, settings, frame.whole()).unwrap().guided(guide.clone());
            // The kernels get the histogram of one frame, and no history.
            let alone = Settings { smoothing: Smoothing::OFF, ..settings };
            let mut windows = Windows::new(alone, size);
            let order = order(&task.clone().with(alone).unwrap(), levels, &guide, &mut windows);
            let bins = TileBins::new(levels, settings.bins);
            let tiles = Tiles::new(columns, rows, size);
            let of_tile = (tiles.width * tiles.height) as u32;
            let counts: Vec<u32> =
                (0..tiles.count()).flat_map(|_| counts_of(bins.count(), of_tile, &mut numbers)).collect();
            let of_tiles = TileHistograms::from_counts(tiles, bins, counts.iter().map(|&count| count.into()).collect());
            let tone = guide.tone.unwrap_or(Tone::plain(levels, &settings));
            let curves = TileCurves::equalizing(&of_tiles, &settings, &tone.tile_levels());
            let (sample, samples, expected) = mapped_samples(&frame, &curves, &mut numbers);
            let pixels = samples.len();
            let words = text(&words_of_tiles(&frame, &task, numbers.below(4) != 0));
            let threads = 32 * (1 + numbers.below(4));
            let curve_threads = (bins.count() as u32).div_ceil(4).next_multiple_of(32).clamp(64, 1024);
            let question = format!(
                "x {} {threads} {} {} {} {words} {pixels} {curve_threads} {order} {} {} {}",
                sample.bytes,
                sample.shift,
                u32::from(sample.endian == Endian::Big),
                levels.codes(),
                text(&counts),
                detail(&task),
                text(&samples)
            );
            asked.push((question, expected));
        }
    }
    compare(asked);
}

/// A random veil, with or without a curve after it, including extreme values.
fn veil_of(levels: Levels, numbers: &mut Numbers) -> Veil {
    let white = 16 * (levels.count() as u32 - 1);
    let most_taken = [white / 2, 0, 2 * white, u32::MAX][numbers.below(4) as usize];
    let most_gain = [3 * UNIT_GAIN, 5 * UNIT_GAIN, MAX_GAIN, u32::MAX][numbers.below(4) as usize];
    let mut value_of =
        |most: u32| std::array::from_fn(|_| std::array::from_fn(|_| numbers.below(most.saturating_add(1))));
    let (taken, gains, chroma) = (value_of(most_taken), value_of(most_gain), value_of(UNIT_GAIN));
    let (kind, by, turn) = (numbers.below(4), numbers.below(4080) as i32, numbers.below(2) as usize);
    let curve = match kind {
        0 => ToneCurve::through(|level| level + level * (4080 - level) / 8000 - 60),
        1 => ToneCurve::through(|level| level * by / 1000 - by),
        2 => ToneCurve::made_of(|index| (index as i32 * 7919 * by) % 8000 - 2000),
        _ => ToneCurve::made_of(|index| ToneCurve::FURTHEST * [1, -1][(index + turn) % 2]),
    };
    let share = [light::FULL, 1, 1 + numbers.below(1 << 17), light::MAX][numbers.below(4) as usize];
    let then = Some(Toned { curve, light: share }).filter(|_| numbers.below(4) != 0);
    let in_light = InLight { transfer: frame::Transfer::Sdr, peak: [0; 2] };
    let in_light = Some(in_light).filter(|_| numbers.below(4) == 0);
    let ceiling = [levels.count() as u32 - 1, some_levels(levels, numbers).1][numbers.below(2) as usize];
    Veil { taken, gains, chroma, then, in_light, ceiling }
}

#[test]
fn curves_of_regions_under_a_veil_are_those_of_the_specification() {
    let mut numbers = Numbers(30);
    let mut asked = Vec::new();
    for (depth, cases) in [(8, 120), (9, 8), (10, 40), (12, 12), (14, 3), (16, 4)] {
        for case in 0..cases {
            let levels = if case % 2 == 0 { Levels::limited(depth) } else { Levels::full(depth) };
            let veil = veil_of(levels, &mut numbers);
            let (blocks, threads) = (1 + numbers.below(5), 32 * (1 + numbers.below(8)));
            let curves = veil.curves(levels, Veil::tiles((320, 240)));
            asked.push((
                format!("c {blocks} {threads} {depth} {}", text(&words_of_veil(&veil, levels))),
                curves.luts().iter().copied().map(u32::from).collect(),
            ));
        }
    }
    compare(asked);
}

#[test]
fn samples_under_a_veil_become_the_blend_of_the_curves_of_the_regions_around_them() {
    let mut numbers = Numbers(31);
    let mut asked = Vec::new();
    for (depth, cases) in [(8, 12), (9, 3), (10, 12), (12, 3), (14, 3), (16, 3)] {
        for case in 0..cases {
            let size = [(1 + numbers.below(90), 1 + numbers.below(30)), (1 + numbers.below(900), 1), (2, 300)];
            let size = (size[case % 3].0 as usize, size[case % 3].1 as usize);
            let frame = frame_of(depth, numbers.below(2) == 0, size);
            let levels = frame.levels();
            let task = Task::new(&frame, Settings { method: Method::Deflicker, ..Settings::default() }, frame.whole());
            let veil = veil_of(levels, &mut numbers);
            let curves = veil.curves(levels, Veil::tiles(size));
            let (sample, samples, expected) = mapped_samples(&frame, &curves, &mut numbers);
            let pixels = samples.len();
            let question = format!(
                "w {} {} {} {} {} {pixels} {depth} {} {}",
                sample.bytes,
                32 * (1 + numbers.below(4)),
                sample.shift,
                u32::from(sample.endian == Endian::Big),
                text(&words_of_tiles(&frame, &task.unwrap(), numbers.below(4) != 0)),
                text(&words_of_veil(&veil, levels)),
                text(&samples)
            );
            asked.push((question, expected));
        }
    }
    compare(asked);
}

/// The planes of a frame as they are uploaded.
fn buffer_of(frame: &Frame, arguments: &ColourArguments) -> Vec<u8> {
    let mut buffer = vec![0; arguments.bytes];
    for (plane, start) in frame.planes()[arguments.planes.clone()].iter().zip(&arguments.starts) {
        for y in 0..plane.rows() {
            buffer[start + y * plane.row_bytes()..][..plane.row_bytes()].copy_from_slice(plane.row(y));
        }
    }
    buffer
}

fn bytes_as_text(bytes: &[u8]) -> String {
    let bytes: Vec<String> = bytes.iter().map(u8::to_string).collect();
    format!("{} {}", bytes.len(), bytes.join(" "))
}

/// `frame` mapped by the reference.
fn mapped(frame: &Frame, chroma: Chroma, mapping: &Mapping) -> Frame {
    let method = Method::Deflicker;
    let guide = Guide { mapping: Some(mapping.clone()), ..Guide::default() };
    let mut reference = Reference::default();
    reference
        .submit(Work::new(frame.clone(), Settings { method, chroma, ..Settings::default() }).guided(guide))
        .unwrap();
    reference.collect().unwrap().expect("a frame that waits for no other").frame
}

/// A random curve, veil or balance.
fn mapping_of(levels: Levels, kind: usize, numbers: &mut Numbers) -> Mapping {
    match kind {
        0 => {
            let codes = (0..levels.codes()).map(|_| numbers.below(levels.codes() as u32) as u16).collect();
            let curve = Curve::from_codes(levels, codes).unwrap().into();
            Mapping::Curve { curve, chroma_gain: numbers.below(5 * UNIT_GAIN) }
        }
        1 => {
            let white = 16 * levels.count() as u32;
            let mut value_of = |most: u32| std::array::from_fn(|_| std::array::from_fn(|_| numbers.below(most)));
            let (taken, gains, chroma) = (value_of(white / 2), value_of(5 * UNIT_GAIN), value_of(5 * UNIT_GAIN));
            let curve = ToneCurve::through(|level| level + level * (4080 - level) / 8000 - 60);
            let then = Some(Toned { curve, light: 1 + numbers.below(1 << 17) });
            Mapping::Veil(Veil { taken, gains, chroma, then, in_light: None, ceiling: white }.into())
        }
        _ => {
            let mut offset = || numbers.below(8 * levels.count() as u32) as i32 - 4 * levels.count() as i32;
            let offsets = [offset(), offset(), offset()];
            Mapping::Balance(Balance { gains: std::array::from_fn(|_| numbers.below(4 * UNIT_GAIN)), offsets })
        }
    }
}

/// The luminance of RGB before and after the mapping, as the kernels store it.
fn luminances(frame: &Frame, mapping: &Mapping) -> [Vec<u8>; 2] {
    let descriptor = frame.format().descriptor();
    let Luminance::FromRgb { r, g, b } = descriptor.luminance else { return [Vec::new(), Vec::new()] };
    let mut planes = [Vec::new(), Vec::new()];
    let tiles = Veil::tiles((frame.width(), frame.height()));
    let curves = if let Mapping::Veil(veil) = mapping { Some(veil.curves(frame.levels(), tiles)) } else { None };
    for (y, x) in (0..frame.height()).flat_map(|y| (0..frame.width()).map(move |x| (y, x))) {
        let read = |component: frame::Component| {
            descriptor.sample.read(frame.planes()[component.plane].row(y), component.offset + x * component.step)
        };
        let before = frame.weights().luminance([read(r), read(g), read(b)]);
        let after = match (mapping, &curves) {
            (Mapping::Curve { curve, .. }, _) => curve.apply(before),
            (_, Some(curves)) => curves.value(x, y, before),
            _ => before,
        };
        for (plane, code) in planes.iter_mut().zip([before, after]) {
            plane.extend_from_slice(&code.to_le_bytes()[..usize::from(descriptor.sample.bytes)]);
        }
    }
    planes
}

#[test]
fn a_balance_of_fields_has_a_launch_for_the_rows_of_each() {
    let mut numbers = Numbers(34);
    let mut asked = Vec::new();
    let formats = [
        PixelFormat::Yuv420p,
        PixelFormat::Yuv420p10le,
        PixelFormat::Nv21,
        PixelFormat::P010be,
        PixelFormat::Yuva420p,
        PixelFormat::Yuv440p,
        PixelFormat::Yuv410p,
    ];
    for (format, height) in formats.into_iter().flat_map(|format| (5..14).map(move |height| (format, height))) {
        let mut frame = Picture { seed: height as u64, ..Picture::new(format, (13, height)) }.make();
        frame.is_interlaced = true;
        let mapping = mapping_of(frame.levels(), 2, &mut numbers);
        let task = Task::new(&frame, Settings::default(), frame.whole()).unwrap();
        let launches = ColourArguments::for_fields(&frame, &task, &mapping);
        let chroma_rows = frame.planes()[1].rows();
        assert_eq!(launches.len(), 2 + chroma_rows % 2, "{format}, {height} rows");
        let balanced = mapped(&frame, Chroma::Follow, &mapping);
        for (launch, arguments) in launches.iter().enumerate() {
            // With an odd number of chroma rows, a third launch writes the last one and its luma.
            let is_written = |plane: usize, y: usize| {
                let chroma_y = if plane == 0 { frame.chroma_row(y) } else { y };
                let is_left = chroma_rows % 2 == 1 && chroma_y + 1 == chroma_rows;
                launch == if is_left { 2 } else { chroma_y % 2 }
            };
            let (mut spans, mut expected) = (Vec::new(), Vec::new());
            for (plane, start) in arguments.planes.clone().zip(&arguments.starts) {
                let rows = frame.planes()[plane].rows();
                spans.extend([*start as u32, (rows * frame.planes()[plane].row_bytes()) as u32]);
                for y in 0..rows {
                    let source = if is_written(plane, y) { &balanced } else { &frame };
                    expected.extend(source.planes()[plane].row(y).iter().copied().map(u32::from));
                }
            }
            asked.push((
                format!(
                    "k {} b 0 0 {} {} {} {} {} {} {}",
                    format.descriptor().sample.bytes,
                    arguments.plane_vectors,
                    text(&arguments.words),
                    bytes_as_text(&buffer_of(&frame, arguments)),
                    bytes_as_text(&[]),
                    bytes_as_text(&[]),
                    spans.len() / 2,
                    text(&spans)
                ),
                expected,
            ));
        }
    }
    compare(asked);
}

#[test]
fn colours_that_follow_or_are_balanced_become_what_the_specification_says() {
    let mut numbers = Numbers(28);
    let mut asked = Vec::new();
    for (turn, &format) in PixelFormat::ALL.iter().enumerate() {
        let descriptor = format.descriptor();
        let rgb = match descriptor.luminance {
            Luminance::FromRgb { r, .. } if r.step == 1 => Some((3, 1)),
            Luminance::FromRgb { r, .. } => Some((r.step, 0)),
            Luminance::Stored(_) => None,
        };
        if rgb.is_none() && descriptor.chroma.is_none() {
            continue;
        }
        let size = [(13, 7), (16, 4), (9, 10)][turn % 3];
        let range = [frame::Range::Limited, frame::Range::Full][turn % 2];
        let content = [Content::Noise, Content::Ramp][turn / 2 % 2];
        let frame = Picture { range, content, seed: turn as u64 + 1, ..Picture::new(format, size) }.make();
        for kind in 0..3 {
            let mapping = mapping_of(frame.levels(), kind, &mut numbers);
            let task = Task::new(&frame, Settings::default(), frame.whole()).unwrap();
            let arguments = ColourArguments::new(&frame, &task, &mapping);
            let expected = buffer_of(&mapped(&frame, Chroma::Follow, &mapping), &arguments);
            let planes = frame.planes()[arguments.planes.clone()].iter().zip(&arguments.starts);
            let spans: Vec<_> = planes.map(|(plane, &start)| start..start + plane.rows() * plane.row_bytes()).collect();
            // The kernels for chroma get frames whose stored luma is already mapped.
            let picture =
                if kind < 2 && rgb.is_none() { mapped(&frame, Chroma::Keep, &mapping) } else { frame.clone() };
            let [before, after] = luminances(&frame, &mapping);
            let letter = match (kind, rgb) {
                (2, _) => 'b',
                (_, Some(_)) => 'r',
                (_, None) => 'f',
            };
            let (components, planar) = rgb.unwrap_or_default();
            asked.push((
                format!(
                    "k {} {letter} {components} {planar} {} {} {} {} {} {} {}",
                    descriptor.sample.bytes,
                    arguments.plane_vectors,
                    text(&arguments.words),
                    bytes_as_text(&buffer_of(&picture, &arguments)),
                    bytes_as_text(&before),
                    bytes_as_text(&after),
                    spans.len(),
                    text(&spans.iter().flat_map(|span| [span.start as u32, span.len() as u32]).collect::<Vec<_>>())
                ),
                spans.into_iter().flat_map(|span| expected[span].iter().copied().map(u32::from)).collect(),
            ));
        }
    }
    compare(asked);
}

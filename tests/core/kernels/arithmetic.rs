//! The arithmetic of the CUDA kernels (`kernels/headers/spec.cuh`), compiled for the host and compared with the specification
//! value by value, so that it is tested without a GPU.

use crate::host_program::{Numbers, Program};
use histeq::internal::frame::{Endian, Sample};
use histeq::internal::spec::chroma::{Colours, moved_with_gain};
use histeq::internal::spec::curves::modifiers::{in_bins, limited};
use histeq::internal::spec::curves::tone::{Balance, BalanceOfYuv, KNOTS, Knot, Veil};
use histeq::internal::spec::curves::{Curve, Histogram, Levels, Line};
use histeq::internal::spec::parameters::{Gain, Strength};
use histeq::internal::spec::{self, Weights, moved};

const ARGUMENTS: &str = include_str!("../../../kernels/headers/arguments.cuh");
const ARITHMETIC: &str = include_str!("../../../kernels/headers/spec.cuh");
const PROGRAM: &str = include_str!("arithmetic.cpp");

/// The program's answers; without a C++ compiler, `None` and a note.
fn answers(questions: &[String]) -> Option<Vec<Vec<u32>>> {
    let program =
        Program::new(&[("arguments.cuh", ARGUMENTS), ("spec.cuh", ARITHMETIC), ("main.cpp", PROGRAM)], &["-O2"])?;
    Some(program.answers(questions))
}

/// A random range of levels: its first and its last one.
pub fn range(levels: Levels, numbers: &mut Numbers) -> (u32, u32) {
    let count = levels.count() as u32;
    let first = numbers.below(count);
    (first, first + numbers.below(count - first))
}

/// A line of one to eight segments, some of which are steep or flat.
pub fn line(levels: Levels, numbers: &mut Numbers) -> Line {
    let white = 16 * (levels.count() as u32 - 1);
    let (mut before, mut after) = (numbers.below(white / 3), numbers.below(white / 2));
    let mut points = vec![(before, after)];
    for _ in 0..1 + numbers.below(8) {
        before += 1 + numbers.below(white / 4);
        after += [0, numbers.below(20), numbers.below(white / 2)][numbers.below(3) as usize];
        points.push((before, after));
    }
    Line::through(&points)
}

/// A line in the programs' input format: the number of used knots, and all eight knots.
pub fn text_of(line: &Line) -> String {
    let knot = |index: usize| line.knots().get(index).copied().unwrap_or_default();
    let knots = (0..KNOTS)
        .map(knot)
        .map(|Knot { level: source, becomes: target, slope }| format!(" {source} {target} {slope}"));
    line.knots().len().to_string() + &knots.collect::<String>()
}

/// Difficult histograms of `codes` codes; their sum stays below 2^32.
fn hard_counts(codes: usize, levels: Levels, numbers: &mut Numbers) -> Vec<Vec<u32>> {
    let (lo, hi) = (usize::from(levels.lo()), usize::from(levels.hi()));
    let value_at = |places: &[(usize, u32)]| {
        let mut counts = vec![0; codes];
        for &(code, count) in places {
            counts[code] += count;
        }
        counts
    };
    let mut all = vec![
        value_at(&[(0, 9)]),
        value_at(&[(codes - 1, u32::MAX)]),
        value_at(&[(lo, 1), (hi, 1)]),
        value_at(&[(lo, u32::MAX - 1), (hi, 1)]),
        value_at(&[(lo, 1), (hi, u32::MAX - 1)]),
        value_at(&[(codes / 2, 1), (codes / 2 + 1, 2)]),
        value_at(&[(0, 5), (codes / 3, 7), (codes - 1, 11)]),
        value_at(&[(hi - 1, 3), (codes - 1, 4)]),
        vec![1; codes],
        vec![u32::MAX / codes as u32; codes],
    ];
    for bound in [2, 3, 1000, u32::MAX / codes as u32] {
        all.push((0..codes).map(|_| numbers.below(bound)).collect());
    }
    // A few occupied codes far apart, as in a histogram of many levels and few samples.
    all.push((0..codes).map(|_| if numbers.below(50) == 0 { numbers.below(40) } else { 0 }).collect());
    all
}

#[test]
fn curves_are_those_of_the_specification() {
    let mut numbers = Numbers(1);
    let (mut questions, mut expected) = (Vec::new(), Vec::new());
    for depth in [8, 9, 10, 12, 14, 16] {
        for levels in [Levels::limited(depth), Levels::full(depth)] {
            for counts in hard_counts(levels.codes(), levels, &mut numbers) {
                let share = [1.0, 1.0, 0.5, 0.004, 0.0][questions.len() % 5];
                let strength = Strength::from_share(share).unwrap();
                let curve = Curve::equalizing(&Histogram::from_codes(levels, &counts)).blended(
                    levels,
                    &Line::IDENTITY,
                    strength,
                );
                expected.push(curve.codes().to_vec());
                let counts = counts.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
                let (lo, hi, codes) = (levels.lo(), levels.hi(), levels.codes());
                questions.push(format!("c {lo} {hi} {} {codes} {counts}", strength.to_256ths()));
            }
        }
    }
    let Some(answers) = answers(&questions) else { return };
    for ((question, answer), expected) in questions.iter().zip(answers).zip(expected) {
        assert!(answer.iter().copied().eq(expected.into_iter().map(u32::from)), "{question:.200}");
    }
}

#[test]
fn curves_of_modified_histograms_are_those_of_the_specification() {
    let mut numbers = Numbers(3);
    let (mut questions, mut expected) = (Vec::new(), Vec::new());
    for depth in [8, 10, 12, 16] {
        for levels in [Levels::limited(depth), Levels::full(depth)] {
            for counts in hard_counts(levels.codes(), levels, &mut numbers) {
                let turn = questions.len();
                // Windows of a single frame, and of many frames with many samples.
                let times = [1u64, 25, 7, 511][turn % 4];
                let window = Histogram::from_codes(levels, &counts);
                let window =
                    Histogram::from_counts(levels, window.counts().iter().map(|count| count * times).collect());
                if window.is_flat() {
                    continue;
                }
                let asked = [None, None, Some(2), Some(37), Some(1000)][turn % 5];
                let white = levels.count() as u32 - 1;
                let ceiling = if turn % 3 == 1 { numbers.below(white) } else { white };
                let gain = Gain::from_slope([0.0, 1.0, 3.0, 40.0, 2.77][turn / 3 % 5]).unwrap();
                let strength = Strength::from_share([1.0, 0.6][turn % 2]).unwrap();
                let range = if turn % 7 < 3 { (0, levels.count() as u32 - 1) } else { range(levels, &mut numbers) };
                let line = if turn % 5 < 2 { Line::IDENTITY } else { line(levels, &mut numbers) };
                let modified = limited(&in_bins(&window, asked), gain, range);
                let curve = Curve::equalizing_up_to(&modified, ceiling).blended(levels, &line, strength);
                expected.push(curve.kept_under(levels, ceiling).codes().to_vec());
                let bins = spec::parameters::bins(levels, asked);
                let bins = if bins == levels.count() { 0 } else { bins };
                let counts = window.counts().iter().map(u64::to_string).collect::<Vec<_>>().join(" ");
                questions.push(format!(
                    "e {} {} {} {} {bins} {} {} {} {} {} {counts}",
                    levels.lo(),
                    levels.hi(),
                    strength.to_256ths(),
                    levels.codes(),
                    gain.to_256ths().unwrap_or(0),
                    ceiling,
                    range.0,
                    range.1 - range.0 + 1,
                    text_of(&line),
                ));
            }
        }
    }
    let Some(answers) = answers(&questions) else { return };
    for ((question, answer), expected) in questions.iter().zip(answers).zip(expected) {
        assert!(answer.iter().copied().eq(expected.into_iter().map(u32::from)), "{question:.200}");
    }
}

#[test]
fn luminance_moves_and_samples_are_those_of_the_specification() {
    let mut numbers = Numbers(2);
    let (mut questions, mut expected) = (Vec::new(), Vec::new());
    for round in 0..20_000 {
        let depth = 8 + numbers.below(9);
        let max = (1u32 << depth) - 1;
        // Half of the values are an end of the range.
        let mut code = || match numbers.below(4) {
            0 => 0,
            1 => max,
            _ => numbers.below(max + 1),
        };
        let rgb = [code(), code(), code()];
        let [component, source, target] = [code(), code(), code()];
        let weights = [Weights::BT601, Weights::BT709, Weights::BT2020][round % 3];
        let Weights { r, g, b } = weights;
        questions.push(format!("l {r} {} {g} {} {b} {}", rgb[0], rgb[1], rgb[2]));
        expected.push(vec![u32::from(weights.luminance(rgb.map(|code| code as u16)))]);
        questions.push(format!("m {component} {source} {target} {max}"));
        expected.push(vec![u32::from(moved(component as u16, source as u16, target as u16, max as u16))]);

        let depth = depth.max(9) as u8;
        let shift = if round % 2 == 0 { 0 } else { 16 - depth };
        let endian = if round % 3 == 0 { Endian::Big } else { Endian::Little };
        let sample = Sample { depth, bytes: 2, shift, endian };
        let word = numbers.next();
        questions.push(format!("s {word} {} {shift} {}", u32::from(endian == Endian::Big), sample.max()));
        let row = word.to_le_bytes();
        expected.push([0, 1].map(|index| u32::from(sample.read(&row, index))).to_vec());
    }
    let Some(answers) = answers(&questions) else { return };
    for ((question, answer), expected) in questions.iter().zip(answers).zip(expected) {
        assert_eq!(answer, expected, "{question}");
    }
}

#[test]
fn gains_of_colour_and_balances_are_those_of_the_specification() {
    let mut numbers = Numbers(5);
    let (mut questions, mut expected) = (Vec::new(), Vec::new());
    for round in 0..20_000 {
        let depth = 8 + numbers.below(9) as u8;
        let levels = if round % 2 == 0 { Levels::limited(depth) } else { Levels::full(depth) };
        let weights = [Weights::BT601, Weights::BT709, Weights::BT2020][round % 3];
        let colours = Colours::new(levels, weights);
        let max = (1u32 << depth) - 1;
        let mut code = || match numbers.below(4) {
            0 => 0,
            1 => max,
            _ => numbers.below(max + 1),
        } as u16;
        let ([chroma, cb, cr], [source, target]) = ([code(), code(), code()], [code(), code()]);
        let gain = [4096, 0, u32::MAX, numbers.below(40_000), numbers.below(4_000_000)][numbers.below(5) as usize];
        let Colours { centre, reach, .. } = colours;
        questions.push(format!("f {chroma} {gain} {centre} {reach}"));
        expected.push(vec![i64::from(colours.followed(chroma, gain))]);
        questions.push(format!("g {chroma} {source} {target} {gain} {max}"));
        expected.push(vec![i64::from(moved_with_gain([chroma; 3], source, target, gain, max as u16)[0])]);

        let mut offset = || numbers.below(64 * max) as i32 - 32 * max as i32;
        let offsets = [offset(), offset(), offset()];
        let balance = Balance { gains: std::array::from_fn(|_| numbers.below(50_000)), offsets };
        let rgb = [chroma, cb, cr];
        for (channel, becomes) in balance.rgb(rgb, max as u16).into_iter().enumerate() {
            questions.push(format!("b {} {} {} {max}", rgb[channel], balance.gains[channel], offsets[channel]));
            expected.push(vec![i64::from(becomes)]);
        }
        let sums = BalanceOfYuv::new(&balance, &colours, weights);
        let before = [levels.level_of(source) as i32, i32::from(cb) - centre, i32::from(cr) - centre];
        let factors: Vec<String> = sums.rows.iter().flatten().map(i64::to_string).collect();
        questions.push(format!("y {} {} {} {}", factors.join(" "), before[0], before[1], before[2]));
        expected.push((0..3).map(|row| i64::from(sums.sum(row, before))).collect());
    }
    for _ in 0..300 {
        let size = (1 + numbers.below(3000) as usize, 1 + numbers.below(2000) as usize);
        let mut value_of = || std::array::from_fn(|_| std::array::from_fn(|_| numbers.below(60_000)));
        let veil =
            Veil { taken: value_of(), gains: value_of(), chroma: value_of(), then: None, in_light: None, ceiling: 255 };
        let tiles = Veil::tiles(size);
        let gains: Vec<String> = veil.chroma.as_flattened().iter().map(u32::to_string).collect();
        let places = (0..30).map(|_| (numbers.below(size.0 as u32) as usize, numbers.below(size.1 as u32) as usize));
        let places: Vec<(usize, usize)> = places.collect();
        let text: Vec<String> = places.iter().map(|(x, y)| format!("{x} {y}")).collect();
        questions.push(format!("v {} {} {} 30 {}", tiles.width, tiles.height, gains.join(" "), text.join(" ")));
        expected.push(places.iter().map(|&(x, y)| i64::from(veil.chroma_gain(&tiles, x, y))).collect());
    }
    let Some(answers) = answers(&questions) else { return };
    for ((question, answer), expected) in questions.iter().zip(answers).zip(expected) {
        // The program prints negative numbers in two's complement.
        assert!(
            answer.iter().copied().eq(expected.iter().map(|&number| number as u32)),
            "{question}: {answer:?} {expected:?}"
        );
    }
}

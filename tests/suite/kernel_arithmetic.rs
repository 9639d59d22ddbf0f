//! The arithmetic that the CUDA kernels are made of (`kernels/spec.cuh`), compiled for the host and compared with the
//! specification value by value: what a machine without a GPU can say about them.

use crate::host_program::{Numbers, Program};
use histeq_video::frame::{Endian, Sample};
use histeq_video::spec::chroma::{Colours, Covered, rescaled};
use histeq_video::spec::modifiers::{in_bins, limited};
use histeq_video::spec::{self, Curve, Gain, Histogram, Levels, Line, Strength, Weights, moved};

const ARGUMENTS: &str = include_str!("../../kernels/arguments.cuh");
const ARITHMETIC: &str = include_str!("../../kernels/spec.cuh");
const PROGRAM: &str = include_str!("kernel_arithmetic.cpp");

/// The program's answers; `None`, and said so, where there is no C++ compiler.
fn answers(questions: &[String]) -> Option<Vec<Vec<u32>>> {
    let program =
        Program::of(&[("arguments.cuh", ARGUMENTS), ("spec.cuh", ARITHMETIC), ("main.cpp", PROGRAM)], &["-O2"])?;
    Some(program.answers(questions))
}

/// Counts of `codes` codes that are hard in some way; their sum stays below 2^32.
fn hard_counts(codes: usize, levels: Levels, numbers: &mut Numbers) -> Vec<Vec<u32>> {
    let (lo, hi) = (usize::from(levels.lo()), usize::from(levels.hi()));
    let at = |places: &[(usize, u32)]| {
        let mut counts = vec![0; codes];
        for &(code, count) in places {
            counts[code] += count;
        }
        counts
    };
    let mut all = vec![
        at(&[(0, 9)]),
        at(&[(codes - 1, u32::MAX)]),
        at(&[(lo, 1), (hi, 1)]),
        at(&[(lo, u32::MAX - 1), (hi, 1)]),
        at(&[(lo, 1), (hi, u32::MAX - 1)]),
        at(&[(codes / 2, 1), (codes / 2 + 1, 2)]),
        at(&[(0, 5), (codes / 3, 7), (codes - 1, 11)]),
        at(&[(hi - 1, 3), (codes - 1, 4)]),
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
                let curve = Curve::equalizing(&Histogram::from_codes(levels, &counts)).blended(levels, &Line::IDENTITY, strength);
                expected.push(curve.codes().to_vec());
                let counts = counts.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
                let (lo, hi, codes) = (levels.lo(), levels.hi(), levels.codes());
                questions.push(format!("c {lo} {hi} {} {codes} {counts}", strength.of_256()));
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
                // Windows of one frame, and of many large ones.
                let times = [1u64, 25, 7, 511][turn % 4];
                let window = Histogram::from_codes(levels, &counts);
                let window =
                    Histogram::from_counts(levels, window.counts().iter().map(|count| count * times).collect());
                if window.is_flat() {
                    continue;
                }
                let asked = [None, None, Some(2), Some(37), Some(1000)][turn % 5];
                let cap = [None, Some(3 * times), Some(70_000 * times)][turn % 3];
                let gain = Gain::from_slope([0.0, 1.0, 3.0, 40.0, 2.77][turn / 3 % 5]).unwrap();
                let strength = Strength::from_share([1.0, 0.6][turn % 2]).unwrap();
                let modified = limited(&in_bins(&window, asked, cap), gain, (0, levels.count() as u32 - 1));
                expected.push(Curve::equalizing(&modified).blended(levels, &Line::IDENTITY, strength).codes().to_vec());
                let bins = spec::bins(levels, asked);
                let bins = if bins == levels.count() { 0 } else { bins };
                let counts = window.counts().iter().map(u64::to_string).collect::<Vec<_>>().join(" ");
                questions.push(format!(
                    "e {} {} {} {} {bins} {} {} {counts}",
                    levels.lo(),
                    levels.hi(),
                    strength.of_256(),
                    levels.codes(),
                    gain.of_256().unwrap_or(0),
                    cap.unwrap_or(0),
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
        // Every other value is an end of the range.
        let mut code = || match numbers.below(4) {
            0 => 0,
            1 => max,
            _ => numbers.below(max + 1),
        };
        let rgb = [code(), code(), code()];
        let [component, from, to] = [code(), code(), code()];
        let weights = [Weights::BT601, Weights::BT709, Weights::BT2020][round % 3];
        let Weights { r, g, b } = weights;
        questions.push(format!("l {r} {} {g} {} {b} {}", rgb[0], rgb[1], rgb[2]));
        expected.push(vec![u32::from(weights.luminance(rgb.map(|code| code as u16)))]);
        questions.push(format!("m {component} {from} {to} {max}"));
        expected.push(vec![u32::from(moved(component as u16, from as u16, to as u16, max as u16))]);

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
fn scaled_chroma_is_that_of_the_specification() {
    let mut numbers = Numbers(4);
    let (mut questions, mut expected) = (Vec::new(), Vec::new());
    for round in 0..40_000 {
        let depth = 8 + numbers.below(9) as u8;
        let levels = if round % 2 == 0 { Levels::limited(depth) } else { Levels::full(depth) };
        let weights = [Weights::BT601, Weights::BT709, Weights::BT2020][round % 3];
        let colours = Colours::new(levels, weights);
        let max = (1u32 << depth) - 1;
        // Every other value is an end of the range, or near to the middle.
        let mut code = |middle: u32| match numbers.below(8) {
            0 => 0,
            1 => max,
            2 | 3 => middle + numbers.below(20),
            _ => numbers.below(max + 1),
        };
        let pair = [code(max / 2 - 10), code(max / 2 - 10)];
        let rgb = [code(0), code(0), code(0)];
        let (from, to) = (u32::from(weights.luminance(rgb.map(|code| code as u16))), code(0));
        let samples = [1, 2, 3, 4, 8, 16][round % 6];
        let mut sum = || (0..samples).map(|_| code(0).saturating_sub(u32::from(colours.black))).sum();
        let covered = Covered { before: sum(), after: sum(), samples };
        let Colours { black, span, centre, reach, red, green_of_cb, green_of_cr, blue } = colours;
        questions.push(format!(
            "p {black} {span} {centre} {reach} {red} {green_of_cb} {green_of_cr} {blue} {} {} {} {} {samples}",
            pair[0], pair[1], covered.before, covered.after,
        ));
        expected.push(colours.pair(pair.map(|code| code as u16), covered).map(u32::from).to_vec());
        questions.push(format!("r {} {} {} {from} {to} {max}", rgb[0], rgb[1], rgb[2]));
        let rescaled = rescaled(rgb.map(|code| code as u16), from as u16, to as u16, max as u16);
        expected.push(rescaled.map(u32::from).to_vec());
    }
    let Some(answers) = answers(&questions) else { return };
    for ((question, answer), expected) in questions.iter().zip(answers).zip(expected) {
        assert_eq!(answer, expected, "{question}");
    }
}

//! Kernel variants: the publications' arithmetic calculated by hand, and, on a GPU, every variant against plain loops.

use crate::support::backends::{Sequence, by_reference, gpu};
use crate::support::host_program::Numbers;
use crate::support::pictures::{Content, Picture, difference};
use histeq::Named;
use histeq::internal::cuda::{Error, Gpu};
use histeq::internal::equalize::backend::cuda::Cuda;
use histeq::internal::frame::PixelFormat;
use histeq::internal::spec::parameters::{Gain, Plateau, Rect, Region, Settings, Smoothing, Strength};
use histeq_lab::publications::{
    CdfMin, Elements, Experiment, Formula, HistogramVariant, HostMemory, KernelBench, KernelRepeats, KernelStep,
    LaunchShape, MapVariant, PixelOrder, PublishedSetup, SETUPS, ScanVariant, Variants, Walk,
};

/// The samples of figure 2 of cuda-three-scans.
const FIGURE_2: [u8; 64] = [
    52, 55, 61, 59, 79, 61, 76, 61, 62, 59, 55, 104, 94, 85, 59, 71, 63, 65, 66, 113, 144, 104, 63, 72, 64, 70, 70,
    126, 154, 109, 71, 69, 67, 73, 68, 106, 122, 88, 68, 68, 68, 79, 60, 70, 77, 66, 58, 75, 69, 85, 64, 58, 55, 61,
    65, 83, 70, 87, 69, 68, 65, 73, 78, 90,
];

/// The samples of figure 5 of cuda-three-scans, which are those of figure 2 equalized.
const FIGURE_5: [u8; 64] = [
    0, 12, 53, 32, 190, 53, 174, 53, 57, 32, 12, 227, 219, 202, 32, 154, 65, 85, 93, 239, 251, 227, 65, 158, 73, 146,
    146, 247, 255, 235, 154, 130, 97, 166, 117, 231, 243, 210, 117, 117, 117, 190, 36, 146, 178, 93, 20, 170, 130, 202,
    73, 20, 12, 53, 85, 194, 146, 206, 130, 117, 85, 166, 182, 215,
];

fn counts_of(elements: &[u32], bins: u32) -> Vec<u32> {
    let mut counts = vec![0; bins as usize];
    elements.iter().for_each(|&element| counts[element.min(bins - 1) as usize] += 1);
    counts
}

fn figure_2() -> Vec<u32> {
    counts_of(&FIGURE_2.map(u32::from), 256)
}

#[test]
fn the_program_of_three_scans_makes_figure_5_and_its_equation_does_not() {
    let counts = figure_2();
    let through = |curve: Vec<u16>| FIGURE_2.map(|level| curve[usize::from(level)] as u8);
    assert_eq!(through(Formula::Product32.curve(&counts)), FIGURE_5);
    assert_eq!(through(Formula::exact(&counts)), FIGURE_5);
    let floored = through(Formula::EquationFloor.curve(&counts));
    // Level 61: 13 of 63 samples lie above the darkest, 13 * 255 / 63 is 52.6. Level 55: 3 * 255 / 63 is 12.1.
    assert_eq!((floored[2], floored[1]), (52, 12));
    assert!(floored.iter().zip(FIGURE_5).all(|(&floored, rounded)| rounded - floored <= 1));
    assert_eq!(Formula::EquationFloor.differing(&counts), 31);
}

#[test]
fn without_a_minimum_the_darkest_level_is_no_black() {
    let curve = Formula::FloorNoMin.curve(&figure_2());
    // One of 64 samples is at most 52, four are at most 55, all are at most 154: 255 / 64, 4 * 255 / 64, 255.
    assert_eq!((curve[52], curve[55], curve[154]), (3, 15, 255));
}

#[test]
fn the_float_scale_agrees_on_a_small_picture() {
    assert_eq!(Formula::FloatRound.differing(&figure_2()), 0);
    assert_eq!(Formula::WrongMin.differing(&figure_2()), 0);
    assert_eq!(Formula::FloatScan.differing(&figure_2()), 0);
}

#[test]
fn every_document_has_its_setups() {
    for publication in [
        "cuda-naive-vs-optimized",
        "cuda-4096-bins-saturated",
        "cuda-rgb-luminance-histogram",
        "cuda-three-scans",
        "opencl-blelloch-scan",
    ] {
        assert!(SETUPS.iter().any(|setup| setup.publication == publication), "{publication}");
    }
}

/// No warm-up, because the tests check results, not times.
const ONCE: KernelRepeats = KernelRepeats { warm_up: 0, measured: 2, launches: 2 };

fn kernel_bench() -> Option<KernelBench> {
    gpu().map(|gpu| KernelBench::new(gpu).unwrap())
}

/// Elements of which most belong to a bin, and some are in runs, as in real pictures.
fn elements(count: usize, bins: u32, highest: u32, numbers: &mut Numbers) -> Vec<u32> {
    let mut last = 0;
    let mut next = || {
        last = match numbers.below(8) {
            0..3 => last,
            3 => highest,
            _ => numbers.below(bins),
        };
        last
    };
    (0..count).map(|_| next()).collect()
}

/// Calls `work` with the elements, stored with this number of bytes each.
fn stored<T>(elements: &[u32], bytes: u8, work: impl FnOnce(Elements) -> T) -> T {
    match bytes {
        1 => work(Elements::U8(&elements.iter().map(|&element| element as u8).collect::<Vec<_>>())),
        2 => work(Elements::U16(&elements.iter().map(|&element| element as u16).collect::<Vec<_>>())),
        _ => work(Elements::U32(elements)),
    }
}

fn highest_of(bytes: u8) -> u32 {
    (u64::MAX >> (64 - 8 * bytes)) as u32
}

const SIZES: [(usize, usize); 6] = [(1, 1), (15, 1), (1, 10_000), (61, 7), (641, 359), (1920, 1080)];

fn shapes() -> Vec<LaunchShape> {
    let walks = Walk::ALL.iter().map(|&walk| LaunchShape { walk, ..LaunchShape::DEFAULT });
    let blocks = LaunchShape { blocks: Some(120), ..LaunchShape::DEFAULT };
    walks.chain([blocks, LaunchShape { walk: Walk::Consecutive, ..blocks }]).collect()
}

/// The result; `None` if the variant is refused, with a reason. Any other error fails the test.
fn unless_refused<T>(result: Result<T, Error>) -> Option<T> {
    match result {
        Ok(done) => Some(done),
        Err(Error::Refused { reason }) => {
            assert!(reason.len() > 20, "{reason}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn every_histogram_variant_counts_right() {
    let Some(kernel_bench) = kernel_bench() else { return };
    let mut numbers = Numbers(21);
    let kinds = [(1, 256), (1, 100), (2, 256), (2, 1000), (2, 4096), (2, 65536), (4, 4096), (4, 50_000), (4, 65536)];
    let mut done = 0;
    for (bytes, bins) in kinds {
        for (width, height) in SIZES {
            let elements = elements(width * height, bins, highest_of(bytes), &mut numbers);
            let expected = counts_of(&elements, bins);
            let plane =
                stored(&elements, bytes, |elements| kernel_bench.put(elements, (width, height), bins, 2)).unwrap();
            for &histogram in HistogramVariant::ALL {
                for (index, shape) in shapes().into_iter().enumerate() {
                    let sizes = Variants::BLOCK_SIZES.into_iter().map(Some).chain([None]);
                    for block_size in sizes {
                        // One thread an element makes far too many sums of windows of this size.
                        let pixels = [None, Some(64), Some(256), Some(7)][(index + done) % 4];
                        let pixels = if shape.walk == Walk::Tiles { None } else { pixels };
                        let variants = Variants {
                            histogram: Some(histogram),
                            block_size,
                            pixels_per_thread: pixels,
                            ..Variants::default()
                        };
                        let experiment = Experiment { variants, shape, ..Experiment::default() };
                        let Some(found) = unless_refused(kernel_bench.histogram(&plane, &experiment, ONCE)) else {
                            continue;
                        };
                        assert!(found.result == expected, "{bytes} {bins} {width}x{height} {experiment:?}");
                        assert_eq!(found.times.len(), 2);
                        done += 1;
                    }
                }
            }
        }
    }
    assert!(done > 5000, "{done} of them were not refused");
}

#[test]
fn every_scan_variant_sums_up_right() {
    let Some(kernel_bench) = kernel_bench() else { return };
    let mut numbers = Numbers(22);
    for bins in [2, 100, 256, 257, 1000, 1024, 4096, 16384, 50_000, 65536] {
        let counts: Vec<u32> = (0..bins).map(|_| numbers.below(60_000)).collect();
        let expected = Formula::TruncatedLuminance.cumulative(&counts);
        for &scan in ScanVariant::ALL {
            for block_size in Variants::BLOCK_SIZES.into_iter().map(Some).chain([None]) {
                let variants = Variants { scan: Some(scan), block_size, ..Variants::default() };
                let experiment = Experiment { variants, ..Experiment::default() };
                let found = kernel_bench.scan(&counts, &experiment, ONCE).unwrap();
                assert!(found.result == expected, "{bins} {experiment:?}");
            }
        }
    }
}

/// Histograms with black samples, without black samples, and of a single level.
fn hard_counts(bins: usize, numbers: &mut Numbers) -> Vec<Vec<u32>> {
    let mut random = |bound: u32| (0..bins).map(|_| numbers.below(bound)).collect::<Vec<u32>>();
    let mut all = vec![random(3), random(1000), random((1 << 31) / bins as u32)];
    all.push((0..bins).map(|bin| u32::from(bin > bins / 2) * (bin % 90) as u32).collect());
    all.push((0..bins).map(|bin| u32::from(bin == bins / 3) * 77).collect());
    all.iter_mut().for_each(|counts| counts[bins - 1] += 1);
    all
}

#[test]
fn cdf_min_curves_and_saturation_are_those_of_plain_loops() {
    let Some(kernel_bench) = kernel_bench() else { return };
    let mut numbers = Numbers(23);
    for bins in [2, 100, 256, 4096, 65536] {
        for counts in hard_counts(bins, &mut numbers) {
            let cut: Vec<u32> = counts.iter().map(|&count| count.min(256)).collect();
            assert_eq!(kernel_bench.saturation(&counts, 256, ONCE).unwrap().result, cut);
            for formula in [None].into_iter().chain(Formula::ALL.iter().copied().map(Some)) {
                let plain = formula.unwrap_or(Formula::TruncatedLuminance);
                // The curve needs the number of samples, which is not the last sum of this formula.
                if plain == Formula::StaleBuffer {
                    continue;
                }
                let cdf = plain.cumulative(&counts);
                let least = plain.cdf_min(&cdf);
                let in_curve = Variants { cdf_min: Some(CdfMin::InCurve), ..Variants::default() };
                for &cdf_min in CdfMin::ALL {
                    let variants = Variants { cdf_min: Some(cdf_min), ..Variants::default() };
                    let experiment = Experiment { variants, formula, ..Experiment::default() };
                    assert_eq!(kernel_bench.cdf_min(&cdf, &experiment, ONCE).unwrap().result, least, "{experiment:?}");
                }
                let expected = if formula.is_some() { plain.curve(&counts) } else { Formula::exact(&counts) };
                for variants in [Variants::default(), in_curve] {
                    let experiment = Experiment { variants, formula, ..Experiment::default() };
                    let found = kernel_bench.curve(&cdf, least, &experiment, ONCE).unwrap().result;
                    assert!(found == expected, "{bins} {experiment:?}");
                }
            }
        }
    }
}

#[test]
fn every_map_variant_maps_right() {
    let Some(kernel_bench) = kernel_bench() else { return };
    let mut numbers = Numbers(24);
    for (bytes, bins) in [(1u8, 256), (1, 90), (2, 1000), (2, 4096), (2, 65536), (4, 4096), (4, 65536)] {
        let curve: Vec<u16> = (0..bins).map(|_| numbers.below(highest_of(bytes).min(65535)) as u16).collect();
        for (width, height) in SIZES {
            let elements = elements(width * height, bins, highest_of(bytes), &mut numbers);
            let mapped = elements.iter().flat_map(|&element| {
                let code = u32::from(curve[element.min(bins - 1) as usize]);
                code.to_le_bytes().into_iter().take(usize::from(bytes))
            });
            let expected: Vec<u8> = mapped.collect();
            let plane =
                stored(&elements, bytes, |elements| kernel_bench.put(elements, (width, height), bins, 1)).unwrap();
            for &map in MapVariant::ALL.iter().filter(|map| !map.is_computed()) {
                for shape in shapes() {
                    for block_size in [None, Some(64), Some(1024)] {
                        let variants = Variants { map: Some(map), block_size, ..Variants::default() };
                        let experiment = Experiment { variants, shape, ..Experiment::default() };
                        let Some(found) = unless_refused(kernel_bench.map(&plane, &curve, &experiment, ONCE)) else {
                            continue;
                        };
                        assert!(found.result == expected, "{bytes} {bins} {width}x{height} {experiment:?}");
                    }
                }
            }
        }
    }
}

/// Pixels of noise, and their luminance by a formula.
fn pixels(order: PixelOrder, count: usize, formula: Formula, numbers: &mut Numbers) -> (Vec<u8>, Vec<u32>) {
    let bytes: Vec<u8> = (0..count * order.bytes()).map(|_| numbers.next() as u8).collect();
    let luminance = |pixel: &[u8]| match order {
        PixelOrder::Bgra => formula.luminance([pixel[2], pixel[1], pixel[0]]),
        PixelOrder::Rgb => formula.luminance([pixel[0], pixel[1], pixel[2]]),
    };
    let luminances = bytes.chunks_exact(order.bytes()).map(|pixel| u32::from(luminance(pixel))).collect();
    (bytes, luminances)
}

#[test]
fn luminance_is_counted_right_by_either_formula() {
    let Some(kernel_bench) = kernel_bench() else { return };
    let mut numbers = Numbers(25);
    for order in [PixelOrder::Bgra, PixelOrder::Rgb] {
        for (width, height) in SIZES {
            for formula in [None, Some(Formula::TruncatedLuminance)] {
                let plain = formula.unwrap_or(Formula::EquationFloor);
                let (bytes, luminances) = pixels(order, width * height, plain, &mut numbers);
                let plane = kernel_bench.put_pixels(&bytes, order, (width, height), 1).unwrap();
                for shape in shapes() {
                    let variants = Variants { block_size: Some(128), ..Variants::default() };
                    let pixels_per_thread = if shape.walk == Walk::Tiles { None } else { Some(64) };
                    let histogram = (shape.walk == Walk::Tiles).then_some(HistogramVariant::Privatized);
                    let variants = Variants { pixels_per_thread, histogram, ..variants };
                    let experiment = Experiment { variants, shape, formula, ..Experiment::default() };
                    let found = kernel_bench.histogram(&plane, &experiment, ONCE).unwrap();
                    assert_eq!(found.result, counts_of(&luminances, 256), "{width}x{height} {experiment:?}");
                }
            }
        }
    }
}

/// Uploads random elements for a setup, and returns their bins, too.
fn put(
    kernel_bench: &KernelBench,
    setup: &PublishedSetup,
    numbers: &mut Numbers,
) -> (histeq_lab::publications::DevicePlane, Vec<u32>) {
    let size = (1280, 1024);
    if setup.is_luminance {
        let formula = setup.formula.unwrap_or(Formula::EquationFloor);
        let (bytes, luminances) = pixels(PixelOrder::Bgra, size.0 * size.1, formula, numbers);
        return (kernel_bench.put_pixels(&bytes, PixelOrder::Bgra, size, 2).unwrap(), luminances);
    }
    let elements = elements(size.0 * size.1, setup.bins, setup.bins - 1, numbers);
    let plane =
        stored(&elements, setup.element_bytes, |elements| kernel_bench.put(elements, size, setup.bins, 2)).unwrap();
    (plane, elements)
}

#[test]
fn the_documents_equalize_as_their_formulas_say() {
    let Some(kernel_bench) = kernel_bench() else { return };
    let mut numbers = Numbers(26);
    for setup in SETUPS {
        let (plane, elements) = put(&kernel_bench, &setup, &mut numbers);
        let formulas = [setup.formula, None, Some(Formula::StaleBuffer), Some(Formula::FloatScan)];
        for formula in formulas.into_iter().take(if setup.is_luminance || setup.bins > 256 { 1 } else { 4 }) {
            let experiment =
                Experiment { variants: setup.variants, shape: setup.shape, saturated_at: setup.saturated_at, formula };
            // The map of opencl-blelloch-scan supports only its own formulas.
            let Some(run) = unless_refused(kernel_bench.equalize(&plane, &experiment, ONCE)) else {
                assert_eq!((setup.publication, formula), ("opencl-blelloch-scan", Some(Formula::StaleBuffer)));
                continue;
            };
            let most = setup.saturated_at.unwrap_or(u32::MAX);
            let counts: Vec<u32> = counts_of(&elements, setup.bins).into_iter().map(|count| count.min(most)).collect();
            assert_eq!(run.counts, counts, "{experiment:?}");
            let plain = formula.unwrap_or(Formula::TruncatedLuminance);
            assert_eq!(run.cdf, plain.cumulative(&counts), "{experiment:?}");
            let curve = formula.map_or_else(|| Formula::exact(&counts), |formula| formula.curve(&counts));
            assert_eq!(run.curve, curve, "{experiment:?}");
            let through = |&element: &u32| u32::from(curve[element as usize]).to_le_bytes();
            let bytes = usize::from(setup.element_bytes);
            let picture: Vec<u8> =
                elements.iter().flat_map(|element| through(element).into_iter().take(bytes)).collect();
            assert!(run.picture == if setup.is_luminance { Vec::new() } else { picture }, "{experiment:?}");
            assert!(run.steps.iter().all(|step| step.times.len() == 2) && run.total.len() == 2);
            let has_least = run.steps.iter().any(|step| step.step == KernelStep::CdfMin);
            let finds_it = setup.variants.cdf_min == Some(CdfMin::InCurve)
                || setup.variants.map == Some(MapVariant::GroupMin)
                || formula.is_some_and(|formula| !formula.has_minimum());
            assert_eq!(has_least, !finds_it, "{experiment:?}");
            if !setup.is_luminance && setup.variants.map.is_some_and(MapVariant::is_computed) {
                let elements: Vec<u8> = elements.iter().map(|&element| element as u8).collect();
                let found =
                    kernel_bench.equalize_with_read_backs(Elements::U8(&elements), (1280, 1024), 256, &experiment);
                assert!(found.unwrap() == run.picture, "{experiment:?}");
            }
        }
    }
}

#[test]
fn the_tuned_kernels_are_measured_on_the_same_bytes() {
    let Some(kernel_bench) = kernel_bench() else { return };
    let mut numbers = Numbers(27);
    for (bytes, bins) in [(1, 256), (2, 1024), (2, 4096), (2, 65536)] {
        let elements = elements(641 * 359, bins, bins - 1, &mut numbers);
        let plane = stored(&elements, bytes, |elements| kernel_bench.put(elements, (641, 359), bins, 3)).unwrap();
        let tuned = kernel_bench.tuned(&plane, ONCE).unwrap();
        let run = kernel_bench.equalize(&plane, &Experiment::default(), ONCE).unwrap();
        assert_eq!(tuned.counts, run.counts);
        assert_eq!(tuned.curve, run.curve);
        assert!(tuned.picture == run.picture, "{bins}");
        assert_eq!(tuned.steps.len(), 3);
    }
    let odd = kernel_bench.put(Elements::U32(&[1, 2, 3]), (3, 1), 4, 1).unwrap();
    assert!(matches!(kernel_bench.tuned(&odd, ONCE), Err(Error::Refused { .. })));
    for memory in [HostMemory::Pageable, HostMemory::Pinned] {
        let transfer = kernel_bench.transfer(&odd, memory, ONCE).unwrap();
        assert_eq!((transfer.upload.len(), transfer.download.len()), (2, 2));
    }
}

#[test]
fn what_a_variant_cannot_do_is_refused_with_a_reason() {
    let Some(kernel_bench) = kernel_bench() else { return };
    let plane = kernel_bench.put(Elements::U8(&[7; 64]), (8, 8), 256, 1).unwrap();
    let refused = |variants: Variants, shape: LaunchShape| {
        let experiment = Experiment { variants, shape, ..Experiment::default() };
        matches!(kernel_bench.histogram(&plane, &experiment, ONCE), Err(Error::Refused { .. }))
    };
    let tiles = LaunchShape { walk: Walk::Tiles, ..LaunchShape::DEFAULT };
    assert!(refused(Variants::default(), tiles));
    assert!(refused(Variants { block_size: Some(96), ..Variants::default() }, LaunchShape::DEFAULT));
    assert!(refused(Variants { pixels_per_thread: Some(300), ..Variants::default() }, LaunchShape::DEFAULT));
    assert!(matches!(kernel_bench.put(Elements::U8(&[7; 64]), (8, 8), 512, 1), Err(Error::Refused { .. })));
    assert!(matches!(kernel_bench.put(Elements::U8(&[]), (0, 8), 256, 1), Err(Error::Refused { .. })));
}

/// Settings whose curves are computed differently: by the scan variant, and by the tuned kernel from a variant's
/// histogram.
fn ways() -> [Settings; 4] {
    let region = Region::Fixed(Rect { x: 3, y: 2, width: 29, height: 17 });
    [
        Settings::default(),
        Settings { region, ..Settings::default() },
        Settings { strength: Strength::from_share(0.5).unwrap(), ..Settings::default() },
        Settings {
            smoothing: Smoothing::new(3, 1),
            plateau: Plateau::Count(50),
            max_gain: Gain::from_slope(3.0).unwrap(),
            ..Settings::default()
        },
    ]
}

#[test]
fn frames_through_variants_are_those_of_the_reference() {
    if gpu().is_none() {
        return;
    }
    let formats = [
        PixelFormat::Gray,
        PixelFormat::Yuyv422,
        PixelFormat::Nv12,
        PixelFormat::Yuv420p9be,
        PixelFormat::P010le,
        PixelFormat::Gray16be,
        PixelFormat::Ya16le,
        PixelFormat::Bgra,
        PixelFormat::Gbrp12be,
    ];
    let scans = ScanVariant::ALL.iter().copied().map(Some).chain([None]);
    let histograms = HistogramVariant::ALL.iter().copied().map(Some).chain([None]).cycle();
    for (turn, (scan, histogram)) in scans.zip(histograms).enumerate() {
        let block_size = [None, Some(64), Some(256), Some(1024)][turn % 4];
        let pixels_per_thread = [None, Some(256), Some(5)][turn % 3];
        let variants = Variants { histogram, scan, block_size, pixels_per_thread, ..Variants::default() };
        let gpu = Gpu::open_with(0, Some(&variants)).unwrap();
        for settings in ways() {
            let mut cuda = Sequence::new(Box::new(Cuda::on(&gpu, 2).unwrap()), settings);
            for format in formats {
                let mut reference = by_reference(settings);
                for (content, size) in [
                    (Content::Noise, (641, 359)),
                    (Content::Ramp, (641, 359)),
                    (Content::Flat, (641, 359)),
                    (Content::TwoLevel, (15, 3)),
                    (Content::NearMax, (1, 1)),
                ] {
                    let frame = Picture { content, ..Picture::new(format, size) }.make();
                    cuda.submit(frame.clone()).unwrap();
                    let found = cuda.collect().unwrap().unwrap();
                    let expected = reference.equalize(&frame);
                    assert_eq!(difference(&expected, &found), None, "{variants:?} {settings:?} {format} {content:?}");
                }
            }
        }
    }
}

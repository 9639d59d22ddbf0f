//! `histeq-lab scans`: the square images of cuda-three-scans, by its kernels with six scans, in blocks of 256 and 512.

use super::on_cpu::{self, CpuTimes, GrayImage, images};
use super::on_gpu::{DeviceImage, Timed, experiment, note, published_setup, repeats, with_choice};
use super::python;
use crate::bench::Setup;
use crate::bench::output::report::PYTHON;
use crate::bench::output::{Row, Table, Unit, Value};
use crate::bench::reference::Arithmetic;
use crate::bench::reference::expected::check_values;
use crate::bench::setup::size_name;
use crate::publications::{self, Experiment, Formula, KernelBench, KernelStep, SETUPS, ScanVariant, Variants};
use anyhow::Result;
use histeq::Named;
use histeq::internal::frame::PixelFormat;

const SIZES: [(usize, usize); 4] = [(1024, 1024), (2048, 2048), (4096, 4096), (8192, 8192)];

const BLOCKS: [u32; 2] = [256, 512];

/// Bins of the scans that are measured alone, for 8 to 16 bits.
const BINS: [u32; 5] = [256, 1024, 4096, 16384, 65536];

/// Tables of the CPU, of the scans in an equalization, and of the scans alone.
pub fn run(setup: &Setup) -> Result<Vec<Table>> {
    let (mut cpu, mut python, mut scans) = (on_cpu::table(on_cpu::PLAIN_LOOP), python_table(), scans_table(setup));
    let kernel_bench = setup.gpu().ok().map(KernelBench::new).transpose()?;
    for frame in images(setup, &SIZES, PixelFormat::Gray)? {
        let image = GrayImage::new(frame?);
        let size = image.size;
        let times = image.on_cpu(setup)?;
        on_cpu::rows(size, &times).into_iter().for_each(|row| cpu.push(row));
        // Python's times are irrelevant if a single formula was chosen.
        let has_python = !matches!(setup.arithmetic, Arithmetic::One(_));
        let in_python = if has_python { python::run(setup, &image)? } else { Vec::new() };
        for (way, time) in &in_python {
            let rate = Value::derived(time.median / times.sequential.median);
            let row = Row::new([size_name(size), way.clone()]);
            python.push(row.with("time", *time).with("over the loop here", rate));
        }
        let python_loop = in_python.iter().find(|(way, _)| way == python::LOOP).map(|(_, time)| *time);
        let Some(kernel_bench) = &kernel_bench else { continue };
        let on_gpu = DeviceImage::put(setup, kernel_bench, &image)?;
        for (scan, threads, experiment) in experiments(setup) {
            let timed = on_gpu.equalize(&experiment)?;
            scans.push(row(size, [scan.name(), &threads.to_string()], &timed, (&times, python_loop)));
        }
        scans.push(row(size, ["tuned", "-"], &on_gpu.tuned()?, (&times, python_loop)));
    }
    let mut alone = alone_table();
    if let Some(kernel_bench) = &kernel_bench {
        BINS.into_iter().try_for_each(|bins| scan_alone(setup, kernel_bench, bins, &mut alone))?;
    }
    Ok(vec![cpu, python, scans, alone])
}

/// Every scan in blocks of both sizes, unless the command line chooses a scan or a block size.
fn experiments(setup: &Setup) -> Vec<(ScanVariant, u32, Experiment)> {
    let scans = match (setup.arithmetic, setup.chosen.scan) {
        // Each of these formulas is an error of a single scan.
        (Arithmetic::One(Formula::StaleBuffer), _) => vec![ScanVariant::KoggeStoneDouble],
        (Arithmetic::One(Formula::FloatScan), _) => vec![ScanVariant::Blelloch],
        (_, Some(scan)) => vec![scan],
        (_, None) => ScanVariant::ALL.to_vec(),
    };
    let blocks = setup.chosen.block_size.map_or(BLOCKS.to_vec(), |threads| vec![threads]);
    let pairs = scans.into_iter().flat_map(|scan| blocks.iter().map(move |&threads| (scan, threads)));
    let experiments = pairs.map(|(scan, threads)| {
        let publication = experiment(setup, &setup_of_scan(scan, threads));
        let chosen = Variants { scan: Some(scan), block_size: Some(threads), ..setup.chosen };
        (scan, threads, with_choice(publication, &chosen))
    });
    experiments.collect()
}

/// The publication's setup with this scan and block size, or if there is none, that of Kogge-Stone with 256 threads.
fn setup_of_scan(scan: ScanVariant, threads: u32) -> publications::PublishedSetup {
    let other = published_setup("Kogge-Stone 256");
    let is_it = |setup: &&publications::PublishedSetup| {
        let Variants { scan: its, block_size, .. } = setup.variants;
        setup.publication == other.publication && (its, block_size) == (Some(scan), Some(threads))
    };
    SETUPS.iter().find(is_it).copied().unwrap_or(other)
}

fn python_table() -> Table {
    Table::new(PYTHON, "In Python, one thread", &["size", "way"])
        .note(
            "loop goes over pixels one by one, once; NumPy counts with bincount and maps by indexing. Both are in \
             benches/equalize.py. over the loop here is the time divided by that of the plain loop of this program.",
        )
        .measures(["time"], Unit::Microseconds)
        .measures(["over the loop here"], Unit::Times)
}

fn scans_table(setup: &Setup) -> Table {
    let mut table = Table::new("scans", "Scans, with the publication's other kernels", &["size", "scan", "block"])
        .note(
            "scan alone is that kernel; kernels are all of them: aggregated histogram, scan, curve (whose launch finds \
             the first occupied level by atomicMin), map through shared memory, 4 pixels a thread; with copies is up, \
             through the kernels and down, from and to memory as the allocator gives it. Speed-ups are over the \
             sequential loop, in the same run. tuned are the kernels of normal runs.",
        )
        .measures(["scan alone", "kernels", "with copies", "with pinned copies"], Unit::Microseconds)
        .measures(["speed-up", "speed-up, pinned", "speed-up of kernels", "speed-up over Python"], Unit::Times)
        .measures(["differing"], Unit::Percent);
    table.notes.extend(note(setup.arithmetic));
    table
}

/// A row; `python` is the time of the plain loop in Python.
fn row(
    size: (usize, usize),
    [scan, threads]: [&str; 2],
    timed: &Timed,
    (on_cpu, python): (&CpuTimes, Option<Value>),
) -> Row {
    let (kernels, with_copies) = (timed.kernels(), timed.with_copies());
    let speed_up = |time: Value| Value::derived(on_cpu.sequential.median / time.median);
    Row::new([&size_name(size), scan, threads])
        .with("scan alone", timed.step(KernelStep::Scan))
        .with("kernels", kernels)
        .with("with copies", with_copies)
        .with("with pinned copies", timed.with_pinned_copies())
        .with("speed-up", speed_up(with_copies))
        .with("speed-up, pinned", speed_up(timed.with_pinned_copies()))
        .with("speed-up of kernels", speed_up(kernels))
        .with("speed-up over Python", python.map(|python| Value::derived(python.median / with_copies.median)))
        .with("differing", timed.differing)
}

fn alone_table() -> Table {
    Table::new("alone", "Scans by themselves", &["bins", "scan", "block"])
        .note(
            "More bins than a block takes are scanned in segments, then their sums are, and added. hillis-steele is a \
             launch for each doubling of the distance, whatever the block.",
        )
        .measures(["time"], Unit::Microseconds)
}

fn scan_alone(setup: &Setup, kernel_bench: &KernelBench, bins: u32, table: &mut Table) -> Result<()> {
    let counts: Vec<u32> = (0..bins).map(|bin| bin.wrapping_mul(2_654_435_761) >> 20).collect();
    let mut sum = 0;
    let sums = counts.iter().map(|count| {
        sum += count;
        sum
    });
    let expected: Vec<u32> = sums.collect();
    for (scan, threads, experiment) in experiments(setup) {
        let experiment = Experiment { formula: None, ..experiment };
        let found = kernel_bench.scan(&counts, &experiment, repeats(setup))?;
        check_values(scan.name(), &expected, &found.result)?;
        let row = Row::new([&bins.to_string(), scan.name(), &threads.to_string()]);
        table.push(row.with("time", Value::from_samples(&found.times)));
    }
    Ok(())
}

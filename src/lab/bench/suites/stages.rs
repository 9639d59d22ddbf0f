//! `histeq-lab stages`: upload, equalization and download of an image, as in cuda-naive-vs-optimized, by its
//! naive kernels, by its optimized ones and by those of normal runs; and a sweep over pixels per thread.

use super::on_cpu::{self, GrayImage, images};
use super::on_gpu::{DeviceImage, Timed, experiment, note, published_setup, repeats, with_choice};
use crate::bench::Setup;
use crate::bench::output::{Row, Table, Unit, Value};
use crate::bench::reference::expected::check_values;
use crate::bench::setup::size_name;
use crate::publications::{Experiment, Formula, HistogramVariant, KernelBench, KernelStep, MapVariant, Variants};
use anyhow::Result;
use histeq::Named;
use histeq::internal::frame::PixelFormat;

const SIZES: [(usize, usize); 5] = [(512, 384), (910, 682), (1000, 667), (1920, 1080), (5120, 2880)];

/// Tables of the CPU, of the stages, of pixels per thread, and of every kernel that counts or maps.
pub fn run(setup: &Setup) -> Result<Vec<Table>> {
    let (mut cpu, mut stages) = (on_cpu::table(on_cpu::PLAIN_LOOP), stages_table(setup));
    let (mut sweep, mut kernels) = (sweep_table(), kernels_table());
    let kernel_bench = setup.gpu().ok().map(KernelBench::new).transpose()?;
    for (index, frame) in images(setup, &SIZES, PixelFormat::Gray)?.enumerate() {
        let image = GrayImage::new(frame?);
        let size = image.size;
        on_cpu::rows(size, &image.on_cpu(setup)?).into_iter().for_each(|row| cpu.push(row));
        let Some(kernel_bench) = &kernel_bench else { continue };
        let on_gpu = DeviceImage::put(setup, kernel_bench, &image)?;
        for (name, experiment) in experiments(setup) {
            stages.push(row(size, name, &on_gpu.equalize(&experiment)?));
        }
        stages.push(row(size, "tuned", &on_gpu.tuned()?));
        // Only for the two largest sizes, or the image of the user.
        if setup.file.is_some() || index + 2 >= SIZES.len() {
            pixels_a_thread(&on_gpu, &mut sweep)?;
            kernel_by_kernel(&on_gpu, &mut kernels)?;
        }
    }
    Ok(vec![cpu, stages, sweep, kernels])
}

/// The measured kernels: the publication's, and the chosen ones.
fn experiments(setup: &Setup) -> Vec<(&'static str, Experiment)> {
    let named = |name| experiment(setup, &published_setup(name));
    let mut experiments = vec![("naive", named("naive")), ("optimized", named("optimized"))];
    if !setup.chosen.is_default() {
        experiments.push(("chosen", with_choice(named("optimized"), &setup.chosen)));
    }
    experiments
}

fn stages_table(setup: &Setup) -> Table {
    let mut table = Table::new("stages", "Up, equalized, down on the GPU", &["size", "kernels"])
        .note(
            "naive counts with an atomic addition in global memory a pixel, and maps a pixel a thread; optimized has \
             128 pixels a thread, counted in shared memory, and maps 32 a thread, one grid apart. Both map without a \
             curve: each pixel computes what it becomes from the cumulative counts, by the publication's own \
             arithmetic (--formula own) with a division of integers, and optimized with a factor in float that each \
             thread makes once. The publication has no cdf-min, which only the specification needs. tuned are the \
             kernels of normal runs, which have no scan of their own. Copies are from and to memory as the allocator \
             gives it, as in the publication, but for total, pinned.",
        )
        .measures(["upload", "histogram", "scan", "cdf-min", "curve", "map"], Unit::Microseconds)
        .measures(["equalize", "download", "total", "total, pinned"], Unit::Microseconds)
        .measures(["differing"], Unit::Percent);
    table.notes.extend(note(setup.arithmetic));
    table
}

fn row(size: (usize, usize), name: &str, timed: &Timed) -> Row {
    Row::new([size_name(size), name.to_owned()])
        .with("upload", timed.upload())
        .with("histogram", timed.step(KernelStep::Histogram))
        .with("scan", timed.step(KernelStep::Scan))
        .with("cdf-min", timed.step(KernelStep::CdfMin))
        .with("curve", timed.step(KernelStep::Curve))
        .with("map", timed.step(KernelStep::Map))
        .with("equalize", timed.kernels())
        .with("download", timed.download())
        .with("total", timed.with_copies())
        .with("total, pinned", timed.with_pinned_copies())
        .with("differing", timed.differing)
}

fn sweep_table() -> Table {
    Table::new("sweep", "Pixels a thread", &["size", "pixels a thread"])
        .note("The coarsened histogram, and the map through a curve, in blocks of 1024 threads.")
        .measures(["histogram", "map"], Unit::Microseconds)
}

fn pixels_a_thread(on_gpu: &DeviceImage, table: &mut Table) -> Result<()> {
    let DeviceImage { setup, kernel_bench, image, plane, .. } = on_gpu;
    let publication = experiment(setup, &published_setup("optimized"));
    // The sweep measures the map that reads a curve.
    let variants = Variants { map: Some(MapVariant::Coarsened), ..publication.variants };
    let optimized = Experiment { variants, formula: None, ..publication };
    let curve = Formula::exact(&image.counts);
    let expected = image.through(&curve);
    for pixels in (0..=8).map(|power| 1 << power) {
        let chosen = Variants { pixels_per_thread: Some(pixels), ..setup.chosen };
        let experiment = with_choice(optimized, &chosen);
        let counted = kernel_bench.histogram(plane, &experiment, repeats(setup))?;
        check_values("the histogram", &image.counts, &counted.result)?;
        let mapped = kernel_bench.map(plane, &curve, &experiment, repeats(setup))?;
        check_values("the map", &expected, &mapped.result)?;
        let row = Row::new([size_name(image.size), pixels.to_string()])
            .with("histogram", Value::from_samples(&counted.times))
            .with("map", Value::from_samples(&mapped.times));
        table.push(row);
    }
    Ok(())
}

fn kernels_table() -> Table {
    Table::new("kernels", "Every kernel that counts or maps", &["size", "step", "kernel"])
        .note("With the block size and the pixels a thread that suit each, or those that were chosen.")
        .measures(["time"], Unit::Microseconds)
}

fn kernel_by_kernel(on_gpu: &DeviceImage, table: &mut Table) -> Result<()> {
    let DeviceImage { setup, kernel_bench, image, plane, .. } = on_gpu;
    let row = |step: &str, kernel: &str, times: &[f64]| {
        Row::new([&size_name(image.size), step, kernel]).with("time", Value::from_samples(times))
    };
    let shape = Variants { histogram: None, scan: None, ..setup.chosen };
    for &histogram in HistogramVariant::ALL {
        let variants = Variants { histogram: Some(histogram), ..shape };
        let counted =
            kernel_bench.histogram(plane, &Experiment { variants, ..Experiment::default() }, repeats(setup))?;
        check_values("the histogram", &image.counts, &counted.result)?;
        table.push(row("histogram", histogram.name(), &counted.times));
    }
    let curve = Formula::exact(&image.counts);
    let expected = image.through(&curve);
    // A computed map reads no curve.
    for &map in MapVariant::ALL.iter().filter(|map| !map.is_computed()) {
        let variants = Variants { map: Some(map), ..shape };
        let experiment = Experiment { variants, ..Experiment::default() };
        let mapped = kernel_bench.map(plane, &curve, &experiment, repeats(setup))?;
        check_values("the map", &expected, &mapped.result)?;
        table.push(row("map", map.name(), &mapped.times));
    }
    Ok(())
}

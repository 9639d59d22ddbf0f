//! `histeq-lab cdf-min`: the images of opencl-blelloch-scan, by its kernels, with two searches for the first level.

use super::on_cpu::{GrayImage, images};
use super::on_gpu::{DeviceImage, experiment, note, published_setup, with_choice};
use crate::bench::output::{Row, Table, Unit, Value};
use crate::bench::reference::expected::check_values;
use crate::bench::reference::{Arithmetic, arithmetic, sequential};
use crate::bench::setup::size_name;
use crate::bench::{Setup, image_file};
use crate::publications::{Elements, KernelBench};
use anyhow::{Context, Result};
use histeq::internal::frame::PixelFormat;
use std::hint::black_box;

const SIZES: [(usize, usize); 10] = [
    (3072, 2048),
    (2736, 1824),
    (2560, 1920),
    (1920, 1080),
    (1024, 768),
    (1024, 683),
    (800, 600),
    (874, 544),
    (512, 512),
    (600, 338),
];

/// The number of the publication's large images, which come first in [`SIZES`].
const LARGE: usize = 4;

/// The two searches: names of columns, and names of the publication's setups.
const SEARCHES: [(&str, &str); 2] = [("reduction", "OpenCL, reduction"), ("first-nonzero", "OpenCL, min")];

/// Tables of the kernels, and of the whole program, by image size.
pub fn run(setup: &Setup) -> Result<Vec<Table>> {
    let (mut kernels, mut programs) = (kernels_table(setup), programs_table());
    let kernel_bench = setup.gpu().ok().map(KernelBench::new).transpose()?;
    for frame in images(setup, &SIZES, PixelFormat::Gray)? {
        let image = GrayImage::new(frame?);
        kernels.push(kernels_row(setup, kernel_bench.as_ref(), "photo-like", &image)?);
        // The publication's faster search is wrong for images that contain black.
        if setup.arithmetic != Arithmetic::Specification {
            kernels.push(kernels_row(setup, kernel_bench.as_ref(), "with black", &image.with_black())?);
        }
        programs.push(program_row(setup, kernel_bench.as_ref(), &image)?);
    }
    let gains = gains(&programs);
    Ok(vec![kernels, programs, gains])
}

fn kernels_row(setup: &Setup, kernel_bench: Option<&KernelBench>, content: &str, image: &GrayImage) -> Result<Row> {
    let on_cpu = image.on_cpu(setup)?;
    let mut row = Row::new([&size_name(image.size), content])
        .with("sequential", on_cpu.sequential)
        .with("this program, CPU", on_cpu.best);
    let Some(kernel_bench) = kernel_bench else { return Ok(row) };
    let on_gpu = DeviceImage::put(setup, kernel_bench, image)?;
    for (name, publication) in SEARCHES {
        let experiment = with_choice(experiment(setup, &published_setup(publication)), &setup.chosen);
        let timed = on_gpu.equalize(&experiment)?;
        row.set(&format!("kernels, {name}"), timed.kernels());
        row.set(&format!("with copies, {name}"), timed.with_copies());
        row.set(&format!("differing, {name}"), timed.differing);
    }
    let tuned = on_gpu.tuned()?;
    row.set("kernels, tuned", tuned.kernels());
    row.set("with pinned copies, tuned", tuned.with_pinned_copies());
    Ok(row)
}

fn kernels_table(setup: &Setup) -> Table {
    let mut table = Table::new("cdf-min", "The first occupied level, found in two ways", &["size", "image"])
        .note(
            "reduction looks for the smallest cumulative count above 0 by a tree; first-nonzero is the thread whose \
             predecessor's is 0, or that has none (the publication's own has no such thread where level 0 is occupied: \
             --formula wrong-min). Every block of the map does it again, as in the publication. All by the \
             publication's kernels, a pixel a thread in tiles of 32x32, whose maps go down rows, and Blelloch's scan. \
             tuned are the kernels of normal runs. sequential is the plain loop on the CPU.",
        )
        .measures(["sequential", "this program, CPU"], Unit::Microseconds);
    for (name, _) in SEARCHES {
        table = table
            .measures([format!("kernels, {name}"), format!("with copies, {name}")], Unit::Microseconds)
            .measures([format!("differing, {name}")], Unit::Percent);
    }
    table.notes.extend(note(setup.arithmetic));
    table.measures(["kernels, tuned", "with pinned copies, tuned"], Unit::Microseconds)
}

/// Times equalizing the image as the publication's program does, from one PNG file to another.
fn program_row(setup: &Setup, kernel_bench: Option<&KernelBench>, image: &GrayImage) -> Result<Row> {
    let folder = tempfile::tempdir().context("making a folder for PNG files")?;
    let (source, target) = (folder.path().join("in.png"), folder.path().join("out.png"));
    image_file::write(&image.frame, &source)?;
    let cancel = &setup.steps.cancel;
    let read = setup.repeats.value(|| timed(|| image_file::read(&source, PixelFormat::Gray, cancel).map(drop)))?;
    let write = setup.repeats.value(|| timed(|| image_file::write(&image.frame, &target)))?;
    let files = read.median + write.median;
    let mut out = vec![0; image.pixels.len()];
    let loops = setup.repeats.time(|| sequential::equalize(black_box(&image.pixels), black_box(&mut out)));
    let mut row = Row::new([size_name(image.size)])
        .with("read", read)
        .with("write", write)
        .with("CPU", Value::derived(files + loops.median));
    let Some(kernel_bench) = kernel_bench else { return Ok(row) };
    let opening = setup.opening().map_or(0.0, |opening| opening.as_secs_f64() * 1e6);
    row.set("set-up", Value::derived(opening));
    for (name, publication) in SEARCHES {
        let experiment = experiment(setup, &published_setup(publication));
        let elements = || Elements::U8(&image.pixels);
        let run = || kernel_bench.equalize_with_read_backs(elements(), image.size, 256, &experiment);
        let curve = arithmetic::curve(experiment.formula, &image.counts);
        check_values("the picture", &image.through(&curve), &run()?)?;
        let steps = setup.repeats.value(|| timed(|| Ok(run().map(drop)?)))?;
        row.set(&format!("steps, {name}"), steps);
        row.set(&format!("GPU, {name}"), Value::derived(files + steps.median));
        row.set(&format!("GPU with set-up, {name}"), Value::derived(opening + files + steps.median));
    }
    Ok(row)
}

/// The time of `work` in microseconds.
fn timed(work: impl FnOnce() -> Result<()>) -> Result<f64> {
    let begin = std::time::Instant::now();
    work()?;
    Ok(begin.elapsed().as_secs_f64() * 1e6)
}

fn programs_table() -> Table {
    let mut table = Table::new("program", "The whole program, from PNG to PNG", &["size"])
        .note(
            "read and write are of PNG files; CPU is read, the plain loop, and write. steps is the publication's way \
             on the GPU: the host reads back the result of each of the three kernels, and sends it and the picture to \
             the next one. GPU is read, steps and write. set-up is the opening of the GPU, once in this run: CUDA's \
             takes far longer than all the rest, so both sums are here; the publication's includes its own.",
        )
        .measures(["set-up", "read", "write", "CPU"], Unit::Microseconds);
    for (name, _) in SEARCHES {
        let sums = ["steps", "GPU", "GPU with set-up"].map(|sum| format!("{sum}, {name}"));
        table = table.measures(sums, Unit::Microseconds);
    }
    table
}

/// The average speedups for the large and the small images, as in the publication.
fn gains(programs: &Table) -> Table {
    let mut table = Table::new("gains", "How many times as fast as the CPU, on average", &["images"])
        .note("The mean over the sizes of CPU divided by GPU, and by GPU with set-up, of the table above.");
    for (name, _) in SEARCHES {
        table = table.measures([name.to_owned(), format!("{name}, with set-up")], Unit::Times);
    }
    let rows = programs.rows();
    let (large, small) = rows.split_at(LARGE.min(rows.len()));
    for (images, rows) in [("large", large), ("small", small)] {
        let mean = |measure: &str| {
            let ratio = |row: &Row| Some(row.get("CPU")?.median / row.get(measure)?.median);
            let ratios: Vec<f64> = rows.iter().filter_map(ratio).collect();
            (!ratios.is_empty()).then(|| Value::derived(ratios.iter().sum::<f64>() / ratios.len() as f64))
        };
        let mut row = Row::new([images]);
        for (name, _) in SEARCHES {
            row.set(name, mean(&format!("GPU, {name}")));
            row.set(&format!("{name}, with set-up"), mean(&format!("GPU with set-up, {name}")));
        }
        if row.get(SEARCHES[0].0).is_some() {
            table.push(row);
        }
    }
    table
}

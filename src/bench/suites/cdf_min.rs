//! `bench cdf-min`: the images of opencl-blelloch-scan, by its kernels, with two searches for the first occupied level.

use super::on_cpu::{GrayImage, area};
use super::on_gpu::{DeviceImage, experiment, note, published_setup, with_choice};
use crate::bench::setup::size_name;
use crate::bench::{Row, Setup, Table, Unit};
use crate::publications::{KernelBench, KernelStep};
use anyhow::Result;

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

/// The two searches: their names in columns, and the publication's setups.
const SEARCHES: [(&str, &str); 2] = [("reduction", "OpenCL, reduction"), ("first-nonzero", "OpenCL, min")];

/// One table over the sizes.
pub fn run(setup: &Setup) -> Result<Vec<Table>> {
    let mut table = empty(setup);
    let kernel_bench = setup.gpu().ok().map(KernelBench::new).transpose()?;
    for size in setup.each_size(&SIZES) {
        let size = size?;
        let image = GrayImage::new(size);
        let on_cpu = image.on_cpu(setup)?;
        let mut row = Row::new([size_name(size)])
            .at(area(size))
            .with("sequential", on_cpu.sequential)
            .with("this program, CPU", on_cpu.best);
        if let Some(kernel_bench) = &kernel_bench {
            let on_gpu = DeviceImage::put(setup, kernel_bench, &image)?;
            for (name, publication) in SEARCHES {
                let experiment = with_choice(experiment(setup, &published_setup(publication)), &setup.chosen);
                let timed = on_gpu.equalize(setup, kernel_bench, &experiment)?;
                row.set(&format!("{name} alone"), timed.step(KernelStep::CdfMin));
                row.set(&format!("kernels, {name}"), timed.kernels());
                row.set(&format!("with copies, {name}"), timed.with_copies());
                row.set(&format!("differing, {name}"), timed.differing);
            }
            let tuned = on_gpu.tuned(setup, kernel_bench)?;
            row.set("kernels, tuned", tuned.kernels());
            row.set("with pinned copies, tuned", tuned.with_pinned_copies());
        }
        table.push(row);
    }
    Ok(vec![table])
}

fn empty(setup: &Setup) -> Table {
    let mut table = Table::new("cdf-min", "The first occupied level, found in two ways", &["size"])
        .note(
            "reduction looks for the smallest cumulative count above 0 by a tree; first-nonzero is the thread whose \
             predecessor's is 0, or that has none (the publication's own has no such thread where level 0 is occupied: \
             --formula wrong-min). Both with the publication's kernels, a pixel a thread in tiles of 32x32 and Blelloch's scan. \
             tuned are the kernels of normal runs. sequential is the plain loop on the CPU.",
        )
        .measure("sequential", Unit::Microseconds)
        .measure("this program, CPU", Unit::Microseconds);
    for (name, _) in SEARCHES {
        table = table
            .undrawn(format!("{name} alone"), Unit::Microseconds)
            .measure(format!("kernels, {name}"), Unit::Microseconds)
            .measure(format!("with copies, {name}"), Unit::Microseconds)
            .undrawn(format!("differing, {name}"), Unit::Percent);
    }
    table.notes.extend(note(setup.arithmetic));
    table
        .measure("kernels, tuned", Unit::Microseconds)
        .measure("with pinned copies, tuned", Unit::Microseconds)
        .over("size")
}

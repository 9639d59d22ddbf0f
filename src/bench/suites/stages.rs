//! `bench stages`: an image up, equalized and down, as cuda-naive-vs-optimized times it, by its naive kernels, by its
//! optimized ones and by those of normal runs; and how many pixels a thread should have.

use super::in_lab::{OnGpu, Timed, document_setup, experiment, note, repeats, with_choice};
use super::on_cpu::{self, Image, area};
use crate::bench::expected::check_values;
use crate::bench::setup::size_name;
use crate::bench::{Row, Setup, Table, Unit, Value};
use crate::cuda::variants::{Experiment, Formula, Lab, Step, Variants};
use anyhow::Result;

const SIZES: [(usize, usize); 5] = [(512, 384), (910, 682), (1000, 667), (1920, 1080), (5120, 2880)];

/// Tables of the CPU, of the stages, and of pixels a thread.
pub fn run(setup: &Setup) -> Result<Vec<Table>> {
    let (mut cpu, mut stages, mut sweep) = (on_cpu::table(), stages_table(setup), sweep_table());
    let lab = setup.gpu().ok().map(Lab::new).transpose()?;
    let sizes = setup.sizes(&SIZES);
    setup.steps.expect(sizes.len());
    for (index, &size) in sizes.iter().enumerate() {
        setup.steps.next(size_name(size));
        let image = Image::new(size);
        on_cpu::rows(size, &image.on_cpu(setup)?).into_iter().for_each(|row| cpu.push(row));
        let Some(lab) = &lab else { continue };
        let on_gpu = OnGpu::put(setup, lab, &image)?;
        for (name, experiment) in ways(setup) {
            stages.push(row(size, name, &on_gpu.equalize(setup, lab, &experiment)?));
        }
        stages.push(row(size, "tuned", &on_gpu.tuned(setup, lab)?));
        // The two largest.
        if index + 2 >= sizes.len() {
            pixels_a_thread(setup, lab, (&image, &on_gpu), &mut sweep)?;
        }
    }
    Ok(vec![cpu, stages, sweep])
}

/// What is run: the document's, and what was chosen.
fn ways(setup: &Setup) -> Vec<(&'static str, Experiment)> {
    let named = |name| experiment(setup, &document_setup(name));
    let mut ways = vec![("naive", named("naive")), ("optimized", named("optimized"))];
    if !setup.chosen.is_default() {
        ways.push(("chosen", with_choice(named("optimized"), &setup.chosen)));
    }
    ways
}

fn stages_table(setup: &Setup) -> Table {
    let mut table = Table::new("stages", "Up, equalized, down on the GPU", &["size", "kernels"])
        .note(
            "naive counts with an atomic addition in global memory a pixel and maps a byte a thread; optimized has 128 \
             pixels a thread counted in shared memory, and 32 a thread mapped; tuned are the kernels of normal runs, which \
             have no scan of their own. Copies are from and to memory as the allocator gives it, as in the document, but \
             for total, pinned.",
        )
        .undrawn("upload", Unit::Microseconds)
        .undrawn("histogram", Unit::Microseconds)
        .undrawn("scan", Unit::Microseconds)
        .undrawn("curve", Unit::Microseconds)
        .undrawn("map", Unit::Microseconds)
        .measure("equalize", Unit::Microseconds)
        .undrawn("download", Unit::Microseconds)
        .measure("total", Unit::Microseconds)
        .undrawn("total, pinned", Unit::Microseconds)
        .undrawn("differing", Unit::Percent)
        .over("size");
    table.notes.extend(note(setup.arithmetic));
    table
}

fn row(size: (usize, usize), name: &str, timed: &Timed) -> Row {
    Row::new([size_name(size), name.to_owned()])
        .at(area(size))
        .with("upload", timed.upload())
        .with("histogram", timed.step(Step::Histogram))
        .with("scan", timed.step(Step::Scan))
        .with("curve", timed.step(Step::Curve))
        .with("map", timed.step(Step::Map))
        .with("equalize", timed.kernels())
        .with("download", timed.download())
        .with("total", timed.with_copies())
        .with("total, pinned", timed.with_pinned_copies())
        .with("differing", timed.differing)
}

fn sweep_table() -> Table {
    Table::new("sweep", "Pixels a thread", &["size", "pixels a thread"])
        .note("The optimized kernels, in blocks of 1024 threads.")
        .measure("histogram", Unit::Microseconds)
        .measure("map", Unit::Microseconds)
        .over("pixels a thread")
}

fn pixels_a_thread(setup: &Setup, lab: &Lab, (image, on_gpu): (&Image, &OnGpu), table: &mut Table) -> Result<()> {
    let optimized = Experiment { formula: None, ..experiment(setup, &document_setup("optimized")) };
    let curve = Formula::exact(&image.counts);
    let expected = image.through(&curve);
    for pixels in (0..=8).map(|power| 1 << power) {
        let chosen = Variants { pixels_per_thread: Some(pixels), ..setup.chosen };
        let experiment = with_choice(optimized, &chosen);
        let counted = lab.histogram(on_gpu.plane(), &experiment, repeats(setup))?;
        check_values("the histogram", &image.counts, &counted.result)?;
        let mapped = lab.map(on_gpu.plane(), &curve, &experiment, repeats(setup))?;
        check_values("the map", &expected, &mapped.result)?;
        let row = Row::new([size_name(image.size), pixels.to_string()])
            .at(f64::from(pixels))
            .with("histogram", Value::of(&counted.times))
            .with("map", Value::of(&mapped.times));
        table.push(row);
    }
    Ok(())
}

//! `histeq-lab luminance`: the luminance histogram of BGRA pixels, as in cuda-rgb-luminance-histogram.

use super::on_cpu::{self, images};
use super::on_gpu::{experiment, note, published_setup, repeats, with_choice};
use crate::bench::Setup;
use crate::bench::content::first_plane;
use crate::bench::output::{Row, Table, Unit, Value};
use crate::bench::reference::expected::check_values;
use crate::bench::reference::published::{BEST, SEQUENTIAL};
use crate::bench::reference::sequential;
use crate::bench::setup::size_name;
use crate::publications::{Experiment, Formula, HistogramVariant, HostMemory, KernelBench, PixelOrder, Variants};
use anyhow::Result;
use histeq::internal::equalize::cpu::{Engine, Isa};
use histeq::internal::frame::{Frame, HostPool, PixelFormat};
use histeq::internal::spec::Weights;
use std::hint::black_box;

/// The publication's size, and video sizes.
const SIZES: [(usize, usize); 3] = [(1280, 1024), (1920, 1080), (3840, 2160)];

/// The name of the rows of the loop in integers.
const INTEGER: &str = "sequential, integers";

/// Tables of the CPU and of the kernels on the GPU.
pub fn run(setup: &Setup) -> Result<Vec<Table>> {
    let sequential = format!(
        "the publication's loop, in floating point and truncated; {INTEGER} is the same loop by the specification"
    );
    let (mut cpu, mut kernels) = (on_cpu::table(&sequential), kernels_table(setup));
    let kernel_bench = setup.gpu().ok().map(KernelBench::new).transpose()?;
    for frame in images(setup, &SIZES, PixelFormat::Bgra)? {
        let image = ColourImage::new(frame?);
        let size = image.size;
        let times = image.on_cpu(setup)?;
        for (path, time) in [(SEQUENTIAL, times[0]), (INTEGER, times[1]), (BEST, times[2])] {
            cpu.push(on_cpu::row(size, path, time));
        }
        let Some(kernel_bench) = &kernel_bench else { continue };
        for (name, experiment) in experiments(setup) {
            kernels.push(image.on_gpu(setup, kernel_bench, (name, &experiment), times[0])?);
        }
    }
    Ok(vec![cpu, kernels])
}

/// The measured kernels: the publication's, one with coalesced reads, and the chosen one.
fn experiments(setup: &Setup) -> Vec<(&'static str, Experiment)> {
    let publication = experiment(setup, &published_setup("luminance"));
    let coarsened = Experiment { formula: publication.formula, ..Experiment::default() };
    let mut experiments = vec![("publication's", publication), ("coarsened", coarsened)];
    // The luminance kernels have only variants with private counters.
    let private =
        |histogram: &HistogramVariant| matches!(histogram, HistogramVariant::Privatized | HistogramVariant::Coarsened);
    let chosen = Variants { histogram: setup.chosen.histogram.filter(private), scan: None, ..setup.chosen };
    if !chosen.is_default() {
        experiments.push(("chosen", with_choice(publication, &chosen)));
    }
    experiments
}

fn kernels_table(setup: &Setup) -> Table {
    let mut table = Table::new("luminance", "On the GPU", &["size", "kernels"])
        .note(
            "From BGRA to counts in one kernel. The publication's has 128 threads a block, each of which goes through \
             64 neighbours; coarsened has 1024, each of which takes 128 pixels, one grid apart. Speed-ups are over the \
             sequential loop, in the same run.",
        )
        .measures(["kernel", "upload", "with upload"], Unit::Microseconds)
        .measures(["speed-up", "speed-up with upload"], Unit::Times)
        .measures(["differing"], Unit::Percent);
    table.notes.extend(note(setup.arithmetic));
    table
}

/// BGRA pixels whose components differ.
struct ColourImage {
    size: (usize, usize),
    pixels: Vec<u8>,
    frame: Frame,
    counts: [u32; 256],
}

impl ColourImage {
    fn new(frame: Frame) -> Self {
        let size = (frame.width(), frame.height());
        let pixels = first_plane(&frame);
        let counts = sequential::luminance(&pixels, Weights::BT601);
        ColourImage { size, pixels, frame, counts }
    }

    /// The times of the publication's loop in float, of the same loop in integers, and of this program.
    fn on_cpu(&self, setup: &Setup) -> Result<[Value; 3]> {
        let mut counts = [0; 256];
        let in_float = setup.repeats.time(|| {
            counts = black_box(sequential::truncated_luminance(black_box(&self.pixels)));
        });
        check_values("the publication's loop", &self.expected(Some(Formula::TruncatedLuminance)), &counts)?;
        let sequential = setup.repeats.time(|| {
            counts = black_box(sequential::luminance(black_box(&self.pixels), Weights::BT601));
        });
        let mut engine = Engine::new(Isa::best(), HostPool::default()).expect("the best is available");
        let mut found = None;
        let best = setup.repeats.time(|| found = Some(engine.histogram(&self.frame, self.frame.whole())));
        let found = found.map(|found| found.counts().to_vec()).unwrap_or_default();
        check_values("luminance on the CPU", &counts.map(u64::from), &found)?;
        Ok([in_float, sequential, best])
    }

    fn on_gpu(
        &self,
        setup: &Setup,
        kernel_bench: &KernelBench,
        (name, experiment): (&str, &Experiment),
        on_cpu: Value,
    ) -> Result<Row> {
        let plane = kernel_bench.put_pixels(&self.pixels, PixelOrder::Bgra, self.size, 1)?;
        let counted = kernel_bench.histogram(&plane, experiment, repeats(setup))?;
        check_values("the luminance histogram", &self.expected(experiment.formula), &counted.result)?;
        let upload = kernel_bench.transfer(&plane, HostMemory::Pageable, repeats(setup))?.upload;
        let with_upload: Vec<f64> = counted.times.iter().zip(&upload).map(|(kernel, upload)| kernel + upload).collect();
        let (kernel, with_upload) = (Value::from_samples(&counted.times), Value::from_samples(&with_upload));
        let speed_up = |time: Value| Value::derived(on_cpu.median / time.median);
        Ok(Row::new([size_name(self.size), name.to_owned()])
            .with("kernel", kernel)
            .with("upload", Value::from_samples(&upload))
            .with("with upload", with_upload)
            .with("speed-up", speed_up(kernel))
            .with("speed-up with upload", speed_up(with_upload))
            .with("differing", experiment.formula.map(|formula| self.differing(formula))))
    }

    fn colours(&self) -> impl Iterator<Item = [u8; 3]> {
        self.pixels.chunks_exact(4).map(|pixel| [pixel[2], pixel[1], pixel[0]])
    }

    /// The counts by a formula, or by the specification if there is none.
    fn expected(&self, formula: Option<Formula>) -> Vec<u32> {
        let Some(formula) = formula else { return self.counts.to_vec() };
        let mut counts = vec![0; 256];
        self.colours().for_each(|rgb| counts[usize::from(formula.luminance(rgb))] += 1);
        counts
    }

    /// The percentage of pixels whose luminance by this formula differs from the specification's.
    fn differing(&self, formula: Formula) -> Value {
        let exact = |rgb: [u8; 3]| Weights::BT601.luminance(rgb.map(u16::from));
        let differing = self.colours().filter(|&rgb| u16::from(formula.luminance(rgb)) != exact(rgb)).count();
        Value::derived(differing as f64 / (self.size.0 * self.size.1) as f64 * 100.0)
    }
}

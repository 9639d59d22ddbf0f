//! The GPU's part of the publications' suites: kernels of the publications on an image, timed one by one, with every
//! result compared with the expected one.

use super::on_cpu::GrayImage;
use crate::bench::Setup;
use crate::bench::output::Value;
use crate::bench::reference::arithmetic::{self, Arithmetic};
use crate::bench::reference::expected::check_values;
use crate::publications::{
    self, BusTimes, DevicePlane, Elements, Experiment, Formula, HostMemory, KernelBench, KernelRepeats, KernelStep,
    Run, SETUPS, Variants,
};
use anyhow::Result;

/// The setup of a publication with this name.
///
/// # Panics
/// When there is no such setup: a bug of a suite.
pub fn published_setup(name: &str) -> publications::PublishedSetup {
    *SETUPS.iter().find(|setup| setup.name == name).unwrap_or_else(|| panic!("no setup {name}"))
}

/// The experiment of a publication, with the chosen arithmetic.
pub fn experiment(setup: &Setup, publication: &publications::PublishedSetup) -> Experiment {
    Experiment {
        variants: publication.variants,
        shape: publication.shape,
        saturated_at: publication.saturated_at,
        formula: setup.arithmetic.formula(publication.formula),
    }
}

/// The experiment with the variants from the command line in place of the publication's.
pub fn with_choice(experiment: Experiment, chosen: &Variants) -> Experiment {
    let published = experiment.variants;
    let variants = Variants {
        histogram: chosen.histogram.or(published.histogram),
        scan: chosen.scan.or(published.scan),
        block_size: chosen.block_size.or(published.block_size),
        pixels_per_thread: chosen.pixels_per_thread.or(published.pixels_per_thread),
        ..published
    };
    Experiment { variants, ..experiment }
}

/// The number of runs of a step.
pub fn repeats(setup: &Setup) -> KernelRepeats {
    KernelRepeats { warm_up: setup.repeats.warm_up as u32, measured: setup.repeats.counted as u32, launches: 1 }
}

/// An image on the GPU, with the times of its copies.
pub struct DeviceImage<'a> {
    /// What the suite measures, and with which kernels.
    pub setup: &'a Setup,
    pub kernel_bench: &'a KernelBench,
    pub image: &'a GrayImage,
    /// The image on the GPU.
    pub plane: DevicePlane,
    pageable: BusTimes,
    pinned: BusTimes,
}

/// A run with a correct result, with the times of the copies.
pub struct Timed {
    run: Run,
    /// Copies from and to pageable memory, as in the publications.
    pageable: BusTimes,
    /// Copies from and to pinned memory.
    pinned: BusTimes,
    /// The percentage of samples that differ from the specification by the chosen formula.
    pub differing: Option<Value>,
}

impl<'a> DeviceImage<'a> {
    /// Uploads an image.
    ///
    /// # Errors
    /// When the GPU fails.
    pub fn put(setup: &'a Setup, kernel_bench: &'a KernelBench, image: &'a GrayImage) -> Result<Self> {
        let plane = kernel_bench.put(Elements::U8(&image.pixels), image.size, 256, 1)?;
        let transfer = |memory| kernel_bench.transfer(&plane, memory, repeats(setup));
        let (pageable, pinned) = (transfer(HostMemory::Pageable)?, transfer(HostMemory::Pinned)?);
        Ok(DeviceImage { setup, kernel_bench, image, plane, pageable, pinned })
    }

    /// Equalizes the image.
    ///
    /// # Errors
    /// When the GPU fails, or the result differs from the formula's.
    pub fn equalize(&self, experiment: &Experiment) -> Result<Timed> {
        let run = self.kernel_bench.equalize(&self.plane, experiment, repeats(self.setup))?;
        self.check(run, experiment.formula)
    }

    /// Equalizes the image with the kernels of normal runs.
    ///
    /// # Errors
    /// When the GPU fails, or the result differs from the specification's.
    pub fn tuned(&self) -> Result<Timed> {
        self.check(self.kernel_bench.tuned(&self.plane, repeats(self.setup))?, None)
    }

    fn check(&self, run: Run, formula: Option<Formula>) -> Result<Timed> {
        let counts = &self.image.counts;
        check_values("the histogram", counts, &run.counts)?;
        let curve = arithmetic::curve(formula, counts);
        check_values("the curve", &curve, &run.curve)?;
        check_values("the picture", &self.image.through(&curve), &run.picture)?;
        let share = |formula: Formula| formula.differing(counts) as f64 / self.image.pixels.len() as f64 * 100.0;
        let differing = formula.map(|formula| Value::derived(share(formula)));
        Ok(Timed { run, pageable: self.pageable.clone(), pinned: self.pinned.clone(), differing })
    }
}

impl Timed {
    /// Microseconds of a step, if the run has it.
    pub fn step(&self, step: KernelStep) -> Option<Value> {
        self.run.steps.iter().find(|found| found.step == step).map(|found| Value::from_samples(&found.times))
    }

    /// Microseconds of all kernels.
    pub fn kernels(&self) -> Value {
        Value::from_samples(&self.run.total)
    }

    /// Microseconds of the upload.
    pub fn upload(&self) -> Value {
        Value::from_samples(&self.pageable.upload)
    }

    /// Microseconds of the download.
    pub fn download(&self) -> Value {
        Value::from_samples(&self.pageable.download)
    }

    /// Microseconds of upload, kernels and download, with copies from and to pageable memory.
    pub fn with_copies(&self) -> Value {
        self.total(&self.pageable)
    }

    /// Microseconds of upload, kernels and download, with copies from and to pinned memory.
    pub fn with_pinned_copies(&self) -> Value {
        self.total(&self.pinned)
    }

    fn total(&self, BusTimes { upload, download }: &BusTimes) -> Value {
        let sums = self.run.total.iter().zip(upload).zip(download).map(|((kernels, up), down)| kernels + up + down);
        Value::from_samples(&sums.collect::<Vec<_>>())
    }
}

/// The note of tables that use another arithmetic than the specification.
pub fn note(arithmetic: Arithmetic) -> Option<String> {
    let which = match arithmetic {
        Arithmetic::Specification => return None,
        Arithmetic::Own => "its publication's own arithmetic".to_owned(),
        Arithmetic::One(formula) => format!("the formula {formula}"),
    };
    Some(format!(
        "Computed by {which}; differing is the share of samples that come out otherwise by the specification."
    ))
}

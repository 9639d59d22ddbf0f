//! `histeq-lab bins`: histograms of many bins over 32-bit elements, saturated, as in cuda-4096-bins-saturated.

use super::on_gpu::{experiment, published_setup, repeats, with_choice};
use crate::bench::Setup;
use crate::bench::output::{Row, Table, Unit, Value};
use crate::bench::reference::expected::check_values;
use crate::bench::reference::sequential;
use crate::publications::{DevicePlane, Elements, Experiment, HistogramVariant, HostMemory, KernelBench, Variants};
use anyhow::Result;
use histeq::{Named, named};
use std::hint::black_box;

/// Numbers of elements, for 4,096 bins. The second is the publication's, three per pixel of 1920x1080; the last takes
/// one CPU core about as long as the publication's largest, "up to even 600 ms".
const ELEMENTS: [usize; 6] = [1 << 20, 1920 * 1080 * 3, 1 << 24, 1 << 26, 1 << 28, 1 << 30];

/// Numbers of bins, for `TYPICAL` elements. The publication stops at 4,096.
const BINS: [u32; 9] = [256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536];

/// The publication's number of bins.
const MAX_BINS: u32 = 4096;

/// The number of elements of the second table.
const TYPICAL: usize = 1 << 24;

/// A table of the CPU, and tables of the GPU over elements and over bins.
pub fn run(setup: &Setup) -> Result<Vec<Table>> {
    let mut cpu = cpu_table(setup);
    let mut tables = [
        gpu_table(setup, "elements", "Over the number of elements"),
        gpu_table(setup, "bins", "Over the number of bins"),
    ];
    let kernel_bench = setup.gpu().ok().map(KernelBench::new).transpose()?;
    let cases = cases(setup);
    setup.steps.expect(cases.len());
    for Case { elements, bins, over, input } in cases {
        setup.steps.next(format!("{elements} elements, {bins} bins"))?;
        let case = InputElements::new(setup, input, elements, bins);
        let row = case.row(&[]).with("sequential", case.on_cpu);
        // Both tables of the GPU have one case in common, whose row on the CPU is added once.
        if !cpu.rows().iter().any(|known| known.keys == row.keys) {
            cpu.push(row);
        }
        let Some(kernel_bench) = &kernel_bench else { continue };
        let on_gpu = DeviceElements::put(setup, kernel_bench, &case)?;
        for (name, experiment) in experiments(setup) {
            tables[over].push(on_gpu.row(setup, kernel_bench, name, &experiment)?);
        }
    }
    let [elements, bins] = tables;
    Ok(vec![cpu, elements, bins])
}

named! {
    /// The elements' values.
    pub enum Values {
        Random = "random", "Random ones";
        /// As in the current version of the publication's program: every thread adds to the same bin.
        Ones = "ones", "All 1";
    }
}

/// An input to count.
struct Case {
    elements: usize,
    bins: u32,
    /// The index of its table: 0 over elements, 1 over bins.
    over: usize,
    input: Values,
}

/// The case chosen on the command line, or all cases.
fn cases(setup: &Setup) -> Vec<Case> {
    let both = |elements: usize, bins: u32, over: usize| {
        [Values::Random, Values::Ones].map(|input| Case { elements, bins, over, input })
    };
    if let Some((elements, bins)) = setup.bins_case {
        return both(elements, bins, 0).into();
    }
    let elements = |elements: usize| if setup.quick { elements >> 12 } else { elements };
    // Counting all elements in one bin takes the GPU long, so large inputs are omitted.
    let over_elements = ELEMENTS.into_iter().flat_map(|count| {
        both(elements(count), MAX_BINS, 0)
            .into_iter()
            .filter(move |case| case.input == Values::Random || count <= TYPICAL)
    });
    let random = |bins| Case { elements: elements(TYPICAL), bins, over: 1, input: Values::Random };
    over_elements.chain(BINS.map(random)).collect()
}

/// The measured kernels: two of the publication and those of this project, or the chosen one.
fn experiments(setup: &Setup) -> Vec<(&'static str, Experiment)> {
    let publication = experiment(setup, &published_setup("4096 bins, privatized"));
    let chosen = |histogram| Variants { histogram: Some(histogram), ..setup.chosen };
    let all = [HistogramVariant::Global, HistogramVariant::Privatized, HistogramVariant::Replicated];
    let histograms = setup.chosen.histogram.map_or(all.to_vec(), |histogram| vec![histogram]);
    histograms
        .into_iter()
        .map(|histogram| {
            let experiment = Experiment { formula: None, ..with_choice(publication, &chosen(histogram)) };
            (histogram.name(), Experiment { saturated_at: Some(setup.saturate), ..experiment })
        })
        .collect()
}

fn cpu_table(setup: &Setup) -> Table {
    Table::new("cpu", "On the CPU, one thread", &["elements", "bins", "input"])
        .note(format!(
            "The plain loop of the publication; a bin holds {} at most. Elements are random, or all 1.",
            setup.saturate
        ))
        .measures(["sequential"], Unit::Microseconds)
}

fn gpu_table(setup: &Setup, name: &'static str, title: &str) -> Table {
    Table::new(name, title, &["elements", "bins", "input", "kernel"])
        .note(format!(
            "Elements of 32 bits, which are on the GPU already, as in the publication, whose program prefetches \
             managed memory (prefetch; its own time does not include that); 120 blocks of 512 threads; then a \
             second kernel cuts bins off at {}. global counts in global memory, privatized in shared memory first, \
             replicated in several copies there. Bins that do not fit in there are counted in several passes.",
            setup.saturate
        ))
        .measures(["kernels", "histogram", "saturation", "upload", "with upload", "prefetch"], Unit::Microseconds)
        .measures(["speed-up"], Unit::Times)
}

/// Elements, with their counts and the time that the CPU needs to count them.
struct InputElements {
    input: Values,
    elements: Vec<u32>,
    bins: u32,
    counts: Vec<u32>,
    on_cpu: Value,
}

impl InputElements {
    fn new(setup: &Setup, input: Values, count: usize, bins: u32) -> Self {
        let mut random = 0x9e37_79b9_7f4a_7c15_u64;
        let next = || {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            (random >> 20) as u32 % bins
        };
        let elements = match input {
            Values::Random => std::iter::repeat_with(next).take(count).collect(),
            Values::Ones => vec![1.min(bins - 1); count],
        };
        let mut counts = Vec::new();
        let on_cpu = setup.repeats.time(|| {
            counts = sequential::saturated(black_box(&elements), bins as usize, setup.saturate);
        });
        InputElements { input, elements, bins, counts, on_cpu }
    }

    fn row(&self, more: &[&str]) -> Row {
        let keys = [self.elements.len().to_string(), self.bins.to_string(), self.input.name().to_owned()];
        Row::new(keys.into_iter().chain(more.iter().map(|key| (*key).to_owned())))
    }
}

/// The elements on the GPU, with the times of their upload.
struct DeviceElements<'a> {
    case: &'a InputElements,
    plane: DevicePlane,
    upload: Vec<f64>,
    /// `None` where prefetching failed: not every GPU can prefetch managed memory.
    prefetch: Option<Value>,
}

impl<'a> DeviceElements<'a> {
    fn put(setup: &Setup, kernel_bench: &KernelBench, case: &'a InputElements) -> Result<Self> {
        let plane = kernel_bench.put(Elements::U32(&case.elements), (case.elements.len(), 1), case.bins, 1)?;
        let upload = kernel_bench.transfer(&plane, HostMemory::Pageable, repeats(setup))?.upload;
        let prefetch = kernel_bench.prefetch(&plane, repeats(setup)).ok().map(|times| Value::from_samples(&times));
        Ok(DeviceElements { case, plane, upload, prefetch })
    }

    fn row(&self, setup: &Setup, kernel_bench: &KernelBench, name: &str, experiment: &Experiment) -> Result<Row> {
        let counted = kernel_bench.histogram(&self.plane, experiment, repeats(setup))?;
        let cut = kernel_bench.saturation(&counted.result, setup.saturate, repeats(setup))?;
        check_values("the saturated histogram", &self.case.counts, &cut.result)?;
        let sums = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a + b).collect::<Vec<f64>>();
        let kernels = sums(&counted.times, &cut.times);
        let with_upload = Value::from_samples(&sums(&kernels, &self.upload));
        let kernels = Value::from_samples(&kernels);
        Ok(self
            .case
            .row(&[name])
            .with("kernels", kernels)
            .with("histogram", Value::from_samples(&counted.times))
            .with("saturation", Value::from_samples(&cut.times))
            .with("upload", Value::from_samples(&self.upload))
            .with("with upload", with_upload)
            .with("prefetch", self.prefetch)
            .with("speed-up", Value::derived(self.case.on_cpu.median / kernels.median)))
    }
}

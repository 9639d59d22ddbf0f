//! Options that choose kernel variants.

use crate::options::equalize::EqualizeOptions;
use crate::options::values::{AnyCase, usage};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use histeq::Named;
use histeq::cuda::KernelChoice;
use histeq::equalize::Backend;
use histeq_lab::publications::{HistogramVariant, ScanVariant, Variants};
use std::sync::Arc;

/// Threads of a block.
const BLOCK_SIZES: [&str; 5] = ["64", "128", "256", "512", "1024"];

/// The CUDA kernels that equalize, as typed.
#[derive(Args, Debug)]
pub struct KernelArgs {
    /// CUDA kernel that counts the histogram; all give the same bytes [default: tuned for the GPU]
    #[arg(long, value_name = "KERNEL", value_parser = kernel::<HistogramVariant>())]
    #[arg(help_heading = "GPU kernels, for study", hide_short_help = true)]
    pub histogram: Option<HistogramVariant>,

    /// CUDA kernel that sums the histogram up, with --exact; all give the same bytes [default: tuned for the GPU]
    #[arg(long, value_name = "KERNEL", value_parser = kernel::<ScanVariant>())]
    #[arg(help_heading = "GPU kernels, for study", hide_short_help = true)]
    pub scan: Option<ScanVariant>,

    /// Threads per block of these kernels; given alone, chooses --histogram coarsened [default: by kernel]
    #[arg(long, value_name = "N")]
    #[arg(value_parser = PossibleValuesParser::new(BLOCK_SIZES).try_map(|text| text.parse::<u32>()))]
    #[arg(help_heading = "GPU kernels, for study", hide_short_help = true)]
    pub block_size: Option<u32>,

    /// Pixels that each thread counts, 1 to 256; given alone, chooses --histogram coarsened [default: by kernel]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    #[arg(help_heading = "GPU kernels, for study", hide_short_help = true)]
    pub pixels_per_thread: Option<u32>,
}

/// A parser of the names of kernels, which `--help` lists.
fn kernel<T: Named + Send + Sync>() -> impl TypedValueParser<Value = T> {
    let names = PossibleValuesParser::new(T::ALL.iter().map(|kernel| kernel.name()));
    AnyCase(names).map(|name| T::from_name(&name).expect("one of the listed names"))
}

impl KernelArgs {
    /// The chosen variants.
    pub fn chosen(&self) -> Variants {
        Variants {
            histogram: self.histogram,
            scan: self.scan,
            block_size: self.block_size,
            pixels_per_thread: self.pixels_per_thread,
            ..Variants::default()
        }
    }

    /// The chosen kernels; `None` for the default ones.
    ///
    /// # Errors
    /// When they do not go with the backend or with `equalize`: a usage error.
    pub fn resolve(
        &self,
        backend: Backend,
        equalize: &EqualizeOptions,
    ) -> Result<Option<Arc<dyn KernelChoice>>, clap::Error> {
        let Some(option) = self.first_given() else { return Ok(None) };
        let conflict = |why: &str| Err(usage(ErrorKind::ArgumentConflict, &format!("{option} {why}")));
        if !backend.may_use_gpu() {
            return conflict("is about CUDA kernels, and does not go with --backend cpu");
        }
        if equalize.load_curves.is_some() {
            return conflict("does not go with --load-curves, which counts nothing");
        }
        if let Some(method) = equalize.options.tiled_method() {
            return conflict(&format!("does not go with --method {method}, whose kernels have no variants"));
        }
        if self.scan.is_some() && !(equalize.options.is_textbook() && equalize.mask.is_none()) {
            let message = "--scan takes --exact: with a temporal window, a plateau, bins or a contrast limit, the \
                           kernel that applies those also does the scan";
            return Err(usage(ErrorKind::ArgumentConflict, message));
        }
        Ok(Some(Arc::new(self.chosen())))
    }

    /// The first of these options that was given.
    pub fn first_given(&self) -> Option<&'static str> {
        let given = [
            (self.histogram.is_some(), "--histogram"),
            (self.scan.is_some(), "--scan"),
            (self.block_size.is_some(), "--block-size"),
            (self.pixels_per_thread.is_some(), "--pixels-per-thread"),
        ];
        given.into_iter().find(|(is_given, _)| *is_given).map(|(_, option)| option)
    }
}

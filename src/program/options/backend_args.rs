//! Options that choose the backend.

use super::backend::{BackendArg, BackendChoice};
use super::equalize::EqualizeOptions;
#[cfg(feature = "lab")]
use super::variant_args::VariantArgs;
use clap::Args;

/// Where equalization runs, as typed.
#[derive(Args, Debug)]
pub struct BackendArgs {
    /// Where to equalize
    #[arg(long, value_enum, default_value_t = BackendArg::Auto, help_heading = "GPU", hide_short_help = true)]
    pub backend: BackendArg,

    /// GPU to use, counted from 0 in the list that `histeq-video devices` prints
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        overrides_with = "gpu",
        help_heading = "GPU",
        hide_short_help = true
    )]
    pub gpu: usize,

    /// Kernels to use.
    #[cfg(feature = "lab")]
    #[command(flatten)]
    pub kernels: VariantArgs,
}

impl BackendArgs {
    /// The chosen backend. With `cpu_may_begin`, the CPU equalizes until the GPU is open, unless kernels were chosen.
    ///
    /// # Errors
    /// When the chosen kernels do not go with the backend or with `equalize`: a usage error.
    #[cfg_attr(not(feature = "lab"), expect(unused_variables, reason = "only the laboratory has other kernels"))]
    pub(super) fn choice(&self, equalize: &EqualizeOptions, cpu_may_begin: bool) -> Result<BackendChoice, clap::Error> {
        #[cfg(feature = "lab")]
        let kernels = self.kernels.resolve(self.backend, equalize)?;
        #[cfg(not(feature = "lab"))]
        let kernels = None;
        let hand_over = cpu_may_begin && kernels.is_none();
        Ok(BackendChoice { backend: self.backend, gpu: self.gpu, kernels, hand_over, sources: 1 })
    }
}

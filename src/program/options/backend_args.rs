//! Options that choose the backend.

use super::equalize::EqualizeOptions;
use super::lab::KernelArgs;
use super::values::named;
use clap::Args;
use histeq::equalize::{Backend, BackendChoice};

/// Where equalization runs, as typed.
#[derive(Args, Debug)]
pub struct BackendArgs {
    /// Where to equalize
    #[arg(long, value_parser = named::<Backend>(), default_value_t = Backend::Auto)]
    #[arg(help_heading = "GPU", hide_short_help = true)]
    pub backend: Backend,

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
    #[command(flatten)]
    pub kernels: KernelArgs,
}

impl BackendArgs {
    /// The chosen backend. With `cpu_may_begin`, the CPU equalizes until the GPU is open, unless kernels were chosen.
    ///
    /// # Errors
    /// When the chosen kernels do not go with the backend or with `equalize`: a usage error.
    pub(super) fn choice(&self, equalize: &EqualizeOptions, cpu_may_begin: bool) -> Result<BackendChoice, clap::Error> {
        let kernels = self.kernels.resolve(self.backend, equalize)?;
        let hand_over = cpu_may_begin && kernels.is_none();
        Ok(BackendChoice { backend: self.backend, gpu: self.gpu, kernels, hand_over, ..BackendChoice::default() })
    }
}

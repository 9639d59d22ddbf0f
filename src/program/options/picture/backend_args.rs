//! Options that choose the backend.

use crate::options::values::named;
use clap::Args;
use histeq::internal::equalize::backend::{Backend, BackendChoice};

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
}

impl BackendArgs {
    /// The chosen backend. With `hand_over`, the CPU equalizes until the GPU is open.
    pub(crate) fn choice(&self, hand_over: bool) -> BackendChoice {
        BackendChoice { backend: self.backend, gpu: self.gpu, hand_over, ..BackendChoice::default() }
    }
}

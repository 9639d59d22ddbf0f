//! In place of `lab` where the program is built without the laboratory: no command, no options.

use super::equalize::EqualizeOptions;
use super::stderr::Verbosity;
use clap::{Args, Subcommand};
use histeq::cuda::KernelChoice;
use histeq::equalize::Backend;
use std::sync::Arc;

/// The commands of the laboratory: none.
#[derive(Subcommand, Debug)]
pub enum LabCommand {}

impl LabCommand {
    /// No job.
    pub fn job(self) -> Result<Box<LabJob>, clap::Error> {
        match self {}
    }
}

/// What the laboratory is to do: nothing.
pub struct LabJob {
    /// How much is printed on stderr.
    pub verbosity: Verbosity,
    never: std::convert::Infallible,
}

impl LabJob {
    /// There is no such job.
    pub fn never(&self) -> ! {
        match self.never {}
    }
}

/// Options that choose kernels: none.
#[derive(Args, Debug)]
pub struct KernelArgs {}

impl KernelArgs {
    /// The default kernels.
    pub fn resolve(&self, _: Backend, _: &EqualizeOptions) -> Result<Option<Arc<dyn KernelChoice>>, clap::Error> {
        Ok(None)
    }
}

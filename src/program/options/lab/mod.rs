//! What the laboratory adds to the command line: the command `bench`, and options that choose kernels of publications.
//! `without_lab.rs` stands in its place where the program is built without it.

mod bench;
mod kernels;

pub use bench::{BenchArgs, BenchJob as LabJob};
pub use kernels::KernelArgs;

use clap::Subcommand;

/// The commands of the laboratory.
#[derive(Subcommand, Debug)]
pub enum LabCommand {
    /// Measure this machine: GPU kernels, memory transfers, CPU, whole files
    Bench(Box<BenchArgs>),
}

impl LabCommand {
    /// Checks and converts the options.
    pub fn job(self) -> Result<Box<LabJob>, clap::Error> {
        let LabCommand::Bench(args) = self;
        Ok(Box::new(LabJob::from_args(*args)?))
    }
}

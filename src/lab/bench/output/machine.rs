//! The machine of a report.

use histeq::internal::cuda::Gpu;

/// The hardware of a machine.
#[derive(Clone, Debug)]
pub struct Machine {
    /// The processor's name.
    pub cpu: String,
    /// Threads that this process may use.
    pub threads: usize,
    /// The GPU's name, if one is used.
    pub gpu: Option<String>,
}

impl Machine {
    /// This machine, with the GPU that is measured.
    pub fn here(gpu: Option<&Gpu>) -> Self {
        let facts = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let named = facts.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
        Machine {
            cpu: named.map_or("a CPU that does not say its name", |(_, name)| name.trim()).to_owned(),
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            gpu: gpu.map(|gpu| format!("{}, {} multiprocessors", gpu.name, gpu.multiprocessors)),
        }
    }

    /// A description of the machine in one line.
    pub fn line(&self) -> String {
        let plural = if self.threads == 1 { "" } else { "s" };
        let gpu = self.gpu.as_ref().map_or(String::new(), |gpu| format!("{gpu}; "));
        format!("{gpu}{}, {} thread{plural}", self.cpu, self.threads)
    }
}

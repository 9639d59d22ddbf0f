//! The parameters of a suite (number of runs, GPU, variants), and its progress.

use super::output::Repeats;
use super::reference::Arithmetic;
use crate::publications::Variants;
use anyhow::{Result, ensure};
use histeq::internal::cuda::Gpu;
use histeq_media::pipeline::Cancel;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::cell::OnceCell;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The parameters of a suite.
pub struct Setup {
    /// The number of runs of each figure.
    pub repeats: Repeats,
    /// Whether to measure small pictures only, for tests of the suites themselves.
    pub quick: bool,
    /// The GPU, counted from 0; `None` measures the CPU alone.
    pub gpu_index: Option<usize>,
    /// The arithmetic of the publications' kernels.
    pub arithmetic: Arithmetic,
    /// Kernels and launch shapes from the command line, in place of the publications'.
    pub chosen: Variants,
    /// The value at which bins saturate.
    pub saturate: u32,
    /// An image of the user, for the suites that follow a publication.
    pub file: Option<PathBuf>,
    /// The progress of the suite.
    pub steps: Steps,
    /// The number of elements and of bins that `bins` measures, if one case was chosen.
    pub bins_case: Option<(usize, u32)>,
    /// The GPU, opened on first use, because opening it needs memory, and not every suite needs a GPU.
    pub opened: OnceCell<Result<Arc<Gpu>, String>>,
    /// The time that opening the GPU took.
    pub opened_in: OnceCell<Duration>,
}

impl Setup {
    /// The GPU.
    ///
    /// # Errors
    /// The reason why there is none.
    pub fn gpu(&self) -> Result<&Arc<Gpu>, &str> {
        let opened = self.opened.get_or_init(|| match self.gpu_index {
            Some(index) => {
                let begin = Instant::now();
                let gpu = Gpu::open(index).map_err(|error| error.to_string());
                let _ = self.opened_in.set(begin.elapsed());
                gpu
            }
            None => Err("--backend cpu asks for the CPU alone".to_owned()),
        });
        opened.as_ref().map_err(String::as_str)
    }

    /// The time that opening the GPU took, if it has been opened.
    pub fn opening(&self) -> Option<Duration> {
        self.opened_in.get().copied()
    }

    /// The frame sizes of a suite; if `quick`, the same number of small sizes.
    pub fn sizes(&self, sizes: &[(usize, usize)]) -> Vec<(usize, usize)> {
        if !self.quick {
            return sizes.to_vec();
        }
        // All sizes differ, and some are odd, as in the publications.
        (0..sizes.len()).map(|index| (48 + 13 * index, 31 + 6 * index)).collect()
    }
}

/// The steps of a suite, with a progress bar.
pub struct Steps {
    /// The progress bar, through which other terminal output has to go.
    pub bar: ProgressBar,
    /// The token that cancels the suite.
    pub cancel: Cancel,
}

impl Steps {
    /// Steps with a progress bar on stderr if `shown`; `cancel` ends them.
    pub fn new(shown: bool, cancel: Cancel) -> Self {
        let bar = match shown {
            true => ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr_with_hz(10)),
            false => ProgressBar::hidden(),
        };
        let template = ProgressStyle::with_template("{percent:>3}% {wide_bar} {msg} {elapsed}");
        // The template is a constant, and valid.
        bar.set_style(template.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Steps { bar, cancel }
    }

    /// Adds this number of steps to the expected total.
    pub fn expect(&self, steps: usize) {
        self.bar.inc_length(steps as u64);
    }

    /// Starts the next step, `what`.
    ///
    /// # Errors
    /// When the suite is cancelled.
    pub fn next(&self, what: impl Into<String>) -> Result<()> {
        ensure!(!self.cancel.is_cancelled(), "interrupted");
        self.bar.inc(1);
        self.bar.set_message(what.into());
        Ok(())
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// A size as `WIDTHxHEIGHT`.
pub fn size_name((width, height): (usize, usize)) -> String {
    format!("{width}x{height}")
}

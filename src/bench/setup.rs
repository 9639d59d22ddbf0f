//! What a suite is told: how often to run, on which GPU, with which variants; and where it says how far it is.

use super::{Arithmetic, Repeats, TranscodeBackend};
use crate::cuda::Gpu;
use crate::pipeline::Cancel;
use crate::publications::Variants;
use anyhow::{Result, ensure};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::cell::OnceCell;
use std::path::PathBuf;
use std::sync::Arc;

/// How to run a suite.
pub struct Setup {
    /// How often each figure is measured.
    pub repeats: Repeats,
    /// Whether small pictures do: for tests of the suites themselves.
    pub quick: bool,
    /// Which GPU, counted from 0; `None` is to measure the CPU alone.
    pub gpu_index: Option<usize>,
    /// What the publications' kernels compute by.
    pub arithmetic: Arithmetic,
    /// Kernels and shapes that were chosen in place of the publications'.
    pub chosen: Variants,
    /// What bins saturate at.
    pub saturate: u32,
    /// The file of `transcode`.
    pub file: Option<PathBuf>,
    /// The preset of x264 there.
    pub preset: String,
    /// The ways of this program that run there.
    pub ways: Vec<TranscodeBackend>,
    /// Whether ffmpeg's histeq filter runs there, too.
    pub filter: bool,
    /// Says how far the suite is.
    pub steps: Steps,
    /// The GPU, once it has been asked for: opening it costs memory, and not every suite needs it.
    pub opened: OnceCell<Result<Arc<Gpu>, String>>,
}

impl Setup {
    /// The GPU.
    ///
    /// # Errors
    /// Says why there is none.
    pub fn gpu(&self) -> Result<&Arc<Gpu>, &str> {
        let opened = self.opened.get_or_init(|| match self.gpu_index {
            Some(index) => Gpu::open(index).map_err(|error| error.to_string()),
            None => Err("--backend cpu asks for the CPU alone".to_owned()),
        });
        opened.as_ref().map_err(String::as_str)
    }

    /// Picture sizes of a suite; small ones of the same number if that will do.
    pub fn sizes(&self, sizes: &[(usize, usize)]) -> Vec<(usize, usize)> {
        if !self.quick {
            return sizes.to_vec();
        }
        // Apart from each other, and odd, as the publications' are.
        (0..sizes.len()).map(|index| (48 + 13 * index, 31 + 6 * index)).collect()
    }

    /// The same, each a step of its own.
    ///
    /// # Errors
    /// In place of a size, when there is to be no further step.
    pub fn each_size(&self, sizes: &[(usize, usize)]) -> impl Iterator<Item = Result<(usize, usize)>> {
        let sizes = self.sizes(sizes);
        self.steps.expect(sizes.len());
        sizes.into_iter().map(|size| self.steps.next(size_name(size)).map(|()| size))
    }
}

/// The steps of a suite, on a bar that is shown on a terminal only.
pub struct Steps {
    bar: ProgressBar,
    cancel: Cancel,
}

impl Steps {
    /// On a terminal's stderr, or nowhere; there are no more steps once `cancel` says so.
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

    /// Says that there will be this number of further steps.
    pub fn expect(&self, steps: usize) {
        self.bar.inc_length(steps as u64);
    }

    /// Says what the next step is.
    ///
    /// # Errors
    /// When there is to be none.
    pub fn next(&self, what: impl Into<String>) -> Result<()> {
        ensure!(!self.cancel.is_cancelled(), "interrupted");
        self.bar.inc(1);
        self.bar.set_message(what.into());
        Ok(())
    }

    /// The bar, for whoever prints beside it.
    pub fn bar(&self) -> ProgressBar {
        self.bar.clone()
    }

    /// What ends the suite before its end.
    pub fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// A size as it is written.
pub fn size_name((width, height): (usize, usize)) -> String {
    format!("{width}x{height}")
}

//! The thread on which a GPU is opened: most of it is the driver's work, and takes as long as many frames.

use crate::cuda::{Error, Gpu, KernelChoice, find_driver};
use crossbeam_channel::{Receiver, bounded};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

/// The thread that opens a GPU.
pub(super) struct Thread {
    /// `None` once it has been waited for.
    handle: Option<JoinHandle<Result<Arc<Gpu>, Error>>>,
    /// Gets a word when there is a driver to start, and is closed when there is none; until it has been asked.
    driver: Option<Receiver<()>>,
    has_driver: bool,
}

impl Thread {
    /// Begins to open the GPU; `None` without a thread to do so.
    pub(super) fn start(gpu: usize, kernels: Option<Arc<dyn KernelChoice>>) -> Option<Self> {
        let (found, driver) = bounded(1);
        let open = move || {
            find_driver()?;
            // Whoever asks may have gone.
            let _ = found.send(());
            Gpu::open_with(gpu, kernels.as_deref())
        };
        let handle = Builder::new().name("gpu".to_owned()).spawn(open).ok()?;
        Some(Thread { handle: Some(handle), driver: Some(driver), has_driver: false })
    }

    /// Whether there is a driver, and it is still being started.
    pub(super) fn is_opening(&mut self) -> bool {
        if let Some(driver) = self.driver.take() {
            self.has_driver = driver.recv().is_ok();
        }
        self.has_driver && !self.is_finished()
    }

    /// Whether it is open, or known not to be there.
    pub(super) fn is_finished(&self) -> bool {
        self.handle.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// The GPU, waiting until it is open.
    ///
    /// # Errors
    /// As for [`Gpu::open`].
    pub(super) fn join(mut self) -> Result<Arc<Gpu>, Error> {
        let handle = self.handle.take().expect("joined once");
        handle.join().unwrap_or_else(|panic| resume_unwind(panic))
    }
}

impl Drop for Thread {
    /// Waits for the GPU that nobody wants any more: the process must not end while its driver is starting.
    fn drop(&mut self) {
        self.handle.take().map(JoinHandle::join);
    }
}

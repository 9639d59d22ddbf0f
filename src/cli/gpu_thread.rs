//! A thread that opens a GPU: the driver takes as long for that as many frames do.

use crate::cuda::{Error, Gpu, KernelChoice, find_driver};
use crossbeam_channel::{Receiver, bounded};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle};

/// Set when a thread was left to itself.
static LEFT_OPENING: AtomicBool = AtomicBool::new(false);

/// A thread that opens a GPU.
pub(super) struct GpuThread {
    /// `None` once it has been joined.
    handle: Option<JoinHandle<Result<Arc<Gpu>, Error>>>,
    /// Receives one message if a driver is found, and is disconnected otherwise. `None` once it has been read.
    driver: Option<Receiver<()>>,
    has_driver: bool,
}

impl GpuThread {
    /// Begins to open the GPU; `None` if the system starts no thread.
    pub(super) fn start(gpu: usize, kernels: Option<Arc<dyn KernelChoice>>) -> Option<Self> {
        let (found, driver) = bounded(1);
        let open = move || {
            find_driver()?;
            // The receiver may be gone.
            let _ = found.send(());
            Gpu::open_with(gpu, kernels.as_deref())
        };
        let handle = Builder::new().name("gpu".to_owned()).spawn(open).ok()?;
        Some(GpuThread { handle: Some(handle), driver: Some(driver), has_driver: false })
    }

    /// Whether a driver was found and is still starting. Waits for the search for a driver.
    pub(super) fn is_opening(&mut self) -> bool {
        if let Some(driver) = self.driver.take() {
            self.has_driver = driver.recv().is_ok();
        }
        self.has_driver && !self.is_finished()
    }

    /// Whether the GPU is open, or cannot be opened.
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

impl Drop for GpuThread {
    /// Leaves the thread to itself: opening cannot be stopped.
    fn drop(&mut self) {
        if !self.is_finished() {
            LEFT_OPENING.store(true, Ordering::Relaxed);
        }
    }
}

/// Whether a thread may still be opening a GPU that is not needed any more. Then the process must end without the exit
/// handlers of the driver, which rely on its start being over.
pub fn gpu_may_be_opening() -> bool {
    LEFT_OPENING.load(Ordering::Relaxed)
}

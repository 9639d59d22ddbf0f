//! A thread that opens a GPU, because the driver takes as long to start as the equalization of many frames.

use crate::cuda::{Error, Gpu, find_driver};
use crate::frame::Limits;
use crossbeam_channel::{Receiver, Sender, bounded};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle};

/// Set when a thread was detached that might still open a GPU. Once a process, as are the driver's start and its exit
/// handlers.
static LEFT_OPENING: AtomicBool = AtomicBool::new(false);

pub(crate) struct GpuThread {
    /// `None` once it has been joined.
    handle: Option<JoinHandle<Result<Arc<Gpu>, Error>>>,
    /// Receives one message if a driver is found, and is disconnected otherwise. `None` once it has been read.
    driver: Option<Receiver<()>>,
    has_driver: bool,
    /// A message makes the thread open the GPU.
    wanted: Sender<()>,
}

impl GpuThread {
    /// Finds the driver at once. Opens the GPU when [`begin`](GpuThread::begin) or [`join`](GpuThread::join) is called,
    /// unless this value is dropped before. `None` if the system starts no thread.
    pub fn start(gpu: usize, limits: &Limits) -> Option<Self> {
        let limits = limits.clone();
        let (found, driver) = bounded(1);
        let (wanted, opened) = bounded(1);
        let open = move || {
            find_driver()?;
            // The receiver may be gone.
            let _ = found.send(());
            if opened.recv().is_err() {
                return Err(Error::Refused { reason: "the job has ended".to_owned() });
            }
            Gpu::open_within(gpu, &limits)
        };
        let handle = Builder::new().name("gpu".to_owned()).spawn(open).ok()?;
        Some(GpuThread { handle: Some(handle), driver: Some(driver), has_driver: false, wanted })
    }

    /// Lets the thread open the GPU.
    pub fn begin(&self) {
        // A full channel holds the same message already.
        let _ = self.wanted.try_send(());
    }

    /// Whether a driver was found and is still starting. Waits for the search for a driver.
    pub fn is_opening(&mut self) -> bool {
        if let Some(driver) = self.driver.take() {
            self.has_driver = driver.recv().is_ok();
        }
        self.has_driver && !self.is_finished()
    }

    /// Whether the GPU is open, or cannot be opened.
    pub fn is_finished(&self) -> bool {
        self.handle.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// The GPU, waiting until it is open.
    ///
    /// # Errors
    /// As for [`Gpu::open_within`].
    pub fn join(mut self) -> Result<Arc<Gpu>, Error> {
        self.begin();
        let handle = self.handle.take().expect("joined once");
        handle.join().unwrap_or_else(|panic| resume_unwind(panic))
    }
}

impl Drop for GpuThread {
    /// Detaches the thread: once begun, opening cannot be stopped.
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

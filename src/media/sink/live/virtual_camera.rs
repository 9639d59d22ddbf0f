//! Writes to a virtual camera.

use crate::pipeline::{Delivery, Encoding, Outcome, Sink};
use crate::sys::HeldVirtualCamera;
use crate::sys::files::Name;
use anyhow::Result;
use std::path::{Path, PathBuf};

/// A sink that writes to a virtual camera, and releases the device at the end.
pub struct VirtualCameraSink {
    // Declared first, so dropped first: FFmpeg has to close the device before `held` releases it.
    sink: Box<dyn Sink>,
    held: Option<HeldVirtualCamera>,
    device: PathBuf,
}

impl VirtualCameraSink {
    /// Wraps the `sink` that writes to `device`.
    pub fn new(sink: Box<dyn Sink>, device: &Path) -> Self {
        HeldVirtualCamera::free(device);
        VirtualCameraSink { sink, held: None, device: device.to_owned() }
    }
}

impl Sink for VirtualCameraSink {
    fn write(&mut self, delivery: Delivery) -> Result<()> {
        self.sink.write(delivery)?;
        if self.held.is_none() {
            // The first frame has set the format. If the driver lacks STREAMON, the device need not be held.
            self.held = HeldVirtualCamera::hold(&self.device).ok();
        }
        Ok(())
    }

    fn encoding(&self) -> Option<Encoding> {
        self.sink.encoding()
    }

    fn finish(self: Box<Self>, outcome: Outcome) -> Result<Option<Name>> {
        let VirtualCameraSink { sink, held, .. } = *self;
        let finished = sink.finish(outcome);
        drop(held);
        finished
    }
}

//! What comes back from a frame on the device, and what it remembers: counts, curves, rows.
#![allow(unsafe_code, reason = "device memory is allocated without being set")]

use crate::cuda::arguments::CurvePlace;
use crate::cuda::error::{Doing, Error};
use crate::cuda::pipeline::history::History;
use crate::cuda::pipeline::picture::DevicePicture;
use crate::cuda::pipeline::readback::ReadbackLayout;
use crate::cuda::pipeline::task::Task;
use crate::spec::time::Counts;
use cudarc::driver::{DevicePtr, DevicePtrMut, result};
use std::ops::Range;

impl DevicePicture {
    /// Enqueues a copy of the counts of this frame, the last one in `history`, to the readback; does nothing if counts
    /// are not read back.
    pub(super) fn copy_window_counts(
        &mut self,
        history: &History,
        task: &Task,
        readback: &ReadbackLayout,
    ) -> Result<(), Error> {
        if readback.counts.is_empty() || History::slots_for(&task.parameters) == 0 {
            return Ok(());
        }
        let row = history.latest_row;
        let codes = self.layout.codes();
        let source = history.slots.device_ptr(&self.stream).0;
        assert!((row + 1) * codes <= history.slots.len());
        self.copy_to_readback(source + (4 * row * codes) as u64, readback.counts.clone())
    }

    /// Enqueues a copy of the counts of codes to the readback, before the next launch uses them.
    pub(super) fn copy_counts(&mut self, readback: &ReadbackLayout) -> Result<(), Error> {
        let source = self.counts.device_ptr(&self.stream).0;
        self.copy_to_readback(source, readback.counts.clone())
    }

    /// Enqueues a copy of the counts of tiles to the readback, before the next launch uses them.
    pub(super) fn copy_tile_counts(&mut self, readback: &ReadbackLayout) -> Result<(), Error> {
        let stream = self.stream.clone();
        let Some(local) = &self.local else { return Ok(()) };
        assert_eq!(4 * local.counts.len(), readback.tile_counts.len());
        let source = local.counts.device_ptr(&stream).0;
        self.copy_to_readback(source, readback.tile_counts.clone())
    }

    /// Enqueues a copy of the curves to the readback, if they are read back.
    pub(crate) fn copy_curves(&mut self, task: &Task, readback: &ReadbackLayout) -> Result<(), Error> {
        if readback.curves.is_empty() {
            return Ok(());
        }
        if self.local.as_ref().is_some_and(|local| local.place.has_steps()) {
            return self.gpu.clone().kernels.tile_curves()?.launch_tables(self, task, readback.curves.clone());
        }
        let (source, entries) = match &self.local {
            Some(local) => (local.curves.device_ptr(&self.stream).0, local.curves.len()),
            None => (self.curve_address(), self.curve.len()),
        };
        assert_eq!(2 * entries, readback.curves.len());
        self.copy_to_readback(source, readback.curves.clone())
    }

    /// Enqueues a copy of device memory from `source` on into these bytes of the buffer.
    fn copy_to_readback(&mut self, source: u64, bytes: Range<usize>) -> Result<(), Error> {
        let stream = self.stream.clone();
        let mut target = self.pixels.slice_mut(bytes.clone());
        let (destination, _order) = target.device_ptr_mut(&stream);
        // SAFETY: the callers have checked that `bytes.len()` bytes lie behind `source`. Source and target belong to
        // this stream, and live until the copy is done.
        unsafe { result::memcpy_dtod_async(destination, source, bytes.len(), stream.cu_stream()) }
            .doing("copying on the device")
    }

    /// Enqueues the kernels that add the counts of another backend's frame to `history`. [`History::next`] has been
    /// called for the frame. The picture has the layout [`BufferLayout::for_counts`].
    pub(crate) fn remember(&mut self, history: &mut History, counts: &Counts, task: &Task) -> Result<(), Error> {
        let gpu = self.gpu.clone();
        task.assert_suits(&self.layout);
        match task.tiles(&self.layout) {
            Some((tiles, bins)) => {
                self.prepare_local(tiles, bins, CurvePlace::ThroughCaches)?;
                self.take_counts(counts, task)?;
                gpu.kernels.tile_curves()?.launch(self, history, task)
            }
            None => {
                self.take_counts(counts, task)?;
                gpu.kernels.equalization()?.launch(self, history, task)
            }
        }
    }

    /// Copies counts into the buffers into which kernels would have counted. For tiles, `prepare_local` has made the
    /// buffers.
    pub(super) fn take_counts(&mut self, counts: &Counts, task: &Task) -> Result<(), Error> {
        let (doing, stream) = ("copying to the device", self.stream.clone());
        match (counts, self.local.as_mut().filter(|_| task.tiles(&self.layout).is_some())) {
            (Counts::Tiles { tiles, .. }, Some(local)) if tiles.counts().len() == local.counts.len() => {
                let counts: Vec<u32> = tiles.counts().iter().map(|&held| held as u32).collect();
                stream.memcpy_htod(&counts, &mut local.counts).doing(doing)
            }
            (Counts::Frame { histogram, .. }, None) if task.parameters.method.counts() => {
                let mut counts = vec![0; self.layout.codes()];
                for (count, held) in counts[usize::from(task.levels.lo())..].iter_mut().zip(histogram.counts()) {
                    *count = *held as u32;
                }
                stream.memcpy_htod(&counts, &mut self.counts).doing(doing)
            }
            _ => Err(Error::Refused { reason: "counts that do not fit the settings".to_owned() }),
        }
    }

    /// Copies the start of the planes into `bytes` after all enqueued work, for measurements and tests.
    ///
    /// # Errors
    /// When earlier work on the stream or the copy fails.
    ///
    /// # Panics
    /// When the planes have fewer bytes.
    pub fn read(&self, bytes: &mut [u8]) -> Result<(), Error> {
        self.stream.memcpy_dtoh(&self.pixels.slice(..bytes.len()), bytes).doing("copying from the device")?;
        self.stream.synchronize().doing("copying from the device")
    }
}

impl DevicePicture {
    /// Uses the curve of frame `number` of the look-ahead, or enqueues a copy of the curves of its tiles.
    pub(super) fn take_curves(&mut self, history: &History, task: &Task, number: u64) -> Result<(), Error> {
        let smoothing = &task.parameters.smoothing;
        let Some(local) = &mut self.local else {
            self.kept_curve = Some(history.kept_curve(number, smoothing));
            return Ok(());
        };
        let begin = history.place(number, smoothing) * local.curves.len();
        let kept = history.kept_curves.slice(begin..begin + local.curves.len());
        self.stream.memcpy_dtod(&kept, &mut local.curves).doing("taking a kept curve")
    }
}

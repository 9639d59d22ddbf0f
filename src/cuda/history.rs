//! The state on the device from frame to frame: the histograms of the temporal window, their sums, and the scenes that
//! they belong to. The counts of a frame are downloaded with it (`readback`); the rest stays on the device.

use super::error::{Doing, Error};
use super::launch;
use super::layout::BufferLayout;
use super::task::Task;
use crate::spec::clahe::Tiles;
use crate::spec::{Levels, Region, Settings, Smoothing, Threshold};
use cudarc::driver::{CudaSlice, CudaStream};
use std::sync::Arc;

/// Bytes of `Scenes` in kernels/scenes.cuh.
const COARSE: usize = 64;
const SCENES_BYTES: usize = (14 + 2 * COARSE) * 4;

/// Bytes of `Grid` in kernels/curve.cuh.
const GRID_BYTES: usize = (1 + 2 * COARSE + MOST_BLOCKS + 1) * 4 + (4 * MOST_BLOCKS + 1) * 8 + MOST_BLOCKS * 4;

/// The most blocks of `kernels/equalization.cu`.
const MOST_BLOCKS: usize = 64;

/// The properties that all frames of a history share. A frame with another key starts an empty history.
#[derive(Clone, Copy, Debug, PartialEq)]
struct HistoryKey {
    levels: Levels,
    size: (usize, usize),
    smoothing: Smoothing,
    threshold: Threshold,
    region: Region,
    /// The grid of local equalization, the bins of a tile, and the bins in the settings.
    tiles: Option<(Tiles, usize, Option<u32>)>,
}

impl HistoryKey {
    fn of(layout: &BufferLayout, task: &Task) -> Self {
        let Settings { smoothing, scene_threshold: threshold, region, .. } = task.settings;
        let tiles = task.tiles(layout).map(|(tiles, bins)| (tiles, bins, task.settings.bins));
        HistoryKey { levels: task.levels, size: layout.size(), smoothing, threshold, region, tiles }
    }
}

/// The history of one video. Its buffers belong to one stream, on which kernels use them in the order of the frames.
pub struct History {
    stream: Arc<CudaStream>,
    key: Option<HistoryKey>,
    asked_bins: Option<u32>,
    number: u64,
    /// A histogram for each frame of the window and of the flash; with one curve per frame one more, so that the current
    /// frame does not overwrite any of them.
    pub(super) slots: CudaSlice<u32>,
    /// The sums of the two windows; with one curve per frame two sets, which frames read and write alternately.
    pub(super) sums: CudaSlice<u64>,
    pub(super) scenes: CudaSlice<u8>,
    pub(super) marks: CudaSlice<u32>,
    /// Counts in bins, for two frames.
    pub(super) bins: CudaSlice<u64>,
    pub(super) grid: CudaSlice<u8>,
    /// The curves of the frames of the look-ahead, one of which becomes the curve of the oldest of them.
    pub(super) kept_curves: CudaSlice<u16>,
    pub(super) totals: Totals,
}

/// The counts to which the blocks of the fused kernel, and of `tile_histogram`, add. Two buffers alternate: a frame adds
/// to the first one and clears the second one for the next frame.
pub(super) struct Totals {
    codes: usize,
    buffers: [CudaSlice<u32>; 2],
    /// Of the teams of a batch.
    batch: CudaSlice<u32>,
}

impl Totals {
    /// Totals lie in sectors of eight, `SECTOR_PITCH` entries apart, as in kernels/totals.cuh.
    pub const SECTOR: usize = 8;
    pub const SECTOR_PITCH: usize = 64;

    fn on(stream: &Arc<CudaStream>) -> Result<Self, Error> {
        let buffer = || stream.alloc_zeros(1).doing(ALLOCATING);
        Ok(Totals { codes: 0, buffers: [buffer()?, buffer()?], batch: buffer()? })
    }

    /// The entries of a buffer with the totals of `codes` codes.
    pub fn entries(codes: usize) -> usize {
        codes / Totals::SECTOR * Totals::SECTOR_PITCH
    }

    /// The zeroed buffer and the buffer to clear, for the next frame, which has `codes` codes.
    pub fn next(
        &mut self,
        stream: &Arc<CudaStream>,
        codes: usize,
    ) -> Result<(&mut CudaSlice<u32>, &mut CudaSlice<u32>), Error> {
        if self.codes != codes {
            // A frame clears only the entries of its own codes, so other numbers of codes take new buffers.
            self.codes = 0;
            for buffer in &mut self.buffers {
                *buffer = stream.alloc_zeros(Totals::entries(codes)).doing(ALLOCATING)?;
            }
            self.codes = codes;
        }
        let [zero, emptied] = &mut self.buffers;
        Ok((zero, emptied))
    }

    /// Swaps the buffers, after a frame that uses them has been enqueued.
    pub fn swap(&mut self) {
        self.buffers.swap(0, 1);
    }

    /// The totals of the last frame that was enqueued, until the next one clears them.
    pub fn of_last_frame(&self) -> &CudaSlice<u32> {
        &self.buffers[1]
    }

    /// Drops the buffers after a frame that failed midway: the next frame allocates others.
    pub fn invalidate(&mut self) {
        self.codes = 0;
    }

    /// `entries` entries that the stream sets to zero.
    pub fn of_batch(&mut self, stream: &Arc<CudaStream>, entries: usize) -> Result<&mut CudaSlice<u32>, Error> {
        resize(stream, &mut self.batch, entries)?;
        stream.memset_zeros(&mut self.batch).doing(CLEARING)?;
        Ok(&mut self.batch)
    }
}

const ALLOCATING: &str = "allocating memory on the device";
const CLEARING: &str = "clearing memory on the device";

impl Drop for History {
    fn drop(&mut self) {
        // Every kernel whose blocks wait for each other uses a history, so its stream ends with it.
        launch::retire(&self.stream);
    }
}

impl History {
    /// An empty history.
    ///
    /// # Errors
    /// When the GPU has no memory left.
    pub fn on(stream: &Arc<CudaStream>) -> Result<Self, Error> {
        Ok(History {
            stream: stream.clone(),
            key: None,
            asked_bins: None,
            number: 0,
            slots: stream.alloc_zeros(1).doing(ALLOCATING)?,
            sums: stream.alloc_zeros(1).doing(ALLOCATING)?,
            scenes: stream.alloc_zeros(2 * SCENES_BYTES).doing(ALLOCATING)?,
            marks: stream.alloc_zeros(1).doing(ALLOCATING)?,
            bins: stream.alloc_zeros(1).doing(ALLOCATING)?,
            grid: stream.alloc_zeros(GRID_BYTES).doing(ALLOCATING)?,
            kept_curves: stream.alloc_zeros(1).doing(ALLOCATING)?,
            totals: Totals::on(stream)?,
        })
    }

    /// The number of frames whose histograms are kept; 0 without a temporal window.
    pub(super) fn slots_for(settings: &Settings) -> u32 {
        if settings.smoothing.frames() > 1 { settings.smoothing.memory() } else { 0 }
    }

    /// Prepares the buffers for the next frame. Starts an empty history if its key differs from that of the frame
    /// before.
    ///
    /// # Errors
    /// When the GPU has no memory left.
    pub(super) fn prepare(&mut self, layout: &BufferLayout, task: &Task) -> Result<(), Error> {
        let bins = task.settings.bins;
        let key = HistoryKey::of(layout, task);
        let tiles = key.tiles;
        let codes = layout.codes();
        let entries = tiles.map_or(codes, |(tiles, bins, _)| tiles.count() * bins);
        let stream = self.stream.clone();
        if self.key != Some(key) {
            // Invalidate first: an allocation below may fail.
            self.key = None;
            let slots = History::slots_for(&task.settings) as usize;
            let (rows, turns) = if tiles.is_some() { (slots, 1) } else { (slots + 1, 2) };
            // At least one entry each: an empty buffer has no address.
            resize(&stream, &mut self.slots, (rows * entries).max(1))?;
            resize(&stream, &mut self.sums, turns * 2 * entries)?;
            let curves = tiles.map_or(1, |(tiles, ..)| tiles.count());
            let places = if key.smoothing.ahead() > 0 { places(&key.smoothing) } else { 0 };
            resize(&stream, &mut self.kept_curves, (places * curves * codes).max(1))?;
            resize(&stream, &mut self.marks, (2 * slots).max(1))?;
            stream.memset_zeros(&mut self.scenes).doing(CLEARING)?;
            stream.memset_zeros(&mut self.marks).doing(CLEARING)?;
            stream.memset_zeros(&mut self.grid).doing(CLEARING)?;
            self.key = Some(key);
            self.asked_bins = None;
            self.number = 0;
        }
        if self.asked_bins != bins {
            resize(&stream, &mut self.bins, 2 * codes)?;
            stream.memset_zeros(&mut self.bins).doing(CLEARING)?;
            self.asked_bins = bins;
        }
        Ok(())
    }

    /// Makes the next frame the first one of an empty history.
    pub(super) fn reset(&mut self) {
        self.key = None;
    }

    /// Whether this frame would start an empty history in place of one with frames.
    pub(super) fn would_reset(&self, layout: &BufferLayout, task: &Task) -> bool {
        self.key.is_some_and(|key| key != HistoryKey::of(layout, task))
    }

    /// The range of the marks that the last frame wrote.
    pub(super) fn latest_marks(&self, slots: u32) -> std::ops::Range<usize> {
        let begin = if self.number % 2 == 1 { slots as usize } else { 0 };
        begin..begin + slots as usize
    }

    /// The index of the curves of frame `number` in `kept_curves`.
    pub(super) fn place(&self, number: u64, smoothing: &Smoothing) -> usize {
        (number % places(smoothing) as u64) as usize
    }

    /// The number of the last frame.
    pub(super) fn latest_number(&self) -> u64 {
        self.number.saturating_sub(1)
    }

    /// The number of the next frame, counted from the start of this history.
    pub(super) fn next_number(&self) -> u64 {
        self.number
    }

    /// Advances to the next frame. Only after the launch was enqueued: a refused launch has written nothing that the next
    /// frame could read.
    pub(super) fn advance(&mut self) {
        self.number += 1;
    }
}

/// The frames whose curves are kept: a frame of the look-ahead, and the frames that it waits for.
pub(super) fn places(smoothing: &Smoothing) -> usize {
    smoothing.ahead() as usize + 1
}

/// Resizes a buffer to `len` zeros; keeps it as it is if it has this length.
fn resize<T: cudarc::driver::DeviceRepr + cudarc::driver::ValidAsZeroBits>(
    stream: &Arc<CudaStream>,
    buffer: &mut CudaSlice<T>,
    len: usize,
) -> Result<(), Error> {
    if buffer.len() != len {
        *buffer = stream.alloc_zeros(len).doing(ALLOCATING)?;
    }
    Ok(())
}

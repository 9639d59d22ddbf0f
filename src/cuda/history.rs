//! What is remembered on the device from frame to frame: the histograms of the temporal window, their sums, and which
//! scene they belong to. What is counted of a frame comes down with it (`readback`); the rest stays.

use super::error::{Doing, Error};
use super::launch;
use super::layout::BufferLayout;
use super::task::Task;
use crate::spec::clahe::Tiles;
use crate::spec::{COARSE, Levels, Region, Settings, Smoothing, Threshold};
use cudarc::driver::{CudaSlice, CudaStream};
use std::sync::Arc;

/// Bytes of `Scenes` in kernels/scenes.cuh.
const SCENES_BYTES: usize = (14 + 2 * COARSE) * 4;

/// Bytes of `Grid` in kernels/curve.cuh.
const GRID_BYTES: usize = (1 + 2 * COARSE + MOST_BLOCKS + 1) * 4 + (4 * MOST_BLOCKS + 1) * 8 + MOST_BLOCKS * 4;

/// The most blocks of the kernel.
const MOST_BLOCKS: usize = 64;

/// What the frames at hand have in common; others begin everything anew.
#[derive(Clone, Copy, Debug, PartialEq)]
struct HistoryKey {
    levels: Levels,
    size: (usize, usize),
    smoothing: Smoothing,
    threshold: Threshold,
    region: Region,
    /// The grid of local equalization, the bins of a tile, and those that were asked for.
    tiles: Option<(Tiles, usize, Option<u32>)>,
}

impl HistoryKey {
    fn of(layout: &BufferLayout, task: &Task) -> Self {
        let Settings { smoothing, scene_threshold: threshold, region, .. } = task.settings;
        let tiles = task.tiles(layout).map(|(tiles, bins)| (tiles, bins, task.settings.bins));
        HistoryKey { levels: task.levels, size: layout.size(), smoothing, threshold, region, tiles }
    }
}

/// The history of one video. It belongs to the stream that its kernels run on, in the order of the frames.
pub struct History {
    stream: Arc<CudaStream>,
    key: Option<HistoryKey>,
    asked_bins: Option<u32>,
    number: u64,
    /// A histogram for each frame that is remembered; for one curve a frame one more, so that the frame at hand takes
    /// the place of none of them.
    pub(super) slots: CudaSlice<u32>,
    /// Those of the two windows; for one curve a frame twice, the frames taking turns at reading and writing them.
    pub(super) sums: CudaSlice<u64>,
    pub(super) scenes: CudaSlice<u8>,
    pub(super) marks: CudaSlice<u32>,
    /// Room for counts in bins, for two frames.
    pub(super) bins: CudaSlice<u64>,
    pub(super) grid: CudaSlice<u8>,
    /// The curves of the last frames, one of which is that of a frame that has waited for them.
    pub(super) kept: CudaSlice<u16>,
    pub(super) totals: Totals,
}

/// Where the blocks of the fused kernel, and of `tile_histogram`, add up what they have counted. Frames take turns: one
/// adds to the first buffer and empties the second one for the next.
pub(super) struct Totals {
    codes: usize,
    buffers: [CudaSlice<u32>; 2],
    /// For the teams of a batch.
    batch: CudaSlice<u32>,
}

impl Totals {
    /// Totals lie in sectors of eight, which are so many entries apart, as in kernels/totals.cuh.
    pub const SECTOR: usize = 8;
    pub const SECTOR_PITCH: usize = 64;

    fn on(stream: &Arc<CudaStream>) -> Result<Self, Error> {
        let buffer = || stream.alloc_zeros(1).doing(ALLOCATING);
        Ok(Totals { codes: 0, buffers: [buffer()?, buffer()?], batch: buffer()? })
    }

    /// How many entries hold the totals of so many codes.
    pub fn entries(codes: usize) -> usize {
        codes / Totals::SECTOR * Totals::SECTOR_PITCH
    }

    /// Those that are all zero, and those to be emptied, for the next frame, which has so many codes.
    pub fn next(
        &mut self,
        stream: &Arc<CudaStream>,
        codes: usize,
    ) -> Result<(&mut CudaSlice<u32>, &mut CudaSlice<u32>), Error> {
        if self.codes != codes {
            // A frame empties no more than it has codes itself.
            self.codes = 0;
            for buffer in &mut self.buffers {
                *buffer = stream.alloc_zeros(Totals::entries(codes)).doing(ALLOCATING)?;
            }
            self.codes = codes;
        }
        let [zero, emptied] = &mut self.buffers;
        Ok((zero, emptied))
    }

    /// Says that a frame has been enqueued that works on them: the next one has them the other way around.
    pub fn turn(&mut self) {
        self.buffers.swap(0, 1);
    }

    /// Those of the last frame that was enqueued, until the next one empties them.
    pub fn of_last_frame(&self) -> &CudaSlice<u32> {
        &self.buffers[1]
    }

    /// Says that a frame was given up half done: the next one gets others.
    pub fn give_up(&mut self) {
        self.codes = 0;
    }

    /// So many entries, all of them zero once the stream gets there.
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
        // It goes with all kernels that wait for their own blocks: they take what they remember from it.
        launch::retire(&self.stream);
    }
}

impl History {
    /// Of no frame yet.
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
            kept: stream.alloc_zeros(1).doing(ALLOCATING)?,
            totals: Totals::on(stream)?,
        })
    }

    /// How many frames are remembered; none where each is by itself.
    pub(super) fn slots_for(settings: &Settings) -> u32 {
        if settings.smoothing.frames() > 1 { settings.smoothing.memory() } else { 0 }
    }

    /// Gets ready for the next frame: begins anew if it is of another key than the one before.
    ///
    /// # Errors
    /// When the GPU has no memory left.
    pub(super) fn expect(&mut self, layout: &BufferLayout, task: &Task) -> Result<(), Error> {
        let bins = task.settings.bins;
        let key = HistoryKey::of(layout, task);
        let tiles = key.tiles;
        let codes = layout.codes();
        let entries = tiles.map_or(codes, |(tiles, bins, _)| tiles.count() * bins);
        let stream = self.stream.clone();
        if self.key != Some(key) {
            // Nothing fits any key until all is done.
            self.key = None;
            let slots = History::slots_for(&task.settings) as usize;
            let (rows, turns) = if tiles.is_some() { (slots, 1) } else { (slots + 1, 2) };
            // One of each at least: an empty buffer has no address.
            resize(&stream, &mut self.slots, (rows * entries).max(1))?;
            resize(&stream, &mut self.sums, turns * 2 * entries)?;
            let curves = tiles.map_or(1, |(tiles, ..)| tiles.count());
            let places = if key.smoothing.ahead() > 0 { places(&key.smoothing) } else { 0 };
            resize(&stream, &mut self.kept, (places * curves * codes).max(1))?;
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

    /// Lets go of everything: the next frame that is remembered is the first one.
    pub(super) fn forget(&mut self) {
        self.key = None;
    }

    /// Whether such a frame would begin everything anew, though there have been others.
    pub(super) fn ends_with(&self, layout: &BufferLayout, task: &Task) -> bool {
        self.key.is_some_and(|key| key != HistoryKey::of(layout, task))
    }

    /// The half of the marks that was written last.
    pub(super) fn latest_marks(&self, slots: u32) -> std::ops::Range<usize> {
        let begin = if self.number % 2 == 1 { slots as usize } else { 0 };
        begin..begin + slots as usize
    }

    /// The place of the curves of frame `number` among those that are kept.
    pub(super) fn place(&self, number: u64, smoothing: &Smoothing) -> usize {
        (number % places(smoothing) as u64) as usize
    }

    /// The number of the last frame.
    pub(super) fn latest_number(&self) -> u64 {
        self.number.saturating_sub(1)
    }

    /// The number of the next frame, counted since everything began.
    pub(super) fn next_number(&self) -> u64 {
        self.number
    }

    /// Says that the frame of this number has been enqueued. Not before: what a refused launch would have written is not
    /// there for the next frame to read.
    pub(super) fn advance(&mut self) {
        self.number += 1;
    }
}

/// How many frames' curves are kept: those that a frame waits for, and its own.
pub(super) fn places(smoothing: &Smoothing) -> usize {
    smoothing.ahead() as usize + 1
}

/// Makes a buffer as long as this; its content is lost if it was not.
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

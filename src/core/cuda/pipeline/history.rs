//! The state from frame to frame. The host knows which frames are in the temporal window; the device has their
//! histograms and the sums of these histograms. The counts of a frame are downloaded with it (`readback`); the rest
//! stays on the device.

use super::task::{Parameters, Task};
use crate::cuda::arguments::{self, Modifiers, PiecewiseLine, words_of};
use crate::cuda::error::{Doing, Error};
use crate::cuda::launch;
use crate::cuda::memory::layout::BufferLayout;
use crate::spec::parameters::{Method, Smoothing, WindowKind};
use crate::spec::time::{Scene, SceneWindows, WindowUpdate};
use cudarc::driver::{CudaSlice, CudaStream, DevicePtr};
use std::sync::Arc;

/// Bytes of `GridState` in kernels/headers/curve.cuh.
const GRID_BYTES: usize = WORDS * MAX_BLOCKS * 8 + 8;

/// The number of words that a block publishes for other blocks.
const WORDS: usize = 9;

/// The most blocks of `kernels/equalization.cu`.
const MAX_BLOCKS: usize = 64;

/// The history of one video. Its buffers belong to one stream, on which kernels use them in the order of the frames.
pub struct History {
    stream: Arc<CudaStream>,
    /// Which frames are in which window.
    scenes: SceneWindows,
    /// The properties that the frames of these windows share; `None` before the first frame.
    kind: Option<WindowKind>,
    /// How the next frame that is enqueued changes the windows.
    update: Option<WindowUpdate>,
    /// Whether the buffers have been resized for the frames since the last reset.
    is_prepared: bool,
    asked_bins: Option<u32>,
    /// Number of the next frame that is enqueued, counted from the last reset.
    number: u64,
    /// The row of the histogram of the last frame that was enqueued.
    pub(crate) latest_row: usize,
    /// For the histogram in each row, the plateau's cap: the most samples that a level keeps.
    caps: Vec<u32>,
    /// One row with a histogram for each frame of the window and of the flash. With one curve per frame there is one
    /// more row, so that the current frame does not overwrite any of these.
    pub(crate) slots: CudaSlice<u32>,
    /// The sums of the two windows; with one curve per frame two sets, which frames read and write alternately.
    pub(crate) sums: CudaSlice<u64>,
    /// Counts in bins, for two frames.
    pub(crate) bins: CudaSlice<u64>,
    pub(crate) grid: CudaSlice<u8>,
    /// The curves of the frames of the look-ahead. The oldest of these frames gets one of the curves.
    pub(crate) kept_curves: CudaSlice<u16>,
    pub(crate) totals: Totals,
    /// The number of launches of the fused kernel with a window. A launch lets the next one begin only after it has
    /// waited for all kernels before it.
    pub(crate) launches: u64,
}

/// The counts to which the blocks of the fused kernel add. Two buffers alternate: a frame adds
/// to the first one and clears the second one for the next frame.
pub(crate) struct Totals {
    codes: usize,
    buffers: [CudaSlice<u32>; 2],
    /// The same counts for a batch of frames, one part for each group of blocks that works on one frame.
    batch: CudaSlice<u32>,
}

impl Totals {
    /// Totals lie in sectors of eight, `SECTOR_PITCH` entries apart, as in kernels/headers/totals.cuh.
    const SECTOR: usize = 8;
    const SECTOR_PITCH: usize = 64;

    fn on(stream: &Arc<CudaStream>) -> Result<Self, Error> {
        let buffer = || stream.alloc_zeros(1).doing(ALLOCATING);
        Ok(Totals { codes: 0, buffers: [buffer()?, buffer()?], batch: buffer()? })
    }

    /// The entries of a buffer with the totals of `codes` codes.
    pub fn entries(codes: usize) -> usize {
        codes / Totals::SECTOR * Totals::SECTOR_PITCH
    }

    /// Returns the zeroed buffer and the buffer to clear, for the next frame, whose samples have `codes` codes.
    pub fn next(
        &mut self,
        stream: &Arc<CudaStream>,
        codes: usize,
    ) -> Result<(&mut CudaSlice<u32>, &mut CudaSlice<u32>), Error> {
        if self.codes != codes {
            // A frame clears only the entries of its own codes, so a change of the number of codes requires new
            // buffers.
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

    /// `entries` entries that the stream sets to zero.
    pub fn zeroed_batch(&mut self, stream: &Arc<CudaStream>, entries: usize) -> Result<&mut CudaSlice<u32>, Error> {
        resize(stream, &mut self.batch, entries)?;
        stream.memset_zeros(&mut self.batch).doing(CLEARING)?;
        Ok(&mut self.batch)
    }
}

const ALLOCATING: &str = "allocating memory on the device";
const CLEARING: &str = "clearing memory on the device";

impl Drop for History {
    fn drop(&mut self) {
        // Only kernels with a history have blocks that wait for each other, so this stream gets no more of them.
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
            scenes: SceneWindows::new(Smoothing::OFF),
            kind: None,
            update: None,
            is_prepared: false,
            asked_bins: None,
            number: 0,
            latest_row: 0,
            caps: Vec::new(),
            slots: stream.alloc_zeros(1).doing(ALLOCATING)?,
            sums: stream.alloc_zeros(1).doing(ALLOCATING)?,
            bins: stream.alloc_zeros(1).doing(ALLOCATING)?,
            grid: stream.alloc_zeros(GRID_BYTES).doing(ALLOCATING)?,
            kept_curves: stream.alloc_zeros(1).doing(ALLOCATING)?,
            totals: Totals::on(stream)?,
            launches: 0,
        })
    }

    /// The number of frames whose histograms are kept; 0 without a temporal window.
    pub(crate) fn slots_for(parameters: &Parameters) -> u32 {
        if parameters.smoothing.frames() > 1 { parameters.smoothing.memory() } else { 0 }
    }

    /// The rows of `slots`: one for each frame that is kept, and with one curve per frame one more, so that a frame
    /// never overwrites a histogram that another block may still read.
    pub(crate) fn rows_for(parameters: &Parameters) -> usize {
        History::slots_for(parameters) as usize + usize::from(parameters.method == Method::Global)
    }

    /// Finds the window of the next frame. If the update resets the history, the caller has to complete the frames of
    /// the look-ahead before it enqueues anything of this frame.
    pub(crate) fn next(&mut self, task: &Task) -> WindowUpdate {
        let kind = task.parameters.window_kind();
        if self.kind != Some(kind) {
            self.kind = Some(kind);
            self.forget();
        }
        // Frames that are not counted may have levels with two more bits, as in `Equalization::next_uncounted`.
        let of_uncounted = task.levels.with_two_bits_more().filter(|_| !task.parameters.method.counts());
        let update = self.scenes.next(task.guide.change, of_uncounted.unwrap_or(task.levels), task.size());
        if update.reset {
            self.is_prepared = false;
            self.number = 0;
        }
        self.update = Some(update.clone());
        update
    }

    /// Empties the windows. The numbering of scenes continues.
    fn forget(&mut self) {
        let smoothing = self.kind.map_or(Smoothing::OFF, |kind| kind.smoothing);
        self.scenes = SceneWindows::after(smoothing, &self.scenes);
    }

    /// Sets the number of the scene of the last frame, and the number of scenes so far, to those of another backend.
    pub(crate) fn set_scene_number(&mut self, scene: Scene) {
        self.scenes.set_current_number(scene.number, scene.begun);
    }

    /// Prepares the buffers for the frame that [`next`](History::next) was called for. Returns how it changes the
    /// windows, and the number of frames in its own.
    ///
    /// # Errors
    /// When the GPU has no memory left.
    pub(crate) fn prepare(
        &mut self,
        layout: &BufferLayout,
        task: &Task,
    ) -> Result<(arguments::WindowUpdate, u32), Error> {
        let bins = task.parameters.bins;
        let tiles = task.tiles(layout);
        let codes = layout.codes();
        let entries = tiles.map_or(codes, |(tiles, bins)| tiles.count() * bins);
        let stream = self.stream.clone();
        let rows = History::rows_for(&task.parameters);
        if !self.is_prepared {
            let turns = if tiles.is_some() { 1 } else { 2 };
            // At least one entry each: an empty buffer has no address.
            resize(&stream, &mut self.slots, (rows * entries).max(1))?;
            resize(&stream, &mut self.sums, turns * 2 * entries)?;
            let curves = tiles.map_or(1, |(tiles, _)| tiles.count());
            let smoothing = task.parameters.smoothing;
            let places = if smoothing.ahead() > 0 { places(&smoothing) } else { 0 };
            resize(&stream, &mut self.kept_curves, (places * curves * codes).max(1))?;
            stream.memset_zeros(&mut self.grid).doing(CLEARING)?;
            self.is_prepared = true;
            self.asked_bins = None;
        }
        if self.asked_bins != bins {
            resize(&stream, &mut self.bins, 2 * codes)?;
            stream.memset_zeros(&mut self.bins).doing(CLEARING)?;
            self.asked_bins = bins;
        }
        Ok(window_update(task, self.update.as_ref(), self.number, &mut self.caps))
    }

    /// Makes the next frame the first one of an empty history: after a failure, the device may lack histograms that the
    /// host assumes there.
    pub(crate) fn reset(&mut self) {
        self.forget();
        self.update = None;
        self.is_prepared = false;
        self.number = 0;
    }

    /// The index of the curves of frame `number` in `kept_curves`.
    pub(crate) fn place(&self, number: u64, smoothing: &Smoothing) -> usize {
        (number % places(smoothing) as u64) as usize
    }

    /// The number of the next frame that is enqueued.
    pub(crate) fn next_number(&self) -> u64 {
        self.number
    }

    /// The address of the kept curve of frame `number`, where there is one curve per frame.
    pub(crate) fn kept_curve(&self, number: u64, smoothing: &Smoothing) -> u64 {
        let begin = self.place(number, smoothing) * (self.kept_curves.len() / places(smoothing));
        self.kept_curves.device_ptr(&self.stream).0 + 2 * begin as u64
    }

    /// The number of the last frame that was enqueued.
    pub(crate) fn latest_number(&self) -> u64 {
        self.number.saturating_sub(1)
    }

    /// Notes that the frame of this update has been enqueued.
    pub(crate) fn advance(&mut self, window_update: &arguments::WindowUpdate) {
        self.number += 1;
        self.latest_row = window_update.row as usize;
    }
}

/// The number of frames whose curves are kept: a frame of the look-ahead, and the frames that it waits for.
pub(crate) fn places(smoothing: &Smoothing) -> usize {
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

/// The words of the three structures that kernels take for frame `number` of a history: for tests that run kernels on
/// the CPU. `caps` is kept from frame to frame, and empty before the first.
#[doc(hidden)]
pub fn words_of_modified(task: &Task, update: &WindowUpdate, number: u64, caps: &mut Vec<u32>) -> Vec<u32> {
    let (window_update, frames) = window_update(task, Some(update), number, caps);
    let (modifiers, line) = (Modifiers::new(task, frames), PiecewiseLine::new(&task.tone().line));
    [words_of(&modifiers), words_of(&window_update), words_of(&line)].concat()
}

/// How frame `number` of a history changes its windows, and the number of frames in the frame's window. Stores the
/// plateau's cap for the frame in `caps`.
fn window_update(
    task: &Task,
    update: Option<&WindowUpdate>,
    number: u64,
    caps: &mut Vec<u32>,
) -> (arguments::WindowUpdate, u32) {
    let slots = History::slots_for(&task.parameters) as usize;
    let Some(update) = update.filter(|_| slots > 0) else { return (arguments::WindowUpdate::alone(number), 1) };
    caps.resize(History::rows_for(&task.parameters), 0);
    let window_update = arguments::WindowUpdate::new(update, number, slots, caps);
    caps[window_update.row as usize] = Modifiers::cap(task);
    (window_update, update.frames)
}

//! One frame's buffers on the device, and the way through the kernels.
#![allow(unsafe_code, reason = "device memory is allocated without being set")]

use super::context::Gpu;
use super::error::{Doing, Error};
use super::history::{History, Totals};
use super::kernels::{FusedLauncher, ScanLauncher, TileHistogramLauncher};
use super::layout::{Arrangement, BufferLayout};
use super::readback::ReadbackLayout;
use super::rows::{RowsAddress, copy_of_rows};
use super::stage_kernels::StageBuffers;
use super::task::{Readback, Task};
use crate::spec::clahe::Tiles;
use crate::spec::{Counts, Curve, Method, Remembered};
use cudarc::driver::{CudaSlice, CudaStream, DevicePtr, DevicePtrMut, result, sys};
use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

/// One frame on the device. Its buffers belong to one stream: they are allocated, worked on and freed in that stream's
/// order, so whatever runs there has them to itself.
pub struct DevicePicture {
    gpu: Arc<Gpu>,
    stream: Arc<CudaStream>,
    layout: BufferLayout,
    /// The planes of the layout, equalized in place, and behind them what is read back with them.
    pub(super) pixels: CudaSlice<u8>,
    /// The luminance, where it has to be made of RGB.
    pub(super) luma: Option<CudaSlice<u8>>,
    /// The plane of the luma as it came, where chroma follows it.
    pub(super) before: Option<CudaSlice<u8>>,
    /// How often each code occurs; zero when a frame comes.
    pub(super) counts: CudaSlice<u32>,
    /// Those of the frame before, which the scan empties for the next one.
    pub(super) emptied: CudaSlice<u32>,
    /// What the blocks of the scan tell each other.
    pub(super) segments: CudaSlice<u32>,
    /// What each code becomes.
    pub(super) curve: CudaSlice<u16>,
    /// Whether the luma has gone through the curve already.
    mapped: bool,
    /// What lies there, if it was not made here.
    given: Option<Arc<Curve>>,
    /// What local equalization needs, once it has been asked for.
    pub(super) local: Option<Local>,
    /// What kernels in place of a stage's own keep here.
    pub(super) kept: Option<Box<dyn Any + Send>>,
}

/// The buffers of local equalization.
pub(super) struct Local {
    pub tiles: Tiles,
    pub bins: usize,
    /// How often each bin of each tile occurs; zero when a frame comes.
    pub counts: CudaSlice<u32>,
    /// What each code becomes at the centre of each tile.
    pub curves: CudaSlice<u16>,
    /// The luminance after, where it is made of RGB.
    pub mapped: Option<CudaSlice<u8>>,
}

impl DevicePicture {
    /// Buffers for frames of this layout, whose kernels will run on `stream`; the one of the samples has `buffer_bytes`,
    /// which holds the layout and what is read back.
    ///
    /// # Errors
    /// When the GPU has no memory left.
    pub(super) fn on(
        stream: &Arc<CudaStream>,
        gpu: &Arc<Gpu>,
        layout: &BufferLayout,
        buffer_bytes: usize,
    ) -> Result<Self, Error> {
        let doing = "allocating memory on the device";
        let rgb = matches!(layout.arrangement(), Arrangement::Packed { .. } | Arrangement::Planar { .. });
        // SAFETY: the kernels read no byte of these that was not written before, but for those behind a plane's last
        // pixel, whose values are never used.
        let (pixels, luma, before) = unsafe {
            let luma = if rgb { Some(stream.alloc(layout.luma_bytes()).doing(doing)?) } else { None };
            let before = match layout.chroma() {
                Some(_) => Some(stream.alloc(layout.spans()[0].bytes()).doing(doing)?),
                None => None,
            };
            (stream.alloc(buffer_bytes.max(layout.buffer_bytes())).doing(doing)?, luma, before)
        };
        let counts = stream.alloc_zeros(layout.codes()).doing(doing)?;
        let emptied = stream.alloc_zeros(layout.codes()).doing(doing)?;
        let segments = stream.alloc_zeros(ScanLauncher::SEGMENTS).doing(doing)?;
        let curve = stream.alloc_zeros(layout.codes()).doing(doing)?;
        // From now on other streams may use them too.
        stream.synchronize().doing(doing)?;
        Ok(DevicePicture {
            gpu: gpu.clone(),
            stream: stream.clone(),
            layout: layout.clone(),
            pixels,
            luma,
            before,
            counts,
            emptied,
            segments,
            curve,
            mapped: false,
            given: None,
            local: None,
            kept: None,
        })
    }

    /// Buffers for so many frames on one stream of their own, for measurements.
    ///
    /// # Errors
    /// When the GPU has no memory left.
    pub fn several(gpu: &Arc<Gpu>, layout: &BufferLayout, count: usize) -> Result<Vec<Self>, Error> {
        let stream = gpu.context.new_stream().doing("making a stream")?;
        (0..count).map(|_| DevicePicture::on(&stream, gpu, layout, layout.buffer_bytes())).collect()
    }

    /// Enqueues all of equalization, after that of the frames before in `history`.
    ///
    /// # Errors
    /// When a launch fails.
    ///
    /// # Panics
    /// When the task is for another kind of picture.
    pub fn equalize(&mut self, history: &mut History, task: &Task) -> Result<(), Error> {
        let task = &task.reading_back(Readback::Nothing);
        self.analyze(history, task)?;
        self.apply(task, task.tiles(&self.layout).is_some())
    }

    /// Enqueues plain equalization of many pictures in one launch, or a few; they are alike and belong to one stream.
    /// False where there is no such kernel for them.
    ///
    /// # Errors
    /// When a launch fails.
    pub fn equalize_batch(pictures: &mut [DevicePicture], history: &mut History, task: &Task) -> Result<bool, Error> {
        let Some(gpu) = pictures.first().map(|picture| picture.gpu.clone()) else { return Ok(true) };
        pictures.iter().for_each(|picture| task.assert_suits(&picture.layout));
        if !FusedLauncher::suits_in_batches(&pictures[0].layout, task) || !gpu.kernels.fused()?.is_there() {
            return Ok(false);
        }
        history.forget();
        gpu.kernels.fused()?.launch_batch(pictures, history, task)?;
        Ok(true)
    }

    /// Enqueues everything up to the curve, and further where one launch does it all. Gives the frame's number in
    /// `history`.
    pub(super) fn analyze(&mut self, history: &mut History, task: &Task) -> Result<u64, Error> {
        task.assert_suits(&self.layout);
        let everything = task.readback == Readback::Everything;
        let readback = ReadbackLayout::of(&self.layout, task);
        let windowed = History::slots_for(&task.settings) > 0;
        if task.is_plain() && task.settings.method == Method::Global {
            history.forget();
        }
        let gpu = self.gpu.clone();
        // The fused kernel keeps its curve to itself, and in a window of one frame its counts too.
        if !everything
            && gpu.stages.is_none()
            && FusedLauncher::suits(&self.layout, task)
            && gpu.kernels.fused()?.is_there()
        {
            self.keep_luma()?;
            gpu.kernels.fused()?.launch(self, history, task)?;
            self.mapped = true;
            self.copy_window_counts(history, task, &readback)?;
            return Ok(history.latest_number());
        }
        self.mapped = false;
        self.make_luminance(task)?;
        match task.tiles(&self.layout) {
            Some((tiles, bins)) => self.make_tile_curves(history, task, tiles, bins)?,
            None => {
                self.count(task)?;
                if everything && !windowed {
                    self.copy_counts(&readback)?;
                }
                self.make_curve(history, task)?;
                self.copy_window_counts(history, task, &readback)?;
            }
        }
        let number = history.latest_number();
        if task.settings.smoothing.ahead() > 0 {
            let place = history.place(number, &task.settings.smoothing);
            let stream = self.stream.clone();
            let curves = self.curves_mut();
            let begin = place * curves.len();
            let mut kept = history.kept.slice_mut(begin..begin + curves.len());
            stream.memcpy_dtod(curves, &mut kept).doing("keeping a curve")?;
        }
        Ok(number)
    }

    /// Enqueues the choice of the curve, for a frame with this number that has waited for so many others.
    pub(super) fn choose(&mut self, history: &History, task: &Task, number: u64, waited: u32) -> Result<(), Error> {
        let gpu = self.gpu.clone();
        gpu.kernels.look_ahead()?.launch(self, history, task, (number, waited))
    }

    /// Enqueues the mapping through the curve, or with `locally` the curves of the tiles.
    pub(super) fn apply(&mut self, task: &Task, locally: bool) -> Result<(), Error> {
        if self.mapped {
            return self.scale_chroma(task);
        }
        self.keep_luma()?;
        if !locally {
            self.map(task)?;
        } else {
            let gpu = self.gpu.clone();
            gpu.kernels.tile_map()?.launch(self, task, gpu.multiprocessors())?;
            if self.luma.is_some() {
                self.map_to(task, true)?;
            }
        }
        self.scale_chroma(task)
    }

    /// Enqueues a copy of the stored luma, if chroma is to follow it.
    fn keep_luma(&mut self) -> Result<(), Error> {
        let Some(before) = &mut self.before else { return Ok(()) };
        let bytes = self.layout.spans()[0].bytes();
        self.stream.memcpy_dtod(&self.pixels.slice(..bytes), before).doing("copying on the device")
    }

    /// Enqueues the scaling of the chroma samples, if they follow luma.
    fn scale_chroma(&mut self, task: &Task) -> Result<(), Error> {
        if self.layout.chroma().is_none() {
            return Ok(());
        }
        let gpu = self.gpu.clone();
        gpu.kernels.chroma()?.launch(self, task, gpu.multiprocessors())
    }

    /// The curve, or the curves of the tiles if there are any.
    pub(super) fn curves_mut(&mut self) -> &mut CudaSlice<u16> {
        match &mut self.local {
            Some(local) => &mut local.curves,
            None => &mut self.curve,
        }
    }

    /// Enqueues all up to the mapping through `curve`, with no look at the histogram.
    ///
    /// # Errors
    /// When a copy or a launch fails.
    ///
    /// # Panics
    /// When the curve is for samples of another depth.
    pub(super) fn give(&mut self, curve: &Arc<Curve>, task: &Task) -> Result<(), Error> {
        assert_eq!(curve.codes().len(), self.layout.codes());
        task.assert_suits(&self.layout);
        self.mapped = false;
        self.make_luminance(task)?;
        if !self.given.as_ref().is_some_and(|given| Arc::ptr_eq(given, curve)) {
            // The copy has read it before the buffers are used again, and until then it is kept.
            self.given = Some(curve.clone());
            self.stream.memcpy_htod(curve.codes(), &mut self.curve).doing("copying to the device")?;
        }
        self.local = None;
        Ok(())
    }

    fn prepare_local(&mut self, tiles: Tiles, bins: usize) -> Result<(), Error> {
        if self.local.as_ref().is_some_and(|local| (local.tiles, local.bins) == (tiles, bins)) {
            return Ok(());
        }
        let doing = "allocating memory on the device";
        let stream = &self.stream;
        let mapped = match &self.luma {
            Some(luma) => Some(stream.alloc_zeros(luma.len()).doing(doing)?),
            None => None,
        };
        self.local = Some(Local {
            tiles,
            bins,
            counts: stream.alloc_zeros(tiles.count() * bins).doing(doing)?,
            curves: stream.alloc_zeros(tiles.count() * self.layout.codes()).doing(doing)?,
            mapped,
        });
        Ok(())
    }

    fn make_tile_curves(&mut self, history: &mut History, task: &Task, tiles: Tiles, bins: usize) -> Result<(), Error> {
        self.prepare_local(tiles, bins)?;
        let gpu = self.gpu.clone();
        // Where each frame is by itself, nobody asks which scene it belongs to.
        let codes = History::slots_for(&task.settings) > 0;
        let on_the_way = codes && TileHistogramLauncher::counts_codes(&self.layout);
        let readback = ReadbackLayout::of(&self.layout, task);
        if codes && !on_the_way {
            self.count(task)?;
        } else if !codes && !readback.counts.is_empty() {
            // The kernel that makes the curves does not need these counts, and so does not empty them.
            self.count(task)?;
            self.copy_counts(&readback)?;
            self.stream.memset_zeros(&mut self.counts).doing("clearing memory on the device")?;
        }
        let totals = if on_the_way { Some(&mut *history) } else { None };
        gpu.kernels.tile_histogram()?.launch(self, task, totals, gpu.multiprocessors())?;
        if !codes && !readback.tile_counts.is_empty() {
            self.copy_tile_counts(&readback)?;
        }
        let made = gpu.kernels.tile_curves().and_then(|kernel| kernel.launch(self, history, task, on_the_way));
        if made.is_err() {
            history.totals.give_up();
        }
        made?;
        if codes && !readback.counts.is_empty() {
            self.copy_window_tile_counts(history, task, &readback, on_the_way)?;
        }
        Ok(())
    }

    /// Enqueues a copy of what is remembered of this frame, which was the last one in `history`, to where it is read back
    /// from; nothing if it is not.
    fn copy_window_counts(&mut self, history: &History, task: &Task, readback: &ReadbackLayout) -> Result<(), Error> {
        if readback.counts.is_empty() || History::slots_for(&task.settings) == 0 {
            return Ok(());
        }
        let rows = u64::from(History::slots_for(&task.settings)) + 1;
        let row = (history.latest_number() % rows) as usize;
        let codes = self.layout.codes();
        let from = history.slots.device_ptr(&self.stream).0;
        assert!((row + 1) * codes <= history.slots.len());
        self.copy_to_readback(from + (4 * row * codes) as u64, readback.counts.clone())
    }

    /// The same for the tiles; with `in_totals` the codes were counted to the totals of the history.
    fn copy_window_tile_counts(
        &mut self,
        history: &mut History,
        task: &Task,
        readback: &ReadbackLayout,
        in_totals: bool,
    ) -> Result<(), Error> {
        let slot = (history.latest_number() % u64::from(History::slots_for(&task.settings))) as usize;
        let entries = readback.tile_counts.len() / 4;
        assert!((slot + 1) * entries <= history.slots.len());
        let stream = self.stream.clone();
        let from = history.slots.device_ptr(&stream).0;
        self.copy_to_readback(from + (4 * slot * entries) as u64, readback.tile_counts.clone())?;
        if !in_totals {
            // The launch has swapped the two: these are the counts of this frame, which the next one empties.
            let from = self.emptied.device_ptr(&stream).0;
            return self.copy_to_readback(from, readback.counts.clone());
        }
        let (from, _order) = history.totals.of_last_frame().device_ptr(&stream);
        let (to, _order) = self.pixels.device_ptr_mut(&stream);
        let to = RowsAddress::Device(to + readback.counts.start as u64);
        let copy = copy_of_rows(
            (RowsAddress::Device(from), 4 * Totals::SECTOR_PITCH),
            (to, 4 * Totals::SECTOR),
            4 * Totals::SECTOR,
            self.layout.codes() / Totals::SECTOR,
        );
        // SAFETY: totals of so many codes have as many sectors of eight, each a pitch behind the one before it; the buffer
        // has room for an entry for each code at this place. Both belong to this stream. The driver reads `copy` before
        // it returns, and the launch before has bound the context to this thread.
        unsafe { sys::cuMemcpy2DAsync_v2(&copy, stream.cu_stream()) }.result().doing("copying on the device")
    }

    /// Enqueues a copy of the counts of codes that the next launch takes.
    fn copy_counts(&mut self, readback: &ReadbackLayout) -> Result<(), Error> {
        let from = self.counts.device_ptr(&self.stream).0;
        self.copy_to_readback(from, readback.counts.clone())
    }

    /// Enqueues a copy of the counts of tiles that the next launch takes.
    fn copy_tile_counts(&mut self, readback: &ReadbackLayout) -> Result<(), Error> {
        let stream = self.stream.clone();
        let Some(local) = &self.local else { return Ok(()) };
        assert_eq!(4 * local.counts.len(), readback.tile_counts.len());
        let from = local.counts.device_ptr(&stream).0;
        self.copy_to_readback(from, readback.tile_counts.clone())
    }

    /// Enqueues a copy of the curves to where they are read back from, if they are.
    pub(super) fn copy_curves(&mut self, readback: &ReadbackLayout) -> Result<(), Error> {
        if readback.curves.is_empty() {
            return Ok(());
        }
        let stream = self.stream.clone();
        let curves = self.curves_mut();
        assert_eq!(2 * curves.len(), readback.curves.len());
        let from = curves.device_ptr(&stream).0;
        self.copy_to_readback(from, readback.curves.clone())
    }

    /// Enqueues a copy of device memory, from this address on, into these bytes of the buffer.
    fn copy_to_readback(&mut self, from: u64, bytes: Range<usize>) -> Result<(), Error> {
        let stream = self.stream.clone();
        let mut target = self.pixels.slice_mut(bytes.clone());
        let (to, _order) = target.device_ptr_mut(&stream);
        // SAFETY: the callers have checked that so many bytes lie behind `from`, in a buffer that belongs to this stream as
        // the target does, and that lives until what was enqueued is done.
        unsafe { result::memcpy_dtod_async(to, from, bytes.len(), stream.cu_stream()) }.doing("copying on the device")
    }

    /// Enqueues what makes `history` know a frame that was counted elsewhere. The picture has the layout
    /// [`BufferLayout::of_counts`].
    pub(super) fn remember(&mut self, history: &mut History, seen: &Remembered) -> Result<(), Error> {
        let (gpu, stream) = (self.gpu.clone(), self.stream.clone());
        let Some(histogram) = seen.counts.histogram() else { return Ok(()) };
        let levels = histogram.levels();
        let task = &Task::for_counts(levels, self.layout.size(), seen.settings, histogram.total());
        task.assert_suits(&self.layout);
        let mut counts = vec![0; self.layout.codes()];
        for (count, held) in counts[usize::from(levels.lo())..].iter_mut().zip(histogram.counts()) {
            *count = *held as u32;
        }
        stream.memcpy_htod(&counts, &mut self.counts).doing("copying to the device")?;
        match (&*seen.counts, task.tiles(&self.layout)) {
            (Counts::Tiles { tiles, .. }, Some((grid, bins))) if tiles.counts().len() == grid.count() * bins => {
                self.prepare_local(grid, bins)?;
                let counts: Vec<u32> = tiles.counts().iter().map(|&held| held as u32).collect();
                let local = self.local.as_mut().expect("made above");
                stream.memcpy_htod(&counts, &mut local.counts).doing("copying to the device")?;
                gpu.kernels.tile_curves()?.launch(self, history, task, false)
            }
            (Counts::Frame { .. }, None) => gpu.kernels.equalization()?.launch(self, history, task),
            _ => Err(Error::Refused { reason: "counts that do not fit the settings".to_owned() }),
        }
    }

    /// Enqueues the luminance of RGB; nothing where luma is stored.
    ///
    /// # Errors
    /// When the launch fails.
    pub fn make_luminance(&mut self, task: &Task) -> Result<(), Error> {
        task.assert_suits(&self.layout);
        if self.luma.is_none() {
            return Ok(());
        }
        let gpu = self.gpu.clone();
        gpu.kernels.luminance()?.launch(self, task.weights)
    }

    /// What kernels in place of a stage's own work on.
    pub(crate) fn stage_buffers(&mut self, task: &Task) -> StageBuffers<'_> {
        StageBuffers {
            stream: self.stream.clone(),
            layout: self.layout.clone(),
            is_made: self.luma.is_some(),
            plane: self.luma.as_mut().unwrap_or(&mut self.pixels),
            counted: task.counted,
            levels: task.levels,
            strength: task.settings.strength,
            counts: &mut self.counts,
            curve: &mut self.curve,
            kept: &mut self.kept,
        }
    }

    /// Enqueues the histogram.
    ///
    /// # Errors
    /// When the launch fails.
    pub fn count(&mut self, task: &Task) -> Result<(), Error> {
        task.assert_suits(&self.layout);
        let gpu = self.gpu.clone();
        if let Some(stages) = &gpu.stages
            && stages.count(self.stage_buffers(task))?
        {
            return Ok(());
        }
        gpu.kernels.histogram()?.launch(self, task, gpu.multiprocessors())
    }

    /// Enqueues the curve, and makes room for the next histogram.
    ///
    /// # Errors
    /// When the launch fails.
    pub fn make_curve(&mut self, history: &mut History, task: &Task) -> Result<(), Error> {
        task.assert_suits(&self.layout);
        self.local = None;
        let gpu = self.gpu.clone();
        self.given = None;
        if let Some(stages) = gpu.stages.as_ref().filter(|_| task.is_plain())
            && stages.make_curve(self.stage_buffers(task))?
        {
            return Ok(());
        }
        if task.is_plain() {
            return gpu.kernels.scan()?.launch(self, task.levels, task.settings.strength);
        }
        gpu.kernels.equalization()?.launch(self, history, task)
    }

    /// Has the driver refuse a launch, for tests of what follows an error.
    pub(super) fn fail(&mut self, task: &Task) -> Result<(), Error> {
        let gpu = self.gpu.clone();
        gpu.kernels.scan()?.launch_refused(self, task.levels, task.settings.strength)
    }

    /// Enqueues the mapping of the pixels through the curve; local equalization has been here before if there is any.
    ///
    /// # Errors
    /// When the launch fails.
    pub fn map(&mut self, task: &Task) -> Result<(), Error> {
        task.assert_suits(&self.layout);
        self.map_to(task, false)
    }

    /// Maps the pixels, of RGB with their saturation if that follows luminance.
    fn map_to(&mut self, task: &Task, locally: bool) -> Result<(), Error> {
        let gpu = self.gpu.clone();
        if self.luma.is_some() && task.settings.chroma.is_scaled() {
            return gpu.kernels.chroma()?.launch_rgb(self, task, locally, gpu.multiprocessors());
        }
        gpu.kernels.map()?.launch(self, task.weights, locally, gpu.multiprocessors())
    }

    /// How its planes lie.
    pub fn layout(&self) -> &BufferLayout {
        &self.layout
    }

    /// The stream that its kernels run on.
    pub fn stream(&self) -> &Arc<CudaStream> {
        &self.stream
    }

    /// Copies `bytes` onto the beginning of the planes and waits, for measurements.
    ///
    /// # Errors
    /// When the copy fails.
    ///
    /// # Panics
    /// When there are more bytes than the planes have.
    pub fn fill(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let stream = self.stream.clone();
        stream.memcpy_htod(bytes, &mut self.pixels.slice_mut(..bytes.len())).doing("copying to the device")?;
        stream.synchronize().doing("copying to the device")
    }

    /// Copies the beginning of the planes into `bytes` once all that was enqueued is done, for measurements and tests.
    ///
    /// # Errors
    /// When something that was enqueued has failed, or the copy fails.
    ///
    /// # Panics
    /// When the planes have fewer bytes.
    pub fn read(&self, bytes: &mut [u8]) -> Result<(), Error> {
        self.stream.memcpy_dtoh(&self.pixels.slice(..bytes.len()), bytes).doing("copying from the device")?;
        self.stream.synchronize().doing("copying from the device")
    }
}

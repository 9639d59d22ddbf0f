//! The device buffers of one frame, and its way through the kernels.
#![allow(unsafe_code, reason = "device memory is allocated without being set")]

use super::history::History;
use super::readback::ReadbackLayout;
use super::task::{Readback, Task};
use crate::cuda::arguments::{CurvePlace, Gains};
use crate::cuda::context::Gpu;
use crate::cuda::error::{Doing, Error};
use crate::cuda::memory::layout::{Arrangement, BufferLayout};
use crate::cuda::memory::samples::DeviceSamples;
use crate::cuda::stage_kernels::StageBuffers;
use crate::cuda::tuning;
use crate::spec::chroma::UNIT_GAIN;
use crate::spec::clahe::Tiles;
use crate::spec::curves::tone::{Balance, Veil};
use crate::spec::curves::{Curve, Levels, Mapping};
use crate::spec::measure::REGIONS;
use crate::spec::parameters::{Chroma, Strength};
use cudarc::driver::{CudaSlice, CudaStream, DevicePtr};
use std::any::Any;
use std::sync::Arc;
use std::thread::{Builder, ScopedJoinHandle};

/// One frame on the device. Its buffers belong to one stream: they are allocated, used by kernels and freed in the
/// order of that stream.
pub struct DevicePicture {
    pub(crate) gpu: Arc<Gpu>,
    pub(super) stream: Arc<CudaStream>,
    pub(super) layout: BufferLayout,
    /// The planes of the layout, which are equalized in place, followed by the readback.
    pub(crate) pixels: DeviceSamples,
    /// The luminance of RGB.
    pub(crate) luma: Option<CudaSlice<u8>>,
    /// The count of each code; zero before a frame is counted.
    pub(crate) counts: CudaSlice<u32>,
    /// The counts of the frame before, which the scan clears for the next frame.
    pub(crate) emptied: CudaSlice<u32>,
    /// The sums of the segments of the scan.
    pub(crate) segments: CudaSlice<u32>,
    /// The curve: an output code for each code.
    pub(crate) curve: CudaSlice<u16>,
    /// With a look-ahead, the address of the frame's curve in the history, which replaces `curve`.
    pub(super) kept_curve: Option<u64>,
    /// Whether the luma has been mapped through the curve.
    is_mapped: bool,
    /// The value of `History::launches` when a kernel last wrote `pixels`; `None` if copies wrote them last.
    written_at: Option<u64>,
    /// The curve in `curve`, when the caller supplied it.
    supplied_curve: Option<Arc<Curve>>,
    /// The buffers of local equalization, once it has been used.
    pub(in crate::cuda) local: Option<Local>,
    /// The state of kernels that replace those of a stage.
    pub(crate) stage_state: Option<Box<dyn Any + Send>>,
}

/// The buffers of local equalization.
pub(in crate::cuda) struct Local {
    pub tiles: Tiles,
    pub bins: usize,
    /// The count of each bin of each tile; zero before a frame is counted.
    pub counts: CudaSlice<u32>,
    /// The curve at the centre of each tile.
    pub curves: CudaSlice<u16>,
    /// How `curves` stores the curves, and where the kernels read them.
    pub place: CurvePlace,
    /// The mapped luminance of RGB.
    pub mapped: Option<CudaSlice<u8>>,
    /// The curves that the host made (`curves_of_light`), while they are copied to `curves`.
    given: Vec<u16>,
}

/// The mapping of a frame on the device.
#[derive(Clone, Debug)]
pub(crate) enum DeviceMapping {
    /// Curves that were computed from a frame: this frame, or a later one in the look-ahead.
    Curves {
        /// The number of that frame in the history; `None` is the frame itself.
        number: Option<u64>,
        /// The gain of chroma if chroma follows luma, in 4096ths.
        chroma_gain: u32,
    },
    /// A mapping that came with the task.
    Given(Mapping),
}

impl DevicePicture {
    /// Buffers for frames of this layout, whose kernels will run on `stream`. `pixels` is a buffer that is large enough
    /// for the layout and the readback; without it, the samples get memory of the GPU for the layout.
    ///
    /// # Errors
    /// When the GPU has no memory left.
    pub(crate) fn on(
        stream: &Arc<CudaStream>,
        gpu: &Arc<Gpu>,
        layout: &BufferLayout,
        pixels: Option<DeviceSamples>,
    ) -> Result<Self, Error> {
        let doing = "allocating memory on the device";
        let rgb = matches!(layout.arrangement(), Arrangement::Packed { .. } | Arrangement::Planar { .. });
        let pixels = pixels.map_or_else(|| DeviceSamples::on_device(stream, layout.buffer_bytes()), Ok)?;
        assert!(pixels.len() >= layout.buffer_bytes());
        // SAFETY: the kernels read no byte of it before it was written, except for those behind a plane's last pixel,
        // whose values are never used.
        let luma = if rgb { Some(unsafe { stream.alloc(layout.luma_bytes()) }.doing(doing)?) } else { None };
        let counts = stream.alloc_zeros(layout.codes()).doing(doing)?;
        let emptied = stream.alloc_zeros(layout.codes()).doing(doing)?;
        let segments = stream.alloc_zeros(tuning::SCAN_SEGMENTS).doing(doing)?;
        let curve = stream.alloc_zeros(layout.codes()).doing(doing)?;
        // Allocation is ordered on `stream`; after this other streams may use the buffers too.
        stream.synchronize().doing(doing)?;
        Ok(DevicePicture {
            gpu: gpu.clone(),
            stream: stream.clone(),
            layout: layout.clone(),
            pixels,
            luma,
            counts,
            emptied,
            segments,
            curve,
            kept_curve: None,
            is_mapped: false,
            written_at: None,
            supplied_curve: None,
            local: None,
            stage_state: None,
        })
    }

    /// Buffers for `count` frames on one new stream, for measurements.
    ///
    /// # Errors
    /// When the GPU has no memory left.
    pub fn several(gpu: &Arc<Gpu>, layout: &BufferLayout, count: usize) -> Result<Vec<Self>, Error> {
        let stream = gpu.context.new_stream().doing("making a stream")?;
        (0..count).map(|_| DevicePicture::on(&stream, gpu, layout, None)).collect()
    }

    /// Enqueues the equalization, after that of the earlier frames in `history`.
    ///
    /// # Errors
    /// When a launch fails.
    ///
    /// # Panics
    /// When the task is for another size or depth.
    pub fn equalize(&mut self, history: &mut History, task: &Task) -> Result<(), Error> {
        let task = &task.clone().reading_back(Readback::Nothing);
        history.next(task);
        let applied = self.analyze(history, task, None)?;
        self.complete(history, task, &applied)
    }

    /// Enqueues the counting of this picture, after that of the earlier frames in `history`, and the equalization of
    /// `waiting`, a frame before it in the look-ahead, with the curve of the window that ends with this one.
    ///
    /// # Errors
    /// When a launch fails.
    ///
    /// # Panics
    /// When the task is for another size or depth.
    pub fn equalize_ahead(
        &mut self,
        waiting: &mut DevicePicture,
        history: &mut History,
        task: &Task,
    ) -> Result<(), Error> {
        let task = &task.clone().reading_back(Readback::Nothing);
        history.next(task);
        let applied = self.analyze(history, task, Some(waiting))?;
        waiting.complete(history, task, &applied)
    }

    /// Enqueues plain equalization of many pictures of one layout and one stream in few launches. Returns false where
    /// there is no such kernel for them.
    ///
    /// # Errors
    /// When a launch fails.
    pub fn equalize_batch(pictures: &mut [DevicePicture], history: &mut History, task: &Task) -> Result<bool, Error> {
        let Some(gpu) = pictures.first().map(|picture| picture.gpu.clone()) else { return Ok(true) };
        pictures.iter().for_each(|picture| task.assert_suits(&picture.layout));
        if !task.suits_batches(&pictures[0].layout) || !gpu.kernels.fused()?.is_available() {
            return Ok(false);
        }
        pictures.iter_mut().for_each(|picture| picture.written_at = Some(history.launches));
        gpu.kernels.fused()?.launch_batch(pictures, history, task)?;
        Ok(true)
    }

    /// Enqueues everything up to the curve. The fused kernel also maps a frame: this one, or with a look-ahead
    /// `waiting`, which leaves the look-ahead and gets this frame's curve. Returns the mapping of the frame.
    /// [`History::next`] has been called for the frame, unless its mapping came with the task.
    pub(crate) fn analyze(
        &mut self,
        history: &mut History,
        task: &Task,
        waiting: Option<&mut DevicePicture>,
    ) -> Result<DeviceMapping, Error> {
        task.assert_suits(&self.layout);
        (self.is_mapped, self.kept_curve) = (false, None);
        if !task.parameters.method.counts() {
            let given = task.guide.mapping.clone().unwrap_or(Mapping::Balance(Balance::IDENTITY));
            return Ok(DeviceMapping::Given(given));
        }
        let everything = task.readback == Readback::Everything;
        let readback = ReadbackLayout::new(&self.layout, task);
        let windowed = History::slots_for(&task.parameters) > 0;
        let chroma_gain = task.tone().chroma_gain;
        let gpu = self.gpu.clone();
        // The fused kernel cannot be used if everything is read back: it writes no curve, and in a window of one frame
        // no counts.
        if !everything && gpu.stages.is_none() && task.suits_fused(&self.layout) && gpu.kernels.fused()?.is_available()
        {
            let looks_ahead = task.look_ahead() > 0;
            let mut waiting = waiting.filter(|waiting| waiting.layout == self.layout);
            gpu.kernels.fused()?.launch(self, waiting.as_deref_mut(), history, task)?;
            self.is_mapped = !looks_ahead;
            if let Some(waiting) = waiting {
                waiting.is_mapped = true;
            }
            self.local = None;
            self.copy_window_counts(history, task, &readback)?;
            return Ok(DeviceMapping::Curves { number: looks_ahead.then(|| history.latest_number()), chroma_gain });
        }
        self.make_luminance(task)?;
        match task.tiles(&self.layout) {
            Some((tiles, bins)) => self.make_tile_curves(history, task, tiles, bins)?,
            None => {
                self.count(task)?;
                if everything && !windowed && !readback.counts.is_empty() {
                    self.copy_counts(&readback)?;
                }
                self.make_curve(history, task)?;
                self.copy_window_counts(history, task, &readback)?;
            }
        }
        if task.look_ahead() == 0 {
            return Ok(DeviceMapping::Curves { number: None, chroma_gain });
        }
        let number = history.latest_number();
        if let Some(local) = &self.local {
            let begin = history.place(number, &task.parameters.smoothing) * local.curves.len();
            let mut kept = history.kept_curves.slice_mut(begin..begin + local.curves.len());
            self.stream.memcpy_dtod(&local.curves, &mut kept).doing("keeping a curve")?;
        }
        Ok(DeviceMapping::Curves { number: Some(number), chroma_gain })
    }

    /// Enqueues the mapping `applied` of a frame that has been analyzed. `history` has the curves of the look-ahead.
    pub(crate) fn complete(&mut self, history: &History, task: &Task, applied: &DeviceMapping) -> Result<(), Error> {
        if let DeviceMapping::Curves { number: Some(number), .. } = applied
            && !self.is_mapped
        {
            self.take_curves(history, task, *number)?;
        }
        self.written_at = Some(history.launches);
        self.apply(task, applied)
    }

    /// Notes that copies write the samples. Every later launch waits for these copies.
    pub(crate) fn refill(&mut self) {
        self.written_at = None;
    }

    /// Whether the samples are complete for a launch that begins while the last one in `history` ends.
    pub(crate) fn is_settled(&self, history: &History) -> bool {
        self.written_at.is_none_or(|launches| launches < history.launches)
    }

    fn apply(&mut self, task: &Task, applied: &DeviceMapping) -> Result<(), Error> {
        match applied {
            DeviceMapping::Curves { chroma_gain, .. } if self.is_mapped || self.local.is_none() => {
                self.apply_curve(task, *chroma_gain)
            }
            DeviceMapping::Curves { chroma_gain, .. } => {
                let gains = (*chroma_gain != UNIT_GAIN).then(|| Gains::one(*chroma_gain));
                self.apply_locally(task, task.parameters.strength, gains.as_ref())
            }
            DeviceMapping::Given(mapping) => self.apply_given(task, mapping),
        }
    }

    /// Enqueues a mapping that came with the task.
    fn apply_given(&mut self, task: &Task, mapping: &Mapping) -> Result<(), Error> {
        match mapping {
            Mapping::Curve { curve, chroma_gain } => {
                self.supply_curve(curve, task)?;
                self.apply_curve(task, *chroma_gain)
            }
            Mapping::Veil(veil) => {
                self.make_luminance(task)?;
                let tiles = Veil::tiles(self.layout.size);
                let place = self.gpu.kernels.tile_map()?.place((&tiles, 1), task);
                self.prepare_local(tiles, 1, place)?;
                self.make_veil_curves(task, veil)?;
                self.apply_locally(task, Strength::FULL, Some(&Gains::for_veil(veil, &self.layout)))
            }
            Mapping::Balance(balance) => {
                if self.gpu.clone().kernels.balance()?.launch(self, task, balance)? {
                    return Ok(());
                }
                self.supply_curve(&Arc::new(Curve::for_balanced_gray(balance, task.levels)), task)?;
                self.map(task)
            }
            Mapping::Balanced { balance, then } => {
                self.apply_given(task, &Mapping::Balance(*balance))?;
                self.apply_given(task, then)
            }
            Mapping::Tiles { .. } => unreachable!("tiles are counted here"),
        }
    }

    /// Enqueues the curves of a veil. The device computes them, but the host does it for a veil that is removed
    /// from the light of HDR.
    fn make_veil_curves(&mut self, task: &Task, veil: &Veil) -> Result<(), Error> {
        if !veil.is_of_light() {
            return self.gpu.clone().kernels.veil_curves()?.launch(self, task, veil);
        }
        let Some(local) = &mut self.local else { return Ok(()) };
        local.given = curves_of_light(veil, task.levels, self.gpu.limits.threads());
        // The copy also separates two kernels: the luminance is complete before the kernel that maps it begins.
        upload(&self.stream, &local.given, &mut local.curves)
    }

    /// Enqueues the mapping through the curve of the frame, if it has not been mapped yet, and that of its chroma.
    fn apply_curve(&mut self, task: &Task, chroma_gain: u32) -> Result<(), Error> {
        let gains = (chroma_gain != UNIT_GAIN).then(|| Gains::one(chroma_gain));
        if !self.is_mapped {
            self.map_to(task, false, gains.as_ref())?;
        }
        self.change_chroma(task, gains.as_ref())
    }

    /// Enqueues the mapping through the curves of tiles.
    fn apply_locally(&mut self, task: &Task, strength: Strength, gains: Option<&Gains>) -> Result<(), Error> {
        self.gpu.clone().kernels.tile_map()?.launch(self, (task.levels, strength))?;
        if self.luma.is_some() {
            self.map_to(task, true, gains)?;
        }
        self.change_chroma(task, gains)
    }

    /// Enqueues the multiplication of the chroma samples by `gains`, if chroma follows luma.
    fn change_chroma(&mut self, task: &Task, gains: Option<&Gains>) -> Result<(), Error> {
        let follows = task.parameters.chroma == Chroma::Follow;
        match gains.filter(|_| follows && self.layout.chroma.is_some()) {
            Some(gains) => self.gpu.clone().kernels.chroma()?.launch(self, task, gains),
            None => Ok(()),
        }
    }

    pub(crate) fn curve_address(&self) -> u64 {
        self.kept_curve.unwrap_or_else(|| self.curve.device_ptr(&self.stream).0)
    }

    /// Enqueues everything up to the mapping, with `curve` in place of a curve from the histogram.
    ///
    /// # Errors
    /// When a copy or a launch fails.
    ///
    /// # Panics
    /// When the curve is for samples of another depth.
    pub(crate) fn supply_curve(&mut self, curve: &Arc<Curve>, task: &Task) -> Result<(), Error> {
        assert_eq!(curve.codes().len(), self.layout.codes());
        task.assert_suits(&self.layout);
        (self.is_mapped, self.kept_curve) = (false, None);
        self.make_luminance(task)?;
        if !self.supplied_curve.as_ref().is_some_and(|supplied_curve| Arc::ptr_eq(supplied_curve, curve)) {
            // Keeps the curve alive until the copy has read it.
            self.supplied_curve = Some(curve.clone());
            upload(&self.stream, curve.codes(), &mut self.curve)?;
        }
        self.local = None;
        Ok(())
    }

    pub(super) fn prepare_local(&mut self, tiles: Tiles, bins: usize, place: CurvePlace) -> Result<(), Error> {
        if self.local.as_ref().is_some_and(|local| (local.tiles, local.bins, local.place) == (tiles, bins, place)) {
            return Ok(());
        }
        let doing = "allocating memory on the device";
        let stream = &self.stream;
        let mapped = match &self.luma {
            Some(luma) => Some(stream.alloc_zeros(luma.len()).doing(doing)?),
            None => None,
        };
        let entries = match place {
            place if place.has_steps() => CurvePlace::entries_of_steps(tiles.count(), bins),
            _ => tiles.count() * self.layout.codes(),
        };
        self.local = Some(Local {
            tiles,
            bins,
            place,
            counts: stream.alloc_zeros(tiles.count() * bins).doing(doing)?,
            curves: stream.alloc_zeros(entries).doing(doing)?,
            mapped,
            given: Vec::new(),
        });
        Ok(())
    }

    fn make_tile_curves(&mut self, history: &mut History, task: &Task, tiles: Tiles, bins: usize) -> Result<(), Error> {
        let gpu = self.gpu.clone();
        let place = gpu.kernels.tile_map()?.place((&tiles, bins), task);
        self.prepare_local(tiles, bins, place)?;
        let readback = ReadbackLayout::new(&self.layout, task);
        if let Some(counts) = &task.counts {
            self.take_counts(counts, task)?;
            return gpu.kernels.tile_curves()?.launch(self, history, task);
        }
        if !readback.counts.is_empty() {
            // The tile kernels neither use these counts nor clear them.
            self.count(task)?;
            self.copy_counts(&readback)?;
            self.stream.memset_zeros(&mut self.counts).doing("clearing memory on the device")?;
        }
        gpu.kernels.tile_histogram()?.launch(self, task)?;
        if !readback.tile_counts.is_empty() {
            self.copy_tile_counts(&readback)?;
        }
        gpu.kernels.tile_curves()?.launch(self, history, task)
    }

    /// Enqueues the luminance of RGB; does nothing where luma is stored.
    ///
    /// # Errors
    /// When the launch fails.
    pub fn make_luminance(&mut self, task: &Task) -> Result<(), Error> {
        task.assert_suits(&self.layout);
        if self.luma.is_none() {
            return Ok(());
        }
        self.gpu.clone().kernels.luminance()?.launch(self, task.weights)
    }

    /// The buffers for kernels that replace those of a stage.
    pub fn stage_buffers(&mut self, task: &Task) -> StageBuffers<'_> {
        StageBuffers {
            stream: self.stream.clone(),
            layout: self.layout.clone(),
            is_made: self.luma.is_some(),
            plane: self.luma.as_mut().unwrap_or(&mut self.pixels),
            counted: task.counted,
            levels: task.levels,
            strength: task.tone().strength,
            counts: &mut self.counts,
            curve: &mut self.curve,
            state: &mut self.stage_state,
        }
    }

    /// Enqueues the histogram.
    ///
    /// # Errors
    /// When the launch fails.
    pub fn count(&mut self, task: &Task) -> Result<(), Error> {
        task.assert_suits(&self.layout);
        if let Some(counts) = &task.counts {
            return self.take_counts(counts, task);
        }
        let gpu = self.gpu.clone();
        if let Some(stages) = &gpu.stages
            && stages.count(self.stage_buffers(task))?
        {
            return Ok(());
        }
        gpu.kernels.histogram()?.launch(self, task)
    }

    /// Enqueues the curve, and the clearing of counts for the next frame.
    ///
    /// # Errors
    /// When the launch fails.
    pub fn make_curve(&mut self, history: &mut History, task: &Task) -> Result<(), Error> {
        task.assert_suits(&self.layout);
        self.local = None;
        let gpu = self.gpu.clone();
        self.supplied_curve = None;
        if let Some(stages) = gpu.stages.as_ref().filter(|_| task.is_plain())
            && stages.make_curve(self.stage_buffers(task))?
        {
            return Ok(());
        }
        if task.is_plain() {
            return gpu.kernels.scan()?.launch(self, task.levels, task.tone().strength);
        }
        gpu.kernels.equalization()?.launch(self, history, task)
    }

    /// Makes the driver refuse a launch, for tests of what follows an error.
    pub(crate) fn fail(&mut self, task: &Task) -> Result<(), Error> {
        self.gpu.clone().kernels.scan()?.launch_refused(self, task.levels, task.tone().strength)
    }

    /// Enqueues the mapping of the pixels through the curve.
    ///
    /// # Errors
    /// When the launch fails.
    pub fn map(&mut self, task: &Task) -> Result<(), Error> {
        task.assert_suits(&self.layout);
        // The caller may enqueue any launch next, so the samples never count as settled.
        self.written_at = Some(u64::MAX);
        self.map_to(task, false, None)
    }

    /// Enqueues the mapping of the pixels; RGB gets these gains, if chroma follows luma.
    fn map_to(&mut self, task: &Task, locally: bool, gains: Option<&Gains>) -> Result<(), Error> {
        let gpu = self.gpu.clone();
        let follows = task.parameters.chroma == Chroma::Follow;
        if let Some(gains) = gains.filter(|_| follows && self.luma.is_some()) {
            return gpu.kernels.chroma()?.launch_rgb(self, task, (locally, gains));
        }
        gpu.kernels.map()?.launch(self, task.weights, locally)
    }

    /// The layout of the picture's planes.
    pub fn layout(&self) -> &BufferLayout {
        &self.layout
    }

    /// The stream that the picture's kernels run on.
    pub fn stream(&self) -> &Arc<CudaStream> {
        &self.stream
    }

    /// Copies `bytes` to the start of the planes and waits, for measurements.
    ///
    /// # Errors
    /// When the copy fails.
    ///
    /// # Panics
    /// When there are more bytes than the planes have.
    pub fn fill(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let stream = self.stream.clone();
        stream.memcpy_htod(bytes, &mut self.pixels.slice_mut(..bytes.len())).doing("copying to the device")?;
        self.refill();
        stream.synchronize().doing("copying to the device")
    }
}

/// The curves of the regions of a veil that is removed from the light of HDR, made on this many threads because this
/// takes longer than all other work for a frame.
fn curves_of_light(veil: &Veil, levels: Levels, threads: usize) -> Vec<u16> {
    let rows_each = REGIONS.div_ceil(threads);
    std::thread::scope(|scope| {
        let begin = |first: usize| {
            let rows = first..(first + rows_each).min(REGIONS);
            let curves = move || rows.clone().flat_map(|y| veil.codes_of_row(y, levels)).collect::<Vec<u16>>();
            // If no thread can be spawned, this thread makes the curves.
            (Builder::new().spawn_scoped(scope, curves.clone()).ok(), curves)
        };
        let begun: Vec<_> = (0..REGIONS).step_by(rows_each).map(begin).collect();
        let ended = begun.into_iter().map(|(thread, curves)| match thread.map(ScopedJoinHandle::join) {
            Some(Ok(made)) => made,
            _ => curves(),
        });
        ended.flatten().collect()
    })
}

/// The most bytes of pageable memory that the driver copies immediately; a larger copy may wait for the stream.
const AT_ONCE: usize = 64 << 10;

/// Enqueues the copy of curves to the start of `target`.
fn upload(stream: &Arc<CudaStream>, curves: &[u16], target: &mut CudaSlice<u16>) -> Result<(), Error> {
    let entries = AT_ONCE / size_of::<u16>();
    for (index, part) in curves.chunks(entries).enumerate() {
        let first = index * entries;
        let mut target = target.slice_mut(first..first + part.len());
        stream.memcpy_htod(part, &mut target).doing("copying to the device")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Transfer;
    use crate::spec::natural::{InLight, MAX_PEAK, ToneCurve, Toned};

    #[test]
    fn curves_that_several_threads_make_are_those_of_the_veil() {
        let value_of = |by: u32| std::array::from_fn(|y| std::array::from_fn(|x| (y * 90 + x * 7) as u32 * by));
        let then = Some(Toned { curve: ToneCurve::through(|level| level + level / 9 - 30), light: 70_000 });
        let in_light = Some(InLight { transfer: Transfer::Pq, peak: [MAX_PEAK, MAX_PEAK / 3] });
        let veil = Veil { taken: value_of(1), gains: value_of(20), chroma: value_of(6), then, in_light, ceiling: 1023 };
        let levels = Levels::limited(10);
        assert!(veil.is_of_light());
        let curves = veil.curves(levels, Veil::tiles((320, 240)));
        assert_eq!(curves_of_light(&veil, levels, 2), curves.luts());
        assert_ne!(curves.lut(0), curves.lut(63));
    }
}

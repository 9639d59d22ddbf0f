//! Removes noise on the GPU: the steps of [`crate::denoise`] for planes that come from the host and go back
//! there. Every call waits for what it has enqueued, so that its memory may be used again.
#![allow(unsafe_code, reason = "copies to and from memory by address")]

use super::arguments::{NoiseFactors, NoisyPlane, ReferencePlane, ReferencePlanes};
use super::context::Gpu;
use super::error::{Doing, Error};
use super::kernels::denoise::{MergeLauncher, MotionSearch, Parents};
use super::kernels::get_or_load;
use super::memory::device_memory::{DeviceMemory, DevicePool};
use super::memory::pinned::PinnedPool;
use crate::denoise::Denoiser;
use crate::denoise::dct::SAMPLES;
use crate::denoise::merge::MAX_OTHERS;
use crate::denoise::noise::{CLASSES, Differences, Noise, SIZES};
use crate::denoise::pyramid::{self, DIFFERENCES};
use crate::denoise::search::{BLOCK, REACH, Way, calm_at};
use crate::denoise::sheet::{PAD, Sheet};
use crate::frame::Memory;
use bytemuck::Zeroable;
use cudarc::driver::{CudaStream, result};
use std::sync::Arc;

/// Denoising may use the GPU's free memory divided by this number.
const PART: usize = 4;

/// The stream on which noise is removed, and its memory.
pub(super) struct NoiseMemory {
    pub stream: Arc<CudaStream>,
    memory: Arc<DevicePool>,
    uploads: PinnedPool,
    downloads: PinnedPool,
}

/// A plane with a margin around it.
pub struct DeviceSheet {
    memory: DeviceMemory,
    pub(super) width: usize,
    pub(super) height: usize,
}

/// The planes of a frame, and a pyramid of its smoothed luma: full size, then halved level by level.
pub struct NoisyPicture {
    planes: Vec<DeviceSheet>,
    log2: (u8, u8),
    pyramid: Vec<DeviceSheet>,
}

/// The motion vectors of all blocks, one word each.
pub struct DeviceField {
    memory: DeviceMemory,
    pub(super) columns: usize,
    pub(super) rows: usize,
}

impl DeviceSheet {
    pub(super) fn address(&self) -> u64 {
        self.memory.address()
    }

    /// The number of samples, including the margin.
    pub(super) fn samples(&self) -> usize {
        (self.width + 2 * PAD) * (self.height + 2 * PAD)
    }
}

impl DeviceField {
    pub(super) fn address(&self) -> u64 {
        self.memory.address()
    }

    pub(super) fn blocks(&self) -> usize {
        self.columns * self.rows
    }
}

impl NoisyPicture {
    fn plane(&self, index: usize) -> NoisyPlane {
        let (plane, quarter) = (&self.planes[index], &self.pyramid[2]);
        let log2 = if index > 0 { self.log2 } else { (0, 0) };
        NoisyPlane {
            samples: plane.address(),
            quarter: quarter.address(),
            width: plane.width as u32,
            height: plane.height as u32,
            quarter_width: quarter.width as u32,
            quarter_height: quarter.height as u32,
            log2_width: log2.0.into(),
            log2_height: log2.1.into(),
            is_chroma: (index > 0).into(),
            none: 0,
        }
    }

    /// A plane of this picture as a reference, with the motion `field` to it.
    fn moved(&self, index: usize, field: &DeviceField) -> ReferencePlane {
        ReferencePlane {
            samples: self.planes[index].address(),
            field: field.address(),
            field_columns: field.columns as u32,
            field_rows: field.rows as u32,
        }
    }
}

impl NoiseMemory {
    fn new(gpu: &Gpu) -> Result<Self, Error> {
        let context = &gpu.context;
        let free = context.mem_get_info().doing("asking for free memory")?.0;
        Ok(NoiseMemory {
            stream: context.new_stream().doing("making a stream")?,
            memory: DevicePool::new(context, free / PART, &gpu.limits)?,
            uploads: PinnedPool::new(context, &gpu.limits),
            downloads: PinnedPool::new(context, &gpu.limits),
        })
    }

    /// Memory for `count` values, with unspecified content.
    fn take<T>(&self, count: usize) -> Result<DeviceMemory, Error> {
        self.memory.take(count * size_of::<T>())
    }

    fn sheet(&self, width: usize, height: usize) -> Result<DeviceSheet, Error> {
        let memory = self.take::<i16>((width + 2 * PAD) * (height + 2 * PAD))?;
        Ok(DeviceSheet { memory, width, height })
    }

    fn field(&self, (width, height): (usize, usize)) -> Result<DeviceField, Error> {
        let (columns, rows) = (width.div_ceil(BLOCK), height.div_ceil(BLOCK));
        Ok(DeviceField { memory: self.take::<u32>(columns * rows)?, columns, rows })
    }

    /// `count` counts, all 0.
    fn counts(&self, count: usize) -> Result<DeviceMemory, Error> {
        let counts = self.take::<u32>(count)?;
        let cleared =
            // SAFETY: the memory has these bytes, and is used on this stream only; `take` has bound the context.
            unsafe { result::memset_d8_async(counts.address(), 0, counts.size(), self.stream.cu_stream()) };
        cleared.doing("clearing counts")?;
        Ok(counts)
    }

    fn wait(&self) -> Result<(), Error> {
        self.stream.synchronize().doing("removing noise")
    }

    /// Waits for all enqueued work, and downloads the counts.
    fn counted(&self, counts: &DeviceMemory) -> Result<Vec<u32>, Error> {
        let mut found = vec![0u32; counts.size() / size_of::<u32>()];
        let below = bytemuck::cast_slice_mut::<u32, u8>(&mut found);
        // SAFETY: both sides have these bytes; the host's is waited for below, whatever the result.
        let copied = unsafe { result::memcpy_dtoh_async(below, counts.address(), self.stream.cu_stream()) };
        let done = self.wait();
        copied.doing("bringing counts down")?;
        done.map(|()| found)
    }
}

impl Gpu {
    fn noise(&self) -> Result<&NoiseMemory, Error> {
        get_or_load(&self.noise, || NoiseMemory::new(self))
    }
}

impl Denoiser for Gpu {
    type Picture = NoisyPicture;
    type Field = DeviceField;
    type Error = Error;

    fn picture(&self, planes: &Arc<Vec<Sheet>>, log2: (u8, u8)) -> Result<NoisyPicture, Error> {
        let store = self.noise()?;
        let bytes = |sheet: &Sheet| size_of_val(sheet.samples());
        // All memory is allocated before the first copy: a later error would have to wait for the copies.
        let sheets = planes.iter().map(|plane| store.sheet(plane.width(), plane.height()));
        let above = sheets.collect::<Result<Vec<_>, _>>()?;
        let mut pinned = store.uploads.take(planes.iter().map(bytes).sum())?;
        let mut rest = &mut *pinned;
        let mut copied = Ok(());
        for (plane, sheet) in planes.iter().zip(&above) {
            let (part, behind) = rest.split_at_mut(bytes(plane));
            rest = behind;
            part.copy_from_slice(bytemuck::cast_slice(plane.samples()));
            // SAFETY: both sides have these bytes. The host's is waited for below, whatever the result, and is not used
            // before; `sheet` has bound the context.
            let copy = unsafe { result::memcpy_htod_async(sheet.address(), part, store.stream.cu_stream()) };
            copied = copied.and(copy);
        }
        // Keeps the memory that kernels write until `wait` has returned.
        let mut pyramid: Vec<DeviceSheet> = Vec::new();
        let made = copied.doing("uploading a picture").and_then(|()| {
            let kernels = self.kernels.pyramid()?;
            let (width, height) = (planes[0].width(), planes[0].height());
            let smooth = store.sheet(width, height)?;
            kernels.smooth(&store.stream, &above[0], &smooth)?;
            pyramid.push(smooth);
            while pyramid.len() < pyramid::levels(width, height) {
                let finer = &pyramid[pyramid.len() - 1];
                let coarser = store.sheet(finer.width.div_ceil(2), finer.height.div_ceil(2))?;
                kernels.halve(&store.stream, finer, &coarser)?;
                pyramid.push(coarser);
            }
            Ok(())
        });
        store.wait()?;
        made?;
        Ok(NoisyPicture { planes: above, log2, pyramid })
    }

    fn differences(&self, one: &NoisyPicture, other: &NoisyPicture) -> Result<Vec<u32>, Error> {
        let store = self.noise()?;
        let kernels = self.kernels.pyramid()?;
        let counts = store.counts(DIFFERENCES)?;
        let launched = kernels.differences(&store.stream, (&one.pyramid[0], &other.pyramid[0]), &counts);
        let found = store.counted(&counts);
        launched?;
        found
    }

    fn search(
        &self,
        one: &NoisyPicture,
        other: &NoisyPicture,
        calm: u32,
        guess: Option<&DeviceField>,
    ) -> Result<DeviceField, Error> {
        let (store, kernels) = (self.noise()?, self.kernels.motion()?);
        let coarsest = if guess.is_some() { 0 } else { one.pyramid.len() - 1 };
        // Keeps the fields that kernels read until `wait` has returned.
        let mut fields: Vec<DeviceField> = Vec::new();
        let found = (0..=coarsest).rev().try_for_each(|level| {
            let target = store.field((one.pyramid[level].width, one.pyramid[level].height))?;
            let search = MotionSearch {
                one: &one.pyramid[level],
                other: &other.pyramid[level],
                parents: match (fields.last(), guess) {
                    (Some(field), _) => Parents::HalfAsLarge(field),
                    (None, Some(guess)) => Parents::SameSize(guess),
                    (None, None) => Parents::None,
                },
                calm: calm_at(calm, level),
                reach: if level == coarsest && guess.is_none() { REACH as u32 } else { 0 },
                is_finest: level == 0,
            };
            kernels.search(&store.stream, &search, &target)?;
            fields.push(target);
            Ok(())
        });
        store.wait()?;
        found?;
        Ok(fields.pop().expect("a field for each picture"))
    }

    fn farther(&self, between: Option<&DeviceField>, step: &DeviceField, way: Way) -> Result<DeviceField, Error> {
        let (store, kernels) = (self.noise()?, self.kernels.motion()?);
        let memory = store.take::<u32>(step.blocks())?;
        let target = DeviceField { memory, columns: step.columns, rows: step.rows };
        let launched = kernels.farther(&store.stream, between, (step, way == Way::Forth), &target);
        store.wait()?;
        launched.map(|()| target)
    }

    fn count(
        &self,
        current: &NoisyPicture,
        other: &NoisyPicture,
        field: &DeviceField,
    ) -> Result<Vec<Differences>, Error> {
        let (store, kernels) = (self.noise()?, self.kernels.merge()?);
        const COUNTS: usize = (SAMPLES + CLASSES) * SIZES;
        let each = COUNTS + 1;
        let counts = store.counts(each * current.planes.len())?;
        let counted = (0..current.planes.len()).try_for_each(|index| {
            let place = (&counts, index * each);
            kernels.count(&store.stream, &current.plane(index), &other.moved(index, field), place, self.multiprocessors)
        });
        let found = store.counted(&counts);
        counted?;
        Ok(found?.chunks(each).map(|counts| Differences::from_counts(&counts[1..])).collect())
    }

    fn merge(
        &self,
        current: &NoisyPicture,
        neighbours: &[(&NoisyPicture, &DeviceField)],
        near: usize,
        noise: &[Noise],
    ) -> Result<Vec<Sheet>, Error> {
        assert!(near <= neighbours.len() && neighbours.len() <= MAX_OTHERS);
        let (store, kernels) = (self.noise()?, self.kernels.merge()?);
        let samples = |plane: &DeviceSheet| plane.width * plane.height;
        let all: usize = current.planes.iter().map(samples).sum();
        let out = store.take::<i16>(all)?;
        let mut pinned = store.downloads.take(out.size())?;
        let mut tiles = Vec::new();
        let mut begin = 0;
        let merged = noise.iter().enumerate().try_for_each(|(index, noise)| {
            let plane = current.plane(index);
            let (count, near) = (neighbours.len() as u32, near as u32);
            let mut moved = ReferencePlanes { count, near, ..ReferencePlanes::zeroed() };
            for (target, (other, field)) in moved.of.iter_mut().zip(neighbours) {
                *target = other.moved(index, field);
            }
            let noise = NoiseFactors::new(noise);
            // Keeps the memory that kernels write until `wait` has returned.
            tiles.push(store.take::<i16>(MergeLauncher::tiles_of(&plane) * SAMPLES)?);
            let of_plane = &tiles[tiles.len() - 1];
            kernels.tiles(&store.stream, (&plane, &moved, &noise), of_plane)?;
            kernels.lay(&store.stream, &plane, of_plane, (&out, begin))?;
            begin += samples(&current.planes[index]);
            Ok(())
        });
        // SAFETY: both sides have these bytes; the host's is waited for below, whatever the result; `take` has bound
        // the context.
        let copied = unsafe { result::memcpy_dtoh_async(&mut pinned, out.address(), store.stream.cu_stream()) };
        let done = store.wait();
        merged?;
        copied.doing("bringing a picture down")?;
        done?;
        let mut rows = bytemuck::cast_slice::<u8, i16>(&pinned);
        let sheet = |plane: &DeviceSheet| {
            let (current, behind) = rows.split_at(samples(plane));
            rows = behind;
            let mut sheet = Sheet::new(plane.width, plane.height);
            current.chunks(plane.width).enumerate().for_each(|(y, row)| sheet.row_mut(y).copy_from_slice(row));
            sheet
        };
        Ok(current.planes.iter().map(sheet).collect())
    }
}

//! Launches `kernels/fused.cu`: the whole equalization in one launch, with the samples in shared memory in between.
#![allow(unsafe_code, reason = "launches kernels")]

use super::{NULL, VECTOR, compiled, grid, luma_vectors, most_shared};
use crate::cuda::arguments::{BlendedLevels, MOST_PLANES, Modifiers, PiecewiseLine, Plane, Planes, Samples};
use crate::cuda::error::{Doing, Error};
use crate::cuda::launch::Kernel;
use crate::cuda::memory::layout::BufferLayout;
use crate::cuda::pipeline::history::{History, Totals};
use crate::cuda::pipeline::picture::DevicePicture;
use crate::cuda::pipeline::task::Task;
use crate::cuda::tuning::{self, BlockShape};
use cudarc::driver::sys::CUdevice_attribute as Attribute;
use cudarc::driver::sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES;
use cudarc::driver::{CudaContext, DevicePtrMut, LaunchConfig};
use std::sync::Arc;

/// The oldest compute capability that copies to shared memory asynchronously.
const OLDEST_DEVICE: (i32, i32) = (8, 0);

/// Bytes of each block's shared memory that the driver reserves.
const RESERVED: u32 = 1 << 10;

/// The variants for samples up to a depth.
struct Variant {
    row: tuning::FusedTuning,
    plain: Kernel,
    /// As `plain`, for planes that are too large for shared memory.
    large: Kernel,
    modified: Kernel,
    /// As `modified`, for a look-ahead: maps another plane than it counts.
    ahead: Kernel,
}

#[derive(Default)]
pub(in crate::cuda) struct FusedLauncher {
    /// Empty if the GPU is too old, or has no cooperative launches.
    variants: Vec<Variant>,
    batch: Option<Kernel>,
    multiprocessors: u32,
    /// The most shared memory of a block, in bytes.
    shared: u32,
    /// The shared memory of a multiprocessor, in bytes.
    all_shared: u32,
    /// The most static shared memory of any of the kernels, in bytes.
    own_shared: u32,
}

impl FusedLauncher {
    pub fn load(context: &Arc<CudaContext>) -> Result<Self, Error> {
        let device_attribute = |attribute| {
            let value = context.attribute(attribute).doing("asking for what the device can do")?;
            Ok::<_, Error>(value.unsigned_abs())
        };
        let capability = context.compute_capability().doing("asking for the compute capability")?;
        if capability < OLDEST_DEVICE || device_attribute(Attribute::CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH)? == 0 {
            return Ok(FusedLauncher::default());
        }
        let module = compiled::FUSED.load(context)?;
        let shared = most_shared(context)?.unsigned_abs();
        let mut own_shared = 0;
        let mut kernel = |name: &str| {
            let function = Kernel::new(&module, name)?;
            let taken_already =
                function.get_attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES).doing("asking for shared memory")?;
            function.allow_shared(shared as i32 - taken_already)?;
            own_shared = own_shared.max(taken_already.unsigned_abs());
            Ok::<_, Error>(function)
        };
        let variants = tuning::FUSED.iter().map(|&row| {
            Ok(Variant {
                row,
                plain: kernel(&format!("fused_u{}", row.depth))?,
                large: kernel(&format!("fused_large_u{}", row.depth))?,
                modified: kernel(&format!("fused_modified_u{}", row.depth))?,
                ahead: kernel(&format!("fused_ahead_u{}", row.depth))?,
            })
        });
        let variants = variants.collect::<Result<_, Error>>()?;
        let batch = Some(kernel("fused_batch_u8")?);
        Ok(FusedLauncher {
            variants,
            batch,
            multiprocessors: device_attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
            shared,
            all_shared: device_attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)?,
            own_shared,
        })
    }

    /// Whether this GPU can run the fused kernels.
    pub fn is_available(&self) -> bool {
        self.batch.is_some()
    }

    fn variant(&self, layout: &BufferLayout) -> Option<&Variant> {
        self.variants.iter().find(|variant| layout.sample().depth <= variant.row.depth)
    }

    /// Enqueues the equalization of `picture`, in place. With a look-ahead, `picture` is only counted and its curve is
    /// kept in `history`. That curve equalizes `waiting`, which has the same layout.
    pub fn launch(
        &self,
        picture: &mut DevicePicture,
        waiting: Option<&mut DevicePicture>,
        history: &mut History,
        task: &Task,
    ) -> Result<(), Error> {
        let looks_ahead = task.look_ahead() > 0;
        assert!(looks_ahead || waiting.is_none());
        let layout = picture.layout().clone();
        let variant = self.variant(&layout).expect("it is there and suits");
        let codes = layout.codes();
        let vectors = luma_vectors(&layout);
        let is_plain = task.is_plain() && !looks_ahead;
        let table = (codes as u32 * 4) << variant.row.log2_copies;
        // The last block only writes the history. It has no samples, so that the others do not wait for it.
        let writers = u32::from(!is_plain && self.multiprocessors > 1);
        let workers = vectors.div_ceil(tuning::FUSED_THREADS).min(self.multiprocessors - writers);
        let share = vectors.div_ceil(workers);
        let blocks = workers + writers;
        let settled = |picture: &DevicePicture| picture.is_settled(history);
        let settled = settled(picture) && waiting.as_deref().is_none_or(settled);
        let window = if looks_ahead { &variant.ahead } else { &variant.modified };
        let alone = BlockShape { threads: tuning::FUSED_THREADS, blocks: 1 };
        let overlaps = !is_plain && settled && window.overlaps;
        let mut shape = if overlaps { variant.row.window } else { alone };
        let (mut kept, mut bytes) = self.rounds_kept(share, shape, table);
        if !looks_ahead && 2 * kept < share.div_ceil(shape.threads) {
            shape = alone;
            (kept, bytes) = self.rounds_kept(share, shape, table);
        }
        let function = match is_plain {
            true if kept < share.div_ceil(shape.threads) => &variant.large,
            true => &variant.plain,
            false => window,
        };
        let stream = picture.stream().clone();
        let (pixels, _order) = picture.pixels.device_ptr_mut(&stream);
        let plane = Plane { from: pixels, to: pixels, share, kept };
        let older = waiting.map_or(NULL, |waiting| {
            assert!(*waiting.layout() == layout);
            waiting.pixels.device_ptr_mut(&stream).0
        });
        let older = Plane { from: older, to: older, share, kept };
        let (samples, is_settled) = (Samples::new(&layout), u32::from(settled));
        let tone = task.tone();
        let levels = BlendedLevels::new(task.levels, tone.strength);
        let modified = if is_plain {
            None
        } else {
            let (update, frames) = history.prepare(&layout, task)?;
            Some((Modifiers::new(task, frames), update, PiecewiseLine::new(&tone.line)))
        };
        let kept_curve =
            if looks_ahead { history.kept_curve(history.next_number(), &task.parameters.smoothing) } else { NULL };
        let (totals, emptied) = history.totals.next(&stream, codes)?;
        let mut launch = function.on(&stream);
        launch.arg(&plane);
        if looks_ahead {
            launch.arg(&older);
        }
        launch.arg(&samples).arg(&levels);
        if let Some((modifiers, update, line)) = &modified {
            launch.arg(modifiers).arg(update).arg(line);
        }
        launch.arg(totals).arg(emptied);
        if modified.is_some() {
            launch.arg(&mut history.slots).arg(&mut history.sums);
        }
        if looks_ahead {
            launch.arg(&kept_curve);
        }
        if modified.is_some() {
            launch.arg(&is_settled);
        }
        let config = LaunchConfig { shared_mem_bytes: bytes, ..grid(blocks, shape.threads) };
        // SAFETY: the arguments are those of the kernel. The shares cover both planes, which have room for whole
        // vectors; shared memory holds the table and the rounds that stay; the totals have an entry for each code, and
        // the first ones are zero; the history has the sizes that `prepare` gave it, a kept curve has an entry for each
        // code; all buffers belong to this stream, and all blocks are resident at once.
        unsafe { launch.launch_together(config) }.doing("launching fused")?;
        // The buffers are swapped only here, because a refused launch has cleared nothing.
        history.totals.swap();
        history.launches += u64::from(!is_plain);
        if let Some((_, update, _)) = &modified {
            history.advance(update);
        }
        Ok(())
    }

    /// The rounds of a block's share that stay in shared memory, and the bytes of shared memory with the table.
    fn rounds_kept(&self, share: u32, BlockShape { threads, blocks }: BlockShape, table: u32) -> (u32, u32) {
        let most = self.shared.min(self.all_shared / blocks - RESERVED) - self.own_shared;
        let round = threads * VECTOR as u32;
        let kept = share.div_ceil(threads).min(most.saturating_sub(table) / round);
        (kept, table + kept * round)
    }

    /// Enqueues plain equalization of many pictures of one layout and one stream, in place.
    pub fn launch_batch(
        &self,
        pictures: &mut [DevicePicture],
        history: &mut History,
        task: &Task,
    ) -> Result<(), Error> {
        let layout = pictures[0].layout().clone();
        let stream = pictures[0].stream().clone();
        assert!(task.suits_batches(&layout));
        let function = self.batch.as_ref().expect("it is there");
        let vectors = luma_vectors(&layout);
        let shape = tuning::batch(vectors * VECTOR as u32, self.multiprocessors);
        if shape.teams == 1 {
            // A single team would process the planes one after the other, but launches of single planes overlap.
            return pictures.iter_mut().try_for_each(|picture| self.launch(picture, None, history, task));
        }
        let share = vectors.div_ceil(shape.team);
        let table = (layout.codes() as u32 * 4) << self.variants[0].row.log2_copies;
        let (kept, bytes) = self.rounds_kept(share, BlockShape { threads: shape.threads, blocks: shape.blocks }, table);
        let teams = shape.teams;
        let (samples, levels) = (Samples::new(&layout), BlendedLevels::new(task.levels, task.tone().strength));
        let entries = teams as usize * 3 * Totals::entries(layout.codes());
        for pictures in pictures.chunks_mut(MOST_PLANES) {
            let mut planes = Planes { of: [0; MOST_PLANES] };
            for (plane, picture) in planes.of.iter_mut().zip(pictures.iter_mut()) {
                assert!(*picture.layout() == layout);
                *plane = picture.pixels.device_ptr_mut(&stream).0;
            }
            let totals = history.totals.zeroed_batch(&stream, entries)?;
            let count = pictures.len() as u32;
            let mut launch = function.on(&stream);
            launch.arg(&planes).arg(&count).arg(&shape.team).arg(&share).arg(&kept);
            launch.arg(&samples).arg(&levels).arg(totals);
            let config = LaunchConfig { shared_mem_bytes: bytes, ..grid(teams * shape.team, shape.threads) };
            // SAFETY: as in `launch`; there is an address for each of `count` planes, and zeroed totals for each team.
            unsafe { launch.launch_together(config) }.doing("launching fused")?;
        }
        Ok(())
    }
}

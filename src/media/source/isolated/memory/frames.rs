//! Frames sent from one process to the other: where their rows are in shared memory, and the copy that this program
//! works on. Checks are made on the copy, which the other process cannot change.

use super::shared_memory::{SharedBlocks, SharedPool};
use crate::ffmpeg::demux::{Lie, WireProperties};
use crate::ffmpeg::frame::Picture;
use crate::source::isolated::messages::{Planes, RowPlace, WireFrame, checked_size};
use anyhow::Result;
use histeq::Limits;
use histeq::internal::frame::{
    Buffer, Frame, HostPool, Matrix, Memory, MemoryError, NoRoom, PixelFormat, Plane, PlaneMut, Pool, Range, Transfer,
};
use std::sync::Arc;

const MATRICES: [Matrix; 3] = [Matrix::Bt601, Matrix::Bt709, Matrix::Bt2020];

const TRANSFERS: [Transfer; 3] = [Transfer::Sdr, Transfer::Pq, Transfer::Hlg];

/// Bytes after the last row of a buffer, which vector instructions may read.
const SPARE: usize = PlaneMut::ALIGNMENT;

/// Describes `frame`, whose planes lie in memory of `pool`, or are copied there. The returned memory must be kept until
/// the other process has copied the frame.
pub fn described(frame: &Frame, pool: &SharedPool) -> (WireFrame, Vec<Arc<dyn Memory>>) {
    let shared: Option<(Vec<RowPlace>, _)> =
        frame.planes().iter().map(|plane| in_place(plane, pool).or_else(|| copied_to(plane, pool))).collect();
    let rows = || frame.planes().iter().flat_map(|plane| (0..plane.rows()).flat_map(|y| plane.row(y))).copied();
    let (planes, kept) = match shared {
        Some((places, kept)) => (Planes::Shared(places), kept),
        None => (Planes::Sent(rows().collect()), Vec::new()),
    };
    let place = |found: Option<usize>| found.unwrap_or_default() as u8;
    let properties = frame.attachment.as_ref().and_then(|attachment| attachment.downcast_ref::<Picture>());
    let wire = WireFrame {
        format: frame.format().name().to_owned(),
        size: (frame.width(), frame.height()),
        is_full_range: frame.range() == Range::Full,
        matrix: place(MATRICES.iter().position(|matrix| *matrix == frame.matrix())),
        transfer: place(TRANSFERS.iter().position(|transfer| *transfer == frame.transfer)),
        is_interlaced: frame.is_interlaced,
        time: frame.pts,
        properties: properties.map(WireProperties::new),
        planes,
    };
    (wire, kept)
}

/// Where a plane lies in memory of `pool`, if it does.
fn in_place(plane: &Plane, pool: &SharedPool) -> Option<(RowPlace, Arc<dyn Memory>)> {
    let (slot, start) = pool.place_of(plane.row(0))?;
    Some((RowPlace { slot, start, stride: plane.stride() as i64 }, plane.memory().clone()))
}

/// Where a copy of a plane lies in memory of `pool`; `None` if there is no such memory.
fn copied_to(plane: &Plane, pool: &SharedPool) -> Option<(RowPlace, Arc<dyn Memory>)> {
    let mut buffer = pool.buffer(plane.row_bytes() * plane.rows()).ok()?;
    for (y, row) in buffer.chunks_exact_mut(plane.row_bytes()).take(plane.rows()).enumerate() {
        row.copy_from_slice(plane.row(y));
    }
    let (slot, start) = pool.place_of(&buffer[..1])?;
    Some((RowPlace { slot, start, stride: plane.row_bytes() as i64 }, buffer.freeze()))
}

/// The stride of a copy, in bytes: `stride`, if it is aligned and has little padding, else `usual`.
fn near(usual: usize, stride: i64) -> usize {
    let allowed = usual..=usual + MAX_PADDING;
    usize::try_from(stride)
        .ok()
        .filter(|stride| allowed.contains(stride) && stride.is_multiple_of(SPARE))
        .unwrap_or(usual)
}

/// The most padding between rows of a copy, in bytes.
const MAX_PADDING: usize = 256;

/// Memory for frames that come from another process.
pub struct FramePool {
    pool: Arc<dyn Pool>,
    /// Ordinary memory, for planes that `pool` does not serve.
    others: HostPool,
    limits: Limits,
}

impl FramePool {
    /// Memory within these limits.
    pub fn new(limits: &Limits) -> Self {
        FramePool { pool: Arc::new(HostPool::new(limits)), others: HostPool::new(limits), limits: limits.clone() }
    }

    /// Takes memory from `pool` from now on.
    pub fn replace(&mut self, pool: Arc<dyn Pool>) {
        self.pool = pool;
    }

    /// A copy of the frame that `wire` describes.
    ///
    /// # Errors
    /// When the description cannot be true, or there is no memory for the frame.
    pub fn copied(&self, wire: WireFrame, blocks: &SharedBlocks) -> Result<Frame> {
        let format = PixelFormat::from_name(&wire.format).ok_or(Lie("a format"))?;
        let (width, height) = checked_size(wire.size, &self.limits)?;
        let matrix = *MATRICES.get(usize::from(wire.matrix)).ok_or(Lie("a matrix"))?;
        let transfer = *TRANSFERS.get(usize::from(wire.transfer)).ok_or(Lie("a transfer"))?;
        let shapes: Vec<(usize, usize)> = (0..format.descriptor().planes().len())
            .map(|index| (format.row_bytes(index, width), format.rows(index, height)))
            .collect();
        let bytes = |&(row_bytes, rows): &(usize, usize)| row_bytes * rows;
        let is_whole = match &wire.planes {
            Planes::Shared(places) => places.len() == shapes.len(),
            Planes::Sent(sent) => sent.len() == shapes.iter().map(bytes).sum::<usize>(),
        };
        if !is_whole {
            return Err(Lie("planes").into());
        }
        self.limits.check_room(shapes.iter().map(bytes).sum())?;
        // Rows keep the decoder's pitch, unless it has much padding.
        let usual = shapes.iter().map(|(row_bytes, _)| PlaneMut::stride_for(*row_bytes));
        let strides: Vec<usize> = match &wire.planes {
            Planes::Shared(places) => usual.zip(places).map(|(usual, place)| near(usual, place.stride)).collect(),
            Planes::Sent(_) => usual.collect(),
        };
        let served = self.pool.planes(format);
        let split = if served.start > 0 { 0 } else { served.end.min(shapes.len()) };
        let mut planes = Vec::new();
        for (part, pool) in [(0..split, &*self.pool), (split..shapes.len(), &self.others as &dyn Pool)] {
            if part.is_empty() {
                continue;
            }
            let room = |index: usize| strides[index] * shapes[index].1;
            let mut buffer = self.buffer(pool, part.clone().map(room).sum::<usize>() + SPARE)?;
            let mut starts = Vec::new();
            let mut start = 0;
            for index in part.clone() {
                let (shape, stride) = (&shapes[index], strides[index]);
                let target = &mut buffer[start..start + room(index)];
                match &wire.planes {
                    Planes::Shared(places) => blocks.copy(places[index], shape.0, target, stride)?,
                    Planes::Sent(sent) => {
                        let begin: usize = shapes[..index].iter().map(bytes).sum();
                        let rows = sent[begin..begin + bytes(shape)].chunks_exact(shape.0);
                        target
                            .chunks_exact_mut(stride)
                            .zip(rows)
                            .for_each(|(target, row)| target[..shape.0].copy_from_slice(row));
                    }
                }
                starts.push(start);
                start += room(index);
            }
            let memory = buffer.freeze();
            for (index, start) in part.zip(starts) {
                let ((row_bytes, rows), stride) = (shapes[index], strides[index] as isize);
                planes.push(Plane::new(memory.clone(), start, stride, row_bytes, rows).ok_or(Lie("planes"))?);
            }
        }
        let range = if wire.is_full_range { Range::Full } else { Range::Limited };
        let mut frame = Frame::new(format, (width, height), range, matrix, planes)?;
        frame.transfer = transfer;
        frame.is_interlaced = wire.is_interlaced;
        frame.pts = wire.time;
        if let Some(properties) = wire.properties {
            frame.attachment = Some(Arc::new(properties.checked()?));
        }
        Ok(frame)
    }

    /// A buffer of `pool`, or an ordinary one if the pool is exhausted.
    fn buffer(&self, pool: &dyn Pool, len: usize) -> Result<Box<dyn Buffer>, MemoryError> {
        pool.buffer(len).or_else(|error| match error.inner().is::<NoRoom>() {
            true => Err(error),
            false => self.others.buffer(len),
        })
    }
}

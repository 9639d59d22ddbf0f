//! A plane of a frame: rows at a stride in shared memory.

use super::memory::{Memory, MemoryError, OnDevice};
use super::pool::{HostBuffer, HostPool};
use std::sync::Arc;

/// Rows of bytes in shared, immutable memory. The stride is negative for frames stored bottom up.
#[derive(Clone)]
pub struct Plane {
    memory: Arc<dyn Memory>,
    start: usize,
    stride: isize,
    row_bytes: usize,
    rows: usize,
}

impl Plane {
    /// A plane of `rows` rows whose first row begins at byte `start`; `None` when a row would lie outside of `memory`.
    pub fn new(memory: Arc<dyn Memory>, start: usize, stride: isize, row_bytes: usize, rows: usize) -> Option<Self> {
        let len = memory.size();
        let first = isize::try_from(start).ok()?;
        let last = first.checked_add(stride.checked_mul(isize::try_from(rows.checked_sub(1)?).ok()?)?)?;
        let lowest = usize::try_from(first.min(last)).ok()?;
        let highest = usize::try_from(first.max(last)).ok()?;
        let fits = lowest <= highest && highest.checked_add(row_bytes)? <= len;
        fits.then_some(Plane { memory, start, stride, row_bytes, rows })
    }

    /// Row `y`, without padding.
    #[inline]
    pub fn row(&self, y: usize) -> &[u8] {
        assert!(y < self.rows);
        let start = self.start.wrapping_add_signed(self.stride * y as isize);
        &self.memory.bytes()[start..start + self.row_bytes]
    }

    /// Rows `ys`. From a GPU, only these rows are copied to the host.
    ///
    /// # Errors
    /// When the GPU fails.
    ///
    /// # Panics
    /// When there is no such row.
    #[doc(hidden)]
    pub fn rows_at<'a>(&'a self, ys: &'a [usize]) -> Result<SomeRows<'a>, MemoryError> {
        assert!(ys.iter().all(|&y| y < self.rows));
        let start_of = |&y: &usize| self.start.wrapping_add_signed(self.stride * y as isize);
        let copies = if self.memory.is_on_host() {
            None
        } else {
            Some(self.memory.rows(&ys.iter().map(start_of).collect::<Vec<_>>(), self.row_bytes)?)
        };
        Ok(SomeRows { plane: self, ys, copies })
    }

    /// The plane in host memory. If it lies on a GPU, this is a copy, and the original stays there.
    ///
    /// # Errors
    /// When the GPU fails.
    #[doc(hidden)]
    pub fn on_host(&self) -> Result<Plane, MemoryError> {
        if self.memory.is_on_host() {
            return Ok(self.clone());
        }
        let ys: Vec<usize> = (0..self.rows).collect();
        let rows = self.rows_at(&ys)?.copies.unwrap_or_default();
        Ok(HostPool::default().plane_from(&rows, self.row_bytes, self.rows))
    }

    /// The whole plane as one slice, if there is no padding between its rows.
    #[doc(hidden)]
    pub fn contiguous(&self) -> Option<&[u8]> {
        self.is_contiguous().then(|| &self.memory.bytes()[self.start..self.start + self.row_bytes * self.rows])
    }

    /// Whether there is no padding between its rows.
    #[doc(hidden)]
    pub fn is_contiguous(&self) -> bool {
        self.rows == 1 || usize::try_from(self.stride) == Ok(self.row_bytes)
    }

    /// The address of the first row on a GPU, if the plane is there.
    pub fn on_device(&self) -> Option<OnDevice> {
        let OnDevice { context, address } = self.memory.on_device()?;
        Some(OnDevice { context, address: address + self.start as u64 })
    }

    /// Bytes from one row to the next.
    pub fn stride(&self) -> isize {
        self.stride
    }

    /// Bytes in a row, without padding.
    pub fn row_bytes(&self) -> usize {
        self.row_bytes
    }

    /// Rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Its memory.
    pub fn memory(&self) -> &Arc<dyn Memory> {
        &self.memory
    }
}

/// Some rows of a plane, on the host.
pub struct SomeRows<'a> {
    plane: &'a Plane,
    ys: &'a [usize],
    /// Copies of the rows, one after the other, if the plane is not on the host.
    copies: Option<Vec<u8>>,
}

impl SomeRows<'_> {
    /// Row `ys[index]` of the plane, without padding.
    pub fn row(&self, index: usize) -> &[u8] {
        match &self.copies {
            Some(copies) => &copies[index * self.plane.row_bytes..][..self.plane.row_bytes],
            None => self.plane.row(self.ys[index]),
        }
    }
}

/// A plane that can be written; [`PlaneMut::freeze`] makes it shareable.
pub struct PlaneMut {
    buffer: HostBuffer,
    stride: usize,
    row_bytes: usize,
    rows: usize,
}

impl PlaneMut {
    /// Rows start at multiples of this number of bytes, which is fastest for encoders and vector loads.
    pub const ALIGNMENT: usize = 64;

    /// The stride of a plane whose rows have `row_bytes` bytes.
    pub fn stride_for(row_bytes: usize) -> usize {
        row_bytes.next_multiple_of(Self::ALIGNMENT)
    }

    /// A plane whose rows are in `buffer`.
    ///
    /// # Panics
    /// When `buffer` has fewer than `stride_for(row_bytes) * rows` bytes.
    pub fn new(buffer: HostBuffer, row_bytes: usize, rows: usize) -> Self {
        let stride = Self::stride_for(row_bytes);
        assert!(buffer.len() >= stride * rows);
        PlaneMut { buffer, stride, row_bytes, rows }
    }

    /// Row `y`, without padding.
    #[inline]
    pub fn row_mut(&mut self, y: usize) -> &mut [u8] {
        assert!(y < self.rows);
        &mut self.buffer[y * self.stride..][..self.row_bytes]
    }

    /// The finished plane.
    pub fn freeze(self) -> Plane {
        Plane {
            stride: self.stride as isize,
            row_bytes: self.row_bytes,
            rows: self.rows,
            start: 0,
            memory: Arc::new(self.buffer),
        }
    }
}

impl HostPool {
    /// A writable plane of `rows` rows of `row_bytes` bytes.
    pub fn plane(&self, row_bytes: usize, rows: usize) -> PlaneMut {
        PlaneMut::new(self.take(PlaneMut::stride_for(row_bytes) * rows), row_bytes, rows)
    }

    /// A writable copy of a plane.
    pub(crate) fn copy_of(&self, plane: &Plane) -> PlaneMut {
        let mut copy = self.plane(plane.row_bytes, plane.rows);
        (0..plane.rows).for_each(|y| copy.row_mut(y).copy_from_slice(plane.row(y)));
        copy
    }

    /// A copy of `bytes`, rows one after the other without padding, as a finished plane.
    ///
    /// # Panics
    /// When `bytes` is not `row_bytes * rows` long.
    pub fn plane_from(&self, bytes: &[u8], row_bytes: usize, rows: usize) -> Plane {
        assert_eq!(bytes.len(), row_bytes * rows);
        let mut plane = self.plane(row_bytes, rows);
        for (y, row) in bytes.chunks_exact(row_bytes).enumerate() {
            plane.row_mut(y).copy_from_slice(row);
        }
        plane.freeze()
    }
}

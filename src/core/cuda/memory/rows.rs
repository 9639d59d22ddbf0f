//! The driver's two-dimensional copies: rows with padding between them.

use crate::frame::Plane;
use cudarc::driver::sys::{CUDA_MEMCPY2D, CUmemorytype};
use std::ptr;

/// The address of the first row.
#[derive(Clone, Copy)]
pub(crate) enum RowsAddress {
    Host(*const u8),
    Device(u64),
}

impl RowsAddress {
    /// The kind of memory, the address on the host, and the address on the device; one of the two addresses is null.
    fn parts(self) -> (CUmemorytype, *const u8, u64) {
        match self {
            RowsAddress::Host(start) => (CUmemorytype::CU_MEMORYTYPE_HOST, start, 0),
            RowsAddress::Device(address) => (CUmemorytype::CU_MEMORYTYPE_DEVICE, ptr::null(), address),
        }
    }
}

/// The copy of `rows` rows of `row_bytes` bytes, with a pitch on each side. If `target` is on the host, its memory must
/// be writable.
pub(crate) fn copy_of_rows(
    (source, from_pitch): (RowsAddress, usize),
    (target, to_pitch): (RowsAddress, usize),
    row_bytes: usize,
    rows: usize,
) -> CUDA_MEMCPY2D {
    let (from_type, from_host, from_device) = source.parts();
    let (to_type, to_host, to_device) = target.parts();
    CUDA_MEMCPY2D {
        srcXInBytes: 0,
        srcY: 0,
        srcMemoryType: from_type,
        srcHost: from_host.cast(),
        srcDevice: from_device,
        srcArray: ptr::null_mut(),
        srcPitch: from_pitch,
        dstXInBytes: 0,
        dstY: 0,
        dstMemoryType: to_type,
        dstHost: to_host.cast_mut().cast(),
        dstDevice: to_device,
        dstArray: ptr::null_mut(),
        dstPitch: to_pitch,
        WidthInBytes: row_bytes,
        Height: rows,
    }
}

/// Bytes from one row of a plane to the next, as a copy needs them; `None` if the rows are stored bottom-up, or lie
/// more than `most` bytes apart.
pub(crate) fn pitch_of(plane: &Plane, most: usize) -> Option<usize> {
    // The stride of a single row has no meaning.
    if plane.is_contiguous() {
        return Some(plane.row_bytes());
    }
    usize::try_from(plane.stride()).ok().filter(|pitch| (plane.row_bytes()..=most).contains(pitch))
}

/// Divides rows of `row_bytes` bytes that begin at the offsets `starts` into the fewest groups of equally spaced rows:
/// with `n` groups, row `i` belongs to group `i % n`. Returns `n`, and the bytes from one row of a group to the next.
/// Rows of a group do not overlap, so a row that is requested twice is in two groups.
pub(crate) fn interleaved(starts: &[usize], row_bytes: usize) -> (usize, usize) {
    let count = starts.len();
    let distance = |groups: usize| {
        let mut distances = (groups..count).map(|index| starts[index].checked_sub(starts[index - groups]));
        let first = distances.next().unwrap_or(Some(row_bytes))?;
        (first >= row_bytes && distances.all(|other| other == Some(first))).then_some(first)
    };
    let groups = (1..=count).filter(|groups| count.is_multiple_of(*groups));
    groups.filter_map(|groups| Some((groups, distance(groups)?))).next().unwrap_or((count, row_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Lattice;

    #[test]
    fn the_rows_of_a_lattice_are_few_groups_of_equally_spaced_ones() {
        let groups = |height: usize| {
            let rows = Lattice::size_for((1, height)).1;
            let starts: Vec<usize> = (0..rows).map(|row| 256 * Lattice::pixel(row, rows, height)).collect();
            let (groups, distance) = interleaved(&starts, 250);
            for (index, start) in starts.iter().enumerate() {
                assert_eq!(*start, starts[index % groups] + index / groups * distance, "{height}");
            }
            groups
        };
        assert_eq!([1080, 720, 2160, 480, 1088, 36, 1, 1079].map(groups), [1, 1, 1, 3, 9, 1, 1, 36]);
    }

    #[test]
    fn rows_of_chroma_that_are_asked_for_twice_are_copied_twice() {
        let twice = [0, 0, 256, 256, 512, 512];
        assert_eq!(interleaved(&twice, 250), (2, 256));
        assert_eq!(interleaved(&twice[..5], 250), (5, 250));
        assert_eq!(interleaved(&[0, 0], 250), (2, 250));
        assert_eq!(interleaved(&[512, 256, 0], 250), (3, 250));
    }
}

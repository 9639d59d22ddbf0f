//! What backends rely on without checking: planes do not exceed their memory, frames have the planes of their format,
//! and the pool reuses memory.

use crate::pictures::Bytes;
use histeq::internal::frame::{Frame, FrameError, HostPool, Matrix, Memory, OnDevice, PixelFormat, Plane, Range};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

fn plane(len: usize, start: usize, stride: isize, row_bytes: usize, rows: usize) -> Option<Plane> {
    Plane::new(Arc::new(Bytes((0..len).map(|byte| byte as u8).collect())), start, stride, row_bytes, rows)
}

#[test]
fn a_plane_lies_inside_its_memory_or_is_none() {
    assert!(plane(20, 0, 10, 10, 2).is_some());
    assert!(plane(19, 0, 10, 10, 2).is_none(), "the last row is a byte too long");
    assert!(plane(18, 0, 10, 8, 2).is_some(), "the last row needs no padding");
    assert!(plane(20, 10, -10, 10, 2).is_some());
    assert!(plane(20, 9, -10, 10, 2).is_none(), "the last row begins before the memory");
    assert!(plane(20, 11, -10, 10, 2).is_none(), "the first row ends after it");
    assert!(plane(20, 0, 10, 10, 0).is_none(), "no rows");
    assert!(plane(20, 0, isize::MAX, 10, 3).is_none());
    assert!(plane(20, usize::MAX, 10, 10, 1).is_none());
    assert!(plane(20, 0, 10, usize::MAX, 1).is_none());
}

#[test]
fn rows_of_a_picture_stored_bottom_up_come_top_first() {
    let plane = plane(20, 10, -10, 3, 2).unwrap();
    assert_eq!((plane.row(0), plane.row(1)), (&[10, 11, 12][..], &[0, 1, 2][..]));
    assert!(plane.contiguous().is_none());
}

#[test]
fn a_frame_has_the_planes_of_its_format() {
    let new = |size, planes| Frame::new(PixelFormat::Yuv420p, size, Range::Limited, Matrix::Bt601, planes);
    let luma = || plane(15, 0, 5, 5, 3).unwrap();
    let chroma = || plane(6, 0, 3, 3, 2).unwrap();
    assert!(new((5, 3), vec![luma(), chroma(), chroma()]).is_ok());
    let error = new((5, 3), vec![luma(), chroma()]).unwrap_err();
    assert_eq!(error, FrameError::PlaneCount { format: PixelFormat::Yuv420p, expected: 3, found: 2 });
    let error = new((5, 3), vec![luma(), chroma(), luma()]).unwrap_err();
    assert_eq!(
        error,
        FrameError::PlaneSize { format: PixelFormat::Yuv420p, plane: 2, expected: (3, 2), found: (5, 3) }
    );
    assert_eq!(new((0, 3), vec![]).unwrap_err(), FrameError::Empty { width: 0, height: 3 });
}

#[test]
fn memory_that_is_let_go_is_used_again() {
    let pool = HostPool::default();
    let mut first = pool.plane(100, 4);
    first.row_mut(3).fill(9);
    let first = first.freeze();
    let address = first.row(0).as_ptr();
    let kept = first.clone();
    drop(first);
    assert_ne!(pool.plane(100, 4).freeze().row(0).as_ptr(), address, "it is still held");
    drop(kept);
    let again = [pool.plane(100, 4).freeze(), pool.plane(100, 4).freeze()];
    assert!(again.iter().any(|plane| plane.row(0).as_ptr() == address));
    assert!(again.iter().all(|plane| (plane.row(1).as_ptr() as usize).is_multiple_of(64)));
}

/// Memory that claims to be on a GPU, and records whether it was copied to the host.
struct Distant {
    memory: Bytes,
    is_down: AtomicBool,
}

impl Memory for Distant {
    fn bytes(&self) -> &[u8] {
        self.is_down.store(true, Ordering::Relaxed);
        self.memory.bytes()
    }

    fn rows(&self, starts: &[usize], row_bytes: usize) -> Result<Vec<u8>, histeq::internal::frame::MemoryError> {
        self.memory.rows(starts, row_bytes)
    }

    fn size(&self) -> usize {
        self.memory.0.len()
    }

    fn on_device(&self) -> Option<OnDevice> {
        Some(OnDevice { context: 3, address: 1000 })
    }

    fn is_on_host(&self) -> bool {
        self.is_down.load(Ordering::Relaxed)
    }
}

#[test]
fn a_plane_on_a_gpu_stays_there_until_it_is_read() {
    let memory = Arc::new(Distant { memory: Bytes((0..24).collect()), is_down: AtomicBool::new(false) });
    assert!(Plane::new(memory.clone(), 5, 8, 4, 3).is_none(), "the last row is a byte too long");
    let luma = Plane::new(memory.clone(), 4, 8, 4, 3).unwrap();
    assert_eq!(luma.on_device(), Some(OnDevice { context: 3, address: 1004 }), "where its first row begins");
    assert!(!luma.is_contiguous() && luma.contiguous().is_none());
    let tight = Plane::new(memory.clone(), 0, 8, 8, 3).unwrap();
    assert!(tight.is_contiguous());
    let frame = Frame::new(PixelFormat::Gray, (4, 3), Range::Full, Matrix::Bt601, vec![luma.clone()]).unwrap();
    drop(frame.with_planes(|_| Some(plane(12, 0, 4, 4, 3).unwrap())));
    assert!(!memory.is_on_host());
    let rows = luma.rows_at(&[2, 0]).unwrap();
    assert_eq!([rows.row(0), rows.row(1)], [[20, 21, 22, 23], [4, 5, 6, 7]]);
    assert!(!memory.is_on_host(), "some rows came down, and no others");
    assert_eq!(luma.row(2), [20, 21, 22, 23]);
    assert!(memory.is_on_host());
    assert_eq!(luma.rows_at(&[1]).unwrap().row(0), [12, 13, 14, 15]);
}

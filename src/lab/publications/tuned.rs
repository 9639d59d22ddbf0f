//! Measures the kernels of normal runs in the same way as the variants.

use super::experiment::{measured, once};
use super::kernels::LoadedKernels;
use super::plane::{DevicePlane, ElementKind};
use super::shape::refused;
use super::{KernelRepeats, KernelStep, Run, StepTimes};
use cudarc::driver::{CudaSlice, CudaStream, DeviceRepr};
use histeq::internal::cuda::error::{Doing, Error};
use histeq::internal::cuda::memory::BufferLayout;
use histeq::internal::cuda::pipeline::{DevicePicture, History, Task};
use histeq::internal::cuda::{Gpu, StageBuffers};
use histeq::internal::frame::{Frame, HostPool, Matrix, PixelFormat, Range};
use histeq::internal::spec::parameters::{Rect, Settings, Strength};
use std::sync::Arc;

const COPYING: &str = "copying on the device";
const DOWNLOADING: &str = "copying from the device";

/// The gray format with elements and bins like those of `plane`.
fn format(plane: &DevicePlane) -> Result<PixelFormat, Error> {
    match (plane.kind, plane.bins) {
        (ElementKind::Elements(1), 256) => Ok(PixelFormat::Gray),
        (ElementKind::Elements(2), 512) => Ok(PixelFormat::Gray9le),
        (ElementKind::Elements(2), 1024) => Ok(PixelFormat::Gray10le),
        (ElementKind::Elements(2), 4096) => Ok(PixelFormat::Gray12le),
        (ElementKind::Elements(2), 16384) => Ok(PixelFormat::Gray14le),
        (ElementKind::Elements(2), 65536) => Ok(PixelFormat::Gray16le),
        _ => Err(refused("the tuned kernels are for samples of 8, 9, 10, 12, 14 and 16 bits with a bin for each code")),
    }
}

/// A frame of the format and size of the plane, with arbitrary samples.
fn frame_like(plane: &DevicePlane) -> Result<Frame, Error> {
    let format = format(plane)?;
    let size = (plane.size.0 as usize, plane.size.1 as usize);
    let host = HostPool::default().plane(format.row_bytes(0, size.0), format.rows(0, size.1)).freeze();
    Ok(Frame::new(format, size, Range::Full, Matrix::Bt601, vec![host]).expect("a plane of this format"))
}

/// A [`DevicePicture`] for each copy of the plane, with the samples of the plane.
fn pictures(gpu: &Arc<Gpu>, plane: &DevicePlane, frame: &Frame, task: &Task) -> Result<Vec<DevicePicture>, Error> {
    let mut pictures = DevicePicture::several(gpu, &BufferLayout::new(frame, false)?, plane.copies.len())?;
    refill(&mut pictures, plane, task)?;
    Ok(pictures)
}

fn refill(pictures: &mut [DevicePicture], plane: &DevicePlane, task: &Task) -> Result<(), Error> {
    for (picture, copy) in pictures.iter_mut().zip(&plane.copies) {
        let StageBuffers { stream, plane: pixels, .. } = picture.stage_buffers(task);
        stream.memcpy_dtod(copy, &mut pixels.slice_mut(..copy.len())).doing(COPYING)?;
    }
    Ok(())
}

fn down<T: DeviceRepr>(stream: &Arc<CudaStream>, device: &CudaSlice<T>, len: usize) -> Result<Vec<T>, Error> {
    let values = stream.clone_dtoh(&device.slice(..len)).doing(DOWNLOADING)?;
    stream.synchronize().doing(DOWNLOADING)?;
    Ok(values)
}

/// Measures histogram, curve and map, each alone and all three together.
pub(super) fn run(
    gpu: &Arc<Gpu>,
    loaded: &LoadedKernels,
    plane: &DevicePlane,
    repeats: KernelRepeats,
) -> Result<Run, Error> {
    let frame = frame_like(plane)?;
    let full = Task::new(&frame, Settings::default(), Rect::whole((frame.width(), frame.height())))?;
    let mut pictures = pictures(gpu, plane, &frame, &full)?;
    let stream = pictures[0].stream().clone();
    let history = &mut History::on(&stream)?;

    let first = &mut pictures[0];
    once(&stream, || first.count(&full))?;
    let counts = down(&stream, first.stage_buffers(&full).counts, plane.bins as usize)?;
    once(&stream, || first.make_curve(history, &full))?;
    let curve = down(&stream, first.stage_buffers(&full).curve, plane.bins as usize)?;
    once(&stream, || first.map(&full))?;
    let picture = down(&stream, first.stage_buffers(&full).plane, plane.bytes())?;
    refill(&mut pictures, plane, &full)?;

    // At strength 0 the kernels do all the work and leave the frame unchanged, so that it can be equalized again.
    let strength = Strength::from_share(0.0).unwrap_or_default();
    let task = &full.with(Settings { strength, ..Settings::default() })?;
    let copies = pictures.len();
    let total = measured(loaded, &stream, repeats, |launch| pictures[launch % copies].equalize(history, task))?;
    let mut time = |step: KernelStep| {
        let times = measured(loaded, &stream, repeats, |launch| {
            let picture = &mut pictures[launch % copies];
            match step {
                KernelStep::Histogram => picture.count(task),
                KernelStep::Curve => picture.make_curve(history, task),
                _ => picture.map(task),
            }
        })?;
        Ok(StepTimes { step, times })
    };
    let steps = [KernelStep::Histogram, KernelStep::Curve, KernelStep::Map]
        .into_iter()
        .map(&mut time)
        .collect::<Result<_, Error>>()?;
    Ok(Run { steps, total, counts, cdf: Vec::new(), curve, picture })
}

//! Converts surfaces of NVDEC to pictures in the pixel format of a decoder on the CPU. They are copied at once, because
//! NVDEC has few surfaces, which are read-only. If equalization runs on the same GPU, the pool copies luma within the
//! GPU, and only chroma is downloaded; luma is downloaded after equalization. Else all planes are downloaded.
#![allow(unsafe_code, reason = "FFI")]

use super::buffers::{DecoderBuffers, luma_stride};
use crate::ffmpeg::frame::{Picture, RawFormat};
use crate::ffmpeg::{Error, OUT_OF_MEMORY, check};
use ffmpeg_next::ffi;
use ffmpeg_next::ffi::AVPixelFormat::*;
use histeq::internal::frame::{Adopted, DeviceRows, PixelFormat, Surface};
use std::ffi::c_int;

/// Converts a surface to a picture of `format`. `None` when the conversion from the surface's format is not supported.
///
/// # Errors
/// When memory runs out, or the GPU fails.
///
/// # Safety
/// The surface is a CUDA surface. `handles` are those of its context, and of the stream with the decoder's work.
pub(crate) unsafe fn convert(
    surface: &mut Picture,
    handles: (usize, usize),
    format: RawFormat,
    buffers: &DecoderBuffers,
) -> Result<Option<Picture>, Error> {
    let frames = surface.get().hw_frames_ctx;
    // SAFETY: a surface's `hw_frames_ctx` points to this structure.
    let packed = RawFormat(unsafe { (*(*frames).data.cast::<ffi::AVHWFramesContext>()).sw_format });
    let Some(samples) = SampleConversion::new(packed, format) else { return Ok(None) };
    // SAFETY: by the caller's promise.
    let adopted = unsafe { adopted(surface, handles, format, samples, buffers) };
    let mut picture = match adopted {
        Some(picture) => picture,
        None => planar(downloaded(surface, packed, buffers)?, format, samples, buffers)?,
    };
    copy_properties(&mut picture, surface)?;
    Ok(Some(picture))
}

/// The conversion of samples from a surface to a picture.
#[derive(Clone, Copy)]
struct SampleConversion {
    /// Bytes of a sample.
    bytes: usize,
    /// Bits to shift right: a surface has codes in the high bits of 16, a picture in the low ones.
    shift: u32,
}

impl SampleConversion {
    /// The conversion from 4:2:0 with interleaved chroma to planar 4:2:0; `None` for other formats.
    fn new(packed: RawFormat, format: RawFormat) -> Option<Self> {
        match (packed.0, format.native()?) {
            (AV_PIX_FMT_NV12, PixelFormat::Yuv420p) => Some(SampleConversion { bytes: 1, shift: 0 }),
            (AV_PIX_FMT_P010LE, PixelFormat::Yuv420p10le) => Some(SampleConversion { bytes: 2, shift: 6 }),
            (AV_PIX_FMT_P016LE, PixelFormat::Yuv420p12le) => Some(SampleConversion { bytes: 2, shift: 4 }),
            _ => None,
        }
    }
}

/// A picture whose luma the pool has copied within the GPU. `None` without a pool, and when the pool needs all planes,
/// or does not accept the surface.
///
/// # Safety
/// As for [`Pool::adopt`](histeq::internal::frame::Pool::adopt): the surface belongs to this context and this stream.
unsafe fn adopted(
    surface: &Picture,
    (context, stream): (usize, usize),
    format: RawFormat,
    samples: SampleConversion,
    buffers: &DecoderBuffers,
) -> Option<Picture> {
    let pool = buffers.pool()?;
    if pool.planes(format.native()?) != (0..1) {
        return None;
    }
    let SampleConversion { bytes, shift } = samples;
    let (width, height) = surface.size();
    let frame = surface.get();
    let rows = |plane: usize, start: *mut u8, row_bytes: usize, rows: usize| {
        let pitch = usize::try_from(frame.linesize[plane]).ok()?;
        Some(DeviceRows { address: start.addr() as u64, pitch, row_bytes, rows })
    };
    let device_surface = Surface {
        context,
        stream,
        luma: rows(0, frame.data[0], width * bytes, height)?,
        pairs: rows(1, chroma_of(surface), 2 * width.div_ceil(2) * bytes, height.div_ceil(2))?,
        shift,
        stride: luma_stride(format, (width, height))?,
    };
    // SAFETY: by the caller's promise; the surface stays until its picture is dropped.
    let Adopted { luma, mut pairs } = unsafe { pool.adopt(&device_surface) }?;
    let mut picture = buffers.picture_with_device_luma(luma, format, (width, height))?;
    let mut rows = pairs.chunks_exact_mut(device_surface.pairs.row_bytes);
    // SAFETY: the picture's chroma is in host memory that nothing else uses.
    unsafe { deinterleave_chroma(&mut picture, samples, |_| rows.next().expect("as many rows as requested")) };
    Some(picture)
}

/// The address of a surface's chroma. FFmpeg's pointer follows the rows of luma directly, but with an odd height the
/// surface has one more row of luma.
fn chroma_of(surface: &Picture) -> *mut u8 {
    let frame = surface.get();
    let (chroma, pitch) = (frame.data[1], frame.linesize[0] as usize);
    let luma_rows = chroma.addr().wrapping_sub(frame.data[0].addr()) / pitch.max(1);
    let one_more = frame.height % 2 == 1 && luma_rows % 2 == 1;
    if one_more { chroma.wrapping_add(pitch) } else { chroma }
}

/// A copy of a surface in host memory. The surface does not change.
fn downloaded(surface: &mut Picture, packed: RawFormat, buffers: &DecoderBuffers) -> Result<Picture, Error> {
    let (width, height) = surface.size();
    // With an odd height, FFmpeg would leave out the last row of chroma: copy the surface's additional row of luma,
    // too.
    let even = height.next_multiple_of(2);
    let mut down = buffers.picture(packed, (width, even)).ok_or(OUT_OF_MEMORY)?;
    let chroma_rows = chroma_of(surface);
    let (source, target) = (surface.as_mut_ptr(), down.as_mut_ptr());
    // SAFETY: both pictures are valid and have two planes, and the destination has as many rows as the surface, its
    // additional row of luma included.
    unsafe {
        let chroma = (*source).data[1];
        (*source).data[1] = chroma_rows;
        (*source).height = even as c_int;
        let copied = check(ffi::av_hwframe_transfer_data(target, source, 0));
        ((*source).height, (*source).data[1]) = (height as c_int, chroma);
        copied?;
        (*target).height = height as c_int;
    }
    Ok(down)
}

/// Converts a downloaded surface to three planes. Luma is converted in place.
fn planar(
    mut down: Picture,
    format: RawFormat,
    samples: SampleConversion,
    buffers: &DecoderBuffers,
) -> Result<Picture, Error> {
    let SampleConversion { bytes, shift } = samples;
    let mut picture = buffers.picture_sharing_luma(&down, format).ok_or(OUT_OF_MEMORY)?;
    let (width, height) = picture.size();
    let pair_bytes = 2 * width.div_ceil(2) * bytes;
    // SAFETY: the rows are in the two pictures, both owned here. The chroma of `down`, which is read, is not part of
    // `picture`, which is written.
    unsafe {
        if shift > 0 {
            (0..height).for_each(|y| shift_down(row(picture.as_mut_ptr(), 0, y, width * bytes), shift));
        }
        deinterleave_chroma(&mut picture, samples, |y| row(down.as_mut_ptr(), 1, y, pair_bytes));
    }
    Ok(picture)
}

/// A row of a plane, of `bytes` bytes.
///
/// # Safety
/// The frame is valid and has these bytes in host memory. For as long as the row is in use, the memory stays valid, and
/// nothing else accesses that row.
unsafe fn row<'a>(frame: *mut ffi::AVFrame, plane: usize, y: usize, bytes: usize) -> &'a mut [u8] {
    // SAFETY: by the caller's promise.
    unsafe {
        let start = (*frame).data[plane].add(y * (*frame).linesize[plane] as usize);
        std::slice::from_raw_parts_mut(start, bytes)
    }
}

/// Fills both chroma planes from rows of interleaved samples.
///
/// # Safety
/// As [`row`], for all chroma rows of `picture`.
unsafe fn deinterleave_chroma<'a>(
    picture: &mut Picture,
    samples: SampleConversion,
    mut pairs: impl FnMut(usize) -> &'a mut [u8],
) {
    let SampleConversion { bytes, shift } = samples;
    let ((width, height), frame) = (picture.size(), picture.as_mut_ptr());
    let row_bytes = width.div_ceil(2) * bytes;
    for y in 0..height.div_ceil(2) {
        // SAFETY: by the caller's promise; the planes do not overlap.
        let (cb, cr) = unsafe { (row(frame, 1, y, row_bytes), row(frame, 2, y, row_bytes)) };
        let pairs = pairs(y);
        if bytes == 1 { deinterleave(pairs, cb, cr) } else { deinterleave_wide(pairs, cb, cr, shift) }
    }
}

fn shift_down(row: &mut [u8], shift: u32) {
    for sample in bytemuck::cast_slice_mut::<u8, u16>(row) {
        *sample >>= shift;
    }
}

fn deinterleave(pairs: &[u8], cb: &mut [u8], cr: &mut [u8]) {
    for ((pair, cb), cr) in pairs.chunks_exact(2).zip(cb).zip(cr) {
        (*cb, *cr) = (pair[0], pair[1]);
    }
}

fn deinterleave_wide(pairs: &[u8], cb: &mut [u8], cr: &mut [u8], shift: u32) {
    let pairs = bytemuck::cast_slice::<u8, u16>(pairs).chunks_exact(2);
    let (cb, cr) = (bytemuck::cast_slice_mut::<u8, u16>(cb), bytemuck::cast_slice_mut(cr));
    for ((pair, cb), cr) in pairs.zip(cb).zip(cr) {
        (*cb, *cr) = (pair[0] >> shift, pair[1] >> shift);
    }
}

/// Copies the properties of the surface, and crops the picture at the top and on the left, which FFmpeg leaves out for
/// surfaces.
fn copy_properties(picture: &mut Picture, surface: &Picture) -> Result<(), Error> {
    // `opaque` stays: it marks the picture's own pinned memory.
    let opaque = picture.get().opaque;
    picture.copy_properties(surface)?;
    picture.get_mut().opaque = opaque;
    // SAFETY: the picture is valid.
    check(unsafe { ffi::av_frame_apply_cropping(picture.as_mut_ptr(), 0) })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ffmpeg::encode::{Encoder, VideoEncoder, VideoOptions};
    use crate::ffmpeg::filter::{Converter, VideoFormat};
    use crate::ffmpeg::frame::PictureProperties;
    use crate::ffmpeg::{ChromaLocation, Rational};
    use histeq::Limits;
    use histeq::internal::frame::{Buffer, HostBuffer, HostPool, Memory, OnDevice, Plane, Pool};
    use std::ops::Range;
    use std::sync::Arc;

    /// A picture in which neighbouring samples differ.
    fn picture(format: &str, size: (usize, usize)) -> Picture {
        let picture =
            DecoderBuffers::new(&Limits::default()).picture(RawFormat::from_name(format).unwrap(), size).unwrap();
        let native = picture.format().native().unwrap();
        for plane in 0..3 {
            for y in 0..native.rows(plane, size.1) {
                let bytes = native.row_bytes(plane, size.0);
                // SAFETY: a row of a picture that is not shared.
                let row = unsafe {
                    let frame = picture.get();
                    let start = frame.data[plane].add(y * frame.linesize[plane] as usize);
                    std::slice::from_raw_parts_mut(start, bytes)
                };
                let step = bytes / native.row_bytes(plane, 1).max(1);
                for (x, byte) in row.iter_mut().enumerate() {
                    *byte = (7 * x + 31 * y + 101 * plane + step) as u8;
                }
                if native.depth() > 8 {
                    let most = native.descriptor().sample.max();
                    bytemuck::cast_slice_mut::<u8, u16>(row).iter_mut().for_each(|sample| *sample &= most);
                }
            }
        }
        picture
    }

    /// The picture as a downloaded surface of NVDEC.
    fn as_from_nvdec(picture: &Picture, packed: &str, shift: u32, buffers: &DecoderBuffers) -> Picture {
        let down = buffers.picture(RawFormat::from_name(packed).unwrap(), picture.size()).unwrap();
        let frame = picture.to_frame().unwrap().unwrap();
        let planes = frame.planes();
        let bytes = if shift > 0 { 2 } else { 1 };
        let write = |plane: usize, y: usize, x: usize, source: &Plane, index: usize| {
            let source = &source.row(y)[index * bytes..][..bytes];
            // SAFETY: a sample of a picture that is not shared.
            unsafe {
                let frame = down.get();
                let target = frame.data[plane].add(y * frame.linesize[plane] as usize + x * bytes);
                match bytes {
                    1 => *target = source[0],
                    _ => *target.cast() = u16::from_le_bytes([source[0], source[1]]) << shift,
                }
            }
        };
        for y in 0..planes[0].rows() {
            (0..planes[0].row_bytes() / bytes).for_each(|x| write(0, y, x, &planes[0], x));
        }
        for y in 0..planes[1].rows() {
            for x in 0..planes[1].row_bytes() / bytes {
                write(1, y, 2 * x, &planes[1], x);
                write(1, y, 2 * x + 1, &planes[2], x);
            }
        }
        down
    }

    #[test]
    fn a_downloaded_surface_becomes_the_picture_of_a_decoder_on_the_cpu() {
        for (format, packed, shift) in KINDS {
            for size in [(64, 48), (2, 2), (33, 17), (1, 1), (854, 480)] {
                let buffers = DecoderBuffers::new(&Limits::default());
                let expected = picture(format, size);
                let down = as_from_nvdec(&expected, packed, shift, &buffers);
                let samples = SampleConversion::new(down.format(), expected.format()).unwrap();
                assert_eq!(samples.shift, shift);
                let luma = down.address(0);
                let found = planar(down, expected.format(), samples, &buffers).unwrap();
                assert_eq!((found.size(), found.address(0)), (size, luma), "luma is converted in place");
                let [expected, found] = [&expected, &found].map(|picture| picture.to_frame().unwrap().unwrap());
                for (plane, (expected, found)) in expected.planes().iter().zip(found.planes()).enumerate() {
                    for y in 0..expected.rows() {
                        assert_eq!(expected.row(y), found.row(y), "{format} {size:?}: plane {plane}, row {y}");
                    }
                }
            }
        }
    }

    /// A pool that adopts surfaces in host memory, in place of a GPU's pool.
    #[derive(Default)]
    struct AdoptingPool {
        memory: HostPool,
        with_chroma: bool,
    }

    /// The handle of the CUDA context that [`AdoptingPool`] pretends to have.
    const CONTEXT: usize = 7;

    /// Host memory that reports itself as a GPU's.
    struct FakeDeviceMemory(HostBuffer);

    impl Memory for FakeDeviceMemory {
        fn bytes(&self) -> &[u8] {
            &self.0
        }

        fn on_device(&self) -> Option<OnDevice> {
            Some(OnDevice { context: CONTEXT, address: self.0.as_ptr().addr() as u64 })
        }
    }

    impl AdoptingPool {
        /// A copy of rows in host memory.
        unsafe fn copy(&self, rows: &DeviceRows, pitch: usize) -> HostBuffer {
            let mut target = self.memory.take(pitch * rows.rows);
            for y in 0..rows.rows {
                let source = std::ptr::with_exposed_provenance::<u8>(rows.address as usize + y * rows.pitch);
                // SAFETY: by the caller's promise.
                let source = unsafe { std::slice::from_raw_parts(source, rows.row_bytes) };
                target[y * pitch..][..rows.row_bytes].copy_from_slice(source);
            }
            target
        }
    }

    impl Pool for AdoptingPool {
        fn buffer(&self, len: usize) -> Result<Box<dyn Buffer>, histeq::internal::frame::MemoryError> {
            self.memory.buffer(len)
        }

        fn planes(&self, format: PixelFormat) -> Range<usize> {
            format.rewritten_planes(self.with_chroma)
        }

        unsafe fn adopt(&self, surface: &Surface) -> Option<Adopted> {
            if surface.context != CONTEXT {
                return None;
            }
            // SAFETY: by the caller's promise.
            let (mut luma, pairs) = unsafe {
                (self.copy(&surface.luma, surface.stride), self.copy(&surface.pairs, surface.pairs.row_bytes))
            };
            if surface.shift > 0 {
                shift_down(&mut luma, surface.shift);
            }
            Some(Adopted { luma: Arc::new(FakeDeviceMemory(luma)), pairs: Box::new(pairs) })
        }
    }

    /// The picture as a surface of NVDEC: an even number of rows at a wide pitch, then chroma. As in FFmpeg, the
    /// pointer to chroma follows the visible rows. The surface points into the bytes.
    fn surface(picture: &Picture, packed: &str, shift: u32) -> (Vec<u8>, Picture) {
        let (width, height) = picture.size();
        let (pitch, rows) = (1024 * width.div_ceil(512), height.next_multiple_of(2));
        let mut bytes = vec![0xa5; pitch * rows / 2 * 3];
        let mut down = as_from_nvdec(picture, packed, shift, &DecoderBuffers::new(&Limits::default()));
        let sample = if shift > 0 { 2 } else { 1 };
        for y in 0..rows + rows / 2 {
            let (plane, source, length) = match y.checked_sub(rows) {
                None => (0, y.min(height - 1), width),
                Some(source) => (1, source, 2 * width.div_ceil(2)),
            };
            // SAFETY: a row of a picture that is not shared.
            let source = unsafe { row(down.as_mut_ptr(), plane, source, length * sample) };
            bytes[y * pitch..][..source.len()].copy_from_slice(source);
        }
        let mut surface = Picture::empty(RawFormat::from_name(packed).unwrap(), (width, height));
        // SAFETY: the picture is not shared, and owns no memory; the addresses are inside of the bytes.
        unsafe {
            let frame = surface.as_mut_ptr();
            let start = std::ptr::with_exposed_provenance_mut::<u8>(bytes.as_mut_ptr().expose_provenance());
            ((*frame).data[0], (*frame).data[1]) = (start, start.add(pitch * height));
            ((*frame).linesize[0], (*frame).linesize[1]) = (pitch as c_int, pitch as c_int);
        }
        (bytes, surface)
    }

    const KINDS: [(&str, &str, u32); 3] =
        [("yuv420p", "nv12", 0), ("yuv420p10le", "p010le", 6), ("yuv420p12le", "p016le", 4)];

    #[test]
    fn a_surface_that_a_pool_adopts_becomes_the_picture_of_a_decoder_on_the_cpu() {
        let sizes = [(64, 48), (2, 2), (33, 17), (1, 1), (854, 480)];
        // Columns and rows that are cropped on the left and at the top: whole chroma samples.
        let crops = [(0, 0), (2, 0), (4, 2), (64, 16), (32, 6)];
        for ((format, packed, shift), size) in KINDS.into_iter().flat_map(|kind| sizes.map(|size| (kind, size))) {
            for (left, top) in crops.into_iter().filter(|&(left, top)| left < size.0 && top < size.1) {
                let mut expected = picture(format, size);
                let (bytes, mut surface) = surface(&expected, packed, shift);
                for picture in [&mut expected, &mut surface] {
                    (picture.get_mut().crop_left, picture.get_mut().crop_top) = (left, top);
                }
                // SAFETY: the picture is valid.
                unsafe { check(ffi::av_frame_apply_cropping(expected.as_mut_ptr(), 0)) }.unwrap();

                let buffers = DecoderBuffers::new(&Limits::default());
                buffers.use_pool(Arc::new(AdoptingPool::default()));
                let samples = SampleConversion::new(surface.format(), expected.format()).unwrap();
                // SAFETY: the surface points into `bytes`, which nothing writes.
                let found = unsafe { adopted(&surface, (CONTEXT, 0), expected.format(), samples, &buffers) };
                let mut found = found.unwrap();
                drop(bytes);
                copy_properties(&mut found, &surface).unwrap();

                let what = format!("{format} {size:?} without {left} and {top}");
                assert_eq!(found.size(), expected.size(), "{what}");
                let [expected, found] = [&expected, &found].map(|picture| picture.to_frame().unwrap().unwrap());
                for (plane, (expected, found)) in expected.planes().iter().zip(found.planes()).enumerate() {
                    assert_eq!(found.on_device().is_some(), plane == 0, "{what}: plane {plane}");
                    for y in 0..expected.rows() {
                        assert_eq!(expected.row(y), found.row(y), "{what}: plane {plane}, row {y}");
                    }
                }
            }
        }
    }

    #[test]
    fn nothing_reads_the_samples_of_a_picture_that_is_on_a_gpu_or_holds_only_properties() {
        let (format, size) = (RawFormat::from_name("yuv420p").unwrap(), (64, 48));
        let luma = Arc::new(FakeDeviceMemory(HostPool::default().take(64 * 48)));
        let mut on_gpu = DecoderBuffers::new(&Limits::default()).picture_with_device_luma(luma, format, size).unwrap();
        let mut described = Picture::described(&PictureProperties {
            format: PixelFormat::Yuv420p,
            range: None,
            chroma_location: ChromaLocation::Unspecified,
            interlaced: None,
            sample_aspect_ratio: None,
        });
        let video = VideoFormat { format, size, colour: on_gpu.colour() };
        let options = VideoOptions::new(video, Rational::new(1, 25));
        let mut encoder = VideoEncoder::open(Encoder::find("mpeg4").unwrap(), &options).unwrap();
        for picture in [&mut on_gpu, &mut described] {
            let format = RawFormat::from_name("rgb24").unwrap();
            let target = VideoFormat { format, size, colour: picture.colour() };
            assert!(Converter::default().picture(picture, target).is_err());
            assert!(encoder.send(Some(picture)).is_err());
        }
        let mut smaller = picture("yuv420p", (32, 24));
        assert!(encoder.send(Some(&mut smaller)).is_err(), "an encoder reads as much as it was opened for");
        encoder.send(Some(&mut picture("yuv420p", size))).unwrap();
    }

    #[test]
    fn a_surface_is_not_adopted_without_a_pool_nor_with_chroma_nor_from_another_context() {
        let expected = picture("yuv420p", (64, 48));
        let (_bytes, surface) = surface(&expected, "nv12", 0);
        let samples = SampleConversion::new(surface.format(), expected.format()).unwrap();
        let with_chroma = AdoptingPool { with_chroma: true, ..AdoptingPool::default() };
        let other_context = (Some(AdoptingPool::default()), CONTEXT + 1);
        for (pool, context) in [(None, CONTEXT), (Some(with_chroma), CONTEXT), other_context] {
            let buffers = DecoderBuffers::new(&Limits::default());
            pool.into_iter().for_each(|pool| buffers.use_pool(Arc::new(pool)));
            // SAFETY: the surface points into `_bytes`, which nothing writes.
            assert!(unsafe { adopted(&surface, (context, 0), expected.format(), samples, &buffers) }.is_none());
        }
    }
}

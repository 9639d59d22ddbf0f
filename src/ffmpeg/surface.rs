//! Pictures out of the memory of a GPU's decoder, which they leave at once: it has few surfaces, and they may only be read.
//! Where equalization runs on the same GPU, the pool takes the luma over there, and only chroma comes down; luma follows
//! once it is equalized. Elsewhere all of it comes down, into the memory that a decoder on the CPU would write to. Either
//! way it becomes a picture of the format that such a decoder would give, and nothing behind here knows the difference.
#![allow(unsafe_code, reason = "FFI")]

use super::decoder_buffers::{DecoderBuffers, luma_stride};
use super::nvdec::NO_MEMORY;
use super::{Error, Picture, RawFormat, check};
use crate::frame::{Adopted, DeviceRows, PixelFormat, Surface};
use ffmpeg_next::ffi::{self, AVPixelFormat::*};
use std::ffi::c_int;

/// The picture of a surface. `format` is what a decoder on the CPU would give; `None` when what the GPU gives in its place
/// is not known here.
///
/// # Errors
/// When there is no memory for it, or the GPU fails.
///
/// # Safety
/// The surface is one of CUDA's, of the context and with the decoder's work on the stream that `place` has the handles of.
pub(super) unsafe fn take_out(
    surface: &mut Picture,
    place: (usize, usize),
    format: RawFormat,
    buffers: &DecoderBuffers,
) -> Result<Option<Picture>, Error> {
    let frames = surface.get().hw_frames_ctx;
    // SAFETY: a surface's `hw_frames_ctx` points to this structure.
    let packed = RawFormat(unsafe { (*(*frames).data.cast::<ffi::AVHWFramesContext>()).sw_format });
    let Some(samples) = Samples::of(packed, format) else { return Ok(None) };
    // SAFETY: by the caller's promise.
    let adopted = unsafe { adopted(surface, place, format, samples, buffers) };
    let mut picture = match adopted {
        Some(picture) => picture,
        None => unpacked(brought_down(surface, packed, buffers)?, format, samples, buffers)?,
    };
    describe(&mut picture, surface)?;
    Ok(Some(picture))
}

/// How the samples of a picture from NVDEC become those that a decoder on the CPU gives.
#[derive(Clone, Copy)]
struct Samples {
    bytes: usize,
    /// Codes lie in the high bits of their 16; a CPU's lie in the low ones.
    shift: u32,
}

impl Samples {
    /// Of 4:2:0, in which pairs of chroma samples are taken apart; `None` for anything else.
    fn of(packed: RawFormat, format: RawFormat) -> Option<Self> {
        match (packed.0, format.native()?) {
            (AV_PIX_FMT_NV12, PixelFormat::Yuv420p) => Some(Samples { bytes: 1, shift: 0 }),
            (AV_PIX_FMT_P010LE, PixelFormat::Yuv420p10le) => Some(Samples { bytes: 2, shift: 6 }),
            (AV_PIX_FMT_P016LE, PixelFormat::Yuv420p12le) => Some(Samples { bytes: 2, shift: 4 }),
            _ => None,
        }
    }
}

/// A picture whose luma the pool has taken over where it is, in this context with the decoder's work on this stream. `None`
/// where there is no pool, or it wants all of a picture, or not this one.
///
/// # Safety
/// As for [`Pool::adopt`](crate::frame::Pool::adopt): the surface is one of this context and this stream.
unsafe fn adopted(
    surface: &Picture,
    (context, stream): (usize, usize),
    format: RawFormat,
    samples: Samples,
    buffers: &DecoderBuffers,
) -> Option<Picture> {
    let pool = buffers.pool()?;
    if pool.planes(format.native()?) != (0..1) {
        return None;
    }
    let Samples { bytes, shift } = samples;
    let (width, height) = surface.size();
    let frame = surface.get();
    let rows = |plane: usize, start: *mut u8, row_bytes: usize, rows: usize| {
        let pitch = usize::try_from(frame.linesize[plane]).ok()?;
        Some(DeviceRows { address: start.addr() as u64, pitch, row_bytes, rows })
    };
    let lies = Surface {
        context,
        stream,
        luma: rows(0, frame.data[0], width * bytes, height)?,
        pairs: rows(1, chroma_of(surface), 2 * width.div_ceil(2) * bytes, height.div_ceil(2))?,
        shift,
        stride: luma_stride(format, (width, height))?,
    };
    // SAFETY: by the caller's promise; the surface stays until its picture is dropped.
    let Adopted { luma, mut pairs } = unsafe { pool.adopt(&lies) }?;
    let mut picture = buffers.picture_beside(luma, format, (width, height))?;
    let mut rows = pairs.chunks_exact_mut(lies.pairs.row_bytes);
    // SAFETY: the picture's chroma lies in memory of the host that was made for it.
    unsafe { take_chroma_apart(&mut picture, samples, |_| rows.next().expect("as many rows as were asked for")) };
    Some(picture)
}

/// Where the chroma of a surface begins. FFmpeg takes it to begin right behind the rows of luma, but with an odd height
/// there is one row more.
fn chroma_of(surface: &Picture) -> *mut u8 {
    let frame = surface.get();
    let (chroma, pitch) = (frame.data[1], frame.linesize[0] as usize);
    let begins = chroma.addr().wrapping_sub(frame.data[0].addr()) / pitch.max(1);
    let one_more = frame.height % 2 == 1 && begins % 2 == 1;
    if one_more { chroma.wrapping_add(pitch) } else { chroma }
}

/// A surface as it is, in the host's memory. The surface is left as it was.
fn brought_down(surface: &mut Picture, packed: RawFormat, buffers: &DecoderBuffers) -> Result<Picture, Error> {
    let (width, height) = surface.size();
    // Of an odd height, FFmpeg would leave out the last row of chroma; the surface has one row more.
    let even = height.next_multiple_of(2);
    let mut down = buffers.picture(packed, (width, even)).ok_or(NO_MEMORY)?;
    let chroma_rows = chroma_of(surface);
    let (from, to) = (surface.as_mut_ptr(), down.as_mut_ptr());
    // SAFETY: both pictures are valid and have two planes, and the one that is written has room for all rows of the other
    // one. The surface has that one row more before its chroma, too.
    unsafe {
        let chroma = (*from).data[1];
        (*from).data[1] = chroma_rows;
        (*from).height = even as c_int;
        let copied = check(ffi::av_hwframe_transfer_data(to, from, 0));
        ((*from).height, (*from).data[1]) = (height as c_int, chroma);
        copied?;
        (*to).height = height as c_int;
    }
    Ok(down)
}

/// A picture of three planes out of one whose chroma samples lie in pairs. Its luma stays where it is.
fn unpacked(
    mut down: Picture,
    format: RawFormat,
    samples: Samples,
    buffers: &DecoderBuffers,
) -> Result<Picture, Error> {
    let Samples { bytes, shift } = samples;
    let mut picture = buffers.picture_around(&down, format).ok_or(NO_MEMORY)?;
    let (width, height) = picture.size();
    let pair_bytes = 2 * width.div_ceil(2) * bytes;
    // SAFETY: the rows lie in the pictures, both of which are owned here. Those of `down` that are read are not those that
    // are written: its chroma is no plane of `picture`.
    unsafe {
        if shift > 0 {
            (0..height).for_each(|y| shift_down(row(picture.as_mut_ptr(), 0, y, width * bytes), shift));
        }
        take_chroma_apart(&mut picture, samples, |y| row(down.as_mut_ptr(), 1, y, pair_bytes));
    }
    Ok(picture)
}

/// A row of a plane, of `bytes` bytes.
///
/// # Safety
/// The frame is valid and has them in the host's memory. For as long as the row is in use, so is the memory, and nothing
/// else accesses that row.
unsafe fn row<'a>(frame: *mut ffi::AVFrame, plane: usize, y: usize, bytes: usize) -> &'a mut [u8] {
    // SAFETY: by the caller's promise.
    unsafe {
        let start = (*frame).data[plane].add(y * (*frame).linesize[plane] as usize);
        std::slice::from_raw_parts_mut(start, bytes)
    }
}

/// Fills both planes of chroma from rows of pairs.
///
/// # Safety
/// As for [`row`], of all rows of chroma of `picture`.
unsafe fn take_chroma_apart<'a>(picture: &mut Picture, samples: Samples, mut pairs: impl FnMut(usize) -> &'a mut [u8]) {
    let Samples { bytes, shift } = samples;
    let ((width, height), frame) = (picture.size(), picture.as_mut_ptr());
    let row_bytes = width.div_ceil(2) * bytes;
    for y in 0..height.div_ceil(2) {
        // SAFETY: by the caller's promise; the planes lie apart.
        let (cb, cr) = unsafe { (row(frame, 1, y, row_bytes), row(frame, 2, y, row_bytes)) };
        let pairs = pairs(y);
        if bytes == 1 { take_apart(pairs, cb, cr) } else { take_apart_wide(pairs, cb, cr, shift) }
    }
}

fn shift_down(row: &mut [u8], shift: u32) {
    for sample in bytemuck::cast_slice_mut::<u8, u16>(row) {
        *sample >>= shift;
    }
}

fn take_apart(pairs: &[u8], cb: &mut [u8], cr: &mut [u8]) {
    for ((pair, cb), cr) in pairs.chunks_exact(2).zip(cb).zip(cr) {
        (*cb, *cr) = (pair[0], pair[1]);
    }
}

fn take_apart_wide(pairs: &[u8], cb: &mut [u8], cr: &mut [u8], shift: u32) {
    let pairs = bytemuck::cast_slice::<u8, u16>(pairs).chunks_exact(2);
    let (cb, cr) = (bytemuck::cast_slice_mut::<u8, u16>(cb), bytemuck::cast_slice_mut(cr));
    for ((pair, cb), cr) in pairs.zip(cb).zip(cr) {
        (*cb, *cr) = (pair[0] >> shift, pair[1] >> shift);
    }
}

/// Says of a picture what is known of the surface that it was, and cuts off what is not shown above and to the left, which
/// FFmpeg leaves on a picture that comes from a GPU.
fn describe(picture: &mut Picture, surface: &Picture) -> Result<(), Error> {
    let lent = picture.get().opaque;
    picture.copy_properties(surface)?;
    picture.get_mut().opaque = lent;
    // SAFETY: the picture is valid.
    check(unsafe { ffi::av_frame_apply_cropping(picture.as_mut_ptr(), 0) })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ffmpeg::{
        Converter, Encoder, Media, Properties, Rational, StreamSideData, VideoEncoder, VideoFormat, VideoOptions,
    };
    use crate::frame::{Buffer, HostBuffer, HostPool, Memory, OnDevice, Plane, Pool};
    use std::ops::Range;
    use std::sync::Arc;

    /// A picture with something else in every place.
    fn picture(format: &str, size: (usize, usize)) -> Picture {
        let picture = DecoderBuffers::default().picture(RawFormat::from_name(format).unwrap(), size).unwrap();
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

    /// The picture as NVDEC would give it, once it has come down.
    fn as_from_nvdec(picture: &Picture, packed: &str, shift: u32, buffers: &DecoderBuffers) -> Picture {
        let down = buffers.picture(RawFormat::from_name(packed).unwrap(), picture.size()).unwrap();
        let frame = picture.to_frame().unwrap().unwrap();
        let planes = frame.planes();
        let bytes = if shift > 0 { 2 } else { 1 };
        let write = |plane: usize, y: usize, x: usize, from: &Plane, at: usize| {
            let from = &from.row(y)[at * bytes..][..bytes];
            // SAFETY: a sample of a picture that is not shared.
            unsafe {
                let frame = down.get();
                let to = frame.data[plane].add(y * frame.linesize[plane] as usize + x * bytes);
                match bytes {
                    1 => *to = from[0],
                    _ => *to.cast() = u16::from_le_bytes([from[0], from[1]]) << shift,
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
    fn what_comes_down_is_what_a_decoder_on_the_cpu_would_give() {
        for (format, packed, shift) in KINDS {
            for size in [(64, 48), (2, 2), (33, 17), (1, 1), (854, 480)] {
                let buffers = DecoderBuffers::default();
                let expected = picture(format, size);
                let down = as_from_nvdec(&expected, packed, shift, &buffers);
                let samples = Samples::of(down.format(), expected.format()).unwrap();
                assert_eq!(samples.shift, shift);
                let luma = down.address(0);
                let found = unpacked(down, expected.format(), samples, &buffers).unwrap();
                assert_eq!((found.size(), found.address(0)), (size, luma), "luma stays where it came down");
                let [expected, found] = [&expected, &found].map(|picture| picture.to_frame().unwrap().unwrap());
                for (plane, (expected, found)) in expected.planes().iter().zip(found.planes()).enumerate() {
                    for y in 0..expected.rows() {
                        assert_eq!(expected.row(y), found.row(y), "{format} {size:?}: plane {plane}, row {y}");
                    }
                }
            }
        }
    }

    /// In the place of a GPU: adopts what lies in the host's memory.
    #[derive(Default)]
    struct Adopting {
        memory: HostPool,
        with_chroma: bool,
    }

    /// A handle that tells it from others.
    const CONTEXT: usize = 7;

    /// Memory of the host's that passes for a GPU's.
    struct Elsewhere(HostBuffer);

    impl Memory for Elsewhere {
        fn bytes(&self) -> &[u8] {
            &self.0
        }

        fn on_device(&self) -> Option<OnDevice> {
            Some(OnDevice { context: CONTEXT, address: self.0.as_ptr().addr() as u64 })
        }
    }

    impl Adopting {
        /// A copy of rows that lie in the host's memory.
        unsafe fn copy(&self, rows: &DeviceRows, pitch: usize) -> HostBuffer {
            let mut to = self.memory.take(pitch * rows.rows);
            for y in 0..rows.rows {
                let from = std::ptr::with_exposed_provenance::<u8>(rows.address as usize + y * rows.pitch);
                // SAFETY: by the caller's promise.
                let from = unsafe { std::slice::from_raw_parts(from, rows.row_bytes) };
                to[y * pitch..][..rows.row_bytes].copy_from_slice(from);
            }
            to
        }
    }

    impl Pool for Adopting {
        fn buffer(&self, len: usize) -> anyhow::Result<Box<dyn Buffer>> {
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
            Some(Adopted { luma: Arc::new(Elsewhere(luma)), pairs: Box::new(pairs) })
        }
    }

    /// The picture as it lies in NVDEC's memory: rows at a wide pitch, an even number of them, and chroma behind, which
    /// FFmpeg takes to begin behind the rows that are shown. The surface points into the bytes.
    fn surface(picture: &Picture, packed: &str, shift: u32) -> (Vec<u8>, Picture) {
        let (width, height) = picture.size();
        let (pitch, rows) = (1024 * width.div_ceil(512), height.next_multiple_of(2));
        let mut bytes = vec![0xa5; pitch * rows / 2 * 3];
        let mut down = as_from_nvdec(picture, packed, shift, &DecoderBuffers::default());
        let sample = if shift > 0 { 2 } else { 1 };
        for y in 0..rows + rows / 2 {
            let (plane, from, length) = match y.checked_sub(rows) {
                None => (0, y.min(height - 1), width),
                Some(from) => (1, from, 2 * width.div_ceil(2)),
            };
            // SAFETY: a row of a picture that is not shared.
            let from = unsafe { row(down.as_mut_ptr(), plane, from, length * sample) };
            bytes[y * pitch..][..from.len()].copy_from_slice(from);
        }
        let mut surface = Picture::empty(RawFormat::from_name(packed).unwrap(), (width, height));
        // SAFETY: the picture is not shared, and owns no memory; the places are inside of the bytes.
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
    fn what_a_pool_adopts_is_what_a_decoder_on_the_cpu_would_give() {
        let sizes = [(64, 48), (2, 2), (33, 17), (1, 1), (854, 480)];
        // What is cut off on the left and above: whole chroma samples.
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

                let buffers = DecoderBuffers::default();
                buffers.use_pool(Arc::new(Adopting::default()));
                let samples = Samples::of(surface.format(), expected.format()).unwrap();
                // SAFETY: the surface lies in `bytes`, which nothing writes.
                let found = unsafe { adopted(&surface, (CONTEXT, 0), expected.format(), samples, &buffers) };
                let mut found = found.unwrap();
                drop(bytes);
                describe(&mut found, &surface).unwrap();

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
    fn nothing_reads_the_samples_of_a_picture_that_lies_on_a_gpu_or_only_describes_others() {
        let (format, size) = (RawFormat::from_name("yuv420p").unwrap(), (64, 48));
        let luma = Arc::new(Elsewhere(HostPool::default().take(64 * 48)));
        let on_gpu = DecoderBuffers::default().picture_beside(luma, format, size).unwrap();
        let described = Picture::described(&Properties {
            format: PixelFormat::Yuv420p,
            range: None,
            siting: None,
            interlaced: None,
            sample_aspect_ratio: None,
        });
        let options = VideoOptions {
            format,
            size,
            time_base: Rational::new(1, 25),
            frame_rate: None,
            colour: on_gpu.colour(),
            sample_aspect_ratio: None,
            interlaced: None,
            field_order: Media::of_raw_video("rawvideo", Rational::new(25, 1), None).streams[0].field_order,
            global_header: false,
            quantizer: None,
            options: Vec::new(),
            side_data: StreamSideData::default(),
        };
        let mut encoder = VideoEncoder::open(Encoder::find("mpeg4").unwrap(), &options).unwrap();
        for picture in [&on_gpu, &described] {
            let format = RawFormat::from_name("rgb24").unwrap();
            let to = VideoFormat { format, size, colour: picture.colour() };
            assert!(Converter::default().picture(picture, to).is_err());
            assert!(encoder.send(Some(picture)).is_err());
        }
        let smaller = picture("yuv420p", (32, 24));
        assert!(encoder.send(Some(&smaller)).is_err(), "an encoder reads as much as it was opened for");
        encoder.send(Some(&picture("yuv420p", size))).unwrap();
    }

    #[test]
    fn a_pool_is_not_asked_to_adopt_what_it_wants_more_of() {
        let expected = picture("yuv420p", (64, 48));
        let (_bytes, surface) = surface(&expected, "nv12", 0);
        let samples = Samples::of(surface.format(), expected.format()).unwrap();
        let with_chroma = Adopting { with_chroma: true, ..Adopting::default() };
        for (pool, context) in [(None, CONTEXT), (Some(with_chroma), CONTEXT), (Some(Adopting::default()), CONTEXT + 1)]
        {
            let buffers = DecoderBuffers::default();
            pool.into_iter().for_each(|pool| buffers.use_pool(Arc::new(pool)));
            // SAFETY: the surface lies in `_bytes`, which nothing writes.
            assert!(unsafe { adopted(&surface, (context, 0), expected.format(), samples, &buffers) }.is_none());
        }
    }
}

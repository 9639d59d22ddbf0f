//! Decoding by NVDEC, the decoder of a GPU. Its pictures come down at once, into the memory that a decoder on the CPU would
//! write to and as pictures of the same pixel format, so that nothing behind it knows the difference. They could be
//! equalized where they are, but NVDEC takes a millisecond for a picture of 1080p, and bringing its luma down and up again
//! takes the bus less than a tenth of that.
#![allow(unsafe_code, reason = "FFI")]

use super::lender::Lender;
use super::{Error, Picture, RawFormat, c_string, check};
use crate::frame::PixelFormat;
use ffmpeg_next::codec::Id;
use ffmpeg_next::ffi::{self, AVPixelFormat::*};
use std::ffi::c_int;
use std::ptr;

/// Threads of a decoder on NVDEC: enough that it always has a picture to work on. Each holds a surface, of which there
/// are 32.
pub(super) const THREADS: c_int = 4;

/// What FFmpeg answers when there is no memory.
const NO_MEMORY: Error = Error::Other { errno: libc::ENOMEM };

/// A GPU to decode on.
pub(super) struct Nvdec {
    device: *mut ffi::AVBufferRef,
}

// SAFETY: the count is atomic, and FFmpeg makes the context current on whatever thread uses it.
unsafe impl Send for Nvdec {}

impl Nvdec {
    /// The GPU with this index. Where equalization runs on the same one, both share its primary context, unless somebody
    /// has made that in a way that FFmpeg does not like.
    pub fn open(gpu: usize) -> Result<Self, Error> {
        let name = c_string(&gpu.to_string());
        let kind = ffi::AVHWDeviceType::AV_HWDEVICE_TYPE_CUDA;
        let open = |flags| {
            let mut device = ptr::null_mut();
            // SAFETY: room for the answer, and a NUL-terminated name.
            check(unsafe { ffi::av_hwdevice_ctx_create(&mut device, kind, name.as_ptr(), ptr::null_mut(), flags) })?;
            Ok(Nvdec { device })
        };
        open(ffi::AV_CUDA_USE_PRIMARY_CONTEXT).or_else(|_: Error| open(0))
    }

    /// The decoder for this codec that can use NVDEC.
    pub fn decoder(codec: Id) -> Option<*const ffi::AVCodec> {
        let mut state = ptr::null_mut();
        let id = codec.into();
        // SAFETY: walks constants; the list ends with null.
        let mut all = std::iter::from_fn(|| unsafe { ffi::av_codec_iterate(&mut state).as_ref() });
        // SAFETY: as above.
        let decodes = |codec: &&ffi::AVCodec| codec.id == id && unsafe { ffi::av_codec_is_decoder(*codec) != 0 };
        all.find(|codec| decodes(codec) && takes_cuda(codec)).map(ptr::from_ref)
    }

    /// Sets a context up to decode here.
    ///
    /// # Safety
    /// The context is valid, is not open yet, and is for a codec from [`decoder`](Nvdec::decoder).
    pub unsafe fn set_up(&self, context: *mut ffi::AVCodecContext) -> Result<(), Error> {
        // SAFETY: by the caller's promise; the context takes a reference of its own.
        unsafe {
            (*context).hw_device_ctx = ffi::av_buffer_ref(self.device);
            if (*context).hw_device_ctx.is_null() {
                return Err(NO_MEMORY);
            }
            (*context).get_format = Some(prefer_cuda);
            (*context).thread_count = THREADS;
        }
        Ok(())
    }

    /// Has it decoded this picture?
    pub fn gave(picture: &Picture) -> bool {
        picture.format().0 == AV_PIX_FMT_CUDA && !picture.get().hw_frames_ctx.is_null()
    }

    /// Brings a picture down that it [`gave`](Nvdec::gave). `format` is what a decoder on the CPU would give; `None` when
    /// what NVDEC gives in its place is not known here.
    pub fn bring_down(&self, surface: &Picture, format: RawFormat, lender: &Lender) -> Result<Option<Picture>, Error> {
        let frames = surface.get().hw_frames_ctx;
        // SAFETY: a picture's `hw_frames_ctx` points to this structure.
        let packed = RawFormat(unsafe { (*(*frames).data.cast::<ffi::AVHWFramesContext>()).sw_format });
        let Some(samples) = Samples::of(packed, format) else { return Ok(None) };
        let (width, height) = surface.size();
        // Of an odd height, FFmpeg would leave out the last row of chroma; the surface has one row more.
        let even = height.next_multiple_of(2);
        let down = lender.picture(packed, (width, even)).ok_or(NO_MEMORY)?;
        let (from, to) = (surface.as_ptr(), down.as_ptr());
        // SAFETY: both pictures are valid and have two planes, and the one that is written has room for all rows of the
        // other one. The surface has that one row more before its chroma, too, where FFmpeg may have taken it to begin.
        unsafe {
            let (chroma, pitch) = ((*from).data[1], (*from).linesize[0] as usize);
            let begins = (chroma as usize).wrapping_sub((*from).data[0] as usize) / pitch.max(1);
            if height % 2 == 1 && begins % 2 == 1 {
                (*from).data[1] = chroma.wrapping_add(pitch);
            }
            (*from).height = even as c_int;
            let copied = check(ffi::av_hwframe_transfer_data(to, from, 0));
            ((*from).height, (*from).data[1]) = (height as c_int, chroma);
            copied?;
            (*to).height = height as c_int;
        }
        let mut picture = unpacked(&down, format, samples, lender)?;
        describe(&mut picture, surface)?;
        Ok(Some(picture))
    }
}

impl Drop for Nvdec {
    fn drop(&mut self) {
        // SAFETY: taken in `open`, given back nowhere else.
        unsafe { ffi::av_buffer_unref(&mut self.device) };
    }
}

/// Can this decoder give pictures on an NVIDIA GPU?
fn takes_cuda(codec: &ffi::AVCodec) -> bool {
    let by_device = ffi::AV_CODEC_HW_CONFIG_METHOD_HW_DEVICE_CTX as c_int;
    // SAFETY: the list ends with null.
    let mut configurations = (0..).map_while(|index| unsafe { ffi::avcodec_get_hw_config(codec, index).as_ref() });
    configurations.any(|config| config.pix_fmt == AV_PIX_FMT_CUDA && config.methods & by_device != 0)
}

/// FFmpeg's question in which of these formats to decode: on the GPU, if that is among them.
unsafe extern "C" fn prefer_cuda(
    context: *mut ffi::AVCodecContext,
    formats: *const ffi::AVPixelFormat,
) -> ffi::AVPixelFormat {
    let mut place = formats;
    // SAFETY: FFmpeg's list ends with NONE.
    unsafe {
        while *place != AV_PIX_FMT_NONE {
            if *place == AV_PIX_FMT_CUDA {
                return AV_PIX_FMT_CUDA;
            }
            place = place.add(1);
        }
        // It is not, or the GPU cannot do it after all.
        ffi::avcodec_default_get_format(context, formats)
    }
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

/// A picture of three planes out of one whose chroma samples lie in pairs. Its luma stays where it is.
fn unpacked(down: &Picture, format: RawFormat, samples: Samples, lender: &Lender) -> Result<Picture, Error> {
    let Samples { bytes, shift } = samples;
    let picture = lender.picture_around(down, format).ok_or(NO_MEMORY)?;
    let (from, to) = (down.as_ptr(), picture.as_ptr());
    let (width, height) = picture.size();
    // A row of a plane, of so many bytes.
    // SAFETY: for all calls below: the row lies in the picture, and nobody else has these pictures yet. The rows of
    // `down` that are read are not those that are written: its chroma is no plane of `picture`.
    let row = |frame: *mut ffi::AVFrame, plane: usize, y: usize, bytes: usize| unsafe {
        let start = (*frame).data[plane].add(y * (*frame).linesize[plane] as usize);
        std::slice::from_raw_parts_mut(start, bytes)
    };
    if shift > 0 {
        for y in 0..height {
            shift_down(row(to, 0, y, width * bytes), shift);
        }
    }
    let pairs = width.div_ceil(2);
    for y in 0..height.div_ceil(2) {
        let (cb, cr) = (row(to, 1, y, pairs * bytes), row(to, 2, y, pairs * bytes));
        let from = row(from, 1, y, 2 * pairs * bytes);
        if bytes == 1 { take_apart(from, cb, cr) } else { take_apart_wide(from, cb, cr, shift) }
    }
    Ok(picture)
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
    // SAFETY: the picture is valid, and nobody else has it yet.
    unsafe {
        (*picture.as_ptr()).opaque = lent;
        check(ffi::av_frame_apply_cropping(picture.as_ptr(), 0))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Plane;

    /// A picture with something else in every place.
    fn picture(format: &str, size: (usize, usize)) -> Picture {
        let picture = Picture::allocate(RawFormat::from_name(format).unwrap(), size).unwrap();
        let native = picture.format().native().unwrap();
        for plane in 0..3 {
            for y in 0..native.rows(plane, size.1) {
                let bytes = native.row_bytes(plane, size.0);
                // SAFETY: a row of a picture that is nobody else's.
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
    fn as_from_nvdec(picture: &Picture, packed: &str, shift: u32, lender: &Lender) -> Picture {
        let down = lender.picture(RawFormat::from_name(packed).unwrap(), picture.size()).unwrap();
        let frame = picture.to_frame().unwrap().unwrap();
        let planes = frame.planes();
        let bytes = if shift > 0 { 2 } else { 1 };
        let write = |plane: usize, y: usize, x: usize, from: &Plane, at: usize| {
            let from = &from.row(y)[at * bytes..][..bytes];
            // SAFETY: a sample of a picture that is nobody else's.
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
        let kinds = [("yuv420p", "nv12", 0), ("yuv420p10le", "p010le", 6), ("yuv420p12le", "p016le", 4)];
        for (format, packed, shift) in kinds {
            for size in [(64, 48), (2, 2), (33, 17), (1, 1), (854, 480)] {
                let lender = Lender::default();
                let expected = picture(format, size);
                let down = as_from_nvdec(&expected, packed, shift, &lender);
                let samples = Samples::of(down.format(), expected.format()).unwrap();
                assert_eq!(samples.shift, shift);
                let found = unpacked(&down, expected.format(), samples, &lender).unwrap();
                assert_eq!((found.size(), found.address(0)), (size, down.address(0)), "luma stays where it came down");
                let [expected, found] = [&expected, &found].map(|picture| picture.to_frame().unwrap().unwrap());
                for (plane, (expected, found)) in expected.planes().iter().zip(found.planes()).enumerate() {
                    for y in 0..expected.rows() {
                        assert_eq!(expected.row(y), found.row(y), "{format} {size:?}: plane {plane}, row {y}");
                    }
                }
            }
        }
    }
}

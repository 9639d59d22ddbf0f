//! Decoding by NVDEC, the video decoder of an NVIDIA GPU: opens the device, finds the decoders that can use it, and
//! sets them up. `surface` converts the decoded surfaces.
#![allow(unsafe_code, reason = "FFI")]

use super::buffers::DecoderBuffers;
use super::surface;
use crate::ffmpeg::frame::{Picture, RawFormat};
use crate::ffmpeg::{Error, OUT_OF_MEMORY, c_string, check};
use ffmpeg_next::codec::Id;
use ffmpeg_next::ffi;
use ffmpeg_next::ffi::AVPixelFormat::*;
use histeq::internal::cuda::DecoderStream;
use std::ffi::c_int;
use std::ptr;

/// Threads of a decoder on NVDEC: enough to keep it busy. Each holds one of its 32 surfaces.
const THREADS: c_int = 4;

/// A GPU to decode on.
pub(crate) struct Nvdec {
    device: *mut ffi::AVBufferRef,
}

// SAFETY: the reference count is atomic, and FFmpeg makes the CUDA context current on each thread that uses it.
unsafe impl Send for Nvdec {}

impl Nvdec {
    /// Opens the GPU with this index, in its primary context, which equalization on the same GPU shares. If FFmpeg does
    /// not accept the flags of that context, FFmpeg creates a separate context.
    pub fn open(gpu: usize) -> Result<Self, Error> {
        let name = c_string(gpu.to_string());
        let kind = ffi::AVHWDeviceType::AV_HWDEVICE_TYPE_CUDA;
        let open = |flags| {
            let mut device = ptr::null_mut();
            // SAFETY: a valid pointer for the result, and a NUL-terminated name.
            check(unsafe { ffi::av_hwdevice_ctx_create(&mut device, kind, name.as_ptr(), ptr::null_mut(), flags) })?;
            Ok(Nvdec { device })
        };
        let nvdec = open(ffi::AV_CUDA_USE_PRIMARY_CONTEXT).or_else(|_: Error| open(0))?;
        nvdec.use_own_stream(gpu);
        Ok(nvdec)
    }

    /// Makes the decoder use a CUDA stream of its own. By default, all decoders of a context share its default stream,
    /// and each waits for what the others have enqueued there.
    fn use_own_stream(&self, gpu: usize) {
        let (context, _) = self.handles();
        let Some(stream) = DecoderStream::open(gpu, context) else { return };
        // SAFETY: a CUDA device that no decoder uses yet; what `user_opaque` points to is freed by `free`, after the
        // device itself.
        unsafe {
            let device = (*self.device).data.cast::<ffi::AVHWDeviceContext>();
            let cuda = (*device).hwctx.cast::<ffi::AVCUDADeviceContext>();
            (*cuda).stream = stream.handle() as _;
            (*device).user_opaque = Box::into_raw(Box::new(stream)).cast();
            (*device).free = Some(free_stream);
        }
    }

    /// The decoder for this codec that can use NVDEC.
    pub fn decoder(codec: Id) -> Option<*const ffi::AVCodec> {
        let mut state = ptr::null_mut();
        let id = codec.into();
        // SAFETY: iterates over constants; the list ends with null.
        let mut all = std::iter::from_fn(|| unsafe { ffi::av_codec_iterate(&mut state).as_ref() });
        // SAFETY: as above.
        let decodes = |codec: &&ffi::AVCodec| codec.id == id && unsafe { ffi::av_codec_is_decoder(*codec) != 0 };
        all.find(|codec| decodes(codec) && takes_cuda(codec)).map(ptr::from_ref)
    }

    /// Sets a codec context up to decode on this GPU.
    ///
    /// # Safety
    /// The context is valid, is not open yet, and is for a codec from [`decoder`](Nvdec::decoder).
    pub unsafe fn set_up(&self, context: *mut ffi::AVCodecContext) -> Result<(), Error> {
        // SAFETY: by the caller's promise; the context gets its own reference.
        unsafe {
            (*context).hw_device_ctx = ffi::av_buffer_ref(self.device);
            if (*context).hw_device_ctx.is_null() {
                return Err(OUT_OF_MEMORY);
            }
            (*context).get_format = Some(prefer_cuda);
            (*context).thread_count = THREADS;
        }
        Ok(())
    }

    /// Whether NVDEC decoded this picture.
    pub fn decoded(picture: &Picture) -> bool {
        picture.format().0 == AV_PIX_FMT_CUDA && !picture.get().hw_frames_ctx.is_null()
    }

    /// Converts a surface that NVDEC has [decoded](Nvdec::decoded) to `format`, the pixel format of a decoder on the
    /// CPU. `None` when the conversion from the surface's format is not supported.
    ///
    /// # Errors
    /// When memory runs out, or the GPU fails.
    pub fn convert(
        &self,
        surface: &mut Picture,
        format: RawFormat,
        buffers: &DecoderBuffers,
    ) -> Result<Option<Picture>, Error> {
        // SAFETY: NVDEC has decoded the surface in this context, and its remaining work is enqueued on this stream.
        unsafe { surface::convert(surface, self.handles(), format, buffers) }
    }

    /// The handles of the CUDA context and the CUDA stream that FFmpeg decodes in.
    fn handles(&self) -> (usize, usize) {
        // SAFETY: a CUDA device, whose context has this structure.
        unsafe {
            let device = (*self.device).data.cast::<ffi::AVHWDeviceContext>();
            let cuda = (*device).hwctx.cast::<ffi::AVCUDADeviceContext>();
            ((*cuda).cuda_ctx as usize, (*cuda).stream as usize)
        }
    }
}

impl Drop for Nvdec {
    fn drop(&mut self) {
        // SAFETY: made in `open`, released nowhere else.
        unsafe { ffi::av_buffer_unref(&mut self.device) };
    }
}

/// Frees the stream of a device that was freed.
unsafe extern "C" fn free_stream(device: *mut ffi::AVHWDeviceContext) {
    // SAFETY: `use_own_stream` has put it there, and nothing else takes it away.
    drop(unsafe { Box::from_raw((*device).user_opaque.cast::<DecoderStream>()) });
}

/// Whether this decoder can decode on an NVIDIA GPU.
fn takes_cuda(codec: &ffi::AVCodec) -> bool {
    let by_device = ffi::AV_CODEC_HW_CONFIG_METHOD_HW_DEVICE_CTX as c_int;
    // SAFETY: the list ends with null.
    let mut configurations = (0..).map_while(|index| unsafe { ffi::avcodec_get_hw_config(codec, index).as_ref() });
    configurations.any(|config| config.pix_fmt == AV_PIX_FMT_CUDA && config.methods & by_device != 0)
}

/// The callback `AVCodecContext::get_format`, which chooses among the formats that the decoder offers: the GPU's if it
/// is one of them.
unsafe extern "C" fn prefer_cuda(
    context: *mut ffi::AVCodecContext,
    formats: *const ffi::AVPixelFormat,
) -> ffi::AVPixelFormat {
    let mut format = formats;
    // SAFETY: FFmpeg's list ends with NONE.
    unsafe {
        while *format != AV_PIX_FMT_NONE {
            if *format == AV_PIX_FMT_CUDA {
                return AV_PIX_FMT_CUDA;
            }
            format = format.add(1);
        }
        // The GPU cannot decode this video.
        ffi::avcodec_default_get_format(context, formats)
    }
}

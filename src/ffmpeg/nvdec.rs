//! Decoding by NVDEC, the decoder of a GPU: the device, the decoders that can use it, and how they are set up. What
//! becomes of its pictures is in `surface`.
#![allow(unsafe_code, reason = "FFI")]

use super::decoder_buffers::DecoderBuffers;
use super::{Error, Picture, RawFormat, c_string, check, surface};
use ffmpeg_next::codec::Id;
use ffmpeg_next::ffi::{self, AVPixelFormat::*};
use std::ffi::c_int;
use std::ptr;

/// Threads of a decoder on NVDEC: enough that it always has a picture to work on. Each holds a surface, of which there
/// are 32.
pub(super) const THREADS: c_int = 4;

/// What FFmpeg answers when there is no memory.
pub(super) const NO_MEMORY: Error = super::OUT_OF_MEMORY;

/// A GPU to decode on.
pub(super) struct Nvdec {
    device: *mut ffi::AVBufferRef,
}

// SAFETY: the count is atomic, and FFmpeg makes the context current on whatever thread uses it.
unsafe impl Send for Nvdec {}

impl Nvdec {
    /// The GPU with this index. Where equalization runs on the same one, both share its primary context, unless that
    /// was made in a way that FFmpeg does not take.
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

    /// Takes a picture out of NVDEC's memory that it [`gave`](Nvdec::gave). `format` is what a decoder on the CPU would
    /// give; `None` when what NVDEC gives in its place is not known here.
    ///
    /// # Errors
    /// When there is no memory for it, or the GPU fails.
    pub fn take_out(
        &self,
        surface: &mut Picture,
        format: RawFormat,
        buffers: &DecoderBuffers,
    ) -> Result<Option<Picture>, Error> {
        // SAFETY: NVDEC has decoded it in this context, where what it still does to it is enqueued on this stream.
        unsafe { surface::take_out(surface, self.place(), format, buffers) }
    }

    /// The handles of the context and of the stream that FFmpeg decodes in.
    fn place(&self) -> (usize, usize) {
        // SAFETY: the device is one of CUDA's, whose context has this structure.
        unsafe {
            let device = (*self.device).data.cast::<ffi::AVHWDeviceContext>();
            let cuda = (*device).hwctx.cast::<ffi::AVCUDADeviceContext>();
            ((*cuda).cuda_ctx as usize, (*cuda).stream as usize)
        }
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

//! Decodes a video stream.
#![allow(unsafe_code, reason = "FFI")]

use super::decoder_buffers::{DecoderBuffers, get_buffer};
use super::nvdec::Nvdec;
use super::{Error, OUT_OF_MEMORY, Packet, Picture, RawFormat, Stream, check};
use crate::frame::Pool;
use ffmpeg_next::codec::Id;
use ffmpeg_next::{Rational, ffi};
use std::sync::Arc;

/// What the decoder has to give.
pub enum Decoded {
    /// The next picture.
    Picture(Picture),
    /// Nothing before it gets another packet.
    NeedsInput,
    /// Nothing any more.
    End,
}

/// What a decoder aims at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delay {
    /// Frames a second: several frames at a time.
    Any,
    /// Each frame as soon as its packet is there.
    Lowest,
}

/// Where decoding runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DecodeOn {
    /// On as many threads as there are cores.
    #[default]
    Cpu,
    /// On the decoder of the GPU with this index.
    Nvdec(usize),
}

/// A video decoder.
pub struct Decoder {
    ptr: *mut ffi::AVCodecContext,
    nvdec: Option<Nvdec>,
    /// What it has decoded on the CPU although NVDEC was to do it, or what NVDEC gives that is brought into no shape.
    refused: Option<RawFormat>,
    /// The shape of a pixel where the container says it, which outweighs what is in the pictures.
    aspect_ratio: Option<Rational>,
    /// Where the bytes of the last packet begin, if they are pinned: raw pictures stay where their packet lies.
    pinned: Option<*const u8>,
    // The context points to it, and is freed before it.
    buffers: Box<DecoderBuffers>,
}

// SAFETY: the context is used by one thread at a time, the one that owns the Decoder.
unsafe impl Send for Decoder {}

impl Decoder {
    /// A decoder for `stream`.
    ///
    /// # Errors
    /// When FFmpeg has none for this codec (`DecoderNotFound`), there is no such GPU, or it refuses the parameters.
    pub fn open(stream: &Stream, delay: Delay, on: DecodeOn) -> Result<Self, Error> {
        let (codec, nvdec) = match on {
            DecodeOn::Cpu => (decoder_of(stream), None),
            DecodeOn::Nvdec(gpu) => {
                let codec = Nvdec::decoder(stream.parameters.id()).ok_or(Error::DecoderNotFound)?;
                (codec, Some(Nvdec::open(gpu)?))
            }
        };
        if codec.is_null() {
            return Err(Error::DecoderNotFound);
        }
        // SAFETY: the context is owned by `decoder` from the start; the stream's parameters are valid.
        unsafe {
            let ptr = ffi::avcodec_alloc_context3(codec);
            let aspect_ratio = stream.container_aspect_ratio;
            let decoder = Decoder { ptr, nvdec, refused: None, aspect_ratio, pinned: None, buffers: Box::default() };
            if decoder.ptr.is_null() {
                return Err(OUT_OF_MEMORY);
            }
            check(ffi::avcodec_parameters_to_context(decoder.ptr, stream.parameters.as_ptr()))?;
            (*decoder.ptr).pkt_timebase = stream.time_base.into();
            (*decoder.ptr).thread_count = 0;
            // Others take no memory but their own.
            if (*codec).capabilities & ffi::AV_CODEC_CAP_DR1 as i32 != 0 {
                (*decoder.ptr).opaque = (&raw const *decoder.buffers).cast_mut().cast();
                (*decoder.ptr).get_buffer2 = Some(get_buffer);
                // All threads may ask at once; later versions take that for granted.
                #[cfg(not(ffmpeg_6_0))]
                {
                    (*decoder.ptr).thread_safe_callbacks = 1;
                }
            }
            if let Some(nvdec) = &decoder.nvdec {
                nvdec.set_up(decoder.ptr)?;
            }
            if delay == Delay::Lowest {
                (*decoder.ptr).thread_type = ffi::FF_THREAD_SLICE;
                // Decoders of MPEG's older codecs then give B-frames in the order in which they are coded.
                if !matches!(stream.parameters.id(), Id::MPEG1VIDEO | Id::MPEG2VIDEO | Id::MPEG4 | Id::VC1) {
                    (*decoder.ptr).flags |= ffi::AV_CODEC_FLAG_LOW_DELAY as i32;
                }
            }
            check(ffi::avcodec_open2(decoder.ptr, codec, std::ptr::null_mut()))?;
            Ok(decoder)
        }
    }

    /// Has it put pictures into this memory from now on. Those of formats that are not native, and of the few decoders
    /// that take no memory but their own, lie elsewhere all the same.
    pub fn use_pool(&mut self, pool: Arc<dyn Pool>) {
        self.buffers.use_pool(pool);
    }

    /// Gives it a packet, or `None` when there is no more. Take all its pictures before the next packet.
    ///
    /// # Errors
    /// When the packet makes no sense; decoding can go on with the next one.
    pub fn send(&mut self, packet: Option<&Packet>) -> Result<(), Error> {
        self.pinned = packet.and_then(Packet::pinned);
        let packet = packet.map_or(std::ptr::null(), Packet::as_ptr);
        // SAFETY: the context is open.
        match check(unsafe { ffi::avcodec_send_packet(self.ptr, packet) }) {
            Ok(_) | Err(Error::Eof) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// What it has to give.
    ///
    /// # Errors
    /// When a packet could not be decoded; decoding can go on.
    pub fn receive(&mut self) -> Result<Decoded, Error> {
        let mut picture = Picture::new();
        // SAFETY: the context is open, the frame valid and empty.
        match check(unsafe { ffi::avcodec_receive_frame(self.ptr, picture.as_mut_ptr()) }) {
            Ok(_) => {
                let mut picture = self.take_out(picture)?;
                if let Some(packet) = self.pinned {
                    picture.mark_pinned(packet);
                }
                if let Some(ratio) = self.aspect_ratio {
                    picture.set_sample_aspect_ratio(ratio);
                }
                Ok(Decoded::Picture(picture))
            }
            Err(Error::Other { errno: libc::EAGAIN }) => Ok(Decoded::NeedsInput),
            Err(Error::Eof) => Ok(Decoded::End),
            Err(error) => Err(error),
        }
    }
}

impl Decoder {
    /// The picture in memory that is not the decoder's, if it comes from NVDEC.
    fn take_out(&mut self, mut picture: Picture) -> Result<Picture, Error> {
        let Some(nvdec) = &self.nvdec else { return Ok(picture) };
        // SAFETY: the context is open, and FFmpeg has set the format.
        let format = RawFormat(unsafe { (*self.ptr).sw_pix_fmt });
        if !Nvdec::gave(&picture) {
            self.refused = Some(picture.format());
            return Ok(picture);
        }
        let Some(taken) = nvdec.take_out(&mut picture, format, &self.buffers)? else {
            self.refused = Some(format);
            return Ok(picture);
        };
        Ok(taken)
    }

    /// The pixel format of pictures that NVDEC was to decode and does not, once there has been one.
    pub fn refused(&self) -> Option<RawFormat> {
        self.refused
    }
}

/// FFmpeg's first choice, but for VP8 and VP9 with transparency, which only their own library decodes.
fn decoder_of(stream: &Stream) -> *const ffi::AVCodec {
    let id = stream.parameters.id();
    let with_alpha = match id {
        Id::VP8 => Some(c"libvpx"),
        Id::VP9 => Some(c"libvpx-vp9"),
        _ => None,
    };
    let own = with_alpha.filter(|_| stream.tag("alpha_mode") == Some("1"));
    // SAFETY: NUL-terminated names; answers are constants or null.
    unsafe {
        let own = own.map_or(std::ptr::null(), |name| ffi::avcodec_find_decoder_by_name(name.as_ptr()));
        if own.is_null() { ffi::avcodec_find_decoder(id.into()) } else { own }
    }
}

impl Drop for Decoder {
    fn drop(&mut self) {
        // SAFETY: allocated in `open`, freed nowhere else.
        unsafe { ffi::avcodec_free_context(&mut self.ptr) };
    }
}

//! Decodes a video stream.
#![allow(unsafe_code, reason = "FFI")]

use super::buffers::{DecoderBuffers, get_buffer, note_damage, picture_bytes};
use super::nvdec::Nvdec;
use crate::ffmpeg::demux::Stream;
use crate::ffmpeg::frame::{Picture, RawFormat};
use crate::ffmpeg::log::{refused_size, report_damage_to};
use crate::ffmpeg::{Error, OUT_OF_MEMORY, Packet, check};
use ffmpeg_next::codec::Id;
use ffmpeg_next::{Rational, ffi};
use histeq::Limits;
use histeq::internal::frame::{HostPool, NoRoom, Pool};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A result of [`Decoder::receive`].
pub enum Decoded {
    /// The next picture.
    Picture(Picture),
    /// The decoder needs another packet first.
    NeedsInput,
    /// The decoder is drained.
    End,
}

/// FFmpeg pads rows to multiples of at most this many pixels.
const VECTOR: usize = 64;

/// Height of the working memory of MPEG decoders, in rows: FFmpeg checks its size against `max_pixels`, too.
const WORKING_ROWS: u64 = 280;

/// The greatest width of MPEG-2 video, in pixels.
const MPEG_COLUMNS: u64 = 1 << 14;

/// The smallest `max_pixels` that FFmpeg gets, because it checks working memory against it, too. If the user's limit is
/// lower, larger pictures are refused after decoding.
pub(crate) const LOWEST_LIMIT: u64 = 1 << 18;

/// Whether a decoder may delay pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delay {
    /// Yes: several frames are decoded in parallel, for throughput.
    Any,
    /// No: each frame is returned as soon as its packet was sent.
    Lowest,
}

/// Where decoding runs.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
pub enum DecodeOn {
    /// On as many threads as there are cores.
    #[default]
    Cpu,
    /// On this many threads, at least 1.
    Threads(u16),
    /// On the decoder of the GPU with this index.
    Nvdec(usize),
}

/// A video decoder.
pub struct Decoder {
    ptr: *mut ffi::AVCodecContext,
    codec: Id,
    nvdec: Option<Nvdec>,
    /// The pixel format of the last picture that NVDEC did not decode, or whose NVDEC format is not supported.
    pub unsupported: Option<RawFormat>,
    /// The container's sample aspect ratio, which overrides that of the pictures.
    aspect_ratio: Option<Rational>,
    /// Address of the last packet's bytes, if they are in pinned memory: decoded raw video uses them without a copy.
    pinned: Option<*const u8>,
    /// Whether damage has been reported so far: by an error, or by a picture marked as damaged.
    has_reported: bool,
    /// The size of the last picture that had more pixels than are allowed.
    pub too_large: Option<(usize, usize)>,
    // The context points to the buffers, and is freed before them (see `Drop`).
    buffers: Box<DecoderBuffers>,
    most_pixels: u64,
}

// SAFETY: the context is used by one thread at a time, the one that owns the Decoder.
unsafe impl Send for Decoder {}

impl Decoder {
    /// Opens a decoder for `stream`, within these limits.
    ///
    /// # Errors
    /// When FFmpeg has none for this codec (`DecoderNotFound`), the GPU does not exist, or the decoder refuses the
    /// parameters.
    pub fn open(stream: &Stream, delay: Delay, on: DecodeOn, limits: &Limits) -> Result<Self, Error> {
        let (codec, nvdec) = match on {
            DecodeOn::Cpu | DecodeOn::Threads(_) => (decoder_of(stream), None),
            DecodeOn::Nvdec(gpu) => {
                let codec = Nvdec::decoder(stream.parameters.id()).ok_or(Error::DecoderNotFound)?;
                (codec, Some(Nvdec::open(gpu)?))
            }
        };
        if codec.is_null() {
            return Err(Error::DecoderNotFound);
        }
        report_damage_to(note_damage);
        // Discards the size that another decoder refused.
        refused_size();
        bytes_of(stream).into_iter().for_each(|bytes| limits.note_decoder(bytes));
        // SAFETY: the context is owned by `decoder` from the start; the stream's parameters are valid.
        unsafe {
            let ptr = ffi::avcodec_alloc_context3(codec);
            let aspect_ratio = stream.container_aspect_ratio;
            let decoder = Decoder {
                ptr,
                codec: stream.parameters.id(),
                nvdec,
                unsupported: None,
                aspect_ratio,
                pinned: None,
                has_reported: false,
                too_large: None,
                buffers: Box::new(DecoderBuffers::new(limits)),
                most_pixels: limits.pixels(),
            };
            if decoder.ptr.is_null() {
                return Err(OUT_OF_MEMORY);
            }
            check(ffi::avcodec_parameters_to_context(decoder.ptr, stream.parameters.as_ptr()))?;
            (*decoder.ptr).pkt_timebase = stream.time_base.into();
            (*decoder.ptr).thread_count =
                if let DecodeOn::Threads(threads) = on { threads.into() } else { threads(stream, limits) };
            (*decoder.ptr).max_pixels = most_pixels(stream, limits);
            (*decoder.ptr).opaque = (&raw const *decoder.buffers).cast_mut().cast();
            // Decoders without this capability cannot use custom buffers.
            if (*codec).capabilities & ffi::AV_CODEC_CAP_DR1 as i32 != 0 {
                (*decoder.ptr).get_buffer2 = Some(get_buffer);
                // `get_buffer` is thread-safe, which later versions assume of every callback.
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
                if decoder.nvdec.is_some() {
                    // NVDEC decodes whole pictures, so slice threads gain nothing.
                    (*decoder.ptr).thread_count = 1;
                }
                // With this flag, decoders of older MPEG codecs would return B-frames in coding order.
                if !matches!(stream.parameters.id(), Id::MPEG1VIDEO | Id::MPEG2VIDEO | Id::MPEG4 | Id::VC1) {
                    (*decoder.ptr).flags |= ffi::AV_CODEC_FLAG_LOW_DELAY as i32;
                }
            }
            check(ffi::avcodec_open2(decoder.ptr, codec, std::ptr::null_mut()))?;
            // Errors logged so far belong to no picture: libdav1d, for example, logs that it cannot count the cores.
            decoder.buffers.forget_opening();
            Ok(decoder)
        }
    }

    /// Makes the decoder write the next pictures into memory of `pool`. Pictures of formats that are not native, and of
    /// decoders that cannot use custom buffers, stay in FFmpeg's memory.
    pub fn use_pool(&mut self, pool: Arc<dyn Pool>) {
        self.buffers.use_pool(pool);
    }

    /// Allocates the planes that the pool does not serve from `buffers`, which decoders may share. Call it before the
    /// first packet.
    pub fn share_plane_buffers(&mut self, buffers: HostPool) {
        self.buffers.share_plane_buffers(buffers);
    }

    /// Sends a packet to the decoder, or `None` at the end of the stream. Receive all pictures before the next packet.
    ///
    /// # Errors
    /// When the packet is invalid; decoding can go on with the next one.
    pub fn send(&mut self, packet: Option<&Packet>) -> Result<(), Error> {
        self.pinned = packet.and_then(Packet::pinned);
        let packet = packet.map_or(std::ptr::null(), Packet::as_ptr);
        // SAFETY: the context is open.
        match check(unsafe { ffi::avcodec_send_packet(self.ptr, packet) }) {
            Ok(_) | Err(Error::Eof) => Ok(()),
            Err(error) => Err(self.reported(error)),
        }
    }

    /// Receives the next picture. It is marked as damaged if the decoder has logged an error while it decoded it.
    ///
    /// # Errors
    /// When a packet could not be decoded, or its picture is [too large](Self::too_large); decoding can go on.
    pub fn receive(&mut self) -> Result<Decoded, Error> {
        let mut picture = Picture::new();
        // SAFETY: the context is open, the frame valid and empty.
        match check(unsafe { ffi::avcodec_receive_frame(self.ptr, picture.as_mut_ptr()) }) {
            Ok(_) => {
                crate::ffmpeg::note_activity();
                let (width, height) = picture.size();
                if width as u64 * height as u64 > self.most_pixels {
                    self.too_large = Some((width, height));
                    return Err(self.reported(Error::InvalidData));
                }
                let is_damaged = self.buffers.is_damaged(&picture);
                let mut picture = self.out_of_nvdec(picture)?;
                if is_damaged {
                    picture.mark_damaged();
                }
                self.has_reported |= picture.is_damaged();
                if let Some(packet) = self.pinned {
                    picture.mark_pinned(packet);
                }
                if let Some(ratio) = self.aspect_ratio {
                    picture.set_sample_aspect_ratio(ratio);
                }
                picture.name_matrix(self.codec);
                Ok(Decoded::Picture(picture))
            }
            Err(Error::Other { errno: libc::EAGAIN }) => Ok(Decoded::NeedsInput),
            // Damage was logged, but no picture was marked as damaged: report an error at the end of the stream.
            Err(Error::Eof) if !self.has_reported && self.buffers.has_damage() => {
                Err(self.reported(Error::InvalidData))
            }
            Err(Error::Eof) => Ok(Decoded::End),
            Err(error) => Err(self.reported(error)),
        }
    }

    /// Reports damage by this error, and forgets its log messages, so that no picture is marked for the same damage.
    fn reported(&mut self, error: Error) -> Error {
        self.has_reported = true;
        self.buffers.forget_early_errors();
        error
    }

    /// Drops everything that was sent to the decoder, which can then begin with the next key frame.
    pub fn flush(&mut self) {
        // SAFETY: the context is open.
        unsafe { ffi::avcodec_flush_buffers(self.ptr) };
    }

    /// Moves a picture of NVDEC out of the decoder's surface; returns others as they are.
    fn out_of_nvdec(&mut self, mut picture: Picture) -> Result<Picture, Error> {
        let Some(nvdec) = &self.nvdec else { return Ok(picture) };
        // SAFETY: the context is open, and FFmpeg has set the format.
        let format = RawFormat(unsafe { (*self.ptr).sw_pix_fmt });
        if !Nvdec::decoded(&picture) {
            self.unsupported = Some(picture.format());
            return Ok(picture);
        }
        let Some(converted) = nvdec.convert(&mut picture, format, &self.buffers)? else {
            self.unsupported = Some(format);
            return Ok(picture);
        };
        Ok(converted)
    }

    /// Why a picture could not be decoded, if memory for it was refused.
    pub fn refused(&self) -> Option<NoRoom> {
        self.buffers.refused()
    }
}

/// Bytes of a picture of `stream`, if its format is known.
fn bytes_of(stream: &Stream) -> Option<usize> {
    stream.picture().and_then(|(format, size)| picture_bytes(format, size))
}

/// The number of threads that fit into memory, as each may hold a picture; 0 for one per core.
fn threads(stream: &Stream, limits: &Limits) -> i32 {
    let bytes = bytes_of(stream).unwrap_or(0);
    let (wanted, fitting) = (limits.threads(), limits.under_way() / 2 / bytes.max(1));
    if fitting >= wanted { limits.given_threads().unwrap_or(0) as i32 } else { fitting.max(1) as i32 }
}

/// The `max_pixels` for a decoder of `stream`. FFmpeg checks padded rows and working memory against it, too; the
/// stream's size itself was checked without padding.
fn most_pixels(stream: &Stream, limits: &Limits) -> i64 {
    let padded = stream.picture().map_or(0, |(_, (width, height))| {
        let columns = width.next_multiple_of(VECTOR) as u64;
        let working = (columns.min(MPEG_COLUMNS) + 2 * VECTOR as u64) * WORKING_ROWS;
        working.max(columns * height as u64)
    });
    limits.pixels().max(LOWEST_LIMIT).max(padded) as i64
}

/// FFmpeg's default decoder, but libvpx for VP8 and VP9 with alpha, which only libvpx decodes.
fn decoder_of(stream: &Stream) -> *const ffi::AVCodec {
    let id = stream.parameters.id();
    let with_alpha = match id {
        Id::VP8 => Some(c"libvpx"),
        Id::VP9 => Some(c"libvpx-vp9"),
        _ => None,
    };
    let alpha_decoder = with_alpha.filter(|_| stream.tag("alpha_mode") == Some("1"));
    // SAFETY: NUL-terminated names; results are constants or null.
    unsafe {
        let alpha_decoder =
            alpha_decoder.map_or(std::ptr::null(), |name| ffi::avcodec_find_decoder_by_name(name.as_ptr()));
        if alpha_decoder.is_null() { ffi::avcodec_find_decoder(id.into()) } else { alpha_decoder }
    }
}

impl Drop for Decoder {
    fn drop(&mut self) {
        // SAFETY: allocated in `open`, freed nowhere else.
        unsafe { ffi::avcodec_free_context(&mut self.ptr) };
    }
}

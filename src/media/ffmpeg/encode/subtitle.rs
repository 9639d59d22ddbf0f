//! Converts text subtitles from one codec to another, for example SubRip to mov_text.
#![allow(unsafe_code, reason = "FFI")]

use crate::ffmpeg::demux::Stream;
use crate::ffmpeg::{Error, OUT_OF_MEMORY, Packet, check, microseconds, rescale};
use ffmpeg_next::{Rational, ffi};

/// The largest encoded subtitle, in bytes.
const LARGEST: usize = 1 << 20;

/// A decoder and an encoder of text subtitles.
pub struct SubtitleTranscoder {
    decoder: *mut ffi::AVCodecContext,
    pub(crate) encoder: *mut ffi::AVCodecContext,
    time_base: Rational,
}

// SAFETY: the contexts are used by one thread at a time, the one that owns the transcoder.
unsafe impl Send for SubtitleTranscoder {}

impl SubtitleTranscoder {
    /// Opens a decoder for `stream` and FFmpeg's encoder `name`.
    ///
    /// # Errors
    /// When this FFmpeg lacks one of them.
    pub fn open(stream: &Stream, name: &str) -> Result<Self, Error> {
        // SAFETY: both contexts are owned by `this` from the start. The header is copied to memory from FFmpeg, which
        // frees it with the encoder.
        unsafe {
            let source = ffi::avcodec_find_decoder((*stream.parameters.as_ptr()).codec_id);
            let target = ffi::avcodec_find_encoder_by_name(crate::ffmpeg::c_string(name).as_ptr());
            if source.is_null() || target.is_null() {
                return Err(if source.is_null() { Error::DecoderNotFound } else { Error::EncoderNotFound });
            }
            let this = SubtitleTranscoder {
                decoder: ffi::avcodec_alloc_context3(source),
                encoder: ffi::avcodec_alloc_context3(target),
                time_base: stream.time_base,
            };
            if this.decoder.is_null() || this.encoder.is_null() {
                return Err(OUT_OF_MEMORY);
            }
            check(ffi::avcodec_parameters_to_context(this.decoder, stream.parameters.as_ptr()))?;
            (*this.decoder).pkt_timebase = stream.time_base.into();
            check(ffi::avcodec_open2(this.decoder, source, std::ptr::null_mut()))?;
            let size = (*this.decoder).subtitle_header_size as usize;
            if size > 0 && !(*this.decoder).subtitle_header.is_null() {
                let header: *mut u8 = ffi::av_mallocz(size + 1).cast();
                if header.is_null() {
                    return Err(OUT_OF_MEMORY);
                }
                std::ptr::copy_nonoverlapping((*this.decoder).subtitle_header, header, size);
                (*this.encoder).subtitle_header = header;
                (*this.encoder).subtitle_header_size = size as i32;
            }
            (*this.encoder).time_base = microseconds().into();
            check(ffi::avcodec_open2(this.encoder, target, std::ptr::null_mut()))?;
            Ok(this)
        }
    }

    /// Converts a packet, in the same time base; `None` when it holds no subtitle.
    ///
    /// # Errors
    /// When it cannot be decoded or encoded.
    pub fn run(&mut self, packet: &Packet) -> Result<Option<Packet>, Error> {
        // SAFETY: a zeroed AVSubtitle is empty; its content is freed below.
        let mut subtitle: ffi::AVSubtitle = unsafe { std::mem::zeroed() };
        let mut complete = 0;
        // SAFETY: the decoder is open, the packet valid.
        check(unsafe {
            ffi::avcodec_decode_subtitle2(self.decoder, &mut subtitle, &mut complete, packet.as_ptr().cast_mut())
        })?;
        if complete == 0 {
            return Ok(None);
        }
        let shown = i64::from(subtitle.end_display_time.saturating_sub(subtitle.start_display_time));
        let delay = i64::from(subtitle.start_display_time);
        let mut bytes = vec![0u8; LARGEST];
        let empty = subtitle.num_rects == 0;
        // Encoders expect times relative to the packet's.
        // SAFETY: the encoder is open, the subtitle valid, and the buffer has the length given.
        let encoded = unsafe {
            subtitle.start_display_time = 0;
            let size = ffi::avcodec_encode_subtitle(self.encoder, bytes.as_mut_ptr(), LARGEST as i32, &subtitle);
            ffi::avsubtitle_free(&mut subtitle);
            check(size)
        };
        if empty {
            return Ok(None);
        }
        let size = encoded? as usize;
        let milliseconds = Rational::new(1, 1000);
        let start = packet.time().unwrap_or(0) + rescale(delay, milliseconds, self.time_base);
        let is_known = packet.duration() > 0 && delay == 0;
        let duration = if is_known { packet.duration() } else { rescale(shown, milliseconds, self.time_base) };
        Ok(Some(Packet::from_bytes(&bytes[..size], [start; 2], duration, true)))
    }
}

impl Drop for SubtitleTranscoder {
    fn drop(&mut self) {
        // SAFETY: allocated in `open`, freed nowhere else.
        unsafe {
            ffi::avcodec_free_context(&mut self.decoder);
            ffi::avcodec_free_context(&mut self.encoder);
        }
    }
}

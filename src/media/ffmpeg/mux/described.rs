//! What a muxer is told before its first packet: chapters, programmes, streams, and their metadata.
#![allow(unsafe_code, reason = "FFI")]

use crate::ffmpeg::demux::media::{set_entries, set_header};
use crate::ffmpeg::demux::{Chapter, Metadata, Programme, Stream};
use crate::ffmpeg::encode::{EncodedVideo, VideoEncoder};
use crate::ffmpeg::frame::StreamSideData;
use crate::ffmpeg::mux::muxer::{Muxer, OutputStream};
use crate::ffmpeg::{Error, OUT_OF_MEMORY, check, rescale};
use crate::sys::out_of_memory;
use anyhow::Result;
use ffmpeg_next::{Rational, ffi};

/// The tag that FFmpeg's encoder of raw frames sets for 24-bit BGR. In AVI, such frames have no tag.
const BGR24: u32 = u32::from_le_bytes([b'B', b'G', b'R', 24]);

impl Muxer {
    /// Adds the chapters, shifted by `shift` microseconds. Chapters that end before zero, or start at or after `end`,
    /// are left out; others are trimmed to these times.
    pub fn set_chapters(&mut self, chapters: &[Chapter], shift: i64, end: Option<i64>) {
        let microseconds = crate::ffmpeg::microseconds();
        let mut array = Vec::new();
        for chapter in chapters {
            let moved = |time: i64| rescale(time, chapter.time_base, microseconds).saturating_add(shift);
            let (start, stop) = (moved(chapter.start), moved(chapter.end));
            if shift < 0 && stop <= 0 || end.is_some_and(|end| start >= end) {
                continue;
            }
            let back = |time: i64| rescale(time, microseconds, chapter.time_base);
            let (start, stop) = if shift == 0 {
                (chapter.start, end.map_or(chapter.end, |end| chapter.end.min(back(end))))
            } else {
                (back(start.max(0)), back(end.map_or(stop, |end| stop.min(end))))
            };
            // SAFETY: allocated with zeros, as in FFmpeg's own code; the context frees them with the array.
            unsafe {
                let entry: *mut ffi::AVChapter = ffi::av_mallocz(size_of::<ffi::AVChapter>()).cast();
                if entry.is_null() {
                    out_of_memory();
                }
                (*entry).id = chapter.id;
                (*entry).time_base = chapter.time_base.into();
                (*entry).start = start;
                (*entry).end = stop;
                set_entries(&mut (*entry).metadata, &chapter.metadata);
                array.push(entry);
            }
        }
        if array.is_empty() {
            return;
        }
        // SAFETY: the array is long enough, allocated by FFmpeg, and freed by the context.
        unsafe {
            let pointers: *mut *mut ffi::AVChapter = ffi::av_malloc(size_of_val(array.as_slice())).cast();
            if pointers.is_null() {
                out_of_memory();
            }
            std::ptr::copy_nonoverlapping(array.as_ptr(), pointers, array.len());
            (*self.ptr).chapters = pointers;
            (*self.ptr).nb_chapters = array.len() as u32;
        }
    }

    /// Adds the programmes of a transport stream that have streams in this output: `streams` has their indices in the
    /// input. The first programme also gets the streams that were in none.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn add_programmes(&mut self, programmes: &[Programme], streams: &[(usize, OutputStream)]) -> Result<(), Error> {
        fn is_in(programme: &Programme, (index, _): &(usize, OutputStream)) -> bool {
            programme.streams.contains(index)
        }
        let kept = programmes.iter().filter(|programme| streams.iter().any(|stream| is_in(programme, stream)));
        for (place, programme) in kept.enumerate() {
            let in_none = |stream: &_| !programmes.iter().any(|programme| is_in(programme, stream));
            let members = streams.iter().filter(|stream| is_in(programme, stream) || place == 0 && in_none(*stream));
            let number = programme.number.into();
            // SAFETY: the context is valid, its header not yet written, and the streams are its own. It frees the
            // programme.
            unsafe {
                let added = ffi::av_new_program(self.ptr, number);
                if added.is_null() {
                    return Err(OUT_OF_MEMORY);
                }
                set_entries(&mut (*added).metadata, &programme.metadata);
                members.for_each(|(_, target)| ffi::av_program_add_stream_index(self.ptr, number, target.0 as u32));
            }
        }
        Ok(())
    }

    /// Adds a stream for the packets of `encoder`, which encodes the pictures of `original`.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn add_encoded(
        &mut self,
        encoder: &VideoEncoder,
        original: &Stream,
        metadata: &Metadata,
        side_data: &StreamSideData,
    ) -> Result<OutputStream, Error> {
        // SAFETY: the encoder is open, and the stream is new.
        unsafe {
            let time_base = (*encoder.as_ptr()).time_base.into();
            let (stream, index) = self.add_from_encoder(encoder.as_ptr(), time_base, original, metadata)?;
            (*stream).avg_frame_rate = (*encoder.as_ptr()).framerate;
            (*stream).sample_aspect_ratio = (*encoder.as_ptr()).sample_aspect_ratio;
            self.name_hevc(stream);
            side_data.apply(stream);
            Ok(index)
        }
    }

    /// Adds a stream for packets that were encoded before; `original` is the video that was encoded.
    ///
    /// # Errors
    /// When there is no memory for it, or this FFmpeg does not know its codec.
    pub fn add_kept(
        &mut self,
        video: &EncodedVideo,
        original: &Stream,
        metadata: &Metadata,
    ) -> Result<OutputStream, Error> {
        let (stream, index) = self.new_stream()?;
        // SAFETY: the stream is new.
        unsafe {
            if !video.set((*stream).codecpar) {
                return Err(Error::EncoderNotFound);
            }
            (*stream).time_base = video.time_base().into();
            (*stream).disposition = original.disposition;
            [(*stream).avg_frame_rate, (*stream).sample_aspect_ratio] = video.ratios();
            set_entries(&mut (*stream).metadata, metadata);
            self.name_hevc(stream);
            video.side_data().apply(stream);
        }
        Ok(index)
    }

    /// Gives HEVC the tag that Apple's players need; others accept it.
    ///
    /// # Safety
    /// `stream` is one of this output, whose header is not written.
    unsafe fn name_hevc(&self, stream: *mut ffi::AVStream) {
        // SAFETY: by the caller's promise.
        unsafe {
            if (*(*stream).codecpar).codec_id == ffi::AVCodecID::AV_CODEC_ID_HEVC && self.container.has_edit_lists() {
                (*(*stream).codecpar).codec_tag = u32::from_le_bytes(*b"hvc1");
            }
        }
    }

    /// Adds a stream whose packets are copied.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn add_copy(&mut self, original: &Stream, metadata: &Metadata) -> Result<OutputStream, Error> {
        let (stream, index) = self.new_stream()?;
        // SAFETY: the stream is new, the original's parameters valid.
        unsafe {
            let parameters = (*stream).codecpar;
            check(ffi::avcodec_parameters_copy(parameters, original.parameters.as_ptr()))?;
            let tags = (*self.container.format).codec_tag;
            // Muxers of segments have no list of tags, and pass tags on to the muxer of the segments.
            let same_tag = match tags.is_null() {
                true => !self.container.writes_segments(),
                false => ffi::av_codec_get_id(tags, (*parameters).codec_tag) == (*parameters).codec_id,
            };
            if !same_tag {
                // The tag belongs to the input's container: let the muxer choose one.
                (*parameters).codec_tag = 0;
            }
            (*stream).time_base = original.time_base.into();
            if let Some(rate) = original.frame_rate {
                (*stream).avg_frame_rate = rate.into();
            }
            if let Some(ratio) = original.sample_aspect_ratio {
                (*stream).sample_aspect_ratio = ratio.into();
            }
            (*stream).disposition = original.disposition;
            // From FFmpeg 6.1 on, side data is part of the parameters.
            #[cfg(not(ffmpeg_6_1))]
            original.side_data.apply(stream);
            set_entries(&mut (*stream).metadata, metadata);
        }
        Ok(index)
    }

    /// Adds an image as an attached file, as Matroska stores cover art.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn add_cover(&mut self, original: &Stream, picture: &[u8], metadata: &Metadata) -> Result<(), Error> {
        let (stream, _) = self.new_stream()?;
        let (name, kind) = match original.codec.as_str() {
            "png" => ("cover.png", "image/png"),
            "bmp" => ("cover.bmp", "image/bmp"),
            _ => ("cover.jpg", "image/jpeg"),
        };
        let named = |key: &str| metadata.iter().any(|(k, _)| k.eq_ignore_ascii_case(key));
        let tags = [("filename", name), ("mimetype", kind)].into_iter().filter(|(key, _)| !named(key));
        let tags: Metadata = tags.map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
        // SAFETY: the stream is new; its extradata is allocated by FFmpeg, with padding, and freed with the stream.
        unsafe {
            let parameters = (*stream).codecpar;
            (*parameters).codec_type = ffi::AVMediaType::AVMEDIA_TYPE_ATTACHMENT;
            (*parameters).codec_id = (*original.parameters.as_ptr()).codec_id;
            set_header(parameters, picture)?;
            set_entries(&mut (*stream).metadata, metadata);
            set_entries(&mut (*stream).metadata, &tags);
        }
        Ok(())
    }

    /// Adds a stream for the packets of an encoder, with times in units of `time_base`.
    ///
    /// # Safety
    /// `encoder` is open.
    unsafe fn add_from_encoder(
        &mut self,
        encoder: *const ffi::AVCodecContext,
        time_base: Rational,
        original: &Stream,
        metadata: &Metadata,
    ) -> Result<(*mut ffi::AVStream, OutputStream), Error> {
        let (stream, index) = self.new_stream()?;
        // SAFETY: the stream is new; the encoder is open by the caller's promise.
        unsafe {
            check(ffi::avcodec_parameters_from_context((*stream).codecpar, encoder))?;
            if self.container.name() == "avi" && (*(*stream).codecpar).codec_tag == BGR24 {
                (*(*stream).codecpar).codec_tag = 0;
            }
            (*stream).time_base = time_base.into();
            (*stream).disposition = original.disposition;
            set_entries(&mut (*stream).metadata, metadata);
        }
        Ok((stream, index))
    }

    fn new_stream(&mut self) -> Result<(*mut ffi::AVStream, OutputStream), Error> {
        // SAFETY: the context is valid, its header not yet written.
        let stream = unsafe { ffi::avformat_new_stream(self.ptr, std::ptr::null()) };
        if stream.is_null() {
            return Err(OUT_OF_MEMORY);
        }
        self.last_dts.push(None);
        // SAFETY: the stream is new.
        Ok((stream, OutputStream(unsafe { (*stream).index } as usize)))
    }
}

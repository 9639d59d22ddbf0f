//! Writes packets into a container.
#![allow(unsafe_code, reason = "FFI")]

use super::media::{entries, set_entries};
use super::{
    Chapter, Container, Error, Interrupt, Metadata, OUT_OF_MEMORY, Packet, SoundTranscoder, Stream, StreamSideData,
    VideoEncoder, check, location, rescale,
};
use anyhow::{Context as _, Result, bail};
use ffmpeg_next::{Rational, ffi};
use std::sync::atomic::{AtomicI32, Ordering};

/// How long before it is decoded a packet may arrive, in microseconds: MPEG's clock runs so far behind its timestamps. What
/// the ffmpeg program sets, too.
pub const MUX_DELAY: i64 = 700_000;

/// The same for a live stream, whose receivers are to show it at once. Sound is packed together for no longer, either.
const LIVE_MUX_DELAY: i64 = 100_000;

/// Where packets of one stream go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputStream(usize);

/// An open output.
pub struct Muxer {
    ptr: *mut ffi::AVFormatContext,
    container: Container,
    header_written: bool,
    /// For each stream, the decoding time of its last packet, in the unit that the container chose.
    times: Vec<Option<i64>>,
    /// The first error of a file that the muxer itself has opened, which FFmpeg does not report; 0 while there is none.
    failed: Box<AtomicI32>,
    /// What ends a wait for the other end of a connection. The context's callback looks at it.
    interrupt: Option<Box<Interrupt>>,
    /// The first decoding time of a live stream, in microseconds.
    begin: Option<i64>,
}

/// Closes a file of a muxer that opens its own, and keeps what went wrong with it.
unsafe extern "C" fn close_file(context: *mut ffi::AVFormatContext, pb: *mut ffi::AVIOContext) -> i32 {
    // SAFETY: FFmpeg hands in a context of ours, or one that has its `opaque` from it, which `Muxer::create` has pointed to
    // a number that outlives it; and a file that is open, and not used afterwards.
    unsafe {
        ffi::avio_flush(pb);
        let error = (*pb).error;
        let closed = ffi::avio_close(pb);
        let code = if error < 0 { error } else { closed };
        if let Some(failed) = (*context).opaque.cast::<AtomicI32>().as_ref().filter(|_| code < 0) {
            let _ = failed.compare_exchange(0, code, Ordering::Relaxed, Ordering::Relaxed);
        }
        code
    }
}

// SAFETY: the context is used by one thread at a time, the one that owns the Muxer.
unsafe impl Send for Muxer {}

impl Muxer {
    /// Opens `url` for writing, as a container of this kind.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn create(container: Container, url: &str) -> Result<Self, Error> {
        Muxer::open(container, url, None, &[])
    }

    /// Connects to `url`, as a live stream in a container of this kind; `interrupt` ends all waiting, then and later.
    /// `options` are those of the protocol.
    ///
    /// # Errors
    /// When there is no connection to be had.
    pub fn connect(
        container: Container,
        url: &str,
        interrupt: Interrupt,
        options: &[(String, String)],
    ) -> Result<Self, Error> {
        Muxer::open(container, url, Some(Box::new(interrupt)), options)
    }

    fn open(
        container: Container,
        url: &str,
        interrupt: Option<Box<Interrupt>>,
        options: &[(String, String)],
    ) -> Result<Self, Error> {
        super::init();
        super::last_message();
        let url = location(url);
        // SAFETY: the context is owned by `muxer` as soon as it exists, and freed by its `Drop`.
        unsafe {
            let mut ptr = std::ptr::null_mut();
            let none = std::ptr::null();
            check(ffi::avformat_alloc_output_context2(&mut ptr, container.0.cast_mut().cast(), none, url.as_ptr()))?;
            let (failed, times) = (Box::default(), Vec::new());
            let muxer = Muxer { ptr, container, header_written: false, times, failed, interrupt, begin: None };
            if container.names_its_files() {
                (*ptr).opaque = (&raw const *muxer.failed).cast_mut().cast();
                (*ptr).io_close2 = Some(close_file);
            }
            // FFmpeg 5 takes FLAC in mp4 for an experiment. Players have long known better.
            (*ptr).strict_std_compliance = ffi::FF_COMPLIANCE_EXPERIMENTAL;
            (*ptr).max_delay = MUX_DELAY as i32;
            if let Some(interrupt) = &muxer.interrupt {
                (*ptr).max_delay = LIVE_MUX_DELAY as i32;
                (*ptr).interrupt_callback = interrupt.callback();
            }
            if container.needs_file() {
                let (write, callback) = (ffi::AVIO_FLAG_WRITE, &(*ptr).interrupt_callback);
                let mut dictionary = std::ptr::null_mut();
                set_entries(&mut dictionary, options);
                let opened = ffi::avio_open2(&mut (*ptr).pb, url.as_ptr(), write, callback, &mut dictionary);
                ffi::av_dict_free(&mut dictionary);
                check(opened)?;
            }
            Ok(muxer)
        }
    }

    /// What it writes.
    pub fn container(&self) -> Container {
        self.container
    }

    /// Says something about the whole.
    pub fn set_metadata(&mut self, metadata: &Metadata) {
        // SAFETY: the context is valid, its dictionary null or valid.
        unsafe { set_entries(&mut (*self.ptr).metadata, metadata) };
    }

    /// Moves everything that is going to be written by this many microseconds.
    pub fn shift(&mut self, by: i64) {
        // SAFETY: the context is valid, its header not yet written.
        unsafe { (*self.ptr).output_ts_offset = by };
    }

    /// Adds the chapters, moved by `shift` microseconds; those that end before zero are left out.
    pub fn set_chapters(&mut self, chapters: &[Chapter], shift: i64, end: Option<i64>) {
        let microseconds = super::microseconds();
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
            // SAFETY: allocated zeroed, as FFmpeg's own code does; the context frees them with the array.
            unsafe {
                let entry: *mut ffi::AVChapter = ffi::av_mallocz(size_of::<ffi::AVChapter>()).cast();
                assert!(!entry.is_null(), "out of memory");
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
        // SAFETY: the array is allocated by FFmpeg, which frees it, and has room for what is copied.
        unsafe {
            let pointers: *mut *mut ffi::AVChapter = ffi::av_malloc(size_of_val(array.as_slice())).cast();
            assert!(!pointers.is_null(), "out of memory");
            std::ptr::copy_nonoverlapping(array.as_ptr(), pointers, array.len());
            (*self.ptr).chapters = pointers;
            (*self.ptr).nb_chapters = array.len() as u32;
        }
    }

    /// Adds the stream that `encoder` makes out of `original`.
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
        // SAFETY: the encoder is open, and the stream new.
        unsafe {
            let time_base = (*encoder.as_ptr()).time_base.into();
            let (stream, index) = self.add_made(encoder.as_ptr(), time_base, original, metadata)?;
            (*stream).avg_frame_rate = (*encoder.as_ptr()).framerate;
            (*stream).sample_aspect_ratio = (*encoder.as_ptr()).sample_aspect_ratio;
            // Apple's players want this tag, and the others do not mind.
            if (*(*stream).codecpar).codec_id == ffi::AVCodecID::AV_CODEC_ID_HEVC && self.container.has_edit_lists() {
                (*(*stream).codecpar).codec_tag = u32::from_le_bytes(*b"hvc1");
            }
            side_data.apply(stream);
            Ok(index)
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
            let tags = (*self.container.0).codec_tag;
            // Those that write files of another kind have no tags of their own, and pass on what they are given.
            let same_tag = match tags.is_null() {
                true => !self.container.names_its_files(),
                false => ffi::av_codec_get_id(tags, (*parameters).codec_tag) == (*parameters).codec_id,
            };
            if !same_tag {
                // A tag of the old container's means nothing, or something else, in this one.
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
            // From 6.1 on the parameters brought it along.
            #[cfg(not(ffmpeg_6_1))]
            original.side_data.apply(stream);
            set_entries(&mut (*stream).metadata, metadata);
        }
        Ok(index)
    }

    /// Adds a stream of subtitles that `transcoder` makes out of `original`.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn add_subtitles(
        &mut self,
        transcoder: &super::SubtitleTranscoder,
        original: &Stream,
        metadata: &Metadata,
    ) -> Result<OutputStream, Error> {
        // SAFETY: the transcoder's encoder is open.
        unsafe { self.add_made(transcoder.encoder(), original.time_base, original, metadata).map(|(_, index)| index) }
    }

    /// Adds the stream of sound that `transcoder` makes out of `original`.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn add_sound(
        &mut self,
        transcoder: &SoundTranscoder,
        original: &Stream,
        metadata: &Metadata,
    ) -> Result<OutputStream, Error> {
        let (encoder, time_base) = (transcoder.encoder(), transcoder.time_base());
        // SAFETY: the transcoder's encoder is open.
        unsafe { self.add_made(encoder.as_ptr(), time_base, original, metadata).map(|(_, index)| index) }
    }

    /// Adds a picture as a file that is attached, which is how Matroska keeps cover art.
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
        let own = [("filename", name), ("mimetype", kind)].into_iter().filter(|(key, _)| !named(key));
        let own: Metadata = own.map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
        // SAFETY: the stream is new; its extradata is allocated by FFmpeg, with the padding that it wants, and freed
        // with the stream.
        unsafe {
            let parameters = (*stream).codecpar;
            (*parameters).codec_type = ffi::AVMediaType::AVMEDIA_TYPE_ATTACHMENT;
            (*parameters).codec_id = (*original.parameters.as_ptr()).codec_id;
            let room = picture.len() + ffi::AV_INPUT_BUFFER_PADDING_SIZE as usize;
            (*parameters).extradata = ffi::av_mallocz(room).cast();
            if (*parameters).extradata.is_null() {
                return Err(OUT_OF_MEMORY);
            }
            std::ptr::copy_nonoverlapping(picture.as_ptr(), (*parameters).extradata, picture.len());
            (*parameters).extradata_size = picture.len() as i32;
            set_entries(&mut (*stream).metadata, metadata);
            set_entries(&mut (*stream).metadata, &own);
        }
        Ok(())
    }

    /// Writes the header; streams can be added until then, packets written from then on.
    ///
    /// # Errors
    /// When the container cannot hold the streams, knows no such option, or cannot be written.
    pub fn write_header(&mut self, options: &[(String, String)]) -> Result<()> {
        super::last_message();
        let mut dictionary = std::ptr::null_mut();
        // SAFETY: the context has its streams; the dictionary is ours.
        let (written, unknown) = unsafe {
            set_entries(&mut dictionary, options);
            let written = check(ffi::avformat_write_header(self.ptr, &mut dictionary));
            let unknown = entries(dictionary);
            ffi::av_dict_free(&mut dictionary);
            (written, unknown)
        };
        let reason = super::last_message().map(|message| format!(" ({message})")).unwrap_or_default();
        let name = self.container.name();
        if written.is_err() && reason.contains("non seekable") {
            bail!("a {name} file cannot be written into a pipe (--output-format matroska, nut or mpegts can)");
        }
        written.with_context(|| format!("cannot begin a {name} file{reason}"))?;
        self.header_written = true;
        if let Some((key, _)) = unknown.first() {
            bail!("container {name} has no option {key}");
        }
        Ok(())
    }

    /// Writes a packet whose times are in units of `time_base`; it is held back until it can be interleaved. Answers
    /// with how much later it had to be made (microseconds, mostly 0), because the one before it in its stream was not
    /// earlier: no container takes times that go back.
    ///
    /// # Errors
    /// When writing fails.
    pub fn write(&mut self, mut packet: Packet, stream: OutputStream, time_base: Rational) -> Result<i64, Error> {
        if self.interrupt.is_some()
            && let Some(time) = packet.dts().map(|time| rescale(time, time_base, super::microseconds()))
            && time < *self.begin.get_or_insert(time)
        {
            // Sound that comes late, from before the first picture. FLV's muxer would refuse it, and all after it.
            return Ok(0);
        }
        packet.set_stream(stream.0);
        // SAFETY: the header is written, and the stream is one of ours. FFmpeg takes the packet's references.
        unsafe {
            let to = &**(*self.ptr).streams.add(stream.0);
            packet.rescale(time_base, to.time_base.into());
            (*packet.as_mut_ptr()).pos = -1;
            // Captions and data may share a moment in any container.
            let kind = (*to.codecpar).codec_type;
            let in_turn = matches!(kind, ffi::AVMediaType::AVMEDIA_TYPE_VIDEO | ffi::AVMediaType::AVMEDIA_TYPE_AUDIO);
            let apart = i64::from(in_turn && !self.container.takes_equal_times());
            let delay = self.times[stream.0].map_or(0, |last| packet.delay_to(last.saturating_add(apart)));
            self.times[stream.0] = packet.dts().or(self.times[stream.0]);
            let delay = rescale(delay, to.time_base.into(), super::microseconds());
            check(ffi::av_interleaved_write_frame(self.ptr, packet.as_mut_ptr()))?;
            check(self.failed.load(Ordering::Relaxed))?;
            // RTSP's muxer does not say that a write was cut short.
            match &self.interrupt {
                Some(interrupt) if interrupt.is_due() => Err(Error::Exit),
                _ => Ok(delay),
            }
        }
    }

    /// Writes what is held back and the end of the file.
    ///
    /// # Errors
    /// When writing failed, now or before without having been reported.
    pub fn finish(mut self) -> Result<(), Error> {
        // SAFETY: the header is written; the file is closed once, here or in `drop`.
        unsafe {
            let trailer = check(ffi::av_write_trailer(self.ptr));
            self.header_written = false;
            let pb = (*self.ptr).pb;
            let earlier = if pb.is_null() { Ok(0) } else { check((*pb).error) };
            let closed = self.close();
            let own = check(self.failed.load(Ordering::Relaxed));
            trailer.and(earlier).and(closed).and(own).map(drop)
        }
    }

    /// Adds the stream that an encoder makes out of `original`, with times in units of `time_base`.
    ///
    /// # Safety
    /// `encoder` is open.
    unsafe fn add_made(
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
        self.times.push(None);
        // SAFETY: just made.
        Ok((stream, OutputStream(unsafe { (*stream).index } as usize)))
    }

    fn close(&mut self) -> Result<i32, Error> {
        if !self.container.needs_file() {
            return Ok(0);
        }
        // SAFETY: opened in `create`; the pointer is null afterwards, which a second call takes for closed.
        check(unsafe { ffi::avio_closep(&mut (*self.ptr).pb) })
    }
}

impl Drop for Muxer {
    fn drop(&mut self) {
        if self.interrupt.is_some() && self.header_written && !self.container.needs_file() {
            // A muxer that has connected by itself disconnects with its trailer.
            // SAFETY: the header is written, the trailer is not.
            unsafe { ffi::av_write_trailer(self.ptr) };
        }
        // An output that was given up: the reason has been reported.
        let _ = self.close();
        // SAFETY: allocated in `create`, freed nowhere else.
        unsafe { ffi::avformat_free_context(self.ptr) };
    }
}

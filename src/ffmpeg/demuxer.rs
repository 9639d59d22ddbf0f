//! Opens an input and reads its packets.
#![allow(unsafe_code, reason = "FFI")]

use super::custom_io::CustomIo;
use super::media::{entries, set_entries};
use super::packet::Packet;
use super::protocols::{self, OpenError};
use super::{
    Chapter, Error, FieldOrder, Interrupt, Kind, Media, Metadata, OUT_OF_MEMORY, Stream, StreamSideData, c_string,
    check, location, text,
};
use crate::frame::{HostPool, Pool};
use ffmpeg_next::codec::{Id, Parameters};
use ffmpeg_next::{Rational, ffi};
use std::ffi::CStr;
use std::io::Read;
use std::sync::Arc;

/// An open input.
pub struct Demuxer {
    ptr: *mut ffi::AVFormatContext,
    media: Media,
    /// Options that this kind of input does not know.
    ignored: Metadata,
    /// Where the packets of a device are copied to. Its driver lends the memory that they come in: only a few buffers, which
    /// are gone when the device is closed. Those of containers and protocols own their bytes.
    copies: Option<Arc<dyn Pool>>,
    // The context reads from it, and its callback looks at the interrupt, for as long as it lives.
    _io: Option<CustomIo>,
    interrupt: Box<Interrupt>,
}

// SAFETY: the context is used by one thread at a time, the one that owns the Demuxer.
unsafe impl Send for Demuxer {}

impl Demuxer {
    /// Opens `url`, or reads from `reader` if there is one, and finds out what is in it. `format` is FFmpeg's name of a
    /// demuxer, for inputs that do not tell. `interrupt` ends a read that waits.
    ///
    /// # Errors
    /// When it cannot be opened, holds nothing that FFmpeg knows, or names what its kind of input may not open.
    pub fn open(
        url: &str,
        reader: Option<Box<dyn Read + Send>>,
        format: Option<&str>,
        options: &[(String, String)],
        interrupt: impl Into<Interrupt>,
    ) -> Result<Self, OpenError> {
        super::init();
        super::last_message();
        super::refused_protocol();
        let io = reader.map(CustomIo::new).transpose()?;
        let found = match (format, &io) {
            (Some(name), _) => found(name)?,
            (None, Some(io)) => io.probe(&location(url))?,
            (None, None) => std::ptr::null(),
        };
        // SAFETY: null or a constant of the library.
        let (is_device, demuxer) = unsafe { (is_device(found), found.as_ref().map(|format| text(format.name))) };
        if let (None, Some(playlist)) = (format, demuxer.filter(|name| protocols::is_playlist(name))) {
            return Err(OpenError::Playlist(playlist.split(',').next().unwrap_or_default().to_owned()));
        }
        // What a device is called is no file's name.
        let place = if is_device { c_string(url) } else { location(url) };
        let allowed = match &io {
            _ if is_device => None,
            Some(_) => Some(protocols::of_pipe(format).to_owned()),
            None => Some(protocols::of_url(&place.to_string_lossy())),
        };
        let whitelist = allowed.iter().map(|allowed| ("protocol_whitelist".to_owned(), allowed.clone()));
        let options: Vec<(String, String)> = options.iter().cloned().chain(whitelist).collect();
        let opened = Self::open_as(&place, io, found, is_device, &options, Box::new(interrupt.into()));
        opened.map_err(|error| match (super::refused_protocol(), allowed) {
            (Some(protocol), Some(allowed)) => {
                OpenError::Protocol { protocol, input: protocols::kind_of_input(&allowed) }
            }
            _ => error.into(),
        })
    }

    fn open_as(
        place: &CStr,
        io: Option<CustomIo>,
        format: *const ffi::AVInputFormat,
        is_device: bool,
        options: &[(String, String)],
        interrupt: Box<Interrupt>,
    ) -> Result<Self, Error> {
        let mut dictionary = std::ptr::null_mut();
        // SAFETY: the context is allocated here and freed by `avformat_open_input` when that fails, by `Drop` later;
        // reader and interrupt outlive it, because the Demuxer holds all three and closes the context first.
        unsafe {
            let mut ptr = ffi::avformat_alloc_context();
            if ptr.is_null() {
                return Err(OUT_OF_MEMORY);
            }
            (*ptr).interrupt_callback = interrupt.callback();
            if let Some(io) = &io {
                (*ptr).pb = io.as_ptr();
            }
            set_entries(&mut dictionary, options);
            if is_device {
                // Cameras then say that there is nothing yet, instead of waiting where no interrupt reaches them.
                (*ptr).flags |= ffi::AVFMT_FLAG_NONBLOCK;
            }
            let opened = ffi::avformat_open_input(&mut ptr, place.as_ptr(), format.cast_mut().cast(), &mut dictionary);
            let ignored = entries(dictionary);
            ffi::av_dict_free(&mut dictionary);
            check(opened)?;
            let media = Media::empty(text((*(*ptr).iformat).name));
            // FFmpeg knows some devices by their names (`/dev/video0`), with no format given.
            let copies: Option<Arc<dyn Pool>> = match self::is_device((*ptr).iformat) {
                true => Some(Arc::new(HostPool::default())),
                false => None,
            };
            let mut demuxer = Demuxer { ptr, media, ignored, copies, _io: io, interrupt };
            check(ffi::avformat_find_stream_info(ptr, std::ptr::null_mut()))?;
            demuxer.describe();
            Ok(demuxer)
        }
    }

    /// Copies the packets of a device into this memory from now on. Those of anything else lie in FFmpeg's.
    pub fn use_pool(&mut self, pool: Arc<dyn Pool>) {
        if self.copies.is_some() {
            self.copies = Some(pool);
        }
    }

    /// What is in it.
    pub fn media(&self) -> &Media {
        &self.media
    }

    /// Has an option of this name been given that this kind of input does not know?
    pub fn ignores(&self, option: &str) -> bool {
        self.ignored.iter().any(|(key, _)| key == option)
    }

    /// The video stream that FFmpeg thinks is the main one; cover art does not count.
    pub fn best_video(&self) -> Option<usize> {
        // SAFETY: the context is open.
        let best = unsafe {
            let video = ffi::AVMediaType::AVMEDIA_TYPE_VIDEO;
            ffi::av_find_best_stream(self.ptr, video, -1, -1, std::ptr::null_mut(), 0)
        };
        usize::try_from(best).ok().filter(|&index| !self.media.streams[index].is_attached_picture())
    }

    /// Of the packets that the index lists of a stream, how many come after the time `dts`, and how many there are.
    pub fn indexed_behind(&self, stream: usize, dts: i64) -> (u64, u64) {
        // SAFETY: the context is open; the index is one of the streams described, which slicing checks, and entries are
        // read before anything else can change them.
        unsafe {
            let streams = std::slice::from_raw_parts((*self.ptr).streams, (*self.ptr).nb_streams as usize);
            let count = ffi::avformat_index_get_entries_count(streams[stream]);
            let time = |index| ffi::avformat_index_get_entry(streams[stream], index).as_ref().map(|e| e.timestamp);
            let behind = (0..count).rev().take_while(|&index| time(index).is_some_and(|time| time > dts)).count();
            (behind as u64, u64::try_from(count).unwrap_or(0))
        }
    }

    /// Reads nothing more of this stream.
    pub fn discard(&mut self, index: usize) {
        // SAFETY: the index is one of the streams described; slicing checks it.
        unsafe {
            let streams = std::slice::from_raw_parts((*self.ptr).streams, (*self.ptr).nb_streams as usize);
            (*streams[index]).discard = ffi::AVDiscard::AVDISCARD_ALL;
        }
    }

    /// Goes to the last key frame at or before `time` (microseconds).
    ///
    /// # Errors
    /// When the input cannot seek.
    pub fn seek(&mut self, time: i64) -> Result<(), Error> {
        // SAFETY: the context is open.
        check(unsafe { ffi::avformat_seek_file(self.ptr, -1, i64::MIN, time, time, 0) })?;
        Ok(())
    }

    /// Goes back to the beginning.
    ///
    /// # Errors
    /// When the input cannot seek.
    pub fn rewind(&mut self) -> Result<(), Error> {
        // Where the clock may jump, the time of the beginning may be there more than once, but no other place is the first.
        let (start, flags) = match self.media.may_jump {
            true => (0, ffi::AVSEEK_FLAG_BYTE),
            false => (self.media.start.unwrap_or(0), 0),
        };
        // SAFETY: the context is open.
        check(unsafe { ffi::avformat_seek_file(self.ptr, -1, i64::MIN, start, i64::MAX, flags) })?;
        Ok(())
    }

    /// The next packet of any stream, `None` at the end.
    ///
    /// # Errors
    /// When reading fails before the end.
    pub fn read(&mut self) -> Result<Option<Packet>, Error> {
        loop {
            let mut packet = Packet::new();
            // SAFETY: the context is open, the packet valid.
            match check(unsafe { ffi::av_read_frame(self.ptr, packet.as_mut_ptr()) }) {
                // A stream that turned up after opening (in a transport stream, say) is nothing we know how to write.
                Ok(_) if packet.stream() >= self.media.streams.len() => {}
                Ok(_) => return self.owned(packet).map(Some),
                Err(Error::Eof) => return Ok(None),
                Err(Error::Other { errno: libc::EAGAIN }) if self.interrupt.is_due() => return Err(Error::Exit),
                Err(Error::Other { errno: libc::EAGAIN }) => std::thread::sleep(std::time::Duration::from_millis(1)),
                Err(error) => return Err(error),
            }
        }
    }

    /// The packet in memory that does not go away with the device.
    fn owned(&self, packet: Packet) -> Result<Packet, Error> {
        let codec = self.media.streams[packet.stream()].parameters.id();
        // What is wrapped is counted by itself.
        let Some(pool) = self.copies.as_ref().filter(|_| codec != Id::WRAPPED_AVFRAME) else { return Ok(packet) };
        let lent = pool.buffer(packet.room());
        packet.copied_into(lent.unwrap_or_else(|_| Box::new(HostPool::default().take(packet.room()))))
    }

    fn describe(&mut self) {
        let known = |time: i64| (time != ffi::AV_NOPTS_VALUE).then_some(time);
        // SAFETY: the context is open; FFmpeg keeps as many streams and chapters as it says, each fully set up.
        unsafe {
            let context = &*self.ptr;
            self.media.start = known(context.start_time);
            self.media.may_jump = (*context.iformat).flags & ffi::AVFMT_TS_DISCONT != 0;
            // A length guessed from the bit rate is no length.
            let guessed =
                context.duration_estimation_method == ffi::AVDurationEstimationMethod::AVFMT_DURATION_FROM_BITRATE;
            self.media.duration = known(context.duration).filter(|&duration| duration > 0 && !guessed);
            self.media.metadata = entries(context.metadata);
            self.media.streams = (0..context.nb_streams as usize)
                .map(|index| describe_stream(self.ptr, *context.streams.add(index)))
                .collect();
            self.media.chapters = (0..context.nb_chapters as usize)
                .map(|index| {
                    let chapter = &**context.chapters.add(index);
                    Chapter {
                        id: chapter.id,
                        time_base: chapter.time_base.into(),
                        start: chapter.start,
                        end: chapter.end,
                        metadata: entries(chapter.metadata),
                    }
                })
                .collect();
        }
    }
}

impl Media {
    fn empty(demuxer: String) -> Self {
        Media {
            demuxer,
            streams: Vec::new(),
            chapters: Vec::new(),
            metadata: Vec::new(),
            start: None,
            duration: None,
            may_jump: false,
        }
    }
}

/// The demuxer of this name.
fn found(name: &str) -> Result<*const ffi::AVInputFormat, Error> {
    // SAFETY: a NUL-terminated name.
    let found = unsafe { ffi::av_find_input_format(c_string(name).as_ptr()) };
    if found.is_null() { Err(Error::DemuxerNotFound) } else { Ok(found) }
}

/// Is it an input device rather than a container?
///
/// # Safety
/// `format` is null or a constant of the library.
unsafe fn is_device(format: *const ffi::AVInputFormat) -> bool {
    // SAFETY: by the caller's promise; a class, where there is one, is a constant, too.
    unsafe {
        let class = format.as_ref().map_or(std::ptr::null(), |format| format.priv_class);
        use ffi::AVClassCategory::{AV_CLASS_CATEGORY_DEVICE_AUDIO_INPUT, AV_CLASS_CATEGORY_DEVICE_VIDEO_INPUT};
        let devices = [AV_CLASS_CATEGORY_DEVICE_VIDEO_INPUT, AV_CLASS_CATEGORY_DEVICE_AUDIO_INPUT];
        !class.is_null() && devices.contains(&(*class).category)
    }
}

/// # Safety
/// `stream` is a stream of the open input `context`.
unsafe fn describe_stream(context: *mut ffi::AVFormatContext, stream: *mut ffi::AVStream) -> Stream {
    // SAFETY: by the caller's promise; the parameters are copied out.
    unsafe {
        let s = &*stream;
        let mut parameters = Parameters::new();
        ffi::avcodec_parameters_copy(parameters.as_mut_ptr(), s.codecpar);
        let kind = match (*s.codecpar).codec_type {
            ffi::AVMediaType::AVMEDIA_TYPE_VIDEO => Kind::Video,
            ffi::AVMediaType::AVMEDIA_TYPE_AUDIO => Kind::Audio,
            ffi::AVMediaType::AVMEDIA_TYPE_SUBTITLE => Kind::Subtitle,
            ffi::AVMediaType::AVMEDIA_TYPE_DATA => Kind::Data,
            ffi::AVMediaType::AVMEDIA_TYPE_ATTACHMENT => Kind::Attachment,
            _ => Kind::Unknown,
        };
        let positive = |q: ffi::AVRational| (q.num > 0 && q.den > 0).then(|| Rational::from(q));
        Stream {
            index: s.index as usize,
            kind,
            codec: text(ffi::avcodec_get_name((*s.codecpar).codec_id)),
            parameters,
            time_base: s.time_base.into(),
            frame_rate: positive(s.avg_frame_rate).or(positive(s.r_frame_rate)),
            base_rate: positive(s.r_frame_rate),
            sample_aspect_ratio: positive(ffi::av_guess_sample_aspect_ratio(context, stream, std::ptr::null_mut())),
            container_aspect_ratio: positive(s.sample_aspect_ratio),
            field_order: FieldOrder((*s.codecpar).field_order),
            start: (s.start_time != ffi::AV_NOPTS_VALUE).then_some(s.start_time),
            frames: u64::try_from(s.nb_frames).ok().filter(|&frames| frames > 0),
            metadata: entries(s.metadata),
            disposition: s.disposition,
            side_data: StreamSideData::of(stream),
            cover: cover(s),
        }
    }
}

/// The picture of a stream that is one.
fn cover(stream: &ffi::AVStream) -> Option<Vec<u8>> {
    let packet = &stream.attached_pic;
    let attached = stream.disposition & ffi::AV_DISPOSITION_ATTACHED_PIC != 0 && !packet.data.is_null();
    // SAFETY: FFmpeg keeps `size` bytes at `data`.
    attached.then(|| unsafe { std::slice::from_raw_parts(packet.data, packet.size as usize) }.to_vec())
}

impl Drop for Demuxer {
    fn drop(&mut self) {
        // SAFETY: opened in `open`, closed nowhere else.
        unsafe { ffi::avformat_close_input(&mut self.ptr) };
    }
}

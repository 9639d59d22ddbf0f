//! Opens an input and reads its packets.
#![allow(unsafe_code, reason = "FFI")]

use super::custom_io::CustomIo;
use super::images::{GivePackets, Images, OpenImage, Sequence, open_images};
use super::media::{CodecParameters, entries, set_entries};
use super::opens::Opens;
use super::protocols::{self, OpenError};
use super::{Chapter, Interrupt, Media, Metadata, Programme, Stream};
use crate::ffmpeg::decode::decoder::LOWEST_LIMIT;
use crate::ffmpeg::frame::StreamSideData;
use crate::ffmpeg::log::{message_names, refused_protocol};
use crate::ffmpeg::packet::Packet;
use crate::ffmpeg::{
    Error, MediaType, OUT_OF_MEMORY, c_string, check, location, microseconds, rescale, text, timecode_of,
};
use crate::sys::files::Name;
use ffmpeg_next::codec::Id;
use ffmpeg_next::{Rational, ffi};
use histeq::Limits;
use histeq::internal::frame::{HostPool, Pool};
use std::collections::VecDeque;
use std::ffi::CStr;
use std::fs::File;
use std::io::{Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of memory that a decoder uses for each pixel while a stream is probed: measured, 2.4 for 8-bit H.264.
const PROBED: usize = 3;

/// The most packets that are read ahead to find a timecode.
const AHEAD: usize = 32;

/// How many inputs are being opened.
static OPENING: AtomicUsize = AtomicUsize::new(0);

/// Whether an input is being opened. Some demuxers do not check for an interruption then.
pub fn is_opening() -> bool {
    OPENING.load(Ordering::Relaxed) > 0
}

/// While this value exists, an input is being opened.
struct Opening;

impl Opening {
    fn begin() -> Self {
        OPENING.fetch_add(1, Ordering::Relaxed);
        Opening
    }
}

impl Drop for Opening {
    fn drop(&mut self) {
        OPENING.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What an input is read from.
pub enum ReadFrom {
    /// The file or URL that the input's name gives.
    Url,
    /// A pipe.
    Reader(Box<dyn Read + Send>),
    /// This open file. The demuxer may open no other file.
    File(File),
    /// Numbered images.
    Images(Sequence, OpenImage),
    /// Raw frames, whose format the options give, and the name to report for the demuxer.
    Frames(Box<dyn GivePackets>, &'static str),
}

/// FFmpeg's demuxer for images.
const IMAGES: &str = "image2";

/// The frame rate of a stream: the average, or else the lowest rate that represents all timestamps. For DV, FFmpeg 9
/// gives the inverse of the time base as the average: the lowest rate is used instead.
fn frame_rate(average: Option<Rational>, lowest: Option<Rational>, time_base: Rational) -> Option<Rational> {
    let is_unit = average.is_some_and(|rate| rate == time_base.invert() && f64::from(rate) > 1000.0);
    if is_unit { lowest.or(average) } else { average.or(lowest) }
}

/// FFmpeg's demuxer for raw frames.
const FRAMES: &str = "rawvideo";

/// An open input.
pub struct Demuxer {
    ptr: *mut ffi::AVFormatContext,
    /// The description of the input.
    pub media: Media,
    /// Given options that the demuxer does not have.
    ignored: Metadata,
    /// For devices, the memory that packets are copied to. A driver has only a few buffers, which are freed when the
    /// device is closed. Packets of containers and protocols own their bytes.
    copies: Option<Arc<dyn Pool>>,
    /// Packets that were read ahead.
    ahead: VecDeque<Packet>,
    /// The limits of its packets' copies, and of its decoders.
    pub limits: Limits,
    /// Numbered images, of which the context has read the first.
    images: Option<Images>,
    // The context uses `_io` and `opens` until it is closed (see `Drop`).
    _io: Option<CustomIo>,
    opens: Box<Opens>,
}

// SAFETY: the context is used by one thread at a time, the one that owns the Demuxer.
unsafe impl Send for Demuxer {}

impl Demuxer {
    /// Opens `url`, or reads from `source`, and probes the streams. `format` is FFmpeg's name of a demuxer, for inputs
    /// that cannot be probed. `interrupt` ends a read that waits. Frames that are probed keep to `limits`.
    ///
    /// # Errors
    /// When it cannot be opened, FFmpeg does not recognize it, or it refers to a protocol that is not allowed for it.
    pub fn open(
        url: &Name,
        source: ReadFrom,
        format: Option<&str>,
        options: &[(String, String)],
        interrupt: impl Into<Interrupt>,
        limits: &Limits,
    ) -> Result<Self, OpenError> {
        crate::ffmpeg::init();
        let _opening = Opening::begin();
        crate::ffmpeg::last_message();
        refused_protocol();
        let opens = Box::new(Opens::new(interrupt.into()));
        let (mut images, mut is_called) = (None, None);
        let is_pipe = matches!(source, ReadFrom::Reader(_));
        let failed = |error: std::io::Error| Error::Other { errno: error.raw_os_error().unwrap_or(libc::EIO) };
        let io = match source {
            ReadFrom::Url => None,
            ReadFrom::Reader(reader) => Some(CustomIo::new(reader)?),
            ReadFrom::File(file) => Some(CustomIo::for_file(file)?),
            ReadFrom::Images(sequence, open) => {
                let (first, all) = open_images(sequence, open).map_err(failed)?;
                opens.serve(first);
                images = Some(all);
                None
            }
            ReadFrom::Frames(mut sequence, demuxer) => {
                let first = Cursor::new(sequence.packet(0)?.data().to_vec());
                (images, is_called) = (Some(Images::new(sequence)), Some(demuxer));
                Some(CustomIo::new(Box::new(first))?)
            }
        };
        let format = match (&images, is_called) {
            (Some(_), Some(_)) => Some(FRAMES),
            (Some(_), None) => Some(IMAGES),
            (None, _) => format,
        };
        let found = match (format, &io) {
            (Some(name), _) => demuxer_named(name)?,
            (None, Some(io)) => io.probe(&location(url)).map_err(|error| {
                // From FFmpeg 7.1 on, an HLS list without the file name extension is not recognized.
                let is_list = is_pipe && message_names("Not detecting m3u8/hls");
                if is_list { OpenError::Playlist("hls".to_owned()) } else { error.into() }
            })?,
            (None, None) => std::ptr::null(),
        };
        // SAFETY: null or a constant of the library.
        let (is_device, demuxer) = unsafe { (is_device(found), found.as_ref().map(|format| text(format.name))) };
        if let (None, Some(playlist)) = (format, demuxer.filter(|name| protocols::is_playlist(name))) {
            return Err(OpenError::Playlist(playlist.split(',').next().unwrap_or_default().to_owned()));
        }
        // The name of a device is not a path.
        let place = if is_device { c_string(url) } else { location(url) };
        let allowed = match &io {
            _ if is_device => None,
            Some(_) => Some(protocols::pipe_protocols(format).to_owned()),
            None => Some(protocols::url_protocols(&place.to_string_lossy())),
        };
        let whitelist = allowed.iter().map(|allowed| ("protocol_whitelist".to_owned(), allowed.clone()));
        // The name of the first image is no pattern, even if it has a per cent sign.
        let is_pattern = images.is_some() && is_called.is_none();
        let whitelist = whitelist.chain(is_pattern.then(|| ("pattern_type".to_owned(), "none".to_owned())));
        let options: Vec<(String, String)> = options.iter().cloned().chain(whitelist).collect();
        let opened = Self::open_as(&place, io, found, is_device, &options, (opens, limits));
        let mut opened = opened.map_err(|error| match (refused_protocol(), allowed) {
            (Some(protocol), Some(allowed)) => {
                OpenError::Protocol { protocol, input: protocols::kind_of_input(&allowed) }
            }
            // FFmpeg has no error code for HTTP 410 (gone).
            _ if matches!(error, OpenError::Ffmpeg(Error::HttpOther4xx)) && message_names("HTTP error 410") => {
                OpenError::Ffmpeg(Error::HttpNotFound)
            }
            _ => error,
        })?;
        if let (Some(images), 1) = (&images, opened.media.streams.len()) {
            opened.media.set_images(0, usize::try_from(images.count()).unwrap_or(usize::MAX));
        }
        if let Some(demuxer) = is_called {
            opened.media.demuxer = demuxer.to_owned();
        }
        opened.images = images;
        opened.media.check_bounds()?;
        Ok(opened)
    }

    fn open_as(
        place: &CStr,
        io: Option<CustomIo>,
        format: *const ffi::AVInputFormat,
        is_device: bool,
        options: &[(String, String)],
        (opens, limits): (Box<Opens>, &Limits),
    ) -> Result<Self, OpenError> {
        let mut dictionary = std::ptr::null_mut();
        // SAFETY: the context is allocated here, and freed by `avformat_open_input` when that fails, else by `Drop`.
        // Reader and `opens` outlive it: the Demuxer owns all three and closes the context first.
        unsafe {
            let mut ptr = ffi::avformat_alloc_context();
            if ptr.is_null() {
                return Err(OUT_OF_MEMORY.into());
            }
            opens.bound(ptr);
            if let Some(io) = &io {
                (*ptr).pb = io.as_ptr();
            }
            set_entries(&mut dictionary, options);
            if is_device {
                // Cameras then return EAGAIN instead of waiting, which could not be interrupted.
                (*ptr).flags |= ffi::AVFMT_FLAG_NONBLOCK;
            }
            let opened = ffi::avformat_open_input(&mut ptr, place.as_ptr(), format.cast_mut().cast(), &mut dictionary);
            let ignored = entries(dictionary);
            ffi::av_dict_free(&mut dictionary);
            check(opened).map_err(|error| opens.error(error))?;
            let media = Media { demuxer: text((*(*ptr).iformat).name), ..Media::default() };
            // FFmpeg recognizes some devices by their names (`/dev/video0`), without a format.
            let copies: Option<Arc<dyn Pool>> = match self::is_device((*ptr).iformat) {
                true => Some(Arc::new(HostPool::new(limits))),
                false => None,
            };
            let (limits, ahead) = (limits.clone(), VecDeque::new());
            let mut demuxer = Demuxer { ptr, media, ignored, copies, ahead, limits, images: None, _io: io, opens };
            demuxer.check_pictures()?;
            demuxer.probe().map_err(|error| demuxer.opens.error(error))?;
            demuxer.opens.streams_are_known().map_or(Ok(()), Err)?;
            demuxer.describe();
            demuxer.find_timecode().map_err(|error| demuxer.opens.error(error))?;
            Ok(demuxer)
        }
    }

    /// Checks that a frame of each video stream fits into memory: FFmpeg opens a decoder for each to probe it.
    fn check_pictures(&self) -> Result<(), OpenError> {
        // SAFETY: the context is open, and each of its streams has parameters.
        let sizes = unsafe {
            let count = (*self.ptr).nb_streams as usize;
            let parameters = (0..count).map(|index| &*(**(*self.ptr).streams.add(index)).codecpar);
            let videos = parameters.filter(|one| one.codec_type == ffi::AVMediaType::AVMEDIA_TYPE_VIDEO);
            videos.map(|one| (one.width.max(0) as usize).saturating_mul(one.height.max(0) as usize)).collect::<Vec<_>>()
        };
        let needed = sizes.iter().fold(0, |all: usize, pixels| all.saturating_add(pixels.saturating_mul(PROBED)));
        // A single video is checked later, when its pixel format is known.
        match sizes.len() {
            streams @ 2.. if needed > self.limits.memory() => {
                // One frame of each video stream, in MiB.
                let needed = needed >> 20;
                Err(OpenError::Limit(format!(
                    "its {streams} video streams have frames of {needed} MiB, more than --max-memory (give more, or \
                     take one stream: ffmpeg -i IN -map 0:v:0 -map 0:a? -c copy OUT)"
                )))
            }
            _ => Ok(()),
        }
    }

    /// Finds the parameters of the streams, for which the first frames of some are decoded.
    fn probe(&mut self) -> Result<(), Error> {
        // FFmpeg checks padded rows against this limit, so it is doubled. The size that FFmpeg finds is checked
        // afterwards.
        let most = self.limits.pixels().saturating_mul(2).clamp(LOWEST_LIMIT, i64::MAX as u64);
        let most = [("max_pixels".to_owned(), most.to_string())];
        // SAFETY: the context is open, and none of its streams goes away; each so far has its dictionary, which is
        // freed afterwards.
        unsafe {
            let count = (*self.ptr).nb_streams as usize;
            let parameters: Vec<_> = (0..count).map(|index| (**(*self.ptr).streams.add(index)).codecpar).collect();
            let sizes: Vec<_> = parameters.iter().map(|&one| ((*one).width, (*one).height)).collect();
            let mut options = vec![std::ptr::null_mut(); parameters.len()];
            options.iter_mut().for_each(|dictionary| set_entries(dictionary, &most));
            let list = if options.is_empty() { std::ptr::null_mut() } else { options.as_mut_ptr() };
            let probed = check(ffi::avformat_find_stream_info(self.ptr, list));
            options.iter_mut().for_each(|dictionary| ffi::av_dict_free(dictionary));
            // Decoders set a size that they refuse to 0: restore it.
            for (&one, size) in parameters.iter().zip(sizes).filter(|(one, _)| (***one).width == 0) {
                ((*one).width, (*one).height) = size;
            }
            probed.map(drop)
        }
    }

    /// Reads the timecode of a mov or mp4 file from a pipe, where FFmpeg cannot seek to the packet with the timecode.
    /// In most files, that packet comes before the first frame.
    fn find_timecode(&mut self) -> Result<(), Error> {
        // SAFETY: the context is open; what it reads from is null or valid.
        let can_seek = unsafe { (*self.ptr).pb.as_ref() }.is_none_or(|io| io.seekable & ffi::AVIO_SEEKABLE_NORMAL != 0);
        let lacks_it = |stream: &Stream| stream.is_timecode() && stream.tag("timecode").is_none();
        let Some(track) = self.media.streams.iter().position(lacks_it).filter(|_| !can_seek) else { return Ok(()) };
        for _ in 0..AHEAD {
            let Some(packet) = self.read_next()? else { break };
            let (stream, number) = (packet.stream(), packet.data().first_chunk().copied().map(i32::from_be_bytes));
            self.ahead.push_back(packet);
            if stream == track {
                let described = &self.media.streams[track];
                // Bit 0 is for drop-frame timecodes, bit 1 for a wrap after 24 hours.
                let flags = described.header().get(7).map_or(0, |flags| i32::from(flags & 3));
                let found =
                    number.zip(described.frame_rate).and_then(|(number, rate)| timecode_of(number, rate, flags));
                let Some(timecode) = found else { break };
                let shown = self
                    .media
                    .streams
                    .iter_mut()
                    .filter(|described| described.index == track || described.kind == MediaType::Video);
                shown.for_each(|described| described.metadata.push(("timecode".to_owned(), timecode.clone())));
                break;
            }
        }
        Ok(())
    }

    /// Copies the packets of a device into memory of `pool` from now on. Packets of other inputs are not copied.
    pub fn use_pool(&mut self, pool: Arc<dyn Pool>) {
        if self.copies.is_some() {
            self.copies = Some(pool);
        }
    }

    /// Whether this option was given, but the demuxer does not have it.
    pub fn ignores(&self, option: &str) -> bool {
        self.ignored.iter().any(|(key, _)| key == option)
    }

    /// The index of FFmpeg's default video stream; cover art does not count.
    pub fn best_video(&self) -> Option<usize> {
        // SAFETY: the context is open.
        let best = unsafe {
            let video = ffi::AVMediaType::AVMEDIA_TYPE_VIDEO;
            ffi::av_find_best_stream(self.ptr, video, -1, -1, std::ptr::null_mut(), 0)
        };
        usize::try_from(best).ok().filter(|&index| !self.media.streams[index].is_attached_picture())
    }

    /// How many packets of a stream the index lists after the time `dts`, and in all.
    pub fn indexed_after(&self, stream: usize, dts: i64) -> (u64, u64) {
        // SAFETY: the context is open; indexing checks the number of the stream, and entries are read before the next
        // call can change them.
        unsafe {
            let streams = std::slice::from_raw_parts((*self.ptr).streams, (*self.ptr).nb_streams as usize);
            let count = ffi::avformat_index_get_entries_count(streams[stream]);
            let time = |index| ffi::avformat_index_get_entry(streams[stream], index).as_ref().map(|e| e.timestamp);
            let after = (0..count).rev().take_while(|&index| time(index).is_some_and(|time| time > dts)).count();
            (after as u64, u64::try_from(count).unwrap_or(0))
        }
    }

    /// Discards all further packets of this stream.
    pub fn discard(&mut self, index: usize) {
        // SAFETY: the context is open; indexing checks the number of the stream.
        unsafe {
            let streams = std::slice::from_raw_parts((*self.ptr).streams, (*self.ptr).nb_streams as usize);
            (*streams[index]).discard = ffi::AVDiscard::AVDISCARD_ALL;
        }
    }

    /// Seeks to the last key frame at or before `time` (microseconds).
    ///
    /// # Errors
    /// When the input cannot seek.
    pub fn seek(&mut self, time: i64) -> Result<(), Error> {
        self.ahead.clear();
        if let Some(images) = &mut self.images {
            let base = self.media.streams[0].time_base;
            // The last image that begins at or before `time`.
            let place = rescale(time, microseconds(), base);
            images.go_to(if rescale(place, base, microseconds()) > time { place - 1 } else { place });
            return Ok(());
        }
        // SAFETY: the context is open.
        check(unsafe { ffi::avformat_seek_file(self.ptr, -1, i64::MIN, time, time, 0) })?;
        Ok(())
    }

    /// Seeks to the beginning.
    ///
    /// # Errors
    /// When the input cannot seek.
    pub fn rewind(&mut self) -> Result<(), Error> {
        self.ahead.clear();
        if let Some(images) = &mut self.images {
            images.go_to(0);
            return Ok(());
        }
        // Where the clock may jump, several packets may have the start time: seek by bytes.
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
        match self.ahead.pop_front() {
            Some(packet) => Ok(Some(packet)),
            None => self.read_next(),
        }
    }

    fn read_next(&mut self) -> Result<Option<Packet>, Error> {
        crate::ffmpeg::note_activity();
        if let Some(images) = &mut self.images {
            return if self.opens.is_due() { Err(Error::Exit) } else { images.read() };
        }
        loop {
            let mut packet = Packet::new();
            // SAFETY: the context is open, the packet valid.
            match check(unsafe { ffi::av_read_frame(self.ptr, packet.as_mut_ptr()) }) {
                // A stream that appeared after opening (for example in a transport stream) has no output stream: skip
                // it.
                Ok(_) if packet.stream() >= self.media.streams.len() => {}
                Ok(_) => return self.owned(packet).map(Some),
                Err(Error::Eof) => return Ok(None),
                Err(Error::Other { errno: libc::EAGAIN }) if self.opens.is_due() => return Err(Error::Exit),
                Err(Error::Other { errno: libc::EAGAIN }) => std::thread::sleep(std::time::Duration::from_millis(1)),
                Err(error) => return Err(error),
            }
        }
    }

    /// Copies a packet of a device out of the driver's memory; returns others as they are.
    fn owned(&self, packet: Packet) -> Result<Packet, Error> {
        let codec = self.media.streams[packet.stream()].parameters.id();
        // Wrapped frames are reference-counted, and need no copy.
        let Some(pool) = self.copies.as_ref().filter(|_| codec != Id::WRAPPED_AVFRAME) else { return Ok(packet) };
        let buffer = pool.buffer(packet.padded_len());
        packet.copied_into(buffer.unwrap_or_else(|_| Box::new(HostPool::new(&self.limits).take(packet.padded_len()))))
    }

    /// Whether the input's format has no timestamps: FFmpeg counts frames instead, at a rate that the input states or
    /// FFmpeg assumes. Formats with the option `framerate` have no timestamps, except devices.
    pub fn assumes_times(&self) -> bool {
        // SAFETY: the context is open. With FAKE_OBJ, `av_opt_find` takes a pointer to a pointer to a class in place of
        // an object.
        unsafe {
            let format = &*(*self.ptr).iformat;
            let class = (&raw const format.priv_class).cast_mut().cast();
            let takes_rate = !format.priv_class.is_null()
                && !ffi::av_opt_find(class, c"framerate".as_ptr(), std::ptr::null(), 0, ffi::AV_OPT_SEARCH_FAKE_OBJ)
                    .is_null();
            format.flags & ffi::AVFMT_NOTIMESTAMPS != 0 || takes_rate && format.flags & ffi::AVFMT_NOFILE == 0
        }
    }

    fn describe(&mut self) {
        let known = |time: i64| (time != ffi::AV_NOPTS_VALUE).then_some(time);
        // SAFETY: the context is open; its arrays of streams, chapters and programmes have the given lengths, as has
        // the list of the streams of each programme.
        unsafe {
            let context = &*self.ptr;
            self.media.start = known(context.start_time);
            self.media.may_jump = (*context.iformat).flags & ffi::AVFMT_TS_DISCONT != 0;
            // A duration guessed from the bit rate is too inexact.
            let guessed =
                context.duration_estimation_method == ffi::AVDurationEstimationMethod::AVFMT_DURATION_FROM_BITRATE;
            // Matroska and mov count the duration from 0, wherever the first frame is.
            let from_zero = ["matroska", "mov"].iter().any(|name| self.media.demuxer.starts_with(name));
            let late = known(context.start_time).filter(|_| from_zero).map_or(0, |start| start.max(0));
            let length = known(context.duration).map(|end| if end > late { end - late } else { end });
            self.media.duration = length.filter(|&duration| duration > 0 && !guessed);
            self.media.metadata = entries(context.metadata);
            self.media.streams = (0..context.nb_streams as usize)
                .map(|index| describe_stream(self.ptr, *context.streams.add(index)))
                .collect();
            let count = self.media.streams.len();
            // Only programmes of MPEG-TS count: those of HLS are the same video in several qualities.
            let programmes = if self.media.demuxer == "mpegts" { context.nb_programs as usize } else { 0 };
            self.media.programmes = (0..programmes)
                .filter_map(|index| {
                    let programme = &**context.programs.add(index);
                    let members = (0..programme.nb_stream_indexes as usize)
                        .map(|entry| *programme.stream_index.add(entry) as usize);
                    let streams = members.filter(|&stream| stream < count).collect();
                    let number = u16::try_from(programme.id).ok()?;
                    Some(Programme { number, streams, metadata: entries(programme.metadata) })
                })
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

fn demuxer_named(name: &str) -> Result<*const ffi::AVInputFormat, Error> {
    // SAFETY: a NUL-terminated name.
    let found = unsafe { ffi::av_find_input_format(c_string(name).as_ptr()) };
    if found.is_null() { Err(Error::DemuxerNotFound) } else { Ok(found) }
}

/// Whether the demuxer of this name opens more than one file: a playlist, a device, a script. Numbered images do not
/// count: they are in one folder.
pub fn opens_more(name: &str) -> bool {
    crate::ffmpeg::init();
    let Ok(found) = demuxer_named(name) else { return false };
    // SAFETY: a constant of the library.
    let (name, flags) = unsafe { (text((*found).name), (*found).flags) };
    protocols::is_playlist(&name) || name != IMAGES && flags & ffi::AVFMT_NOFILE != 0
}

/// Whether it is an input device (such as a camera) rather than a container.
///
/// # Safety
/// `format` is null or a constant of the library.
unsafe fn is_device(format: *const ffi::AVInputFormat) -> bool {
    // SAFETY: by the caller's promise; a class is null or a constant, too.
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
        let positive = |q: ffi::AVRational| (q.num > 0 && q.den > 0).then(|| Rational::from(q));
        Stream {
            index: s.index as usize,
            kind: (*s.codecpar).codec_type.into(),
            codec: text(ffi::avcodec_get_name((*s.codecpar).codec_id)),
            parameters: CodecParameters::copied(s.codecpar),
            time_base: s.time_base.into(),
            frame_rate: frame_rate(positive(s.avg_frame_rate), positive(s.r_frame_rate), s.time_base.into()),
            base_rate: positive(s.r_frame_rate),
            sample_aspect_ratio: positive(ffi::av_guess_sample_aspect_ratio(context, stream, std::ptr::null_mut())),
            container_aspect_ratio: positive(s.sample_aspect_ratio),
            field_order: (*s.codecpar).field_order.into(),
            start: (s.start_time != ffi::AV_NOPTS_VALUE).then_some(s.start_time),
            frames: u64::try_from(s.nb_frames).ok().filter(|&frames| frames > 0),
            metadata: entries(s.metadata),
            disposition: s.disposition,
            side_data: StreamSideData::from_stream(stream),
            cover: cover(s),
        }
    }
}

/// The image of a stream that is cover art.
fn cover(stream: &ffi::AVStream) -> Option<Vec<u8>> {
    let packet = &stream.attached_pic;
    let attached = stream.disposition & ffi::AV_DISPOSITION_ATTACHED_PIC != 0 && !packet.data.is_null();
    // SAFETY: the packet has `size` bytes at `data`.
    attached.then(|| unsafe { std::slice::from_raw_parts(packet.data, packet.size as usize) }.to_vec())
}

impl Drop for Demuxer {
    fn drop(&mut self) {
        self.opens.forget_context();
        // SAFETY: opened in `open`, closed nowhere else.
        unsafe { ffi::avformat_close_input(&mut self.ptr) };
    }
}

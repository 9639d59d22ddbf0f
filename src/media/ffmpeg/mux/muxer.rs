//! Writes packets into a container.
#![allow(unsafe_code, reason = "FFI")]

use super::Container;
use crate::ffmpeg::demux::media::{entries, set_entries};
use crate::ffmpeg::demux::{Interrupt, Metadata};
use crate::ffmpeg::{Error, MediaType, Packet, check, location, rescale};
use crate::sys::files::{Name, by_descriptor, create_regular};
use anyhow::{Context as _, Result, anyhow, bail};
use ffmpeg_next::{Rational, ffi};
use std::ffi::{CStr, OsStr, c_char, c_int};
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

/// How long before its decoding time a packet may arrive at a receiver, in microseconds, as in the ffmpeg program. In
/// MPEG, the system clock is late by this time.
pub const MUX_DELAY: i64 = 700_000;

/// The delay for a live stream, for low latency. It also limits how long audio is collected for one packet.
const LIVE_MUX_DELAY: i64 = 100_000;

/// How long a call may wait for the reader of a pipe after cancellation.
const PATIENCE: Duration = Duration::from_secs(1);

/// Codecs whose parameters are in the index of mp4 and mov files, and that cannot be decoded without them.
const DESCRIBED: [ffi::AVCodecID; 5] = {
    use ffi::AVCodecID::{AV_CODEC_ID_AAC, AV_CODEC_ID_AV1, AV_CODEC_ID_H264, AV_CODEC_ID_HEVC, AV_CODEC_ID_MPEG4};
    [AV_CODEC_ID_AAC, AV_CODEC_ID_AV1, AV_CODEC_ID_H264, AV_CODEC_ID_HEVC, AV_CODEC_ID_MPEG4]
};

/// A stream of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputStream(pub(super) usize);

/// An open output.
pub struct Muxer {
    pub(super) ptr: *mut ffi::AVFormatContext,
    pub(super) container: Container,
    header_written: bool,
    /// For each stream, the decoding time of its last packet, in the stream's time base.
    pub(super) last_dts: Vec<Option<i64>>,
    /// The first error of a file that the muxer itself has opened, which FFmpeg does not report; 0 for none.
    failed: Box<AtomicI32>,
    /// Ends a wait for the server of a live stream, or for the reader of a pipe. The context's callback points to it.
    interrupt: Option<Box<Interrupt>>,
    is_network: bool,
    /// The first decoding time of a live stream, in microseconds.
    first_dts: Option<i64>,
}

/// Returns `code`, and keeps it if it is the first error of a file that a muxer opens.
///
/// # Safety
/// The context is the Muxer's, or one that copied its `opaque`, which points to a number that outlives both.
unsafe fn kept(context: *mut ffi::AVFormatContext, code: i32) -> i32 {
    // SAFETY: by the caller's promise.
    if let Some(failed) = unsafe { (*context).opaque.cast::<AtomicI32>().as_ref() }.filter(|_| code < 0) {
        let _ = failed.compare_exchange(0, code, Ordering::Relaxed, Ordering::Relaxed);
    }
    code
}

/// Opens a file for a muxer that opens its own files. A file to write has to be a regular file and no link: it is
/// opened here, and FFmpeg gets its descriptor, so that nothing can replace it after the check.
unsafe extern "C" fn open_file(
    context: *mut ffi::AVFormatContext,
    pb: *mut *mut ffi::AVIOContext,
    url: *const c_char,
    flags: c_int,
    options: *mut *mut ffi::AVDictionary,
) -> c_int {
    // SAFETY: FFmpeg calls this for a valid context, with what its own function takes.
    unsafe {
        let name = CStr::from_ptr(url).to_bytes();
        let path = name.strip_prefix(b"file:").unwrap_or(name);
        let is_written = flags & ffi::AVIO_FLAG_WRITE != 0 && !path.windows(3).any(|part| part == b"://");
        let file = is_written.then(|| create_regular(OsStr::from_bytes(path))).transpose();
        let (file, callback) = match file {
            Ok(file) => (file, &(*context).interrupt_callback),
            Err(error) => return kept(context, ffi::AVERROR(error.raw_os_error().unwrap_or(libc::ELOOP))),
        };
        let place = file.as_ref().and_then(by_descriptor).map(location);
        ffi::avio_open2(pb, place.as_deref().map_or(url, CStr::as_ptr), flags, callback, options)
    }
}

/// Closes a file of a muxer that opens its own files, and keeps the error.
unsafe extern "C" fn close_file(context: *mut ffi::AVFormatContext, pb: *mut ffi::AVIOContext) -> i32 {
    // SAFETY: the context is as `kept` wants it. The file is open, and not used afterwards.
    unsafe {
        ffi::avio_flush(pb);
        let error = (*pb).error;
        let closed = ffi::avio_close(pb);
        kept(context, if error < 0 { error } else { closed })
    }
}

// SAFETY: the context is used by one thread at a time, the one that owns the Muxer.
unsafe impl Send for Muxer {}

impl Muxer {
    /// Opens `url` for writing in this container format. For a pipe, the interrupt limits the wait for a stalled reader
    /// after cancellation. For a live stream, it ends all waits, and `protocol` has the options of the connection.
    ///
    /// # Errors
    /// When it cannot be opened, or the connection fails.
    pub fn open(
        container: Container,
        url: &Name,
        interrupt: Option<Interrupt>,
        protocol: Option<&[(String, String)]>,
    ) -> Result<Self, Error> {
        let (is_network, interrupt) = (protocol.is_some(), interrupt.map(Box::new));
        interrupt.iter().filter(|_| !is_network).for_each(|interrupt| interrupt.set_grace(PATIENCE));
        crate::ffmpeg::init();
        crate::ffmpeg::last_message();
        let url = location(url);
        // SAFETY: `muxer` owns the context from the start, and frees it in `Drop`.
        unsafe {
            let mut ptr = std::ptr::null_mut();
            let (none, format) = (std::ptr::null(), container.format.cast_mut().cast());
            check(ffi::avformat_alloc_output_context2(&mut ptr, format, none, url.as_ptr()))?;
            let (failed, last_dts) = (Box::default(), Vec::new());
            let (header_written, first_dts) = (false, None);
            let muxer = Muxer { ptr, container, header_written, last_dts, failed, interrupt, is_network, first_dts };
            if container.is_m2ts {
                check(ffi::av_opt_set_int((*ptr).priv_data, c"mpegts_m2ts_mode".as_ptr(), 1, 0))?;
            }
            if container.writes_segments() || container.is_images() {
                (*ptr).opaque = (&raw const *muxer.failed).cast_mut().cast();
                (*ptr).io_close2 = Some(close_file);
            }
            // Images are not opened here: the caller passes the descriptors of files without names.
            if container.writes_segments() {
                (*ptr).io_open = Some(open_file);
            }
            // FFmpeg 5 marks FLAC in mp4 as experimental; players support it.
            (*ptr).strict_std_compliance = ffi::FF_COMPLIANCE_EXPERIMENTAL;
            (*ptr).max_delay = MUX_DELAY as i32;
            if is_network {
                (*ptr).max_delay = LIVE_MUX_DELAY as i32;
            }
            if let Some(interrupt) = &muxer.interrupt {
                (*ptr).interrupt_callback = interrupt.callback();
            }
            if container.needs_file() {
                let (write, callback) = (ffi::AVIO_FLAG_WRITE, &(*ptr).interrupt_callback);
                let mut dictionary = std::ptr::null_mut();
                set_entries(&mut dictionary, protocol.unwrap_or_default());
                let opened = ffi::avio_open2(&mut (*ptr).pb, url.as_ptr(), write, callback, &mut dictionary);
                ffi::av_dict_free(&mut dictionary);
                check(opened)?;
            }
            Ok(muxer)
        }
    }

    /// Its container format.
    pub fn container(&self) -> Container {
        self.container
    }

    /// Whether written bytes can be read and changed again, as in a file, but not in a pipe.
    pub fn is_seekable(&self) -> bool {
        // SAFETY: the context is valid; its output is open, or null where the muxer opens its own.
        unsafe { (*self.ptr).pb.as_ref().is_some_and(|pb| pb.seekable & ffi::AVIO_SEEKABLE_NORMAL != 0) }
    }

    /// Sets metadata of the whole file.
    pub fn set_metadata(&mut self, metadata: &Metadata) {
        // SAFETY: the context is valid, its dictionary null or valid.
        unsafe { set_entries(&mut (*self.ptr).metadata, metadata) };
    }

    /// Adds this offset, in microseconds, to the times of all packets that are not yet written.
    pub fn set_time_offset(&mut self, offset: i64) {
        // SAFETY: the context is valid.
        unsafe { (*self.ptr).output_ts_offset = offset };
    }

    /// Sets the frame rate of `stream`, in frames a second.
    pub fn set_frame_rate(&mut self, stream: OutputStream, rate: Rational) {
        // SAFETY: the stream is one of this context.
        unsafe { (**(*self.ptr).streams.add(stream.0)).avg_frame_rate = rate.into() };
    }

    /// Tells the muxers of animated images how long the last picture is shown, in microseconds: they cannot derive it
    /// from the next packet.
    ///
    /// # Errors
    /// When the muxer does not take it.
    pub fn set_last_duration(&mut self, duration: i64) -> Result<(), Error> {
        // SAFETY: the context has the muxer's own options, which the muxer reads when it ends the file.
        unsafe {
            let (options, name) = ((*self.ptr).priv_data, c"final_delay".as_ptr());
            match self.container.name().as_str() {
                "gif" => {
                    let hundredths =
                        rescale(duration, crate::ffmpeg::microseconds(), Rational::new(1, 100)).clamp(1, 65_535);
                    check(ffi::av_opt_set_int(options, name, hundredths, 0))
                }
                "apng" => {
                    let milliseconds = (duration / 1000).clamp(1, 65_535) as i32;
                    check(ffi::av_opt_set_q(options, name, Rational::new(milliseconds, 1000).into(), 0))
                }
                _ => Ok(0),
            }
        }
        .map(drop)
    }

    /// Writes the header. Streams can be added only before, packets written only after.
    ///
    /// # Errors
    /// When the container cannot hold the streams, lacks an option, or cannot be written.
    pub fn write_header(&mut self, options: &[(String, String)]) -> Result<()> {
        crate::ffmpeg::last_message();
        let mut dictionary = std::ptr::null_mut();
        // SAFETY: the context has its streams; the dictionary is ours.
        let (written, unknown, is_of_file) = unsafe {
            set_entries(&mut dictionary, options);
            let written = check(ffi::avformat_write_header(self.ptr, &mut dictionary));
            let unknown = entries(dictionary);
            ffi::av_dict_free(&mut dictionary);
            // Some muxers open files and connections of their own.
            let is_of_file = self.is_network || (*self.ptr).pb.as_ref().is_none_or(|pb| pb.error < 0);
            (written, unknown, is_of_file)
        };
        let reason = crate::ffmpeg::last_message().map(|message| format!(" ({message})")).unwrap_or_default();
        let name = self.container.name();
        if written.is_err() && reason.contains("non seekable") {
            bail!("a {name} file cannot be written into a pipe (--output-format matroska, nut or mpegts can)");
        }
        // The error code counts only if it is about the file: many muxers refuse streams with -1, which is also EPERM.
        let written = written.map_err(|error| if is_of_file { anyhow::Error::new(error) } else { anyhow!("{error}") });
        written.with_context(|| format!("cannot begin a {name} file{reason}"))?;
        self.header_written = true;
        if let Some((key, _)) = unknown.first() {
            bail!("container {name} has no option {key}");
        }
        Ok(())
    }

    /// Writes a packet whose times are in units of `time_base`; FFmpeg buffers it for interleaving. A decoding time
    /// that does not increase is delayed; returns the delay in microseconds (mostly 0).
    ///
    /// # Errors
    /// When writing fails.
    pub fn write(&mut self, mut packet: Packet, stream: OutputStream, time_base: Rational) -> Result<i64, Error> {
        self.begin_grace();
        if self.is_network
            && let Some(time) = packet.dts().map(|time| rescale(time, time_base, crate::ffmpeg::microseconds()))
        {
            // At each connection, an RTMP server gets times from zero on.
            if self.first_dts.is_none() && self.container.name() == "flv" {
                self.set_time_offset(-time);
            }
            if time < *self.first_dts.get_or_insert(time) {
                // Drop late audio from before the first picture: the FLV muxer would refuse it, and all packets after
                // it.
                return Ok(0);
            }
        }
        packet.set_stream(stream.0);
        // SAFETY: the header is written, and the stream is this output's. FFmpeg takes the packet's references.
        unsafe {
            let target = &**(*self.ptr).streams.add(stream.0);
            packet.rescale(time_base, target.time_base.into());
            packet.shift(self.delay_left_out(target));
            (*packet.as_mut_ptr()).pos = -1;
            // Equal times of subtitles and data are valid in any container.
            let kind = MediaType::from((*target.codecpar).codec_type);
            let is_strict = matches!(kind, MediaType::Video | MediaType::Audio);
            let least_step = i64::from(is_strict && !self.container.allows_equal_times());
            let last = self.last_dts[stream.0];
            let delay = last.map_or(0, |last| packet.delay_to(last.saturating_add(least_step)));
            self.last_dts[stream.0] = packet.dts().or(last);
            let delay = rescale(delay, target.time_base.into(), crate::ffmpeg::microseconds());
            check(ffi::av_interleaved_write_frame(self.ptr, packet.as_mut_ptr()))?;
            check(self.failed.load(Ordering::Relaxed))?;
            // The RTSP muxer does not report an interrupted write.
            match &self.interrupt {
                Some(interrupt) if self.is_network && interrupt.is_due() => Err(Error::Exit),
                _ => Ok(delay),
            }
        }
    }

    /// Writes a packet whose times are in units of `time_base` without buffering, so that an error is about this
    /// packet.
    ///
    /// # Errors
    /// When the muxer refuses it.
    pub fn write_alone(&mut self, mut packet: Packet, stream: OutputStream, time_base: Rational) -> Result<(), Error> {
        packet.set_stream(stream.0);
        // SAFETY: the header is written, and the stream is this output's. Null writes what the muxer still holds.
        unsafe {
            let target = &**(*self.ptr).streams.add(stream.0);
            packet.rescale(time_base, target.time_base.into());
            (*packet.as_mut_ptr()).pos = -1;
            check(ffi::av_write_frame(self.ptr, packet.as_mut_ptr()))?;
            check(ffi::av_write_frame(self.ptr, std::ptr::null_mut())).map(drop)
        }
    }

    /// Writes the buffered packets and the trailer, and closes the file. Returns the length of the file up to the end
    /// of the last write: all of the file, unless its index comes first.
    ///
    /// # Errors
    /// When writing fails, or an earlier write failed without a report.
    pub fn finish(mut self) -> Result<u64> {
        self.begin_grace();
        let is_file = |url: &CStr| {
            let name = url.to_bytes().strip_prefix(b"file:").unwrap_or(url.to_bytes());
            std::fs::metadata(OsStr::from_bytes(name)).is_ok_and(|metadata| metadata.is_file())
        };
        // SAFETY: the context's own name, which was set when it was opened.
        let is_readable = self.container.has_edit_lists() && is_file(unsafe { CStr::from_ptr((*self.ptr).url) });
        // SAFETY: the header is written; the file is closed once, here or in `drop`.
        unsafe {
            let trailer = check(ffi::av_write_trailer(self.ptr));
            self.header_written = false;
            let pb = (*self.ptr).pb;
            let earlier = if pb.is_null() { Ok(0) } else { check((*pb).error) };
            let bytes = if pb.is_null() { 0 } else { ffi::avio_seek(pb, 0, libc::SEEK_CUR) };
            let closed = self.close();
            let result = check(self.failed.load(Ordering::Relaxed));
            trailer.and(earlier).and(closed).and(result)?;
            if is_readable {
                self.check_index()?;
            }
            Ok(u64::try_from(bytes).unwrap_or(0))
        }
    }

    /// Reads the index of the file that has been written: FFmpeg's muxer of mp4 and mov leaves parts of it out where it
    /// has no memory for them, without an error.
    ///
    /// # Errors
    /// When a stream of [`DESCRIBED`] codecs lacks frames, or the parameters of its codec.
    ///
    /// # Safety
    /// The file is closed, and its streams are still those of the context.
    unsafe fn check_index(&self) -> Result<()> {
        // SAFETY: by the caller's promise, and the same for the context that is opened here: each has `nb_streams`
        // streams with parameters. It is closed here, and nowhere else.
        unsafe {
            let streams = |context: *const ffi::AVFormatContext| {
                let each = (0..(*context).nb_streams as usize).map(|index| &**(*context).streams.add(index));
                let described = each.filter(|stream| DESCRIBED.contains(&(*stream.codecpar).codec_id));
                let facts = described.map(|stream| (stream.nb_frames, (*stream.codecpar).extradata_size > 0));
                facts.collect::<Vec<_>>()
            };
            let mut written = std::ptr::null_mut();
            let none = std::ptr::null_mut();
            match check(ffi::avformat_open_input(&mut written, (*self.ptr).url, std::ptr::null_mut(), none)) {
                // This process may be allowed to write the file, but not to read it.
                Err(Error::Other { errno: libc::EACCES | libc::EPERM | libc::ENOENT | libc::ENXIO }) => return Ok(()),
                opened => opened.context("its index cannot be read again")?,
            };
            let (asked, found) = (streams(self.ptr), streams(written));
            ffi::avformat_close_input(&mut written);
            // In a fragmented file, each fragment has its own index, and the file's number of frames is 0.
            let is_there = |(&(frames, described), &(frames_found, described_found)): (&(i64, bool), &(i64, bool))| {
                (frames_found == 0 || frames_found >= frames) && (described_found || !described)
            };
            let are_there = |asked: &[_]| found.len() >= asked.len() && asked.iter().zip(&found).all(is_there);
            // A stream without packets has no track, except in fragmented files.
            let with_packets: Vec<_> = asked.iter().copied().filter(|(frames, _)| *frames > 0).collect();
            if !are_there(&asked) && !are_there(&with_packets) {
                bail!("its index is incomplete, most likely because memory ran out");
            }
        }
        Ok(())
    }

    /// The delay to add to the times of this stream, in its time base. In Matroska, the times of Opus count from the
    /// first decoded sample; the number of samples to skip is stored beside them. FFmpeg reads the times so, but before
    /// 6.0 does not write them so: each copy would be 6.5 ms earlier than its original.
    ///
    /// # Safety
    /// The stream is one of this context, whose header is written.
    unsafe fn delay_left_out(&self, stream: &ffi::AVStream) -> i64 {
        // SAFETY: by the caller's promise.
        let parameters = unsafe { &*stream.codecpar };
        let is_opus = parameters.codec_id == ffi::AVCodecID::AV_CODEC_ID_OPUS && parameters.sample_rate > 0;
        if cfg!(ffmpeg_6_0) || !is_opus || !matches!(self.container.name().as_str(), "matroska" | "webm") {
            return 0;
        }
        let rate = Rational::new(1, parameters.sample_rate);
        rescale(parameters.initial_padding.into(), rate, stream.time_base.into())
    }

    /// Restarts the time that a call may wait for the reader of a pipe after cancellation.
    fn begin_grace(&self) {
        self.interrupt.iter().filter(|_| !self.is_network).for_each(|interrupt| interrupt.begin_grace());
    }

    fn close(&mut self) -> Result<i32, Error> {
        if !self.container.needs_file() {
            return Ok(0);
        }
        // SAFETY: opened in `open`; afterwards the pointer is null, which a second call ignores.
        check(unsafe { ffi::avio_closep(&mut (*self.ptr).pb) })
    }
}

impl Drop for Muxer {
    fn drop(&mut self) {
        if self.is_network && self.header_written && !self.container.needs_file() {
            // A muxer that opens its own connection closes it when it writes the trailer.
            // SAFETY: the header is written, the trailer is not.
            unsafe { ffi::av_write_trailer(self.ptr) };
        }
        // After a failure, which has been reported, closing may fail again.
        let _ = self.close();
        // SAFETY: allocated in `open`, freed nowhere else.
        unsafe { ffi::avformat_free_context(self.ptr) };
    }
}

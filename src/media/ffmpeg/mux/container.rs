//! The containers that this FFmpeg writes: their properties, and the codecs that they can hold.
#![allow(unsafe_code, reason = "FFI")]

use crate::ffmpeg::demux::Stream;
use crate::ffmpeg::encode::TranscodeTo;
use crate::ffmpeg::{MediaType, c_string, text};
use ffmpeg_next::codec::Id;
use ffmpeg_next::ffi;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The codecs of containers for which FFmpeg has no list. Their muxers write other codecs as private data, which no
/// player can read, or fail when they write the header.
const CODECS: &[(&[&str], &[Id])] = &[
    (
        &["mpegts"],
        &[
            Id::MPEG1VIDEO,
            Id::MPEG2VIDEO,
            Id::MPEG4,
            Id::H264,
            Id::HEVC,
            Id::CAVS,
            Id::DIRAC,
            Id::VC1,
            Id::MP2,
            Id::MP3,
            Id::AAC,
            Id::AAC_LATM,
            Id::AC3,
            Id::EAC3,
            Id::DTS,
            Id::TRUEHD,
            Id::OPUS,
            Id::S302M,
            Id::DVB_SUBTITLE,
            Id::DVB_TELETEXT,
        ],
    ),
    (&["hls"], &[Id::H264, Id::HEVC, Id::MPEG2VIDEO, Id::MP2, Id::MP3, Id::AAC, Id::AC3, Id::EAC3]),
    (
        &["mpeg", "vob", "dvd", "svcd", "vcd"],
        &[
            Id::MPEG1VIDEO,
            Id::MPEG2VIDEO,
            Id::MPEG4,
            Id::H264,
            Id::HEVC,
            Id::MP1,
            Id::MP2,
            Id::MP3,
            Id::AC3,
            Id::DTS,
            Id::PCM_S16BE,
            Id::PCM_DVD,
            Id::DVD_SUBTITLE,
        ],
    ),
    (&["ogg", "ogv"], &[Id::THEORA, Id::VP8, Id::VORBIS, Id::OPUS, Id::FLAC, Id::SPEEX]),
    (&["mxf"], &[Id::MPEG2VIDEO, Id::DNXHD, Id::DVVIDEO, Id::JPEG2000, Id::H264, Id::PCM_S16LE, Id::PCM_S24LE]),
    (&["dv"], &[Id::DVVIDEO, Id::PCM_S16LE]),
    // AAC in WTV has no header, so that it cannot be decoded.
    (&["wtv"], &[Id::MPEG2VIDEO, Id::MPEG4, Id::H264, Id::MP2, Id::MP3, Id::AC3, Id::DTS, Id::PCM_S16LE]),
];

/// File name extensions that FFmpeg does not know, each with one of the same format that FFmpeg knows.
const OTHER_ENDINGS: [(&str, &str); 7] =
    [("dib", "bmp"), ("fit", "fits"), ("fts", "fits"), ("jfif", "jpg"), ("jif", "jpg"), ("jpe", "jpg"), ("qt", "mov")];

/// The name of a file; an extension of [`OTHER_ENDINGS`] is replaced by the one that FFmpeg knows.
fn known_name(file: &OsStr) -> PathBuf {
    let path = Path::new(file);
    let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
    let known = OTHER_ENDINGS.iter().find(|(other, _)| ending == *other);
    known.map_or_else(|| path.to_owned(), |(_, known)| path.with_extension(known))
}

/// The limits of a container on sound of some codecs.
struct SoundRow {
    container: &'static str,
    codecs: &'static [Id],
    /// Sample rates in Hz.
    rates: &'static [u32],
    /// The fewest and the most channels.
    channels: (i32, i32),
}

/// The limits of muxers on sound: they refuse other sound at its first packet, or signal a wrong rate for it.
const SOUND: &[SoundRow] = &[
    // FLV signals 48,000 Hz as 44,100 Hz, but the MP3 frames have the true rate.
    SoundRow { container: "flv", codecs: &[Id::MP3], rates: &[11_025, 22_050, 44_100, 48_000], channels: (1, 2) },
    SoundRow { container: "mxf", codecs: &[Id::PCM_S16LE, Id::PCM_S24LE], rates: &[48_000], channels: (1, i32::MAX) },
    SoundRow { container: "dv", codecs: &[Id::PCM_S16LE], rates: &[32_000, 44_100, 48_000], channels: (2, 2) },
];

/// Whether this codec has a tag in RIFF files (AVI, WAV).
fn has_riff_tag(id: Id) -> bool {
    // SAFETY: the array of lists ends with null; each list is a constant.
    unsafe {
        let lists = [ffi::avformat_get_riff_video_tags(), ffi::avformat_get_riff_audio_tags(), std::ptr::null()];
        ffi::av_codec_get_tag(lists.as_ptr(), id.into()) != 0
    }
}

/// A container format that this FFmpeg can write.
#[derive(Clone, Copy)]
pub struct Container {
    pub(crate) format: *const ffi::AVOutputFormat,
    /// Whether it is a transport stream in packets of 192 bytes, as of AVCHD and Blu-ray.
    pub(crate) is_m2ts: bool,
}

// SAFETY: points to a constant of the library.
unsafe impl Send for Container {}

impl Container {
    /// The container called `name`, or, without a name, the one for the extension of `file`.
    pub fn guess(name: Option<&str>, file: impl AsRef<OsStr>) -> Option<Self> {
        crate::ffmpeg::init();
        let name = name.map(c_string);
        // FFmpeg would recognize M2TS by the extension, but the file gets its name only once it is complete.
        let extension = Path::new(&file).extension().unwrap_or_default().to_ascii_lowercase();
        let file = c_string(known_name(file.as_ref()));
        // SAFETY: both are NUL-terminated, or null.
        let found = unsafe {
            match &name {
                Some(name) => ffi::av_guess_format(name.as_ptr(), std::ptr::null(), std::ptr::null()),
                None => ffi::av_guess_format(std::ptr::null(), file.as_ptr(), std::ptr::null()),
            }
        };
        let container = (!found.is_null()).then_some(Container { format: found, is_m2ts: false })?;
        let is_m2ts = container.name() == "mpegts" && (extension == "m2ts" || extension == "mts");
        Some(Container { is_m2ts, ..container })
    }

    /// FFmpeg's name for it, such as `mp4` or `matroska`.
    pub fn name(self) -> String {
        // SAFETY: a constant of the library.
        unsafe { text((*self.format).name) }
    }

    /// Whether it is the V4L2 output device (a virtual camera), rather than a file.
    pub fn is_virtual_camera(self) -> bool {
        self.name().split(',').any(|name| name == "v4l2")
    }

    /// Whether the container loses gaps of more than one frame period between frames: it has no timestamps, and its
    /// muxer does not repeat frames.
    pub fn loses_gaps(self) -> bool {
        matches!(self.name().as_str(), "mxf" | "gxf" | "dv")
    }

    /// Whether all streams start at time zero, because the container does not store their start times.
    pub fn starts_at_zero(self) -> bool {
        matches!(self.name().as_str(), "avi" | "mxf" | "gxf" | "dv")
    }

    /// Whether it has edit lists, which can hide the beginning of a stream.
    pub fn has_edit_lists(self) -> bool {
        matches!(self.name().as_str(), "mp4" | "mov" | "ipod" | "3gp" | "3g2" | "ismv" | "f4v")
    }

    /// Whether the container has a timecode track, which has a frame rate of its own.
    pub fn has_timecode_track(self) -> bool {
        matches!(self.name().as_str(), "mp4" | "mov")
    }

    /// Whether each frame has a timestamp, rather than only a number at a constant rate.
    pub fn has_timestamps(self) -> bool {
        // AVFMT_VARIABLE_FPS does not tell: mp4 and mpegts lack the flag, but have timestamps.
        let counts_frames =
            matches!(self.name().as_str(), "avi" | "mxf" | "gxf" | "dv" | "yuv4mpegpipe" | "ogg" | "ogv");
        !counts_frames && !self.flag(ffi::AVFMT_NOTIMESTAMPS)
    }

    /// Whether two packets of a stream may have the same time.
    pub fn allows_equal_times(self) -> bool {
        self.flag(ffi::AVFMT_TS_NONSTRICT) || self.flag(ffi::AVFMT_NOTIMESTAMPS)
    }

    /// Whether its times come from a broadcast clock, which may start at any value.
    pub fn has_broadcast_clock(self) -> bool {
        matches!(self.name().as_str(), "mpegts" | "hls" | "mpeg" | "vob" | "dvd" | "svcd" | "vcd")
    }

    /// Whether the container can hold the alpha of this codec. VP8 and VP9 store alpha as a second video, which few
    /// containers can hold.
    pub fn carries_alpha(self, codec: Id) -> bool {
        let has_place = matches!(self.name().as_str(), "matroska" | "webm") || self.discards();
        has_place || !matches!(codec, Id::VP8 | Id::VP9)
    }

    /// Whether codec headers are stored in the container's header, rather than in the packets.
    pub fn needs_global_header(self) -> bool {
        self.flag(ffi::AVFMT_GLOBALHEADER)
    }

    /// Whether it can store a rotation, which players apply.
    pub fn holds_rotation(self) -> bool {
        match self.name().as_str() {
            "mp4" | "mov" | "ipod" | "3gp" | "3g2" | "psp" | "ismv" | "f4v" => true,
            // From FFmpeg 6.1 on, the Matroska muxer writes rotations.
            "matroska" | "webm" => cfg!(ffmpeg_6_1),
            // The null muxer writes no file, so no rotation is lost.
            _ => self.discards(),
        }
    }

    /// Whether it discards all packets, and writes no file.
    pub fn discards(self) -> bool {
        self.name() == "null"
    }

    /// Whether the muxer writes one image file for each frame.
    pub fn is_images(self) -> bool {
        self.name() == "image2"
    }

    /// Whether it is FITS, whose files may hold many pictures.
    pub fn is_fits(self) -> bool {
        self.name() == "fits"
    }

    /// Whether the file name may be a pattern (`out%05d.png`), for one file for each frame.
    pub fn takes_pattern(self) -> bool {
        self.is_images() || self.is_fits()
    }

    /// Whether the caller must open the file or connection that it writes to.
    pub fn needs_file(self) -> bool {
        !self.flag(ffi::AVFMT_NOFILE)
    }

    /// Whether it writes a playlist and segments, whose names it derives from the given one.
    pub fn writes_segments(self) -> bool {
        matches!(self.name().as_str(), "hls" | "dash" | "segment" | "smoothstreaming" | "hds")
    }

    /// Whether the muxer opens more than its own file: a device, for example, or additional files.
    pub fn opens_more(self) -> bool {
        !self.needs_file() && !self.writes_segments() && !self.is_images() && !self.discards()
    }

    /// Whether it can hold only a video stream (images, gif).
    fn is_video_only(self) -> bool {
        let none = ffi::AVCodecID::AV_CODEC_ID_NONE;
        // SAFETY: a constant of the library.
        unsafe { (*self.format).audio_codec == none && (*self.format).subtitle_codec == none }
    }

    fn flag(self, flag: i32) -> bool {
        // SAFETY: a constant of the library.
        unsafe { (*self.format).flags & flag != 0 }
    }

    /// FFmpeg's default video codec for it, given the name of the file.
    pub fn default_codec(self, file: impl AsRef<OsStr>) -> Option<Id> {
        let file = c_string(known_name(file.as_ref()));
        let none = std::ptr::null();
        // SAFETY: a constant of the library and a NUL-terminated name.
        let id = unsafe {
            ffi::av_guess_codec(self.format, none, file.as_ptr(), none, ffi::AVMediaType::AVMEDIA_TYPE_VIDEO)
        };
        (id != ffi::AVCodecID::AV_CODEC_ID_NONE).then(|| id.into())
    }

    /// The encoder for text subtitles in this container, if it supports only one.
    pub fn subtitle_codec(self) -> Option<&'static str> {
        match self.name().as_str() {
            "mp4" | "mov" | "ipod" | "3gp" | "3g2" | "ismv" | "f4v" => Some("mov_text"),
            "webm" => Some("webvtt"),
            "matroska" => Some("subrip"),
            _ => None,
        }
    }

    /// The encoder for sound whose codec the container cannot hold; `None` when this FFmpeg has no suitable one.
    pub fn sound_instead(self, stream: &Stream) -> Option<TranscodeTo> {
        let encoders = [
            (Id::AAC, "aac"),
            (Id::OPUS, "libopus"),
            (Id::AC3, "ac3"),
            (Id::MP2, "mp2"),
            (Id::PCM_S24LE, "pcm_s24le"),
            (Id::PCM_S16LE, "pcm_s16le"),
        ];
        // AC-3 only for surround sound: more players support MP2, which has at most two channels.
        let is_surround = stream.sound().is_some_and(|(_, channels)| channels > 2);
        let suits = |id: Id| self.holds_codec(id) && (id != Id::AC3 || is_surround);
        let can = |(id, name): &(Id, &str)| suits(*id) && ffmpeg_next::encoder::find_by_name(name).is_some();
        let (id, name) = encoders.into_iter().find(can)?;
        let limits = self.sound_row(id);
        Some(TranscodeTo {
            encoder: name.to_owned(),
            has_global_header: self.needs_global_header(),
            rates: limits.map(|row| row.rates.to_vec()).unwrap_or_default(),
            channels: limits.map(|row| row.channels),
        })
    }

    /// Its limits on sound of this codec, if it has any.
    fn sound_row(self, id: Id) -> Option<&'static SoundRow> {
        SOUND.iter().find(|row| row.container == self.name() && row.codecs.contains(&id))
    }

    /// Whether the container accepts the sample rate and the channels of this sound. The caller has checked the codec.
    fn takes_sound(self, stream: &Stream) -> bool {
        // From FFmpeg 6 on, the mp4 muxer accepts PCM, but fails for channels without known positions, and only when it
        // completes the file.
        if self.name() == "mp4"
            && stream.codec.starts_with("pcm_")
            && stream.sound().is_some_and(|(_, channels)| channels > 2)
        {
            return false;
        }
        let (Some(row), Some((rate, channels))) = (self.sound_row(stream.parameters.id()), stream.sound()) else {
            return true;
        };
        let (least, most) = row.channels;
        row.rates.iter().any(|&known| i64::from(known) == i64::from(rate)) && (least..=most).contains(&channels)
    }

    /// Whether it can hold this codec.
    pub fn holds_codec(self, id: Id) -> bool {
        // The list for mov names codecs that its muxer then refuses ("only supported in MP4").
        if self.name() == "mov" && matches!(id, Id::VP8 | Id::VP9 | Id::AV1 | Id::FLAC | Id::OPUS | Id::TRUEHD) {
            return false;
        }
        if let Some((_, codecs)) = CODECS.iter().find(|(names, _)| names.contains(&self.name().as_str())) {
            return codecs.contains(&id);
        }
        // FFmpeg 9 lists these codecs for FLV, but its muxer then aborts the process (a failed assertion).
        if self.name() == "flv" && (id == Id::ADPCM_SWF || id.name().starts_with("pcm_")) {
            return false;
        }
        // SAFETY: a constant of the library.
        let answer = unsafe { ffi::avformat_query_codec(self.format, id.into(), ffi::FF_COMPLIANCE_NORMAL) };
        match answer {
            // The muxer has no list of codecs: writing the header fails for a codec that it does not support.
            ..0 if self.is_video_only() => self.default_codec("") == Some(id),
            ..0 => true,
            // Matroska also accepts every codec that AVI can hold.
            0 => self.name() == "matroska" && has_riff_tag(id),
            1.. => true,
        }
    }

    /// Whether it can hold this stream unchanged.
    pub fn holds(self, stream: &Stream) -> bool {
        let name = self.name();
        match stream.kind {
            MediaType::Audio | MediaType::Video if !stream.is_known() => false,
            MediaType::Attachment => name == "matroska",
            MediaType::Unknown => false,
            MediaType::Data => match name.as_str() {
                // Timecode tracks are not copied: the muxer makes one from the metadata.
                "mp4" | "mov" => {
                    matches!(stream.codec.as_str(), "bin_data") && self.holds_codec(stream.parameters.id())
                }
                // Not SCTE-35: it would become private data, which no player reads as SCTE-35.
                "mpegts" => matches!(stream.codec.as_str(), "klv" | "timed_id3" | "smpte_klv" | "bin_data"),
                "mxf" => stream.codec != "none",
                _ => false,
            },
            MediaType::Subtitle if name == "mpegts" => matches!(stream.codec.as_str(), "dvb_subtitle" | "dvb_teletext"),
            _ if self.is_video_only() => false,
            _ if stream.is_attached_picture() => match name.as_str() {
                "mp4" | "ipod" => matches!(stream.codec.as_str(), "mjpeg" | "png" | "bmp"),
                "matroska" => true,
                _ => false,
            },
            _ => self.holds_codec(stream.parameters.id()) && self.takes_sound(stream),
        }
    }
}

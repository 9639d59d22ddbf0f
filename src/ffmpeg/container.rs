//! The containers that this FFmpeg writes, and what they hold.
#![allow(unsafe_code, reason = "FFI")]

use super::{Kind, Stream, c_string, text};
use ffmpeg_next::codec::Id;
use ffmpeg_next::ffi;

/// Containers of which FFmpeg keeps no list of codecs, and what they hold. Their muxers write anything else as private data
/// that no player can read, or refuse the whole file when it begins.
const WITHOUT_A_LIST: &[(&[&str], &[Id])] = &[
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
];

/// Has Windows a name for this kind of video?
fn has_riff_tag(id: Id) -> bool {
    // SAFETY: the list of lists ends with null; each is a constant.
    unsafe {
        let lists = [ffi::avformat_get_riff_video_tags(), std::ptr::null()];
        ffi::av_codec_get_tag(lists.as_ptr(), id.into()) != 0
    }
}

/// A kind of file that this FFmpeg can write.
#[derive(Clone, Copy)]
pub struct Container(pub(super) *const ffi::AVOutputFormat);

// SAFETY: points to a constant of the library.
unsafe impl Send for Container {}

impl Container {
    /// The container of this name, or else the one that a file of this name should be.
    pub fn guess(name: Option<&str>, file: &str) -> Option<Self> {
        super::init();
        let name = name.map(c_string);
        let file = c_string(file);
        // SAFETY: both are NUL-terminated, or null.
        let found = unsafe {
            match &name {
                Some(name) => ffi::av_guess_format(name.as_ptr(), std::ptr::null(), std::ptr::null()),
                None => ffi::av_guess_format(std::ptr::null(), file.as_ptr(), std::ptr::null()),
            }
        };
        (!found.is_null()).then_some(Container(found))
    }

    /// Its name, `mp4` or `matroska`.
    pub fn name(self) -> String {
        // SAFETY: a constant of the library.
        unsafe { text((*self.0).name) }
    }

    /// Is it no file, but what V4L2 writes pictures to?
    pub fn is_virtual_camera(self) -> bool {
        self.name().split(',').any(|name| name == "v4l2")
    }

    /// Does it lose the time between frames that are further apart than its rate, where others say or fill it?
    pub fn loses_gaps(self) -> bool {
        matches!(self.name().as_str(), "mxf" | "gxf" | "dv")
    }

    /// Do all of its streams begin at once?
    pub fn begins_at_once(self) -> bool {
        matches!(self.name().as_str(), "avi" | "mxf" | "gxf" | "dv")
    }

    /// Can it hide the beginning of a stream?
    pub fn has_edit_lists(self) -> bool {
        matches!(self.name().as_str(), "mp4" | "mov" | "ipod" | "3gp" | "3g2" | "ismv" | "f4v")
    }

    /// Can it say of each frame when it is shown, or does it only know a rate?
    pub fn has_timestamps(self) -> bool {
        // The flag for a variable frame rate is no guide: mp4 and mpegts do without.
        let counts_frames =
            matches!(self.name().as_str(), "avi" | "mxf" | "gxf" | "dv" | "yuv4mpegpipe" | "ogg" | "ogv");
        !counts_frames && !self.flag(ffi::AVFMT_NOTIMESTAMPS)
    }

    /// May two packets of a stream have the same time?
    pub fn takes_equal_times(self) -> bool {
        self.flag(ffi::AVFMT_TS_NONSTRICT) || self.flag(ffi::AVFMT_NOTIMESTAMPS)
    }

    /// Are its times those of a broadcast's clock, which may begin at any time of day?
    pub fn has_broadcast_clock(self) -> bool {
        matches!(self.name().as_str(), "mpegts" | "hls" | "mpeg" | "vob" | "dvd" | "svcd" | "vcd")
    }

    /// Does a video of this codec in it say which range its codes have? Readers take what says nothing for limited if it is
    /// YUV, for full if it is gray.
    pub fn tells_range(self, codec: Id) -> bool {
        let name = self.name();
        match codec {
            Id::H264 | Id::HEVC | Id::VP9 | Id::AV1 | Id::MJPEG => true,
            // Their decoders say what the codec's standard says, whatever the container does.
            Id::VP8 | Id::MPEG1VIDEO | Id::MPEG2VIDEO | Id::PRORES => false,
            _ => matches!(name.as_str(), "mp4" | "matroska" | "webm" | "null"),
        }
    }

    /// Do sound and pictures begin with the file, whenever they began before?
    pub fn begins_at_zero(self) -> bool {
        matches!(self.name().as_str(), "avi" | "mxf" | "gxf" | "dv")
    }

    /// Must codecs put their headers into the container?
    pub fn wants_global_header(self) -> bool {
        self.flag(ffi::AVFMT_GLOBALHEADER)
    }

    /// Can it say that pictures are to be turned when they are shown?
    pub fn holds_rotation(self) -> bool {
        match self.name().as_str() {
            "mp4" | "mov" | "ipod" | "3gp" | "3g2" | "psp" | "ismv" | "f4v" => true,
            // Later versions may write it.
            "matroska" | "webm" => cfg!(ffmpeg_6_1),
            // No player is misled.
            _ => self.discards(),
        }
    }

    /// Does it throw everything away, and write no file?
    pub fn discards(self) -> bool {
        self.name() == "null"
    }

    /// Is it pictures in files of their own?
    pub fn is_images(self) -> bool {
        self.name() == "image2"
    }

    /// Does it write through a file that has to be opened first?
    pub fn needs_file(self) -> bool {
        !self.flag(ffi::AVFMT_NOFILE)
    }

    /// Does it write more files, whose names it makes of the one that it is given?
    pub fn names_its_files(self) -> bool {
        matches!(self.name().as_str(), "hls" | "dash" | "segment" | "smoothstreaming" | "hds")
    }

    /// Is there room for nothing but one video (images, gif)?
    fn holds_video_alone(self) -> bool {
        let none = ffi::AVCodecID::AV_CODEC_ID_NONE;
        // SAFETY: a constant of the library.
        unsafe { (*self.0).audio_codec == none && (*self.0).subtitle_codec == none }
    }

    fn flag(self, flag: i32) -> bool {
        // SAFETY: a constant of the library.
        unsafe { (*self.0).flags & flag != 0 }
    }

    /// The video codec that it is for, given the name of the file.
    pub fn default_codec(self, file: &str) -> Option<Id> {
        let file = c_string(file);
        let none = std::ptr::null();
        // SAFETY: a constant of the library and a NUL-terminated name.
        let id =
            unsafe { ffi::av_guess_codec(self.0, none, file.as_ptr(), none, ffi::AVMediaType::AVMEDIA_TYPE_VIDEO) };
        (id != ffi::AVCodecID::AV_CODEC_ID_NONE).then(|| id.into())
    }

    /// The kind of text subtitle that it holds, if there is just one.
    pub fn subtitle_codec(self) -> Option<&'static str> {
        match self.name().as_str() {
            "mp4" | "mov" | "ipod" | "3gp" | "3g2" | "ismv" | "f4v" => Some("mov_text"),
            "webm" => Some("webvtt"),
            "matroska" => Some("subrip"),
            _ => None,
        }
    }

    /// FFmpeg's encoder of sound for streams that it cannot hold as they are; `None` when this FFmpeg has none.
    pub fn sound_encoder(self) -> Option<&'static str> {
        let encoders = [(Id::AAC, "aac"), (Id::OPUS, "libopus"), (Id::MP2, "mp2")];
        let can = |(id, name): &(Id, &str)| self.holds_codec(*id) && ffmpeg_next::encoder::find_by_name(name).is_some();
        encoders.into_iter().find(can).map(|(_, name)| name)
    }

    /// Can it hold this codec?
    pub fn holds_codec(self, id: Id) -> bool {
        // QuickTime's list names codecs that its muxer then refuses ("only supported in MP4").
        if self.name() == "mov" && matches!(id, Id::VP8 | Id::VP9 | Id::AV1 | Id::FLAC | Id::OPUS | Id::TRUEHD) {
            return false;
        }
        if let Some((_, codecs)) = WITHOUT_A_LIST.iter().find(|(names, _)| names.contains(&self.name().as_str())) {
            return codecs.contains(&id);
        }
        // SAFETY: a constant of the library.
        let answer = unsafe { ffi::avformat_query_codec(self.0, id.into(), ffi::FF_COMPLIANCE_NORMAL) };
        match answer {
            // It keeps no list, and complains when its header is written.
            ..0 if self.holds_video_alone() => self.default_codec("") == Some(id),
            ..0 => true,
            // Matroska takes whatever video Windows has a name for, as AVI does.
            0 => self.name() == "matroska" && has_riff_tag(id),
            1.. => true,
        }
    }

    /// Can it hold this stream as it is?
    pub fn holds(self, stream: &Stream) -> bool {
        let name = self.name();
        match stream.kind {
            Kind::Audio | Kind::Video if !stream.is_known() => false,
            Kind::Attachment => name == "matroska",
            Kind::Unknown => false,
            Kind::Data => match name.as_str() {
                // The muxer makes a new timecode track from the metadata that goes along.
                "mp4" | "mov" => {
                    matches!(stream.codec.as_str(), "bin_data") && self.holds_codec(stream.parameters.id())
                }
                "mpegts" => matches!(stream.codec.as_str(), "klv" | "timed_id3" | "scte_35" | "smpte_klv" | "bin_data"),
                "mxf" => stream.codec != "none",
                _ => false,
            },
            Kind::Subtitle if name == "mpegts" => matches!(stream.codec.as_str(), "dvb_subtitle" | "dvb_teletext"),
            _ if self.holds_video_alone() => false,
            _ if stream.is_attached_picture() => match name.as_str() {
                "mp4" | "ipod" => matches!(stream.codec.as_str(), "mjpeg" | "png" | "bmp"),
                "matroska" => true,
                _ => false,
            },
            _ => self.holds_codec(stream.parameters.id()),
        }
    }
}

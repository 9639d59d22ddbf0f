//! What a container holds, as its demuxer tells it: the streams, what they are, and what is said about them.
#![allow(unsafe_code, reason = "FFI")]

use super::{RawFormat, StreamSideData, text};
use ffmpeg_next::codec::Parameters;
use ffmpeg_next::{Rational, ffi};

/// Keys and values, in order.
pub type Metadata = Vec<(String, String)>;

/// What a stream carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Pictures.
    Video,
    /// Sound.
    Audio,
    /// Text or pictures of text.
    Subtitle,
    /// Timecode, telemetry and the like.
    Data,
    /// A file: a font, a cover.
    Attachment,
    /// Something else.
    Unknown,
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Kind::Video => "video",
            Kind::Audio => "audio",
            Kind::Subtitle => "subtitle",
            Kind::Data => "data",
            Kind::Attachment => "attachment",
            Kind::Unknown => "unknown",
        })
    }
}

/// A named part of the whole.
#[derive(Clone, Debug)]
pub struct Chapter {
    /// Its number in the container.
    pub id: i64,
    /// Unit of `start` and `end`.
    pub time_base: Rational,
    /// First moment.
    pub start: i64,
    /// Moment after the last.
    pub end: i64,
    /// Its title, among others.
    pub metadata: Metadata,
}

/// Which of the two fields of a frame is coded first, and which is shown first.
#[derive(Clone, Copy, Debug)]
pub struct FieldOrder(pub(super) ffi::AVFieldOrder);

impl FieldOrder {
    /// This order, unless the pictures, which show that field first, contradict it. Of orders in which one field is
    /// coded and the other shown first, programs disagree which letter of FFmpeg's names is which; those are kept.
    #[must_use]
    pub fn shown_first(self, top: bool) -> Self {
        use ffi::AVFieldOrder::*;
        match (self.0, top) {
            (AV_FIELD_TB | AV_FIELD_BT, _) => self,
            (_, true) => FieldOrder(AV_FIELD_TT),
            (_, false) => FieldOrder(AV_FIELD_BB),
        }
    }
}

/// One stream of a container.
#[derive(Clone)]
pub struct Stream {
    /// Its place in the container.
    pub index: usize,
    /// What it carries.
    pub kind: Kind,
    /// FFmpeg's name of its codec.
    pub codec: String,
    /// All that its codec has to know.
    pub parameters: Parameters,
    /// Unit of its timestamps, in seconds.
    pub time_base: Rational,
    /// Average frames a second, if known.
    pub frame_rate: Option<Rational>,
    /// The lowest rate in whose grid all timestamps lie, as FFmpeg guesses it.
    pub base_rate: Option<Rational>,
    /// Width to height of a pixel, if known.
    pub sample_aspect_ratio: Option<Rational>,
    /// The same, where the container says it, whatever the pictures say.
    pub container_aspect_ratio: Option<Rational>,
    /// Which of the two fields of a frame is coded first, and which is shown first.
    pub field_order: FieldOrder,
    /// Its first timestamp, if known.
    pub start: Option<i64>,
    /// How many frames it has, if the container says.
    pub frames: Option<u64>,
    /// Language, title and so on.
    pub metadata: Metadata,
    /// `AV_DISPOSITION_*` bits: default, forced, attached picture and so on.
    pub disposition: i32,
    /// Rotation, mastering display and so on.
    pub side_data: StreamSideData,
    /// The picture itself, if it is an attached one.
    pub cover: Option<Vec<u8>>,
}

impl Stream {
    /// Is it a picture that belongs to the file as a whole (cover art), not a video?
    pub fn is_attached_picture(&self) -> bool {
        self.disposition & ffi::AV_DISPOSITION_ATTACHED_PIC != 0
    }

    /// Is it the text track that an mp4 file keeps its chapters in?
    pub fn is_chapter_text(&self) -> bool {
        // SAFETY: the parameters are valid.
        let tag = unsafe { (*self.parameters.as_ptr()).codec_tag };
        self.kind == Kind::Data && tag == u32::from_le_bytes(*b"text")
    }

    /// The pixel format and the size of a video, if its header tells.
    pub fn picture(&self) -> Option<(RawFormat, (usize, usize))> {
        // SAFETY: the parameters are valid.
        let (number, width, height) = unsafe {
            let parameters = self.parameters.as_ptr();
            ((*parameters).format, (*parameters).width, (*parameters).height)
        };
        if self.kind != Kind::Video || number < 0 || width < 1 || height < 1 {
            return None;
        }
        // SAFETY: the number of a video's format is one of the library's.
        let format = unsafe { RawFormat::from_number(number) };
        Some((format, (usize::try_from(width).ok()?, usize::try_from(height).ok()?)))
    }

    /// Samples a second and channels of a stream of sound.
    pub fn sound(&self) -> Option<(i32, i32)> {
        // SAFETY: the parameters are valid.
        let parameters = unsafe { &*self.parameters.as_ptr() };
        let channels = parameters.ch_layout.nb_channels;
        (self.kind == Kind::Audio && parameters.sample_rate > 0).then_some((parameters.sample_rate, channels))
    }

    /// Does it say beside its packets what a decoder has to know? Broadcasts say it in each packet.
    pub fn has_header(&self) -> bool {
        // SAFETY: the parameters are valid.
        unsafe { (*self.parameters.as_ptr()).extradata_size > 0 }
    }

    /// Has enough of it been found to say what it is? A broadcast may announce a stream and never send it.
    pub fn is_known(&self) -> bool {
        // SAFETY: the parameters are valid.
        let parameters = unsafe { &*self.parameters.as_ptr() };
        match self.kind {
            Kind::Audio => parameters.sample_rate > 0,
            Kind::Video => parameters.width > 0 && parameters.height > 0,
            _ => true,
        }
    }

    /// Is its codec a text subtitle, so that it can be written as another kind of text subtitle?
    pub fn is_text_subtitle(&self) -> bool {
        // SAFETY: the descriptors are constants; a null one is handled.
        unsafe {
            let descriptor = ffi::avcodec_descriptor_get((*self.parameters.as_ptr()).codec_id);
            !descriptor.is_null() && (*descriptor).props & ffi::AV_CODEC_PROP_TEXT_SUB != 0
        }
    }

    /// A metadata value.
    pub fn tag(&self, key: &str) -> Option<&str> {
        self.metadata.iter().find(|(k, _)| k.eq_ignore_ascii_case(key)).map(|(_, value)| value.as_str())
    }

    /// How messages name it: `stream #2 (audio, aac, deu)`.
    pub fn describe(&self) -> String {
        let language = self.tag("language").map(|language| format!(", {language}")).unwrap_or_default();
        let what = match self.codec.as_str() {
            "none" => self.tag("filename").or(self.tag("mimetype")).unwrap_or("of an unknown kind"),
            codec => codec,
        };
        format!("stream #{} ({}, {what}{language})", self.index, self.kind)
    }
}

/// All that a container says about itself.
#[derive(Clone)]
pub struct Media {
    /// The demuxer's name (`mov,mp4,m4a,3gp,3g2,mj2`).
    pub demuxer: String,
    /// Its streams.
    pub streams: Vec<Stream>,
    /// Its chapters.
    pub chapters: Vec<Chapter>,
    /// What is said about the whole.
    pub metadata: Metadata,
    /// The first timestamp of any stream, in microseconds, if known.
    pub start: Option<i64>,
    /// Length in microseconds, if known.
    pub duration: Option<i64>,
    /// May its times jump from one packet to the next, as in a transport stream or an Ogg chain?
    pub may_jump: bool,
}

impl Media {
    /// What can be said of raw video that comes without a container.
    pub fn of_raw_video(demuxer: &str, rate: Rational, sample_aspect_ratio: Option<Rational>) -> Self {
        let mut parameters = Parameters::new();
        parameters.set_medium(ffmpeg_next::media::Type::Video);
        parameters.set_id(ffmpeg_next::codec::Id::RAWVIDEO);
        let stream = Stream {
            index: 0,
            kind: Kind::Video,
            codec: "rawvideo".to_owned(),
            parameters,
            time_base: rate.invert(),
            frame_rate: Some(rate),
            base_rate: Some(rate),
            sample_aspect_ratio,
            container_aspect_ratio: None,
            field_order: FieldOrder(ffi::AVFieldOrder::AV_FIELD_UNKNOWN),
            start: Some(0),
            frames: None,
            metadata: Metadata::new(),
            disposition: ffi::AV_DISPOSITION_DEFAULT,
            side_data: StreamSideData::default(),
            cover: None,
        };
        Media {
            demuxer: demuxer.to_owned(),
            streams: vec![stream],
            chapters: Vec::new(),
            metadata: Metadata::new(),
            start: Some(0),
            duration: None,
            may_jump: false,
        }
    }

    /// Is it pictures without a codec of their own?
    pub fn is_raw(&self) -> bool {
        matches!(self.demuxer.as_str(), "rawvideo" | "yuv4mpegpipe")
    }

    /// Are its times those of a broadcast's clock, which may begin at any time of day?
    pub fn has_broadcast_clock(&self) -> bool {
        self.may_jump && self.demuxer != "ogg"
    }

    /// Is it one still image, or a sequence of them?
    pub fn is_images(&self) -> bool {
        self.demuxer.starts_with("image2") || self.demuxer.ends_with("_pipe")
    }
}

/// The entries of an FFmpeg dictionary.
///
/// # Safety
/// `dictionary` is null or valid.
pub(super) unsafe fn entries(dictionary: *const ffi::AVDictionary) -> Metadata {
    let mut found = Metadata::new();
    let mut entry = std::ptr::null();
    loop {
        // SAFETY: the dictionary is valid by the caller's promise; the empty key with IGNORE_SUFFIX walks all entries.
        entry = unsafe { ffi::av_dict_get(dictionary, c"".as_ptr(), entry, ffi::AV_DICT_IGNORE_SUFFIX) };
        if entry.is_null() {
            return found;
        }
        // SAFETY: a non-null entry has NUL-terminated key and value.
        found.push(unsafe { (text((*entry).key), text((*entry).value)) });
    }
}

/// Sets entries of an FFmpeg dictionary.
///
/// # Safety
/// `dictionary` points to null or to a valid dictionary.
pub(super) unsafe fn set_entries(dictionary: *mut *mut ffi::AVDictionary, entries: &[(String, String)]) {
    for (key, value) in entries {
        let (key, value) = (super::c_string(key), super::c_string(value));
        // SAFETY: by the caller's promise; key and value are copied.
        unsafe { ffi::av_dict_set(dictionary, key.as_ptr(), value.as_ptr(), 0) };
    }
}

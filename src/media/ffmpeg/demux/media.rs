//! The description of an input by its demuxer: streams, chapters, metadata.
#![allow(unsafe_code, reason = "FFI")]

use super::OpenError;
use crate::ffmpeg::frame::colour::Colours;
use crate::ffmpeg::frame::{Colour, RawFormat, StreamSideData};
use crate::ffmpeg::mux::signalling::usual_matrix;
use crate::ffmpeg::{Error, FieldOrder, MediaType, OUT_OF_MEMORY, microseconds, rescale, text};
use crate::sys::io::at_most;
use crate::sys::out_of_memory;
use ffmpeg_next::codec::{Id, Parameters};
use ffmpeg_next::{Rational, ffi};
use histeq::internal::frame::Matrix;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::{Deref, DerefMut};

/// Keys and values, in order.
pub type Metadata = Vec<(String, String)>;

/// A chapter: a named period of the input.
#[derive(Clone, Debug)]
pub struct Chapter {
    /// Its number in the container.
    pub id: i64,
    /// Unit of `start` and `end`, in seconds.
    pub time_base: Rational,
    /// Start time, in units of `time_base`.
    pub start: i64,
    /// End time, in units of `time_base`.
    pub end: i64,
    /// Title and other metadata.
    pub metadata: Metadata,
}

/// A programme of a transport stream.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Programme {
    /// Its number in the transport stream.
    pub number: u16,
    /// The indices of its streams.
    #[serde(deserialize_with = "at_most::<_, _, MAX_IN_PROGRAMME>")]
    pub streams: Vec<usize>,
    /// Metadata: the names of the service and of its provider.
    #[serde(deserialize_with = "at_most::<_, _, MAX_IN_PROGRAMME>")]
    pub metadata: Metadata,
}

/// The most streams, and the most texts, of a programme.
const MAX_IN_PROGRAMME: usize = 1000;

/// The name and the provider of a service that FFmpeg sets by default.
const MADE_UP: [&str; 2] = ["Service01", "FFmpeg"];

impl Programme {
    /// The name that the broadcaster gave the programme.
    pub fn name(&self) -> Option<&str> {
        let name = self.metadata.iter().find(|(key, _)| key == "service_name").map(|(_, name)| name.as_str());
        name.filter(|name| !name.is_empty() && !MADE_UP.contains(name))
    }
}

/// Content of a file that FFmpeg does not report.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub enum Unshown {
    /// A box that cameras and programs write, with this code.
    Box([u8; 4]),
    /// Data after the last box.
    BehindEnd,
    /// A crop rectangle, which is not applied.
    Crop,
    /// Further streams that are encrypted.
    Encrypted,
    /// A second layer of HEVC: the other eye, or alpha.
    SecondLayer,
    /// The pictures of chapters.
    ChapterPictures,
}

impl fmt::Display for Unshown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unshown::Box(code) => match code {
                b"gps " => f.write_str("GPS (box gps)"),
                b"GPMF" => f.write_str("GPS and other measurements (box GPMF)"),
                b"XMP_" => f.write_str("XMP"),
                code => write!(f, "box {}", code.escape_ascii()),
            },
            Unshown::BehindEnd => f.write_str("data behind its end"),
            Unshown::Crop => f.write_str("crop (the whole picture is shown)"),
            Unshown::Encrypted => f.write_str("encryption of other streams, which cannot be played"),
            Unshown::SecondLayer => f.write_str("second layer of HEVC (the other eye, or alpha)"),
            Unshown::ChapterPictures => f.write_str("pictures of chapters"),
        }
    }
}

/// One stream of a container.
#[derive(Clone)]
pub struct Stream {
    /// Its index in the container.
    pub index: usize,
    /// Its medium.
    pub kind: MediaType,
    /// FFmpeg's name of its codec.
    pub codec: String,
    /// The parameters of its codec.
    pub parameters: CodecParameters,
    /// Unit of its timestamps, in seconds.
    pub time_base: Rational,
    /// Average frames a second, if known.
    pub frame_rate: Option<Rational>,
    /// The lowest frame rate that can represent all timestamps, as FFmpeg guesses it (`r_frame_rate`).
    pub base_rate: Option<Rational>,
    /// Width to height of a pixel, if known.
    pub sample_aspect_ratio: Option<Rational>,
    /// The container's sample aspect ratio, which may differ from that of the pictures.
    pub container_aspect_ratio: Option<Rational>,
    /// The order of the two fields of a frame.
    pub field_order: FieldOrder,
    /// Its first timestamp, if known.
    pub start: Option<i64>,
    /// Its number of frames, if the container stores it.
    pub frames: Option<u64>,
    /// Metadata: language, title and so on.
    pub metadata: Metadata,
    /// `AV_DISPOSITION_*` bits: default, forced, attached picture and so on.
    pub disposition: i32,
    /// Rotation, mastering display and so on.
    pub side_data: StreamSideData,
    /// The image of cover art; `None` for other streams.
    pub cover: Option<Vec<u8>>,
}

/// The parameters of a codec. The bindings' own type does not check for failed allocations.
pub struct CodecParameters(Parameters);

impl CodecParameters {
    pub(crate) fn new() -> Self {
        let parameters = Parameters::new();
        // SAFETY: the pointer is read, not what it points to.
        if unsafe { parameters.as_ptr() }.is_null() {
            out_of_memory();
        }
        CodecParameters(parameters)
    }

    /// A copy of what `source` points to.
    ///
    /// # Safety
    /// `source` points to valid parameters.
    pub(crate) unsafe fn copied(source: *const ffi::AVCodecParameters) -> Self {
        let mut copy = CodecParameters::new();
        // SAFETY: both are valid, one by the caller's promise.
        if unsafe { ffi::avcodec_parameters_copy(copy.as_mut_ptr(), source) } < 0 {
            out_of_memory();
        }
        copy
    }
}

/// The codec header (extradata) of parameters; empty if there is none.
///
/// # Safety
/// The parameters are valid as long as the header is used.
pub(crate) unsafe fn header_of(parameters: &ffi::AVCodecParameters) -> &[u8] {
    match usize::try_from(parameters.extradata_size) {
        // SAFETY: valid parameters have `extradata_size` bytes at `extradata`.
        Ok(size) if !parameters.extradata.is_null() => unsafe {
            std::slice::from_raw_parts(parameters.extradata, size)
        },
        _ => &[],
    }
}

/// Sets the codec header (extradata), in memory of FFmpeg with padding, which is freed with the parameters.
///
/// # Errors
/// When memory runs out.
///
/// # Safety
/// `parameters` points to valid parameters without a header.
pub(crate) unsafe fn set_header(parameters: *mut ffi::AVCodecParameters, header: &[u8]) -> Result<(), Error> {
    if header.is_empty() {
        return Ok(());
    }
    // SAFETY: by the caller's promise; the new memory has room for the header.
    unsafe {
        (*parameters).extradata = ffi::av_mallocz(header.len() + ffi::AV_INPUT_BUFFER_PADDING_SIZE as usize).cast();
        if (*parameters).extradata.is_null() {
            return Err(OUT_OF_MEMORY);
        }
        std::ptr::copy_nonoverlapping(header.as_ptr(), (*parameters).extradata, header.len());
        (*parameters).extradata_size = header.len() as i32;
    }
    Ok(())
}

/// Sets the colours from numbers, of which FFmpeg accepts any.
///
/// # Safety
/// `parameters` points to valid parameters, whose colours are not read here.
pub(crate) unsafe fn set_colours(parameters: *mut ffi::AVCodecParameters, colours: Colours) {
    let [range, primaries, transfer, matrix, chroma] = colours;
    // SAFETY: by the caller's promise; an enumeration is as large as its number.
    unsafe {
        (&raw mut (*parameters).color_range).cast::<i32>().write(range);
        (&raw mut (*parameters).color_primaries).cast::<i32>().write(primaries);
        (&raw mut (*parameters).color_trc).cast::<i32>().write(transfer);
        (&raw mut (*parameters).color_space).cast::<i32>().write(matrix);
        (&raw mut (*parameters).chroma_location).cast::<i32>().write(chroma);
    }
}

impl Clone for CodecParameters {
    fn clone(&self) -> Self {
        // SAFETY: its own parameters are valid.
        unsafe { CodecParameters::copied(self.as_ptr()) }
    }
}

impl From<CodecParameters> for Parameters {
    fn from(parameters: CodecParameters) -> Self {
        parameters.0
    }
}

impl Deref for CodecParameters {
    type Target = Parameters;
    fn deref(&self) -> &Parameters {
        &self.0
    }
}

impl DerefMut for CodecParameters {
    fn deref_mut(&mut self) -> &mut Parameters {
        &mut self.0
    }
}

impl Stream {
    /// The stream with another codec; `time_base` is the unit of its times, in seconds.
    pub fn converted(&self, codec: String, parameters: CodecParameters, time_base: Rational) -> Self {
        let (frame_rate, sample_aspect_ratio, side_data) = (None, None, StreamSideData::default());
        Stream { codec, parameters, time_base, frame_rate, sample_aspect_ratio, side_data, ..self.clone() }
    }

    /// Whether it is cover art, rather than a video.
    pub fn is_attached_picture(&self) -> bool {
        self.disposition & ffi::AV_DISPOSITION_ATTACHED_PIC != 0
    }

    /// Whether the stream has the pictures of chapters, which FFmpeg treats as cover art.
    pub fn has_chapter_pictures(&self) -> bool {
        self.disposition & ffi::AV_DISPOSITION_TIMED_THUMBNAILS != 0
    }

    /// Whether it is HEVC of several layers, of which the first is decoded.
    pub fn has_layers(&self) -> bool {
        // A video parameter set has a header of two bytes, a number of four bits, two flags, and in six bits the number
        // of layers minus 1.
        let layers = |set: &[u8]| ((set[2] & 3) << 4) | (set[3] >> 4);
        let is_set = |bytes: &[u8]| bytes[0] & 0x7e == 0x40 && bytes[0] & 0x81 == 0 && bytes[1] & 0xf8 == 0;
        let header = self.header();
        let found = match header {
            // In mp4 (`hvcC`), byte 22 is the number of lists. Each list has a type (32: video parameter sets), a
            // count, and parameter sets after lengths of two bytes.
            [1, ..] => header.get(28..32).filter(|_| header.get(23).is_some_and(|kind| kind & 0x3f == 32)),
            _ => {
                header.windows(7).find(|part| part.starts_with(&[0, 0, 1]) && is_set(&part[3..])).map(|part| &part[3..])
            }
        };
        self.codec == "hevc" && found.is_some_and(|set| is_set(set) && layers(set) > 0)
    }

    /// The colour of its pictures, as far as container and codec signal it.
    pub fn colour(&self) -> Colour {
        // SAFETY: the parameters are valid.
        unsafe { &*self.parameters.as_ptr() }.into()
    }

    /// The matrix of its pictures, which are YUV of this size.
    pub fn matrix(&self, size: (usize, usize)) -> Matrix {
        self.colour().with_any_matrix(usual_matrix(self.parameters.id(), size)).matrix()
    }

    /// Whether it is the text track in which an mp4 file stores its chapters.
    pub fn is_chapter_text(&self) -> bool {
        self.is_data_of(*b"text")
    }

    /// Whether it is the timecode track of a mov or mp4 file.
    pub fn is_timecode(&self) -> bool {
        self.is_data_of(*b"tmcd")
    }

    fn is_data_of(&self, tag: [u8; 4]) -> bool {
        // SAFETY: the parameters are valid.
        let codec_tag = unsafe { (*self.parameters.as_ptr()).codec_tag };
        self.kind == MediaType::Data && codec_tag == u32::from_le_bytes(tag)
    }

    /// The profile of DNxHR, by the numbers of the encoder dnxhd; `None` for everything else, DNxHD included.
    pub fn dnxhr_profile(&self) -> Option<i32> {
        // SAFETY: the parameters are valid.
        let profile = unsafe { (*self.parameters.as_ptr()).profile };
        (self.parameters.id() == Id::DNXHD && (1..=5).contains(&profile)).then_some(profile)
    }

    /// The size of a video, if known.
    pub fn size(&self) -> Option<(usize, usize)> {
        // SAFETY: the parameters are valid.
        let (width, height) = unsafe { ((*self.parameters.as_ptr()).width, (*self.parameters.as_ptr()).height) };
        let is_known = self.kind == MediaType::Video && width > 0 && height > 0;
        is_known.then_some((usize::try_from(width).ok()?, usize::try_from(height).ok()?))
    }

    /// The pixel format and the size of a video, if known.
    pub fn picture(&self) -> Option<(RawFormat, (usize, usize))> {
        let size = self.size()?;
        // SAFETY: the parameters are valid.
        let number = unsafe { (*self.parameters.as_ptr()).format };
        // SAFETY: FFmpeg set the number, and it is a video's.
        (number >= 0).then(|| (unsafe { RawFormat::from_number(number) }, size))
    }

    /// The number of frames by which the output of its decoder is delayed, because frames are shown in another order
    /// than they are stored.
    pub fn video_delay(&self) -> i64 {
        // SAFETY: the parameters are valid.
        i64::from(unsafe { (*self.parameters.as_ptr()).video_delay })
    }

    /// Sample rate and number of channels of an audio stream.
    pub fn sound(&self) -> Option<(i32, i32)> {
        // SAFETY: the parameters are valid.
        let parameters = unsafe { &*self.parameters.as_ptr() };
        let channels = parameters.ch_layout.nb_channels;
        (self.kind == MediaType::Audio && parameters.sample_rate > 0).then_some((parameters.sample_rate, channels))
    }

    /// Whether it has a codec header (extradata). Broadcasts repeat the header in their packets instead.
    pub fn has_header(&self) -> bool {
        !self.header().is_empty()
    }

    /// The codec header (extradata); empty if there is none.
    pub fn header(&self) -> &[u8] {
        // SAFETY: the parameters are valid as long as the stream.
        unsafe { header_of(&*self.parameters.as_ptr()) }
    }

    /// Whether FFmpeg has read packets of the stream, so that its parameters are known. A broadcast may announce a
    /// stream and never send it.
    pub fn is_known(&self) -> bool {
        // SAFETY: the parameters are valid.
        let parameters = unsafe { &*self.parameters.as_ptr() };
        match self.kind {
            MediaType::Audio => parameters.sample_rate > 0,
            MediaType::Video => parameters.width > 0 && parameters.height > 0,
            _ => true,
        }
    }

    /// Whether the codec has intra-coded frames only.
    pub fn is_intra_only(&self) -> bool {
        self.has_property(ffi::AV_CODEC_PROP_INTRA_ONLY)
    }

    fn has_property(&self, property: i32) -> bool {
        // SAFETY: the parameters are valid, and the descriptor is a constant or null.
        let descriptor = unsafe { ffi::avcodec_descriptor_get((*self.parameters.as_ptr()).codec_id).as_ref() };
        descriptor.is_some_and(|descriptor| descriptor.props & property != 0)
    }

    /// Whether this FFmpeg has a decoder for it.
    pub fn has_decoder(&self) -> bool {
        // SAFETY: the parameters are valid.
        unsafe { !ffi::avcodec_find_decoder((*self.parameters.as_ptr()).codec_id).is_null() }
    }

    /// Whether it is a text subtitle, which can be converted to other text subtitle codecs.
    pub fn is_text_subtitle(&self) -> bool {
        self.has_property(ffi::AV_CODEC_PROP_TEXT_SUB)
    }

    /// The value of a metadata key.
    pub fn tag(&self, key: &str) -> Option<&str> {
        self.metadata.iter().find(|(k, _)| k.eq_ignore_ascii_case(key)).map(|(_, value)| value.as_str())
    }

    /// The stream's description in messages: `stream #2 (audio, aac, deu)`.
    pub fn describe(&self) -> String {
        let language = self.tag("language").map(|language| format!(", {language}")).unwrap_or_default();
        let what = match self.codec.as_str() {
            "none" if self.is_timecode() => "timecode",
            "none" => self.tag("filename").or(self.tag("mimetype")).unwrap_or("of an unknown kind"),
            codec => codec,
        };
        let kind = match self.kind {
            MediaType::Video => "video",
            MediaType::Audio => "audio",
            MediaType::Subtitle => "subtitle",
            MediaType::Data => "data",
            MediaType::Attachment => "attachment",
            MediaType::Unknown => "unknown",
        };
        format!("stream #{} ({kind}, {what}{language})", self.index)
    }
}

/// The description of an input.
#[derive(Clone, Default)]
pub struct Media {
    /// The demuxer's name (`mov,mp4,m4a,3gp,3g2,mj2`).
    pub demuxer: String,
    /// Its streams.
    pub streams: Vec<Stream>,
    /// Its chapters.
    pub chapters: Vec<Chapter>,
    /// The metadata of the whole input.
    pub metadata: Metadata,
    /// The first timestamp of any stream, in microseconds, if known.
    pub start: Option<i64>,
    /// Length in microseconds, if known.
    pub duration: Option<i64>,
    /// Whether its times may jump from one packet to the next, as in a transport stream or an Ogg chain.
    pub may_jump: bool,
    /// For an image stack whose samples were mapped linearly to 16 bits: the finite sample values that map to 0 and
    /// 65535, in the unit of the file.
    pub samples: Option<(f64, f64)>,
    /// The programmes of a transport stream.
    pub programmes: Vec<Programme>,
    /// Content of the file that FFmpeg does not report.
    pub unshown: Vec<Unshown>,
}

const MAX_PROGRAMMES: usize = 1000;

const MAX_CHAPTERS: usize = 10_000;

/// The most bytes of keys and values in an input.
const MAX_METADATA: usize = 16 << 20;

/// Bytes of memory of an entry besides its text.
const ENTRY: usize = 2 * size_of::<String>();

/// The most bytes of attached files and cover art in an input.
const MAX_ATTACHED: usize = 256 << 20;

impl Media {
    /// Checks that the description is no larger than those of camera files and films.
    ///
    /// # Errors
    /// When it is larger.
    pub(crate) fn check_bounds(&self) -> Result<(), OpenError> {
        let texts = self.streams.iter().map(|stream| &stream.metadata);
        let texts = texts.chain(self.chapters.iter().map(|chapter| &chapter.metadata)).chain([&self.metadata]);
        let texts = texts.chain(self.programmes.iter().map(|programme| &programme.metadata));
        let texts = texts.flatten().map(|(key, value)| key.len() + value.len() + ENTRY).sum();
        let cover = |stream: &Stream| stream.cover.as_ref().map_or(0, Vec::len);
        let attached = self.streams.iter().map(|stream| stream.header().len() + cover(stream));
        for (there, most, what) in [
            (self.chapters.len(), MAX_CHAPTERS, "chapters"),
            (self.programmes.len(), MAX_PROGRAMMES, "programmes"),
            (texts, MAX_METADATA, "bytes of metadata"),
            (attached.sum(), MAX_ATTACHED, "bytes of attached files"),
        ] {
            if there > most {
                return Err(OpenError::too_much(most, what));
            }
        }
        Ok(())
    }

    /// The description of raw video without a container.
    pub fn for_raw_video(demuxer: &str, rate: Rational, sample_aspect_ratio: Option<Rational>) -> Self {
        let mut parameters = CodecParameters::new();
        parameters.set_medium(MediaType::Video);
        parameters.set_id(ffmpeg_next::codec::Id::RAWVIDEO);
        let stream = Stream {
            index: 0,
            kind: MediaType::Video,
            codec: "rawvideo".to_owned(),
            parameters,
            time_base: rate.invert(),
            frame_rate: Some(rate),
            base_rate: Some(rate),
            sample_aspect_ratio,
            container_aspect_ratio: None,
            field_order: FieldOrder::Unknown,
            start: Some(0),
            frames: None,
            metadata: Metadata::new(),
            disposition: ffi::AV_DISPOSITION_DEFAULT,
            side_data: StreamSideData::default(),
            cover: None,
        };
        Media { demuxer: demuxer.to_owned(), streams: vec![stream], start: Some(0), ..Media::default() }
    }

    /// Whether it is raw video.
    pub fn is_raw(&self) -> bool {
        matches!(self.demuxer.as_str(), "rawvideo" | "yuv4mpegpipe")
    }

    /// Whether its times come from a broadcast clock, which may start at any value.
    pub fn has_broadcast_clock(&self) -> bool {
        self.may_jump && self.demuxer != "ogg"
    }

    /// Sets the number of frames of stream `video` to that of the images, and the duration accordingly.
    pub fn set_images(&mut self, video: usize, images: usize) {
        let stream = &mut self.streams[video];
        stream.frames = Some(images as u64);
        let rate = stream.frame_rate.unwrap_or(Rational::new(25, 1));
        self.duration = i64::try_from(images).ok().map(|images| rescale(images, rate.invert(), microseconds()));
    }

    /// Whether it is one still image, or a sequence of them.
    pub fn is_images(&self) -> bool {
        self.demuxer.starts_with("image2") || self.demuxer.ends_with("_pipe")
    }
}

/// The entries of an FFmpeg dictionary.
///
/// # Safety
/// `dictionary` is null or valid.
pub(crate) unsafe fn entries(dictionary: *const ffi::AVDictionary) -> Metadata {
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
pub(crate) unsafe fn set_entries(dictionary: *mut *mut ffi::AVDictionary, entries: &[(String, String)]) {
    for (key, value) in entries {
        let (key, value) = (crate::ffmpeg::c_string(key), crate::ffmpeg::c_string(value));
        // SAFETY: by the caller's promise; key and value are copied.
        if unsafe { ffi::av_dict_set(dictionary, key.as_ptr(), value.as_ptr(), 0) } < 0 {
            out_of_memory();
        }
    }
}

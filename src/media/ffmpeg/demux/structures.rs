//! Side data that holds C structures, and which of it a decoding process may send: of the right size, by name.
#![allow(unsafe_code, reason = "FFI")]

use crate::ffmpeg::frame::Picture;
use ffmpeg_next::ffi;
use std::ffi::c_void;
use std::ops::RangeInclusive;

/// An invalid value in a message of a decoding process.
#[derive(Debug, thiserror::Error)]
#[error("the decoder's process tells of {0} that cannot be")]
pub struct Lie(pub &'static str);

/// Side data: FFmpeg's number of its kind, and its bytes.
pub(super) type SideData = Vec<(u32, Vec<u8>)>;

/// The sizes that side data of a kind may have, in bytes.
type Sizes = RangeInclusive<usize>;

const ANY: Sizes = 0..=usize::MAX;

fn least(bytes: usize) -> Sizes {
    bytes..=usize::MAX
}

fn exact(bytes: usize) -> Sizes {
    bytes..=bytes
}

/// Sizes in bytes of this FFmpeg's structures, which grow between versions.
struct Structures {
    stereo: usize,
    spherical: usize,
    mastering: usize,
    light: usize,
    dolby_vision: usize,
    buffering: usize,
    hdr10_plus: usize,
}

impl Structures {
    fn for_this_ffmpeg() -> &'static Self {
        static SIZES: std::sync::OnceLock<Structures> = std::sync::OnceLock::new();
        // SAFETY: each function allocates a structure and returns its size; all are freed here. A frame takes side data
        // that is made for it, and frees it.
        SIZES.get_or_init(|| unsafe {
            let mut sizes = [0_usize; 5];
            let made: [*mut c_void; 5] = [
                ffi::av_spherical_alloc(&mut sizes[0]).cast(),
                named::av_content_light_metadata_alloc(&mut sizes[1]),
                named::av_dovi_alloc(&mut sizes[2]),
                ffi::av_cpb_properties_alloc(&mut sizes[3]).cast(),
                named::av_dynamic_hdr_plus_alloc(&mut sizes[4]),
            ];
            made.into_iter().for_each(|structure| ffi::av_free(structure));
            let mut picture = Picture::new();
            let frame = picture.as_mut_ptr();
            let size = |kind| ffi::av_frame_get_side_data(frame, kind).as_ref().map_or(0, |side| side.size);
            ffi::av_stereo3d_create_side_data(frame);
            let stereo = size(ffi::AVFrameSideDataType::AV_FRAME_DATA_STEREO3D);
            named::av_mastering_display_metadata_create_side_data(frame);
            let mastering = size(ffi::AVFrameSideDataType::AV_FRAME_DATA_MASTERING_DISPLAY_METADATA);
            let [spherical, light, dolby_vision, buffering, hdr10_plus] = sizes;
            Structures { stereo, spherical, mastering, light, dolby_vision, buffering, hdr10_plus }
        })
    }
}

/// Bytes of a display matrix.
const MATRIX: usize = 36;

/// The types of side data of streams and packets that may come from a decoding process. Muxers, and the decoders of
/// sound and subtitles, read some types without checking their size, so it has to be right.
fn packet_sizes() -> [(ffi::AVPacketSideDataType, Sizes); 23] {
    use ffi::AVPacketSideDataType as Kind;
    let sizes = Structures::for_this_ffmpeg();
    [
        (Kind::AV_PKT_DATA_PALETTE, exact(1024)),
        (Kind::AV_PKT_DATA_NEW_EXTRADATA, ANY),
        (Kind::AV_PKT_DATA_PARAM_CHANGE, least(4)),
        (Kind::AV_PKT_DATA_REPLAYGAIN, exact(16)),
        (Kind::AV_PKT_DATA_DISPLAYMATRIX, exact(MATRIX)),
        (Kind::AV_PKT_DATA_STEREO3D, exact(sizes.stereo)),
        (Kind::AV_PKT_DATA_AUDIO_SERVICE_TYPE, exact(4)),
        (Kind::AV_PKT_DATA_FALLBACK_TRACK, exact(4)),
        (Kind::AV_PKT_DATA_CPB_PROPERTIES, exact(sizes.buffering)),
        (Kind::AV_PKT_DATA_SKIP_SAMPLES, exact(10)),
        (Kind::AV_PKT_DATA_JP_DUALMONO, exact(1)),
        (Kind::AV_PKT_DATA_STRINGS_METADATA, ANY),
        (Kind::AV_PKT_DATA_SUBTITLE_POSITION, exact(16)),
        (Kind::AV_PKT_DATA_MATROSKA_BLOCKADDITIONAL, least(8)),
        (Kind::AV_PKT_DATA_WEBVTT_IDENTIFIER, ANY),
        (Kind::AV_PKT_DATA_WEBVTT_SETTINGS, ANY),
        (Kind::AV_PKT_DATA_METADATA_UPDATE, ANY),
        (Kind::AV_PKT_DATA_MPEGTS_STREAM_ID, exact(1)),
        (Kind::AV_PKT_DATA_MASTERING_DISPLAY_METADATA, exact(sizes.mastering)),
        (Kind::AV_PKT_DATA_SPHERICAL, exact(sizes.spherical)),
        (Kind::AV_PKT_DATA_CONTENT_LIGHT_LEVEL, exact(sizes.light)),
        (Kind::AV_PKT_DATA_DOVI_CONF, exact(sizes.dolby_vision)),
        (Kind::AV_PKT_DATA_ICC_PROFILE, ANY),
    ]
}

/// The types of side data of pictures that may come from a decoding process, with their sizes.
pub(super) fn picture_sizes() -> [(ffi::AVFrameSideDataType, Sizes); 13] {
    use ffi::AVFrameSideDataType as Kind;
    let sizes = Structures::for_this_ffmpeg();
    [
        (Kind::AV_FRAME_DATA_A53_CC, ANY),
        (Kind::AV_FRAME_DATA_STEREO3D, exact(sizes.stereo)),
        (Kind::AV_FRAME_DATA_DISPLAYMATRIX, exact(MATRIX)),
        (Kind::AV_FRAME_DATA_AFD, exact(1)),
        (Kind::AV_FRAME_DATA_MASTERING_DISPLAY_METADATA, exact(sizes.mastering)),
        (Kind::AV_FRAME_DATA_GOP_TIMECODE, exact(8)),
        (Kind::AV_FRAME_DATA_SPHERICAL, exact(sizes.spherical)),
        (Kind::AV_FRAME_DATA_CONTENT_LIGHT_LEVEL, exact(sizes.light)),
        (Kind::AV_FRAME_DATA_ICC_PROFILE, ANY),
        (Kind::AV_FRAME_DATA_S12M_TIMECODE, exact(16)),
        (Kind::AV_FRAME_DATA_SEI_UNREGISTERED, least(16)),
        (Kind::AV_FRAME_DATA_DOVI_RPU_BUFFER, ANY),
        (Kind::AV_FRAME_DATA_DYNAMIC_HDR_PLUS, exact(sizes.hdr10_plus)),
    ]
}

/// The kind with this number, for bytes of a size that it may have.
pub(super) fn packet_kind(number: u32, len: usize) -> Option<ffi::AVPacketSideDataType> {
    packet_sizes().into_iter().find(|(kind, size)| *kind as u32 == number && size.contains(&len)).map(|(kind, _)| kind)
}

/// FFmpeg's functions that look up numbers of its enumerations. Declared here with integers, as the bindings' versions
/// take known numbers only.
pub(super) mod named {
    use ffmpeg_next::ffi;
    use std::ffi::{c_char, c_int, c_void};
    // SAFETY: the C functions of these names. A number is an `int` there, or an enumeration, which is passed as one.
    unsafe extern "C" {
        pub fn av_color_range_name(number: c_int) -> *const c_char;
        pub fn av_color_primaries_name(number: c_int) -> *const c_char;
        pub fn av_color_transfer_name(number: c_int) -> *const c_char;
        pub fn av_color_space_name(number: c_int) -> *const c_char;
        pub fn av_chroma_location_name(number: c_int) -> *const c_char;
        pub fn av_get_pix_fmt_name(number: c_int) -> *const c_char;
        pub fn av_get_sample_fmt_name(number: c_int) -> *const c_char;
        pub fn avcodec_descriptor_get(number: c_int) -> *const c_void;
        // Functions that the bindings lack; each allocates a structure and returns its size.
        pub fn av_content_light_metadata_alloc(size: *mut usize) -> *mut c_void;
        pub fn av_dovi_alloc(size: *mut usize) -> *mut c_void;
        pub fn av_dynamic_hdr_plus_alloc(size: *mut usize) -> *mut c_void;
        pub fn av_mastering_display_metadata_create_side_data(frame: *mut ffi::AVFrame) -> *mut c_void;
    }
}

//! FFmpeg, where the safe bindings lack something: contexts that own what they point to, pictures that share memory
//! with our frames, side data, errors that say more than a number.
//!
//! Everything unsafe about FFmpeg is in this module; what leaves it is safe to use.

mod colour;
mod container;
mod converter;
mod custom_io;
mod decoder;
mod decoder_buffers;
mod demuxer;
mod devices;
mod encoder;
mod encoder_info;
mod interrupt;
mod log;
mod media;
mod muxer;
mod nvdec;
mod packet;
mod parse;
mod picture;
mod protocols;
mod raw_format;
mod rotation;
mod shared_planes;
mod side_data;
mod sound;
mod subtitle;
mod surface;

pub use colour::{Colour, Siting};
pub use container::Container;
pub use converter::{Converter, VideoFormat};
pub use decoder::{DecodeOn, Decoded, Decoder, Delay};
pub use demuxer::Demuxer;
pub use devices::{Device, input_devices};
pub use encoder::{VideoEncoder, VideoOptions};
pub use encoder_info::{Encoder, encoders, nearest_format};
pub use ffmpeg_next::Rational;
pub use interrupt::Interrupt;
use log::refused_protocol;
pub use log::{last_message, set_verbose, silence_encoders};
pub use media::{Chapter, FieldOrder, Kind, Media, Metadata, Stream};
pub use muxer::{MUX_DELAY, Muxer, OutputStream};
pub use packet::Packet;
pub use parse::{later_timecode, parse_number, parse_rate, parse_size, parse_time};
pub use picture::{Picture, Properties};
pub use protocols::OpenError;
pub use raw_format::RawFormat;
pub use rotation::AutoRotate;
use rotation::Rotation;
pub use side_data::StreamSideData;
pub use sound::SoundTranscoder;
pub use subtitle::SubtitleTranscoder;

use ffmpeg_next::Rescale;
use std::ffi::{CStr, CString};
use std::sync::Once;

/// What FFmpeg answered to a call that failed.
pub type Error = ffmpeg_next::Error;

/// What a call answers that finds no memory.
const OUT_OF_MEMORY: Error = Error::Other { errno: libc::ENOMEM };

/// Makes FFmpeg ready and quiet. Safe to call more than once.
pub fn init() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // Registering cannot fail on the versions we build against; a failure would show at the first open.
        let _ = ffmpeg_next::init();
        log::install();
    });
}

/// FFmpeg's version, as its libraries give it.
pub fn version() -> String {
    let v = ffmpeg_next::codec::version();
    format!("libavcodec {}.{}.{}", v >> 16, (v >> 8) & 255, v & 255)
}

/// The result of a call that answers with a negative number when it fails.
fn check(code: i32) -> Result<i32, Error> {
    if code < 0 { Err(Error::from(code)) } else { Ok(code) }
}

/// `time` in units of `to` instead of `from`, rounded to the nearest.
pub fn rescale(time: i64, from: Rational, to: Rational) -> i64 {
    time.rescale(from, to)
}

/// The time base of microseconds.
pub fn microseconds() -> Rational {
    Rational::new(1, 1_000_000)
}

/// A place for FFmpeg: a name with a colon (`12:30.mp4`) is a file if one is there, or if no protocol is called like its
/// beginning.
fn location(name: &str) -> CString {
    let may_be_file = name.contains(':') && !name.contains("://") && !name.starts_with("pipe:");
    let is_file = may_be_file && (std::path::Path::new(name).exists() || !knows_protocol(name));
    if is_file { c_string(&format!("file:{name}")) } else { c_string(name) }
}

/// Is there a protocol for URLs like this one?
#[allow(unsafe_code, reason = "FFI")]
pub fn knows_protocol(url: &str) -> bool {
    // SAFETY: a NUL-terminated name.
    unsafe { !ffmpeg_next::ffi::avio_find_protocol_name(c_string(url).as_ptr()).is_null() }
}

/// Text for FFmpeg; what follows a NUL byte in it is dropped.
fn c_string(text: &str) -> CString {
    CString::new(text.split('\0').next().unwrap_or_default()).unwrap_or_default()
}

/// Text of FFmpeg's.
///
/// # Safety
/// `text` is null or points to a NUL-terminated string.
#[allow(unsafe_code, reason = "FFI")]
unsafe fn text(text: *const std::ffi::c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: not null, and NUL-terminated by the caller's promise.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

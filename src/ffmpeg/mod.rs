//! FFmpeg, where the safe bindings lack something: contexts that own what they point to, pictures that share memory
//! with our frames, side data, errors that say more than a number.
//!
//! Everything unsafe about FFmpeg is in this room; what leaves it is safe to use.

mod capabilities;
mod custom_io;
mod decoder;
mod demuxer;
mod devices;
mod encoder;
mod interrupt;
mod lender;
mod log;
mod media;
mod muxer;
mod nvdec;
mod picture;
mod scaler;
mod side_data;
mod subtitle;
mod surface;
mod turner;

pub use capabilities::{Container, Encoder, encoders, nearest_format};
pub use decoder::{DecodeOn, Decoded, Decoder, Delay};
pub use demuxer::{Demuxer, Packet};
pub use devices::{Device, video_devices};
pub use encoder::{VideoEncoder, VideoOptions};
pub use ffmpeg_next::Rational;
pub use interrupt::Interrupt;
pub use log::{last_message, set_verbose, silence_encoders};
pub use media::{Chapter, FieldOrder, Kind, Media, Metadata, Stream};
pub use muxer::{Muxer, OutputStream};
pub use picture::{Colour, Picture, Properties, RawFormat, Siting};
pub use scaler::Scaler;
pub use side_data::StreamSideData;
pub use subtitle::SubtitleTranscoder;
use turner::Turn;
pub use turner::Upright;

use std::ffi::{CStr, CString};
use std::sync::Once;

/// What FFmpeg answered to a call that failed.
pub type Error = ffmpeg_next::Error;

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

/// Microseconds, from a time written as FFmpeg's options take it (`90`, `1:30`, `00:01:30.5`, `500ms`).
#[allow(unsafe_code, reason = "FFI")]
pub fn parse_time(time: &str) -> Option<i64> {
    let mut microseconds = 0;
    // SAFETY: a NUL-terminated text and room for the answer.
    let parsed = unsafe { ffmpeg_next::ffi::av_parse_time(&mut microseconds, c_string(time).as_ptr(), 1) };
    (parsed >= 0).then_some(microseconds)
}

/// Frames a second, as FFmpeg's options take them (`30000/1001`, `29.97`, `ntsc`).
#[allow(unsafe_code, reason = "FFI")]
pub fn parse_rate(rate: &str) -> Option<Rational> {
    let mut parsed = Rational::new(0, 1).into();
    // SAFETY: a NUL-terminated text and room for the answer.
    let result = unsafe { ffmpeg_next::ffi::av_parse_video_rate(&mut parsed, c_string(rate).as_ptr()) };
    (result >= 0).then(|| parsed.into())
}

/// A number with the suffixes that FFmpeg's options take (`5M`, `800k`, `1.5Mi`).
#[allow(unsafe_code, reason = "FFI")]
pub fn parse_number(number: &str) -> Option<f64> {
    let number = c_string(number);
    let mut end = std::ptr::null_mut();
    // SAFETY: a NUL-terminated text; where reading ended is within it.
    let (parsed, rest) = unsafe { (ffmpeg_next::ffi::av_strtod(number.as_ptr(), &mut end), text(end)) };
    (rest.is_empty() && !number.is_empty() && parsed.is_finite()).then_some(parsed)
}

/// The timecode that is so many frames after `timecode` (`01:00:00:00`; drop-frame with a semicolon) at this rate.
#[allow(unsafe_code, reason = "FFI")]
pub fn later_timecode(timecode: &str, rate: Rational, frames: i32) -> Option<String> {
    use ffmpeg_next::ffi;
    let mut room = [0; ffi::AV_TIMECODE_STR_SIZE as usize];
    // SAFETY: a timecode to fill in, a NUL-terminated text, and as much room as FFmpeg says that it takes at most.
    unsafe {
        let mut parsed: ffi::AVTimecode = std::mem::zeroed();
        let from = c_string(timecode);
        check(ffi::av_timecode_init_from_string(&mut parsed, rate.into(), from.as_ptr(), std::ptr::null_mut())).ok()?;
        parsed.flags |= ffi::AVTimecodeFlag::AV_TIMECODE_FLAG_24HOURSMAX as u32;
        Some(text(ffi::av_timecode_make_string(&parsed, room.as_mut_ptr(), frames)))
    }
}

/// Pixels in a row and rows, as FFmpeg's options take them (`1920x1080`, `hd1080`).
#[allow(unsafe_code, reason = "FFI")]
pub fn parse_size(size: &str) -> Option<(usize, usize)> {
    let (mut width, mut height) = (0, 0);
    // SAFETY: a NUL-terminated text and room for the answers.
    let result = unsafe { ffmpeg_next::ffi::av_parse_video_size(&mut width, &mut height, c_string(size).as_ptr()) };
    (result >= 0).then_some((width as usize, height as usize))
}

/// `time` in units of `to` instead of `from`, rounded to the nearest.
#[allow(unsafe_code, reason = "FFI")]
pub fn rescale(time: i64, from: Rational, to: Rational) -> i64 {
    // SAFETY: arithmetic.
    unsafe { ffmpeg_next::ffi::av_rescale_q(time, from.into(), to.into()) }
}

/// The time base of microseconds.
pub fn microseconds() -> Rational {
    Rational::new(1, 1_000_000)
}

/// A place for FFmpeg: what is there as a file is a file, even if its name begins as a protocol's does (`12:30.mp4`).
fn location(name: &str) -> CString {
    let is_file = name.contains(':') && std::path::Path::new(name).exists();
    if is_file { c_string(&format!("file:{name}")) } else { c_string(name) }
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

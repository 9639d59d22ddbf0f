//! Parsers for times, rates, numbers, sizes and timecodes in the syntax of FFmpeg's options.
#![allow(unsafe_code, reason = "FFI")]

use super::{Rational, c_string, check, text};
use ffmpeg_next::ffi;

/// Parses a time (`90`, `1:30`, `00:01:30.5`, `500ms`) to microseconds.
pub fn parse_time(time: &str) -> Option<i64> {
    let mut microseconds = 0;
    // SAFETY: a NUL-terminated text and a valid pointer for the result.
    let parsed = unsafe { ffi::av_parse_time(&mut microseconds, c_string(time).as_ptr(), 1) };
    (parsed >= 0).then_some(microseconds)
}

/// Parses a frame rate (`30000/1001`, `29.97`, `ntsc`) to frames a second.
pub fn parse_rate(rate: &str) -> Option<Rational> {
    let mut parsed = Rational::new(0, 1).into();
    // SAFETY: a NUL-terminated text and a valid pointer for the result.
    let result = unsafe { ffi::av_parse_video_rate(&mut parsed, c_string(rate).as_ptr()) };
    (result >= 0).then(|| parsed.into())
}

/// Parses a number with a suffix (`5M`, `800k`, `1.5Mi`).
pub fn parse_number(number: &str) -> Option<f64> {
    let number = c_string(number);
    let mut end = std::ptr::null_mut();
    // SAFETY: a NUL-terminated text, which `end` then points into.
    let (parsed, rest) = unsafe { (ffi::av_strtod(number.as_ptr(), &mut end), text(end)) };
    (rest.is_empty() && !number.is_empty() && parsed.is_finite()).then_some(parsed)
}

/// Whether FFmpeg supports this timecode at this frame rate: drop-frame only at multiples of 30000/1001.
pub fn counts_timecode(timecode: &str, rate: Rational) -> bool {
    // SAFETY: a timecode to fill in, and a NUL-terminated text.
    unsafe {
        let mut parsed: ffi::AVTimecode = std::mem::zeroed();
        let source = c_string(timecode);
        ffi::av_timecode_init_from_string(&mut parsed, rate.into(), source.as_ptr(), std::ptr::null_mut()) >= 0
    }
}

/// The timecode that is `frames` frames after `timecode` (`01:00:00:00`; drop-frame with a semicolon) at this rate.
pub fn later_timecode(timecode: &str, rate: Rational, frames: i32) -> Option<String> {
    let mut buffer = [0; ffi::AV_TIMECODE_STR_SIZE as usize];
    // SAFETY: a timecode to fill in, a NUL-terminated text, and a buffer of the length that FFmpeg requires.
    unsafe {
        let mut parsed: ffi::AVTimecode = std::mem::zeroed();
        let source = c_string(timecode);
        check(ffi::av_timecode_init_from_string(&mut parsed, rate.into(), source.as_ptr(), std::ptr::null_mut()))
            .ok()?;
        parsed.flags |= ffi::AVTimecodeFlag::AV_TIMECODE_FLAG_24HOURSMAX as u32;
        Some(text(ffi::av_timecode_make_string(&parsed, buffer.as_mut_ptr(), frames)))
    }
}

/// The timecode of the frame of this number at this rate. `flags`: 1 for drop-frame, 2 for a wrap after 24 hours.
pub fn timecode_of(frame: i32, rate: Rational, flags: i32) -> Option<String> {
    let mut buffer = [0; ffi::AV_TIMECODE_STR_SIZE as usize];
    // SAFETY: a timecode to fill in, and a buffer of the length that FFmpeg requires.
    unsafe {
        let mut timecode: ffi::AVTimecode = std::mem::zeroed();
        check(ffi::av_timecode_init(&mut timecode, rate.into(), flags, frame, std::ptr::null_mut())).ok()?;
        Some(text(ffi::av_timecode_make_string(&timecode, buffer.as_mut_ptr(), 0)))
    }
}

/// Parses a size (`1920x1080`, `hd1080`) to width and height in pixels.
pub fn parse_size(size: &str) -> Option<(usize, usize)> {
    let (mut width, mut height) = (0, 0);
    // SAFETY: a NUL-terminated text and valid pointers for the results.
    let result = unsafe { ffi::av_parse_video_size(&mut width, &mut height, c_string(size).as_ptr()) };
    (result >= 0).then_some((width as usize, height as usize))
}

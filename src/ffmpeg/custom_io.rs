//! Lets FFmpeg read from anything that Rust can read from.
#![allow(unsafe_code, reason = "C callbacks")]

use super::{Error, OUT_OF_MEMORY, check};
use ffmpeg_next::ffi;
use std::ffi::CStr;
use std::io::Read;

/// Bytes that FFmpeg asks for at once.
const BUFFER: usize = 1 << 16;

/// A reader in the shape that FFmpeg wants. It has to live longer than the context that reads from it.
pub struct CustomIo {
    context: *mut ffi::AVIOContext,
    reader: *mut Box<dyn Read + Send>,
}

// SAFETY: the reader is Send, and the context is used by the thread that owns the demuxer only.
unsafe impl Send for CustomIo {}

impl CustomIo {
    /// FFmpeg's view of `reader`.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn new(reader: Box<dyn Read + Send>) -> Result<Self, Error> {
        let reader = Box::into_raw(Box::new(reader));
        // SAFETY: the buffer is FFmpeg's own, which may replace it, and is freed here if nothing takes it; the reader lives
        // as long as the context, and is freed here if there is none.
        unsafe {
            let mut buffer = ffi::av_malloc(BUFFER);
            let context = match buffer.is_null() {
                true => std::ptr::null_mut(),
                false => {
                    ffi::avio_alloc_context(buffer.cast(), BUFFER as i32, 0, reader.cast(), Some(read), None, None)
                }
            };
            if context.is_null() {
                ffi::av_freep((&raw mut buffer).cast());
                drop(Box::from_raw(reader));
                return Err(OUT_OF_MEMORY);
            }
            Ok(CustomIo { context, reader })
        }
    }

    /// The demuxer for what comes first, which is read again later.
    ///
    /// # Errors
    /// When there is none, or reading fails.
    pub(super) fn probe(&self, name: &CStr) -> Result<*const ffi::AVInputFormat, Error> {
        let mut found = std::ptr::null();
        // SAFETY: the context is valid, and its position is what it was when the call is over.
        check(unsafe {
            let no_log = std::ptr::null_mut();
            ffi::av_probe_input_buffer2(self.context, &mut found, name.as_ptr(), no_log, 0, 0)
        })?;
        Ok(found)
    }

    pub(super) fn as_ptr(&self) -> *mut ffi::AVIOContext {
        self.context
    }
}

impl Drop for CustomIo {
    fn drop(&mut self) {
        // SAFETY: both were made in `new` and are freed nowhere else; the buffer is the one the context has by now.
        unsafe {
            ffi::av_freep((&raw mut (*self.context).buffer).cast());
            ffi::avio_context_free(&mut self.context);
            drop(Box::from_raw(self.reader));
        }
    }
}

unsafe extern "C" fn read(reader: *mut std::ffi::c_void, buffer: *mut u8, size: i32) -> i32 {
    // SAFETY: `reader` is the one that `new` gave, and FFmpeg calls this on one thread at a time.
    let reader = unsafe { &mut *reader.cast::<Box<dyn Read + Send>>() };
    // SAFETY: FFmpeg gives a buffer of this size.
    let buffer = unsafe { std::slice::from_raw_parts_mut(buffer, size as usize) };
    match reader.read(buffer) {
        Ok(0) => ffi::AVERROR_EOF,
        Ok(count) => count as i32,
        Err(error) => ffi::AVERROR(error.raw_os_error().unwrap_or(libc::EIO)),
    }
}

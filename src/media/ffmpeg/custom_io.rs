//! An FFmpeg I/O context that reads from a Rust [`Read`].
#![allow(unsafe_code, reason = "C callbacks")]

use super::{Error, OUT_OF_MEMORY, check};
use ffmpeg_next::ffi;
use std::ffi::CStr;
use std::io::Read;

/// Bytes of FFmpeg's read buffer.
const BUFFER: usize = 1 << 16;

/// An `AVIOContext` over a reader. It must outlive the format context that reads from it.
pub struct CustomIo {
    context: *mut ffi::AVIOContext,
    reader: *mut Box<dyn Read + Send>,
}

// SAFETY: the reader is Send, and the context is used by the thread that owns the demuxer only.
unsafe impl Send for CustomIo {}

impl CustomIo {
    /// Wraps `reader`.
    ///
    /// # Errors
    /// When memory runs out.
    pub fn new(reader: Box<dyn Read + Send>) -> Result<Self, Error> {
        let reader = Box::into_raw(Box::new(reader));
        // SAFETY: FFmpeg allocates the buffer, and may replace it. If no context takes buffer and reader, both are freed
        // here; else they live as long as the context.
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

    /// The demuxer for the first bytes, which stay in the buffer and are read again.
    ///
    /// # Errors
    /// When FFmpeg knows none, or reading fails.
    pub(super) fn probe(&self, name: &CStr) -> Result<*const ffi::AVInputFormat, Error> {
        let mut found = std::ptr::null();
        // SAFETY: the context is valid; the call restores its position.
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
        // SAFETY: both were made in `new` and are freed nowhere else; the buffer is the context's current one.
        unsafe {
            ffi::av_freep((&raw mut (*self.context).buffer).cast());
            ffi::avio_context_free(&mut self.context);
            drop(Box::from_raw(self.reader));
        }
    }
}

unsafe extern "C" fn read(reader: *mut std::ffi::c_void, buffer: *mut u8, size: i32) -> i32 {
    // SAFETY: `reader` is the pointer that `new` passed, and FFmpeg calls this on one thread at a time.
    let reader = unsafe { &mut *reader.cast::<Box<dyn Read + Send>>() };
    // SAFETY: FFmpeg passes a buffer of this size.
    let buffer = unsafe { std::slice::from_raw_parts_mut(buffer, size as usize) };
    match reader.read(buffer) {
        Ok(0) => ffi::AVERROR_EOF,
        Ok(count) => count as i32,
        Err(error) => ffi::AVERROR(error.raw_os_error().unwrap_or(libc::EIO)),
    }
}

//! An FFmpeg I/O context that reads from a Rust [`Read`], or from an open file.
#![allow(unsafe_code, reason = "C callbacks")]

use crate::ffmpeg::{Error, FileRead, OUT_OF_MEMORY, check};
use ffmpeg_next::ffi;
use std::ffi::{CStr, c_void};
use std::fs::File;
use std::io::Read;
use std::mem::ManuallyDrop;
use std::os::unix::fs::FileExt;

/// Bytes of FFmpeg's read buffer.
const BUFFER: usize = 1 << 16;

/// What an `AVIOContext` reads from.
enum IoInput {
    /// A stream that is read once, from beginning to end.
    Stream(Box<dyn Read + Send>),
    /// A seekable file. `position` is tracked here, because duplicates of the descriptor share the kernel's file
    /// offset.
    File { file: File, position: u64 },
}

/// An `AVIOContext` over a reader. It must outlive the format context that reads from it.
pub struct CustomIo {
    context: *mut ffi::AVIOContext,
}

// SAFETY: the reader is Send, and the context is used by the thread that owns the demuxer only.
unsafe impl Send for CustomIo {}

impl CustomIo {
    /// Wraps `reader`.
    ///
    /// # Errors
    /// When memory runs out.
    pub fn new(reader: Box<dyn Read + Send>) -> Result<Self, Error> {
        Ok(CustomIo { context: allocate(IoInput::Stream(reader))? })
    }

    /// Wraps `file`, from its beginning.
    ///
    /// # Errors
    /// When memory runs out.
    pub fn for_file(file: File) -> Result<Self, Error> {
        Ok(CustomIo { context: allocate(IoInput::File { file, position: 0 })? })
    }

    /// The context, which the caller has to free with [`free`].
    pub(crate) fn into_context(self) -> *mut ffi::AVIOContext {
        ManuallyDrop::new(self).context
    }

    /// Probes the first bytes for their demuxer. They stay in the buffer, and are read again.
    ///
    /// # Errors
    /// When no demuxer fits, or reading fails.
    pub(crate) fn probe(&self, name: &CStr) -> Result<*const ffi::AVInputFormat, Error> {
        let mut found = std::ptr::null();
        // SAFETY: the context is valid; the call restores its position.
        check(unsafe {
            let no_log = std::ptr::null_mut();
            ffi::av_probe_input_buffer2(self.context, &mut found, name.as_ptr(), no_log, 0, 0)
        })?;
        Ok(found)
    }

    pub(crate) fn as_ptr(&self) -> *mut ffi::AVIOContext {
        self.context
    }
}

impl Drop for CustomIo {
    fn drop(&mut self) {
        // SAFETY: made by `allocate`, and freed nowhere else.
        unsafe { free(self.context) };
    }
}

fn allocate(input: IoInput) -> Result<*mut ffi::AVIOContext, Error> {
    let seek: Option<Seek> = if let IoInput::File { .. } = input { Some(seek) } else { None };
    let input = Box::into_raw(Box::new(input));
    // SAFETY: FFmpeg allocates the buffer, and may replace it. If no context takes buffer and input, both are freed
    // here; else they live as long as the context.
    unsafe {
        let mut buffer = ffi::av_malloc(BUFFER);
        let context = match buffer.is_null() {
            true => std::ptr::null_mut(),
            false => ffi::avio_alloc_context(buffer.cast(), BUFFER as i32, 0, input.cast(), Some(read), None, seek),
        };
        if context.is_null() {
            ffi::av_freep((&raw mut buffer).cast());
            drop(Box::from_raw(input));
            return Err(OUT_OF_MEMORY);
        }
        Ok(context)
    }
}

/// Whether the context belongs to a [`CustomIo`].
///
/// # Safety
/// `context` is valid.
pub(crate) unsafe fn is_custom(context: *const ffi::AVIOContext) -> bool {
    type Reads = unsafe extern "C" fn(*mut c_void, *mut u8, i32) -> i32;
    // SAFETY: by the caller's promise.
    unsafe { (*context).read_packet }.is_some_and(|function| std::ptr::fn_addr_eq(function, read as Reads))
}

/// Frees a context and what it reads from.
///
/// # Safety
/// `context` is that of a [`CustomIo`], and is not used any more.
pub(crate) unsafe fn free(mut context: *mut ffi::AVIOContext) {
    // SAFETY: by the caller's promise; the buffer is the context's current one.
    unsafe {
        let input = (*context).opaque.cast::<IoInput>();
        ffi::av_freep((&raw mut (*context).buffer).cast());
        ffi::avio_context_free(&mut context);
        drop(Box::from_raw(input));
    }
}

unsafe extern "C" fn read(input: *mut c_void, buffer: *mut u8, size: i32) -> i32 {
    // SAFETY: `input` is the pointer from `allocate`, and FFmpeg calls this on one thread at a time, with a buffer of
    // this size.
    let (input, buffer) =
        unsafe { (&mut *input.cast::<IoInput>(), std::slice::from_raw_parts_mut(buffer, size as usize)) };
    let count = match input {
        IoInput::Stream(reader) => reader.read(buffer),
        IoInput::File { file, position } => {
            let _read = FileRead::begin();
            file.read_at(buffer, *position).inspect(|&count| *position += count as u64)
        }
    };
    match count {
        Ok(0) => ffi::AVERROR_EOF,
        Ok(count) => count as i32,
        Err(error) => ffi::AVERROR(error.raw_os_error().unwrap_or(libc::EIO)),
    }
}

type Seek = unsafe extern "C" fn(*mut c_void, i64, i32) -> i64;

unsafe extern "C" fn seek(input: *mut c_void, offset: i64, whence: i32) -> i64 {
    // SAFETY: as in `read`.
    let IoInput::File { file, position } = (unsafe { &mut *input.cast::<IoInput>() }) else { return -1 };
    let length = || file.metadata().map(|file| file.len() as i64);
    let failed = |error: std::io::Error| i64::from(ffi::AVERROR(error.raw_os_error().unwrap_or(libc::EIO)));
    let start = match whence & !ffi::AVSEEK_FORCE {
        libc::SEEK_SET => Ok(0),
        libc::SEEK_CUR => Ok(*position as i64),
        libc::SEEK_END => length(),
        whence if whence == ffi::AVSEEK_SIZE => return length().unwrap_or_else(failed),
        _ => return i64::from(ffi::AVERROR(libc::EINVAL)),
    };
    match start.map(|start| start.checked_add(offset).and_then(|place| u64::try_from(place).ok())) {
        Ok(Some(place)) => {
            *position = place;
            place as i64
        }
        Ok(None) => i64::from(ffi::AVERROR(libc::EINVAL)),
        Err(error) => failed(error),
    }
}

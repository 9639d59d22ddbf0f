//! A safe layer over FFmpeg's C interface, for the parts that the crate `ffmpeg-next` lacks: demuxer, decoder, encoder
//! and muxer contexts, pictures that share memory with frames, side data, log messages as causes of errors. All unsafe
//! code for FFmpeg is in this module.
//!
//! In the order in which a frame passes:
//!
//! | file | what it is |
//! |---|---|
//! | `demux` | opens an input, describes it and its streams, and reads its packets |
//! | `packet.rs` | a compressed packet (AVPacket) |
//! | `decode` | decodes packets into memory of a pool, on the CPU or on a GPU |
//! | `frame` | a picture (AVFrame): its memory, colours, pixels and rotation; picture to frame and back |
//! | `filter` | converts pictures, runs them through libavfilter's filters |
//! | `encode` | encodes pictures, sound and subtitles; the encoders of this FFmpeg |
//! | `mux` | writes packets into a container; the containers of this FFmpeg, and what they signal |
//! | `log.rs`, `parse.rs` | log messages as causes of errors; values of options |

/// Implements an owner of a structure of FFmpeg's: allocation without arguments, access through the field `ptr`, and
/// freeing. `$field: $value` are the other fields of a new owner.
macro_rules! owned {
    ($owner:ident { $($field:ident: $value:expr),* }, $structure:ident, $allocate:ident, $free:ident) => {
        // SAFETY: the structure is plain data and atomically counted references; nothing ties it to a thread.
        unsafe impl Send for $owner {}

        impl $owner {
            pub(in crate::ffmpeg) fn new() -> Self {
                // SAFETY: no precondition.
                let ptr = unsafe { ffmpeg_next::ffi::$allocate() };
                if ptr.is_null() {
                    $crate::sys::out_of_memory();
                }
                $owner { ptr, $($field: $value),* }
            }

            pub(in crate::ffmpeg) fn as_ptr(&self) -> *const ffmpeg_next::ffi::$structure {
                self.ptr
            }

            pub(in crate::ffmpeg) fn as_mut_ptr(&mut self) -> *mut ffmpeg_next::ffi::$structure {
                self.ptr
            }

            pub(in crate::ffmpeg) fn get(&self) -> &ffmpeg_next::ffi::$structure {
                // SAFETY: allocated in `new`, freed in `drop` only.
                unsafe { &*self.ptr }
            }

            pub(in crate::ffmpeg) fn get_mut(&mut self) -> &mut ffmpeg_next::ffi::$structure {
                // SAFETY: allocated in `new`, freed in `drop` only, and not shared.
                unsafe { &mut *self.ptr }
            }
        }

        impl Drop for $owner {
            fn drop(&mut self) {
                // SAFETY: allocated in `new`, freed nowhere else.
                unsafe { ffmpeg_next::ffi::$free(&mut self.ptr) };
            }
        }
    };
}

pub mod decode;
pub mod demux;
pub mod encode;
pub mod filter;
pub mod frame;
mod log;
pub mod mux;
mod packet;
mod parse;

use crate::sys::files::Name;
use ffmpeg_next::Rescale;
pub use ffmpeg_next::chroma::Location as ChromaLocation;
pub use ffmpeg_next::codec::Id as CodecId;
pub use ffmpeg_next::media::Type as MediaType;
pub use ffmpeg_next::{FieldOrder, Rational};
pub use log::{first_message, has_ended_early, is_only_thread, last_message, refused_size, silence_encoders};
pub use packet::Packet;
use parse::timecode_of;
pub use parse::{counts_timecode, later_timecode, parse_number, parse_rate, parse_size, parse_time};
use std::ffi::{CStr, CString, OsStr};
use std::path::Path;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// The error of a call to FFmpeg.
pub type Error = ffmpeg_next::Error;

/// The error of a call when memory runs out.
pub const OUT_OF_MEMORY: Error = Error::Other { errno: libc::ENOMEM };

/// Initializes FFmpeg and redirects its log. Safe to call more than once.
pub fn init() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // Registering devices cannot fail in the supported versions; a failure would show at the first open.
        let _ = ffmpeg_next::init();
        log::install();
    });
}

/// How many packets were read and pictures decoded, by all threads.
static ACTIVITY: AtomicU64 = AtomicU64::new(0);

/// How many packets were read and pictures decoded so far. If the number does not change for long, a decoder hangs.
pub fn activity() -> u64 {
    ACTIVITY.load(Ordering::Relaxed)
}

/// Counts a packet or a picture.
pub fn note_activity() {
    ACTIVITY.fetch_add(1, Ordering::Relaxed);
}

/// The number of reads of files in progress.
static READS: AtomicUsize = AtomicUsize::new(0);

/// A read of a file, which may have to wait for its disk.
pub struct FileRead(());

impl FileRead {
    /// Begins a read, which ends when this is dropped.
    pub fn begin() -> Self {
        READS.fetch_add(1, Ordering::Relaxed);
        FileRead(())
    }

    /// Whether any thread is reading a file.
    pub fn goes_on() -> bool {
        READS.load(Ordering::Relaxed) > 0
    }
}

impl Drop for FileRead {
    fn drop(&mut self) {
        READS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The argument of [`limit_allocations`]; 0 before it is called.
static ALLOCATION: AtomicUsize = AtomicUsize::new(0);

/// Whether FFmpeg's own messages are printed.
static IS_VERBOSE: AtomicBool = AtomicBool::new(false);

/// The most bytes of a single allocation, if they are limited.
pub fn allocation_limit() -> Option<usize> {
    Some(ALLOCATION.load(Ordering::Relaxed)).filter(|&bytes| bytes > 0)
}

/// Whether FFmpeg's own messages are printed on stderr.
pub fn is_verbose() -> bool {
    IS_VERBOSE.load(Ordering::Relaxed)
}

/// Makes FFmpeg refuse single allocations of more than `bytes` bytes, and, as it does by default, of more than 2 GiB.
#[allow(unsafe_code, reason = "FFI")]
pub fn limit_allocations(bytes: usize) {
    ALLOCATION.store(bytes, Ordering::Relaxed);
    // SAFETY: sets an atomic number.
    unsafe { ffmpeg_next::ffi::av_max_alloc(bytes.min(i32::MAX as usize)) };
}

/// Prints FFmpeg's own messages on stderr from now on, if `verbose` (`-v`).
pub fn set_verbose(verbose: bool) {
    init();
    if verbose {
        IS_VERBOSE.store(true, Ordering::Relaxed);
        log::print_messages();
    }
}

/// The version of FFmpeg: `5.1.6`.
#[allow(unsafe_code, reason = "FFI")]
pub fn release() -> String {
    // SAFETY: a text that stays.
    unsafe { text(ffmpeg_next::ffi::av_version_info()) }
}

/// The version of libavcodec.
pub fn version() -> String {
    let v = ffmpeg_next::codec::version();
    format!("libavcodec {}.{}.{}", v >> 16, (v >> 8) & 255, v & 255)
}

/// The result of a call that returns a negative number when it fails.
fn check(code: i32) -> Result<i32, Error> {
    if code < 0 { Err(Error::from(code)) } else { Ok(code) }
}

/// `time` in units of `target` instead of `source`, rounded to the nearest.
pub fn rescale(time: i64, source: Rational, target: Rational) -> i64 {
    time.rescale(source, target)
}

/// The time base of microseconds.
pub fn microseconds() -> Rational {
    Rational::new(1, 1_000_000)
}

/// The URL for FFmpeg of a file name or URL. A name with a colon (`12:30.mp4`) is a file if that file exists, or no
/// protocol has the name before the colon. `pipe:3` is the open descriptor of this number, and never a file.
fn location(name: impl AsRef<OsStr>) -> CString {
    let (name, text) = (name.as_ref(), name.as_ref().to_string_lossy());
    let has_colon = text.contains(':') && !text.contains("://");
    let is_there = || !text.starts_with("pipe:") && Path::new(name).exists();
    let is_file = has_colon && (!knows_protocol(&text) || is_there());
    c_string(Name::from_parts([&if is_file { "file:" } else { "" }, &name]))
}

/// Whether this FFmpeg has the protocol of this URL. `pipe:` counts only before a number: FFmpeg would read
/// `pipe:0.mkv` from a pipe.
#[allow(unsafe_code, reason = "FFI")]
pub fn knows_protocol(url: &str) -> bool {
    if let Some(number) = url.strip_prefix("pipe:") {
        return number.bytes().all(|byte| byte.is_ascii_digit());
    }
    // SAFETY: a NUL-terminated name.
    unsafe { !ffmpeg_next::ffi::avio_find_protocol_name(c_string(url).as_ptr()).is_null() }
}

/// Whether FFmpeg treats this name as a URL, rather than as the name of a file.
pub fn is_url(name: impl AsRef<OsStr>) -> bool {
    let (name, text) = (name.as_ref(), name.as_ref().to_string_lossy());
    let may_be_file = !text.contains(':') || Path::new(name).exists();
    text.contains("://") || !may_be_file && knows_protocol(&text)
}

/// A text or a name as a C string, up to the first NUL byte.
fn c_string(text: impl AsRef<OsStr>) -> CString {
    let bytes = text.as_ref().as_encoded_bytes();
    CString::new(bytes.split(|&byte| byte == 0).next().unwrap_or_default()).unwrap_or_default()
}

/// Text from a C string; empty for null.
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

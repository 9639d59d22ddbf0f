//! FFmpeg's log. It is not printed, but the last error message of each thread is kept, and the last one of the threads
//! that FFmpeg starts itself, such as those of a decoder: it often names the cause, which the error code does not.
#![allow(unsafe_code, reason = "a C callback")]

use crate::sys::files::note_input;
use crate::sys::{give_up, print_text, printable};
use ffmpeg_next::ffi;
use std::cell::{Cell, RefCell};
use std::ffi::CStr;
use std::sync::{Mutex, OnceLock, PoisonError};

/// The first and the last error message of threads that have never asked for messages, such as FFmpeg's own.
static MESSAGES_OF_OTHERS: Mutex<Option<[String; 2]>> = Mutex::new(None);

thread_local! {
    /// Whether this thread has asked for messages.
    static ASKS: Cell<bool> = const { Cell::new(false) };

    /// The first and the last error message of this thread since they were last returned.
    static MESSAGES: RefCell<Option<[String; 2]>> = const { RefCell::new(None) };

    /// Whether a demuxer has logged that its file is truncated.
    static ENDED_EARLY: Cell<bool> = const { Cell::new(false) };

    /// The last protocol that was refused. Later messages are less specific.
    static REFUSED: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Prints FFmpeg's messages on stderr from now on.
pub(super) fn print_messages() {
    // SAFETY: sets an atomic integer.
    unsafe { ffi::av_log_set_level(ffi::AV_LOG_INFO) };
}

/// Silences SVT-AV1, which prints on stderr itself, unless an environment variable forbids it. Call this before the
/// first thread is started: once there are others, which may read the environment, it does nothing.
pub fn silence_encoders() {
    if is_only_thread() {
        // SAFETY: both are texts that end with a zero, and this is the only thread of the process, so no other one
        // accesses the environment. Without memory for it, SVT-AV1 prints.
        unsafe { libc::setenv(c"SVT_LOG".as_ptr(), c"1".as_ptr(), 1) };
    }
}

/// Whether the calling thread is the only one of the process.
pub fn is_only_thread() -> bool {
    std::fs::read_to_string("/proc/self/status")
        .is_ok_and(|status| status.lines().any(|line| line.split_whitespace().eq(["Threads:", "1"])))
}

/// Takes the last error message that FFmpeg has logged on this thread since the last call, without its line end; if
/// there is none, the last one of a thread that FFmpeg has started.
pub fn last_message() -> Option<String> {
    let [_, last] = take_messages()?;
    Some(last)
}

/// As [`last_message`], but the first one: filters log the cause first, and then the failure that follows from it.
pub fn first_message() -> Option<String> {
    let [first, _] = take_messages()?;
    Some(first)
}

/// Whether the last error message of this thread that was not returned yet contains this word.
pub(super) fn message_names(word: &str) -> bool {
    MESSAGES.with_borrow(|messages| messages.as_ref().is_some_and(|[_, last]| last.contains(word)))
}

fn take_messages() -> Option<[String; 2]> {
    ASKS.set(true);
    let of_others = MESSAGES_OF_OTHERS.lock().unwrap_or_else(PoisonError::into_inner).take();
    MESSAGES.take().or(of_others)
}

/// Whether a demuxer has logged on this thread, since the last call, that its file is truncated. The demuxer of
/// Matroska returns no error for it.
pub fn has_ended_early() -> bool {
    ENDED_EARLY.take()
}

/// Takes the last protocol that FFmpeg has refused to open on this thread since the last call, because it was not on
/// the whitelist.
pub(super) fn refused_protocol() -> Option<String> {
    REFUSED.take()
}

/// The size of the last picture that FFmpeg has refused for its number of pixels, on any thread, because decoders often
/// refuse it on threads of their own.
static REFUSED_SIZE: Mutex<Option<(usize, usize)>> = Mutex::new(None);

/// Takes the size of the last picture that FFmpeg has refused since the last call, on any thread, because it has more
/// than `max_pixels` pixels. The error code and later messages are the same as for damage.
pub fn refused_size() -> Option<(usize, usize)> {
    REFUSED_SIZE.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// The size in a message of FFmpeg that a picture has too many pixels.
fn refused_size_in(message: &str) -> Option<(usize, usize)> {
    let (_, rest) = message.split_once("Picture size ")?;
    let (size, _) = rest.split_once(" exceeds specified max pixel count")?;
    let (width, height) = size.split_once('x')?;
    Some((width.parse().ok()?, height.parse().ok()?))
}

/// The protocol in a message of FFmpeg that it is not on the whitelist.
fn refused_protocol_in(message: &str) -> Option<&str> {
    let (_, rest) = message.split_once("Protocol '")?;
    let (protocol, rest) = rest.split_once('\'')?;
    rest.starts_with(" not on whitelist").then_some(protocol)
}

/// The beginning of an incomplete line: FFmpeg logs some lines in parts.
static LINE: Mutex<String> = Mutex::new(String::new());

/// Installs the callback that keeps the last error message of each thread.
pub(super) fn install() {
    // SAFETY: sets an atomic integer, and a callback that may run on any thread.
    unsafe {
        ffi::av_log_set_level(ffi::AV_LOG_ERROR);
        ffi::av_log_set_callback(Some(remember));
    }
}

/// The beginning of the message that FFmpeg logs once for each picture or field in which it has concealed damage. Its
/// level is not error.
const CONCEALING: &[u8] = b"concealing ";

/// The beginning of the message that a server refuses a request, with the number that it gives. Its level is not error.
const HTTP_BEGINNING: &[u8] = b"HTTP error ";

/// The beginning of the message that a file or an address is opened. For files that playlists and filters open in
/// contexts of their own, there is no other sign.
const OPENING: &[u8] = b"Opening '";

/// The URL that a message of FFmpeg reports as opened for reading. Files that this program writes are opened by their
/// descriptors.
fn opened_in(message: &[u8]) -> Option<&[u8]> {
    let begin = message.windows(OPENING.len()).position(|part| part == OPENING)? + OPENING.len();
    let url = message[begin..].trim_ascii_end().strip_suffix(b"' for reading")?;
    (!url.starts_with(b"/proc/self/fd/")).then_some(url)
}

/// The beginnings of errors about a missing reference. Undamaged streams cause them, too, after a seek: later pictures
/// list references from before it, which they need not use.
const REFERENCE_BEGINNINGS: [&[u8]; 5] = [
    b"Could not find ref with POC",
    b"co located POCs unavailable",
    b"reference picture missing during reorder",
    b"Missing reference picture",
    b"mmco: unref short failure",
];

/// A message of FFmpeg about damage.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Logged {
    /// An error.
    Error,
    /// A decoder has concealed damage in a picture.
    Concealed,
}

/// The function that is called for each message about damage.
static DAMAGED: OnceLock<unsafe fn(*mut std::ffi::c_void, Logged)> = OnceLock::new();

/// Calls `report` whenever FFmpeg logs damage, with the context of the message: null, or a structure that begins with
/// its `AVClass`. Only the first call of this function has an effect.
pub(super) fn report_damage_to(report: unsafe fn(*mut std::ffi::c_void, Logged)) {
    let _ = DAMAGED.set(report);
}

/// The arguments of a message, as C passes a `va_list`: on x86-64 by a pointer, as it is an array there.
#[cfg(target_arch = "x86_64")]
type Arguments = *mut ffi::__va_list_tag;
#[cfg(not(target_arch = "x86_64"))]
type Arguments = ffi::va_list;

unsafe extern "C" fn remember(
    context: *mut std::ffi::c_void,
    level: i32,
    format: *const std::ffi::c_char,
    arguments: Arguments,
) {
    // SAFETY: FFmpeg passes a format that ends with NUL.
    let begins_with = |text: &[u8]| unsafe { CStr::from_ptr(format) }.to_bytes().starts_with(text);
    let logged = match level {
        ..=ffi::AV_LOG_ERROR if !REFERENCE_BEGINNINGS.into_iter().any(begins_with) => Some(Logged::Error),
        ffi::AV_LOG_INFO if begins_with(CONCEALING) => Some(Logged::Concealed),
        _ => None,
    };
    if let (Some(logged), Some(report)) = (logged, DAMAGED.get()) {
        // SAFETY: FFmpeg passes a context.
        unsafe { report(context, logged) };
    }
    // SAFETY: reads an atomic integer.
    let most = unsafe { ffi::av_log_get_level() };
    let is_kept = level <= ffi::AV_LOG_ERROR || level == ffi::AV_LOG_WARNING && begins_with(HTTP_BEGINNING);
    let tells_opening = matches!(level, ffi::AV_LOG_INFO | ffi::AV_LOG_DEBUG) && begins_with(OPENING);
    if level > most && !is_kept && !tells_opening {
        return;
    }
    let verbose = most > ffi::AV_LOG_ERROR && level <= most;
    let mut line = [0; 1024];
    let mut prefix = i32::from(verbose && LINE.lock().unwrap_or_else(PoisonError::into_inner).is_empty());
    // SAFETY: FFmpeg passes a context, a format and its arguments; `line` has the length given.
    unsafe {
        let size = line.len() as i32;
        ffi::av_log_format_line2(context, level, format, arguments, line.as_mut_ptr(), size, &mut prefix);
    }
    // SAFETY: `av_log_format_line2` ends the line with NUL.
    let line = unsafe { CStr::from_ptr(line.as_ptr()) };
    if tells_opening {
        opened_in(line.to_bytes()).into_iter().for_each(note_input);
    }
    let line = line.to_string_lossy();
    if verbose {
        let mut whole = LINE.lock().unwrap_or_else(PoisonError::into_inner);
        whole.push_str(&line);
        if whole.ends_with('\n') {
            print_text(&whole);
            whole.clear();
        }
    }
    if !is_kept {
        return;
    }
    let message = match line.split_once("] ") {
        // "[libx264 @ 0x5581]" is shortened to "libx264:".
        Some((origin, rest)) if origin.starts_with('[') => {
            let name = origin[1..].split(" @").next().unwrap_or_default();
            format!("{name}: {}", rest.trim())
        }
        _ => line.trim().to_owned(),
    };
    if level == ffi::AV_LOG_PANIC && message.starts_with("Assertion ") {
        // A failed assertion: FFmpeg would abort the program next.
        let message = printable(&message);
        give_up(&format!("FFmpeg gives up: {message} (the input may be damaged, or another version may take it)"));
    }
    if let Some(protocol) = refused_protocol_in(&message) {
        // Thread-local storage cannot be accessed while its thread ends. Then no caller waits for the message.
        let _ = REFUSED.try_with(|refused| refused.replace(Some(protocol.to_owned())));
    }
    if let Some(size) = refused_size_in(&message) {
        *REFUSED_SIZE.lock().unwrap_or_else(PoisonError::into_inner) = Some(size);
    }
    if message.contains("ended prematurely") {
        let _ = ENDED_EARLY.try_with(|ended_early| ended_early.set(true));
    }
    if message.is_empty() {
        return;
    }
    let keep = |messages: &mut Option<[String; 2]>| {
        let first = messages.take().map_or_else(|| message.clone(), |[first, _]| first);
        *messages = Some([first, message]);
    };
    if ASKS.try_with(Cell::get).unwrap_or(false) {
        let _ = MESSAGES.try_with(|messages| keep(&mut messages.borrow_mut()));
    } else {
        keep(&mut MESSAGES_OF_OTHERS.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_a_picture_with_too_many_pixels_is_read() {
        let said = "Picture size 1920x1080 exceeds specified max pixel count 500000, see the documentation";
        assert_eq!(refused_size_in(said), Some((1920, 1080)));
        assert_eq!(refused_size_in(&format!("mpeg2video: [IMGUTILS @ 0x7ff] {said}")), Some((1920, 1080)));
        assert_eq!(refused_size_in("Picture size 0x0 is invalid"), None);
    }

    #[test]
    fn what_is_opened_for_reading_is_read() {
        assert_eq!(opened_in(b"[hls @ 0x55] Opening 'a's \xfc.ts' for reading\n"), Some(&b"a's \xfc.ts"[..]));
        for other in ["Opening 'a.ts' for writing\n", "Opening '/proc/self/fd/9' for reading\n", "Opening 'a.t"] {
            assert_eq!(opened_in(other.as_bytes()), None, "{other}");
        }
    }

    #[test]
    fn the_environment_stays_as_it_is_once_there_are_other_threads() {
        let before = std::env::var_os("SVT_LOG");
        let (end, until) = std::sync::mpsc::channel::<()>();
        let other = std::thread::spawn(move || until.recv());
        silence_encoders();
        assert_eq!(std::env::var_os("SVT_LOG"), before);
        drop(end);
        assert!(other.join().is_ok());
    }
}

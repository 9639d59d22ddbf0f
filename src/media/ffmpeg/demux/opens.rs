//! Bounds the files that an input opens, and the number of its streams, while FFmpeg opens it: a playlist can name
//! itself, and a server can describe more streams than there is memory for. FFmpeg's `concat` opens files without the
//! callbacks of this module: for them, the stack depth is bounded, and their names are read from FFmpeg's log. All
//! opened files are recorded, so that no output replaces them.
#![allow(unsafe_code, reason = "C callbacks")]

use super::Interrupt;
use super::custom_io::{self, CustomIo};
use super::protocols::OpenError;
use crate::ffmpeg::Error;
use crate::ffmpeg::log::message_names;
use crate::sys::files::note_input;
use ffmpeg_next::ffi;
use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::fs::File;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// The most streams of an input.
pub(crate) const MAX_STREAMS: usize = 1000;

/// The most files and addresses that are opened before the streams are known, and the most that are open at once.
const MAX_OPENS: usize = 1000;

/// The most bytes of stack between the call that opens an input, or reads it, and a callback of FFmpeg: each nested
/// file uses some of it.
const MAX_STACK: usize = 512 << 10;

type IoOpen = unsafe extern "C" fn(
    *mut ffi::AVFormatContext,
    *mut *mut ffi::AVIOContext,
    *const c_char,
    c_int,
    *mut *mut ffi::AVDictionary,
) -> c_int;
type IoClose = unsafe extern "C" fn(*mut ffi::AVFormatContext, *mut ffi::AVIOContext) -> c_int;

/// FFmpeg's own functions that open and close files, which are the same for all inputs.
static DEFAULTS: OnceLock<(IoOpen, IoClose)> = OnceLock::new();

thread_local! {
    /// The stack pointer of this thread when it last began to open an input. 0 if it never did.
    static BASE: Cell<usize> = const { Cell::new(0) };
}

/// What an input has opened so far, and its interrupt. Shared by the contexts that it opens.
pub(crate) struct Opens {
    interrupt: Interrupt,
    /// The input's context while it is opened, else null.
    opening: AtomicPtr<ffi::AVFormatContext>,
    /// How many files and addresses were opened before the streams were known.
    count: AtomicUsize,
    /// How many files and addresses are open.
    open: AtomicUsize,
    /// The first limit that the input exceeds.
    exceeded: OnceLock<Exceeded>,
    /// The file that the next open returns, whatever name is asked for.
    served: Mutex<Option<File>>,
}

/// A limit that an input exceeds.
#[derive(Clone, Copy)]
enum Exceeded {
    Opens,
    Streams,
    Depth,
}

impl From<Exceeded> for OpenError {
    fn from(exceeded: Exceeded) -> Self {
        match exceeded {
            Exceeded::Opens => OpenError::Limit(format!(
                "it opens more than {MAX_OPENS} files or addresses before the first frame, as a playlist does that \
                 names itself (open the video that it names)"
            )),
            Exceeded::Streams => OpenError::too_much(MAX_STREAMS, "streams"),
            Exceeded::Depth => OpenError::Limit(
                "the files that it names nest too deeply, as in a playlist that names itself (open the video that it \
                 names)"
                    .to_owned(),
            ),
        }
    }
}

impl Opens {
    pub fn new(interrupt: Interrupt) -> Self {
        Opens {
            interrupt,
            opening: AtomicPtr::new(ptr::null_mut()),
            count: AtomicUsize::new(0),
            open: AtomicUsize::new(0),
            exceeded: OnceLock::new(),
            served: Mutex::new(None),
        }
    }

    /// Makes the context read from `file` at its next open.
    pub fn serve(&self, file: File) {
        *self.served.lock().unwrap_or_else(PoisonError::into_inner) = Some(file);
    }

    /// Takes the reader of the file given to `serve`, if there is one.
    fn served(&self) -> Option<Result<CustomIo, Error>> {
        self.served.lock().unwrap_or_else(PoisonError::into_inner).take().map(CustomIo::for_file)
    }

    /// Applies the bounds to `context` and the contexts that it opens. The same thread has to open `context` next.
    ///
    /// # Safety
    /// The context was allocated and is not open yet. These `Opens` outlive it, and stay where they are.
    pub unsafe fn bound(&self, context: *mut ffi::AVFormatContext) {
        let here = 0_u8;
        BASE.set(ptr::from_ref(&here).addr());
        self.opening.store(context, Ordering::Relaxed);
        let this = ptr::from_ref(self).cast_mut().cast::<c_void>();
        // SAFETY: the context is valid.
        unsafe {
            (*context).interrupt_callback = ffi::AVIOInterruptCB { callback: Some(is_due), opaque: this };
            // One more, to recognize an input with more streams than allowed.
            (*context).max_streams = MAX_STREAMS as c_int + 1;
            if let (Some(open), Some(close)) = ((*context).io_open, (*context).io_close2) {
                DEFAULTS.get_or_init(|| (open, close));
                (*context).opaque = this;
                (*context).io_open = Some(io_open);
                (*context).io_close2 = Some(io_close);
            }
        }
    }

    /// Ends the bounds that apply before the streams are known: from now on, only the number of open files is bounded.
    /// Returns the limit that was exceeded, if one was.
    pub fn streams_are_known(&self) -> Option<OpenError> {
        self.look();
        self.forget_context();
        self.exceeded.get().copied().map(OpenError::from)
    }

    /// Stops access to the context: FFmpeg frees it before it closes the files, and calls the interrupt callback
    /// meanwhile.
    pub fn forget_context(&self) {
        self.opening.store(ptr::null_mut(), Ordering::Relaxed);
    }

    /// The error of a call while the input was opened: the limit that was exceeded, if one was, else `error`.
    pub fn error(&self, error: Error) -> OpenError {
        // FFmpeg itself refuses streams above `max_streams`, and the context may be freed by now.
        let of_streams = || message_names("max_streams").then_some(Exceeded::Streams);
        self.exceeded.get().copied().or_else(of_streams).map_or(OpenError::Ffmpeg(error), OpenError::from)
    }

    /// Whether a call that waits must return now.
    pub fn is_due(&self) -> bool {
        self.interrupt.is_due() || self.exceeded.get().is_some()
    }

    /// Checks the number of streams, and the depth of the stack.
    fn look(&self) {
        let context = self.opening.load(Ordering::Relaxed);
        // SAFETY: while the pointer is there, FFmpeg opens the context, on the thread that has asked for this, or that
        // waits.
        if !context.is_null() && unsafe { (*context).nb_streams } as usize > MAX_STREAMS {
            let _ = self.exceeded.set(Exceeded::Streams);
        }
        let here = 0_u8;
        let base = BASE.get();
        if base != 0 && base.saturating_sub(ptr::from_ref(&here).addr()) > MAX_STACK {
            let _ = self.exceeded.set(Exceeded::Depth);
        }
    }

    /// Counts another file or address, unless there are too many.
    fn admit(&self) -> bool {
        self.look();
        let is_opening = !self.opening.load(Ordering::Relaxed).is_null();
        let count = if is_opening { self.count.fetch_add(1, Ordering::Relaxed) } else { 0 };
        if count >= MAX_OPENS || self.open.load(Ordering::Relaxed) >= MAX_OPENS {
            let _ = self.exceeded.set(Exceeded::Opens);
        }
        !self.is_due()
    }
}

unsafe extern "C" fn is_due(opens: *mut c_void) -> c_int {
    // SAFETY: the pointer from `bound`, whose target outlives the context.
    let opens = unsafe { &*opens.cast::<Opens>() };
    opens.look();
    opens.is_due().into()
}

/// The `Opens` of this context; `None` for an inner context that has copied only the functions of an outer one.
///
/// # Safety
/// The context is valid. If it has our callback, the `Opens` that the callback gets still exist.
unsafe fn context_opens<'a>(context: *mut ffi::AVFormatContext) -> Option<&'a Opens> {
    // SAFETY: by the caller's promise.
    unsafe {
        let callback = &(*context).interrupt_callback;
        let is_ours = callback.callback.is_some_and(|function| ptr::fn_addr_eq(function, is_due as IsDue));
        is_ours.then(|| &*callback.opaque.cast::<Opens>())
    }
}

type IsDue = unsafe extern "C" fn(*mut c_void) -> c_int;

unsafe extern "C" fn io_open(
    context: *mut ffi::AVFormatContext,
    pb: *mut *mut ffi::AVIOContext,
    url: *const c_char,
    flags: c_int,
    options: *mut *mut ffi::AVDictionary,
) -> c_int {
    let Some((open, _)) = DEFAULTS.get() else { return ffi::AVERROR_EXIT };
    // SAFETY: FFmpeg calls this for a valid context, with what its own function takes.
    unsafe {
        let opens = context_opens(context);
        if opens.is_some_and(|opens| !opens.admit()) {
            return ffi::AVERROR_EXIT;
        }
        let result = match opens.and_then(Opens::served) {
            Some(Ok(io)) => {
                *pb = io.into_context();
                0
            }
            Some(Err(error)) => error.into(),
            None => open(context, pb, url, flags, options),
        };
        if let (0.., Some(opens)) = (result, opens) {
            note_input(CStr::from_ptr(url).to_bytes());
            opens.open.fetch_add(1, Ordering::Relaxed);
        }
        result
    }
}

unsafe extern "C" fn io_close(context: *mut ffi::AVFormatContext, pb: *mut ffi::AVIOContext) -> c_int {
    let Some((_, close)) = DEFAULTS.get() else { return ffi::AVERROR_EXIT };
    // SAFETY: as in `io_open`.
    unsafe {
        if let Some(opens) = context_opens(context).filter(|_| !pb.is_null()) {
            // Files that an inner context opened by FFmpeg's own function were not counted.
            let less = |open: usize| Some(open.saturating_sub(1));
            let _ = opens.open.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        }
        if !pb.is_null() && custom_io::is_custom(pb) {
            custom_io::free(pb);
            return 0;
        }
        close(context, pb)
    }
}

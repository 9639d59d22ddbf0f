//! The library for C: `histeq.h` describes each function. Built as `libhisteq` by `cargo cbuild`.
//!
//! | file | what it is |
//! |---|---|
//! | `lib.rs` | the functions: they check arguments from C, and catch panics |
//! | `handle.rs` | the state of a handle |
//! | `options.rs` | the table of options, with C types |
#![allow(unsafe_code, reason = "only the caller knows that pointers are valid")]
#![allow(clippy::missing_safety_doc, reason = "histeq.h has the rules for callers")]
#![allow(missing_docs, reason = "histeq.h describes each function")]

mod handle;
mod options;

use handle::{Handle, text};
use histeq::{Input, Limits, Output, PixelFormat, PlaneInput};
use options::COption;
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;
use std::sync::LazyLock;

/// `histeq_status` of `histeq.h`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Ok = 0,
    Again = 1,
    End = 2,
    Argument = -1,
    Option = -2,
    Picture = -3,
    State = -4,
    Device = -5,
    Bug = -6,
    Limit = -7,
    Unsupported = -8,
}

/// An error and its text.
pub struct Failure(Status, String);

/// `histeq_plane` of `histeq.h`.
#[repr(C)]
pub struct CPlane {
    pub data: *const u8,
    pub stride: isize,
}

/// `histeq_plane_out` of `histeq.h`.
#[repr(C)]
pub struct CPlaneOut {
    pub data: *mut u8,
    pub stride: isize,
}

/// `histeq_picture` of `histeq.h`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct CPicture {
    pub size: usize,
    pub format: *const c_char,
    pub width: usize,
    pub height: usize,
    pub bytes: usize,
    pub planes: usize,
    pub row_bytes: [usize; 4],
    pub rows: [usize; 4],
    pub number: u64,
    pub pts: i64,
}

/// `HISTEQ_NO_PTS` of `histeq.h`.
const NO_PTS: i64 = i64::MIN;

thread_local! {
    /// The text of the last error of a call without a handle.
    static ERROR: RefCell<CString> = RefCell::default();
}

/// Checks that a handle can move between threads.
const _: fn() = || {
    fn is_send<T: Send>() {}
    is_send::<Handle>();
};

fn failed<T>(status: Status, text: impl Into<String>) -> Result<T, Failure> {
    Err(Failure(status, text.into()))
}

/// Runs `work`; a panic becomes an error and does not unwind into C.
fn guarded(work: impl FnOnce() -> Result<Status, Failure>) -> Result<Status, Failure> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or(payload.downcast_ref::<&str>().copied()).unwrap_or("unknown");
        let text = format!("a bug, please report it: {text}");
        // The payload is not dropped, since its drop might panic again.
        std::mem::forget(payload);
        failed(Status::Bug, text)
    })
}

/// Runs `work` for a call without a handle.
fn without_handle(work: impl FnOnce() -> Result<Status, Failure>) -> Status {
    guarded(work).unwrap_or_else(|Failure(status, message)| {
        // A thread that is ending has already dropped its `ERROR`.
        let _ = ERROR.try_with(|error| error.replace(text(&message)));
        status
    })
}

/// Runs `work` with the handle.
///
/// # Safety
/// `handle` is null, or was made by [`histeq_new`], was not freed, and is used by nothing else now.
unsafe fn with(handle: *mut Handle, work: impl FnOnce(&mut Handle) -> Result<Status, Failure>) -> Status {
    // SAFETY: the caller guarantees what this function requires of `handle`.
    let Some(handle) = (unsafe { handle.as_mut() }) else {
        return without_handle(|| failed(Status::Argument, "the handle is null"));
    };
    if handle.is_broken {
        return Status::Bug;
    }
    guarded(|| work(handle)).unwrap_or_else(|Failure(status, message)| {
        handle.is_broken = status == Status::Bug;
        handle.error = text(&message);
        status
    })
}

/// The text at address `text`; the error names it as `what`.
///
/// # Safety
/// `text` is null, or the address of a text that ends with a zero byte and lives for `'a`.
unsafe fn words<'a>(text: *const c_char, what: &str) -> Result<&'a str, Failure> {
    if text.is_null() {
        return failed(Status::Argument, format!("{what} is null"));
    }
    // SAFETY: the caller guarantees what this function requires of `text`.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().or_else(|_| failed(Status::Argument, format!("{what} is not UTF-8")))
}

/// The `count` values at `first`.
///
/// # Safety
/// `first` is null, or that many values can be read there for `'a`, and are not written meanwhile.
unsafe fn values<'a, T>(first: *const T, count: usize, what: &str) -> Result<&'a [T], Failure> {
    let fits = count.checked_mul(size_of::<T>()).is_some_and(|bytes| isize::try_from(bytes).is_ok());
    if first.is_null() || !first.is_aligned() || !fits {
        return failed(Status::Argument, format!("{what}: null, not aligned, or too many"));
    }
    // SAFETY: `first` is not null and aligned, the size is valid, and the caller guarantees the rest.
    Ok(unsafe { std::slice::from_raw_parts(first, count) })
}

/// Bytes a row, and rows, of each plane.
fn shapes(format: PixelFormat, (width, height): (usize, usize)) -> Vec<(usize, usize)> {
    let planes = 0..format.descriptor().planes().len();
    planes.map(|plane| (format.row_bytes(plane, width), format.rows(plane, height))).collect()
}

/// The number of bytes from the first to the last one of a plane with this stride.
fn span(index: usize, stride: isize, (row_bytes, rows): (usize, usize)) -> Result<usize, Failure> {
    let last = stride.unsigned_abs().checked_mul(rows - 1);
    let all = last.and_then(|last| last.checked_add(row_bytes)).filter(|all| isize::try_from(*all).is_ok());
    match all.filter(|_| rows == 1 || stride.unsigned_abs() >= row_bytes) {
        Some(all) => Ok(all),
        None => {
            failed(Status::Picture, format!("plane {index} has rows of {row_bytes} bytes, not a stride of {stride}"))
        }
    }
}

fn check_count(found: usize, needed: usize) -> Result<(), Failure> {
    if found == needed { Ok(()) } else { failed(Status::Picture, format!("{needed} planes are needed, not {found}")) }
}

/// The planes of an input frame.
///
/// # Safety
/// `planes` is null, or as `histeq.h` requires: `count` planes, each null or with all rows of the format at their
/// stride, in memory that can be read for `'a`.
unsafe fn planes<'a>(handle: &Handle, planes: *const CPlane, count: usize) -> Result<Vec<PlaneInput<'a>>, Failure> {
    let shapes = shapes(handle.format, handle.size);
    check_count(count, shapes.len())?;
    // SAFETY: the caller guarantees it, and the count is that of the format.
    let planes = unsafe { values(planes, count, "planes") }?;
    let value_of = |(index, (plane, (row_bytes, rows))): (usize, (&CPlane, (usize, usize)))| {
        let all = span(index, plane.stride, (row_bytes, rows))?;
        let below = if plane.stride < 0 { plane.stride * (rows as isize - 1) } else { 0 };
        if plane.data.is_null() {
            return failed(Status::Argument, format!("plane {index} is null"));
        }
        // SAFETY: with a negative stride the last row has the lowest address, from which on `all` bytes are readable.
        let bytes = unsafe { values(plane.data.wrapping_offset(below), all, "a plane") }?;
        Ok(PlaneInput { bytes, stride: plane.stride })
    };
    planes.iter().zip(shapes).enumerate().map(value_of).collect()
}

/// Copies a frame to the caller's planes.
///
/// # Safety
/// As for [`planes`], with writable memory that nothing else accesses.
unsafe fn copy(done: &Output, planes: *const CPlaneOut, count: usize) -> Result<(), Failure> {
    let shapes = shapes(done.format(), done.size());
    check_count(count, shapes.len())?;
    // SAFETY: the caller guarantees it, and the count is that of the format.
    let planes = unsafe { values(planes, count, "planes") }?;
    for (index, (plane, shape)) in planes.iter().zip(&shapes).enumerate() {
        span(index, plane.stride, *shape)?;
        if plane.data.is_null() {
            return failed(Status::Argument, format!("plane {index} is null"));
        }
    }
    done.frame().bring_down().map_err(histeq::Error::from)?;
    for ((plane, (row_bytes, rows)), made) in planes.iter().zip(shapes).zip(done.frame().planes()) {
        for y in 0..rows {
            let target = plane.data.wrapping_offset(y as isize * plane.stride);
            // SAFETY: the caller guarantees that this row is writable and not ours; `row` has as many bytes.
            unsafe { std::ptr::copy_nonoverlapping(made.row(y)[..row_bytes].as_ptr(), target, row_bytes) };
        }
    }
    Ok(())
}

/// Writes `value` to the caller's variable.
///
/// # Safety
/// `target` is null, or the address of memory to which a `T` can be written.
unsafe fn write<T>(target: *mut T, value: T) -> Result<Status, Failure> {
    if target.is_null() || !target.is_aligned() {
        return failed(Status::Argument, "where the answer goes is null, or not aligned");
    }
    // SAFETY: `target` is not null and aligned, and the caller guarantees the rest.
    unsafe { target.write(value) };
    Ok(Status::Ok)
}

/// The names of all formats, which are never freed.
static FORMATS: LazyLock<Vec<(PixelFormat, CString)>> =
    LazyLock::new(|| PixelFormat::ALL.iter().map(|format| (*format, text(format.name()))).collect());

/// A structure of C that begins with its size, as the caller was compiled with it.
///
/// # Safety
/// It has the layout of C, begins with a `usize`, and has no drop glue.
unsafe trait WithSize: Copy {}

// SAFETY: its first field is its size.
unsafe impl WithSize for CPicture {}
// SAFETY: its first field is its size.
unsafe impl WithSize for COption {}

/// Writes as much of `value` as the caller's structure has, which may be that of an older or newer header.
///
/// # Safety
/// `target` is null, or the address of a structure whose first field is its size in bytes, all of which can be written.
unsafe fn fill<T: WithSize>(target: *mut T, value: &T) -> Result<Status, Failure> {
    const FIRST: usize = size_of::<usize>();
    if target.is_null() || !target.is_aligned() {
        return failed(Status::Argument, "where the answer goes is null, or not aligned");
    }
    // SAFETY: the caller guarantees that its size is there.
    let size = unsafe { target.cast::<usize>().read() };
    if size <= FIRST || !size.is_multiple_of(FIRST) {
        return failed(Status::Argument, "the size of the structure is not set: `.size = sizeof` it");
    }
    let (source, target) = (std::ptr::from_ref(value).cast::<u8>(), target.cast::<u8>());
    let count = size.min(size_of::<T>()) - FIRST;
    // SAFETY: both have as many bytes behind their first field, and do not overlap: `value` is ours.
    unsafe { std::ptr::copy_nonoverlapping(source.add(FIRST), target.add(FIRST), count) };
    Ok(Status::Ok)
}

fn picture(format: PixelFormat, size: (usize, usize), number: u64, pts: Option<i64>) -> CPicture {
    let shapes = shapes(format, size);
    let name = FORMATS.iter().find(|(known, _)| *known == format).map_or(c"".as_ptr(), |(_, name)| name.as_ptr());
    let each = |part: fn(&(usize, usize)) -> usize| {
        let mut all = [0; 4];
        all.iter_mut().zip(&shapes).for_each(|(one, shape)| *one = part(shape));
        all
    };
    CPicture {
        size: size_of::<CPicture>(),
        format: name,
        width: size.0,
        height: size.1,
        bytes: shapes.iter().map(|(row_bytes, rows)| row_bytes * rows).sum(),
        planes: shapes.len(),
        row_bytes: each(|shape| shape.0),
        rows: each(|shape| shape.1),
        number,
        pts: pts.unwrap_or(NO_PTS),
    }
}

/// The input with this timestamp, unless it is [`NO_PTS`].
fn timed(input: Input<'_>, pts: i64) -> Input<'_> {
    if pts == NO_PTS { input } else { input.at(pts) }
}

#[unsafe(no_mangle)]
pub extern "C" fn histeq_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn histeq_new(
    format: *const c_char,
    width: usize,
    height: usize,
    out: *mut *mut Handle,
) -> Status {
    without_handle(|| {
        // SAFETY: `histeq.h` requires it of the caller.
        unsafe { write(out, null_mut()) }?;
        // SAFETY: as `histeq.h` requires.
        let handle = Handle::new(unsafe { words(format, "format") }?, (width, height))?;
        // SAFETY: as `histeq.h` requires.
        unsafe { write(out, Box::into_raw(Box::new(handle))) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn histeq_free(handle: *mut Handle) {
    if !handle.is_null() {
        // SAFETY: the handle is from `histeq_new`, and the caller does not use it any more.
        let handle = unsafe { Box::from_raw(handle) };
        without_handle(|| {
            drop(handle);
            Ok(Status::Ok)
        });
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn histeq_error(handle: *const Handle) -> *const c_char {
    // SAFETY: as `histeq.h` requires.
    match unsafe { handle.as_ref() } {
        Some(handle) => handle.error.as_ptr(),
        None => ERROR.try_with(|error| error.borrow().as_ptr()).unwrap_or(c"".as_ptr()),
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn histeq_set(handle: *mut Handle, name: *const c_char, value: *const c_char) -> Status {
    let set = |handle: &mut Handle| {
        // SAFETY: as `histeq.h` requires.
        let (name, value) = unsafe { (words(name, "name")?, words(value, "value")?) };
        handle.lazy.set(name, value)?;
        Ok(Status::Ok)
    };
    // SAFETY: as `histeq.h` requires.
    unsafe { with(handle, set) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn histeq_mask(handle: *mut Handle, weights: *const u8, count: usize) -> Status {
    // SAFETY: as `histeq.h` requires.
    unsafe { with(handle, |handle| Ok(handle.lazy.mask(values(weights, count, "weights")?).map(|()| Status::Ok)?)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn histeq_limits_new(
    pixels: u64,
    memory: usize,
    threads: usize,
    out: *mut *mut Limits,
) -> Status {
    without_handle(|| {
        // SAFETY: as `histeq.h` requires.
        unsafe { write(out, null_mut()) }?;
        let mut limits = Limits::default();
        if pixels > 0 {
            limits = limits.with_pixels(pixels);
        }
        if memory > 0 {
            limits = limits.with_memory(memory);
        }
        if threads > 0 {
            limits = limits.with_threads(threads);
        }
        // SAFETY: as `histeq.h` requires.
        unsafe { write(out, Box::into_raw(Box::new(limits))) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn histeq_limits_free(limits: *mut Limits) {
    if !limits.is_null() {
        // SAFETY: it is from `histeq_limits_new`, and the caller does not use it any more.
        drop(unsafe { Box::from_raw(limits) });
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn histeq_limits_in_use(limits: *const Limits) -> usize {
    // SAFETY: as `histeq.h` requires.
    unsafe { limits.as_ref() }.map_or(0, Limits::in_use)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn histeq_set_limits(handle: *mut Handle, limits: *const Limits) -> Status {
    let set = |handle: &mut Handle| {
        // SAFETY: as `histeq.h` requires.
        let Some(limits) = (unsafe { limits.as_ref() }) else { return failed(Status::Argument, "limits is null") };
        handle.lazy.limits(limits)?;
        Ok(Status::Ok)
    };
    // SAFETY: as `histeq.h` requires.
    unsafe { with(handle, set) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn histeq_open(handle: *mut Handle) -> Status {
    // SAFETY: as `histeq.h` requires.
    unsafe { with(handle, |handle| Ok(handle.lazy.open().map(|_| Status::Ok)?)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn histeq_backend(handle: *mut Handle, name: *mut *const c_char) -> Status {
    let ask = |handle: &mut Handle| {
        handle.name = text(&handle.lazy.open()?.backend_name());
        // SAFETY: as `histeq.h` requires.
        unsafe { write(name, handle.name.as_ptr()) }
    };
    // SAFETY: as `histeq.h` requires.
    unsafe { with(handle, ask) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn histeq_input(handle: *mut Handle, target: *mut CPicture) -> Status {
    let ask = |handle: &mut Handle| {
        // SAFETY: as `histeq.h` requires.
        unsafe { fill(target, &picture(handle.format, handle.size, 0, None)) }
    };
    // SAFETY: as `histeq.h` requires.
    unsafe { with(handle, ask) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn histeq_push(handle: *mut Handle, source: *const CPlane, count: usize, pts: i64) -> Status {
    // SAFETY: as `histeq.h` requires.
    unsafe { with(handle, |handle| handle.push(timed(Input::planes(&planes(handle, source, count)?), pts))) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn histeq_push_bytes(handle: *mut Handle, bytes: *const u8, size: usize, pts: i64) -> Status {
    // SAFETY: as `histeq.h` requires.
    unsafe { with(handle, |handle| handle.push(timed(values(bytes, size, "bytes")?.into(), pts))) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn histeq_finish(handle: *mut Handle) -> Status {
    // SAFETY: as `histeq.h` requires.
    unsafe { with(handle, Handle::finish) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn histeq_pull(handle: *mut Handle, target: *const CPlaneOut, count: usize) -> Status {
    let pull = |handle: &mut Handle| match handle.next()? {
        Ok(done) => {
            // SAFETY: as `histeq.h` requires.
            unsafe { copy(done, target, count) }?;
            Ok(handle.pulled())
        }
        Err(status) => Ok(status),
    };
    // SAFETY: as `histeq.h` requires.
    unsafe { with(handle, pull) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn histeq_pull_bytes(handle: *mut Handle, bytes: *mut u8, size: usize) -> Status {
    let pull = |handle: &mut Handle| {
        let done = match handle.next()? {
            Ok(done) => done,
            Err(status) => return Ok(status),
        };
        let needed = done.packed_bytes();
        if size != needed {
            return failed(Status::Picture, format!("the frame has {needed} bytes, not {size}"));
        }
        let mut pointer = bytes;
        let planes = shapes(done.format(), done.size()).into_iter().map(|(row_bytes, rows)| {
            let plane = CPlaneOut { data: pointer, stride: row_bytes as isize };
            pointer = pointer.wrapping_add(row_bytes * rows);
            plane
        });
        let planes: Vec<CPlaneOut> = planes.collect();
        // SAFETY: the caller's memory has as many bytes as all planes together.
        unsafe { copy(done, planes.as_ptr(), planes.len()) }?;
        Ok(handle.pulled())
    };
    // SAFETY: as `histeq.h` requires.
    unsafe { with(handle, pull) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn histeq_peek(handle: *mut Handle, target: *mut CPicture) -> Status {
    let ask = |handle: &mut Handle| match handle.next()? {
        // SAFETY: as `histeq.h` requires.
        Ok(done) => unsafe { fill(target, &picture(done.format(), done.size(), done.number(), done.pts())) },
        Err(status) => Ok(status),
    };
    // SAFETY: as `histeq.h` requires.
    unsafe { with(handle, ask) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn histeq_wait(handle: *mut Handle) -> Status {
    // SAFETY: as `histeq.h` requires.
    unsafe { with(handle, Handle::wait) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn histeq_reach(handle: *mut Handle, before: *mut u32, behind: *mut u32) -> Status {
    let ask = |handle: &mut Handle| {
        let reach = handle.lazy.open()?.reach();
        // SAFETY: as `histeq.h` requires.
        unsafe { write(before, reach.before) }?;
        // SAFETY: as `histeq.h` requires.
        unsafe { write(behind, reach.behind) }
    };
    // SAFETY: as `histeq.h` requires.
    unsafe { with(handle, ask) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn histeq_restart(handle: *mut Handle, number: u64) -> Status {
    // SAFETY: as `histeq.h` requires.
    unsafe { with(handle, |handle| handle.restart(number)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn histeq_warm_up(handle: *mut Handle, source: *const CPlane, count: usize) -> Status {
    // SAFETY: as `histeq.h` requires.
    unsafe { with(handle, |handle| handle.warm_up(&planes(handle, source, count)?)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn histeq_survey(handle: *mut Handle, source: *const CPlane, count: usize) -> Status {
    // SAFETY: as `histeq.h` requires.
    unsafe { with(handle, |handle| handle.survey(&planes(handle, source, count)?)) }
}

/// The table of options, which is never freed.
struct Table(Vec<COption>);

// SAFETY: its pointers are to texts that are never freed and never written.
unsafe impl Send for Table {}
// SAFETY: the same.
unsafe impl Sync for Table {}

static TABLE: LazyLock<Table> = LazyLock::new(|| Table(options::table()));

#[unsafe(no_mangle)]
pub unsafe extern "C" fn histeq_option(index: usize, target: *mut COption) -> Status {
    without_handle(|| match TABLE.0.get(index) {
        // SAFETY: as `histeq.h` requires.
        Some(option) => unsafe { fill(target, option) },
        None => Ok(Status::End),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_of_the_handle_which_can_only_be_freed_then() {
        let mut handle = null_mut();
        // SAFETY: the format is a text, and only this test uses the handle until it is freed.
        unsafe {
            assert_eq!(histeq_new(c"gray".as_ptr(), 4, 4, &raw mut handle), Status::Ok);
            assert_eq!(with(handle, |_| panic!("no {}", "good")), Status::Bug);
            let message = CStr::from_ptr(histeq_error(handle)).to_str().unwrap();
            assert_eq!(message, "a bug, please report it: no good");
            assert_eq!(histeq_set(handle, c"look".as_ptr(), c"night".as_ptr()), Status::Bug);
            histeq_free(handle);
        }
        assert_eq!(without_handle(|| panic!("here")), Status::Bug);
    }
}

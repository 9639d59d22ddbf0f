//! A frei0r plug-in, for FFmpeg's filter `frei0r`, Kdenlive, Shotcut and MLT: one frame out for each frame in.
//!
//! | file | what it is |
//! |---|---|
//! | `lib.rs` | the nine functions of frei0r, with all `unsafe` code |
//! | `parameters.rs` | the options as parameters of frei0r |
//! | `instance.rs` | an equalizer, and its parameters |
#![allow(unsafe_code, reason = "only the host knows that its pointers are valid")]
#![allow(clippy::missing_safety_doc, reason = "frei0r.h has the rules for callers")]
#![allow(missing_docs, reason = "frei0r.h describes each function")]

mod instance;
mod parameters;

use instance::Instance;
use parameters::{PARAMETERS, Type};
use std::ffi::{CStr, c_char, c_double, c_int, c_uint, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;

const FILTER: c_int = 0;
const RGBA: c_int = 1;
const FREI0R_VERSION: c_int = 1;

/// `f0r_plugin_info_t` of `frei0r.h`.
#[repr(C)]
pub struct PluginInfo {
    name: *const c_char,
    author: *const c_char,
    plugin_type: c_int,
    color_model: c_int,
    frei0r_version: c_int,
    major_version: c_int,
    minor_version: c_int,
    num_params: c_int,
    explanation: *const c_char,
}

/// `f0r_param_info_t` of `frei0r.h`.
#[repr(C)]
pub struct ParamInfo {
    name: *const c_char,
    kind: c_int,
    explanation: *const c_char,
}

/// Runs `work`; a panic does not unwind into the host.
fn guarded<T>(work: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).ok()
}

#[unsafe(no_mangle)]
pub extern "C" fn f0r_init() -> c_int {
    1
}

#[unsafe(no_mangle)]
pub extern "C" fn f0r_deinit() {}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn f0r_get_plugin_info(info: *mut PluginInfo) {
    let part = |text: &str| text.parse().unwrap_or(0);
    let described = PluginInfo {
        name: c"histeq".as_ptr(),
        author: c"The histeq-video authors".as_ptr(),
        plugin_type: FILTER,
        color_model: RGBA,
        frei0r_version: FREI0R_VERSION,
        major_version: part(env!("CARGO_PKG_VERSION_MAJOR")),
        minor_version: part(env!("CARGO_PKG_VERSION_MINOR")),
        num_params: PARAMETERS.len() as c_int,
        explanation: c"Brings out hidden detail in dark, hazy, tinted or flat video".as_ptr(),
    };
    // SAFETY: the host passes writable memory for the structure.
    unsafe { info.write(described) };
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn f0r_get_param_info(info: *mut ParamInfo, index: c_int) {
    let Some(parameter) = PARAMETERS.get(index as usize) else { return };
    let described = ParamInfo {
        name: parameter.name.as_ptr(),
        kind: parameter.kind as c_int,
        explanation: parameter.explanation.as_ptr(),
    };
    // SAFETY: the host passes writable memory for the structure.
    unsafe { info.write(described) };
}

#[unsafe(no_mangle)]
pub extern "C" fn f0r_construct(width: c_uint, height: c_uint) -> *mut c_void {
    let make = || Box::into_raw(Box::new(Instance::new((width as usize, height as usize))));
    guarded(make).map_or(null_mut(), <*mut Instance>::cast)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn f0r_destruct(instance: *mut c_void) {
    if !instance.is_null() {
        // SAFETY: `instance` is from `f0r_construct`, and the host does not use it any more.
        let instance = unsafe { Box::from_raw(instance.cast::<Instance>()) };
        guarded(|| drop(instance));
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn f0r_set_param_value(instance: *mut c_void, value: *mut c_void, index: c_int) {
    // SAFETY: `instance` is from `f0r_construct`, and nothing else uses it during the call.
    let Some(instance) = (unsafe { instance.cast::<Instance>().as_mut() }) else { return };
    let Some(parameter) = PARAMETERS.get(index as usize) else { return };
    let text = match parameter.kind {
        // SAFETY: for these types, the host passes the address of a number.
        Type::Bool => unsafe { value.cast::<c_double>().read() >= 0.5 }.to_string(),
        // SAFETY: as for `Bool`.
        Type::Double => unsafe { value.cast::<c_double>().read() }.to_string(),
        Type::String => {
            // SAFETY: the host passes the address of a pointer to a text that ends with a zero byte.
            let text = unsafe { value.cast::<*const c_char>().read() };
            if text.is_null() {
                return;
            }
            // SAFETY: the text ends with a zero byte.
            unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
        }
    };
    guarded(|| instance.set(index as usize, &text));
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn f0r_get_param_value(instance: *mut c_void, value: *mut c_void, index: c_int) {
    // SAFETY: `instance` is from `f0r_construct`, and nothing else uses it during the call.
    let Some(instance) = (unsafe { instance.cast::<Instance>().as_ref() }) else { return };
    let Some((parameter, held)) = PARAMETERS.get(index as usize).zip(instance.value(index as usize)) else { return };
    let number = || match held.to_str() {
        Ok("true") => 1.0,
        Ok(text) => text.parse().unwrap_or(0.0),
        Err(_) => 0.0,
    };
    match parameter.kind {
        // SAFETY: the host passes writable memory for a number.
        Type::Bool | Type::Double => unsafe { value.cast::<c_double>().write(number()) },
        // SAFETY: the host passes writable memory for a pointer, and only reads the text, which lives until the next
        // set.
        Type::String => unsafe { value.cast::<*const c_char>().write(held.as_ptr()) },
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn f0r_update(instance: *mut c_void, time: c_double, input: *const u32, output: *mut u32) {
    // SAFETY: `instance` is from `f0r_construct`, and nothing else uses it during the call.
    let Some(instance) = (unsafe { instance.cast::<Instance>().as_mut() }) else { return };
    let bytes = 4 * instance.size.0 * instance.size.1;
    // SAFETY: the host passes two different frames of the size that it has set, and uses neither during the call.
    let (input, output) = unsafe {
        (
            std::slice::from_raw_parts(input.cast::<u8>(), bytes),
            std::slice::from_raw_parts_mut(output.cast::<u8>(), bytes),
        )
    };
    if guarded(|| instance.update(time, input, output)) != Some(true) {
        output.copy_from_slice(input);
    }
}

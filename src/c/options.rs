//! The table of options, with C types.

use histeq::{OPTIONS, OptionInfo, ValueKind};
use std::ffi::{c_char, c_int};
use std::ptr::null;

/// `histeq_option_info` of `histeq.h`.
#[repr(C)]
#[derive(Clone, Copy)]
#[allow(missing_docs, reason = "histeq.h describes the fields")]
pub struct COption {
    pub size: usize,
    pub name: *const c_char,
    pub values: *const c_char,
    pub default_value: *const c_char,
    pub summary: *const c_char,
    pub details: *const c_char,
    pub names: *const *const c_char,
    pub abouts: *const *const c_char,
    pub least: f64,
    pub most: f64,
    pub is_flag: c_int,
}

/// A text that is never freed.
fn kept(text: &str) -> *const c_char {
    crate::handle::text(text).into_raw()
}

/// Texts that are never freed, in an array that ends with a null pointer; null if there are no texts.
fn kept_all(texts: Vec<&str>) -> *const *const c_char {
    if texts.is_empty() {
        return null();
    }
    texts.into_iter().map(kept).chain([null()]).collect::<Vec<_>>().leak().as_ptr()
}

/// All options, with texts that are never freed.
pub fn table() -> Vec<COption> {
    let value_of = |option: &OptionInfo| {
        let (least, most) = option.bounds().unwrap_or_default();
        let (names, abouts) = option.choices().into_iter().unzip();
        COption {
            size: size_of::<COption>(),
            name: kept(option.name),
            values: kept(option.values),
            default_value: kept(option.default),
            summary: kept(option.summary),
            details: kept(&option.details.replace("--", "")),
            names: kept_all(names),
            abouts: kept_all(abouts),
            least,
            most,
            is_flag: matches!(option.kind, ValueKind::Flag).into(),
        }
    };
    OPTIONS.iter().map(value_of).collect()
}

//! The table of options as C reads it.

use histeq::options::{OPTIONS, OptionInfo, ValueKind};
use std::ffi::{c_char, c_int};
use std::ptr::null;

/// `histeq_option_info` of `histeq.h`.
#[repr(C)]
#[derive(Clone, Copy)]
#[allow(missing_docs, reason = "histeq.h describes the fields")]
pub struct COption {
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

/// A text that stays until the end.
fn kept(text: &str) -> *const c_char {
    crate::handle::text(text).into_raw()
}

/// Texts that stay until the end, and null.
fn kept_all<'a>(texts: impl Iterator<Item = &'a str>) -> *const *const c_char {
    texts.map(kept).chain([null()]).collect::<Vec<_>>().leak().as_ptr()
}

/// All options, for good.
pub fn table() -> Vec<COption> {
    let of = |option: &OptionInfo| {
        let ((least, most), is_flag, choices) = match option.kind {
            ValueKind::Flag => ((0.0, 0.0), true, None),
            ValueKind::Number { least, most } => ((least, most), false, None),
            ValueKind::Choice(choices) => ((0.0, 0.0), false, Some(choices())),
            ValueKind::Text => ((0.0, 0.0), false, None),
        };
        COption {
            name: kept(option.name),
            values: kept(option.values),
            default_value: kept(option.default),
            summary: kept(option.summary),
            details: kept(option.details),
            names: choices.as_ref().map_or(null(), |choices| kept_all(choices.iter().map(|(name, _)| *name))),
            abouts: choices.as_ref().map_or(null(), |choices| kept_all(choices.iter().map(|(_, about)| *about))),
            least,
            most,
            is_flag: is_flag.into(),
        }
    };
    OPTIONS.iter().map(of).collect()
}

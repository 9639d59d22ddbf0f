//! The options as parameters of frei0r: texts, and numbers from 0 to 1.

use histeq::Options;
use histeq::{Equalizer, PixelFormat};
use histeq::{OPTIONS, OptionInfo, OptionValue, Section, ValueKind};
use std::ffi::CString;
use std::sync::LazyLock;

/// The type of a parameter, with frei0r's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    Bool = 0,
    Double = 1,
    String = 4,
}

/// A parameter of the plug-in, for one option.
pub struct Parameter {
    pub option: &'static OptionInfo,
    pub name: CString,
    pub explanation: CString,
    pub kind: Type,
    /// The value with which the look decides the option. Hosts show it at first.
    pub default: CString,
}

/// All parameters, in the order of the table: the look and its strength first.
pub static PARAMETERS: LazyLock<Vec<Parameter>> = LazyLock::new(|| OPTIONS.iter().filter_map(parameter).collect());

fn text(text: &str) -> CString {
    CString::new(text).unwrap_or_default()
}

/// The parameter for an option; `None` if the option needs later frames, or changes the format.
fn parameter(option: &'static OptionInfo) -> Option<Parameter> {
    if matches!(option.section, Section::Files | Section::Output) || option.name == "gray" {
        return None;
    }
    let kind = match option.kind {
        ValueKind::Flag => Type::Bool,
        ValueKind::Number { least: 0.0, most: 1.0 } => Type::Double,
        ValueKind::Number { .. } | ValueKind::Choice(_) | ValueKind::Text => Type::String,
    };
    let default = match kind {
        Type::Bool | Type::Double => number_by_default(option),
        Type::String if Options::default().set(option.name, option.default).is_ok() => option.default.to_owned(),
        Type::String => String::new(),
    };
    let names: Vec<_> = option.choices().into_iter().map(|(name, _)| name).collect();
    // A host passes one frame at a time, so the window cannot be a whole scene.
    let values = if names.is_empty() { option.values.replace(", or scene", "") } else { names.join(", ") };
    let explanation = text(&format!("{}: {values}", option.summary));
    Some(Parameter { option, name: text(option.name), explanation, kind, default: text(&default) })
}

/// The default value of an option that is a number or a flag.
fn number_by_default(option: &OptionInfo) -> String {
    match Equalizer::builder(PixelFormat::Rgba, 1, 1).live().value(option) {
        Some(OptionValue::Number(number)) => number.to_string(),
        Some(OptionValue::Flag(is_set)) => is_set.to_string(),
        _ => "0".to_owned(),
    }
}

//! The table of options as JavaScript reads it.

use histeq::{OPTIONS, OptionInfo, ValueKind};
use wasm_bindgen::prelude::*;

/// An option of equalization, as `Equalizer.set` takes it.
#[wasm_bindgen(getter_with_clone)]
pub struct OptionRow {
    /// Its name: `max-gain`.
    pub name: String,
    /// Its values in a phrase: `a number from 0 to 1`.
    pub values: String,
    /// The default; `by look` if the look decides.
    #[wasm_bindgen(js_name = defaultValue)]
    pub default_value: String,
    /// What it does, in one line.
    pub summary: String,
    /// The names of its values; empty where these are no names.
    pub names: Vec<String>,
    /// What each of these is, in a phrase.
    pub abouts: Vec<String>,
    /// The least and the largest value, both 0 where these are no numbers.
    pub least: f64,
    /// The largest value.
    pub most: f64,
    /// Whether its values are `true` and `false`.
    #[wasm_bindgen(js_name = isFlag)]
    pub is_flag: bool,
}

/// All options of equalization.
#[wasm_bindgen]
pub fn options() -> Vec<OptionRow> {
    OPTIONS.iter().map(row).collect()
}

fn row(option: &OptionInfo) -> OptionRow {
    let (least, most) = option.bounds().unwrap_or_default();
    let (names, abouts) = option.choices().into_iter().map(|(name, about)| (name.to_owned(), about.to_owned())).unzip();
    OptionRow {
        name: option.name.to_owned(),
        values: option.values.to_owned(),
        default_value: option.default.to_owned(),
        summary: option.summary.to_owned(),
        names,
        abouts,
        least,
        most,
        is_flag: matches!(option.kind, ValueKind::Flag),
    }
}

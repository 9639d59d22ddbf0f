//! What is drawn beside a pair of pictures: histogram and curve.

use crate::draw::shown::{by_column, curve};
use histeq::internal::equalize::cpu::{Engine, Isa};
use histeq::internal::frame::{Frame, HostPool};
use serde_json::{Value, json};

/// Columns of the histogram.
const COLUMNS: usize = 256;

/// JSON of two fields. `histogram`: how many pixels of the original have codes in each of 256 columns; `curve`: pairs
/// of original and equalized code, as shares of the highest code, 0 to 1.
pub fn frame_numbers(original: &Frame, equalized: &Frame) -> Value {
    let histogram = Engine::new(Isa::best(), HostPool::default())
        .map(|mut engine| by_column(&engine.histogram(original, original.whole()), COLUMNS));
    let round = |share: f64| (share * 1e3).round() / 1e3;
    let curve: Vec<[f64; 2]> = curve(original, equalized).into_iter().map(|(x, y)| [round(x), round(y)]).collect();
    json!({ "histogram": histogram, "curve": curve })
}

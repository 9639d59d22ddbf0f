//! Statistics of each frame before and after equalization (`--stats`), written as a table, as lines of JSON, or as a page with
//! plots.
//!
//! ```text
//! Recorder (an Observer): Eme, measures -> FrameRecord -> Recording -> csv | jsonl | Series -> page
//! ```

mod eme;
mod measures;
mod observer;
mod page;
mod plot;
mod record;
mod recording;
mod series;

pub use observer::{CurveSaver, Recorder};
pub use record::FrameRecord;
pub use recording::{Recording, StatsFormat};

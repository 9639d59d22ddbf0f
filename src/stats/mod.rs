//! Statistics of each frame before and after equalization (`--stats`), written as a table, as lines of JSON, or as a page with
//! plots.
//!
//! ```text
//! Recorder (an Observer): Eme, measures -> FrameRecord -> Recording -> csv | jsonl | Page: Series, LevelColumns, Scenes
//! ```

mod chart;
mod eme;
mod level_charts;
mod levels;
mod measures;
mod observer;
mod page;
mod record;
mod recording;
mod scenes;
mod series;

pub use observer::{CurveSaver, Recorder};
pub use record::{FrameRecord, Measured};
pub use recording::{Recording, StatsFormat};

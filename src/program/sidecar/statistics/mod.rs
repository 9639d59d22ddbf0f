//! Statistics of each frame before and after equalization (`--stats`), written as a table, as lines of JSON, or as a
//! page with plots.
//!
//! ```text
//! Recorder (an Observer): Eme, measures -> FrameRecord -> Recording -> csv | jsonl | Page
//! Page: Series, LevelColumns, Scenes
//! pieces: ... -> Recording -> PieceRecord; joined: PieceRecord -> Recording -> csv | jsonl | Page
//! ```

mod base64_bytes;
mod eme;
pub mod html;
mod measures;
mod observer;
mod piece;
mod record;
mod recording;

pub use observer::{CurveSaver, Recorder};
pub use piece::PieceRecord;
pub use record::FrameRecord;
pub use recording::Recording;

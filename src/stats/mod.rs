//! What equalization did to each frame (`--stats`): measured beside the backend, written as a table, as lines of JSON,
//! or as a page with plots.
//!
//! ```text
//! Recorder (beside the backend) -> Record -> Recording -> csv | jsonl | Series -> page
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
pub use record::Record;
pub use recording::{Recording, StatsFormat};

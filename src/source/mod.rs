//! Where frames come from.

mod clock;
mod file;
mod live;
mod live_input;
mod native;
mod open;
mod options;
mod part;
mod raw;

pub use clock::LiveClock;
pub use live::LiveSource;
pub use live_input::CameraOptions;
pub use open::open;
pub use options::{InputOptions, RawOptions};
pub use part::Part;

//! Where frames come from.

mod clock;
mod file;
mod live;
mod native;
mod open;
mod options;
mod part;
mod place;
mod raw;

pub use clock::LiveClock;
pub use live::LiveSource;
pub use open::open;
pub use options::{InputOptions, RawOptions};
pub use part::Part;
pub use place::CameraOptions;

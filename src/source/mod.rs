//! Where frames come from.

mod clock;
mod continuity;
mod file;
mod live;
mod native;
mod open;
mod part;
mod place;
mod raw;
mod sequence;

pub use clock::LiveClock;
pub use file::InputOptions;
pub use live::LiveSource;
pub use open::{RawOptions, open};
pub use part::Part;
pub use place::CameraOptions;

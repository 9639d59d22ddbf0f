//! Cameras and microphones before they are opened: lists of them, the modes of cameras, the choice of a mode, and
//! messages for one that does not open.

mod find;
mod fourcc;
mod microphone;
mod mode;
mod open_error;
mod range;
mod v4l2;

pub use find::{INPUT, cameras};
pub use fourcc::format_of;
pub use microphone::{Microphone, microphones};
pub use mode::{Choice, Mode, Wanted, choose};
pub use open_error::NotOpened;
pub use range::{SizeRange, rates_between};
pub use v4l2::{modes, other_than_camera};

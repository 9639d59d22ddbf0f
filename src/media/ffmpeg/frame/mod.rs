//! A picture (AVFrame): its memory, colours, fields and rotation.
//!
//! | file | what it is |
//! |---|---|
//! | `picture.rs` | a picture and its properties |
//! | `colour.rs`, `raw_format.rs` | its colour properties, its pixel format |
//! | `side_data.rs` | data beside it, or beside a stream |
//! | `shared_planes.rs` | picture to frame and back, without a copy |
//! | `rotation.rs`, `display_matrix.rs` | rotates pictures |

pub(crate) mod colour;
mod display_matrix;
pub(crate) mod picture;
pub(crate) mod raw_format;
pub(crate) mod rotation;
mod shared_planes;
pub(crate) mod side_data;

pub use colour::{Colour, LogTransfer};
pub use picture::{Picture, PictureProperties};
pub use raw_format::RawFormat;
pub use rotation::{AutoRotate, is_to_be_turned};
pub use side_data::StreamSideData;

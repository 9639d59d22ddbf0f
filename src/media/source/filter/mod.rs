//! What frames pass before they are equalized, and behind it: filters, colour tables, texts.

pub(crate) mod coloured;
pub(crate) mod filtered;
pub(crate) mod lut;
pub(crate) mod text;

pub use coloured::coloured;
pub use filtered::{developed, filtered, shrunk};
pub use lut::looked_up;
pub use text::with_text;

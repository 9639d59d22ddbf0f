//! Options of what is done to pictures, and where.

pub(crate) mod backend_args;
pub(crate) mod equalize;
pub(crate) mod filter;
pub(crate) mod option_args;
pub(crate) mod palette;

pub use equalize::EqualizeOptions;
pub use filter::FilterOptions;
pub use palette::PaletteOptions;

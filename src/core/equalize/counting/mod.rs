//! Which samples are counted, and as what.

pub(crate) mod counted_region;
pub(crate) mod gray;
pub(crate) mod lattice;
pub(crate) mod luminance;
pub(crate) mod mask;
pub(crate) mod relation;

pub use counted_region::CountedRegion;
pub use gray::Gray;
pub use lattice::measure;
pub use luminance::luminance_row;
pub use mask::Mask;
pub use relation::relation;

//! What is compared with: the figures of the publications, and the content that timed frames must have.

pub(crate) mod arithmetic;
pub(crate) mod comparison;
pub(crate) mod expected;
pub(crate) mod published;
pub(crate) mod sequential;

pub use arithmetic::Arithmetic;
pub use comparison::compare;
pub use published::{MeasuredCell, PUBLICATIONS, Publication, PublishedColumn, PublishedRow, PublishedTable};

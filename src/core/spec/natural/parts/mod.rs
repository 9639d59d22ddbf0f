//! The parts of the correction, and how sure each is.

pub(crate) mod belief;
pub(crate) mod cast;
pub(crate) mod contrast;
pub(crate) mod dark;
pub(crate) mod line;
pub(crate) mod meant;
pub(crate) mod middle;
pub(crate) mod shade;
pub(crate) mod veil;

//! Several decoders for one video, each for some of its groups of pictures.

pub(crate) mod clean_start;
pub(crate) mod decoders;
mod gops;

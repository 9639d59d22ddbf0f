//! Video, images and cameras in and out: `histeq-media`, and the program on files of all kinds.

mod cameras;
mod compatibility;
mod engine;
mod filters;
mod formats;
mod images;
pub mod in_place;
mod kept;
pub mod live;
pub mod nvdec;
mod pieces;
mod pipes;
mod sequences;
mod stacks;

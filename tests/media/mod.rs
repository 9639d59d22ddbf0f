//! Video, images and cameras in and out: `histeq-media`, and the program on files of all kinds.

mod cameras;
mod engine;
mod everywhere;
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

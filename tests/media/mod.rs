//! Video, images and cameras as input and output: `histeq-media`, and the program with files of all kinds.

// Cameras with real drivers, in a virtual machine.
mod cameras;
// The requirements of players, browsers and pipes.
mod compatibility;
// Order, back-pressure and ends of a run.
mod engine;
// `--filter`, `--filter-after`.
mod filters;
// The table of pixel formats, compared with FFmpeg's.
mod formats;
// Single images, and animated ones.
mod images;
// Frames that are not copied.
pub mod in_place;
// What the output keeps of a file besides its luma.
pub(crate) mod kept;
// `live` without a camera of this machine.
pub mod live;
// Decoding on a GPU.
pub mod nvdec;
// Several decoders for one file.
mod pieces;
// stdin and stdout.
mod pipes;
// Numbered images.
mod sequences;
// TIFF of many pages, FITS, SER.
mod stacks;

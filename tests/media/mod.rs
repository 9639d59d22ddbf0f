//! Video, images and cameras as input and output: `histeq-media`, and the program with files of all kinds.

// Cameras with real drivers, in a virtual machine.
mod cameras;
// The requirements of players, browsers and pipes.
mod compatibility;
// Order, back-pressure and ends of a run.
mod engine;
// `--filter`, `--filter-after`.
mod filters;
// What the output keeps of a file besides its luma.
pub(crate) mod kept;
// `live` without a camera of this machine.
pub mod live;
// stdin and stdout.
mod pipes;
// How files are decoded: on a GPU, by several decoders, without copies.
mod decoding;
// Single images, sequences and stacks.
mod pictures;
